"""Facility bounds of detailed types, restored after the last pass by moving records inside their published cell.

Bounds per detailed type would be a third family of sums beside published cells and columns, and no network any more; so they are
left out of every program. Afterwards, child by child: while a type holds too many people or too few, one of its records takes
another type (or another record takes this one) with the same major type, voting age, ethnicity, race, sex and age; of the types that
may give or take, the one that leaves the noisy answers nearest. Where no type keeps the structural zeros, the age changes too, inside its
half of voting age, but not at the two lowest levels: there what cannot be moved stays broken.

The siblings are left as they are. A repaired parent is therefore not the sum of its children, in production and here.

Source: production's `use_postprocess_heuristics`, `conditional_constr_names` and `require_feasible_postproc_dim` of 2020.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phexplore.simulate.outer_passes.partitions import answered, of_cells
from phexplore.simulate.topdown.histograms import Histograms, joined
from phexplore.simulate.topdown.measuring import TrialKey
from phexplore.workload.queries import MarginalQuery
from phexplore.workload.schema import Schema

Ints = NDArray[np.int64]

NoisyAnswers = Callable[[MarginalQuery, int, Ints], tuple[Ints, float]]
"""Noisy answers of a query of one unit at some answers, ascending, and their inverse variance, people⁻²."""


@dataclass(frozen=True, slots=True)
class RepairRecord:
    """What the repair of a level did.

    Attributes:
        moves: records that took another type.
        ages: of these, records whose age changed too.
        broken: bounds broken before it.
        remaining: bounds that are still broken.
        units: whose histogram it changed.
    """

    moves: int = 0
    ages: int = 0
    broken: int = 0
    remaining: int = 0
    units: int = 0

    @staticmethod
    def together(parts: Iterable[RepairRecord]) -> RepairRecord:
        """Return several records as one."""
        every = list(parts)
        return RepairRecord(
            *(sum(getattr(each, name) for each in every) for name in ("moves", "ages", "broken", "remaining", "units"))
        )


@dataclass(frozen=True, slots=True, eq=False)
class FacilityRepair:
    """The repair at one level.

    Attributes:
        schema: of the histograms.
        facility: the query whose answers are bounded.
        within: the query whose answers no move changes: the published cells.
        measured: queries whose noisy answers choose among moves.
        free: ``bool[cells of the schema]``, where somebody can be.
        lower: ``int64[units, types]``, fewest people.
        upper: ``int64[units, types]``, most people.
        changes_ages: whether a move may change the age.
        level: name of the level; the order of moves depends on it.
    """

    schema: Schema
    facility: MarginalQuery
    within: MarginalQuery
    measured: tuple[MarginalQuery, ...]
    free: NDArray[np.bool_]
    lower: Ints
    upper: Ints
    changes_ages: bool
    level: str

    def repair(
        self, children: Histograms, units: range, noisy: NoisyAnswers, key: TrialKey
    ) -> tuple[Histograms, RepairRecord]:
        """Return the repaired histograms of some units, and what was done.

        Args:
            children: their estimates.
            units: their numbers in the level.
            noisy: gives noisy answers.
            key: of the random order of moves.
        """
        types = answered(children, of_cells(self.schema, self.facility))
        people = np.zeros((children.units, self.facility.answers), np.int64)
        people[np.repeat(np.arange(children.units), np.diff(types.starts)), types.cells] = types.counts
        inside = slice(units.start, units.stop)
        wrong = np.flatnonzero(((people < self.lower[inside]) | (people > self.upper[inside])).any(axis=1))
        if not len(wrong):
            return children, RepairRecord()
        parts, records, done = [], [], 0
        for child in wrong.tolist():
            number = units[child]
            work = _Unit(self, number, children.part(child, child + 1), people[child], noisy)
            seed = [key.seed or 0, key.trial, number, *self.level.encode()]
            records.append(work.repair(np.random.default_rng(np.random.SeedSequence(seed))))
            parts += [children.part(done, child), work.histogram()]
            done = child + 1
        parts.append(children.part(done, children.units))
        return joined(parts), RepairRecord.together(records)


class _Unit:
    """One unit under repair."""

    def __init__(
        self, rules: FacilityRepair, number: int, found: Histograms, people: Ints, noisy: NoisyAnswers
    ) -> None:
        self._rules, self._number, self._noisy = rules, number, noisy
        self._people = people.copy()
        self._low, self._high = rules.lower[number], rules.upper[number]
        self._counts = dict(zip(found.cells.tolist(), found.counts.tolist(), strict=True))
        schema = rules.schema
        self._type, self._within = of_cells(schema, rules.facility), of_cells(schema, rules.within)
        attribute = rules.facility.factors[0]
        self._place = schema.position(getattr(attribute, "attribute", attribute.name))
        self._stride = int(np.prod(schema.shape[self._place + 1 :]))
        self._levels = schema.shape[self._place]
        self._type_of = self._type(self._stride * np.arange(self._levels))
        self._sums: dict[MarginalQuery, dict[int, int]] = {}

    def histogram(self) -> Histograms:
        """Return the counts as they are now."""
        filled = sorted((cell, count) for cell, count in self._counts.items() if count)
        return Histograms(
            np.array([0, len(filled)], np.int64),
            np.array([cell for cell, _ in filled], np.int32),
            np.array([count for _, count in filled], np.int64),
        )

    def broken(self) -> int:
        """Return how many bounds are broken."""
        return int(np.count_nonzero(self._people > self._high) + np.count_nonzero(self._people < self._low))

    def repair(self, rng: np.random.Generator) -> RepairRecord:
        """Move records until every bound holds or none can move."""
        before, moves, ages = self.broken(), 0, 0
        moved = True
        while moved and self.broken():
            moved = False
            for kind in np.flatnonzero((self._people > self._high) | (self._people < self._low)).tolist():
                order = self._candidates(kind, rng)
                for source, is_sent in order:
                    while self._people[kind] > self._high[kind] if is_sent else self._people[kind] < self._low[kind]:
                        choice = self._best(kind, source, is_sent=is_sent)
                        if choice is None:
                            break
                        taken, given, is_aged = choice
                        self._move(taken, given)
                        moved, moves, ages = True, moves + 1, ages + is_aged
        return RepairRecord(moves, ages, before, self.broken(), int(moves > 0))

    def _candidates(self, kind: int, rng: np.random.Generator) -> list[tuple[int, bool]]:
        """Return filled cells in random order: of the type itself where it has too many, else of those that could give."""
        cells = np.array([cell for cell, count in self._counts.items() if count], np.int64)
        types = self._type(cells)
        too_many = bool(self._people[kind] > self._high[kind])
        chosen = cells[types == kind] if too_many else cells[types != kind]
        return [(int(cell), too_many) for cell in rng.permutation(chosen)]

    def _best(self, kind: int, source: int, *, is_sent: bool) -> tuple[int, int, bool] | None:
        """Return the cells that give and take a record, and whether its age changes; None where no move is allowed."""
        if not self._counts.get(source):
            return None
        giver = int(self._type_of[source // self._stride % self._levels])
        if self._people[giver] <= self._low[giver] and not self._people[giver] > self._high[giver]:
            return None
        takes = (self._type_of != giver) & (self._people[self._type_of] < self._high[self._type_of])
        if not is_sent:
            takes &= self._type_of == kind
        if not takes.any():
            return None
        for is_aged in (False, True) if self._rules.changes_ages else (False,):
            targets = self._targets(source, takes, is_aged=is_aged)
            targets = targets[self._rules.free[targets]]
            targets = targets[self._within(targets) == self._within(np.array([source]))]
            if len(targets):
                return source, int(targets[np.argmin(self._cost(source, targets))]), is_aged
        return None

    def _targets(self, source: int, takes: NDArray[np.bool_], *, is_aged: bool) -> Ints:
        """Return the cells of some levels that differ from one in the type only, or in type and age."""
        level = source // self._stride % self._levels
        base = source - level * self._stride
        cells = base + self._stride * np.flatnonzero(takes)
        if not is_aged:
            return cells
        place = self._rules.schema.position("age")
        stride, ages = int(np.prod(self._rules.schema.shape[place + 1 :])), self._rules.schema.shape[place]
        own = source // stride % ages
        return (cells[:, None] + stride * (np.arange(ages) - own)[None]).ravel()

    def _cost(self, source: int, targets: Ints) -> NDArray[np.float64]:
        """Return what each move adds to the weighted squares of all measured queries."""
        cost = np.zeros(len(targets))
        for query in self._rules.measured:
            answers = of_cells(self._rules.schema, query)(np.concatenate([[source], targets]))
            used, place = np.unique(answers, return_inverse=True)
            if len(used) == 1:
                continue
            noisy, weight = self._noisy(query, self._number, used)
            held = self._held(query)
            off = (np.array([held.get(answer, 0) for answer in used.tolist()]) - noisy)[place]
            cost += np.where(answers[1:] == answers[0], 0.0, 2.0 * weight * (off[1:] - off[0] + 1.0))
        return cost

    def _held(self, query: MarginalQuery) -> dict[int, int]:
        """Return the answers of a measured query as the counts are now; moves keep them so."""
        if query not in self._sums:
            filled = np.array(list(self._counts.items()), np.int64)
            answers, place = np.unique(of_cells(self._rules.schema, query)(filled[:, 0]), return_inverse=True)
            sums = np.zeros(len(answers), np.int64)
            np.add.at(sums, place, filled[:, 1])
            self._sums[query] = dict(zip(answers.tolist(), sums.tolist(), strict=True))
        return self._sums[query]

    def _move(self, source: int, target: int) -> None:
        ends = np.array([source, target])
        giver, taker = self._type(ends).tolist()
        self._counts[source] -= 1
        self._counts[target] = self._counts.get(target, 0) + 1
        self._people[giver] -= 1
        self._people[taker] += 1
        for query, held in self._sums.items():
            left, taken = of_cells(self._rules.schema, query)(ends).tolist()
            held[left] -= 1
            held[taken] = held.get(taken, 0) + 1
