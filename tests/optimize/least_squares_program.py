"""The least squares passes (TopDown paper, eq. 7.1, 7.2, 7.5) as quadratic programs, written down from their definition.

The unknowns are the counts that can be positive: cells of the parent's support, in children where no upper bound is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass

import clarabel
import numpy as np
from scipy.linalg import lu_factor, lu_solve
from scipy.sparse import csc_matrix, csr_array, diags_array, eye_array, triu, vstack

from phexplore.optimize.least_squares import UNBOUNDED
from phexplore.workload.queries import total_query

ENDLESS = 1e30
"""Stands for no bound."""


@dataclass
class Quadratic:
    """Minimise ½ z'Pz + q'z with A z = b, low ≤ G z ≤ high, z ≥ floor."""

    matrix: csc_matrix
    slope: np.ndarray
    equations: csc_matrix
    targets: np.ndarray
    rows: csc_matrix
    low: np.ndarray
    high: np.ndarray
    floor: np.ndarray

    def __post_init__(self):
        for name in ("matrix", "equations", "rows"):
            sparse = csc_matrix(getattr(self, name))
            sparse.eliminate_zeros()
            sparse.sort_indices()  # PIQP takes the order of what it is given for granted
            setattr(self, name, sparse)


def clarabel_call(form: Quadratic, tolerance: float) -> Callable[[], clarabel.DefaultSolution]:
    """Return a call that sets Clarabel up and solves; matrices in its own form are made before."""
    size = len(form.floor)
    bounded = form.floor > -ENDLESS
    below, above = form.low > -ENDLESS, form.high < ENDLESS
    constraints = csc_matrix(
        vstack([form.equations, -eye_array(size, format="csr")[bounded], form.rows[above], -form.rows[below]])
    )
    constraints.sort_indices()
    limits = np.concatenate([form.targets, -form.floor[bounded], form.high[above], -form.low[below]])
    cones = [clarabel.ZeroConeT(len(form.targets)), clarabel.NonnegativeConeT(len(limits) - len(form.targets))]
    upper = csc_matrix(triu(form.matrix))
    upper.sort_indices()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    settings.max_threads = 1
    return lambda: clarabel.DefaultSolver(upper, form.slope, constraints, limits, cones, settings).solve()


@dataclass
class Program:
    """Minimise ½ Σ w (Qx - y)² with x ≥ 0, A x = b, low ≤ C x ≤ high."""

    queries: csr_array
    weights: np.ndarray
    answers: np.ndarray
    sums: csr_array
    counts: np.ndarray
    rows: csr_array
    low: np.ndarray
    high: np.ndarray

    def objective(self, x) -> float:
        residual = self.queries @ x - self.answers
        return 0.5 * float(self.weights @ residual**2)

    def violation(self, x) -> float:
        """Return how far a point is from fulfilling the constraints, in people."""
        parts = [
            np.zeros(1),
            -x,
            np.abs(self.sums @ x - self.counts),
            self.low - self.rows @ x,
            self.rows @ x - self.high,
        ]
        return float(max(part.max(initial=0.0) for part in parts))

    def condensed(self, around) -> tuple[csc_matrix, np.ndarray]:
        """Return P and q of ½ d'Pd + q'd with x = around + d."""
        weighted = diags_array(self.weights) @ self.queries
        return csc_matrix(self.queries.T @ weighted), weighted.T @ (self.queries @ around - self.answers)

    def solve(self, around):
        """Return the minimum as an interior-point solver finds it, at the smallest tolerance it reaches, polished.

        Args:
            around: a point near it; the solver works with the difference, whose digits are all significant.
        """
        unit = max(1.0, np.abs(around).max(initial=0.0) / 1e3)  # people per unit of the unknowns
        scale = 1.0 / self.weights.max() / unit
        matrix, slope = self.condensed(around)
        equal = self.low == self.high
        equations = vstack([self.sums, self.rows[equal]])
        targets = np.concatenate([self.counts, self.low[equal]]) - equations @ around
        rows, low, high = self.rows[~equal], self.low[~equal], self.high[~equal]
        shift = rows @ around
        low = np.where(low > -ENDLESS, (low - shift) / unit, low)
        high = np.where(high < ENDLESS, (high - shift) / unit, high)
        form = Quadratic(
            (scale * unit) * matrix, scale * slope, equations, targets / unit, rows, low, high, -around / unit
        )
        for accuracy in (1e-11, 1e-9, 1e-7):
            found = clarabel_call(form, accuracy)()
            if found.status == clarabel.SolverStatus.Solved:
                x = around + unit * np.array(found.x)
                return min((self._polished(x, near) for near in (1e-6, 1e-5, 1e-7)), key=self.objective)
        raise AssertionError(f"Clarabel does not find the minimum: {found.status}")

    def _polished(self, x, near):
        """Return the minimum on the face that a point lies on, if it is feasible and lower.

        Args:
            near: a count or row this close to its bound lies on it, in people per 10,000 of the largest count.
        """
        near *= max(1.0, np.abs(x).max() * 1e-4)
        free = x > near
        sums = self.rows @ x
        binding = (sums < self.low + near) | (sums > self.high - near)
        face = vstack([self.sums, self.rows[binding]]).toarray()[:, free]
        limit = np.where(sums < self.low + near, self.low, self.high)[binding]
        queries = self.queries.toarray()[:, free]
        size, rows = int(free.sum()), len(face)
        scale = 1.0 / self.weights.max()
        system = np.zeros((size + rows, size + rows))
        system[:size, :size] = scale * queries.T @ (self.weights[:, None] * queries)
        system[:size, size:], system[size:, :size] = face.T, face
        damped = lu_factor(system + 1e-9 * np.diag(np.concatenate([np.ones(size), -np.ones(rows)])))
        best = np.where(free, x, 0.0)
        multipliers = np.zeros(rows)
        target = np.concatenate([self.counts, limit])
        for _ in range(8):
            slope = scale * queries.T @ (self.weights * (queries @ best[free] - self.answers)) + face.T @ multipliers
            step = lu_solve(damped, -np.concatenate([slope, face @ best[free] - target]))
            best[free] += step[:size]
            multipliers += step[size:]
        slack = 1e-9 * max(1.0, np.abs(x).max() * 1e-4)
        if best.min(initial=0.0) < -slack or self.violation(best) > max(slack, self.violation(x)):
            return x
        return best if self.objective(best) <= self.objective(x) + 1e-9 * abs(self.objective(x)) else x


@dataclass
class FamilyProgram:
    """All passes of one family of a level.

    Attributes:
        plan, level, family: what is solved.
        slack: how far held answers may move, in people.
    """

    plan: object
    level: object
    family: int
    slack: float = 0.01

    def __post_init__(self):
        level = self.level
        self.children = np.arange(level.child_start[self.family], level.child_start[self.family + 1])
        inside = slice(level.cell_start[self.family], level.cell_start[self.family + 1])
        self._support(level.cells[inside], None if level.counts is None else level.counts[inside])

    def _support(self, cells, counts) -> None:
        level, plan = self.level, self.plan
        self.cells, self.counts = cells, counts
        possible = np.ones((len(self.children), len(self.cells)), bool)
        for query, start in plan.bound_start.items():
            answer_of = query.cell_map()[self.cells]
            upper = level.upper[self.children]
            possible &= (answer_of < 0) | (upper[:, start + np.maximum(answer_of, 0)] > 0)
        self.child, self.cell = np.nonzero(possible)
        self.possible = possible

    def table(self, x):
        """Return ``float64[children, cells]``."""
        table = np.zeros(self.possible.shape)
        table[self.child, self.cell] = x
        return table

    def unknowns(self, table):
        """Return the values of the unknowns in a table."""
        return np.ascontiguousarray(table[self.child, self.cell])

    def matrix(self, query) -> csr_array:
        """Return the answers of all children as a matrix, ``[children * answers, unknowns]``."""
        answer_of = query.cell_map()[self.cells[self.cell]]
        kept = answer_of >= 0
        return csr_array(
            (np.ones(kept.sum()), ((self.child * query.answers + answer_of)[kept], np.flatnonzero(kept))),
            shape=(len(self.children) * query.answers, len(self.child)),
        )

    def program(self, number: int, held=()) -> Program:
        """Return one pass.

        Args:
            held: pairs of a query and its answers, ``float64[children * answers]``, that must be kept.
        """
        plan, level, children = self.plan, self.level, self.children
        blocks, weights, answers = [], [], []
        for query in dict.fromkeys(plan.passes[number]):
            matrix = self.matrix(query)
            start = plan.answer_start[query]
            weight = np.repeat(level.weights[children, plan.measured.index(query)], query.answers)
            used = (np.diff(matrix.indptr) > 0) & (weight > 0)
            blocks.append(matrix[used])
            weights.append(weight[used])
            answers.append(level.answers[children, start : start + query.answers].ravel()[used])
        sums = csr_array((0, len(self.child)))
        counts = np.zeros(0)
        if self.counts is not None:
            sums = csr_array(
                (np.ones(len(self.cell)), (self.cell, np.arange(len(self.cell)))),
                shape=(len(self.cells), len(self.cell)),
            )
            counts = self.counts.astype(float)
        rows, low, high = self._bounds(held)
        return Program(
            csr_array(vstack(blocks)),
            np.concatenate(weights),
            np.concatenate(answers).astype(float),
            sums,
            counts,
            rows,
            low,
            high,
        )

    def _bounds(self, held):
        plan, level, children = self.plan, self.level, self.children
        rows, low, high = [csr_array((0, len(self.child)))], [np.zeros(0)], [np.zeros(0)]
        for query, start in plan.bound_start.items():
            inside = slice(start, start + query.answers)
            lower, upper = level.lower[children, inside].ravel(), level.upper[children, inside].ravel()
            matrix = self.matrix(query)
            if self.counts is not None:  # nobody has more than there are
                people = matrix @ self.counts[self.cell].astype(float)
                upper = np.where(upper >= people, UNBOUNDED, upper)
            used = (np.diff(matrix.indptr) > 0) & ((lower > 0) | (upper < UNBOUNDED))
            rows.append(matrix[used])
            low.append(np.where(lower > 0, lower, -ENDLESS)[used])
            high.append(np.where(upper < UNBOUNDED, upper, ENDLESS)[used])
        for query, answers in held:
            matrix = self.matrix(query)
            used = np.diff(matrix.indptr) > 0
            rows.append(matrix[used])
            low.append((answers - self.slack)[used])
            high.append((answers + self.slack)[used])
        if plan.shares_totals:
            total = self.matrix(total_query(plan.schema))
            for group in np.unique(level.group[children]):
                rows.append(csr_array(total[level.group[children] == group].sum(axis=0)[None]))
                low.append(np.array([level.group_total[group]], float))
                high.append(np.array([level.group_total[group]], float))
        return csr_array(vstack(rows)), np.concatenate(low), np.concatenate(high)

    def merged(self, queries) -> tuple[FamilyProgram, np.ndarray]:
        """Return the family with one cell for all cells that these queries do not tell apart, and the cell of each.

        Without it a pass of coarse queries has a continuum of minima, on which interior-point solvers lose their way.
        """
        keys = np.stack([query.cell_map()[self.cells] for query in queries])
        _, first, place = np.unique(keys, axis=1, return_index=True, return_inverse=True)
        place = place.reshape(-1)
        coarse = copy(self)
        coarse._support(self.cells[first], None if self.counts is None else np.bincount(place, self.counts))
        return coarse, place

    def last_program(self, around) -> Program:
        """Return the last pass, with the answers of the passes before it as the solvers find them.

        Args:
            around: a point near the minima of all passes.
        """
        held = []
        table = self.table(around)
        for number in range(len(self.plan.passes) - 1):
            asked = [*self.plan.bounded, *self.plan.passes[number], *self.plan.holds[number], *(q for q, _ in held)]
            coarse, place = self.merged(list(dict.fromkeys(asked)))
            near = np.zeros(coarse.possible.shape)
            np.add.at(near.T, place, table.T)
            point = coarse.program(number, held).solve(coarse.unknowns(near))
            held += [(query, coarse.matrix(query) @ point) for query in dict.fromkeys(self.plan.holds[number])]
        return self.program(len(self.plan.passes) - 1, held)
