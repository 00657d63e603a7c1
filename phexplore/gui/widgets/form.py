"""Declared fields as a form: a control by the kind of each field, its sentence as tool tip, a refusal beside the field."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Protocol, cast

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QFormLayout, QWidget

from phexplore.errors import PhexploreError
from phexplore.figures.wording import capital, sentence
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.bubble import Refusal
from phexplore.gui.widgets.buttons import Chooser, TickBox
from phexplore.gui.widgets.exact_field import ExactField
from phexplore.gui.widgets.labels import Text, describe, field_label
from phexplore.gui.widgets.layout import column, form
from phexplore.model.fields import Field
from phexplore.model.kinds import Choice, Exact, Flag, Kind, Optional, Whole
from phexplore.model.kinds import Text as Words

Take = Callable[[Field, Any, Any], str]
"""Takes a field, the key of an entry (None for the whole field) and a value; returns why it is refused, "" when accepted."""


class Control(Protocol):
    """What shows and takes the value of one field."""

    def show_value(self, value: Any) -> None:
        """Show a value."""


class TypedControl(ExactField):
    """A value that is typed: numbers and short texts."""

    def __init__(self, part: Field, key: Any, kind: Kind, take: Take) -> None:
        name = capital(part.title) if key is None else f"{capital(part.title)} of {key}"
        super().__init__(name, self._take_text, unit=part.symbol)
        self._part, self._key, self._kind, self._take_value = part, key, kind, take
        if isinstance(kind, Words):
            self.line.setAlignment(Qt.AlignmentFlag.AlignLeft)

    def show_value(self, value: Any) -> None:
        """Show a value."""
        self.set_value(self._kind.words(value))

    def _take_text(self, typed: str) -> str:
        try:
            value = self._kind.parse(typed.strip())
            self._kind.check(value, self._part.phrase)
        except (ValueError, TypeError, PhexploreError) as error:
            return f"{sentence(str(error))} {self._kind.remedy}"
        return self._take_value(self._part, self._key, value)


class WrittenControl(ExactField):
    """A value with a notation of its own, e.g. a list in one line."""

    def __init__(self, name: str, words: Callable[[Any], str], take: Callable[[str], str]) -> None:
        """Make the field.

        Args:
            name: for people who do not see its label.
            words: writes a value.
            take: takes what was typed; returns why it is refused, "" when it was accepted.
        """
        super().__init__(name, take, width=40 * GRID)
        self._words = words
        self.line.setAlignment(Qt.AlignmentFlag.AlignLeft)

    def show_value(self, value: Any) -> None:
        """Show a value."""
        self.set_value(self._words(value))


class ChoiceControl(QWidget):
    """One of a few; beside it the reason when a choice is refused."""

    def __init__(self, part: Field, options: Callable[[Any], Iterable[tuple[str, Any]]], take: Take) -> None:
        """Make the list.

        Args:
            part: the field.
            options: words and value of each, from the value that is shown.
            take: edits, or says why not.
        """
        super().__init__()
        self.chooser = Chooser(capital(part.title))
        self._part, self._options, self._take = part, options, take
        self.chooser.currentIndexChanged.connect(self._choose)
        column((self.chooser, Qt.AlignmentFlag.AlignLeft), of=self)
        self._refusal = Refusal(self.chooser, self)
        self.setFocusProxy(self.chooser)

    @property
    def reason(self) -> str:
        """Why the choice is refused, "" when it is not."""
        return self._refusal.text

    def show_value(self, value: Any) -> None:
        """Show a value; what was refused is forgotten."""
        self.chooser.offer(self._options(value))
        self.chooser.select(value)
        self._refusal.say("")

    def _choose(self) -> None:
        self._refusal.say(self._take(self._part, None, self.chooser.currentData()))


class FlagControl(TickBox):
    """Yes or no."""

    def __init__(self, part: Field, take: Take) -> None:
        super().__init__(capital(part.title))
        self.setAccessibleName(capital(part.title))
        self.toggled.connect(lambda on: take(part, None, on))

    def show_value(self, value: Any) -> None:
        """Show a value."""
        with QSignalBlocker(self):
            self.setChecked(bool(value))


class EntriesControl(QWidget):
    """A value per key, each typed in a row of its own."""

    def __init__(self, part: Field, take: Take) -> None:
        super().__init__()
        self._part, self._take = part, take
        self.fields: dict[Hashable, TypedControl] = {}
        self._form = form_in(self)

    def show_value(self, value: Any) -> None:
        """Show the entries; rows are made anew where the keys differ."""
        if tuple(value) != tuple(self.fields):
            while self._form.rowCount():
                self._form.removeRow(0)
            self.fields = {}
            for key in value:
                self.fields[key] = TypedControl(self._part, key, self._part.kind.entry, self._take)
                self._form.addRow(_key_words(self._part, key), self.fields[key])
        for key, each in value.items():
            self.fields[key].show_value(each)


class ReadControl(Text):
    """A value that is shown and not edited here."""

    def __init__(self, part: Field) -> None:
        super().__init__(wrap=True)
        self._part = part

    def show_value(self, value: Any) -> None:
        """Show a value."""
        self.setText(self._part.kind.words(value) or "–")


class DeclaredForm(QWidget):
    """A row per field, in their order."""

    def __init__(
        self,
        parts: Iterable[Field],
        take: Take,
        *,
        words: Mapping[str, Callable[[Any], str]] | None = None,
        written: Mapping[str, WrittenControl | ChoiceControl] = MappingProxyType({}),
    ) -> None:
        """Make the form.

        Args:
            parts: the fields.
            take: edits, or says why not.
            words: what the options of a choice are called, by the name of its field.
            written: controls of fields with a notation of their own, by field.
        """
        super().__init__()
        self.controls: dict[str, Any] = {}
        self.rows = rows = form_in(self)
        for part in parts:
            control = written.get(part.name) or _control(part, take, (words or {}).get(part.name))
            describe(control, tip=part.doc, more=part.doc)
            if isinstance(control, FlagControl):
                rows.addRow("", control)
            else:
                rows.addRow(field_label(capital(part.title), control), control)
            self.controls[part.name] = control

    def insert_below(self, name: str, label: Any, widget: QWidget) -> None:
        """Put a row below the one of a field, at the end for "".

        Args:
            name: of the field.
            label: words or a widget before it.
            widget: what is put there.
        """
        at = self.rows.rowCount()
        if name:
            at = 1 + cast("tuple[int, object]", self.rows.getWidgetPosition(self.controls[name]))[0]
        self.rows.insertRow(at, label, widget)

    def show_value(self, value: Any) -> None:
        """Show the fields of a value of the declared class."""
        for name, control in self.controls.items():
            control.show_value(getattr(value, name))


def form_in(parent: QWidget) -> QFormLayout:
    """Return a form that fills a widget."""
    filled = form(of=parent)
    filled.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
    return filled


def _is_typed(kind: Kind) -> bool:
    return isinstance(kind.kind if isinstance(kind, Optional) else kind, Exact | Whole | Words)


def _control(part: Field, take: Take, words: Callable[[Any], str] | None) -> Any:
    kind = part.kind
    if isinstance(kind, Choice):
        offered = [(words(each) if words else capital(kind.words(each)), each) for each in kind.options]
        return ChoiceControl(part, lambda _: offered, take)
    if isinstance(kind, Flag):
        return FlagControl(part, take)
    if _is_typed(kind):
        return TypedControl(part, None, kind, take)
    if kind.keys is not None and _is_typed(kind.entry):
        return EntriesControl(part, take)
    return ReadControl(part)


def _key_words(part: Field, key: Any) -> str:
    return part.kind.keys.words(key) if part.kind.keys is not None else str(key)
