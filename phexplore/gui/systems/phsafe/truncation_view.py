"""Truncation studio: bias and noise per threshold from a distribution of household sizes; choosing a τ is an edit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent

from phexplore.catalog.states import PUERTO_RICO, states
from phexplore.errors import PhexploreError
from phexplore.gui.binding.session import Session
from phexplore.gui.figures.view import FigureView
from phexplore.gui.targets.project_runs import ProjectRuns, listed_title
from phexplore.gui.targets.question_view import QuestionView
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.exact_field import CheckedField, ExactField
from phexplore.gui.widgets.file_dialogs import ask_to_open
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import Paragraph, labelled
from phexplore.gui.widgets.layout import Lean, column, row
from phexplore.gui.widgets.page import picture_height, scrolling
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.keys import QueryKey
from phexplore.runs.disclosure import HELD_BACK
from phexplore.systems.phsafe.budget_edits import Keep, edit_threshold
from phexplore.systems.phsafe.threshold_figure import point_words, threshold_figure
from phexplore.systems.phsafe.truncation_sources import (
    SizeSource,
    StudyRequest,
    average_share,
    average_words,
    counted_words,
    study_of,
)
from phexplore.systems.phsafe.truncation_study import ThresholdPoint, TruncationStudy, judged

_FILES = "Household sizes (*.csv);;All files (*)"
_TEACHING = "Bias and noise of every truncation threshold appear here once a query with a budget and household sizes are chosen."
_KEEPS = {Keep.BUDGETS: "The budget stays", Keep.MARGINS: "The margin stays"}


@dataclass(frozen=True, slots=True, eq=False)
class StudioAnswer:
    """What came back: a study, or why there is none."""

    request: StudyRequest
    found: TruncationStudy | None = None
    refused: str = ""
    is_confidential: bool = False


def run_study(request: StudyRequest) -> StudioAnswer:
    """Study the thresholds of one query."""
    try:
        return StudioAnswer(request, study_of(request), is_confidential=request.source.is_confidential)
    except PhexploreError as error:
        return StudioAnswer(request, refused=error.full)


def _basis_words(answer: StudioAnswer) -> str:
    """Return what is counted per household, where that comes from, and which number is studied."""
    if (studied := answer.found) is None:
        return ""
    query = answer.request.query
    treated = ", treated as confidential" if answer.is_confidential else ""
    text = f"{query.table} counts {counted_words(query.table)}. Sizes: {studied.sizes.of}{treated}."
    return f"{text} {average_words(query, answer.request.share)}".strip()


class StudioView(QuestionView):
    """Choose a query and household sizes; see every τ; take one."""

    def __init__(self, session: Session, runs: ProjectRuns | None = None) -> None:
        super().__init__(session, run_study)
        self._runs = runs
        self._typed: set[ExactField] = set()
        self._file: Path | None = None
        self.chart = FigureView("Truncation thresholds", _TEACHING)
        self.chart.failed.connect(self.failed)
        self.chart.key_selected.connect(self._on_chosen)
        self.chart.key_activated.connect(self.take)
        self._lay_out()
        changes = () if runs is None else (runs.changed,)
        self._seen = WhenSeen(self, self._refresh, session.settled, *changes)
        session.opened.connect(self._forget)
        self._seen.request()

    def _forget(self) -> None:
        """Drop the file and what was typed when another project was opened: they were about the one before."""
        self._file = None
        self._typed.clear()

    def take(self, threshold: int) -> None:
        """Make a threshold the scenario's, as one step."""
        query, keep = self.query.currentData(), self.keep.currentData()
        label = f"Set the threshold of {query.table} to {threshold}, keeping {keep.value}"
        self._session.report(
            self._session.edit(label, lambda scenario: edit_threshold(scenario, query.table, threshold, keep))
        )

    def read_file(self, path: Path) -> None:
        """Study the household sizes of a file."""
        self._file = path
        self._fill_sources()
        self.choose_source(SizeSource(file=path))

    def choose_source(self, source: SizeSource) -> None:
        """Study the household sizes of a source that is offered."""
        self.source.select(source)
        self._request()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.chart.setMinimumHeight(picture_height(self))

    def _lay_out(self) -> None:
        self.query = Chooser("Query whose threshold is studied", letters=34, grows=True, run=self._request)
        self.source = Chooser("Household sizes", letters=30, grows=True, run=self._request)
        keeps = [(words, keep) for keep, words in _KEEPS.items()]
        self.keep = Chooser("What stays when the threshold changes", options=keeps, run=self._request)
        name = "Part of these households the number is counted over"
        self.part = CheckedField(name, Fraction(1), _share_problem, lambda: self._on_typed(self.part), width=8 * GRID)
        name = "Share of the truncated people that the number counts"
        self.share = CheckedField(name, Fraction(1), _share_problem, lambda: self._on_typed(self.share), width=8 * GRID)
        opens = TextButton("Open sizes…", name="Open a file of household sizes")
        opens.clicked.connect(lambda: ask_to_open(self, "Open household sizes", self.read_file, kinds=_FILES))
        self.use = TextButton("Use this τ", look="primary", symbol="tick", run=self._take_chosen)
        self.use.setEnabled(False)
        self._words = Paragraph("", relative=1.05)
        self._basis = Paragraph("", look="muted")
        controls = FlowRow(
            labelled("Query", self.query), labelled("Households", self.source), opens, self.keep,
            labelled("Part of the households", self.part), labelled("Share of their people", self.share), gap=GRID,
        )  # fmt: skip
        taken = row((self._words, 1), (self.use, Qt.AlignmentFlag.AlignTop))
        content, margins = Lean(), (MARGIN, GRID, MARGIN, GRID)
        column(controls, self._basis, (self.chart, 1), taken, of=content, margins=margins)
        column(scrolling("Truncation studio", content), of=self)

    def _refresh(self) -> None:
        method = self._session.scenario.phsafe
        queries = [query for query in method.published if query.table in method.thresholds]
        self.query.offer([(query.title, query) for query in queries], first=self._session.selection)
        self._fill_sources()
        self._request()

    def _fill_sources(self) -> None:
        rows = self._runs.rows if self._runs is not None else ()
        own = self._session.scenario.phsafe.states
        sources = [SizeSource(PUERTO_RICO)] if own == (PUERTO_RICO,) else [SizeSource(), SizeSource(is_published=True)]
        titles = {
            SizeSource(run=row.directory): f"Data of {listed_title(row)}" for row in rows if row.trials and row.spec
        }
        sources += titles
        sources += [SizeSource(file=self._file)] if self._file is not None else []
        sources += [SizeSource(state) for state in own if state in states() and state != "72"]
        self.source.offer([(titles.get(each, each.title), each) for each in sources])

    def _request(self, _number: int = 0) -> None:
        query, source = self.query.currentData(), self.source.currentData()
        if query is None or source is None:
            self.chart.show_empty()
            return
        self._suggest_numbers(query, source)
        part, share, keep = self.part.value, self.share.value, self.keep.currentData()
        self.ask(StudyRequest(self._session.scenario, query, source, part, share, keep))

    def _suggest_numbers(self, query: QueryKey, source: SizeSource) -> None:
        """Study the average number of an average area, as long as nobody typed another part or share."""
        if self.part not in self._typed:
            try:
                self.part.show_number(source.average(query))
            except PhexploreError as error:
                self.failed.emit(error)
        if self.share not in self._typed:
            self.share.show_number(average_share(query))

    def _on_typed(self, field: CheckedField) -> None:
        self._typed.add(field)
        self._request()

    def show_answer(self) -> None:
        answer: StudioAnswer = self.answer
        query, studied = answer.request.query, answer.found
        self.chart.hold_back(HELD_BACK if answer.is_confidential else "")
        self._basis.setText(_basis_words(answer))
        if studied is None:
            self.chart.show_empty(answer.refused)
        else:
            self.chart.show_figure(threshold_figure(studied, query.title, answer.request.present))
        self._on_chosen()

    def _on_chosen(self, _threshold: object = None) -> None:
        point = self._chosen_point()
        self.use.setEnabled(point is not None)
        words = "Choose a threshold in the picture to see it in words and to take it."
        if point is not None:
            words = point_words(point)
            self.use.setText(f"Use τ = {point.threshold}")
        if self.answer is not None and (studied := self.answer.found) is not None:
            words += f"\n{judged(studied, self.answer.request.present)}"
            if studied.cheapest is not None:
                words += f"\nCheapest threshold whose bias stays within the margin: τ = {studied.cheapest}."
        self._words.setText(words)

    def _take_chosen(self) -> None:
        if (point := self._chosen_point()) is not None:
            self.take(point.threshold)

    def _chosen_point(self) -> ThresholdPoint | None:
        chosen = self.chart.chosen_key
        studied = self.answer.found if self.answer is not None else None
        return studied.point(chosen) if studied is not None and isinstance(chosen, int) else None


def _share_problem(share: Fraction) -> str:
    return "" if 0 < share <= 1 else "Enter more than 0 and at most 1, e.g. 1/50."
