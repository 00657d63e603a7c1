"""What is shown of PHSafe runs: choosers, tiles and pictures of what was read, in a process beside the window."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from phexplore.catalog.tables import counted_in, tables
from phexplore.figures.figure import Figure, nothing
from phexplore.metrics.accuracy_report import covered
from phexplore.metrics.coverage import Coverage, coverage_of, error_between_trials
from phexplore.metrics.numbers import REGION_TYPES
from phexplore.model.conventions import Conventions
from phexplore.model.keys import QueryKey, TableId
from phexplore.model.scenario import stated_as
from phexplore.noise.distributions import DiscreteGaussian, Noise
from phexplore.runs.spec import RunMode
from phexplore.runs.store import RunUnreadableError
from phexplore.systems.phsafe.error_figures import (
    ErrorSample,
    boxes_figure,
    cumulated_figure,
    distributions_figure,
    errors_figure,
)
from phexplore.systems.phsafe.forecast import Forecast, forecast, measured_codes
from phexplore.systems.phsafe.number_trace import NumberTrace, trace_figure
from phexplore.systems.phsafe.observed_figures import coverage_figure, diagonal_figure, difference_figure
from phexplore.systems.phsafe.result_choices import (
    Choices,
    ResultChoice,
    ResultTab,
    cell_label,
    cell_words,
    code_words,
    number_words,
    region_words,
)
from phexplore.systems.phsafe.results import NumberSelection, RunResults
from phexplore.systems.phsafe.run_snapshot import level_results, mean_errors, overall_of, query_results, worst_numbers
from phexplore.systems.phsafe.run_tiles import (
    RunHeadline,
    bias_tile,
    coverage_tile,
    headline_tile,
    trials_tile,
    worst_tile,
)
from phexplore.systems.phsafe.truncation_figures import CellBias, cells_figure, levels_figure, sizes_figure, sizes_of
from phexplore.systems.phsafe.worst_figure import worst_figure
from phexplore.systems.run_results import Asks, Chooser, Jump, OpenRuns, Option, RunAnswer, RunRequest, without_trials

NOTHING = "The run has no numbers: none of the scenario's states is in the data."
NO_NUMBERS = f"{NOTHING} Choose data of these states, or the states of the data in the scenario."
WORST_COUNT = 50
MERGED_FROM = 5
"""From σ² = 5 up the sum of discrete Gaussians is one with the summed σ² within 2e-21 (phexplore.noise.sums)."""

_FIELDS = ("table", "level", "region", "group", "cell")
"""What can be chosen of a number."""
_JUMPS = {
    ResultTab.OBSERVED: Jump(("table", "level")),
    ResultTab.WORST: Jump(_FIELDS, ResultTab.NUMBER.value),
}


class OpenRun:
    """One run with what was computed of its trials.

    Attributes:
        results: its files.
        spec: what it does.
    """

    def __init__(self, directory: Path) -> None:
        """Open it.

        Raises:
            PhexploreError: it cannot be read.
        """
        self.results = RunResults.open(directory)
        self.spec = self.results.spec
        self._held: dict[Conventions, dict[int, int]] = {}

    @cached_property
    def forecast(self) -> Forecast:
        """Of the run's own scenario."""
        return forecast(self.spec.scenario)

    @cached_property
    def choices(self) -> Choices:
        """What the run offers."""
        keys = self.results.keys
        regions = {
            region: tuple(dict.fromkeys(keys.region_id[keys.region_type == text].tolist()))
            for region, text in REGION_TYPES.items()
        }
        cells = {name: tuple(sorted(set(keys.cell[keys.table == name].tolist()))) for name in _distinct(keys.table)}
        return Choices(tuple(group.query for group in self.results.level_groups), regions, cells)

    @property
    def is_noisy(self) -> bool:
        """Whether the run added noise."""
        return self.spec.mode is RunMode.PRIVATE

    @cached_property
    def measured(self) -> NDArray[np.bool_]:
        """Which numbers are measured directly, ``bool[numbers]``."""
        names = [name for name in _distinct(self.results.keys.table) if tables()[TableId(name)].measured]
        return np.isin(self.results.keys.table, names)

    def headline(self) -> RunHeadline:
        """Return the figures of the whole run; those that cannot be told yet are None."""
        results, confidence = self.results, self.spec.scenario.conventions.confidence
        known = RunHeadline(self.spec, results.state, len(results.trials), confidence)
        if not results.has_truth:
            return known
        truth = results.truth()
        bias = (truth.truncated - truth.untruncated)[self.measured]
        coverage, error = self._coverage()
        worst = next(iter(worst_numbers(results, 1)), None)
        return replace(
            known,
            trials=len(results.trials),  # only now it is known which can be read
            coverage=coverage,
            coverage_error=error,
            expected=None if coverage is None else self._expected_coverage(),
            bias=float(bias.mean()) if bias.size else 0.0,
            biased=(int(np.count_nonzero(bias)), int(bias.size)),
            worst=None if worst is None else worst.mean_error,
            worst_words="" if worst is None else f"{worst.query.table}, {worst.label}",
            worst_unit="" if worst is None else counted_in(worst.query.table),
        )

    def _coverage(self) -> tuple[Coverage | None, float]:
        """Count each trial once: how many directly measured numbers are within their margin."""
        results = self.results
        if not self.is_noisy:
            return None, math.inf
        truncated, margin = results.truth().truncated, results.expectation.margin
        known = self._held.setdefault(self.spec.scenario.conventions, {})
        for trial in results.trials:
            if trial not in known:
                try:
                    noise = results.released(trial) - truncated
                except RunUnreadableError:
                    continue
                known[trial], _ = covered(results.keys, self.measured, noise, margin)
        numbers = int(np.count_nonzero(self.measured))
        if not known or not numbers:
            return None, math.inf
        shares = np.array(list(known.values()), dtype=np.float64) / numbers
        return coverage_of(sum(known.values()), numbers * len(known)), error_between_trials(shares)

    def _expected_coverage(self) -> float:
        """Return how often the margins of the directly measured numbers hold exactly, averaged over the numbers."""
        margin, held, numbers = self.results.expectation.margin, 0.0, 0
        for group in self.results.level_groups:
            noise = self.forecast.query(group.query).noise if tables()[group.query.table].measured else None
            if noise is not None:
                held += len(group.rows) * noise.coverage(math.floor(margin[group.rows[0]]))
                numbers += len(group.rows)
        return held / numbers

    def samples(self, query: QueryKey, cell: int | None) -> tuple[ErrorSample, ...]:
        """Return the errors of the chosen cells, then of every cell of the table; none without trials.

        Args:
            query: table and level.
            cell: data-cell code, None for all cells, which are one sample where their noise is the same.
        """
        if not self.results.trials:
            return ()
        cells = self.choices.cells[query.table]
        each = [self.sample(query, code) for code in cells]
        if cell is not None:
            return (each[cells.index(cell)], *each)
        if len({sample.margin for sample in each}) > 1 or len(each) == 1:
            return (each[0], *each)  # cells of different noise are no one distribution
        return (self.sample(query, None), *each)

    def sample(self, query: QueryKey, cell: int | None) -> ErrorSample:
        """Return the errors of a cell, or of all cells of a table.

        Args:
            query: table and level.
            cell: data-cell code, None for all cells.
        """
        results = self.results
        errors = results.errors(NumberSelection(table=query.table, level=query.level, cell=cell))
        margin = float(results.expectation.margin[errors.rows[0]]) if len(errors.rows) else 0.0
        noise = self._noise(query, cell) if self.is_noisy else None
        confidence, label = self.spec.scenario.conventions.confidence, cell_label(query, cell)
        return ErrorSample(query, label, errors.noise.ravel(), noise, margin, confidence, len(errors.trials))

    def _noise(self, query: QueryKey, cell: int | None) -> Noise | None:
        """Return the exact distribution of a cell's noise, None where it is no single known one."""
        product = tables()[query.table]
        if product.measured:
            return self.forecast.query(query).noise
        source = self.forecast.query(QueryKey(product.derived_from or product.id, query.level)).noise
        codes = [cell] if cell is not None else list(self.choices.cells[query.table])
        added = {len(measured_codes(product, code)) for code in codes}
        if added == {1}:
            return source
        if len(added) == 1 and isinstance(source, DiscreteGaussian) and source.sigma2 >= MERGED_FROM:
            return DiscreteGaussian(source.sigma2 * added.pop())
        return None

    def observed_values(self) -> dict[QueryKey, float]:
        """Return the observed margin of each measured table and level, empty without truth, noise or trials."""
        if not self.results.has_truth:
            return {}
        return {each.query: each.observed.value for each in query_results(self.results, self.forecast)}


# Pictures: functions of an open run, what is chosen, and the run it is compared with


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of a picture.

    Attributes:
        title: in the chooser of kinds; "" for the only one.
        choosers: which numbers can be chosen.
        draw: draws it; None where there is nothing yet.
    """

    title: str
    choosers: frozenset[str]
    draw: Callable[[OpenRun, ResultChoice, OpenRun | None], Figure | None]


def _of_sample(
    draw: Callable[[ErrorSample, ErrorSample | None], Figure], run: OpenRun, choice: ResultChoice, other: OpenRun | None
) -> Figure | None:
    samples = run.samples(choice.query, choice.cell)
    return draw(samples[0], _theirs(other, choice).get(samples[0].label)) if samples else None


def _boxes(run: OpenRun, choice: ResultChoice, other: OpenRun | None) -> Figure | None:
    samples = run.samples(choice.query, choice.cell)
    return boxes_figure(samples[0], samples[1:], _theirs(other, choice)) if samples else None


def _theirs(other: OpenRun | None, choice: ResultChoice) -> dict[str, ErrorSample]:
    """Return the samples of the other run by label, none where it does not publish the numbers."""
    if other is None or not other.results.has_truth or choice.query not in other.choices.queries:
        return {}
    return {each.label: each for each in other.samples(choice.query, None)}


def _distributions(run: OpenRun, _: ResultChoice, __: OpenRun | None) -> Figure:
    queries = [query for query in run.choices.queries if tables()[query.table].measured]
    if not run.is_noisy or not run.results.trials:
        return nothing("distributions", "")
    return distributions_figure([run.sample(query, None) for query in queries])


def _observed(draw: Callable[..., Figure], run: OpenRun, _: ResultChoice, other: OpenRun | None) -> Figure:
    compared = None if other is None else other.observed_values()
    margins = query_results(run.results, run.forecast, compared) if run.is_noisy else ()
    return draw(margins, run.forecast.conventions.confidence, len(run.results.trials))


def _held(run: OpenRun, _: ResultChoice, __: OpenRun | None) -> Figure:
    queries = query_results(run.results, run.forecast)
    overall = overall_of(queries)
    if overall is None:
        return nothing("coverage", "")
    return coverage_figure(queries, run.forecast.conventions.confidence, overall)


def _compared(
    draw: Callable[[OpenRun, ResultChoice, OpenRun | None], Figure],
    run: OpenRun,
    choice: ResultChoice,
    other: OpenRun | None,
) -> Figure:
    """Return a picture of a run; the numbers of the other run stand in its table."""
    mine = draw(run, choice, None)
    if other is None or not other.results.has_truth or choice.query not in other.choices.queries:
        return mine
    return replace(mine, numbers=mine.table.beside(draw(other, choice, None).table, "other run"))


def _sizes(run: OpenRun, choice: ResultChoice, _: OpenRun | None) -> Figure:
    product = tables()[choice.query.table]
    source = product.derived_from or product.id
    return sizes_figure([sizes_of(entry, product.id) for entry in run.results.truncation if entry["table"] == source])


def _all_sizes(run: OpenRun, _: ResultChoice, __: OpenRun | None) -> Figure:
    return sizes_figure([sizes_of(entry, TableId(entry["table"])) for entry in run.results.truncation], "all-sizes")


def _cells(run: OpenRun, choice: ResultChoice, _: OpenRun | None) -> Figure:
    query, results = choice.query, run.results
    if tables()[query.table].truncated is False:
        return _sizes(run, choice, None)
    truth, found = results.truth(), []
    for code in run.choices.cells[query.table]:
        rows = results.rows(NumberSelection(table=query.table, level=query.level, cell=code))
        if not len(rows):
            continue
        bias = truth.truncated[rows] - truth.untruncated[rows]
        found.append(
            CellBias(
                cell_words(tables()[query.table], code),
                float(bias.mean()),
                int(bias[np.argmax(np.abs(bias))]),
                float(truth.untruncated[rows].mean()),
                float(results.expectation.margin[rows[0]]),
                len(rows),
            )
        )
    return cells_figure(query, found)


def _levels(run: OpenRun, _: ResultChoice, __: OpenRun | None) -> Figure:
    found = level_results(run.results, run.forecast)
    products = tables()
    return levels_figure(
        [each for each in found if products[each.query.table].truncated and products[each.query.table].measured]
    )


def _number(run: OpenRun, choice: ResultChoice, _: OpenRun | None) -> Figure:
    results, query = run.results, choice.query
    cell = choice.cell if choice.cell is not None else run.choices.cells[query.table][0]
    region, code = choice.region, choice.code
    selection = NumberSelection(table=query.table, region_id=region, iteration_code=code, cell=cell)
    if len(rows := results.rows(selection)) != 1:
        return nothing(
            "number",
            f"The run holds no number {query.table}, region {region}, group {code}, cell {cell}. It may not be published, or the "
            "region has no housing unit in the data.",
        )
    row, truth = int(rows[0]), results.truth()
    released = results.released_matrix(rows)[:, 0].tolist()
    return trace_figure(
        NumberTrace(
            title=number_words(query, region, code, cell),
            true=int(truth.untruncated[row]),
            truncated=int(truth.truncated[row]),
            measured=released,
            trials=results.trials,
            margin=float(results.expectation.margin[row]),
            confidence=results.expectation.confidence,
            provenance=run.spec.provenance,
            unit=counted_in(query.table),
        )
    )


def _worst(run: OpenRun, _: ResultChoice, other: OpenRun | None) -> Figure:
    numbers = worst_numbers(run.results, WORST_COUNT)
    theirs = () if other is None else mean_errors(other.results, numbers)
    return worst_figure(numbers, len(run.results.trials), theirs)


_QUERY, _NONE = frozenset({"table", "level"}), frozenset[str]()
_CELL, _NUMBER = _QUERY | {"cell"}, _QUERY | {"region", "group", "cell"}

_KINDS: Mapping[ResultTab, tuple[_Kind, ...]] = {
    ResultTab.DISTRIBUTION: (
        _Kind("Histogram", _CELL, partial(_of_sample, errors_figure)),
        _Kind("Cumulated share (ECDF)", _CELL, partial(_of_sample, cumulated_figure)),
        _Kind("Boxes by cell", _CELL, _boxes),
        _Kind("All tables and levels", _NONE, partial(_compared, _distributions)),
    ),
    ResultTab.OBSERVED: (
        _Kind("Difference by table and level", _NONE, partial(_observed, difference_figure)),
        _Kind("Observed against expected", _NONE, partial(_observed, diagonal_figure)),
        _Kind("Share within the margin", _NONE, _held),
    ),
    ResultTab.TRUNCATION: (
        _Kind("People left out, by household size", _QUERY, partial(_compared, _sizes)),
        _Kind("Bias and noise, by cell", _QUERY, partial(_compared, _cells)),
        _Kind("People left out, all tables", _NONE, partial(_compared, _all_sizes)),
        _Kind("Bias and noise, all tables and levels", _NONE, partial(_compared, _levels)),
    ),
    ResultTab.NUMBER: (_Kind("", _NUMBER, partial(_compared, _number)),),
    ResultTab.WORST: (_Kind("", _NONE, _worst),),
}


class PhSafeRunReader:
    """Answers what the page of results asks."""

    def __init__(self) -> None:
        # Only what is looked at stays: a run of many trials takes memory.
        self._runs = OpenRuns(OpenRun, most=2)

    def answer(self, request: RunRequest) -> RunAnswer:
        """Return what is asked, as far as it is there.

        Raises:
            PhexploreError: the run cannot be read.
        """
        tab = ResultTab(request.tab) if request.tab else None
        directory = next((each for each in request.others if str(each) == request.chosen("other")), None)
        run = self._open(request.directory)
        other = None if directory is None else _beside(run, self._open(directory))
        headline, compared = run.headline(), None if other is None else other.headline()
        choosers = [_other_runs(request, directory)]
        reason = "" if run.results.has_truth else without_trials(request.directory)
        picture = None
        if tab is not None and run.results.has_truth and not run.choices.queries:
            reason = NO_NUMBERS
        elif tab is not None and run.results.has_truth:
            choice, kind = run.choices.settled(*map(request.chosen, _FIELDS)), kind_of(request, tab)
            picture = kind.draw(run, choice, other)
            choosers += [each for each in _of_numbers(run.choices, choice, tab) if each.id in kind.choosers]
        if tab is not None and len(_KINDS[tab]) > 1:
            kinds = tuple(Option(kind.title, kind.title) for kind in _KINDS[tab])
            identity, chosen = f"kind of {tab.value}", kind_of(request, tab).title
            name = "Kind of picture"
            choosers.append(Chooser(identity, "&Show as", name, kinds, chosen, letters=_SHORT, is_reported=True))
        return RunAnswer(
            request,
            headline.trials,
            (
                coverage_tile(headline, compared),
                bias_tile(headline, compared),
                worst_tile(headline, compared),
                trials_tile(headline),
            ),
            headline_tile(headline),
            () if tab is None else tuple(choosers),
            picture,
            reason,
            jump=None if tab is None else _JUMPS.get(tab),
            problems=tuple(f"{issue.sentence} {issue.remedy}" for issue in run.results.problems),
        )

    def _open(self, directory: Path) -> OpenRun:
        run = self._runs.get(directory)
        run.results.refresh()
        return run


def _beside(run: OpenRun, other: OpenRun) -> OpenRun:
    """Return another run with the conventions of a run, in which its margins and what they hold are counted anew."""
    stated = stated_as(other.spec.scenario, run.spec.scenario)
    if stated is other.spec.scenario:
        return other
    found = copy(other)
    found.results = copy(other.results)
    found.spec = found.results.spec = replace(other.spec, scenario=stated)
    for owner, name in ((found, "forecast"), (found.results, "expectation")):
        vars(owner).pop(name, None)
    return found


def kind_of(request: RunRequest, tab: ResultTab) -> _Kind:
    """Return which kind of a picture is wanted.

    Args:
        request: the first kind where it names none.
        tab: of the picture.
    """
    wanted = request.chosen(f"kind of {tab.value}")
    return next((kind for kind in _KINDS[tab] if kind.title == wanted), _KINDS[tab][0])


_SHORT = 6
"""Letters of a chooser that grows with what is chosen: five of them stand in one line above the picture."""


def _other_runs(request: RunRequest, chosen: Path | None) -> Chooser:
    others = (Option("", "no other run"), *(Option(str(each)) for each in request.others))
    return Chooser("other", "Compared &with", "Compared with", others, str(chosen or ""), Asks.RUN, _SHORT)


def _of_numbers(choices: Choices, choice: ResultChoice, tab: ResultTab) -> tuple[Chooser, ...]:
    query = choice.query
    names = list(dict.fromkeys(each.table for each in choices.queries))
    levels = [each.level for each in choices.queries if each.table == query.table]
    own = choices.cells[query.table]
    one = tab is ResultTab.NUMBER
    cells: list[int | None] = [*([] if one else [None]), *own]
    cell = own[0] if one and choice.cell is None else choice.cell
    named: Sequence[tuple[str, str, str, Sequence[Option], str, int]] = (
        ("table", "&Table", "Table", [Option(each, each, tables()[each].title) for each in names], query.table, _SHORT),
        ("level", "&Level", "Level", [Option(each.text, each.title) for each in levels], query.level.text, _SHORT),
        (
            "region", "Re&gion", "Region",
            [Option(each, region_words(each)) for each in choices.regions[query.level.region]], choice.region, 14,
        ),
        (
            "group", "Gr&oup", "Group",
            [Option(each, code_words(each) or "everybody") for each in query.level.iteration.codes], choice.code, 22,
        ),
        (
            "cell", "&Cell", "Cell",
            [Option("" if each is None else str(each), cell_label(query, each)) for each in cells],
            "" if cell is None else str(cell), _SHORT,
        ),
    )  # fmt: skip
    return tuple(
        Chooser(key, label, name, tuple(options), chosen, letters=letters, drops=("cell",) if key == "table" else ())
        for key, label, name, options, chosen, letters in named
    )


def _distinct(column: NDArray[np.str_]) -> Sequence[str]:
    return list(dict.fromkeys(column.tolist()))
