"""The closed form of equal fan-outs, against the recursion over a real tree with these fan-outs, and its gradient."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from phexplore.errors import PhexploreError
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.spine.tree import GeoTree, TreeLevel, UnitShares
from phexplore.spine.variance import predict
from phexplore.systems.registry import preset
from phexplore.systems.topdown.uniform_spine import UNITED_STATES_2020, spine_variances, uniform_spine
from phexplore.workload.queries import parse_query

LEVELS = ("US", "State", "County", "Block")
UNITS = {"US": 1, "State": 3, "County": 12, "Block": 60}
QUERIES = ("total", "hispanic", "votingage * hispanic", "detailed", "cenrace")


def uniform_tree(method) -> GeoTree:
    """Return a tree with these numbers of units, every unit of a level with equally many children."""
    levels = []
    for number, name in enumerate(LEVELS):
        units = UNITS[name]
        children = None
        if number + 1 < len(LEVELS):
            children = np.arange(units + 1, dtype=np.int64) * (UNITS[LEVELS[number + 1]] // units)
        shares = UnitShares((method.level_shares[name],), np.zeros(units, np.int32))
        blocks = np.arange(units + 1, dtype=np.int64) * (UNITS["Block"] // units)
        levels.append(TreeLevel(name, np.array([str(n) for n in range(units)]), blocks, children, shares))
    return GeoTree(tuple(levels), ())


def small_method(seed, invariants=(), invariant_level="State") -> TopDown:
    """Return parameters with random shares and budgets large enough that the noise is as good as continuous."""
    random = np.random.default_rng(seed)
    shares = {}
    for level in LEVELS:
        parts = [Fraction(int(n)) for n in random.integers(1, 20, len(QUERIES))]
        shares |= {LevelQuery(level, query): part / sum(parts) for query, part in zip(QUERIES, parts, strict=True)}
    levels = [Fraction(int(n)) for n in random.integers(1, 20, len(LEVELS))]
    return TopDown(
        schema="pl94_persons",
        levels=LEVELS,
        total=Fraction(1, 20),
        level_shares={level: part / sum(levels) for level, part in zip(LEVELS, levels, strict=True)},
        query_shares=shares,
        invariants={invariant_level: tuple(invariants)} if invariants else {},
    )


@pytest.mark.parametrize(("seed", "invariants", "level"), [
    (1, (), "State"), (2, ("tot",), "State"), (3, ("tot",), "US"), (4, ("tot", "va"), "County"),
])  # fmt: skip
def test_that_the_closed_form_equals_the_recursion_over_such_a_tree(seed, invariants, level) -> None:
    method = small_method(seed, invariants, level)
    prediction = predict(uniform_tree(method), method)
    spine = uniform_spine(method, UNITS)
    schema = prediction.shape.measured.schema
    kinds = [prediction.kinds(parse_query(schema, name)) for name in QUERIES]
    table = prediction.variances(kinds)
    found = spine_variances(spine, {key: method.budget(key) for key in spine.keys})
    for number, name in enumerate(LEVELS):
        rows = prediction.at_level(number, table)
        column = 0
        for query, kind in zip(QUERIES, kinds, strict=True):
            expected = rows[:, column : column + len(kind.answers)].max()
            column += len(kind.answers)
            # The recursion takes the variance of the discrete Gaussian, which is below 1/ρ by less than one in 10⁹ here.
            assert found[LevelQuery(name, query)] == pytest.approx(expected, rel=1e-7, abs=1e-9), (name, query)


def test_that_derivatives_are_those_of_differences() -> None:
    spine = uniform_spine(small_method(5, ("tot",)), UNITS)
    wanted = spine.answers(
        [LevelQuery("County", "hispanic"), LevelQuery("Block", "detailed"), LevelQuery("US", "total")]
    )
    budgets = np.random.default_rng(5).uniform(0.01, 0.1, len(spine.keys))
    _, slope = spine.variances(budgets, wanted)
    for key in range(len(spine.keys)):
        step = 1e-6 * budgets[key]
        above, below = budgets.copy(), budgets.copy()
        above[key] += step
        below[key] -= step
        by_difference = (spine.variances(above, wanted)[0] - spine.variances(below, wanted)[0]) / (2 * step)
        assert slope[:, key] == pytest.approx(by_difference, rel=1e-5, abs=1e-3 * np.abs(slope).max(initial=1e-9))


def test_that_variances_are_convex_and_fall_as_budgets_grow() -> None:
    spine = uniform_spine(small_method(6), UNITS)
    wanted = spine.answers(spine.keys)
    random = np.random.default_rng(6)
    for _ in range(20):
        one, two = random.uniform(0.001, 1, (2, len(spine.keys)))
        first, second, middle = (spine.variances(b, wanted)[0] for b in (one, two, (one + two) / 2))
        assert (middle <= (first + second) / 2 * (1 + 1e-9)).all()
        assert spine.variances(3 * one, wanted)[0] == pytest.approx(first / 3)


def test_that_what_nothing_determines_has_no_variance() -> None:
    method = small_method(7)
    spine = uniform_spine(method, UNITS)
    wanted = spine.answers([LevelQuery("Block", "detailed"), LevelQuery("Block", "total")])
    budgets = np.array([float(method.budget(key)) if key.query != "detailed" else 0.0 for key in spine.keys])
    found, _ = spine.variances(budgets, wanted)
    assert np.isinf(found[wanted.keys == spine.keys.index(LevelQuery("Block", "detailed"))]).any()
    assert np.isfinite(found[-1])


def test_that_the_published_scenario_is_predicted_with_documented_units() -> None:
    method = preset("pl94-2020-persons-us").scenario.topdown
    found = spine_variances(uniform_spine(method), {key: method.budget(key) for key in uniform_spine(method).keys})
    assert all(found[key] <= 1 / float(method.budget(key)) * (1 + 1e-9) for key in found)
    assert found[LevelQuery("State", "total")] == 0  # exact in 2020
    assert set(UNITED_STATES_2020) == set(method.levels)
    with pytest.raises(PhexploreError, match="Block"):
        uniform_spine(method, {level: n for level, n in UNITED_STATES_2020.items() if level != "Block"})
