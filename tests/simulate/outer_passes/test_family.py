"""Outer passes of one family against independent solvers on the uncollapsed problem: Clarabel and HiGHS."""

from __future__ import annotations

from dataclasses import replace

import clarabel
import numpy as np
import pytest
from outer_small import (
    PUBLISHED,
    SCHEMA,
    THREE,
    TWO,
    ZEROS,
    Rows,
    children,
    coarser,
    histograms_over,
)
from scipy import sparse
from scipy.optimize import LinearConstraint, milp

from phexplore.optimize.rounder import RounderOptions, Target
from phexplore.simulate.outer_passes import family as family_module
from phexplore.simulate.outer_passes.family import Family, FamilyError, Progress, solve_pass
from phexplore.simulate.outer_passes.partitions import possible_answers
from phexplore.simulate.outer_passes.plan import Held, outer_passes


class Noisy:
    """Answers with noise that depends on query, child and answer only."""

    def __init__(self, seed, children, sigma=3.0):
        self.tables, self.seed, self.children, self.sigma = {}, seed, children, sigma

    def table(self, query):
        if query not in self.tables:
            rng = np.random.default_rng([self.seed, query.answers, len(query.name)])
            self.tables[query] = np.rint(rng.normal(0, self.sigma, (self.children, query.answers))).astype(np.int64)
        return self.tables[query]

    def __call__(self, query, child, answer, exact):
        return exact + self.table(query)[child, answer]


def weights_of(order, seed, number):
    rng = np.random.default_rng([seed, 7])
    base = rng.uniform(0.2, 3.0, len(order.measured))
    return np.tile(base, (number, 1)) * rng.uniform(0.8, 1.2, (number, 1))


def least_squares(order, truth, noisy, weights, held_rows, parent, free):
    """Solve the uncollapsed least squares; return ``x[children, cells]``."""
    number = len(truth)
    cells = np.flatnonzero(free)
    width = len(cells)
    hessian = sparse.csc_array((width * number, width * number))
    linear = np.zeros(width * number)
    for place, query in enumerate(order.measured):
        matrix = Rows(query).matrix[:, cells]
        for child in range(number):
            answers = Rows(query).matrix @ truth[child] + noisy.table(query)[child]
            select = sparse.eye_array(number).tocsr()[[child]]
            block = sparse.kron(select, matrix).tocsr()
            hessian = hessian + 2 * weights[child, place] * (block.T @ block)
            linear -= 2 * weights[child, place] * (block.T @ answers)
    rows, values = [], []
    for query, answers in held_rows:
        rows.append(sparse.kron(sparse.eye_array(number), Rows(query).matrix[:, cells]))
        values.append(answers.ravel())
    if parent is not None:
        way = sparse.eye_array(width).tocsr() if order.is_last else Rows(order.fine).matrix[:, cells]
        rows.append(sparse.kron(np.ones((1, number)), way))
        values.append(way @ parent[cells])
    equal = sparse.vstack(rows).tocsc()
    rhs = np.concatenate(values).astype(float)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    matrix = sparse.vstack([equal, -sparse.eye_array(width * number)]).tocsc()
    cones = [clarabel.ZeroConeT(equal.shape[0]), clarabel.NonnegativeConeT(width * number)]
    solver = clarabel.DefaultSolver(
        sparse.triu(hessian).tocsc(), linear, matrix, np.concatenate([rhs, np.zeros(width * number)]), cones, settings
    )
    x = np.zeros((number, SCHEMA.cells))
    solution = solver.solve()
    x[:, cells] = np.array(solution.x).reshape(number, width)
    return x, str(solution.status) == "Solved"


def objective(order, truth, noisy, weights, counts):
    """Return the least squares objective of ``counts[children, classes]``."""
    total = 0.0
    for place, query in enumerate(order.measured):
        way = coarser(order.fine, query)(np.arange(order.fine.answers))
        for child in range(len(counts)):
            answers = Rows(query).matrix @ truth[child] + noisy.table(query)[child]
            error = np.bincount(way, weights=counts[child], minlength=query.answers) - answers
            total += weights[child, place] * (error**2).sum()
    return total


def rounding_cost(order, x, whole, counts):
    """Return the rounder's objective of counts at the estimate."""
    near = np.where(np.abs(x - np.rint(x)) < 1e-5, np.rint(x), x)
    floor = np.floor(near)
    total = 0.0
    for query in (*order.chain, order.fine):
        way = coarser(order.fine, query)(np.arange(order.fine.answers))
        for child in range(len(x)):
            target = np.bincount(way, weights=(near - floor)[child], minlength=query.answers)
            raised = np.bincount(way, weights=(counts - floor)[child], minlength=query.answers)
            total += np.abs(raised - (np.rint(target) if whole else target)).sum()
    return total


def best_rounding(order, x, whole, held, parent):
    """Return the rounder's smallest objective by HiGHS, all numbers free to rise."""
    number, width = x.shape
    near = np.where(np.abs(x - np.rint(x)) < 1e-5, np.rint(x), x)
    floor = np.floor(near)
    queries = (*order.chain, order.fine)
    ways = [
        sparse.coo_array(
            (np.ones(width), (coarser(order.fine, each)(np.arange(width)), np.arange(width))),
            shape=(each.answers, width),
        ).tocsr()
        for each in queries
    ]
    every = sparse.vstack([sparse.kron(sparse.eye_array(number), way) for way in ways]).tocsr()
    wish = every @ (near - floor).ravel()
    wish = np.rint(wish) if whole else wish
    slack = len(wish)
    kept = sparse.kron(
        sparse.eye_array(number),
        sparse.coo_array(
            (np.ones(width), (coarser(order.fine, order.held.query)(np.arange(width)), np.arange(width))),
            shape=(order.held.query.answers, width),
        ),
    ).tocsr()
    equal, value = [kept], [held.ravel() - kept @ floor.ravel()]
    if parent is not None:
        columns = sparse.kron(np.ones((1, number)), sparse.eye_array(width)).tocsr()
        equal.append(columns)
        value.append(parent - columns @ floor.ravel())
    matrix = sparse.vstack(
        [
            sparse.hstack([sparse.vstack(equal), sparse.csr_array((sum(map(len, value)), slack))]),
            sparse.hstack([every, -sparse.eye_array(slack)]),
            sparse.hstack([every, sparse.eye_array(slack)]),
        ]
    )
    low = np.concatenate([*value, np.full(slack, -np.inf), wish])
    high = np.concatenate([*value, wish, np.full(slack, np.inf)])
    allowed = np.ones(number * width)
    if parent is not None:
        allowed = np.tile(parent > 0, number).astype(float)
    found = milp(
        np.concatenate([np.zeros(number * width), np.ones(slack)]),
        constraints=LinearConstraint(matrix, low, high),
        integrality=np.concatenate([np.ones(number * width), np.zeros(slack)]),
        bounds=(np.zeros(number * width + slack), np.concatenate([allowed, np.full(slack, np.inf)])),
    )
    return found.fun


@pytest.mark.parametrize("orders", [TWO, THREE], ids=["two passes", "three passes"])
@pytest.mark.parametrize("number", [1, 4])
@pytest.mark.parametrize("target", [Target.FRACTION, Target.WHOLE])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_pass_is_the_optimum_of_the_uncollapsed_problem(monkeypatch, orders, number, target, seed):
    passes = outer_passes(orders, (Held(PUBLISHED),))
    truth = children(np.random.default_rng(seed), number, 60)
    root = number == 1
    parent = None if root else truth.sum(axis=0)
    free = ~SCHEMA.structurally_empty(ZEROS) if root else parent > 0
    noisy = Noisy(seed, number)
    held_rows = [(PUBLISHED, np.array([Rows(PUBLISHED).matrix @ child for child in truth]))]
    held = histograms_over(truth, PUBLISHED)
    estimates = []
    original = family_module._solved

    def spied(order, numbers, open_, problem, options, progress):
        from phexplore.simulate.outer_passes import fit_kernels

        x = np.zeros(len(open_))
        fit_kernels.fit(
            problem.weight, problem.measured, problem.rows, problem.soft, problem.target, problem.hard_families, 1e-9, x
        )
        estimates.append((numbers.child[open_], numbers.classes[numbers.cls[open_]], x))
        return original(order, numbers, open_, problem, options, progress)

    monkeypatch.setattr(family_module, "_solved", spied)
    for order in passes:
        weights = weights_of(order, seed, number)
        above = None
        if parent is not None:
            way = histograms_over(parent[None], order.fine)
            above = (way.cells.astype(np.int64), way.counts)
        family = Family(
            histograms_over(truth, order.fine),
            held,
            above,
            possible_answers(order.fine, ZEROS) if root else None,
            weights,
        )
        progress = Progress()
        found = solve_pass(order, family, noisy, RounderOptions(target), progress)
        assert progress.unfinished == progress.failed == 0
        exact, is_solved = least_squares(order, truth, noisy, weights, held_rows, parent, free)
        collapsed = np.array([Rows(order.fine).matrix @ child for child in exact])
        child, answer, x = estimates[-1]
        if is_solved:
            assert x == pytest.approx(collapsed[child, answer], abs=2e-4)
        counts = np.zeros((number, order.fine.answers), np.int64)
        counts[np.repeat(np.arange(number), np.diff(found.starts)), found.cells] = found.counts
        mine = counts.astype(float)
        mine[child, answer] = x
        # Where the interior point method stops early, ours must still be no worse than its feasible point.
        reached = objective(order, truth, noisy, weights, mine)
        assert reached <= objective(order, truth, noisy, weights, collapsed) * (1 + 1e-7)
        kept = (
            np.array([Rows(order.held.query).matrix @ one for one in truth])
            if not len(held_rows[1:])
            else held_rows[-1][1]
        )
        above_counts = None if parent is None else Rows(order.fine).matrix @ parent
        best = best_rounding(order, mine, target is Target.WHOLE, kept, above_counts)
        assert rounding_cost(order, mine, target is Target.WHOLE, counts) == pytest.approx(best, abs=1e-4)
        held_rows.append((order.fine, counts))
        held = found


def test_exact_answers_give_the_exact_counts_back():
    truth = children(np.random.default_rng(5), 6, 200)
    noisy = Noisy(5, 6, sigma=0.0)
    held = histograms_over(truth, PUBLISHED)
    for order in outer_passes(THREE, (Held(PUBLISHED),)):
        above = histograms_over(truth.sum(axis=0)[None], order.fine)
        family = Family(
            histograms_over(truth, order.fine),
            held,
            (above.cells.astype(np.int64), above.counts),
            None,
            weights_of(order, 5, 6),
        )
        held = solve_pass(order, family, noisy, RounderOptions(), Progress())
    assert held.differences(histograms_over(truth, order.fine)) == 0


def test_children_that_do_not_add_up_to_their_parent_are_refused():
    truth = children(np.random.default_rng(6), 3, 50)
    order = outer_passes(TWO, (Held(PUBLISHED),))[0]
    above = histograms_over((truth.sum(axis=0) + (truth.sum(axis=0) > 0))[None], order.fine)
    family = Family(
        histograms_over(truth, order.fine),
        histograms_over(truth, PUBLISHED),
        (above.cells.astype(np.int64), above.counts),
        None,
        weights_of(order, 6, 3),
    )
    with pytest.raises(FamilyError, match="do not add up"):
        solve_pass(order, family, Noisy(6, 3), RounderOptions(), Progress())
    short = replace(family, parent=(above.cells[:1].astype(np.int64), above.counts[:1]))
    with pytest.raises(FamilyError, match="where their parent has none"):
        solve_pass(order, short, Noisy(6, 3), RounderOptions(), Progress())
