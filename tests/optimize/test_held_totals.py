"""Passes that hold totals: rows that others determine, and the gap to the optimum by a linear program."""

import numpy as np
import pytest
from scipy.optimize import linprog

from phexplore.optimize.least_squares import LevelData, Status, least_squares
from phexplore.optimize.plan import LevelPlan
from phexplore.workload.queries import parse_query
from phexplore.workload.schema import load_schema

SCHEMA = load_schema("pl94_reduced16")
TOTAL, *REST = QUERIES = tuple(
    parse_query(SCHEMA, name)
    for name in ("total", "hispanic", "votingage", "race_ethnicity", "votingage * hispanic", "detailed")
)
SLACK = 0.01
HELD = LevelPlan(SCHEMA, QUERIES, ((TOTAL,), tuple(REST)), ((QUERIES[-1],),))
HELD_AND_FIXED = LevelPlan(SCHEMA, QUERIES, ((TOTAL,), tuple(REST)), ((QUERIES[-1],),), bounded=(TOTAL,))


def matrix_of(queries):
    rows = []
    for query in queries:
        table = np.zeros((query.answers, SCHEMA.cells))
        table[query.cell_map(), np.arange(SCHEMA.cells)] = 1
        rows.append(table)
    return np.vstack(rows)


def family(seed, children, people):
    rng = np.random.default_rng(seed)
    truth = rng.multinomial(people, rng.dirichlet(np.full(16 * children, 0.3))).reshape(children, 16)
    sigma = np.array([3.0, 40.0, 40.0, 12.0, 40.0, 5.0])
    answers = np.hstack(
        [
            query.tabulate(truth) + np.rint(rng.normal(0, s, (children, query.answers)))
            for query, s in zip(QUERIES, sigma, strict=True)
        ]
    )
    return truth, answers.astype(np.float64), 1 / sigma**2


def data_of(truth, answers, weights, *, closed, totals=None):
    children = len(truth)
    parent = truth.sum(axis=0)
    cells = np.flatnonzero(parent).astype(np.int32) if closed else np.arange(16, dtype=np.int32)
    starts = [0, children] if closed else np.arange(children + 1)
    bounds = np.zeros((children, 0), np.int64) if totals is None else totals[:, None]
    return LevelData(
        child_start=np.array(starts, np.int64),
        cell_start=np.array([0, len(cells)], np.int64) if closed else np.arange(children + 1) * 16,
        cells=cells if closed else np.tile(cells, children),
        counts=parent[cells] if closed else None,
        answers=answers,
        weights=np.tile(weights, (children, 1)),
        lower=bounds,
        upper=bounds,
    )


def gap(x, answers, weights, parent, held):
    """Return the largest fall of the linearised objective within the feasible set, relative to the objective."""
    children, width = x.shape
    matrix = matrix_of(REST)
    scale = np.concatenate([np.full(query.answers, w) for query, w in zip(QUERIES, weights, strict=True)])[1:]
    error = x @ matrix.T - answers[:, 1:]
    gradient = 2 * (error * scale) @ matrix
    columns = np.kron(np.ones((1, children)), np.eye(width))
    totals = np.kron(np.eye(children), np.ones((1, width)))
    found = linprog(
        gradient.ravel(),
        A_eq=None if parent is None else columns,
        b_eq=parent,
        A_ub=np.vstack([totals, -totals]),
        b_ub=np.concatenate([held + SLACK + 1e-6, -held + SLACK + 1e-6]),
    )
    return (gradient.ravel() @ x.ravel() - found.fun) / (1 + (error**2 * scale).sum())


@pytest.mark.parametrize(("children", "people"), [(5, 900_000), (5, 3_000), (11, 40_000), (39, 150_000), (3, 30)])
@pytest.mark.parametrize("seed", range(3))
def test_that_held_totals_end_at_the_optimum(children, people, seed):
    truth, answers, weights = family(seed, children, people)
    data = data_of(truth, answers, weights, closed=True)
    found = least_squares(HELD, data)
    assert found.outcome.status.tolist() == [Status.SOLVED]
    assert found.outcome.steps[0] < 2_000
    x = np.zeros((children, 16))
    x[:, data.cells] = found.values.reshape(children, -1)
    # Totals of the first pass: the measured ones moved equally to the parent's, as none is near 0.
    measured = answers[:, 0] + (people - answers[:, 0].sum()) / children
    if measured.min() > 0:
        assert np.abs(x.sum(axis=1) - measured).max() <= SLACK + 1e-5
        assert gap(x, answers, weights, truth.sum(axis=0), measured) < 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_that_a_fixed_total_may_be_held_as_well(seed):
    """Root with an exact total that a pass estimates and holds: one of the two rows is determined by the other."""
    truth, answers, weights = family(seed, 4, 1_000_000)
    found = least_squares(
        HELD_AND_FIXED, data_of(truth, answers, weights, closed=False, totals=truth.sum(axis=1)), options=None
    )
    assert (found.outcome.status == Status.SOLVED).all()
    assert np.abs(found.values.reshape(4, 16).sum(axis=1) - truth.sum(axis=1)).max() < 1e-3
    assert found.outcome.steps.max() < 2_000


def test_that_fixed_totals_of_all_children_are_met():
    """Housing units: two cells and the total of every block fixed, so the first Newton system is singular at many points."""
    units = load_schema("pl94_units")
    detailed, total = parse_query(units, "detailed"), parse_query(units, "total")
    plan = LevelPlan(units, (detailed,), ((detailed,),), ((detailed,),), bounded=(total,))
    answers = np.array([[19, 12], [18, 28], [-12, -11], [7, 28], [3, -20]], np.float64)
    totals = np.array([[14], [30], [6], [31], [0]])
    data = LevelData(
        child_start=np.array([0, 5]),
        cell_start=np.array([0, 2]),
        cells=np.arange(2, dtype=np.int32),
        counts=np.array([20, 61]),
        answers=answers,
        weights=np.full((5, 1), 0.01),
        lower=totals,
        upper=totals,
    )
    found = least_squares(plan, data)
    assert found.outcome.status.tolist() == [Status.SOLVED]
    x = found.values.reshape(5, 2)
    assert np.abs(x.sum(axis=0) - [20, 61]).max() < 1e-6
    assert np.abs(x.sum(axis=1) - totals[:, 0]).max() < 1e-6
    # One unknown per child is left, Σ x_i0 = 20: project the measured difference onto that line, 0 ≤ x_i0 ≤ total.
    wish = (answers[:, 0] + totals[:, 0] - answers[:, 1]) / 2
    low, high = -100.0, 100.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if np.clip(wish + middle, 0, totals[:, 0]).sum() < 20 else (low, middle)
    assert np.abs(x[:, 0] - np.clip(wish + low, 0, totals[:, 0])).max() < 1e-5
