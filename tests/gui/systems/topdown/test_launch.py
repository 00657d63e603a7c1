"""The launch form of TopDown: every field's reason, and the specification it asks for."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from phexplore.gui.run_manager.run_rows import RunRow, kind_words
from phexplore.gui.systems.topdown.launch import (
    TopDownFields,
    TopDownLaunch,
    read_topdown_fields,
    topdown_explanation,
)
from phexplore.gui.systems.topdown.launch_form import TopDownLaunchForm
from phexplore.metrics.errors import KNOWN
from phexplore.model.edits import set_field, set_item
from phexplore.runs.events import Finished, Outcome
from phexplore.runs.launch import run_worker
from phexplore.runs.place import Place, TlsFiles
from phexplore.runs.spec import RunData, RunMode, RunSpec, RunSpecError, data_of
from phexplore.runs.states import RunState
from phexplore.runs.store import RunStore, load_spec
from phexplore.systems.registry import preset
from phexplore.systems.topdown.run_options import Mechanism, RounderTarget, TopDownOptions
from phexplore.systems.topdown.stop_choices import FEWEST_TRIALS, WATCHABLE, Unit, stop_words
from phexplore.systems.topdown.stop_metric import CRITERION, FIGURES


@pytest.fixture
def fields(tmp_path):
    (tmp_path / "blocks.csv").write_text("geoid\n", "utf-8")
    return TopDownFields(path=str(tmp_path / "blocks.csv"))


def test_that_the_fields_become_a_specification(fields):
    asked = replace(
        fields,
        expands=True,
        expand="7",
        trials=5,
        seed="3",
        mechanism=Mechanism.BLOCK_BY_BLOCK,
        target=RounderTarget.WHOLE,
        microdata=True,
        scheduler="tcp://10.0.0.1:8786",
        stops=True,
    )
    request = read_topdown_fields(asked)
    assert isinstance(request, TopDownLaunch)
    data = RunData(asked.path, "0" * 64, 6, blocks=True)
    spec = request.spec(preset("pl94-2020-persons-us").scenario, data)
    assert (spec.trials, spec.seed, spec.mode, spec.stop.minimum_trials) == (5, 3, RunMode.PRIVATE, 5)
    assert spec.options.expand == 7
    assert request.place.scheduler == "tcp://10.0.0.1:8786"
    assert spec.options.microdata


def test_that_a_run_without_noise_is_one_trial(fields):
    request = read_topdown_fields(replace(fields, noisy=False, trials=9, seed="wrong"))
    spec = request.spec(preset("pl94-2020-persons-us").scenario, RunData(fields.path, "0" * 64, 6, blocks=True))
    assert (spec.trials, spec.mode) == (1, RunMode.NO_NOISE)


@pytest.mark.parametrize(
    ("change", "name", "reason"),
    [
        ({"path": ""}, "path", "Choose a block file"),
        ({"path": "/no/such/file"}, "path", "nothing at /no/such/file"),
        ({"seed": "-1"}, "seed", "whole number"),
        ({"expands": True, "expand": "x"}, "expand", "whole number"),
        ({"stops": True, "stop_error": "2"}, "stop_error", "between 0 and 100 %"),
        (
            {"stops": True, "stop_figure": "mae", "stop_level": "County", "stop_error": "1 %"},
            "stop_error",
            "not percents",
        ),
        ({"stops": True, "stop_figure": "mape", "stop_level": "County", "stop_error": "0"}, "stop_error", "above 0"),
        ({"scheduler": "somewhere"}, "scheduler", "no address"),
        ({"scheduler": "http://host:1"}, "scheduler", "no address"),
    ],
)
def test_that_a_wrong_field_says_why(fields, change, name, reason):
    problems = read_topdown_fields(replace(fields, **change))
    assert list(problems) == [name]
    assert reason in problems[name]


def test_that_certificates_for_an_encrypted_connection_are_chosen_all_three_or_none(qtbot, fields, tmp_path):
    form = TopDownLaunchForm()
    qtbot.addWidget(form)
    form.show()
    form.show_fields(replace(fields, scheduler="tcp://host:8786"))
    assert not form.tls.isVisible()
    form.scheduler.setText("tls://host:8786")
    assert form.tls.isVisible()
    assert form.place == Place(scheduler="tls://host:8786")
    files = [tmp_path / name for name in ("ca.pem", "cert.pem", "key.pem")]
    for number, file in enumerate(files):
        form.tls.lines[number].setText(str(file))
        assert "no file" in form._reasons["scheduler"].text()
        file.touch()
        form.tls.changed.emit()
        assert form.run.isEnabled() == (file is files[-1])
    with qtbot.waitSignal(form.launched) as launched:
        form.launch()
    assert launched.args[0].place == form.place == Place(scheduler="tls://host:8786", tls=TlsFiles(*files))


def test_that_the_form_keeps_what_is_typed_and_launches(qtbot, fields):
    form = TopDownLaunchForm()
    qtbot.addWidget(form)
    form.show()
    form.show_fields(replace(fields, scheduler="nowhere"))
    assert not form.run.isEnabled()
    assert "no address" in form._reasons["scheduler"].text()
    form.scheduler.setText("")
    assert form.run.isEnabled()
    with qtbot.waitSignal(form.launched) as launched:
        form.launch()
    assert launched.args[0].path.name == "blocks.csv"
    form.block("DHC cannot be simulated yet.")
    assert not form.run.isEnabled()
    assert form.fields == fields


def test_that_the_sentence_says_what_a_run_is_fit_for(fields):
    assert "never for a release" in topdown_explanation(fields)
    assert "nobody can draw it again" in topdown_explanation(replace(fields, seeded=False))
    assert "exact measurements" in topdown_explanation(replace(fields, noisy=False))


@pytest.mark.parametrize(
    ("figure", "typed", "rule", "limit"),
    [
        ("", "0.5 %", "", Fraction(1, 200)),
        ("redistricting", "1 %", "County/redistricting", Fraction(1, 100)),
        ("mae", "0.5", "County/total/mae", Fraction(1, 2)),
        ("mape", "0.5 %", "County/total/mape", Fraction(1, 2)),
        ("mape", "0.5", "County/total/mape", Fraction(1, 2)),
        ("off-over-5", "1 %", "County/total/off-over-5", Fraction(1, 100)),
    ],
)
def test_that_a_chosen_figure_ends_the_run_in_its_own_unit(fields, figure, typed, rule, limit):
    asked = replace(fields, stops=True, stop_figure=figure, stop_level="County", stop_query="total", stop_error=typed)
    stop = read_topdown_fields(asked).stop
    assert (stop.figure, stop.coverage_error, stop.minimum_trials) == (rule, limit, FEWEST_TRIALS)
    assert typed.removesuffix(" %") in stop_words(stop)


def test_that_every_choice_of_a_figure_is_one_the_run_can_watch():
    known = {each.id for each in WATCHABLE}
    assert known == {"", CRITERION, *FIGURES}
    units = {Unit.PEOPLE: "people", Unit.PERCENT: "%", Unit.SHARE: "share"}
    for each in WATCHABLE:
        if each.id in KNOWN:
            assert units[each.unit] == KNOWN[each.id].unit


@pytest.fixture
def form(qtbot, fields):
    found = TopDownLaunchForm()
    qtbot.addWidget(found)
    found.show()
    found.show_scenario(preset("pl94-2020-persons-us").scenario)
    found.show_fields(fields)
    return found


def row(name, scenario, *, seed=7, state=RunState.COMPLETE, **options):
    spec = RunSpec(
        scenario, RunData(f"/data/{name}", "0" * 64, 6, blocks=True), 3, seed, options=TopDownOptions(**options)
    )
    return RunRow(Path(f"/runs/{name}"), spec, state, trials=3)


def test_that_levels_and_queries_of_the_scenario_are_offered_for_the_figure(form):
    form.stop.stops.setChecked(True)
    form.stop.figure.setCurrentIndex(form.stop.figure.findData("mae"))
    assert (form.fields.stop_level, form.fields.stop_query, form.fields.stop_error) == ("County", "total", "0.5")
    assert form.stop.level.isVisible()
    assert form.stop.query.isVisible()
    form.stop.figure.setCurrentIndex(form.stop.figure.findData("redistricting"))
    assert not form.stop.query.isVisible()
    form.stop.figure.setCurrentIndex(0)
    assert not form.stop.level.isVisible()


def test_that_kept_measurements_are_offered_and_bring_their_data_and_trials(form):
    scenario = preset("pl94-2020-persons-us").scenario
    rows = (
        row("d", scenario),
        row("c", scenario, keep_measurements=True, state=RunState.FAILED),
        row("b", scenario, keep_measurements=True, mechanism=Mechanism.BLOCK_BY_BLOCK),
        row("u", preset("pl94-2020-units-us").scenario, keep_measurements=True),
        row("a", scenario, keep_measurements=True),
    )
    form.show_runs(rows)
    assert [form.measurements.itemData(n) for n in range(form.measurements.count())] == ["", "/runs/a"]
    form.measurements.setCurrentIndex(1)
    assert (form.path.text(), form.trials.value(), form.trials.maximum()) == ("/data/a", 3, 3)
    assert not any(field.isEnabled() for field in (form.path, form.seed, form.keeps, form.mechanism, form.noisy))
    assert "It spends nothing" in form._sentence.text()
    form.measurements.setCurrentIndex(0)
    assert form.path.isEnabled()
    assert form.trials.maximum() > 3


def test_that_the_seed_of_another_scenarios_run_is_offered(form, qtbot):
    scenario = preset("pl94-2020-persons-us").scenario
    other = set_field(replace(scenario, name="Other"), "total", Fraction(3))
    form.show_runs((row("a", scenario),))
    assert not form.common.isVisible()
    form.show_runs((row("b", scenario), row("a", other, seed=12)))
    assert form.common.use.isVisible()
    qtbot.mouseClick(form.common.use, Qt.MouseButton.LeftButton)
    assert form.fields.seed == "12"
    assert not form.common.use.isVisible()
    assert "common random numbers" in form.common._words.text()
    form.seeded.setChecked(False)
    assert not form.common.isVisible()


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A complete run of the demonstration that kept its measurements."""
    folder = tmp_path_factory.mktemp("kept")
    scenario = preset("pl94-2020-persons-us").scenario
    data = data_of(scenario, Path("demo"))
    spec = RunSpec(scenario, data, 1, 3, options=TopDownOptions(keep_measurements=True))
    directory = RunStore(folder).create(spec, datetime(2026, 5, 4, tzinfo=UTC))
    assert run_worker(directory, lambda _event: None) == Finished(Outcome.COMPLETE)
    return directory


def test_that_the_form_asks_for_the_run_that_post_processes_again(kept, fields):
    scenario = preset("pl94-2020-persons-us").scenario
    measured = load_spec(kept)
    asked = replace(fields, path=measured.data.path, again=str(kept), trials=1, workers=2, seed="wrong", keeps=True)
    edited = set_item(scenario, "constraints", "Block", ())
    spec = read_topdown_fields(asked).spec(edited, data_of(scenario, Path("demo")))
    assert spec.options.measurements == str(kept)
    assert spec.options.measured_identity == measured.identity
    assert not spec.options.keep_measurements
    assert (spec.seed, spec.trials, spec.workers) == (3, 1, 2)
    assert "post-processes the answers of" in kind_words(spec)
    with pytest.raises(RunSpecError, match="2 are asked for"):
        read_topdown_fields(replace(asked, trials=2)).spec(edited, data_of(scenario, Path("demo")))
