"""The form that starts a run of any system: what it asks, every field's reason, and the specification it asks for."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from phexplore.gui.run_manager.launch_form import LaunchForm, LaunchRequest
from phexplore.gui.run_manager.run_rows import RunRow, kind_words
from phexplore.gui.widgets.labels import Text
from phexplore.metrics.errors import KNOWN
from phexplore.model.edits import set_field, set_item
from phexplore.runs.events import Finished, Outcome
from phexplore.runs.launch import run_worker
from phexplore.runs.place import Place, TlsFiles
from phexplore.runs.run_settings import RunSettings
from phexplore.runs.spec import LARGEST_SEED, RunData, RunMode, RunSpec, RunSpecError, StopRule, data_of, read_limit
from phexplore.runs.states import RunState
from phexplore.runs.store import RunStore, load_spec
from phexplore.systems.registry import preset, systems
from phexplore.systems.stop_metrics import Unit
from phexplore.systems.topdown.run_options import Mechanism, RounderTarget, TopDownOptions
from phexplore.systems.topdown.stop_choices import FEWEST_TRIALS, WATCHABLE, stop_words
from phexplore.systems.topdown.stop_metric import CRITERION, FIGURES

NAMES = ["phsafe", "topdown", "group-sizes", "subspace"]
PERSONS = "pl94-2020-persons-us"


@pytest.fixture
def make(qtbot):
    """Make the form of a system, with what it asked for."""

    def made(name):
        form = LaunchForm(systems()[name])
        qtbot.addWidget(form)
        form.show()
        form.asked = []
        form.launched.connect(form.asked.append)
        return form

    return made


@pytest.fixture
def form(make):
    found = make("topdown")
    found.show_scenario(preset(PERSONS).scenario)
    return found


@pytest.fixture(params=NAMES)
def each(request, make):
    return make(request.param)


def test_that_the_form_of_every_system_opens_ready_to_run_its_demonstration(each, qtbot):
    qtbot.mouseClick(each.run, Qt.MouseButton.LeftButton)
    (request,) = each.asked
    assert (request.settings.data, request.settings.seed, request.settings.mode) == ("demo", 1, RunMode.PRIVATE)
    assert request.settings.trials == each._offer.trials


def test_that_a_refused_value_keeps_what_was_typed_and_says_why(each):
    seed = each.controls["seed"].line
    for typed in ("abc", "1.5", "-3", str(LARGEST_SEED + 1), ""):
        seed.setText(typed)
        assert seed.text() == typed
        assert each.reasons["seed"].isVisible()
        assert seed.property("refused") == "true"
        assert not each.run.isEnabled()
    each.launch()
    assert each.asked == []
    seed.setText("12")
    assert each.reasons["seed"].isHidden()
    assert each.run.isEnabled()
    assert each.read().settings.seed == 12


def test_that_a_file_is_asked_for_only_when_it_counts(each, tmp_path):
    data = each.controls["data"]
    assert not data.line.isVisible()
    data.source.setCurrentIndex(data.source.count() - 1)
    assert data.line.isVisible()
    hints = [text for text in data.findChildren(Text) if text.isVisible()]
    assert [text.text().lower() for text in hints] == [f"{data._offer.data.lower()}."], "no field is as wide as that"
    assert list(each.read()) == ["data"]
    assert each.reasons["data"].isHidden()
    data.line.setText("/no/such/file")
    assert "/no/such/file" in each.reasons["data"].text()
    each.fill(data=str(tmp_path))
    assert each.read().settings.data == str(tmp_path)


def test_that_a_file_that_was_not_chosen_is_asked_for_beside_the_button(each):
    data = each.controls["data"]
    data.source.setCurrentIndex(data.source.findData(""))
    assert not each.run.isEnabled()
    assert each._sentence.text() == f"Choose {each._offer.data}."
    assert each.reasons["data"].isHidden()
    each.launch()
    assert each.asked == []
    assert each.focusWidget() is data.line


def test_that_a_run_without_noise_reads_neither_trials_nor_seed_nor_limit(each):
    each.fill(mode=RunMode.NO_NOISE, stop=StopRule(Fraction(1, 100)))
    each.controls["seed"].line.setText("nonsense")
    assert not any(each.controls[name].isEnabled() for name in ("trials", "seed", "stop"))
    request = each.read()
    assert isinstance(request, LaunchRequest)
    spec = request.settings.spec(preset("sdhc-2020-us").scenario, RunData("x", "0" * 64, 1), None)
    assert (spec.trials, spec.seed, spec.stop, spec.mode) == (1, 0, None, RunMode.NO_NOISE)


def test_that_without_a_seed_the_noise_comes_from_the_system(each):
    each.fill(seed=None)
    assert each.read().settings.seed is None
    assert "nobody can draw it again" in each._sentence.text()


def test_that_a_scenario_with_errors_cannot_be_run_and_the_form_says_why(each):
    each.block("The scenario cannot be run: nothing is published.")
    assert not each.run.isEnabled()
    assert each._sentence.text() == "The scenario cannot be run: nothing is published."
    each.launch()
    assert each.asked == []
    each.block("")
    assert each.run.isEnabled()


def test_that_every_field_has_a_name(each):
    for control in each.controls.values():
        names = [
            part.accessibleName() for part in (getattr(control, "line", None), getattr(control, "source", None)) if part
        ]
        boxes = [control.box.text()] if hasattr(control, "box") else []
        own = control.accessibleName() or getattr(control, "text", str)()
        assert own or all([*names, *boxes, names or boxes])


def test_that_every_release_of_a_system_says_what_it_is_not_fit_for(each):
    for mode, words in each._offer.releases.items():
        each.fill(mode=mode)
        assert words in each._sentence.text()


def test_that_releases_are_those_of_the_system(make):
    assert list(make("phsafe")._offer.releases) == list(RunMode)
    assert "place" not in make("phsafe").controls


@pytest.mark.parametrize("text", ["0", "100 %", "-1 %"])
def test_that_a_limit_outside_its_range_is_refused(text):
    with pytest.raises(ValueError, match="between 0 and 100 %"):
        read_limit(text)


def test_that_every_field_reaches_the_specification(form):
    form.fill(
        trials=5, seed=3, expand=7, mechanism=Mechanism.BLOCK_BY_BLOCK, target=RounderTarget.WHOLE, microdata=True
    )
    form.fill(stop=StopRule(Fraction(1, 200)), workers=2)
    form.controls["place"].line.setText("tcp://10.0.0.1:8786")
    request = form.read()
    spec = request.spec(preset(PERSONS).scenario, RunData("/b.csv", "0" * 64, 6, blocks=True))
    assert (spec.trials, spec.seed, spec.mode, spec.workers) == (5, 3, RunMode.PRIVATE, 2)
    assert spec.stop == StopRule(Fraction(1, 200), FEWEST_TRIALS)
    wanted = TopDownOptions(expand=7, mechanism=Mechanism.BLOCK_BY_BLOCK, target=RounderTarget.WHOLE, microdata=True)
    assert spec.options == wanted
    assert request.settings.place.scheduler == "tcp://10.0.0.1:8786"


@pytest.mark.parametrize("address", ["somewhere", "http://host:1"])
def test_that_what_is_no_address_is_refused(form, address):
    form.controls["place"].line.setText(address)
    assert list(form.read()) == ["place"]
    assert form.place == Place()
    form.leave_place()
    assert form.run.isEnabled()


def test_that_certificates_for_an_encrypted_connection_are_chosen_all_three_or_none(form, tmp_path):
    place = form.controls["place"]
    place.line.setText("tcp://host:8786")
    assert not place.tls.isVisible()
    place.line.setText("tls://host:8786")
    assert place.tls.isVisible()
    assert form.place == Place(scheduler="tls://host:8786")
    files = [tmp_path / name for name in ("ca.pem", "cert.pem", "key.pem")]
    for line, file in zip(place.files, files, strict=True):
        line.setText(str(file))
        assert "no file" in form.reasons["place"].text()
        file.touch()
        place.changed.emit()
        assert form.run.isEnabled() == (file is files[-1])
    form.launch()
    assert form.asked[0].settings.place == form.place == Place(scheduler="tls://host:8786", tls=TlsFiles(*files))


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
def test_that_a_chosen_figure_ends_the_run_in_its_own_unit(form, figure, typed, rule, limit):
    control = form.controls["stop"]
    control.box.setChecked(True)
    control.figure.setCurrentIndex(control.figure.findData(figure))
    control.line.setText(typed)
    stop = form.read().settings.stop
    assert (stop.figure, stop.coverage_error, stop.minimum_trials) == (rule, limit, FEWEST_TRIALS)
    assert typed.removesuffix(" %") in stop_words(stop)
    assert control.level.isVisible() == bool(figure)
    assert control.query.isVisible() == (figure not in {"", "redistricting"})


@pytest.mark.parametrize(("figure", "typed"), [("", "2"), ("mae", "1 %"), ("mape", "0"), ("", "x")])
def test_that_a_limit_that_is_none_is_refused(form, figure, typed):
    control = form.controls["stop"]
    control.box.setChecked(True)
    control.figure.setCurrentIndex(control.figure.findData(figure))
    control.line.setText(typed)
    assert list(form.read()) == ["stop"]


def test_that_every_choice_of_a_figure_is_one_the_run_can_watch():
    known = {each.id for each in WATCHABLE}
    assert known == {"", CRITERION, *FIGURES}
    units = {Unit.PEOPLE: "people", Unit.PERCENT: "%", Unit.SHARE: "share"}
    for each in WATCHABLE:
        if each.id in KNOWN:
            assert units[each.unit] == KNOWN[each.id].unit


def row(name, scenario, *, seed=7, state=RunState.COMPLETE, **options):
    spec = RunSpec(
        scenario, RunData(f"/data/{name}", "0" * 64, 6, blocks=True), 3, seed, options=TopDownOptions(**options)
    )
    return RunRow(Path(f"/runs/{name}"), spec, state, trials=3)


def test_that_kept_measurements_are_offered_and_bring_their_data_and_trials(form):
    scenario = preset(PERSONS).scenario
    rows = (
        row("d", scenario),
        row("c", scenario, keep_measurements=True, state=RunState.FAILED),
        row("b", scenario, keep_measurements=True, mechanism=Mechanism.BLOCK_BY_BLOCK),
        row("u", preset("pl94-2020-units-us").scenario, keep_measurements=True),
        row("a", scenario, keep_measurements=True),
    )
    form.show_runs(rows)
    chooser = form.controls["measurements"]
    assert [chooser.itemData(n) for n in range(chooser.count())] == ["", "/runs/a"]
    form.fill(keep_measurements=True, seed=9)
    chooser.setCurrentIndex(1)
    trials = form.controls["trials"]
    assert (form.controls["data"].line.text(), trials.value(), trials.maximum()) == ("/data/a", 3, 3)
    fixed = ("data", "seed", "keep_measurements", "mechanism", "mode", "expand", "stop")
    assert not any(form.controls[name].isEnabled() for name in fixed)
    assert trials.isEnabled()
    assert "It spends nothing" in form._sentence.text()
    request = form.read()
    assert (request.settings.data, request.options) == ("/data/a", TopDownOptions(measurements="/runs/a"))
    chooser.setCurrentIndex(0)
    assert form.controls["data"].isEnabled()
    assert trials.maximum() > 3


@pytest.mark.parametrize(("name", "answers"), [(PERSONS, ""), ("dhc-2020-units-us", "1,737,332")])
def test_that_noisy_answers_of_a_household_product_are_announced_before_they_fill_the_disk(form, name, answers):
    form.show_scenario(preset(name).scenario)
    assert "gigabytes" not in form._sentence.text()
    form.fill(keep_measurements=True)
    said = form._sentence.text()
    assert ("gigabytes" in said, answers in said) == (bool(answers), True)


def test_that_the_seed_of_another_scenarios_run_is_offered(form, qtbot):
    scenario = preset(PERSONS).scenario
    other = set_field(replace(scenario, name="Other"), "total", Fraction(3))
    form.show_runs((row("a", scenario),))
    assert not form.use_seed.isVisible()
    form.show_runs((row("b", scenario), row("a", other, seed=12)))
    assert form.use_seed.isVisible()
    qtbot.mouseClick(form.use_seed, Qt.MouseButton.LeftButton)
    assert form.read().settings.seed == 12
    assert not form.use_seed.isVisible()
    assert "common random numbers" in form._common.text()
    form.fill(seed=None)
    assert not form._common.isVisible()


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A complete run of the demonstration that kept its measurements."""
    folder = tmp_path_factory.mktemp("kept")
    scenario = preset(PERSONS).scenario
    data = data_of(scenario, Path("demo"))
    spec = RunSpec(scenario, data, 1, 3, options=TopDownOptions(keep_measurements=True))
    directory = RunStore(folder).create(spec, datetime(2026, 5, 4, tzinfo=UTC))
    assert run_worker(directory, lambda _event: None) == Finished(Outcome.COMPLETE)
    return directory


def test_that_a_run_is_asked_for_that_post_processes_again(kept):
    scenario = preset(PERSONS).scenario
    measured = load_spec(kept)
    options = TopDownOptions(measurements=str(kept))
    asked = LaunchRequest(RunSettings(measured.data.path, trials=1, workers=2), options)
    edited = set_item(scenario, "constraints", "Block", ())
    spec = asked.spec(edited, data_of(scenario, Path("demo")))
    assert spec.options.measurements == str(kept)
    assert spec.options.measured_identity == measured.identity
    assert (spec.seed, spec.trials, spec.workers) == (3, 1, 2)
    assert "post-processes the answers of" in kind_words(spec)
    with pytest.raises(RunSpecError, match="2 are asked for"):
        replace(asked, settings=replace(asked.settings, trials=2)).spec(edited, data_of(scenario, Path("demo")))
