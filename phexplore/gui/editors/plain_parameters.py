"""The parameters of a system as a form of its declared fields; every change is one step named by the field."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from PySide6.QtWidgets import QWidget

from phexplore.gui.binding.session import refusal_of
from phexplore.gui.binding.system_session import SystemSession
from phexplore.gui.editors.scenario_form import PromiseText
from phexplore.gui.widgets.form import ChoiceControl, DeclaredForm, Take, WrittenControl
from phexplore.gui.widgets.labels import Paragraph, Text
from phexplore.gui.widgets.layout import column
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

        return refusal_of(session, lambda: (step_label(part, value, key), change))

    return take


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence in a form; where there is none its row is not there.

    Attributes:
        text: gives it.
        after: name of the field it stands below, "" for the end of the form.
        label: before it.
        look: how loudly it is said.
    """

    text: Callable[[], str]
    after: str = ""
    label: str = ""
    look: str = "muted"


class ParameterForm(QWidget):
    """Some fields of a system's parameters, or all."""

    def __init__(
        self,
        session: SystemSession[Any],
        *names: str,
        take: Take | None = None,
        words: Mapping[str, Callable[[Any], str]] | None = None,
        notes: Sequence[Note] = (),
        enabled: Mapping[str, Callable[[Any], bool]] = MappingProxyType({}),
        part_of: Callable[[Any], Any] = lambda method: method,
        written: Mapping[str, WrittenControl | ChoiceControl] = MappingProxyType({}),
    ) -> None:
        """Make the form.

        Args:
            session: whose scenario is edited.
            names: of the fields; all where none are named.
            take: edits; `taking_field` by default.
            words: what the options of a choice are called, by the name of its field.
            notes: sentences beside the fields.
            enabled: by field, whether it has a say in a value.
            part_of: the value whose fields are shown, from the parameters.
            written: controls of fields with a notation of their own, by field.
        """
        super().__init__()
        self._session, self._part_of, self._enabled = session, part_of, enabled
        parts = {part.name: part for part in declared_fields(type(part_of(session.scenario.method)))}
        self.form = DeclaredForm(
            [parts[name] for name in names or parts], take or taking_field(session), words=words, written=written
        )
        self.controls = self.form.controls
        self.notes = [(note, Text(note.label), Paragraph(look=note.look)) for note in notes]
        for note, label, text in self.notes:
            self.form.insert_below(note.after, label, text)
        column(self.form, of=self)
        self._seen = WhenSeen(self, self.refresh, session.updated)
        self.refresh()

    def refresh(self, _update: object = None) -> None:
        """Show the scenario as it stands."""
        value = self._part_of(self._session.scenario.method)
        self.form.show_value(value)
        for name, has_say in self._enabled.items():
            self.controls[name].setEnabled(has_say(value))
        for note, label, text in self.notes:
            label.setVisible(text.say(note.text()))


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
