"""Errors of a run for areas and for units of a spine, against sums written out by hand."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from phexplore.spine.geography import EntitySet
from phexplore.spine.tree import GeoTree, TreeLevel
from phexplore.systems.topdown import spine_observed
from phexplore.systems.topdown.spine_observed import ObservedRun
from phexplore.workload.schema import load_schema

SCHEMA = load_schema("pl94_reduced16")


class Counts:
    """Histograms of which only totals are asked."""

    def __init__(self, totals):
        self._totals = np.array(totals)[:, None]

    def answers(self, _cells, _answers):
        return self._totals


@pytest.fixture
def made(monkeypatch):
    """Six blocks, four trials, and their errors, ``int64[trials, blocks]``."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 50, 6)
    errors = rng.integers(-9, 10, (4, 6))
    run = SimpleNamespace(
        schema=SCHEMA,
        directory=Path("seven"),
        levels=("State", "Block"),
        files=SimpleNamespace(geoids=np.array([f"06001000100{1000 + n}" for n in range(6)])),
        first_trials=lambda count: tuple(range(4))[:count],
        trial=lambda index: (Counts([0]), Counts(truth + errors[index])),
        exact=lambda _level, _query: truth[:, None],
        codes=lambda _level: range(6),
    )
    return ObservedRun(run), errors


def test_that_errors_of_areas_are_sums_over_their_blocks(made):
    run, errors = made
    members = [[0, 2, 5], [], [1], [0, 1, 2, 3, 4, 5]]
    areas = EntitySet(
        "area",
        np.array(list("abcd")),
        np.cumsum([0, *map(len, members)]),
        np.array([block for each in members for block in each]),
    )
    variance = np.array([9.0, 0.0, 4.0, 25.0])
    found = run.of_areas(areas, "total", variance)
    squares = np.array([[errors[t, each].sum() ** 2 for each in members] for t in range(4)])
    assert found.errors == pytest.approx(np.sqrt(squares.mean(axis=0)))
    ratios = squares[:, [0, 2, 3]] / variance[[0, 2, 3]]
    assert found.ratio == pytest.approx(ratios.mean())
    assert found.ratio_error == pytest.approx(ratios.mean(axis=1).std(ddof=1) / 2)
    assert (found.run, found.trials) == ("seven", 4)


def test_that_errors_of_units_follow_the_order_of_the_spine(made):
    run, errors = made
    order = np.array([4, 0, 5, 1, 2, 3])
    levels = (
        TreeLevel("State", np.array(["06"]), np.array([0, 6]), np.array([0, 2])),
        TreeLevel("Tract", np.array(["a", "b"]), np.array([0, 2, 6]), np.array([0, 2, 6])),
        TreeLevel("Block", np.array([str(n) for n in range(6)]), np.arange(7), None),
    )
    variances = [np.zeros(1), np.array([2.0, 8.0]), np.full(6, 3.0)]
    found = run.of_levels(GeoTree(levels, (), order), "total", variances)
    tracts = np.stack([errors[:, order[:2]].sum(axis=1), errors[:, order[2:]].sum(axis=1)], axis=1) ** 2
    assert found.errors == pytest.approx(
        [np.sqrt((errors.sum(axis=1) ** 2).mean()), np.sqrt(tracts.mean()), np.sqrt((errors**2).mean())]
    )
    assert np.isnan(found.ratios[0])  # an exact total has no variance to compare with
    assert found.ratios[1] == pytest.approx((tracts / [2.0, 8.0]).mean())
    assert found.ratio == found.ratios[1]


def test_that_a_query_of_too_many_answers_is_left_to_the_page_of_results(made, monkeypatch):
    run, _ = made
    monkeypatch.setattr(spine_observed, "MOST_NUMBERS", 5)
    assert run.of_areas(EntitySet("a", np.array(["x"]), np.array([0, 1]), np.array([0])), "total", np.ones(1)) is None
