from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from phexplore.errors import PhexploreError
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.spine.allocation import allocate
from phexplore.spine.area_variance import added_variances, area_variances
from phexplore.spine.geography import EntitySet
from phexplore.spine.top_down import predict_top_down
from phexplore.spine.variance import predict, refreshed, shape_of
from phexplore.workload.queries import parse_query

CLOSE = 1e-10


def worst(prediction, dense, schema, names, exact=1e-9):
    """Return the largest relative error over up to five units a level; variances that must be 0 are 0 in the recursion."""
    kinds = [prediction.kinds(parse_query(schema, name)) for name in names]
    table = prediction.variances(kinds)
    error, tree = 0.0, prediction.shape.tree
    for number, level in enumerate(tree.levels):
        found = prediction.at_level(number, table)
        for unit in sorted({0, 1, level.units // 2, level.units - 2, level.units - 1} & set(range(level.units))):
            column = 0
            for name, kind in zip(names, kinds, strict=True):
                expected = dense.variances(dense.indicator(level, unit), name)
                own = dense.matrix(name).sum(axis=1)
                assert kind.alike.sum() == len(own)
                for answer in kind.answers.tolist():
                    if expected[answer] < exact:
                        assert found[unit, column] == 0
                    else:
                        error = max(error, abs(found[unit, column] / expected[answer] - 1))
                    column += 1
    return error


@pytest.mark.parametrize("seed", range(6))
def test_that_variances_equal_dense_least_squares_with_unequal_siblings(seed, small, schema, dense):
    rng = np.random.default_rng(seed)
    tree = small.random_tree(rng, depth=2 + seed % 2)
    tree = small.with_shares(tree, small.random_shares(rng, tree))
    method = small.method(tree, rng)
    names = [*small.queries, "a", "b", "a_two", "c_two * a_some"]
    assert worst(predict(tree, method), dense(tree, method, schema), schema, names) < CLOSE


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("level", ["L0", "L1", "L3"])
@pytest.mark.parametrize("name", ["tot", "va"])
def test_that_exact_counts_at_any_level_equal_dense_least_squares(seed, level, name, small, schema, dense, monkeypatch):
    from phexplore.spine import measuring

    monkeypatch.setattr(measuring, "EXACT_QUERIES", {"va": "a_two * c"})
    rng = np.random.default_rng(100 + seed)
    tree = small.random_tree(rng)
    tree = small.with_shares(tree, small.random_shares(rng, tree))
    method = small.method(tree, rng, invariants={level: (name,)})
    number = int(level[1:])
    query = "total" if name == "tot" else "a_two * c"
    exact = [(number, unit, query) for unit in range(tree.levels[number].units)]
    assert worst(predict(tree, method), dense(tree, method, schema, exact), schema, small.queries) < CLOSE


NESTED = ({"L3": ("tot",), "L1": ("va",)}, {"va": "a_two * c"}, ("total", "a_two * c"))
APART = ({"L3": ("va",), "L1": ("h1",)}, {"va": "a_two", "h1": "b"}, ("a_two", "b"))


@pytest.mark.parametrize(("held", "seed"), [(NESTED, 200), (NESTED, 201), (NESTED, 202), (APART, 0)])
def test_that_counts_exact_at_two_levels_equal_dense_least_squares(held, seed, small, schema, dense, monkeypatch):
    from phexplore.spine import measuring

    invariants, queries, (of_blocks, of_level_1) = held
    monkeypatch.setattr(measuring, "EXACT_QUERIES", queries)
    rng = np.random.default_rng(seed)
    tree = small.random_tree(rng)
    tree = small.with_shares(tree, small.random_shares(rng, tree))
    method = small.method(tree, rng, invariants=invariants)
    exact = [(3, unit, of_blocks) for unit in range(tree.blocks)]
    exact += [(1, unit, of_level_1) for unit in range(tree.levels[1].units)]
    assert worst(predict(tree, method), dense(tree, method, schema, exact), schema, small.queries) < CLOSE


@pytest.mark.parametrize("rule", ["single-child", "pure-dp", "sum-of-squares"])
@pytest.mark.parametrize("framework", PrivacyFramework)
def test_that_bypassed_spines_equal_dense_least_squares(rule, framework, small, schema, dense):
    rng = np.random.default_rng(300)
    for _ in range(2):
        tree = small.random_tree(rng)
        method = small.method(tree, rng, framework=framework, invariants={"L1": ("tot",)})
        found = allocate(tree, method.level_shares, rule, pure_dp=framework is PrivacyFramework.PURE_DP).tree
        exact = [(1, unit, "total") for unit in range(found.levels[1].units)]
        assert worst(predict(found, method), dense(found, method, schema, exact), schema, small.queries) < CLOSE


def test_that_two_parts_of_a_state_keep_its_total_together(small, schema, dense):
    rng = np.random.default_rng(7)
    tree = small.tree_of_fanouts(
        [np.array([4]), np.array([2, 1, 2, 3]), np.array([2, 1, 1, 2, 2, 1, 1, 2])], ["US", "State", "County", "Block"]
    )
    levels = list(tree.levels)
    levels[1] = type(levels[1])(
        "State", np.array(["009", "044", "109", "144"]), levels[1].first_block, levels[1].first_child
    )
    tree = small.with_shares(type(tree)(tuple(levels), ()), small.random_shares(rng, tree))
    method = small.method(tree, rng, invariants={"State": ("tot",)})
    prediction = predict(tree, method)
    expected = dense(tree, method, schema, [(1, (0, 2), "total"), (1, (1, 3), "total")])
    assert worst(prediction, expected, schema, small.queries) < CLOSE
    blocks = [np.flatnonzero(sum(expected.indicator(tree.levels[1], u) for u in units)) for units in ((0, 2), (1, 3))]
    blocks.append(np.sort(np.concatenate([blocks[0], np.flatnonzero(expected.indicator(tree.levels[1], 1))])))
    state = EntitySet(
        "state", np.array(["09", "44", "more"]), np.cumsum([0, *map(len, blocks)]), np.concatenate(blocks)
    )
    kinds = [prediction.kinds(parse_query(schema, name)) for name in ("total", "detailed")]
    found = area_variances(prediction, state, kinds)
    assert np.abs(found[:2, 0]).max() < 1e-12
    for area, members in enumerate(blocks):
        where = np.zeros(tree.blocks)
        where[members] = 1
        detailed = expected.variances(where, "detailed")[kinds[1].answers]
        assert np.abs(found[area, 1:] / detailed - 1).max() < CLOSE
    total = expected.variances(np.isin(np.arange(tree.blocks), blocks[2]).astype(float), "total")[0]
    assert found[2, 0] == pytest.approx(total, rel=CLOSE)


@pytest.mark.parametrize("predicted", [predict, predict_top_down])
def test_that_parts_whose_blocks_keep_their_totals_keep_their_own(predicted, small, schema):
    rng = np.random.default_rng(7)
    tree = small.tree_of_fanouts([np.array([2]), np.array([2, 1])], ["US", "State", "Block"])
    parts = replace(tree.levels[1], codes=np.array(["009", "109"]))
    tree = replace(tree, levels=(tree.levels[0], parts, tree.levels[2]))
    tree = small.with_shares(tree, small.random_shares(rng, tree))
    method = small.method(tree, rng, invariants=dict.fromkeys(("State", "Block"), ("tot",)))
    prediction = predicted(tree, method)
    table = prediction.variances([prediction.kinds(parse_query(schema, "total"))])
    assert max(np.abs(prediction.at_level(number, table)).max() for number in range(3)) < 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_that_areas_off_the_spine_equal_dense_least_squares(seed, small, schema, dense):
    rng = np.random.default_rng(400 + seed)
    tree = small.random_tree(rng, blocks=10)
    order = rng.permutation(tree.blocks)
    shares = small.random_shares(rng, tree)
    tree = small.with_shares(type(tree)(tree.levels, (), order), shares)
    more = {"invariants": {"L1": ("tot",)}} if seed % 2 else {}
    method = small.method(tree, rng, **more)
    exact = [(1, unit, "total") for unit in range(tree.levels[1].units)] if seed % 2 else []
    expected = dense(tree, method, schema, exact)
    areas = [np.sort(rng.choice(tree.blocks, size, replace=False)) for size in range(1, tree.blocks + 1)]
    # Whole units and unions of them, too.
    areas += [np.sort(order[expected.indicator(level, 0) > 0]) for level in tree.levels]
    areas.append(np.array([], np.int64))
    entities = EntitySet(
        "any", np.arange(len(areas)).astype(str), np.cumsum([0, *map(len, areas)]), np.concatenate(areas)
    )
    prediction = predict(tree, method)
    kinds = [prediction.kinds(parse_query(schema, name)) for name in ("total", "a_some", "b * c", "detailed")]
    found = area_variances(prediction, entities, kinds)
    for area, members in enumerate(areas):
        where = np.zeros(tree.blocks)
        where[np.isin(order, members)] = 1
        wanted = np.concatenate([expected.variances(where, each.query.name)[each.answers] for each in kinds])
        assert found[area] == pytest.approx(wanted, rel=CLOSE, abs=1e-10)


def test_that_one_unit_s_parts_are_added_as_they_are(small, schema):
    rng = np.random.default_rng(5)
    tree = small.random_tree(rng)
    tree = small.with_shares(tree, small.random_shares(rng, tree))
    prediction = predict(tree, small.method(tree, rng))
    kinds = [prediction.kinds(parse_query(schema, "detailed"))]
    unit = EntitySet("unit", np.array(["x"]), np.array([0, 1]), np.array([0]))
    assert added_variances(prediction, unit, kinds) == pytest.approx(
        prediction.at_level(3, prediction.variances(kinds))[:1], rel=1e-14
    )
    pair = EntitySet("pair", np.array(["x"]), np.array([0, 2]), np.array([0, tree.blocks - 1]))
    leaves = prediction.at_level(3, prediction.variances(kinds))
    assert added_variances(prediction, pair, kinds)[0] == pytest.approx(leaves[0] + leaves[-1], rel=1e-14)


def test_that_new_budgets_on_an_old_shape_are_a_new_prediction(small, schema):
    rng = np.random.default_rng(6)
    tree = small.random_tree(rng)
    first = small.with_shares(tree, [[Fraction(1, 4)] * level.units for level in tree.levels])
    method = small.method(tree, rng)
    shape = shape_of(first, method)
    shares = [Fraction(n + 1, 10) for n in range(4)]
    second = small.with_shares(tree, [[share] * level.units for share, level in zip(shares, tree.levels, strict=True)])
    kinds = [predict(second, method).kinds(parse_query(schema, "detailed"))]
    # The list of shares is longer in the second tree, so its own shape differs: only values may change.
    with pytest.raises(IndexError):
        refreshed(shape_of(second, method), first, method)
    moved = small.with_shares(tree, [[Fraction(1, 3)] * level.units for level in tree.levels])
    reused = refreshed(shape, moved, method).variances(kinds)
    assert reused == pytest.approx(predict(moved, method).variances(kinds), rel=1e-14)


def test_that_a_level_without_budget_leaves_its_only_children_known_and_its_siblings_open(small, schema):
    tree = small.tree_of_fanouts([np.array([2]), np.array([1, 2])])
    shares = [[Fraction(1, 2)], [Fraction(1, 2)] * 2, [Fraction(0)] * 3]
    tree = small.with_shares(tree, shares)
    method = small.method(tree)
    prediction = predict(tree, method)
    kinds = [prediction.kinds(parse_query(schema, "total"))]
    table = prediction.variances(kinds)
    blocks = prediction.at_level(2, table)[:, 0]
    assert blocks[0] == prediction.at_level(1, table)[0, 0]
    assert np.isinf(blocks[1:]).all()
    areas = EntitySet("x", np.array(["open", "whole"]), np.array([0, 1, 3]), np.array([1, 1, 2]))
    found = area_variances(prediction, areas, kinds)[:, 0]
    assert np.isinf(found[0])
    assert found[1] == pytest.approx(prediction.at_level(1, table)[1, 0])


def test_that_blocks_without_the_detailed_query_are_refused(small, schema):
    tree = small.random_tree(np.random.default_rng(1))
    tree = small.with_shares(tree, [[Fraction(1, 4)] * level.units for level in tree.levels])
    with pytest.raises(PhexploreError, match="do not determine") as error:
        predict(tree, small.method(tree, queries=("total", "a * b")))
    assert "detailed" in error.value.remedy


def test_that_predictions_are_the_spread_of_simulated_least_squares(small, schema, dense):
    """800 draws of all noise, fitted in full: 300 mean squared errors within 5 standard errors (false alarm below 2e-4)."""
    rng = np.random.default_rng(11)
    tree = small.random_tree(rng, depth=2)
    tree = small.with_shares(tree, small.random_shares(rng, tree))
    method = small.method(tree, rng)
    exact = dense(tree, method, schema)
    gathered = np.zeros((800, exact.leaves * exact.cells))
    for level in tree.levels:
        for unit in range(level.units):
            for name in small.queries:
                share = method.query_shares[LevelQuery(level.name, name)]
                sigma2 = float(1 / (method.total * level.shares.share(unit) * share))
                rows = np.kron(exact.indicator(level, unit), exact.matrix(name))
                gathered += rng.normal(0, sigma2**0.5, (800, len(rows))) @ rows / sigma2
    errors = gathered @ exact.covariance
    prediction = predict(tree, method)
    kinds = [prediction.kinds(parse_query(schema, name)) for name in ("total", "a", "detailed")]
    table = prediction.variances(kinds)
    for number, level in enumerate(tree.levels):
        for unit in range(level.units):
            column = 0
            for kind in kinds:
                rows = np.kron(exact.indicator(level, unit), exact.matrix(kind.query.name))[kind.answers]
                squared = ((errors @ rows.T) ** 2).mean(axis=0)
                wanted = prediction.at_level(number, table)[unit, column : column + len(rows)]
                assert squared == pytest.approx(wanted, rel=5 * (2 / 800) ** 0.5)
                column += len(rows)


def test_that_the_national_persons_of_2020_split_into_small_blocks(small):
    from phexplore.systems.topdown.presets import topdown_presets

    method = topdown_presets()["pl94-2020-persons-us"].scenario.method
    tree = small.tree_of_fanouts([np.array([2])] + [np.full(2**n, 2) for n in range(1, 5)], list(method.levels))
    shares = [[method.level_shares[level.name]] * level.units for level in tree.levels]
    shape = shape_of(small.with_shares(tree, shares), method)
    assert sorted(shape.decomposition.sizes) == [1] * 8 + [3] * 8
    assert isinstance(method, TopDown)
