"""The words of the window in plain language, each with its source."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QLineEdit, QVBoxLayout, QWidget

from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.page import Page


@dataclass(frozen=True, slots=True)
class Term:
    """A word, what it means, and where it is defined."""

    word: str
    meaning: str
    source: str


TERMS = (
    Term(
        "Basis cell",
        "A number that is measured with noise of its own. Totals and subtotals are sums of basis cells.",
        "PHSafe paper, section 2.4",
    ),
    Term(
        "Bounded and unbounded",
        "Bounded: neighbours differ by replacing one person's record, the national total is known. Unbounded: by adding "
        "or removing them. A bounded ρ is twice the unbounded one here.",
        "PHSafe paper, Table 10",
    ),
    Term(
        "Budget, ρ (rho)",
        "How much privacy loss a query may spend. More budget, less noise. 0 means that nothing is published. All budgets "
        "add up to the privacy loss of the release.",
        "Bun and Steinke 2016",
    ),
    Term(
        "Confidence",
        "How often a published count lies within its margin of error, if the noise were drawn again and again.",
        "",
    ),
    Term(
        "Discrete Gaussian noise",
        "Whole numbers drawn with a bell-shaped distribution and added to each basis cell.",
        "Canonne, Kamath and Steinke 2020",
    ),
    Term(
        "ε and δ (epsilon, delta)",
        "Another way to state privacy loss. ε follows from ρ once δ is chosen, by a named conversion; different conversions "
        "give different ε for the same release.",
        "Canonne, Kamath and Steinke 2020",
    ),
    Term(
        "Iteration",
        "A set of race and ethnicity groups a table is repeated for: unattributed, major races A to G, Hispanic or not (H, I).",
        "PHSafe paper, section 2.4",
    ),
    Term(
        "Level", "A geographic level crossed with an iteration. Each has a budget of its own per table.", "PHSafe paper"
    ),
    Term(
        "Lock",
        "A locked row keeps its budget whatever else is edited.",
        "",
    ),
    Term(
        "Margin of error (MOE)",
        "Half the width of the interval around a published count that holds the true truncated count with the stated "
        "confidence. It speaks of noise only, not of truncation. Three conventions are in use: ⌊1.64 σ⌋ as the paper prints "
        "it, z σ of the normal distribution, and the exact quantile of the discrete noise.",
        "PHSafe paper, section 7.1",
    ),
    Term(
        "Puerto Rico run",
        "Puerto Rico has a production run of its own, with no nation level.",
        "PHSafe 3.0.0",
    ),
    Term(
        "Query",
        "A table at a level. It is measured once, with one budget.",
        "PHSafe paper, section 5",
    ),
    Term(
        "Reference",
        "What the scenario is compared with: a preset or another scenario of the project.",
        "",
    ),
    Term(
        "Scenario",
        "A named set of all parameters and of the conventions its numbers follow.",
        "",
    ),
    Term(
        "Sensitivity, Δ",
        "How much one person's records can move a count: 2τ + 2 for counts of people, 2 for counts of housing units.",
        "PHSafe paper, Lemma 6 and Theorems 1 and 2",
    ),
    Term(
        "Target",
        "The margin of error a committee aims at. Its budget is solved from it by the scenario's convention.",
        "PHSafe paper, Table 10",
    ),
    Term(
        "Truncation threshold, τ (tau)",
        "Most people counted per household. A small τ needs less noise but leaves people of large households out.",
        "PHSafe paper, section 5",
    ),
    Term(
        "zCDP and pure DP",
        "Two definitions of differential privacy. The production run of 2020 uses zCDP with budgets ρ; pure DP uses budgets ε "
        "and geometric noise.",
        "Bun and Steinke 2016",
    ),
)


class GlossaryDialog(QDialog):
    """Every term, with a search."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Glossary")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(72 * GRID, 72 * GRID)
        self.search = QLineEdit()
        self.search.setAccessibleName("Search the glossary")
        self.search.setPlaceholderText("Search")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self.entries: dict[str, QWidget] = {term.word: _entry(term) for term in TERMS}
        page = Page("Glossary", list(self.entries.values()))
        column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN, MARGIN, MARGIN, 0)
        column.addWidget(self.search)
        column.addWidget(page, 1)

    def _filter(self, words: str) -> None:
        wanted = words.lower().split()
        for term in TERMS:
            text = f"{term.word} {term.meaning}".lower()
            self.entries[term.word].setVisible(all(word in text for word in wanted))


def _entry(term: Term) -> QWidget:
    entry = QWidget()
    column = QVBoxLayout(entry)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(2)
    column.addWidget(Text(term.word, bold=True))
    column.addWidget(Text(term.meaning, wrap=True))
    if term.source:
        column.addWidget(Text(term.source, look="muted", relative=0.92, wrap=True))
    return entry
