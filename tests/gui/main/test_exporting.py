from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest

from phexplore.errors import PhexploreError
from phexplore.gui.binding.scenario_view import shown
from phexplore.gui.main.exporting import Exports, Order, export_formats, write_file
from phexplore.model.approval import Decision, Status
from phexplore.model.fingerprint import fingerprint
from phexplore.model.workbook import Workbook
from phexplore.systems.phsafe.config_file import read_config, write_config
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.phsafe.system import PHSAFE
from phexplore.systems.protocol import UnsupportedError
from phexplore.systems.registry import preset, system_of
from phexplore.systems.topdown.system import TOPDOWN

NOW = datetime(2026, 7, 1, tzinfo=UTC)
FORMATS = export_formats()
CONFIG = FORMATS[0]


@pytest.fixture
def order(us, tmp_path):
    def make(form, scenario=us):
        return Order(form, shown(Workbook((scenario,), scenario.name, "sdhc-2020-us")), tmp_path / "file", NOW)

    return make


def export_text(order):
    return write_file(order).files[0].read_bytes()


def test_that_every_format_of_the_reports_is_offered_and_the_production_files() -> None:
    mine = {"deployments-registry", "group-sizes-json", "group-sizes-csv", "subspace-json", "subspace-csv"}
    assert {form.id for form in FORMATS} == {"phsafe-config", "das-ini", *PHSAFE.formats, *TOPDOWN.formats, *mine}
    assert len({form.file_name for form in FORMATS}) == len(FORMATS)
    assert all(form.file_name.endswith(form.suffix) for form in FORMATS)


def test_that_the_config_is_the_one_production_reads(order, us) -> None:
    content = export_text(order(CONFIG)).decode()
    assert content == write_config(us)
    assert read_config(content)[0].phsafe.budgets == us.phsafe.budgets


@pytest.mark.parametrize("form", [form for form in FORMATS if form.id in {"csv", "xlsx"}], ids=lambda form: form.id)
def test_that_tables_are_written(order, form) -> None:
    assert len(export_text(order(form))) > 1000


@pytest.mark.parametrize("form_id", ["csv", "xlsx", "html"])
def test_that_topdown_is_written_in_the_same_formats(order, form_id) -> None:
    (form,) = [form for form in FORMATS if form.id == form_id]
    assert set(form.formats) >= {"phsafe", "topdown"}
    persons = preset("pl94-2020-persons-us").scenario
    assert export_text(order(form, persons)) != export_text(order(form))


def test_that_a_scenario_with_errors_is_not_handed_over(order, us) -> None:
    for query in us.phsafe.budgets:
        us = set_budget(us, query, Fraction(0))
    with pytest.raises(PhexploreError, match="cannot be handed over"):
        export_text(order(CONFIG, us))


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.id)
@pytest.mark.parametrize("name", ["pl94-2020-persons-us", "counties-invariant-2010", "group-sizes-census-2010"])
def test_that_a_format_of_another_system_is_refused_in_words(qtbot, order, tmp_path, form, name) -> None:
    scenario = preset(name).scenario
    if system_of(scenario).id in form.formats:
        return
    exports = Exports()
    with qtbot.waitSignal(exports.failed) as failed:
        exports.start(form, order(form, scenario).shown, tmp_path / "file")
    assert isinstance(failed.args[0], UnsupportedError)
    assert not (tmp_path / "file").exists()
    exports.stop()


def test_that_a_budget_without_a_decimal_is_refused_by_the_config(order, us, query) -> None:
    with pytest.raises(PhexploreError, match=r"1/3|decimal"):
        export_text(order(CONFIG, set_budget(us, query, Fraction(1, 3))))


def test_that_files_are_written_beside_the_window(qtbot, order, tmp_path) -> None:
    exports = Exports()
    path = tmp_path / "config.json"
    with qtbot.waitSignal(exports.written) as written:
        exports.start(CONFIG, order(CONFIG).shown, path)
    assert written.args[0].files == (path,)
    assert path.read_bytes() == export_text(order(CONFIG))
    exports.stop()


def test_that_a_failure_is_announced_and_leaves_no_file(qtbot, order, us, query, tmp_path) -> None:
    exports = Exports()
    path = tmp_path / "config.json"
    with qtbot.waitSignal(exports.failed) as failed:
        exports.start(CONFIG, order(CONFIG, set_budget(us, query, Fraction(1, 3))).shown, path)
    assert isinstance(failed.args[0], PhexploreError)
    assert not path.exists()
    exports.stop()


def test_that_a_report_is_drawn_in_a_process_and_is_the_same(qtbot, order, tmp_path) -> None:
    (form,) = [form for form in FORMATS if form.id == "svg"]
    exports = Exports()
    shown_now = order(form).shown
    with qtbot.waitSignal(exports.written) as written:
        exports.start(form, shown_now, tmp_path / "charts.svg")
        assert exports.is_busy
    assert written.args[0].files == (tmp_path / "charts.svg",)
    assert (tmp_path / "charts.svg").read_bytes() == export_text(order(form))
    exports.stop()


def test_that_a_report_of_a_scenario_with_errors_is_refused_at_once(qtbot, order, us) -> None:
    for query in us.phsafe.budgets:
        us = set_budget(us, query, Fraction(0))
    (form,) = [form for form in FORMATS if form.id == "html"]
    exports = Exports()
    with qtbot.waitSignal(exports.failed) as failed:
        exports.start(form, order(form, us).shown, Path("x.html"))
    assert "cannot be handed over" in str(failed.args[0])
    exports.stop()


def test_that_a_report_tells_its_steps_and_says_who_decided(qtbot, order, us, tmp_path) -> None:
    (form,) = [form for form in FORMATS if form.id == "html"]
    made = Decision(Status.RECOMMENDED, fingerprint(us), us.name, "Ann Lee", "Chair", "2026-11-22T10:00:00+00:00")
    exports, steps = Exports(), []
    exports.progressed.connect(steps.append)
    with qtbot.waitSignal(exports.written):
        exports.start(form, order(form).shown, tmp_path / "report.html", (made,))
    assert [step.number for step in steps] == sorted({step.number for step in steps})
    assert steps[-1].number == steps[-1].steps >= 4
    assert "Ann Lee, Chair" in (tmp_path / "report.html").read_text(encoding="utf-8")
    exports.stop()


def test_that_the_keys_of_an_export_work_again_once_it_is_written(qtbot, window, tmp_path) -> None:
    action = window.actions_table["file.export-html"]
    window.exports.start(CONFIG, window.session.shown, tmp_path / "config.json")
    window.actions_table.refresh()
    assert not action.isEnabled()
    qtbot.waitUntil(action.isEnabled)
    assert (tmp_path / "config.json").exists()


def test_that_the_window_says_what_a_file_has_no_place_for(qtbot, window, tmp_path) -> None:
    form = next(form for form in FORMATS if form.id == "xlsx")
    window.commands.exports.export(CONFIG, tmp_path / "config.json")
    qtbot.waitUntil(lambda: "config.json cannot contain" in window.notice.text)
    assert "46 targets" in window.notice.text
    window.commands.exports.export(form, tmp_path / "table.xlsx")
    qtbot.waitUntil(lambda: "table.xlsx was written" in window.notice.text)
    assert "no place" not in window.notice.text
