"""Every picture of the window is drawn into the user's axes by its name: nothing is seen there that Python cannot show."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import phexplore as px
from phexplore.document.project import Project
from phexplore.gui.binding.areas import Area
from phexplore.gui.editors.live_figure import LiveFigure
from phexplore.gui.main.window import MainWindow
from phexplore.model.workbook import Workbook
from phexplore.systems.registry import preset
from phexplore.systems.topdown.spine_views import SpineTab

GUI = Path(px.__file__).parent / "gui"
PRESETS = ("sdhc-2020-us", "pl94-2020-persons-us", "group-sizes-census-2010", "counties-invariant-2010")
PHSAFE, TOPDOWN = PRESETS[:2]


def _forecast(*names):
    return lambda: {figure.id for figure in px.forecast(PHSAFE).figures} >= set(names)


def _argument(called, name):
    return lambda: name in called.__annotations__


ROUTES = {
    "dialogs/proven_curve.py": (_forecast("proven"),),
    "targets/frontier_view.py": tuple(map(_forecast, ("frontier", "price-bars", "left-bars"))),
    "targets/vary_view.py": (_argument(px.sweep, "ax"),),
    "decision/compare_page.py": (_argument(px.compare, "ax"),),
    "decision/committee_page.py": (_argument(px.compare, "picture"),),
    "systems/phsafe/truncation_view.py": (lambda: "truncation" in px.load(PHSAFE).studies,),
    "systems/phsafe/published_view.py": (lambda: "published" in px.load(PHSAFE).studies,) * 2,
    "systems/topdown/tune_view.py": (lambda: "tune" in px.load(TOPDOWN).studies,),
    "systems/topdown/spine_panel.py": (lambda: "tree" in px.Spine.pictures.fget(None),),
    "run_manager/results_page.py": (_argument(px.Run.plot, "picture"),),
    "experiments/page.py": (lambda: all(px.load(name).studies for name in PRESETS),),
    "figures/view.py": (lambda: True,),  # the same picture, larger
}
"""Where the window makes a view of a picture, and how Python comes by the same picture."""


def _views():
    """Yield the module of every view that is made in the window."""
    for path in sorted(GUI.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "FigureView":
                yield path.relative_to(GUI).as_posix()


def test_that_every_view_of_the_window_has_a_way_in_python() -> None:
    found = list(_views())
    assert {place: found.count(place) for place in found} == {place: len(ways) for place, ways in ROUTES.items()}
    for place, ways in ROUTES.items():
        assert all(way() for way in ways), place


def _says(figure, drawn) -> bool:
    """Whether a figure says what the window draws; what it is still proving beside itself is empty there."""
    if not figure.id.startswith(drawn.id) or figure.table.headers != drawn.table.headers:
        return False
    pairs = zip(figure.table.rows, drawn.table.rows, strict=True)
    return all(seen in {None, own} for row, shown in pairs for own, seen in zip(row, shown, strict=True))


@pytest.mark.parametrize("name", PRESETS)
def test_that_pictures_of_the_overview_are_figures_of_the_forecast(name, qtbot, settings, tmp_path) -> None:
    scenario = preset(name).scenario
    window = MainWindow(Project.new(Workbook((scenario,), scenario.name)), settings, tmp_path / "runs")
    qtbot.addWidget(window, before_close_func=lambda w: setattr(w, "_leaves_without_asking", True))
    window.navigation.choose(Area.OVERVIEW)
    known, shown = {figure.id: figure for figure in px.forecast(name).figures}, 0
    for view in window.findChildren(LiveFigure):
        choices = [[view.choice.itemData(place)] for place in range(view.choice.count())] or [[]]
        for choice in choices:
            drawn = view._drawn(view._session.shown, *choice)
            assert any(_says(figure, drawn) for figure in known.values()), (view.id, choice)
            shown += 1
    assert shown >= 2


def test_that_all_pictures_of_a_spine_are_drawn(tmp_path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    spine = px.Spine.build(px.synth("pl94", 300, tmp_path / "blocks.csv", seed=1), "pl94-2020")
    assert len(spine.pictures) == len(SpineTab)
    for picture in set(spine.pictures) - {"map"}:
        assert spine.plot(picture).get_title(loc="left"), picture
    for call in (
        lambda: spine.plot("map"),
        lambda: spine.plot("nothing"),
        lambda: spine.plot("levels", nothing=1),
        lambda: spine.plot("levels", fit="nothing"),
        lambda: spine.plot("levels", scenario=PHSAFE),
    ):
        with pytest.raises(px.PhexploreError):
            call()


def test_that_comparisons_and_studies_are_drawn_into_axes() -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    _, (one, other) = pyplot.subplots(1, 2)
    start = px.load(PHSAFE)
    moved = [start.set("budget PH3/state_A-G", value) for value in ("0.02", "0.03")]
    assert px.compare(start, *moved, ax=one).equals(px.compare(start, *moved))
    px.compare(start, *moved, ax=other, picture="committee")
    assert one.get_title(loc="left") != other.get_title(loc="left")
    with pytest.raises(px.PhexploreError):
        px.compare(start, *moved, ax=one, picture="nothing")
    study = start.study("truncation", query="PH3/state_A-G", state="44")
    assert study.plot(one) is one
    assert study.table().shape[0] == len(study.found["points"])
    for call in (
        lambda: start.study("nothing"),
        lambda: start.study("truncation"),
        lambda: start.study("truncation", query="PH3/state_A-G", nothing=1),
        lambda: start.study("truncation", query=7),
        lambda: start.study("published", run="nowhere"),
        lambda: px.load("counties-invariant-2010").study("bases", cells="many"),
        lambda: px.load(TOPDOWN).study("published-errors", file="nowhere"),
    ):
        with pytest.raises(px.PhexploreError):
            call()
