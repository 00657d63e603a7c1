"""The parameters of a system as a form of its declared fields; every change is one step named by the field."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from PySide6.QtWidgets import QVBoxLayout, QWidget

from phexplore.gui.binding.system_session import SystemSession
from phexplore.gui.editors.scenario_form import PromiseText
from phexplore.gui.widgets.form import DeclaredForm, Take
from phexplore.gui.widgets.page import Page, Section
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.edits import set_field, set_item, step_label
from phexplore.model.fields import Field, declared_fields
from phexplore.model.scenario import Scenario


def taking_field(session: SystemSession[Any]) -> Take:
    """Return what a form does with a value: an edit named by the field, or the reason why not."""

    def take(part: Field, key: Hashable, value: Any) -> str:
        def change(scenario: Scenario) -> Scenario:
            if key is None:
                return set_field(scenario, part.name, value)
            return set_item(scenario, part.name, key, value)

        refusal = session.edit(step_label(part, value, key), change)
        return refusal.full if refusal else ""

    return take


class ParameterForm(QWidget):
    """Some fields of a system's parameters, or all."""

    def __init__(
        self,
        session: SystemSession[Any],
        *names: str,
        take: Take | None = None,
        words: Mapping[str, Callable[[Any], str]] | None = None,
    ) -> None:
        """Make the form.

        Args:
            session: whose scenario is edited.
            names: of the fields; all where none are named.
            take: edits; `taking_field` by default.
            words: what the options of a choice are called, by the name of its field.
        """
        super().__init__()
        self._session = session
        parts = declared_fields(type(session.scenario.method))
        chosen = [part for part in parts if part.name in names or not names]
        self.form = DeclaredForm(chosen, take or taking_field(session), words=words)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.form)
        self._seen = WhenSeen(self, self.refresh)
        session.updated.connect(self._seen.request)
        self.refresh()

    def refresh(self, _update: object = None) -> None:
        """Show the scenario as it stands."""
        self.form.show_value(self._session.scenario.method)


class ParameterPage(Page):
    """All parameters of a system, and what they promise."""

    def __init__(self, session: SystemSession[Any], title: str) -> None:
        self.parameters = ParameterForm(session)
        super().__init__(
            title,
            [
                Section("Parameters", "", self.parameters),
                Section("What that means", "", PromiseText(session)),
            ],
        )
