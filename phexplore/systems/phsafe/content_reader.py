"""Reading the results of runs for the pictures: used by one thread beside the window, returns plain values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from phexplore.accuracy.margins import Margins
from phexplore.catalog.tables import tables
from phexplore.metrics.accuracy_report import covered
from phexplore.metrics.coverage import Coverage, coverage_of, error_between_trials, observed_margin
from phexplore.metrics.numbers import REGION_TYPES, Rows, level_of
from phexplore.model.issues import Issue
from phexplore.model.keys import QueryKey, TableId
from phexplore.noise.distributions import DiscreteGaussian, Noise
from phexplore.runs.spec import RunMode, RunSpec
from phexplore.runs.states import RunState
from phexplore.runs.store import RunUnreadableError
from phexplore.systems.phsafe.error_figures import ErrorPicture, ErrorSample, Quantiles, box, picture_of
from phexplore.systems.phsafe.forecast import Forecast, forecast, measured_codes
from phexplore.systems.phsafe.number_trace import NumberTrace
from phexplore.systems.phsafe.observed_figures import ObservedMargin
from phexplore.systems.phsafe.result_choices import (
    Choices,
    ResultChoice,
    ResultRequest,
    ResultTab,
    cell_words,
    code_words,
    number_words,
    region_words,
)
from phexplore.systems.phsafe.results import NumberSelection, RunResults
from phexplore.systems.phsafe.truncation_figures import CellBias, SizeCut, TableTruncation
from phexplore.systems.phsafe.worst_figure import WorstNumber

WORST_COUNT = 50
NO_NUMBERS = Issue(
    ("states",),
    "The run has no numbers: none of the scenario's states is in the data.",
    "Choose data of these states, or the states of the data in the scenario.",
)
MERGED_FROM = 5
"""From σ² = 5 up the sum of discrete Gaussians is one with the summed σ² within 2e-21 (phexplore.noise.sums)."""


@dataclass(frozen=True, slots=True)
class RunHeadline:
    """What a run found, in three figures.

    Attributes:
        spec: what the run does.
        state: where it is in its life.
        trials: readable trials.
        coverage: of the scenario's margin over all directly measured numbers; None without noise or trials.
        coverage_error: standard error of the mean over trials; infinite with one trial.
        confidence: aimed at.
        bias: mean truncation bias over all directly measured numbers, people; None before the count.
        biased: how many of them are biased, and how many there are.
        worst: mean error of the worst number, people; None without trials.
        worst_words: which one.
    """

    spec: RunSpec
    state: RunState
    trials: int
    coverage: Coverage | None
    coverage_error: float
    confidence: Fraction
    bias: float | None
    biased: tuple[int, int]
    worst: float | None
    worst_words: str


@dataclass(frozen=True, slots=True)
class DistributionContent:
    """Errors of the group chosen, and a box for it and each of its parts."""

    errors: ErrorPicture | None
    boxes: tuple[Quantiles, ...]


@dataclass(frozen=True, slots=True)
class ObservedContent:
    """Observed margins of all measured tables and levels."""

    margins: tuple[ObservedMargin, ...]
    confidence: Fraction
    trials: int


@dataclass(frozen=True, slots=True)
class TruncationContent:
    """What truncation does to the table and level chosen."""

    query: QueryKey
    sizes: TableTruncation | None
    cells: tuple[CellBias, ...]


@dataclass(frozen=True, slots=True)
class NumberContent:
    """One number, or why there is none."""

    story: NumberTrace | None
    reason: str


@dataclass(frozen=True, slots=True)
class WorstContent:
    """The worst numbers, the worst first."""

    numbers: tuple[WorstNumber, ...]
    trials: int


Content = DistributionContent | ObservedContent | TruncationContent | NumberContent | WorstContent


@dataclass(frozen=True, slots=True)
class ResultAnswer:
    """What was read.

    Attributes:
        asked: the request as it was made.
        request: the same with its choice settled.
        headline: figures of the run.
        compared: figures of the other run, None without one.
        choices: what the run offers; None before it has counted, or when it counted nothing.
        content: of the picture wanted; None likewise.
        problems: parts that could not be read.
    """

    asked: ResultRequest
    request: ResultRequest
    headline: RunHeadline
    compared: RunHeadline | None
    choices: Choices | None
    content: Content | None
    problems: tuple[Issue, ...]


class ResultReader:
    """Keeps runs open and reads what is new. Use from one thread only."""

    def __init__(self) -> None:
        self._runs: dict[Path, _OpenRun] = {}

    def answer(self, request: ResultRequest) -> ResultAnswer:
        """Read what is asked.

        Raises:
            PhexploreError: the run cannot be opened.
        """
        self._forget_others(request)
        run = self._open(request.directory)
        other = self._open(request.compared) if request.compared is not None else None
        if not run.results.has_truth:
            return ResultAnswer(request, request, run.headline(), None, None, None, tuple(run.results.problems))
        choices = run.choices
        if not choices.queries:
            return ResultAnswer(request, request, run.headline(), None, None, None, (*run.results.problems, NO_NUMBERS))
        settled = replace(request, choice=choices.settled(request.choice))
        content = run.content(settled, other)
        compared = other.headline() if other is not None else None
        return ResultAnswer(request, settled, run.headline(), compared, choices, content, tuple(run.results.problems))

    def offered(self, directory: Path) -> Choices | None:
        """Return what a run offers, None before it has counted, or when it counted nothing.

        Raises:
            PhexploreError: the run cannot be opened.
        """
        run = self._open(directory)
        return run.choices if run.results.has_truth and run.choices.queries else None

    def _open(self, directory: Path) -> _OpenRun:
        if directory not in self._runs:
            self._runs[directory] = _OpenRun(RunResults.open(directory))
        run = self._runs[directory]
        run.results.refresh()
        return run

    def _forget_others(self, request: ResultRequest) -> None:
        """Keep only what is looked at: a run of many trials takes memory."""
        wanted = {request.directory, request.compared}
        self._runs = {path: run for path, run in self._runs.items() if path in wanted}


class _OpenRun:
    """One run with what was computed of its trials."""

    def __init__(self, results: RunResults) -> None:
        self.results = results
        self._held: dict[int, int] = {}
        self._measured: NDArray[np.bool_] | None = None
        self._figures: Forecast | None = None
        self._choices: Choices | None = None

    @property
    def figures(self) -> Forecast:
        """The forecast of the run's own scenario."""
        if self._figures is None:
            self._figures = forecast(self.results.spec.scenario)
        return self._figures

    @property
    def choices(self) -> Choices:
        """What the run offers."""
        if self._choices is None:
            keys = self.results.keys
            regions = {
                region: tuple(dict.fromkeys(keys.region_id[keys.region_type == text].tolist()))
                for region, text in REGION_TYPES.items()
            }
            cells = {name: tuple(sorted(set(keys.cell[keys.table == name].tolist()))) for name in _tables(keys.table)}
            self._choices = Choices(tuple(group.query for group in self.results.level_groups), regions, cells)
        return self._choices

    @property
    def is_noisy(self) -> bool:
        """Whether the run added noise."""
        return self.results.spec.mode is RunMode.PRIVATE

    # Figures of the whole run

    def headline(self) -> RunHeadline:
        """Return the three figures; those that cannot be told yet are None."""
        results, spec = self.results, self.results.spec
        confidence = spec.scenario.conventions.confidence
        if not results.has_truth:
            return RunHeadline(
                spec, results.state, len(results.trials), None, math.inf, confidence, None, (0, 0), None, ""
            )
        measured = self._measured_rows()
        truth = results.truth()
        bias = (truth.truncated - truth.untruncated)[measured]
        coverage, error = self._coverage()
        worst = results.worst(1) if results.trials else []
        return RunHeadline(
            spec,
            results.state,
            len(results.trials),
            coverage,
            error,
            confidence,
            float(bias.mean()) if bias.size else 0.0,
            (int(np.count_nonzero(bias)), int(bias.size)),
            worst[0].mean_absolute if worst else None,
            self._words_of(worst[0].row) if worst else "",
        )

    def _coverage(self) -> tuple[Coverage | None, float]:
        """Count each trial once: how many directly measured numbers are within their margin."""
        results = self.results
        if not self.is_noisy:
            return None, math.inf
        truncated, margin, measured = results.truth().truncated, results.expectation.margin, self._measured_rows()
        for trial in results.trials:
            if trial not in self._held:
                try:
                    noise = results.released(trial) - truncated
                except RunUnreadableError:
                    continue
                self._held[trial], _ = covered(results.keys, measured, noise, margin)
        numbers = int(np.count_nonzero(measured))
        if not self._held or not numbers:
            return None, math.inf
        shares = np.array(list(self._held.values()), dtype=np.float64) / numbers
        return coverage_of(sum(self._held.values()), numbers * len(self._held)), error_between_trials(shares)

    def _measured_rows(self) -> NDArray[np.bool_]:
        if self._measured is None:
            names = [name for name in _tables(self.results.keys.table) if tables()[TableId(name)].measured]
            self._measured = np.isin(self.results.keys.table, names)
        return self._measured

    def _words_of(self, row: int) -> str:
        keys = self.results.keys
        query = QueryKey(TableId(str(keys.table[row])), level_of(keys.region_type[row], keys.iteration_code[row]))
        return number_words(query, str(keys.region_id[row]), str(keys.iteration_code[row]), int(keys.cell[row]))

    # Content of the pictures

    def content(self, request: ResultRequest, other: _OpenRun | None) -> Content | None:
        """Return what the picture wanted shows; the choice is settled."""
        choice = request.choice
        query = choice.query or self.choices.queries[0]
        match request.tab:
            case ResultTab.DISTRIBUTION:
                return self._distribution(query, choice.cell)
            case ResultTab.OBSERVED:
                return self._observed(other)
            case ResultTab.TRUNCATION:
                return TruncationContent(query, self._sizes(query), self._biases(query))
            case ResultTab.NUMBER:
                return self._number(query, choice)
            case ResultTab.WORST:
                return WorstContent(self._worst(), len(self.results.trials))
            case None:
                return None

    def _distribution(self, query: QueryKey, cell: int | None) -> DistributionContent:
        samples = self._samples(query, cell)
        boxes = tuple(found for found in map(box, samples) if found is not None)
        return DistributionContent(picture_of(samples[0]) if samples else None, boxes)

    def _samples(self, query: QueryKey, cell: int | None) -> tuple[ErrorSample, ...]:
        """Return the sample of the chosen cells, then of every cell of the table: what the boxes compare."""
        if not self.results.trials:
            return ()
        cells = self.choices.cells[query.table]
        each = [self._sample(query, code) for code in cells]
        if cell is not None:
            return (each[cells.index(cell)], *each)
        if len({sample.margin for sample in each}) > 1 or len(each) == 1:
            return (each[0], *each)  # cells of different noise are no one distribution
        return (self._sample(query, None), *each)

    def _sample(self, query: QueryKey, cell: int | None) -> ErrorSample:
        results = self.results
        selection = NumberSelection(table=query.table, level=query.level, cell=cell)
        errors = results.errors(selection)
        label = "all cells" if cell is None else cell_words(tables()[query.table], cell)
        margin = float(results.expectation.margin[errors.rows[0]]) if len(errors.rows) else 0.0
        confidence = results.spec.scenario.conventions.confidence
        noise = self._noise(query, cell) if self.is_noisy else None
        return ErrorSample(query, label, errors.noise.ravel(), noise, margin, confidence, len(errors.trials))

    def _noise(self, query: QueryKey, cell: int | None) -> Noise | None:
        """Return the exact distribution of a cell's noise, None where it is no single known one."""
        product = tables()[query.table]
        if product.measured:
            return self.figures.query(query).noise
        source = self.figures.query(QueryKey(product.derived_from or product.id, query.level)).noise
        codes = [cell] if cell is not None else list(self.choices.cells[query.table])
        added = {len(measured_codes(product, code)) for code in codes}
        if added == {1}:
            return source
        if len(added) == 1 and isinstance(source, DiscreteGaussian) and source.sigma2 >= MERGED_FROM:
            return DiscreteGaussian(source.sigma2 * added.pop())
        return None

    def _observed(self, other: _OpenRun | None) -> ObservedContent:
        results = self.results
        conventions = results.spec.scenario.conventions
        if not self.is_noisy or not results.trials:
            return ObservedContent((), conventions.confidence, 0)
        truncated = results.truth().truncated
        compared = other.observed_values() if other is not None else {}
        found = []
        for group in results.level_groups:
            if not tables()[group.query.table].measured:
                continue
            margins = self.figures.query(group.query).margins
            if margins is None:
                continue
            noise = results.released_matrix(group.rows) - truncated[group.rows]
            observed = observed_margin(noise, float(conventions.confidence))
            expected = margins.by(conventions.margin)
            found.append(
                ObservedMargin(group.query, expected, _band(margins), observed, noise.size, compared.get(group.query))
            )
        return ObservedContent(tuple(found), conventions.confidence, len(results.trials))

    def observed_values(self) -> dict[QueryKey, float]:
        """Return the observed margin of each measured table and level, empty without truth, noise or trials."""
        if not self.results.has_truth:
            return {}
        return {each.query: each.observed.value for each in self._observed(None).margins}

    def _sizes(self, query: QueryKey) -> TableTruncation | None:
        product = tables()[query.table]
        source = product.derived_from or product.id
        for entry in self.results.truncation:
            if entry["table"] == source:
                sizes = tuple(
                    SizeCut(row["size"], row["households"], row["persons"], row["cut"]) for row in entry["sizes"]
                )
                return TableTruncation(TableId(query.table), entry["tau"], sizes, entry["or_larger"])
        return None

    def _biases(self, query: QueryKey) -> tuple[CellBias, ...]:
        results, product = self.results, tables()[query.table]
        truth = results.truth()
        found = []
        for code in self.choices.cells[query.table]:
            rows = results.rows(NumberSelection(table=query.table, level=query.level, cell=code))
            if not len(rows):
                continue
            bias = truth.truncated[rows] - truth.untruncated[rows]
            found.append(
                CellBias(
                    cell_words(product, code),
                    float(bias.mean()),
                    int(bias[np.argmax(np.abs(bias))]),
                    float(truth.untruncated[rows].mean()),
                    float(results.expectation.margin[rows[0]]),
                    len(rows),
                )
            )
        return tuple(found)

    def _number(self, query: QueryKey, choice: ResultChoice) -> NumberContent:
        results = self.results
        cell = choice.cell if choice.cell is not None else self.choices.cells[query.table][0]
        region, code = choice.region or "", choice.code or ""
        try:
            picked = results.pick(TableId(query.table), region, code, cell)
        except RunUnreadableError as error:
            return NumberContent(None, error.full)
        story = NumberTrace(
            title=number_words(query, region, code, cell),
            true=picked.untruncated,
            truncated=picked.truncated,
            measured=picked.released.tolist(),
            trials=picked.trials,
            margin=picked.margin,
            confidence=picked.confidence,
            synthetic=results.spec.data.synthetic,
        )
        return NumberContent(story, "")

    def _worst(self) -> tuple[WorstNumber, ...]:
        results = self.results
        if not results.trials:
            return ()
        found = results.worst(WORST_COUNT)
        rows: Rows = np.array([each.row for each in found], dtype=np.intp)
        noise = np.abs(results.errors(rows).noise).mean(axis=0)
        keys, truth = results.keys, results.truth()
        listed = []
        for place, each in enumerate(found):
            row = each.row
            region, code, cell = str(keys.region_id[row]), str(keys.iteration_code[row]), int(keys.cell[row])
            query = QueryKey(TableId(str(keys.table[row])), level_of(keys.region_type[row], keys.iteration_code[row]))
            listed.append(
                WorstNumber(
                    query=query,
                    region=region_words(region),
                    group=code_words(code),
                    cell=cell_words(tables()[query.table], cell),
                    key=(region, code, cell),
                    true=int(truth.untruncated[row]),
                    bias=int(truth.truncated[row] - truth.untruncated[row]),
                    mean_noise=float(noise[place]),
                    largest_error=each.largest,
                    mean_error=each.mean_absolute,
                    margin=float(results.expectation.margin[row]),
                )
            )
        return tuple(listed)


def _tables(column: NDArray[np.str_]) -> Sequence[str]:
    return list(dict.fromkeys(column.tolist()))


def _band(margins: Margins) -> tuple[float, float]:
    values = [float(value) for value in (margins.exact, margins.normal, margins.paper) if value is not None]
    return min(values), max(values)
