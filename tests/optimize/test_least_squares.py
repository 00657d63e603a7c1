"""Least squares against the conditions that every minimum fulfils, computed with dense matrices."""

from __future__ import annotations

import numpy as np
import pytest

from phexplore.optimize.least_squares import LevelData, Status, least_squares
from phexplore.optimize.plan import LevelPlan
from phexplore.workload.queries import parse_query
from phexplore.workload.schema import load_schema

SCHEMA = load_schema("pl94_reduced16")
QUERIES = tuple(
    parse_query(SCHEMA, name)
    for name in ("total", "hispanic", "votingage", "race_ethnicity", "votingage * hispanic", "detailed")
)
PLAN = LevelPlan(schema=SCHEMA, measured=QUERIES, passes=(QUERIES,), held=(), bounded=(), rounding=(QUERIES[-1:],))


def instance(seed, children, people):
    """Return parent counts, noisy answers and weights of one family."""
    rng = np.random.default_rng(seed)
    truth = rng.multinomial(people, rng.dirichlet(np.full(16 * children, 0.1))).reshape(children, 16)
    noise = [rng.normal(0, 4, (children, query.answers)) for query in QUERIES]
    answers = np.hstack([query.tabulate(truth) + np.rint(z) for query, z in zip(QUERIES, noise, strict=True)])
    weights = rng.uniform(0.05, 2, len(QUERIES))
    return truth.sum(axis=0), answers.astype(np.float64), np.tile(weights, (children, 1))


def level_of(families):
    """Return families as one level."""
    supports = [np.flatnonzero(parent) for parent, _, _ in families]
    children = [len(answers) for _, answers, _ in families]
    none = np.zeros((sum(children), 0), np.int64)
    return LevelData(
        child_start=np.concatenate([[0], np.cumsum(children)]).astype(np.int64),
        cell_start=np.concatenate([[0], np.cumsum([len(s) for s in supports])]).astype(np.int64),
        cells=np.concatenate(supports).astype(np.int32),
        counts=np.concatenate([parent[s] for (parent, _, _), s in zip(families, supports, strict=True)]).astype(
            np.int64
        ),
        answers=np.concatenate([answers for _, answers, _ in families]),
        weights=np.concatenate([weights for _, _, weights in families]),
        lower=none,
        upper=none,
    )


def worst_violation(family, values):
    """Return how far the conditions of the minimum are missed, in people, and the parent's sums."""
    parent, answers, weights = family
    support = np.flatnonzero(parent)
    x = values.reshape(len(answers), len(support))
    matrix = np.zeros((answers.shape[1], 16))
    row = 0
    for query in QUERIES:
        for cell, answer in enumerate(query.cell_map()):
            matrix[row + answer, cell] = 1
        row += query.answers
    matrix = matrix[:, support]
    per_answer = np.concatenate([np.full(q.answers, w) for q, w in zip(QUERIES, weights[0], strict=True)])
    gradient = ((x @ matrix.T - answers) * per_answer) @ matrix
    # At a minimum every column has a price: equal to the gradient where x > 0, not above it where x = 0.
    positive = x > 1e-6
    price = np.where(positive, gradient, -np.inf).max(axis=0)
    spread = np.where(positive, np.abs(gradient - price), 0.0).max()
    below = np.where(~positive, price - gradient, -np.inf).max(initial=0.0)
    curvature = per_answer.min()
    return max(spread, below) / curvature, np.abs(x.sum(axis=0) - parent[support]).max(), x.min()


SHAPES = {"two children": (2, 60), "wide": (30, 4000), "sparse": (12, 15), "large counts": (4, 2_000_000)}


@pytest.mark.parametrize(("children", "people"), SHAPES.values(), ids=SHAPES.keys())
def test_that_every_family_is_at_its_minimum(children, people):
    families = [instance(seed, children, people) for seed in range(25)]
    level = level_of(families)
    result = least_squares(PLAN, level)
    starts = level.value_start
    scale = max(1.0, people / 1e4)
    for number, family in enumerate(families):
        assert result.outcome.status[number] == Status.SOLVED
        optimal, sums, least = worst_violation(family, result.values[starts[number] : starts[number + 1]])
        assert optimal < 1e-4 * scale
        assert sums < 1e-6 * scale
        assert least >= 0


def test_that_an_only_child_is_its_parent_and_an_empty_parent_has_empty_children():
    parent, answers, weights = instance(1, 1, 50)
    empty = (np.zeros(16, np.int64), *instance(2, 3, 10)[1:])
    level = level_of([(parent, answers, weights), empty])
    result = least_squares(PLAN, level)
    assert result.outcome.status.tolist() == [Status.COPIED, Status.EMPTY]
    assert (result.values == parent[parent > 0]).all()


def test_that_threads_and_neighbours_change_no_family():
    families = [instance(seed, 5, 300) for seed in range(40)]
    level = level_of(families)
    alone, together = least_squares(PLAN, level), least_squares(PLAN, level, threads=2)
    assert (alone.values == together.values).all()
    first = least_squares(PLAN, level_of(families[:1]))
    assert (first.values == alone.values[: len(first.values)]).all()


def test_that_exact_answers_give_back_the_truth():
    rng = np.random.default_rng(3)
    truth = rng.poisson(3, (6, 16))
    answers = np.hstack([query.tabulate(truth) for query in QUERIES]).astype(np.float64)
    level = level_of([(truth.sum(axis=0), answers, np.ones((6, len(QUERIES))))])
    support = np.flatnonzero(truth.sum(axis=0))
    found = least_squares(PLAN, level).values.reshape(6, len(support))
    assert np.abs(found - truth[:, support]).max() < 1e-6
