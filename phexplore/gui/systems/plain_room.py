"""The room that any system gets in the window: everything is read from its forecast and its declared fields."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

from PySide6.QtWidgets import QWidget

from phexplore.figures.tile import TileContent, Tone
from phexplore.figures.wording import bound_text, budget_text, margin_word, people, to_places
from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.change_texts import ChangeLine
from phexplore.gui.binding.inspection import NO_FIGURES, Inspection
from phexplore.gui.binding.room import Make, MakePicture, Offer, Room, Surroundings
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.binding.tiles import UNKNOWN, loss_tile
from phexplore.gui.theme.appearance import appearance
from phexplore.model.issues import Issue
from phexplore.model.numbers import Budget
from phexplore.model.rounded import percent
from phexplore.systems.protocol import Entry, Forecast, System
from phexplore.systems.registry import loss_of

if TYPE_CHECKING:
    from phexplore.figures.figure import Figure
    from phexplore.gui.editors.live_figure import LiveFigure, Picture

Beside = tuple["Picture | None", int]
"""A picture, or None for the list of changes, and its part of the height."""


class PlainRoom(Room):
    """Overview, parameters, scenario and inspector. A system names its pictures, what its parts are called, and what is said of them."""

    neighbours: ClassVar[str] = ""
    """A sentence about what conventions mean, or the neighbours it is stated for."""
    neighbours_are_chosen: ClassVar[bool] = False
    """Whether the loss is stated for the neighbours of the conventions; else always for the same."""
    hint: ClassVar[str] = "Change a parameter: every difference is listed here as a sentence."
    """What can be changed, for who changed nothing yet."""
    promises_in_overview: ClassVar[bool] = True
    """Whether the overview says what is protected."""

    def __init__(self, system: System, around: Surroundings) -> None:
        super().__init__(system, around)
        self.stopping: list[Callable[[], object]] = []

    def makers(self) -> Mapping[Area, Make]:
        """Return the makers of its own pages."""
        pages = {
            Area.OVERVIEW: self._make_overview,
            Area.BUDGETS: self.make_parameters,
            Area.SCENARIO: self._make_scenario,
        }
        return pages if Area.EXPERIMENT in self.hidden else {**pages, Area.EXPERIMENT: self._make_experiments}

    def tiles(self) -> tuple[TileContent, ...]:
        """Return the privacy loss, the widest margin, and how many queries are published."""
        shown, loss = self.session.shown, loss_of(self.session.scenario)

        def definition(version: ScenarioView) -> tuple[Hashable, Budget]:
            found = loss_of(version.scenario)
            return (found.framework, found.neighbours), found.total

        caption, alone = f"Privacy loss {loss.framework.symbol}", f"{loss.neighbours.value} neighbors"
        return loss_tile(shown, definition, caption=caption, alone=alone), *entry_tiles(shown)

    def columns(self) -> Sequence[tuple[int, Sequence[Beside]]]:
        """Return the two columns of the overview: parts of the width, pictures and the list of changes."""
        from phexplore.gui.editors.live_figure import Picture

        draw = partial(_margins_figure, self.system)
        margins = Picture("margins", "Margins", "Margins of error appear here.", draw, needs_figures=True)
        return (1, ((margins, 1),)), (1, ((None, 1),))

    def make_parameters(self) -> QWidget:
        """Return the page of parameters."""
        from phexplore.gui.editors.plain_parameters import ParameterPage

        return ParameterPage(self.session, f"Parameters: {self.system.title}")

    def make_form(self) -> QWidget:
        """Return the form of the scenario besides its parameters."""
        from phexplore.gui.editors.scenario_form import ScenarioForm

        return ScenarioForm(self.session)

    def inspect(self) -> Inspection:
        """Return what the inspector says of the selection."""
        shown, place = self.session.shown, self.session.selection
        forecast = shown.forecast
        if forecast is None:
            return Inspection(shown.scenario.name, parts=(NO_FIGURES,), issues=shown.issues)
        entry = next((each for each in forecast.entries if each.place == place), None)
        parts = _of_whole(forecast) if entry is None else _of_entry(shown, entry)
        issues = tuple(issue for issue in shown.issues if place is None or place in issue.path)
        title = shown.scenario.name if entry is None else self.system.place_name(entry.place).title
        return Inspection(title, parts=tuple(part for part in parts if part[1]), issues=issues)

    def keys(self) -> Iterable[Any]:
        """Return what can be selected."""
        forecast = self.session.shown.forecast
        return () if forecast is None else tuple(entry.place for entry in forecast.entries)

    def title_of(self, key: Any) -> str:
        """Return what something that can be selected is called."""
        return str(key)

    def total_of_changes(self) -> str:
        """Return what all differences cost together, "" for nothing to say."""
        return ""

    def offers(self) -> list[Offer]:
        """Return a line for everything that can be selected."""
        return [Offer(f"Go to {self.title_of(key)}", "", partial(self.show_place, key)) for key in self.keys()]

    def pictures(self) -> Mapping[str, MakePicture]:
        """Return the pictures of the overview that the present depth shows; only sliders move anything there."""
        is_expert = appearance().is_expert
        offered = (picture for _, column in self.columns() for picture, _ in column if picture is not None)
        pictures = [each for each in offered if is_expert or not each.is_expert]
        return {each.question or each.name: partial(self.live, each, takes_pointer=False) for each in pictures}

    def live(self, picture: Picture, *, takes_pointer: bool = True) -> LiveFigure:
        """Return a picture that follows the parameters.

        Args:
            picture: as data.
            takes_pointer: whether marks can be chosen and moved.
        """
        from phexplore.gui.editors.live_figure import LiveFigure

        figure = LiveFigure(self.session, picture, takes_pointer=takes_pointer)
        figure.failed.connect(self.failed)
        if picture.shares_choice:
            figure.key_activated.connect(self.show_place)
        return figure

    def make_inspector(self) -> QWidget:
        """Return what explains the selection."""
        from phexplore.gui.editors.inspector import Inspector

        return Inspector(self.session, self.inspect)

    def go_to_issue(self, issue: Issue) -> None:
        """Go to the part an issue is about."""
        if issue.path[:1] == ("conventions",):
            self.wanted.emit(Area.SCENARIO)
        else:
            self.show_place(next((part for part in issue.path[1:] if part in self.keys()), None))

    def stop(self) -> None:
        """End what works beside the window."""
        for end in self.stopping:
            end()

    def _make_overview(self) -> QWidget:
        from phexplore.gui.editors.changes_panel import Changes, ChangesPanel
        from phexplore.gui.editors.overview import Overview
        from phexplore.gui.editors.scenario_form import PromiseText
        from phexplore.gui.widgets.page import Section

        columns: list[tuple[int, list[tuple[QWidget, int]]]] = []
        for width, column in self.columns():
            parts: list[tuple[QWidget, int]] = []
            for picture, height in column:
                if picture is not None:
                    parts.append((self.live(picture), height))
                    continue
                if self.promises_in_overview:
                    parts.append((Section("What the number means", "", PromiseText(self.session), 1), 0))
                panel = ChangesPanel(self.session, Changes(self.changes, self.hint, self.total_of_changes))
                panel.chosen.connect(self._go_to_change)
                parts.append((panel, height))
            columns.append((width, parts))
        page = Overview(columns)
        self.stopping.append(page.stop)
        return page

    def _go_to_change(self, line: ChangeLine) -> None:
        if line.area is Area.BUDGETS:
            self.show_place(line.key)
        else:
            self.wanted.emit(line.area)

    def _make_scenario(self) -> QWidget:
        from phexplore.gui.editors.scenario_manager import scenario_page

        return scenario_page(self.session, self.make_form, self.neighbours, are_chosen=self.neighbours_are_chosen)

    def _make_experiments(self) -> QWidget:
        from phexplore.gui.experiments.page import ExperimentPage

        page = ExperimentPage(self.system.experiments(), self.around.experiments)
        page.failed.connect(self.failed)
        self.stopping.append(page.shut_down)
        return page


def _margins_figure(system: System, shown: ScenarioView) -> Figure:
    from phexplore.systems.figures import entries_figure

    before = None if shown.reference is None else shown.reference.forecast
    return entries_figure(system, shown.scenario.conventions, cast("Forecast", shown.forecast), before)


def _of_whole(found: Forecast) -> tuple[tuple[str, str], ...]:
    loss = found.loss
    return (
        ("Privacy loss", f"{loss.framework.symbol} = {bound_text(loss.total)}, {loss.neighbours.value} neighbors"),
        ("Protected", "\n".join(found.protected)),
        ("Not protected", "\n".join(found.not_protected)),
    )


def _of_entry(shown: ScenarioView, entry: Entry) -> tuple[tuple[str, str], ...]:
    conventions, margins = shown.scenario.conventions, entry.margins
    told = "not published"
    if margins is not None:
        often = f"{percent(conventions.confidence, places=None)}, {margin_word(conventions.margin)}"
        told = f"±{people(margins.by(conventions.margin))} ({often})\nExact quantile ±{margins.exact}; normal ±{to_places(margins.normal)}"
    budget = "" if entry.budget is None else budget_text(entry.budget)
    return ("Budget", budget), ("Margin of one answer", told)


def entry_tiles(shown: ScenarioView) -> tuple[TileContent, TileContent]:
    """Return the widest margin, and how many queries are published."""
    if shown.forecast is None:
        missing = ("", "see the issues", Tone.REFUSED)
        return TileContent("Widest margin", UNKNOWN, *missing), TileContent("Published", UNKNOWN, *missing)
    convention, entries = shown.scenario.conventions.margin, shown.forecast.entries
    known = {entry.place: float(entry.margins.by(convention)) for entry in entries if entry.margins is not None}
    count = TileContent("Published", f"{len(known):,}", f"of {len(entries):,} queries")
    if not known:
        return TileContent("Widest margin", "none", "", "nothing has noise", Tone.ATTENTION), count
    place = max(known, key=known.__getitem__)
    often = f"{percent(shown.scenario.conventions.confidence, places=None)}, {margin_word(convention)}"
    return TileContent(f"Widest margin, {place}", f"±{people(known[place])}", "", often), count
