"""The top-down descent through outer passes: sparse histograms of every level, each pass held for the next.

A unit has a histogram of its schema and, where the schema has a companion, one of that (the unit histogram of a household
release). Both go down the tree together: an only child copies its parent, the other families are solved pass by pass.

Source: production's `L2PlusRounder_interleaved`, as told in its configuration of 2020 for persons and households.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import pairwise
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from phexplore.noise.addressed import AddressedNoise
from phexplore.noise.distributions import Noise
from phexplore.optimize.rounder import RounderOptions
from phexplore.simulate.outer_passes.facility_repair import FacilityRepair, RepairRecord
from phexplore.simulate.outer_passes.family import Family, FamilyError, Progress, solve_pass
from phexplore.simulate.outer_passes.partitions import answered, of_cells, possible_answers
from phexplore.simulate.outer_passes.plan import Held, OuterPass, outer_passes
from phexplore.simulate.topdown.design import LevelDesign
from phexplore.simulate.topdown.driver import Descent, Mapper, TrialRecord, World, in_order
from phexplore.simulate.topdown.histograms import Histograms, joined, sums_up
from phexplore.simulate.topdown.measuring import TrialKey
from phexplore.workload.queries import MarginalQuery, parse_query
from phexplore.workload.schema import Schema, load_schema

Ints = NDArray[np.int64]
Levels = tuple[Histograms, ...]
Answers = Callable[[int, MarginalQuery, Ints, Ints], Ints]
"""Noisy answers ``int64[n]`` at a level (its number) of a query from units ``[n]``, answers ``[n]``."""

_RANGE = 60_000
"""About so many filled cells of parents times children are solved between two signs of progress."""


@dataclass(frozen=True, slots=True, eq=False)
class OuterWorld:
    """What all trials share beyond a world.

    Attributes:
        world: the tree, the design, and the exact counts of the schema at every level.
        beside: exact counts of the companion at every level; None where the schema has none.
        repair: of facility bounds after the last pass, per level; None where none are kept.
    """

    world: World
    beside: Levels | None = None
    repair: tuple[FacilityRepair, ...] | None = None
    _answers: dict[tuple[int, MarginalQuery], Histograms] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def truth(self, number: int, query: MarginalQuery) -> Histograms:
        """Return the exact answers above 0 of a query at a level; kept for the next trial.

        Args:
            number: of the level.
            query: of the schema or of its companion.

        Raises:
            ValueError: the query is of another schema.
        """
        key = number, query
        if key not in self._answers:
            levels = self.world.truth if query.schema == self.world.design.schema else self.beside
            if levels is None:
                raise ValueError(f"{query.name} is of neither histogram")
            found = answered(levels[number], of_cells(query.schema, query))
            with self._lock:
                self._answers[key] = found
        return self._answers[key]

    def confirmed(self, links: Sequence[str]) -> OuterWorld:
        """Return itself.

        Raises:
            FamilyError: the scenario leaves out a constraint that its passes need.
        """
        wanted = {link.constraint for schema in self.schemas for link in schema.links}
        if missing := wanted - set(links):
            raise FamilyError(
                f"The scenario leaves out the constraint {min(missing)}, on which its passes stand.",
                "Put it back at the lowest level.",
            )
        return self

    @property
    def schemas(self) -> tuple[Schema, ...]:
        """The schema, and its companion where there is one."""
        own = self.world.design.schema
        return (own,) if own.companion is None else (own, load_schema(own.companion))


def addressed(key: TrialKey, level: LevelDesign, query: MarginalQuery) -> AddressedNoise:
    """Return the noise of a query at a level of a trial: that of any unit and answer, drawn or not.

    Args:
        key: of the trial.
        level: that is measured.
        query: one of its queries.
    """
    return AddressedNoise(key.seed or 0, key.trial, level.name, query.name)


def passes_of(level: LevelDesign) -> tuple[OuterPass, ...]:
    """Return the outer passes of a level.

    Raises:
        PlanError: an ordering that cannot be carried out.
    """
    schema = level.plan.schema
    companion = None if schema.companion is None else load_schema(schema.companion)
    held = [
        Held(
            parse_query(each, link.query),
            None if link.companion_query is None or companion is None else parse_query(companion, link.companion_query),
        )
        for each in (schema, companion)
        if each is not None
        for link in each.links
    ]
    return outer_passes(level.orders, tuple(held))


@dataclass(frozen=True, slots=True)
class OuterEstimation:
    """How a trial is estimated.

    Attributes:
        key: of the random bits.
        exact: whether no noise is added.
        margins: per level and measured query, the margin whose coverage is counted, people.
        rounder: its options.
        answers: noise that was drawn elsewhere; None draws it.
    """

    key: TrialKey
    exact: bool = False
    margins: tuple[tuple[int, ...], ...] = ()
    rounder: RounderOptions = field(default_factory=RounderOptions)
    answers: Answers | None = None


@dataclass(frozen=True, slots=True)
class Rescue:
    """A family that the failsafe rounded.

    Attributes:
        level: of its children.
        parent: code of the parent, "" for a root.
        query: whose answers were rounded.
        missed: by how much least squares had missed a sum, people.
    """

    level: str
    parent: str
    query: str
    missed: float


@dataclass(frozen=True, slots=True, eq=False)
class OuterDescent:
    """One trial's estimates.

    Attributes:
        descent: of the schema, and how it went.
        beside: of the companion, per level; empty where the schema has none.
        repair: what the repair of facility bounds did, per level; empty where none are kept.
        unsummed: cells in which children, before their repair, do not add up to their parent.
        rescued: every family that the failsafe rounded.
    """

    descent: Descent
    beside: Levels
    repair: tuple[RepairRecord, ...]
    unsummed: int
    rescued: tuple[Rescue, ...] = ()


def descend_outer(
    outer: OuterWorld,
    published: Mapping[MarginalQuery, Histograms],
    chosen: OuterEstimation,
    *,
    mapper: Mapper = in_order,
    on_progress: Callable[[str, int, int], None] | None = None,
) -> OuterDescent:
    """Estimate every level, given the one above it.

    Args:
        outer: what all trials share.
        published: per query that is held from an earlier release, its answers at the leaves, in the tree's order.
        chosen: how.
        mapper: applies a function to ranges of families.
        on_progress: called with a level, its finished units and all of them; may raise to stop.

    Raises:
        FamilyError: the earlier release does not fit the data, or sums cannot be kept.
    """
    world = outer.world
    kept = {query: sums_up(leaves, world.tree, query.answers) for query, leaves in published.items()}
    record, progress, unsummed = TrialRecord(), Progress(), 0
    estimates: list[dict[Schema, Histograms]] = []
    repairs: list[RepairRecord] = []
    rescued: list[Rescue] = []
    for number, level in enumerate(world.design.levels):
        step = _Step(outer, number, passes_of(level), {query: levels[number] for query, levels in kept.items()}, chosen)
        parents = estimates[-1] if estimates else None
        start = world.tree.levels[number - 1].first_child if number else None
        child_start = np.arange(world.tree.levels[number].units + 1, dtype=np.int64) if start is None else start
        parts, done = [], 0
        for part in mapper(
            partial(step.solve, parents=parents, child_start=child_start), _ranges(child_start, parents)
        ):
            parts.append(part)
            record.within += part.within
            record.numbers += part.numbers
            record.expected += part.expected
            unsummed += part.unsummed
            rescued += part.rescued
            progress.unfinished += part.progress.unfinished
            progress.failed += part.progress.failed
            for name, seconds in part.progress.seconds.items():
                progress.seconds[name] = progress.seconds.get(name, 0.0) + seconds
            done += part.found[world.design.schema].units
            if on_progress is not None:
                on_progress(level.name, done, world.tree.levels[number].units)
        record.families[level.name] = sum(part.solved for part in parts)
        estimates.append({schema: joined([part.found[schema] for part in parts]) for schema in outer.schemas})
        if outer.repair is not None:
            repairs.append(RepairRecord.together([part.repair for part in parts if part.repair is not None]))
    record.unfinished, record.failed = progress.unfinished, progress.failed
    names = {"measuring": "measure", "least squares": "least_squares", "rounding": "rounder", "repair": "failsafe"}
    for name, seconds in progress.seconds.items():
        record.seconds[names[name]] = record.seconds.get(names[name], 0.0) + seconds
    levels = [tuple(each[schema] for each in estimates) for schema in outer.schemas]
    beside = levels[1] if len(levels) > 1 else ()
    return OuterDescent(Descent(levels[0], record), beside, tuple(repairs), unsummed, tuple(rescued))


def _ranges(child_start: Ints, parents: Mapping[Schema, Histograms] | None) -> list[tuple[int, int]]:
    """Cut the families of a level into ranges of about equal work."""
    families = len(child_start) - 1
    filled = np.ones(families, np.int64)
    if parents is not None:
        filled += sum(np.diff(each.starts) for each in parents.values())
    ends = np.cumsum(filled * np.diff(child_start))
    limit = max(_RANGE, int(ends[-1]) // 24) if families else _RANGE
    if not families:
        return []
    edges = np.searchsorted(ends, np.arange(limit, int(ends[-1]), limit)) + 1
    return list(pairwise(sorted({0, families, *(edge for edge in edges.tolist() if edge < families)})))


@lru_cache(maxsize=512)
def _covered(noise: Noise, margin: int) -> float:
    return noise.coverage(margin)


@dataclass(slots=True)
class _Part:
    """What became of a range of families."""

    found: dict[Schema, Histograms]
    progress: Progress
    within: int = 0
    numbers: int = 0
    expected: float = 0.0
    solved: int = 0
    unsummed: int = 0
    rescued: list[Rescue] = field(default_factory=list)
    repair: RepairRecord | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """One level of one trial.

    Attributes:
        outer: what all trials share.
        number: of the level.
        passes: of the level.
        kept: answers of this level's units from earlier releases.
        chosen: how it is estimated.
    """

    outer: OuterWorld
    number: int
    passes: tuple[OuterPass, ...]
    kept: Mapping[MarginalQuery, Histograms]
    chosen: OuterEstimation

    @property
    def level(self) -> LevelDesign:
        """What is measured."""
        return self.outer.world.design.levels[self.number]

    def solve(self, span: tuple[int, int], parents: Mapping[Schema, Histograms] | None, child_start: Ints) -> _Part:
        """Return the estimates of the children of some parents.

        Args:
            span: first parent, and behind the last.
            parents: their estimates; None for roots.
            child_start: ``int64[parents + 1]``, of all parents.
        """
        part = _Part({}, Progress())
        found: list[dict[Schema, Histograms]] = []
        repairs: list[RepairRecord] = []
        for family in range(*span):
            first, last = int(child_start[family]), int(child_start[family + 1])
            above = (
                None if parents is None else {schema: each.part(family, family + 1) for schema, each in parents.items()}
            )
            if above is not None and last - first == 1:
                found.append(above)
                continue
            part.solved += 1
            children = self._family(first, last, above, part)
            code = "" if above is None else str(self.outer.world.tree.levels[self.number - 1].codes[family])
            part.rescued += [Rescue(self.level.name, code, *each) for each in part.progress.rescued]
            part.progress.rescued.clear()
            if above is not None:
                whole = np.array([0, last - first], np.int64)
                part.unsummed += sum(
                    each.summed(whole, schema.cells).differences(above[schema]) for schema, each in children.items()
                )
            if self.outer.repair is not None:
                began = time.perf_counter()
                own = self.level.plan.schema
                children[own], repaired = self.outer.repair[self.number].repair(
                    children[own], range(first, last), self._answer, self.chosen.key
                )
                repairs.append(repaired)
                part.progress.seconds["repair"] = part.progress.seconds.get("repair", 0.0) + time.perf_counter() - began
            found.append(children)
        part.found = {schema: joined([each[schema] for each in found]) for schema in self.outer.schemas}
        if self.outer.repair is not None:
            part.repair = RepairRecord.together(repairs)
        return part

    def _family(
        self, first: int, last: int, above: Mapping[Schema, Histograms] | None, part: _Part
    ) -> dict[Schema, Histograms]:
        """Return the histograms of the children ``first:last``."""
        found: dict[MarginalQuery, Histograms] = {}
        final: dict[Schema, Histograms] = {}
        classes = self.outer.world.classes[self.number][first:last]
        if (classes < 0).any():
            raise FamilyError(
                f"A unit of {self.level.name} has no budget of its own and siblings.",
                "Choose another way of bypassing.",
            )
        weights = np.array([each.weights for each in self.level.measurings])[classes]
        for order in self.passes:
            columns = [self.level.measured.index(query) for query in order.measured]
            parent = possible = None
            if above is None:
                possible = possible_answers(
                    order.fine, self.level.zeros if order.schema == self.level.plan.schema else ()
                )
            else:
                classes_above = answered(above[order.schema], of_cells(order.schema, order.fine))
                parent = classes_above.cells.astype(np.int64), classes_above.counts
            family = Family(
                self.outer.truth(self.number, order.fine).part(first, last),
                self._held(order.held, first, last, found, final),
                parent,
                possible,
                weights[:, columns],
            )
            counts = solve_pass(order, family, partial(self._measure, part, first), self.chosen.rounder, part.progress)
            found[order.fine] = counts
            if order.is_last:
                final[order.schema] = counts
        return final

    def _held(
        self,
        held: Held,
        first: int,
        last: int,
        found: Mapping[MarginalQuery, Histograms],
        final: Mapping[Schema, Histograms],
    ) -> Histograms:
        """Return what a pass keeps of some children."""
        if held.query in found:
            return found[held.query]
        if held.source is not None:
            return answered(final[held.source.schema], of_cells(held.source.schema, held.source))
        return self.kept[held.query].part(first, last)

    def _measure(self, part: _Part, first: int, query: MarginalQuery, child: Ints, answer: Ints, exact: Ints) -> Ints:
        """Return noisy answers of children counted from `first`; arguments as in `phexplore.simulate.outer_passes.family.Measure`."""
        if self.chosen.exact:
            return exact
        if self.chosen.answers is not None:
            return self.chosen.answers(self.number, query, first + child, answer)
        column = self.level.measured.index(query)
        classes = self.outer.world.classes[self.number][first + child]
        source = addressed(self.chosen.key, self.level, query)
        noisy = exact.copy()
        for place in np.unique(classes).tolist():
            noise = self.level.measurings[place].noises[column]
            if noise is None:
                continue
            chosen = np.flatnonzero(classes == place)
            drawn = source.samples(noise, first + child[chosen], answer[chosen])
            noisy[chosen] += drawn
            if place == 0 and self.chosen.margins:
                margin = self.chosen.margins[self.number][column]
                part.numbers += len(drawn)
                part.within += int(np.count_nonzero(np.abs(drawn) <= margin))
                part.expected += len(drawn) * _covered(noise, margin)
        return noisy

    def _answer(self, query: MarginalQuery, unit: int, answers: Ints) -> tuple[Ints, float]:
        """Return noisy answers of one unit and their weight; see `phexplore.simulate.outer_passes.facility_repair.NoisyAnswers`."""
        own = self.outer.truth(self.number, query).part(unit, unit + 1)
        place = np.minimum(np.searchsorted(own.cells, answers), max(0, len(own.cells) - 1))
        exact = np.zeros(len(answers), np.int64)
        if len(own.cells):
            hit = own.cells[place] == answers
            exact[hit] = own.counts[place[hit]]
        weight = self.level.measurings[self.outer.world.classes[self.number][unit]].weights[
            self.level.measured.index(query)
        ]
        silent = _Part({}, Progress())
        return self._measure(silent, unit, query, np.zeros(len(answers), np.int64), answers, exact), weight
