"""What the Help menu shows: the words of the window in plain language, and what the program is."""

from __future__ import annotations

import platform

from PySide6.QtCore import Qt, qVersion
from PySide6.QtWidgets import QDialog, QWidget

from phexplore import __version__
from phexplore.catalog.licences import parts
from phexplore.gui.dialogs.messages import Message
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.theme.plain_words import speaks_plainly
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import column, stacked
from phexplore.gui.widgets.number_field import LineField
from phexplore.gui.widgets.page import Page
from phexplore.gui.widgets.pointers import PAGE
from phexplore.text.glossary import Term, glossary
from phexplore.text.messages import Quoted

_SENTENCE = (
    "Tune, forecast, simulate and hand over the disclosure-avoidance parameters of census releases.\n\n"
    "Numbers that decide privacy are exact fractions. Margins of error speak of noise; truncation and simulation are shown "
    "apart. The program sends nothing anywhere."
)


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
        self.entries = {term.id: _entry(term) for term in glossary()}
        page = Page("Glossary", list(self.entries.values()))
        column(self.search, (page, 1), of=self, margins=(MARGIN, MARGIN, MARGIN, 0))

    def _filter(self, words: str) -> None:
        wanted = words.lower().split()
        for term in glossary():
            text = f"{term.term} {term.plain} {term.definition}".lower()
            self.entries[term.id].setVisible(all(word in text for word in wanted))


def _title(term: Term) -> str:
    """Return a term as its reader calls it: a member looks up plain words, an expert the term."""
    return term.plain if term.plain and speaks_plainly() else term.term


def _entry(term: Term) -> QWidget:
    source = (Text(term.source, look="muted", relative=0.92, wrap=True),) if term.source else ()
    # Quotations: definitions name the symbols that are put in other words everywhere else.
    return stacked(Text(Quoted(_title(term)), bold=True), Text(Quoted(term.definition), wrap=True), *source, gap=2)


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
