"""The room that any system gets in the window: everything is read from its forecast and its declared fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from PySide6.QtWidgets import QWidget

from phexplore.figures.tile import TileContent, Tone
from phexplore.figures.wording import budget_text, margin_word, people, percent
from phexplore.gui.binding.actions import Offer
from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.room import LivePicture, Make, Room
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.binding.tiles import UNKNOWN, difference
from phexplore.model.issues import Issue
from phexplore.model.numbers import Unlimited
from phexplore.systems.protocol import Entry, Forecast
from phexplore.systems.registry import absurd_epsilon, loss_of

if TYPE_CHECKING:
    from phexplore.figures.figure import Figure
    from phexplore.gui.editors.plain_panels import Explained


class PlainRoom(Room):
    """Overview, parameters, scenario and inspector of a system whose parts go by the place of a figure."""

    session: PlainSession
    neighbours: ClassVar[str] = ""
    """A sentence about the neighbours it is stated for."""

    def makers(self) -> Mapping[Area, Make]:
        """Return the makers of its own pages."""
        return {
            Area.OVERVIEW: self.make_overview,
            Area.BUDGETS: self.make_parameters,
            Area.SCENARIO: self._make_scenario,
        }

    def tiles(self) -> tuple[TileContent, ...]:
        """Return the privacy loss, the widest margin, and how many queries are published."""
        shown = self.session.shown
        return loss_tile(shown), *entry_tiles(shown)

    def make_overview(self) -> QWidget:
        """Return the page of pictures and promises."""
        from phexplore.gui.editors.plain_overview import ForecastOverview

        page = ForecastOverview(self.session, self.figure)
        page.opened.connect(self.show_place)
        page.failed.connect(self.failed)
        return page

    def make_parameters(self) -> QWidget:
        """Return the page of parameters."""
        from phexplore.gui.editors.plain_parameters import ParameterPage

        return ParameterPage(self.session, f"Parameters: {self.system.title}")

    def explain(self) -> Callable[[ScenarioView, str | None], Explained]:
        """Return what the inspector says of a version and a selected name."""
        return self._explain_entry

    def names(self) -> tuple[str, ...]:
        """Return what can be selected."""
        found = self.session.shown.forecast
        return () if found is None else tuple(entry.place for entry in found.entries)

    def offers(self) -> list[Offer]:
        """Return a line for everything that can be selected."""
        return [Offer(f"Go to {name}", "", partial(self.show_place, name)) for name in self.names()]

    def pictures(self) -> Mapping[str, Callable[[], LivePicture]]:
        """Return the margins of everything that is measured."""
        return {"Margins": self._margins_picture}

    def figure(self, shown: ScenarioView) -> Figure:
        """Return the margins of everything that is measured."""
        from phexplore.figures.figure import nothing
        from phexplore.gui.editors.plain_overview import NO_PICTURE
        from phexplore.systems.figures import entries_figure

        if shown.forecast is None:
            return nothing("margins", NO_PICTURE)
        before = None if shown.reference is None else shown.reference.forecast
        return entries_figure(self.system, shown.scenario.conventions, shown.forecast, before)

    def make_inspector(self) -> QWidget:
        """Return what explains the selection."""
        from phexplore.gui.editors.plain_panels import PlainInspector

        return PlainInspector(self.session, self.explain())

    def go_to_issue(self, issue: Issue) -> None:
        """Go to the part an issue is about."""
        if issue.path[:1] == ("conventions",):
            self.wanted.emit(Area.SCENARIO)
        else:
            self.show_place(next((part for part in issue.path[1:] if part in self.names()), None))

    def _make_scenario(self) -> QWidget:
        from phexplore.gui.editors.scenario_form import ScenarioForm
        from phexplore.gui.editors.scenario_page import scenario_page

        return scenario_page(self.session, lambda: ScenarioForm(self.session), self.neighbours)

    def _margins_picture(self) -> LivePicture:
        from phexplore.gui.figures.view import FigureView

        view = FigureView("Margins", "Margins of error appear here.")
        return LivePicture(view, lambda: view.show_figure(self.figure(self.session.shown)))

    def _explain_entry(self, shown: ScenarioView, place: str | None) -> Explained:
        found = shown.forecast
        if found is None:
            return shown.scenario.name, [("Errors", "The figures appear when the errors of the scenario are cured.")]
        entry = next((each for each in found.entries if each.place == place), None)
        parts = _of_whole(found) if entry is None else _of_entry(shown, entry)
        issues = [issue for issue in shown.issues if place is None or place in issue.path]
        told = "\n".join(f"{issue.sentence} {issue.remedy}" for issue in issues)
        title = shown.scenario.name if entry is None else self.system.place_name(entry.place).title
        return title, [(head, text) for head, text in (*parts, ("Issues", told)) if text]


def _of_whole(found: Forecast) -> tuple[tuple[str, str], ...]:
    loss = found.loss
    return (
        ("Privacy loss", f"{loss.framework.symbol} = {budget_text(loss.total)}, {loss.neighbours.value} neighbours"),
        ("Protected", "\n".join(found.protected)),
        ("Not protected", "\n".join(found.not_protected)),
    )


def _of_entry(shown: ScenarioView, entry: Entry) -> tuple[tuple[str, str], ...]:
    conventions, margins = shown.scenario.conventions, entry.margins
    told = "not published"
    if margins is not None:
        often = f"{percent(conventions.confidence, places=0)}, {margin_word(conventions.margin)}"
        told = f"±{people(margins.by(conventions.margin))} ({often})\nExact quantile ±{margins.exact}; normal ±{margins.normal:.2f}"
    budget = "" if entry.budget is None else budget_text(entry.budget)
    return ("Budget", budget), ("Margin of one answer", told)


def loss_tile(shown: ScenarioView) -> TileContent:
    """Return what a scenario costs in privacy, with its change."""
    loss, reference = loss_of(shown.scenario), shown.reference
    change, tone = f"{loss.neighbours.value} neighbours", Tone.NEUTRAL
    if reference is not None:
        before = loss_of(reference.scenario)
        if (before.framework, before.neighbours) != (loss.framework, loss.neighbours):
            change, tone = "not comparable: the reference has another definition", Tone.ATTENTION
        elif isinstance(before.total, Unlimited) or isinstance(loss.total, Unlimited) or not before.total:
            change, tone = f"no finite {loss.framework.symbol} to compare", Tone.ATTENTION
        else:
            change, tone = difference(loss.total - before.total, before.total)
    if said := absurd_epsilon(shown.scenario):
        change, tone = said, Tone.ATTENTION
    return TileContent(f"Privacy loss {loss.framework.symbol}", budget_text(loss.total), "", change, tone)


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
    often = f"{percent(shown.scenario.conventions.confidence, places=0)}, {margin_word(convention)}"
    return TileContent(f"Widest margin, {place}", f"±{people(known[place])}", "", often), count
