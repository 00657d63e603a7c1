"""The public names: documented, lazily loaded, and equal to the command line in every number."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

import phexplore as px
from phexplore.cli.app import run as command
from phexplore.errors import UnknownNameError
from phexplore.interface.frames import data_path
from phexplore.model.edits import EditRefusedError
from phexplore.systems.registry import presets

PRESETS = tuple(presets())
HEAVY = ("PySide6", "numba", "pandas", "matplotlib", "numpy", "scipy", "pyarrow")


def test_that_there_are_at_most_twenty_names_and_all_are_there() -> None:
    assert len(px.__all__) <= 20
    assert px.__all__ == sorted(px.__all__)
    for name in px.__all__:
        assert inspect.getdoc(getattr(px, name)), name
    assert set(px.__all__) <= set(dir(px))
    with pytest.raises(AttributeError):
        _ = px.nothing


def test_that_every_documented_error_and_result_type_has_a_public_name() -> None:
    page = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(?:px\.errors\.)?([A-Z]\w+Error)`", page))
    assert len(named) >= 13
    for name in named:
        assert issubclass(getattr(px.errors, name), px.PhexploreError), name
    types = set(re.findall(r"-> ([A-Z]\w+)\n", page)) - {"DataFrame", "Axes", "Path"}
    assert types >= {"Scenario", "Run", "Data", "Study", "Verification"}
    for name in types:
        assert inspect.isclass(getattr(px, name)), name
    with pytest.raises(AttributeError):
        _ = px.errors.Nothing


def test_that_the_errors_are_there_before_anything_else_is_loaded() -> None:
    code = "import phexplore as px; print(px.errors.InfeasibleError.__name__, px.errors.WriteError.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["InfeasibleError", "WriteError"]


@pytest.mark.parametrize(
    "call",
    [
        lambda: px.load("sdhc-2020"),
        lambda: px.load("sdhc-2020-us").set("nothing", 1),
        lambda: px.forecast("sdhc-2020-us").plot(figure="none"),
        lambda: px.Run(Path("nowhere")),
        lambda: px.solve("sdhc-2020-us", {"PH3/state_A-G": -3}),
        lambda: px.synth("pl94", 10, ".", seed=1),
        lambda: px.epsilon("sdhc-2020-us", 2),
        lambda: setattr(px.load("sdhc-2020-us"), "value", 3),
    ],
)
def test_that_the_text_of_an_error_contains_its_remedy(call) -> None:
    with pytest.raises(px.PhexploreError) as caught:
        call()
    assert caught.value.remedy
    assert str(caught.value) == f"{caught.value.sentence} {caught.value.remedy}"


def test_that_a_forecast_shows_what_it_is_of() -> None:
    shown = repr(px.forecast("sdhc-2020-us"))
    assert "46 margins" in shown
    assert repr(px.load("sdhc-2020-us")) in shown


def test_that_the_stub_names_what_is_loaded() -> None:
    stub = Path(px.__file__).with_suffix(".pyi").read_text()
    for name in px.__all__:
        assert f"{name} as {name}" in stub, name


def test_that_importing_loads_nothing_heavy() -> None:
    code = f"import sys, phexplore; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("preset", PRESETS)
def test_that_forecasts_equal_the_command_line(preset, capsys) -> None:
    assert command(["forecast", preset, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    found = px.forecast(preset)
    assert json.loads(json.dumps(found.json())) == printed
    frame = found.privacy
    assert list(frame.epsilon) == [entry["value"] for entry in printed["privacy"]["epsilon"]]


def _margins(value) -> list[float]:
    """Every normal margin that a printed forecast holds, in its order."""
    if isinstance(value, list):
        return [margin for part in value for margin in _margins(part)]
    if not isinstance(value, dict):
        return []
    own = [value["normal"]] if value.get("normal") is not None else []
    return own + [margin for part in value.values() for margin in _margins(part)]


@pytest.mark.parametrize("preset", PRESETS)
def test_that_margins_equal_the_command_line(preset, capsys) -> None:
    command(["forecast", preset, "--json"])
    printed = json.loads(capsys.readouterr().out)
    shown = px.forecast(preset).to_frame().moe_normal.dropna().tolist()
    if presets()[preset].scenario.method.file_kind in {"phsafe", "topdown"}:
        assert shown == _margins(printed["cells"])
    else:  # an entry is the narrowest or widest answer, or that of one size
        assert set(shown) <= set(_margins(printed))


@pytest.mark.parametrize("preset", PRESETS)
def test_that_every_figure_is_drawn_into_axes_of_the_user(preset) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    found = px.forecast(preset)
    for figure in found.figures:
        drawn, axes = plt.subplots(1, 2)
        assert found.plot(axes[0], figure=figure.id) is axes[0]
        said = axes[0].get_title(loc="left")
        assert "".join(said.split()) == "".join((figure.title or figure.summary).split())
        assert not axes[1].has_data()
        assert len(found.table(figure.id)) == len(figure.table.rows)
        plt.close(drawn)


def test_that_a_scenario_saved_is_loaded_again(tmp_path) -> None:
    scenario = px.load("sdhc-2020-us").set("threshold PH2", 8)
    assert px.load(scenario.save(tmp_path / "a.phx")) == scenario
    assert px.load(scenario.export("phsafe-config", tmp_path / "config.json")[0]).rho == scenario.rho


def test_that_an_edit_gives_another_scenario_and_leaves_the_first() -> None:
    scenario = px.load("pl94-2020-persons-us")
    changed = scenario.set({"total": "2.5", "level share US": 0.1})
    assert scenario.rho == Fraction(293764, 114921)
    assert changed.rho == Fraction(5, 2)
    assert changed != scenario
    assert changed.fingerprint != scenario.fingerprint
    assert len({scenario, changed, px.load("pl94-2020-persons-us")}) == 2


@pytest.mark.parametrize(
    "call",
    [
        lambda: px.load("no-such-preset"),
        lambda: px.load("sdhc-2020-us").set("budget nowhere", 1),
        lambda: px.load("sdhc-2020-us").set("threshold PH2", -1),
        lambda: px.load("sdhc-2020-us").export("nothing", "x"),
        lambda: px.forecast("sdhc-2020-us").plot(figure="nothing"),
        lambda: px.forecast("sdhc-2020-us").table("nothing"),
        lambda: px.epsilon("sdhc-2020-us", conversion="nothing"),
        lambda: px.solve("sdhc-2020-us", {"nowhere": 3}),
        lambda: px.solve("sdhc-2020-us", caps={"rho": "0.000001"}),
        lambda: px.solve("counties-invariant-2010"),
        lambda: px.compare("sdhc-2020-us"),
        lambda: px.compare("sdhc-2020-us", "pl94-2020-persons-us"),
        lambda: px.frontier("sdhc-2020-us", weights="nothing"),
        lambda: px.sweep("sdhc-2020-us", {}),
        lambda: px.sweep("sdhc-2020-us", {"budget PH3/state_A-G": []}),
        lambda: px.sweep("sdhc-2020-us", {"budget PH3/state_A-G": [1]}, measure=["nowhere"]),
        lambda: px.synth("nothing", 5, "x", seed=1),
        lambda: px.run("sdhc-2020-us", "nowhere", out="x"),
        lambda: px.run("sdhc-2020-us", "demo", out="x", release="nothing"),
        lambda: px.run("pl94-2020-persons-us", "demo", out="x", nothing=1),
        lambda: px.open_run("nowhere"),
        lambda: px.read("nowhere"),
        lambda: px.Spine.open("nowhere"),
        lambda: px.measurements("nowhere", "County"),
        lambda: px.verify("nowhere"),
        lambda: px.approve("sdhc-2020-us", who="Ada", role="Chair", out="x.phx", status="nothing"),
    ],
)
def test_that_failures_are_the_programs_own_and_nothing_is_printed(call, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(px.PhexploreError):
        call()
    assert capsys.readouterr() == ("", "")


def test_that_solving_gives_the_published_budgets() -> None:
    solved = px.solve("sdhc-2020-us", rounding="as-in-2020")
    published = px.load("sdhc-2020-us")
    assert solved.rho == published.rho
    assert {k: v for k, v in solved.parameters.items() if k.startswith("budget")} == {
        k: v for k, v in published.parameters.items() if k.startswith("budget")
    }


def test_that_targets_can_be_given_by_place() -> None:
    solved = px.solve("sdhc-2020-us", {"PH3/state_A-G": 40})
    margin = px.forecast(solved).to_frame().set_index(["query", "level"]).moe_normal["PH3", "state_A-G"]
    assert 39 < margin <= 40


def test_that_a_comparison_states_what_differs() -> None:
    found = px.compare("sdhc-2020-us", px.load("sdhc-2020-us").set("budget PH3/state_A-G", "0.02"))
    assert list(found.kind) == ["total", "parameter", "margin"]
    assert found.place[1] == "budget PH3/state_A-G"


def test_that_an_approval_is_kept_and_checked(tmp_path) -> None:
    path = px.approve("sdhc-2020-us", who="Ada Lovelace", role="Chair", out=tmp_path / "a.phx", note="Vote")
    assert px.load(path).fingerprint == px.load("sdhc-2020-us").fingerprint
    command(["bundle", str(path), "--out", str(tmp_path / "b.zip")])
    found = px.verify(tmp_path / "b.zip")
    assert found.is_intact
    assert not found.findings


def test_that_an_unknown_name_says_the_nearest() -> None:
    with pytest.raises(UnknownNameError) as caught:
        px.load("sdhc-2020-us").set("budget PH3/state_A-H", 1)
    assert "PH3/state_A-G" in caught.value.remedy


def test_that_a_refused_edit_is_typed() -> None:
    with pytest.raises(EditRefusedError):
        px.load("pl94-2020-persons-us").set(total=-1)


def test_that_blocks_read_as_a_frame_are_taken_back_as_they_are(tmp_path) -> None:
    blocks = px.read(px.synth("pl94", 60, tmp_path / "blocks.csv", seed=1)).to_frame()
    assert (blocks.total == 0).any()
    again = px.read(data_path(blocks, tmp_path / "run")).to_frame()
    assert again.equals(blocks)
    moved = blocks.assign(**{"0": blocks["0"] + 1})
    for wrong in (moved, blocks.assign(place="x"), blocks.drop(columns="15")):
        with pytest.raises(px.PhexploreError):
            data_path(wrong, tmp_path / "wrong")
    taken = px.read(data_path(moved.drop(columns="total"), tmp_path / "moved")).to_frame()
    assert (taken.total == blocks.total + 1).all()
