"""The controlled rounder as an integer program (TopDown paper, eq. 7.3, 7.4, 7.7), written down from its definition for HiGHS."""

from __future__ import annotations

import numpy as np
from optimize.instances import sums_of
from scipy.optimize import LinearConstraint, milp
from scipy.sparse import csr_array

from phexplore.optimize.plan import chain_of
from phexplore.workload.queries import total_query


def _solve(cost, constraint, whole: int):
    """Return the first `whole` variables, 0 or 1, at the optimum; the others are real and not negative."""
    upper = np.concatenate([np.ones(whole), np.full(len(cost) - whole, np.inf)])
    for presolve in (True, False):  # HiGHS now and then loses its way in its presolve
        found = milp(
            cost,
            constraints=constraint,
            bounds=(np.zeros(len(cost)), upper),
            integrality=np.isfinite(upper),
            options={"mip_rel_gap": 0.0, "presolve": presolve},
        )
        if found.status == 0:
            break
    assert found.status == 0, found.message
    return np.rint(found.x[:whole]).astype(np.int64)


class RounderProgram:
    """One family: which fractional counts go up, pass by pass.

    Args:
        whole_targets: whether answers are drawn to their rounded fractions, as production does.
        snap: estimates nearer than this to a whole number are that number.
    """

    def __init__(self, plan, family, *, whole_targets=False, snap=1e-6):
        self.plan, self.family = plan, family
        near = np.rint(family.estimate)
        estimate = np.where(np.abs(family.estimate - near) < snap, near, family.estimate)
        self.floor = np.floor(estimate).astype(np.int64)
        self.fraction = estimate - self.floor
        self.child, self.cell = np.nonzero(self.fraction)
        self.whole_targets = whole_targets
        self.levels = chain_of(plan)

    @property
    def passes(self) -> int:
        return len(self.plan.rounding)

    def targets(self, query):
        """Return what the answers of the counts that go up are drawn to, ``[children, answers]``."""
        target = sums_of(query, self.family.cells, self.fraction)
        return np.rint(target) if self.whole_targets else target

    def cost(self, counts, number: int) -> float:
        """Return the objective of a pass at whole counts."""
        raised = counts - self.floor
        return sum(
            level.times[number]
            * np.abs(sums_of(level.query, self.family.cells, raised) - self.targets(level.query)).sum()
            for level in self.levels
            if level.times[number]
        )

    def best_counts(self, number: int, *, keep=None, costs=()):
        """Return whole counts with the least objective of a pass, as HiGHS finds them.

        Args:
            keep: whole counts whose answers to the queries of all earlier passes are kept.
            costs: most objective of each earlier pass, an alternative to keeping answers.
        """
        free = len(self.child)
        rows, low, high = [], [], []

        def add(members, least, most, extra=()):
            row = dict.fromkeys(members, 1.0)
            row.update(extra)
            rows.append(row)
            low.append(least)
            high.append(most)

        self._add_constraints(add)
        self._keep(add, number, keep)
        deviation = free
        objectives = [dict[int, float]() for _ in range(number + 1)]
        constants = [0.0] * (number + 1)
        for level in self.levels:
            if not any(level.times[: number + 1]):
                continue
            target = self.targets(level.query)
            touched = np.zeros(target.shape, bool)
            for child, answer, members in self._answers(level.query):
                touched[child, answer] = True
                add(members, -np.inf, target[child, answer], {deviation: -1.0})
                add(members, target[child, answer], np.inf, {deviation: 1.0})
                for k in range(number + 1):
                    if level.times[k]:
                        objectives[k][deviation] = float(level.times[k])
                deviation += 1
            for k in range(number + 1):
                constants[k] += level.times[k] * float(np.abs(target[~touched]).sum())
        for most, objective, other in zip(costs, objectives, constants, strict=False):
            add((), -np.inf, most - other, objective)
        if free == 0:
            return self.floor
        cost = np.zeros(deviation)
        for place, factor in objectives[number].items():
            cost[place] = factor
        entries = [(r, c, v) for r, row in enumerate(rows) for c, v in row.items()]
        r, c, v = (np.array(column) for column in zip(*entries, strict=True))
        matrix = csr_array((v, (r, c)), shape=(len(rows), deviation))
        raised = _solve(cost, LinearConstraint(matrix, low, high), free)
        counts = self.floor.copy()
        counts[self.child, self.cell] += raised
        assert self.problems(counts) == []
        return counts

    def _keep(self, add, number, keep) -> None:
        for level in self.levels if keep is not None else ():
            if any(level.times[:number]):
                raised = sums_of(level.query, self.family.cells, keep - self.floor)
                for child, answer, members in self._answers(level.query):
                    add(members, raised[child, answer], raised[child, answer])

    def _answers(self, query):
        """Yield child, answer and the free counts in it, where there are any."""
        answer_of = query.cell_map()[self.family.cells[self.cell]]
        keys = self.child * query.answers + answer_of
        for key in np.unique(keys[answer_of >= 0]):
            yield *divmod(int(key), query.answers), np.flatnonzero(keys == key).tolist()

    def _add_constraints(self, add) -> None:
        family, plan = self.family, self.plan
        if family.counts is not None:
            left = family.counts - self.floor.sum(axis=0)
            for cell in np.unique(self.cell):
                add(np.flatnonzero(self.cell == cell).tolist(), left[cell], left[cell])
        for query, start in plan.bound_start.items():
            have = sums_of(query, family.cells, self.floor)
            for child, answer, members in self._answers(query):
                least = family.lower[child, start + answer] - have[child, answer]
                most = family.upper[child, start + answer] - have[child, answer]
                add(members, least, most)
        total = total_query(plan.schema)
        for group, people in enumerate(family.group_total):
            inside = np.flatnonzero(family.group[self.child] == group)
            have = sums_of(total, family.cells, self.floor)[family.group == group].sum()
            add(inside.tolist(), people - have, people - have)

    def problems(self, counts) -> list[str]:
        """Return which constraints whole counts break, in words."""
        family = self.family
        raised = counts - self.floor
        found = []
        if not np.isin(raised, (0, 1)).all():
            found.append("a count is neither its floor nor one more")
        if (raised[self.fraction == 0] != 0).any():
            found.append("a whole estimate was moved")
        if (counts < 0).any():
            found.append("a count is negative")
        if family.counts is not None and (counts.sum(axis=0) != family.counts).any():
            found.append("a column does not add up to the parent")
        for query, start in self.plan.bound_start.items():
            answers = sums_of(query, family.cells, counts)
            inside = slice(start, start + query.answers)
            if (answers < family.lower[:, inside]).any() or (answers > family.upper[:, inside]).any():
                found.append(f"{query.name} leaves its bounds")
        for group, people in enumerate(family.group_total):
            if counts[family.group == group].sum() != people:
                found.append("the total of a group is missed")
        return found
