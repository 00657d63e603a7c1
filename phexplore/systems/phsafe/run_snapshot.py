"""The figures of a run at one moment, computed once: the whole input of a run report.

Noise (released − truncated), truncation bias (truncated − untruncated) and the total against production's non-private
count are kept apart throughout.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from phexplore import __version__
from phexplore.catalog.states import states
from phexplore.catalog.tables import table
from phexplore.metrics.accuracy_report import AccuracyRow, accuracy_rows
from phexplore.metrics.coverage import Coverage, Interval, coverage_of, error_between_trials, observed_margin
from phexplore.model.issues import Issue
from phexplore.model.keys import QueryKey
from phexplore.noise.distributions import Noise, NoNoise
from phexplore.runs.spec import RunMode, RunSpec
from phexplore.runs.states import RunState
from phexplore.systems.phsafe.forecast import Forecast, forecast
from phexplore.systems.phsafe.results import Errors, RunResults

if TYPE_CHECKING:
    from phexplore.metrics.numbers import NumberKeys

BINS = 21
"""Bars of an error distribution; odd, so that the middle one is centred on no error."""

REACH_SIGMAS = 3.5
"""The outermost bars begin about here and hold everything beyond."""

WORST = 20
"""Numbers listed as worst."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of an error distribution: whole errors from `low` to `high`, both included; the outermost are open.

    Attributes:
        low: people.
        high: people.
        observed: errors in it.
        expected: errors the noise puts there on average.
        spread: standard deviation of that number, √(n p (1 − p)).
    """

    low: int
    high: int
    observed: int
    expected: float
    spread: float


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The noise of one measured query in a run.

    Attributes:
        query: which one.
        sigma: scale of its noise, people.
        margin: the scenario's margin, people.
        exact_margin: smallest whole m that holds the noise with the scenario's confidence, people.
        coverage: how often the noise lay within `margin`, with its Monte-Carlo error.
        expected_coverage: how often it does so exactly.
        observed_margin: quantile of the noise's size at the scenario's confidence, with its Monte-Carlo error.
        bars: distribution of the noise.
    """

    query: QueryKey
    sigma: float
    margin: float
    exact_margin: int
    coverage: Coverage
    expected_coverage: float
    observed_margin: Interval
    bars: tuple[Bar, ...]

    @property
    def is_expected(self) -> bool:
        """Whether the exact coverage lies in the Monte-Carlo interval of the observed one."""
        return self.coverage.share.low <= self.expected_coverage <= self.coverage.share.high


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


@dataclass(frozen=True, slots=True)
class WorstResult:
    """A number that was far off.

    Attributes:
        table: id.
        region: name of the area.
        iteration_code: ``*``, ``A`` … ``I``.
        cell: data-cell code.
        label: what the cell counts.
        non_private: production's exact count.
        bias: truncation bias, people.
        margin: the scenario's margin of the noise, people.
        mean_absolute: mean size of the total error over trials, people.
        largest: the total error farthest from 0, people.
        trial: in which it was, zero-based.
    """

    table: str
    region: str
    iteration_code: str
    cell: int
    label: str
    non_private: int
    bias: int
    margin: float
    mean_absolute: float
    largest: int
    trial: int


@dataclass(frozen=True, slots=True)
class BiasResult:
    """A number that truncation changes.

    Attributes:
        table: id.
        region: name of the area.
        iteration_code: ``*``, ``A`` … ``I``.
        cell: data-cell code.
        label: what the cell counts.
        untruncated: the exact count without truncation.
        bias: truncated − untruncated, people; the same in every trial.
        margin: the scenario's margin of the noise, people.
    """

    table: str
    region: str
    iteration_code: str
    cell: int
    label: str
    untruncated: int
    bias: int
    margin: float


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
        overall_expected: the exact coverage averaged over the same numbers.
        error_between_trials: Monte-Carlo error of the overall coverage from trial to trial; infinite with one trial.
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
    worst: tuple[WorstResult, ...]
    most_biased: tuple[BiasResult, ...]
    overall: Coverage | None
    overall_expected: float
    error_between_trials: float
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

    @property
    def is_confidential(self) -> bool:
        """Whether the records carry no mark, so that everything compared with exact counts is left out."""
        return not self.spec.data.synthetic


def run_snapshot(results: RunResults, now: datetime) -> RunSnapshot:
    """Read a run as far as it is there and compute the figures of its report.

    Of records that are treated as confidential only the noise is reported: what is compared with exact counts is left out.

    Raises:
        RunUnreadableError: the run has not counted yet, or its exact counts cannot be read.
    """
    figures = forecast(results.spec.scenario)
    confidence = results.spec.scenario.conventions.confidence
    queries: list[QueryResult] = []
    levels: list[LevelResult] = []
    held = np.zeros(0, np.int64)
    for group in results.level_groups:
        errors = results.errors(group.rows)
        levels.append(_level_result(group.query, errors))
        if (noise := _noise(figures, results.spec, group.query)) is None or not errors.noise.size:
            continue
        margin = float(results.expectation.margin[group.rows[0]])
        queries.append(_query_result(group.query, noise, margin, errors, confidence))
        within = (np.abs(errors.noise) <= margin).sum(axis=1)
        held = held + within if len(held) else within
    numbers = sum(query.coverage.errors for query in queries)
    per_trial = numbers // max(1, len(results.trials))
    is_open = results.spec.data.synthetic
    return RunSnapshot(
        spec=results.spec,
        state=results.state,
        trials=len(results.trials),
        now=now,
        forecast=figures,
        queries=tuple(queries),
        levels=tuple(levels if is_open else map(_noise_alone, levels)),
        cells=_cells(results) if is_open else (),
        worst=_worst(results) if is_open else (),
        most_biased=_most_biased(results) if is_open else (),
        overall=coverage_of(int(held.sum()), numbers) if queries else None,
        overall_expected=_weighted(queries),
        error_between_trials=error_between_trials(held / per_trial) if queries else math.inf,
        truncation=tuple(results.truncation) if is_open else (),
        summary=results.summary,
        problems=tuple(results.problems),
    )


def _noise(figures: Forecast, spec: RunSpec, query: QueryKey) -> Noise | None:
    """Return the noise of a measured query, None for derived tables and where nothing is added."""
    if spec.mode is not RunMode.PRIVATE or not table(query.table).measured:
        return None
    noise = figures.query(query).noise
    return None if isinstance(noise, NoNoise) else noise


def _query_result(query: QueryKey, noise: Noise, margin: float, errors: Errors, confidence: Fraction) -> QueryResult:
    held = int(np.count_nonzero(np.abs(errors.noise) <= margin))
    return QueryResult(
        query=query,
        sigma=math.sqrt(noise.reported_variance()),
        margin=margin,
        exact_margin=noise.margin(confidence),
        coverage=coverage_of(held, errors.noise.size),
        expected_coverage=noise.coverage(math.floor(margin)),
        observed_margin=observed_margin(errors.noise, float(confidence)),
        bars=error_bars(errors.noise.ravel(), noise),
    )


def error_bars(noise_drawn: Any, noise: Noise) -> tuple[Bar, ...]:
    """Return the distribution of drawn noise beside the exact one.

    Args:
        noise_drawn: ``int64[n]``, people.
        noise: what it was drawn from.
    """
    sigma = math.sqrt(noise.reported_variance())
    # Odd and whole, so that no error falls between two bars and the middle one is symmetric.
    width = 2 * round(REACH_SIGMAS * sigma / BINS) + 1
    reach = BINS // 2
    place = np.clip(np.floor_divide(noise_drawn + width // 2, width), -reach, reach)
    counted = np.bincount((place + reach).astype(np.intp), minlength=BINS)
    bars = []
    for index in range(-reach, reach + 1):
        low, high = index * width - width // 2, index * width + width // 2
        share = _probability(noise, low, high, first=index == -reach, last=index == reach)
        expected, spread = len(noise_drawn) * share, math.sqrt(len(noise_drawn) * share * (1 - share))
        bars.append(Bar(low, high, int(counted[index + reach]), expected, spread))
    return tuple(bars)


def _probability(noise: Noise, low: int, high: int, *, first: bool, last: bool) -> float:
    """Return P(low ≤ X ≤ high), open at the outermost bars. Symmetry: P(X ≤ m) = (1 + P(|X| ≤ m)) / 2 for m ≥ 0."""

    def below(limit: int) -> float:
        if limit >= 0:
            return (1 + noise.coverage(limit)) / 2
        return (1 - noise.coverage(-limit - 1)) / 2

    return max(0.0, (1.0 if last else below(high)) - (0.0 if first else below(low - 1)))


def _level_result(query: QueryKey, errors: Errors) -> LevelResult:
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
    )


def _noise_alone(level: LevelResult) -> LevelResult:
    nothing = math.nan
    return replace(level, bias_mean=nothing, bias_rmse=nothing, total_mae=nothing, total_rmse=nothing, total_me=nothing)


def _rms(values: Any) -> float:
    return math.sqrt(float(np.mean(np.square(values.astype(np.float64))))) if values.size else math.nan


def _mean(values: Any) -> float:
    return float(values.mean()) if values.size else math.nan


def _weighted(queries: Sequence[QueryResult]) -> float:
    errors = sum(query.coverage.errors for query in queries)
    if not errors:
        return math.nan
    return sum(query.expected_coverage * query.coverage.errors for query in queries) / errors


def _cells(results: RunResults) -> tuple[AccuracyRow, ...]:
    if not results.trials:
        return ()
    rows = accuracy_rows(results.cell_groups, results.truth(), results.expectation, results.released_matrix)
    return tuple(rows) if results.trials else ()


def _worst(results: RunResults) -> tuple[WorstResult, ...]:
    keys, truth = results.keys, results.truth()
    found = []
    for worst in results.worst(WORST):
        row = worst.row
        table_id, cell = str(keys.table[row]), int(keys.cell[row])
        found.append(
            WorstResult(
                table=table_id,
                region=region_name(keys, row),
                iteration_code=str(keys.iteration_code[row]),
                cell=cell,
                label=table(table_id).cell(cell).label,
                non_private=int(truth.non_private[row]),
                bias=int(truth.truncated[row] - truth.untruncated[row]),
                margin=float(results.expectation.margin[row]),
                mean_absolute=worst.mean_absolute,
                largest=worst.largest,
                trial=worst.trial,
            )
        )
    return tuple(found)


def _most_biased(results: RunResults) -> tuple[BiasResult, ...]:
    keys, truth, margin = results.keys, results.truth(), results.expectation.margin
    bias = truth.truncated - truth.untruncated
    # Derived tables repeat what their source shows.
    own = np.array([table(name).measured for name in keys.table.tolist()], dtype=np.bool_)
    order = np.lexsort((np.arange(len(keys)), -np.abs(np.where(own, bias, 0))))[:WORST]
    return tuple(
        BiasResult(
            table=str(keys.table[row]),
            region=region_name(keys, row),
            iteration_code=str(keys.iteration_code[row]),
            cell=int(keys.cell[row]),
            label=table(str(keys.table[row])).cell(int(keys.cell[row])).label,
            untruncated=int(truth.untruncated[row]),
            bias=int(bias[row]),
            margin=float(margin[row]),
        )
        for row in order.tolist()
        if own[row] and bias[row]
    )


def region_name(keys: NumberKeys, row: int) -> str:
    """Return the name of the area of a number."""
    if str(keys.region_type[row]) == "USA":
        return "Nation"
    code = str(keys.region_id[row])
    found = states().get(code)
    return found.name if found is not None else code
