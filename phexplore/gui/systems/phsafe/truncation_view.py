"""Truncation studio: bias and noise per threshold from a distribution of household sizes; choosing a τ is an edit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QVBoxLayout, QWidget

from phexplore.accuracy.margins import margin_by
from phexplore.catalog.states import PUERTO_RICO, states
from phexplore.data.synthetic.tables import state_figures
from phexplore.errors import PhexploreError
from phexplore.files.atomic_files import read_text
from phexplore.gui.binding.latest import Latest
from phexplore.gui.binding.scenario_view import ScenarioView, Update
from phexplore.gui.binding.session import Session
from phexplore.gui.figures.view import FigureView
from phexplore.gui.targets.project_runs import ProjectRuns
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.exact_field import ExactField
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import Paragraph, labelled
from phexplore.gui.widgets.page import scrolling
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.keys import QueryKey
from phexplore.model.numbers import Unlimited, exact_text, parse_exact
from phexplore.model.scenario import Scenario
from phexplore.noise.distributions import noise_for
from phexplore.runs.confidentiality import is_recorded_as_confidential
from phexplore.runs.disclosure import HELD_BACK
from phexplore.runs.store import load_summary
from phexplore.systems.phsafe.budget_edits import Keep, edit_threshold
from phexplore.systems.phsafe.budget_model import reach_of
from phexplore.systems.phsafe.threshold_figure import point_words, threshold_figure
from phexplore.systems.phsafe.truncation_sources import (
    COUNTED,
    NATION,
    average_area,
    average_share,
    published_sizes,
    states_in_run,
    synthetic_sizes,
)
from phexplore.systems.phsafe.truncation_study import (
    HouseholdSizes,
    StudyError,
    ThresholdPoint,
    TruncationStudy,
    judged,
    read_sizes,
    scaled,
    sizes_of_run,
    study,
)

_FILES = "Household sizes (*.csv);;All files (*)"
_LARGEST = 20
_TEACHING = "Bias and noise of every truncation threshold appear here once a query with a budget and household sizes are chosen."
_CONFIDENTIAL = "treated as confidential"
_KEEPS = {Keep.BUDGETS: "The budget stays", Keep.MARGINS: "The margin stays"}


@dataclass(frozen=True, slots=True)
class SizeSource:
    """Where households come from: the synthetic population or the published sizes of a state, a run, or a file."""

    state: str = NATION
    is_published: bool = False
    run: Path | None = None
    file: Path | None = None

    @property
    def title(self) -> str:
        """The source in words."""
        if self.run is not None:
            return f"Data of the run {self.run.name}"
        if self.file is not None:
            return f"File {self.file.name}"
        place = "United States" if self.state == NATION else states()[self.state].name
        return f"{'2010, 7 or more open' if self.is_published else 'Synthetic population'}: {place}"


@dataclass(frozen=True, slots=True)
class StudioRequest:
    """What is studied."""

    scenario: Scenario
    query: QueryKey
    source: SizeSource
    part: Fraction = Fraction(1)
    share: Fraction = Fraction(1)
    keep: Keep = Keep.BUDGETS

    @property
    def present(self) -> int:
        """The scenario's threshold."""
        return self.scenario.phsafe.thresholds[self.query.table]


@dataclass(frozen=True, slots=True, eq=False)
class StudioAnswer:
    """What came back: a study, or why there is none."""

    request: StudioRequest
    found: TruncationStudy | None
    refused: str


def run_study(request: StudioRequest) -> StudioAnswer:
    """Study the thresholds of one query."""
    try:
        return StudioAnswer(request, _study(request), "")
    except PhexploreError as error:
        return StudioAnswer(request, None, error.full)


def _study(request: StudioRequest) -> TruncationStudy:
    scenario, query = request.scenario, request.query
    method = scenario.phsafe
    budget = method.budgets[query]
    if isinstance(budget, Unlimited) or budget == 0:
        raise StudyError(
            f"{query.title} is published without noise or not at all.", "Choose another, or give it a budget."
        )
    sizes = read_source(request.source, query)
    if request.part != 1:
        sizes = scaled(sizes, request.part)
    margin: Fraction | None = None
    if request.keep is Keep.MARGINS:
        noise = noise_for(method.framework, sensitivity=reach_of(method, query), budget=budget)
        margin = method.targets.get(query, Fraction(margin_by(noise, scenario.conventions)))
    present = method.thresholds[query.table]
    return study(
        sizes,
        method.framework,
        scenario.conventions,
        budget=budget if margin is None else None,
        margin=margin,
        share=request.share,
        thresholds=sorted({*range(1, min(sizes.largest + 1, _LARGEST) + 1), present}),
    )


def read_source(source: SizeSource, query: QueryKey) -> HouseholdSizes:
    """Return the households of a source by the number of members that the query's table counts.

    Raises:
        PhexploreError: they cannot be read.
    """
    if source.file is not None:
        return read_sizes(read_text(source.file), source.file.name)
    if source.run is not None:
        summary = load_summary(source.run) or {}
        found = sizes_of_run(summary.get("truncation", ()), query.table)
        kept = is_recorded_as_confidential(summary)
        return replace(found, of=f"{found.of}, {_CONFIDENTIAL}") if kept else found
    return (published_sizes if source.is_published else synthetic_sizes)(query.table, source.state)


def average_of(source: SizeSource, query: QueryKey) -> Fraction:
    """Return the part of a source's households that an average area of a query has.

    Raises:
        PhexploreError: the run cannot be read.
    """
    if source.file is not None or (source.run is None and source.state != NATION):
        return Fraction(1)
    if source.run is not None:
        return average_area(query, states_in_run(load_summary(source.run) or {}, query))
    return average_area(query, len(state_figures()))


def basis_words(found: TruncationStudy, request: StudioRequest) -> str:
    """Return what is counted per household, where that comes from, and which number is studied."""
    text = f"{request.query.table} counts {COUNTED[request.query.table]}. Sizes: {found.sizes.of}."
    if request.share == average_share(request.query) != 1:
        text += (
            f" Studied is the average of {round(1 / request.share)} numbers of an area; the largest numbers lose more."
        )
    return text


class StudioView(QWidget):
    """Choose a query and household sizes; see every τ; take one.

    Signals:
        failed: a `PhexploreError`.
        noted: a sentence about what was done.
    """

    failed = Signal(object)
    noted = Signal(object)

    def __init__(self, session: Session, runs: ProjectRuns | None = None) -> None:
        super().__init__()
        self._session, self._runs = session, runs
        self._part, self._share = Fraction(1), Fraction(1)
        self._typed: set[str] = set()
        self._file: Path | None = None
        self._asked: StudioRequest | None = None
        self.answer: StudioAnswer | None = None
        self._worker = Latest(run_study, self)
        self._worker.finished.connect(self._show)
        self._worker.failed.connect(self.failed)
        self.chart = FigureView("Truncation thresholds", _TEACHING)
        self.chart.failed.connect(self.failed)
        self.chart.key_selected.connect(self._on_chosen)
        self.chart.key_activated.connect(self.take)
        self._lay_out()
        self._seen = WhenSeen(self, self._refresh)
        session.updated.connect(self._forget)
        session.settled.connect(self._seen.request)
        if runs is not None:
            runs.changed.connect(self._seen.request)
        self._seen.request()

    def stop(self) -> None:
        """End what is being computed, because the window closes."""
        self._worker.stop()

    def _forget(self, update: Update[ScenarioView]) -> None:
        """Drop the file and what was typed when another project was opened: they were about the one before."""
        if update.before is None:
            self._file = None
            self._typed.clear()

    def take(self, threshold: int) -> None:
        """Make a threshold the scenario's, as one step."""
        query, keep = self.query.currentData(), self.keep.currentData()
        label = f"Set τ of {query.table} to {threshold}, keeping {keep.value}"
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
        self._ask()

    def _lay_out(self) -> None:
        self.query = Chooser("Query whose threshold is studied", letters=24)
        self.source = Chooser("Household sizes", letters=30)
        self.keep = Chooser("What stays when the threshold changes")
        for keep, words in _KEEPS.items():
            self.keep.addItem(words, keep)
        self.part = ExactField("Part of these households the number is counted over", self._take_part, width=8 * GRID)
        self.part.set_value("1")
        self.share = ExactField(
            "Share of the truncated people that the number counts", self._take_share, width=8 * GRID
        )
        self.share.set_value("1")
        opens = TextButton("Open sizes…", name="Open a file of household sizes")
        opens.clicked.connect(self._choose_file)
        self.use = TextButton("Use this τ", look="primary", symbol="tick")
        self.use.setEnabled(False)
        self.use.clicked.connect(self._take_chosen)
        for chooser in (self.query, self.source, self.keep):
            chooser.currentIndexChanged.connect(self._ask)
        self._words = Paragraph("", relative=1.05)
        self._basis = Paragraph("", look="muted")
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(MARGIN, GRID, MARGIN, GRID)
        column.setSpacing(GRID)
        column.addWidget(
            FlowRow(
                labelled("Query", self.query), labelled("Households", self.source), opens, self.keep,
                labelled("counted over a part of", self.part), labelled("counting a share of", self.share), gap=GRID,
            )
        )  # fmt: skip
        column.addWidget(self._basis)
        column.addWidget(self.chart, 1)
        column.addWidget(self._words)
        column.addWidget(self.use, 0, Qt.AlignmentFlag.AlignLeft)
        place = QVBoxLayout(self)
        place.setContentsMargins(0, 0, 0, 0)
        place.addWidget(scrolling("Truncation studio", content))

    def _refresh(self, _signal: object = None) -> None:
        method = self._session.scenario.phsafe
        queries = [query for query in method.published if query.table in method.thresholds]
        if queries != [self.query.itemData(n) for n in range(self.query.count())]:
            wanted = self.query.currentData() or self._session.selection
            blocked = self.query.blockSignals(True)
            self.query.clear()
            for query in queries:
                self.query.addItem(query.title, query)
            self.query.setCurrentIndex(queries.index(wanted) if wanted in queries else 0 if queries else -1)
            self.query.blockSignals(blocked)
        self._fill_sources()
        self._ask()

    def _fill_sources(self) -> None:
        rows = self._runs.rows if self._runs is not None else ()
        island = self._session.scenario.phsafe.states == (PUERTO_RICO,)
        found = [SizeSource(PUERTO_RICO)] if island else [SizeSource(), SizeSource(is_published=True)]
        found += [SizeSource(run=row.directory) for row in rows if row.trials and row.spec is not None]
        found += [SizeSource(file=self._file)] if self._file is not None else []
        known = states()
        found += [
            SizeSource(state) for state in self._session.scenario.phsafe.states if state in known and state != "72"
        ]
        if found == [self.source.itemData(n) for n in range(self.source.count())]:
            return
        before = self.source.currentData()
        blocked = self.source.blockSignals(True)
        self.source.clear()
        for each in found:
            self.source.addItem(each.title, each)
        self.source.setCurrentIndex(found.index(before) if before in found else 0)
        self.source.blockSignals(blocked)

    def _ask(self, _number: int = 0) -> None:
        query, source = self.query.currentData(), self.source.currentData()
        if query is None or source is None:
            self.chart.show_empty()
            return
        self._suggest_numbers(query, source)
        self._asked = StudioRequest(
            self._session.scenario, query, source, self._part, self._share, self.keep.currentData()
        )
        self._worker.request(self._asked)

    def _suggest_numbers(self, query: QueryKey, source: SizeSource) -> None:
        """Study the average number of an average area, as long as nobody typed another part or share."""
        if "_part" not in self._typed:
            try:
                self._part = average_of(source, query)
            except PhexploreError as error:
                self.failed.emit(error)
            self.part.set_value(exact_text(self._part))
        if "_share" not in self._typed:
            self._share = average_share(query)
            self.share.set_value(exact_text(self._share))

    def _show(self, found: StudioAnswer) -> None:
        if found.request is not self._asked:
            return
        self.answer = found
        query = found.request.query
        is_kept = found.found is not None and _CONFIDENTIAL in found.found.sizes.of
        self.chart.hold_back(HELD_BACK if is_kept else "")
        self._basis.setText("" if found.found is None else basis_words(found.found, found.request))
        if found.found is None:
            self.chart.show_empty(found.refused)
        else:
            present = found.request.scenario.phsafe.thresholds[query.table]
            self.chart.show_figure(threshold_figure(found.found, query.title, present))
        self._on_chosen()

    def _on_chosen(self, _threshold: object = None) -> None:
        point = self._chosen_point()
        self.use.setEnabled(point is not None)
        words = "Choose a threshold in the picture to see it in words and to take it."
        if point is not None:
            words = point_words(point)
            self.use.setText(f"Use τ = {point.threshold}")
        if self.answer is not None and (found := self.answer.found) is not None:
            words += f"\n{judged(found, self.answer.request.present)}"
            if found.cheapest is not None:
                words += f"\nCheapest threshold whose bias stays within the margin: τ = {found.cheapest}."
        self._words.setText(words)

    def _take_chosen(self) -> None:
        if (point := self._chosen_point()) is not None:
            self.take(point.threshold)

    def _chosen_point(self) -> ThresholdPoint | None:
        chosen = self.chart.chosen_key
        found = self.answer.found if self.answer is not None else None
        return found.point(chosen) if found is not None and isinstance(chosen, int) else None

    def _take_part(self, typed: str) -> str:
        return self._take_number(typed, "_part", self.part)

    def _take_share(self, typed: str) -> str:
        return self._take_number(typed, "_share", self.share)

    def _take_number(self, typed: str, name: str, field: ExactField) -> str:
        try:
            value = parse_exact(typed)
        except ValueError as error:
            return f"{error}."
        if not 0 < value <= 1:
            return "Enter more than 0 and at most 1, e.g. 1/50."
        setattr(self, name, value)
        self._typed.add(name)
        field.set_value(exact_text(value))
        self._ask()
        return ""

    def _choose_file(self) -> None:
        dialog = QFileDialog(self, "Open household sizes", "", _FILES)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda name: self.read_file(Path(name)))
        dialog.open()
