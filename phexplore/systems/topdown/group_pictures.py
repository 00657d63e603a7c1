"""Errors group by group: of every age, relationship, household type or tenure that a schema shows one by one. No Qt."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phexplore.figures.axis import Axis, Scale, signed_text
from phexplore.figures.figure import Figure, nothing, row_figure
from phexplore.figures.marks import Row
from phexplore.figures.table import Table, Value
from phexplore.figures.wording import people, signed_people, with_unit
from phexplore.metrics.topdown.distribution import ErrorDistribution, distribution_of, merge
from phexplore.systems.topdown.error_pictures import answer_labels, trials_words
from phexplore.systems.topdown.open_run import Fold, Levels, TopDownRun, numbers_of
from phexplore.systems.topdown.run_choice import TopDownChoice
from phexplore.systems.topdown.summary import MOST_NUMBERS, answers
from phexplore.systems.topdown.wording import heading, level_title, query_title
from phexplore.workload.queries import MarginalQuery

_FEWEST, _MOST = 2, 64
"""Answers of a query group that are shown one by one where the schema does not say which."""


class GroupFold(Fold):
    """The errors of every answer of a query at a level.

    Attributes:
        truth: exact answers, ``int64[units, answers]``.
        errors: of all trials, one for each answer; none before the first trial.
    """

    def __init__(self, run: TopDownRun, level: str, query: MarginalQuery) -> None:
        self.truth: NDArray[np.int64] = run.exact(level, query)
        super().__init__(2 * self.truth.nbytes)
        self._place, self._query = run.place(level), query
        self.errors: tuple[ErrorDistribution, ...] = ()

    def _take(self, levels: Levels, _index: int, /) -> None:
        found = answers(levels[self._place], self._query) - self.truth
        columns = tuple(distribution_of(column) for column in found.T)
        self.errors = tuple(map(merge, zip(self.errors, columns, strict=True))) if self.errors else columns


def pictured(run: TopDownRun, level: str) -> tuple[MarginalQuery, ...]:
    """Return the query groups whose answers are shown one by one.

    Args:
        run: the one looked at.
        level: of its tree; queries with too many numbers there are left out.
    """
    named = tuple(run.query(name) for name in run.schema.pictured)
    found = named or tuple(query for query in run.queries if len(query.factors) == 1 and query.answers <= _MOST)
    return tuple(query for query in found if query.answers >= _FEWEST and numbers_of(run, level, query) <= MOST_NUMBERS)


def groups_figure(run: TopDownRun, choice: TopDownChoice) -> Figure:
    """Return one row per group: median, middle half and 90 % of the errors of its counts, all trials together.

    Args:
        run: the one looked at.
        choice: the level.
    """
    queries = pictured(run, choice.level)
    if not queries:
        return nothing("groups", "The schema has no groups to show one by one, or the level has too many units.")
    level = level_title(choice.level).lower()
    rows: list[Row] = []
    table: list[tuple[Value, ...]] = []
    farthest, most, trials = "", -1.0, []
    for query in queries:
        fold, group = run.folded(GroupFold, choice.level, query), heading(query_title(query.name))
        trials.append(fold.trials)
        means = fold.truth.mean(axis=0).tolist()
        for label, true, errors in zip(answer_labels(query), means, fold.errors, strict=True):
            low, inner_low, middle, inner_high, high = (errors.interpolated(p) for p in (0.05, 0.25, 0.5, 0.75, 0.95))
            mean = errors.mean_absolute
            if mean > most:
                farthest, most = f"{group}, {label}", mean
            rows.append(
                Row(
                    None,
                    group,
                    label,
                    value=middle,
                    low=low,
                    high=high,
                    inner_low=inner_low,
                    inner_high=inner_high,
                    text=f"off by {people(mean)} of {people(true)}",
                    tip=f"{label}: {people(true)} {run.unit} in a {level} on average\n"
                    f"90 % between {signed_people(low)} and {signed_people(high)}, half between {signed_people(inner_low)} and "
                    f"{signed_people(inner_high)}\nmean {signed_people(errors.mean)}, mean size {people(mean)}",
                )
            )
            table.append((group, label, true, errors.mean, mean, errors.root_mean_square, low, middle, high))
    return row_figure(
        "groups",
        tuple(rows),
        Axis(f"published − true, {run.unit}", Scale.SIGNED_LOG, text=signed_text),
        f"Farthest off at {level}: {farthest}, by {with_unit(most, run.unit)} on average",
        f"Counts of every group in each unit of the level {level}, {trials_words(min(trials))}: thick lines hold half of the errors, thin "
        f"lines 90 %; at the end the mean size of an error of the mean true count.{_invented(run)}",
        Table(
            ("Groups", "Group", "Mean true count", "Mean", "Mean size", "Root mean square", "5 %", "Median", "95 %"),
            tuple(table),
        ),
        guide=0.0,
    )


def _invented(run: TopDownRun) -> str:
    """Return what of the data was invented, as the summary says it, "" where nothing was or the run is not complete."""
    remarks = (run.summary or {}).get("data", {}).get("remarks", ())
    return "".join(f" {remark}" for remark in remarks if "invented" in remark)
