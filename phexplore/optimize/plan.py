"""What is estimated at one level, in which order, under which bounds: the queries of a level made into index arrays.

A plan is made once per level and used for all of its parents. It knows no counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, chain, pairwise

import numpy as np
import numpy.typing as npt

from phexplore.errors import PhexploreError
from phexplore.optimize.marginals import Tables
from phexplore.workload.queries import MarginalQuery, detailed_query, total_query
from phexplore.workload.schema import Schema

BOUNDED, HELD, SHARED = 0, 1, 2
"""Kinds of margins: bounded per child, held from an earlier pass, bounded per group of children."""

Queries = tuple[MarginalQuery, ...]


class PlanError(PhexploreError):
    """An ordering of queries that cannot be carried out; the remedy says what to change."""


@dataclass(frozen=True, slots=True)
class LevelPlan:
    """The estimation of one level (TopDown paper, sections 7.2 and 7.3).

    Attributes:
        schema: of the records.
        measured: query groups with noisy answers, in the order of the columns of answers and weights.
        passes: per least squares pass, the measured queries in its objective, Q^(k) of eq. 7.5. The last pass has
            `detailed`. A query without measurement is left out by the caller, as production silently does.
        held: per pass but the last, the queries whose answers later passes keep, B^(k); None keeps the whole pass.
        bounded: queries with lower and upper bounds per child, e.g. the facility types.
        rounding: per rounder pass, the queries of its objective, Q^(k) of eq. 7.7. All of them together with `bounded`
            form one chain in which each determines the next coarser one. A query named twice counts twice.
        shares_totals: whether groups of children have a total of their own (the two parts of a state in the AIAN spine).
    """

    schema: Schema
    measured: Queries
    passes: tuple[Queries, ...]
    rounding: tuple[Queries, ...]
    bounded: Queries = ()
    held: tuple[Queries, ...] | None = None
    shares_totals: bool = False

    def __post_init__(self) -> None:
        for query in chain(self.measured, self.bounded, *self.passes, *self.rounding, *(self.held or ())):
            if query.schema != self.schema:
                raise PlanError(f"The query {query.name} is not one of {self.schema.id}.")
        if len(set(self.measured)) != len(self.measured):
            raise PlanError("A query group is measured twice at one level.", "Merge the two and add their shares.")
        if not self.passes or not self.rounding:
            raise PlanError("The level has no pass.", "Give it at least one least squares and one rounder pass.")
        for query in chain(*self.passes):
            if query not in self.measured:
                raise PlanError(
                    f"A least squares pass uses {query.name}, which is not measured.",
                    "Leave it out of the pass, or give it a share.",
                )
        if detailed_query(self.schema) not in self.passes[-1]:
            raise PlanError(
                "The last least squares pass has no detailed query, so it determines no cell.",
                "Give the detailed query a share and put it into the last pass.",
            )
        if self.held is not None and len(self.held) != len(self.passes) - 1:
            raise PlanError("Every pass but the last names the margins it hands on.")
        chain_of(self)

    @property
    def answers(self) -> int:
        """The number of measured answers per unit: columns of the measurements."""
        return sum(query.answers for query in self.measured)

    @property
    def bounds(self) -> int:
        """The number of bounded answers per unit: columns of lower and upper bounds."""
        return sum(query.answers for query in self.bounded)

    @property
    def answer_start(self) -> dict[MarginalQuery, int]:
        """The first column of every measured query."""
        return dict(zip(self.measured, accumulate((query.answers for query in self.measured), initial=0), strict=False))

    @property
    def bound_start(self) -> dict[MarginalQuery, int]:
        """The first column of every bounded query."""
        return dict(zip(self.bounded, accumulate((query.answers for query in self.bounded), initial=0), strict=False))

    @property
    def holds(self) -> tuple[Queries, ...]:
        """Per pass, the queries whose answers later passes keep; none after the last."""
        return (*(self.passes[:-1] if self.held is None else self.held), ())


@dataclass(frozen=True, slots=True)
class RoundingLevel:
    """One query of the rounder's chain.

    Attributes:
        query: its answers are the arcs of this level of the network.
        times: per rounder pass, how often the query is in its objective.
        bounded: whether its answers have bounds per child.
    """

    query: MarginalQuery
    times: tuple[int, ...]
    bounded: bool


def chain_of(plan: LevelPlan) -> tuple[RoundingLevel, ...]:
    """Return the rounder's queries and the bounded ones as one chain, `total` first, `detailed` last.

    Total unimodularity, which makes the rounder solvable (paper, section 7.3), rests on this nesting.

    Raises:
        PlanError: two of the queries are not nested.
    """
    named = chain((total_query(plan.schema), detailed_query(plan.schema)), plan.bounded, *plan.rounding)
    ordered = sorted(dict.fromkeys(named), key=lambda query: query.answers)
    for coarse, fine in pairwise(ordered):
        if not fine.determines(coarse):
            raise PlanError(
                f"The rounder cannot keep {coarse.name} and {fine.name} together: neither adds up to the other.",
                "Keep rounder queries and bounded queries nested, e.g. hhgq, hhgq * hispanic, detailed.",
            )
    return tuple(
        RoundingLevel(query, tuple(queries.count(query) for queries in plan.rounding), query in plan.bounded)
        for query in ordered
    )


@lru_cache(maxsize=64)
def tables_of(plan: LevelPlan) -> Tables:
    """Return the least squares passes of a plan as index arrays.

    A plan with one pass gets a second, first stage without objective: it finds a point within the bounds.
    """
    stages = [_Stage(queries, hold) for queries, hold in zip(plan.passes, plan.holds, strict=True)]
    if len(stages) == 1:
        stages.insert(0, _Stage((), ()))
    queries = tuple(
        dict.fromkeys(
            chain(plan.measured, plan.bounded, *plan.holds, (total_query(plan.schema), detailed_query(plan.schema)))
        )
    )
    place = {query: index for index, query in enumerate(queries)}
    builder = _Builder(plan, place)
    for index, stage in enumerate(stages):
        builder.add(
            stage, [query for earlier in stages[:index] for query in earlier.hold], last=index == len(stages) - 1
        )
    answers = [query.answers for query in queries]
    column_of, columns = _partitions(builder.columns)
    class_of, classes = _partitions(builder.classes)
    return Tables(
        answer_of=np.stack([query.cell_map() for query in queries]).astype(np.int32),
        answers=_ints(answers),
        stamp_start=_starts(answers),
        stage_nodes=_starts(builder.node_counts),
        node_query=_ints(builder.node_query),
        node_source=_ints(builder.node_source),
        node_weight=_ints(builder.node_weight),
        node_answer=_ints(builder.node_answer),
        column_of=column_of,
        columns=columns,
        class_of=class_of,
        classes=classes,
        stage_margins=_starts(builder.margin_counts),
        margin_query=_ints(builder.margin_query),
        margin_kind=_ints(builder.margin_kind),
        margin_start=_ints(builder.margin_start),
        stage_holds=_starts([len(stage.hold) for stage in stages]),
        hold_query=_ints([place[query] for stage in stages for query in stage.hold]),
        hold_start=_ints(builder.hold_start),
    )


@dataclass(frozen=True, slots=True)
class _Stage:
    objective: Queries
    hold: Queries


@dataclass
class _Builder:
    """Collects the stages of a plan, one after the other."""

    plan: LevelPlan
    place: dict[MarginalQuery, int]
    node_counts: list[int] = field(default_factory=list)
    node_query: list[int] = field(default_factory=list)
    node_source: list[int] = field(default_factory=list)
    node_weight: list[int] = field(default_factory=list)
    node_answer: list[int] = field(default_factory=list)
    columns: list[npt.NDArray[np.int32]] = field(default_factory=list)
    classes: list[npt.NDArray[np.int32]] = field(default_factory=list)
    margin_counts: list[int] = field(default_factory=list)
    margin_query: list[int] = field(default_factory=list)
    margin_kind: list[int] = field(default_factory=list)
    margin_start: list[int] = field(default_factory=list)
    hold_start: list[int] = field(default_factory=list)
    held_rows: int = 0
    held_at: dict[MarginalQuery, int] = field(default_factory=dict)
    resolved: list[MarginalQuery] = field(default_factory=list)

    def add(self, stage: _Stage, held: list[MarginalQuery], *, last: bool) -> None:
        """Append one stage whose margins are the bounded queries and the ones held so far."""
        plan = self.plan
        margins = [(query, BOUNDED, plan.bound_start[query]) for query in plan.bounded]
        margins += [(query, HELD, self.held_at[query]) for query in dict.fromkeys(held)]
        if plan.shares_totals:
            margins.append((total_query(plan.schema), SHARED, 0))
        self.margin_counts.append(len(margins))
        self.margin_query += [self.place[query] for query, _, _ in margins]
        self.margin_kind += [kind for _, kind, _ in margins]
        self.margin_start += [start for _, _, start in margins]
        self.classes.append(_refinement([query for query, _, _ in margins], plan.schema))
        self.resolved += [query for query, _, _ in margins]
        self.resolved += [*stage.objective, *stage.hold]
        every = np.arange(plan.schema.cells, dtype=np.int32)
        self.columns.append(every if last else _refinement(self.resolved, plan.schema))
        self._add_nodes(stage.objective)
        for query in stage.hold:
            self.held_at.setdefault(query, self.held_rows)
            self.hold_start.append(self.held_at[query])
            if self.held_at[query] == self.held_rows:
                self.held_rows += query.answers

    def _add_nodes(self, objective: Queries) -> None:
        """Append the queries of a stage, each after the coarsest finer query it can be summed from."""
        ordered = sorted(dict.fromkeys(objective), key=lambda query: -query.answers)
        for index, query in enumerate(ordered):
            finer = [earlier for earlier in range(index) if ordered[earlier].determines(query)]
            self.node_source.append(min(finer, key=lambda earlier: ordered[earlier].answers, default=-1))
            self.node_query.append(self.place[query])
            self.node_weight.append(self.plan.measured.index(query))
            self.node_answer.append(self.plan.answer_start[query])
        self.node_counts.append(len(ordered))


def _refinement(queries: list[MarginalQuery], schema: Schema) -> npt.NDArray[np.int32]:
    """Return the coarsest partition of the cells that all the queries can be computed from."""
    part = np.zeros(schema.cells, dtype=np.int64)
    for query in dict.fromkeys(queries):
        _, part = np.unique(part * (query.answers + 1) + query.cell_map() + 1, return_inverse=True)
    return part.astype(np.int32)


def _partitions(parts: list[npt.NDArray[np.int32]]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    return np.stack(parts), _ints([int(part.max()) + 1 for part in parts])


def _ints(values: list[int]) -> npt.NDArray[np.int64]:
    return np.array(values, dtype=np.int64)


def _starts(counts: list[int]) -> npt.NDArray[np.int64]:
    return _ints([0, *accumulate(counts)])
