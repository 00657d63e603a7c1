"""The figures of a run at one moment, computed once: the whole input of a run report.

Noise (released − truncated), truncation bias (truncated − untruncated) and the total against production's non-private
count are kept apart throughout.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from phexplore import __version__
from phexplore.catalog.tables import counted_in, table
from phexplore.figures.wording import people, signed_people
from phexplore.metrics.accuracy_report import AccuracyRow, accuracy_rows
from phexplore.metrics.coverage import Coverage, Interval, coverage_of, error_between_trials, observed_margin
from phexplore.metrics.numbers import level_of
from phexplore.model.issues import Issue
from phexplore.model.keys import QueryKey, TableId
from phexplore.noise.distributions import Noise, NoNoise
from phexplore.runs.spec import RunMode, RunSpec
from phexplore.runs.states import RunState
from phexplore.systems.phsafe.forecast import Forecast, forecast
from phexplore.systems.phsafe.result_choices import cell_words, code_words, region_words
from phexplore.systems.phsafe.results import Errors, NumberSelection, RunResults

WORST = 20
"""Numbers listed as worst."""


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The noise of one measured query in a run beside what was forecast.

    Attributes:
        query: which one.
        margin: the scenario's, people.
        band: smallest and largest of the three conventions, people.
        noise: what was drawn from.
        exact_margin: smallest whole m that holds the noise with the scenario's confidence, people.
        coverage: how often the noise lay within `margin`, with its Monte-Carlo error.
        held: how many numbers of each trial did.
        expected_coverage: how often it does so exactly.
        observed: quantile of the noise's size at the scenario's confidence, with its Monte-Carlo error.
        compared: the same of the run compared with, None without one.
    """

    query: QueryKey
    margin: float
    band: tuple[float, float]
    noise: Noise
    exact_margin: int
    coverage: Coverage
    held: tuple[int, ...]
    expected_coverage: float
    observed: Interval
    compared: float | None = None

    @property
    def is_expected(self) -> bool:
        """Whether the exact coverage lies in the Monte-Carlo interval of the observed one."""
        return self.coverage.share.low <= self.expected_coverage <= self.coverage.share.high

    @property
    def agrees(self) -> bool:
        """Whether the Monte-Carlo interval of the margin meets the band of the conventions."""
        return self.observed.low <= self.band[1] and self.observed.high >= self.band[0]

    def percent_off(self, value: float) -> float:
        """Return how far a margin is from the forecast one, in percent of it; 0 where both are 0."""
        if self.margin == 0:
            return 0.0 if value == 0 else math.inf
        return (value / self.margin - 1) * 100


class Overall(NamedTuple):
    """How often the margins of all queries held together.

    Attributes:
        coverage: over all numbers and trials.
        expected: the exact coverage averaged over the same numbers.
        error: Monte-Carlo error from trial to trial; infinite with one trial.
    """

    coverage: Coverage
    expected: float
    error: float

    @property
    def doubt(self) -> float:
        """The larger Monte-Carlo error: from trial to trial, or of independent numbers."""
        independent = self.coverage.standard_error
        return max(self.error, independent) if math.isfinite(self.error) else independent


def overall_of(queries: Sequence[QueryResult]) -> Overall | None:
    """Return the coverage of all queries together, None for none."""
    if not queries:
        return None
    errors, held = sum(each.coverage.errors for each in queries), np.sum([each.held for each in queries], axis=0)
    expected = sum(each.expected_coverage * each.coverage.errors for each in queries) / errors
    return Overall(coverage_of(int(held.sum()), errors), expected, error_between_trials(held / (errors // len(held))))


@dataclass(frozen=True, slots=True)
class LevelResult:
    """The errors of a table at a population-group level, kinds apart, people or units.

    Attributes:
        query: table and level; the table may be a derived one.
        numbers: how many there are.
        noise_rmse: root mean square of released − truncated, NaN without trials.
        noise_mean: its mean, NaN without trials.
        bias_mean: mean of truncated − untruncated.
        bias_rmse: its root mean square.
        total_mae: mean size of released − non-private, NaN without trials.
        total_rmse: its root mean square.
        total_me: its mean.
        sigma: scale of the noise as the parameters promise it; 0 for derived tables and without noise.
    """

    query: QueryKey
    numbers: int
    noise_rmse: float
    noise_mean: float
    bias_mean: float
    bias_rmse: float
    total_mae: float
    total_rmse: float
    total_me: float
    sigma: float = 0.0

    @property
    def noise_size(self) -> float:
        """Root mean square of the noise: as observed, else as the parameters promise."""
        return self.noise_rmse if math.isfinite(self.noise_rmse) else self.sigma


class Reason(enum.Enum):
    """Why a number is off. The value is the word in the table."""

    TRUNCATION = "truncation"
    BOTH = "truncation and noise"
    NOISE = "noise"
    UNUSUAL_NOISE = "unusually large noise"


@dataclass(frozen=True, slots=True)
class NumberResult:
    """A published number and its errors, kinds apart.

    Attributes:
        query: table and level.
        region_id: ``1`` or two digits of the state.
        code: ``*``, ``A`` … ``I``.
        cell_code: data-cell code.
        untruncated: the exact count without truncation.
        non_private: production's exact count.
        bias: truncated − untruncated, people; the same in every trial.
        margin: the scenario's margin of the noise, people.
        mean_error: mean size of the total error over trials, people.
        mean_noise: mean size of the noise over trials, people.
        largest_error: the total error farthest from 0, people.
        trial: in which it was, zero-based.
    """

    query: QueryKey
    region_id: str
    code: str
    cell_code: int
    untruncated: int
    non_private: int
    bias: int
    margin: float
    mean_error: float = math.nan
    mean_noise: float = math.nan
    largest_error: int = 0
    trial: int = 0

    @property
    def key(self) -> tuple[str, ...]:
        """How it is found again: table, level, region, group, cell."""
        return (*self.query.text.split("/"), self.region_id, self.code, str(self.cell_code))

    @property
    def region(self) -> str:
        """The name of the nation or state."""
        return region_words(self.region_id)

    @property
    def group(self) -> str:
        """Words of the race or ethnicity group, "" for everybody."""
        return code_words(self.code)

    @property
    def cell(self) -> str:
        """Words of the cell with the group it belongs to."""
        return cell_words(table(self.query.table), self.cell_code)

    @property
    def cell_line(self) -> str:
        """Code and label of the cell."""
        return f"{self.cell_code}: {table(self.query.table).cell(self.cell_code).label}"

    @property
    def label(self) -> str:
        """Where it is published, in short."""
        return ", ".join(part for part in (self.region, self.group, self.cell) if part)

    @property
    def reason(self) -> Reason:
        """What made it wrong: the part that makes up most of the mean error, or noise beyond its margin on average."""
        if abs(self.bias) > 2 * self.mean_noise:
            return Reason.TRUNCATION
        if abs(self.bias) > self.mean_noise / 2:
            return Reason.BOTH
        return Reason.UNUSUAL_NOISE if self.mean_noise > self.margin else Reason.NOISE

    @property
    def explanation(self) -> str:
        """The reason with its numbers."""
        unit = counted_in(self.query.table)
        noise = f"noise {people(self.mean_noise)} {unit} on average, margin ±{people(self.margin)}"
        match self.reason:
            case Reason.TRUNCATION:
                return f"truncation {signed_people(self.bias)} {unit} in every trial; {noise}"
            case Reason.BOTH:
                return f"truncation {signed_people(self.bias)} {unit}, and {noise}"
            case _:
                return noise + (f"; truncation {signed_people(self.bias)}" if self.bias else "; no truncation")


@dataclass(frozen=True, slots=True)
class RunSnapshot:
    """The figures of a run.

    Attributes:
        spec: what the run does.
        state: where it was in its life.
        trials: readable trials.
        now: time printed in the report, with its zone.
        forecast: what the parameters promise.
        queries: measured queries whose noise could be judged, in the order of Table 10; empty without noise or trials.
        levels: every table and level, derived ones included.
        cells: PHSafe's accuracy report, noise and bias beside it; empty without trials.
        worst: the numbers with the largest mean total error; empty without trials.
        most_biased: the numbers with the largest truncation bias; empty where truncation changes nothing.
        overall: coverage over all measured numbers and trials, None without noise or trials.
        truncation: households by size and persons cut per truncated table, see `metrics.summary.truncation_by_size`.
        summary: content of ``summary.json``, None while the run is not complete.
        problems: parts that could not be read.
        version: of the program that wrote the report.
    """

    spec: RunSpec
    state: RunState
    trials: int
    now: datetime
    forecast: Forecast
    queries: tuple[QueryResult, ...]
    levels: tuple[LevelResult, ...]
    cells: tuple[AccuracyRow, ...]
    worst: tuple[NumberResult, ...]
    most_biased: tuple[NumberResult, ...]
    overall: Overall | None
    truncation: tuple[Mapping[str, Any], ...]
    summary: Mapping[str, Any] | None
    problems: tuple[Issue, ...]
    version: str = __version__

    def __post_init__(self) -> None:
        """Refuse a time without a zone."""
        if self.now.tzinfo is None:
            raise ValueError(f"the time of a report needs a zone, got {self.now.isoformat()}")

    @property
    def is_noisy(self) -> bool:
        """Whether there is noise to judge."""
        return bool(self.queries)


def run_snapshot(results: RunResults, now: datetime) -> RunSnapshot:
    """Read a run as far as it is there and compute the figures of its report.

    Args:
        results: of the run.
        now: printed in the report, with its zone.

    Raises:
        RunUnreadableError: the run has not counted yet, or its exact counts cannot be read.
    """
    figures = forecast(results.spec.scenario)
    queries = tuple(each for each in query_results(results, figures) if not isinstance(each.noise, NoNoise))
    return RunSnapshot(
        spec=results.spec,
        state=results.state,
        trials=len(results.trials),
        now=now,
        forecast=figures,
        queries=queries,
        levels=level_results(results, figures),
        cells=_cells(results),
        worst=worst_numbers(results, WORST),
        most_biased=_most_biased(results),
        overall=overall_of(queries),
        truncation=tuple(results.truncation),
        summary=results.summary,
        problems=tuple(results.problems),
    )


def query_results(
    results: RunResults, figures: Forecast, compared: Mapping[QueryKey, float] | None = None
) -> tuple[QueryResult, ...]:
    """Return the noise of every measured query, none without noise or trials.

    Args:
        results: of the run.
        figures: forecast of its scenario.
        compared: observed margins of another run, people.
    """
    if results.spec.mode is not RunMode.PRIVATE or not results.trials:
        return ()
    conventions, truncated, found = figures.conventions, results.truth().truncated, []
    for group in results.level_groups:
        if not table(group.query.table).measured:
            continue
        entry = figures.query(group.query)
        errors = results.released_matrix(group.rows) - truncated[group.rows]
        if entry.margins is None or entry.noise is None or not errors.size:
            continue
        margin = float(results.expectation.margin[group.rows[0]])
        held = np.count_nonzero(np.abs(errors) <= margin, axis=1)
        margins = (entry.margins.exact, entry.margins.normal, entry.margins.paper)
        conventional = [float(value) for value in margins if value is not None]
        found.append(
            QueryResult(
                query=group.query,
                margin=margin,
                band=(min(conventional), max(conventional)),
                noise=entry.noise,
                exact_margin=entry.noise.margin(conventions.confidence),
                coverage=coverage_of(int(held.sum()), errors.size),
                held=tuple(held.tolist()),
                expected_coverage=entry.noise.coverage(math.floor(margin)),
                observed=observed_margin(errors, float(conventions.confidence)),
                compared=(compared or {}).get(group.query),
            )
        )
    return tuple(found)


def level_results(results: RunResults, figures: Forecast) -> tuple[LevelResult, ...]:
    """Return the errors of every table and level, kinds apart, derived tables included.

    Args:
        results: of the run.
        figures: forecast of its scenario.
    """
    return tuple(_level_result(group.query, results.errors(group.rows), figures) for group in results.level_groups)


def _level_result(query: QueryKey, errors: Errors, figures: Forecast) -> LevelResult:
    bias = errors.bias.astype(np.float64)
    return LevelResult(
        query=query,
        numbers=len(errors.rows),
        noise_rmse=_rms(errors.noise),
        noise_mean=_mean(errors.noise),
        bias_mean=_mean(bias),
        bias_rmse=_rms(bias),
        total_mae=_mean(np.abs(errors.total)),
        total_rmse=_rms(errors.total),
        total_me=_mean(errors.total),
        sigma=(figures.query(query).sigma or 0.0) if table(query.table).measured else 0.0,
    )


def _rms(values: Any) -> float:
    return math.sqrt(float(np.mean(np.square(values.astype(np.float64))))) if values.size else math.nan


def _mean(values: Any) -> float:
    return float(values.mean()) if values.size else math.nan


def _cells(results: RunResults) -> tuple[AccuracyRow, ...]:
    if not results.trials:
        return ()
    cells = [cell for level in results.level_groups for cell in level.cells]
    rows = accuracy_rows(cells, results.truth(), results.expectation, results.released_matrix)
    return tuple(rows) if results.trials else ()


def worst_numbers(results: RunResults, count: int) -> tuple[NumberResult, ...]:
    """Return the numbers with the largest mean total error, the worst first; none without trials.

    A number of a derived table that is a single measured one under another name is not listed twice.

    Args:
        results: of the run.
        count: at most so many.
    """
    if not results.trials:
        return ()
    errors = results.errors()
    size = np.abs(errors.total)
    mean, largest = size.mean(axis=0), size.argmax(axis=0)
    chosen: dict[tuple[object, ...], int] = {}
    for place in np.lexsort((errors.rows, -mean)).tolist():
        if len(chosen) == count:
            break
        chosen.setdefault((*_measured_as(results, place), errors.total[:, place].tobytes()), place)
    return tuple(
        replace(
            number_at(results, place),
            mean_error=float(mean[place]),
            mean_noise=float(np.abs(errors.noise[:, place]).mean()),
            largest_error=int(errors.total[largest[place], place]),
            trial=errors.trials[int(largest[place])],
        )
        for place in chosen.values()
    )


def _measured_as(results: RunResults, row: int) -> tuple[str, int, str, str]:
    """Return table, cell, region and group of the measured number that a row repeats, its own where it repeats none."""
    keys, product = results.keys, table(TableId(str(results.keys.table[row])))
    cell, source = product.cell(int(keys.cell[row])), product.derived_from
    held = (source, cell.sources[0]) if source is not None and len(cell.sources) == 1 else (product.id, cell.code)
    return *held, str(keys.region_id[row]), str(keys.iteration_code[row])


def mean_errors(results: RunResults, numbers: Sequence[NumberResult]) -> tuple[float | None, ...]:
    """Return how far the same numbers are off in another run, the mean over its trials; None where it has no such number.

    Args:
        results: of the other run.
        numbers: which ones.
    """
    if not results.trials or not results.has_truth:
        return (None,) * len(numbers)
    mean = np.abs(results.errors().total).mean(axis=0)
    chosen = (
        results.rows(
            NumberSelection(
                table=each.query.table, region_id=each.region_id, iteration_code=each.code, cell=each.cell_code
            )
        )
        for each in numbers
    )
    return tuple(float(mean[rows[0]]) if len(rows) == 1 else None for rows in chosen)


def number_at(results: RunResults, row: int) -> NumberResult:
    """Return a number of a run without its errors over trials.

    Args:
        results: of the run.
        row: its place in the run's keys.
    """
    keys, truth = results.keys, results.truth()
    return NumberResult(
        query=QueryKey(TableId(str(keys.table[row])), level_of(keys.region_type[row], keys.iteration_code[row])),
        region_id=str(keys.region_id[row]),
        code=str(keys.iteration_code[row]),
        cell_code=int(keys.cell[row]),
        untruncated=int(truth.untruncated[row]),
        non_private=int(truth.non_private[row]),
        bias=int(truth.truncated[row] - truth.untruncated[row]),
        margin=float(results.expectation.margin[row]),
    )


def _most_biased(results: RunResults) -> tuple[NumberResult, ...]:
    keys, truth = results.keys, results.truth()
    # Derived tables repeat what their source shows.
    own = np.array([table(name).measured for name in keys.table.tolist()], dtype=np.bool_)
    bias = np.where(own, truth.truncated - truth.untruncated, 0)
    order = np.lexsort((np.arange(len(keys)), -np.abs(bias)))[:WORST]
    return tuple(number_at(results, row) for row in order.tolist() if bias[row])
