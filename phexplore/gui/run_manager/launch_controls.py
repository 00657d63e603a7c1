"""What the fields of a run are asked with: a control by the kind of the field, read when something in it changes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from PySide6.QtCore import Qt, Signal, SignalInstance
from PySide6.QtWidgets import QWidget

from phexplore.errors import PhexploreError
from phexplore.figures.wording import capital
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.buttons import Chooser, TextButton, TickBox
from phexplore.gui.widgets.exact_field import ExactLine
from phexplore.gui.widgets.file_dialogs import ask_for_folder, ask_to_open
from phexplore.gui.widgets.labels import Text, describe
from phexplore.gui.widgets.layout import column, row, stacked
from phexplore.gui.widgets.number_field import NumberField
from phexplore.model.fields import Field
from phexplore.model.kinds import Choice, Flag, Optional, RunDirectory, Whole, typed_value
from phexplore.runs.place import TLS, TLS_WORDS, Place, read_place
from phexplore.runs.run_settings import PlaceOfRun
from phexplore.runs.spec import RunMode, StopRule
from phexplore.systems.run_offer import Choices, RunOffer
from phexplore.systems.stop_metrics import stop_rule

MOST_WORKERS = max(2, os.cpu_count() or 2)
SHORT = 12 * GRID
"""Width of fields for a few figures."""
_CERTIFICATES = "Certificates and keys (*.pem *.crt *.key);;All files (*)"


class LaunchControl(Protocol):
    """What asks for the value of one field."""

    @property
    def changed(self) -> SignalInstance:
        """Tells that another value stands in it."""

    def read(self) -> Any:
        """Return the value.

        Raises:
            ValueError: it is none; the message says what to enter.
            PhexploreError: as above.
        """

    def show_value(self, value: Any) -> None:
        """Fill it."""


class CountControl(NumberField):
    """A whole number."""

    changed = Signal()

    def __init__(self, part: Field, kind: Whole) -> None:
        super().__init__(capital(part.title), kind.low or 0, kind.high or MOST_WORKERS, part.default)
        self.valueChanged.connect(self.changed)
        self.judged.connect(self.changed)
        self.show_value = self.setValue


class FlagControl(TickBox):
    """Yes or no."""

    def __init__(self, part: Field) -> None:
        super().__init__(capital(part.title))
        self.changed = self.toggled
        self.read, self.show_value = self.isChecked, self.setChecked


class ListControl(Chooser):
    """One of a few."""

    def __init__(self, part: Field, entries: Mapping[Any, str]) -> None:
        super().__init__(capital(part.title), letters=11)
        self._kind, self.changed = part.kind, self.currentIndexChanged
        self.read = self.currentData
        self.offer((words, value) for value, words in entries.items())

    def show_value(self, value: Any) -> None:
        """Choose an entry."""
        held = self._kind.held(value)
        self.setCurrentIndex(next((n for n in range(self.count()) if self.itemData(n) == held), -1))


class OptionalControl(QWidget):
    """A number that counts while its box has a tick."""

    changed = Signal()

    def __init__(self, part: Field, kind: Optional) -> None:
        super().__init__()
        self._kind, self._phrase = kind, part.phrase
        example = kind.kind.example if isinstance(kind.kind, Whole) else ""
        self.box = TickBox(capital(part.title))
        self.line = _line(capital(part.title), f"e.g. {example}", self.changed, width=SHORT)
        self.line.setText(example)
        self.box.toggled.connect(self.changed)
        self.box.toggled.connect(self.line.setEnabled)
        self.line.setEnabled(False)
        row((self.box, 1), self.line, of=self)

    def read(self) -> Any:
        """Return the number, None without a tick."""
        if not self.box.isChecked():
            return None
        return typed_value(self._kind.kind, self.line.text(), self._phrase)

    def show_value(self, value: Any) -> None:
        """Show a number, or that there is none."""
        self.box.setChecked(value is not None)
        if value is not None:
            self.line.setText(self._kind.kind.words(value))


class DataControl(QWidget):
    """Data that came with the program, or a file or folder."""

    changed = Signal()

    def __init__(self, offer: RunOffer) -> None:
        super().__init__()
        self._offer = offer
        self.source = Chooser("Data", letters=11)
        for name, words in offer.shipped.items():
            self.source.addItem(words, name)
        self.source.addItem("A file or folder…" if offer.kinds else "A folder…", "")
        self.line = _line("File or folder of the data", "", self.changed)
        self.browse = TextButton("Browse…", name="Choose the data", run=self._browse)
        about = Text(f"{capital(offer.data)}.", look="muted", wrap=True)  # longer than the field is wide
        self._own = stacked(row((self.line, 1), self.browse), about, gap=HALF)
        self._own.hide()
        self.source.currentIndexChanged.connect(self._on_source)
        column(self.source, self._own, of=self, gap=HALF)
        self.setFocusProxy(self.source)

    def read(self) -> str:
        """Return a name of shipped data, or a path."""
        if name := self.source.currentData():
            return str(name)
        typed = self.line.text().strip()
        if not typed:
            raise ValueError(f"Choose {self._offer.data}.")
        if not Path(typed).expanduser().exists():
            raise ValueError(f"There is nothing at {typed}. Check the path.")
        return typed

    def show_value(self, value: str) -> None:
        """Show shipped data by their name, or a path."""
        is_shipped = value in self._offer.shipped
        if not is_shipped:
            self.line.setText(value)
        self.source.setCurrentIndex(self.source.findData(value if is_shipped else ""))

    def _on_source(self, _index: int) -> None:
        self._own.setVisible(not self.source.currentData())
        self.changed.emit()

    def _browse(self) -> None:
        take = lambda path: self.line.setText(str(path))  # noqa: E731 - both dialogs take it
        if self._offer.kinds:
            ask_to_open(self, f"Choose {self._offer.data}", take, kinds=self._offer.kinds)
        else:
            ask_for_folder(self, f"Choose {self._offer.data}", take)


class PlaceControl(QWidget):
    """This machine, or the address of a scheduler with its certificates."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.line = _line("Address of a Dask scheduler", "this machine; or tls://host:8786", self.changed)
        self.files = [_line(f"{words} (PEM)", words, self.changed) for words in TLS_WORDS]
        rows = []
        for words, line in zip(TLS_WORDS, self.files, strict=True):
            browse = TextButton("Browse…", name=f"Choose: {words}", run=partial(self._browse, words, line))
            rows.append(row((line, 1), browse))
        self.tls = stacked(*rows, gap=HALF)
        self.tls.hide()
        self.line.textChanged.connect(lambda text: self.tls.setVisible(text.strip().startswith(TLS)))
        column(self.line, self.tls, of=self, gap=HALF)
        self.setFocusProxy(self.line)

    def read(self) -> Place:
        """Return where the run is computed."""
        files = self.files if self.line.text().strip().startswith(TLS) else []
        return read_place(self.line.text(), tuple(file.text() for file in files))

    def show_value(self, value: Place) -> None:
        """Show an address; certificates are named anew."""
        self.line.setText(value.scheduler)

    def _browse(self, words: str, line: ExactLine) -> None:
        ask_to_open(self, words, lambda path: line.setText(str(path)), kinds=_CERTIFICATES)


class StopControl(QWidget):
    """Whether a run may end early: once which figure is known how precisely."""

    changed = Signal()

    def __init__(self, offer: RunOffer) -> None:
        super().__init__()
        self._offer, self._metrics = offer, {each.id: each for each in offer.metrics()}
        first = next(iter(self._metrics.values()))
        self.box = TickBox("Stop when precise enough")
        self.figure = Chooser("Figure that may end the run", letters=11)
        for metric in self._metrics.values():
            self.figure.addItem(metric.words, metric.id)
        self.level = Chooser("Level of the figure", letters=8)
        self.query = Chooser("Query of the figure", letters=10)
        self.line = _line("Limit of the error of the figure", first.limit, self.changed, width=SHORT)
        self.line.setText(first.limit)
        self._places = stacked(row((self.level, 1), (self.query, 1)))
        self._fields = stacked(row((self.figure, 1), Text("SE ≤"), self.line), self._places, gap=HALF)
        column(self.box, self._fields, of=self, gap=HALF)
        self.figure.currentIndexChanged.connect(self._on_figure)
        for chooser in (self.level, self.query):
            chooser.currentIndexChanged.connect(self.changed)
        self.box.toggled.connect(self._show)
        self._show()

    def offer(self, levels: Choices, queries: Choices) -> None:
        """Offer levels and query groups; what was chosen stays chosen where it can."""
        self.level.offer(levels, first="County")
        self.query.offer(queries, first="total")

    def read(self) -> StopRule | None:
        """Return the rule, None for a run of all its trials."""
        if not self.box.isChecked():
            return None
        metric = self._metrics[self.figure.currentData()]
        level, query = (str(chooser.currentData() or "") for chooser in (self.level, self.query))
        return stop_rule(metric, level, query, self.line.text(), self._offer.fewest)

    def show_value(self, value: StopRule | None) -> None:
        """Show whether a run may end early; figure and limit stay as they are."""
        self.box.setChecked(value is not None)

    def _on_figure(self, _index: int) -> None:
        self.line.setText(self._metrics[self.figure.currentData()].limit)
        self._show()

    def _show(self, _signal: object = None) -> None:
        metric = self._metrics[self.figure.currentData()]
        self._fields.setVisible(self.box.isChecked())
        self._places.setVisible(metric.has_level)
        self.query.setVisible(metric.has_query)
        self.changed.emit()


def control_of(part: Field, offer: RunOffer) -> Any:
    """Return the `LaunchControl` of a field, a widget.

    Args:
        part: a field of the settings or of the options of a run.
        offer: what the system offers.
    """
    kind = part.kind
    made: Any
    match kind:
        case PlaceOfRun():
            made = PlaceControl()
        case Flag():
            made = FlagControl(part)
        case RunDirectory():
            made = ListControl(part, {"": "Draw new ones"})
        case Choice(options) if options is RunMode:
            made = ListControl(part, {mode: capital(kind.words(mode)) for mode in offer.releases})
        case Choice(options):
            made = ListControl(part, {each: capital(kind.words(each)) for each in options})
        case Whole():
            made = CountControl(part, kind)
        case Optional(Whole()):
            made = OptionalControl(part, kind)
        case Optional():
            made = StopControl(offer)
        case _:
            made = DataControl(offer)
    describe(made, tip=part.doc, more=part.doc)
    return made


def _line(name: str, hint: str, changed: Any, *, width: int = 0) -> ExactLine:
    line = ExactLine(name)
    line.setAlignment(Qt.AlignmentFlag.AlignLeft)
    line.setPlaceholderText(hint)
    line.textChanged.connect(changed)
    if width:
        line.setMaximumWidth(width)
    return line


def values_of(controls: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value of every control by its name; why it has none where it has none."""
    found: dict[str, Any] = {}
    for name, control in controls.items():
        try:
            found[name] = control.read()
        except (ValueError, TypeError, PhexploreError) as error:
            found[name] = str(error)
    return found


def unusual(controls: Mapping[str, Any], usual: Mapping[str, Any]) -> set[str]:
    """Return the names of the controls that hold another value than usual.

    Args:
        controls: by name.
        usual: their values at first.
    """
    return {name for name, value in values_of(controls).items() if value != usual.get(name)}
