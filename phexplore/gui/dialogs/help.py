"""What the Help menu shows: the words of the window in plain language, and what the program is."""

from __future__ import annotations

import platform
import tomllib
from dataclasses import dataclass

from PySide6.QtCore import Qt, qVersion
from PySide6.QtWidgets import QDialog, QWidget

from phexplore import __version__
from phexplore.catalog.licences import parts
from phexplore.gui.dialogs.messages import Message
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import column, stacked
from phexplore.gui.widgets.number_field import LineField
from phexplore.gui.widgets.page import Page
from phexplore.gui.widgets.pointers import PAGE
from phexplore.resources import resource

_SENTENCE = (
    "Tune, forecast, simulate and hand over the disclosure-avoidance parameters of census releases.\n\n"
    "Numbers that decide privacy are exact fractions. Margins of error speak of noise; truncation and simulation are shown "
    "apart. The program sends nothing anywhere."
)


@dataclass(frozen=True, slots=True)
class Term:
    """A word, what it means, and where it is defined.

    Attributes:
        word: as the window uses it.
        meaning: in a sentence or two.
        source: "" where it is no term of a paper.
    """

    word: str
    meaning: str
    source: str = ""


class GlossaryDialog(QDialog):
    """Every term, with a search."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Glossary")
        self.setProperty(PAGE, "docs/index.md#what-the-numbers-mean")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(72 * GRID, 72 * GRID)
        self.search = LineField("Search the glossary", example="Search")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self.terms = tuple(
            Term(**each) for each in tomllib.loads(resource("glossary.toml").read_text(encoding="utf-8"))["terms"]
        )
        self.entries = {term.word: _entry(term) for term in self.terms}
        page = Page("Glossary", list(self.entries.values()))
        column(self.search, (page, 1), of=self, margins=(MARGIN, MARGIN, MARGIN, 0))

    def _filter(self, words: str) -> None:
        wanted = words.lower().split()
        for term in self.terms:
            text = f"{term.word} {term.meaning}".lower()
            self.entries[term.word].setVisible(all(word in text for word in wanted))


def _entry(term: Term) -> QWidget:
    source = (Text(term.source, look="muted", relative=0.92, wrap=True),) if term.source else ()
    return stacked(Text(term.word, bold=True), Text(term.meaning, wrap=True), *source, gap=2)


def show_about(parent: QWidget | None) -> Message:
    """Show version, purpose, and the parts the program is made of with their licences."""
    system = (
        f"phexplore {__version__} (MIT)\nPython {platform.python_version()}\nQt {qVersion()}\n{platform.platform()}"
    )
    made_of = "\n".join(
        f"{part.name} {part.version}: {part.licence}" + (f" (option {part.option})" if part.option else "")
        for part in parts()
    )
    details = f"{system}\n\nMade of these parts, listed at the versions it was tested with:\n{made_of}"
    message = Message(parent, f"phexplore {__version__}", _SENTENCE, details=details)
    message.add_button("Close", is_main=True)
    message.open()
    return message
