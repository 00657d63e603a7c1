"""A system in the window that needs no pages of its own: everything is read from its forecast."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from PySide6.QtWidgets import QWidget

from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.room import Make, Room
from phexplore.gui.binding.shown import Shown
from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.editors.plain_panels import Explained
from phexplore.model.issues import Issue


class PlainRoom(Room):
    """Overview, parameters, scenario and inspector of a system whose parts go by name."""

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

    def make_overview(self) -> QWidget:
        """Return the page of pictures and promises."""
        raise NotImplementedError

    def make_parameters(self) -> QWidget:
        """Return the page of parameters."""
        raise NotImplementedError

    def explain(self) -> Callable[[Shown, str | None], Explained]:
        """Return what the inspector says of a version and a selected name."""
        raise NotImplementedError

    def names(self) -> tuple[str, ...]:
        """Return what can be selected."""
        raise NotImplementedError

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
