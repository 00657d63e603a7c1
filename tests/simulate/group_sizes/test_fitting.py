from __future__ import annotations

import numpy as np
import pytest
from group_size_worlds import distance, least_cost_of_chain, least_cost_of_tree, noisy_levels, random_regions

from phexplore.data.regions.region_tree import tree_of_paths
from phexplore.simulate.group_sizes.cost_tables import fit_by_tables
from phexplore.simulate.group_sizes.fitting import (
    LARGEST_ANSWER,
    TOLERANCE,
    fit_chain,
    fit_exactly,
    fit_level_by_level,
    fit_region_by_region,
    fit_relaxed,
    fit_relaxed_cumulative_sizes,
)
from phexplore.simulate.group_sizes.measuring import along_chain, differences
from phexplore.simulate.group_sizes.release import ConsistencyChecks, consistency_checks_of
from phexplore.simulate.group_sizes.size_tree import region_nodes, size_tree

KEPT = ConsistencyChecks(0, 0, 0)


@pytest.mark.parametrize("levels", [1, 2, 3, 4])
def test_that_the_exact_tree_costs_what_brute_force_finds(levels):
    random = np.random.default_rng(levels)
    for trial in range(300):
        tree = random_regions(random, levels, most=3 if levels < 4 else 2)
        sizes = int(random.integers(1, 4))
        _, answers = noisy_levels(random, tree, sizes, mean=random.choice([0.3, 3]))
        groups = int(random.integers(0, 40))
        found = fit_exactly(answers, size_tree(tree, sizes), groups)
        assert consistency_checks_of(found, tree, groups) == KEPT, trial
        assert distance(found, answers) == least_cost_of_tree(answers, tree, groups), trial


def test_that_the_exact_tree_costs_what_cost_tables_find_on_larger_trees():
    random = np.random.default_rng(11)
    for levels in (2, 3, 4, 5):
        for _ in range(8):
            tree = random_regions(random, levels, most=4)
            exact, answers = noisy_levels(
                random, tree, 6, mean=random.choice([0.2, 2, 10]), spread=random.integers(1, 40)
            )
            groups = int(exact[0].sum())
            shape = size_tree(tree, 6)
            tables, found = fit_by_tables(answers, shape, groups), fit_exactly(answers, shape, groups)
            assert consistency_checks_of(tables, tree, groups) == consistency_checks_of(found, tree, groups) == KEPT
            assert distance(found, answers) == distance(tables, answers)


def test_that_answers_far_from_the_total_are_fitted_exactly():
    random = np.random.default_rng(12)
    for reach in (10**3, 10**6, 10**9):
        tree = random_regions(random, 3, most=5)
        answers = [random.integers(-reach, reach, (width, 3)) for width in tree.widths]
        for groups in (0, 1, 200):
            shape = size_tree(tree, 3)
            found = fit_exactly(answers, shape, groups)
            assert consistency_checks_of(found, tree, groups) == KEPT
            assert distance(found, answers) == distance(fit_by_tables(answers, shape, groups), answers)
        vast = fit_exactly(answers, size_tree(tree, 3), LARGEST_ANSWER)
        assert consistency_checks_of(vast, tree, LARGEST_ANSWER) == KEPT


def test_that_without_noise_every_mechanism_returns_the_table():
    random = np.random.default_rng(13)
    tree = random_regions(random, 3, most=5)
    exact, _ = noisy_levels(random, tree, 7)
    groups, shape = int(exact[0].sum()), size_tree(tree, 7)
    cumulative = [np.cumsum(level, axis=1) for level in exact]
    chains = [along_chain(level) for level in exact]
    for found in (
        fit_exactly(exact, shape, groups),
        fit_level_by_level(exact, shape, groups),
        fit_relaxed(exact, shape, groups),
        fit_region_by_region(cumulative, shape, groups),
        fit_relaxed_cumulative_sizes(cumulative, tree, groups),
        fit_chain(chains, tree, 7, groups, [1, 1, 1]),
    ):
        assert all((a == b).all() for a, b in zip(found, exact, strict=True))


def test_that_no_region_always_loses_among_equals():
    tree = tree_of_paths(["a", "b"], [(f"{number}",) for number in range(4)])
    sizes = 200
    answers = [np.full((1, sizes), 10), np.full((4, sizes), 3)]
    leaves = fit_exactly(answers, size_tree(tree, sizes), 11 * sizes)[-1]
    assert leaves.sum(axis=1).max() - leaves.sum(axis=1).min() <= 2
    assert set(leaves.ravel().tolist()) <= {2, 3}


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_that_the_chain_costs_what_brute_force_finds(levels):
    random = np.random.default_rng(20 + levels)
    for trial in range(400):
        tree = random_regions(random, levels)
        sizes = int(random.integers(1, 4))
        weights = [int(weight) for weight in random.integers(1, 4, levels)]
        chains = [random.integers(-3, 14, sizes * width) for width in tree.widths]
        groups = int(random.integers(0, 12))
        found = fit_chain(chains, tree, sizes, groups, weights)
        assert consistency_checks_of(found, tree, groups) == KEPT, trial
        cost = sum(
            weight * int(((along_chain(level) - chain) ** 2).sum())
            for weight, level, chain in zip(weights, found, chains, strict=True)
        )
        assert cost == least_cost_of_chain(chains, weights, tree, sizes, groups), trial


def test_that_algorithm_2_keeps_its_promises_and_leaves_monotone_answers_alone():
    random = np.random.default_rng(30)
    for _ in range(50):
        tree = random_regions(random, 3)
        exact, _ = noisy_levels(random, tree, 5)
        groups, shape = int(exact[0].sum()), size_tree(tree, 5)
        noisy = [np.cumsum(level, axis=1) + random.integers(-9, 10, level.shape) for level in exact]
        assert consistency_checks_of(fit_region_by_region(noisy, shape, groups), tree, groups) == KEPT
        monotone = [np.cumsum(np.abs(differences(level)), axis=1) for level in noisy]
        steps = [differences(level) for level in monotone]
        assert distance(fit_region_by_region(monotone, shape, groups), steps) == distance(
            fit_exactly(steps, shape, groups), steps
        )


def test_that_topdown_gives_each_family_the_nearest_values_of_the_same_sum():
    random = np.random.default_rng(31)
    for _ in range(100):
        tree = random_regions(random, 3)
        exact, answers = noisy_levels(random, tree, 3)
        groups = int(exact[0].sum())
        found = fit_level_by_level(answers, size_tree(tree, 3), groups)
        assert consistency_checks_of(found, tree, groups) == KEPT
        for level, first in enumerate(tree.first_child):
            for region, size in np.ndindex(found[level].shape):
                family = slice(first[region], first[region + 1])
                given, value = answers[level + 1][family, size], int(found[level][region, size])
                alone = tree_of_paths(["a"], [()])
                best = least_cost_of_tree([given[None]], alone, value)
                assert ((found[level + 1][family, size] - given) ** 2).sum() == best


def test_that_the_relaxed_tree_satisfies_the_conditions_of_its_minimum():
    from phexplore.simulate.group_sizes.relaxed_kernel import fit_relaxed_tree

    random = np.random.default_rng(32)
    for levels in (1, 2, 3, 4):
        for _ in range(100):
            tree = random_regions(random, levels)
            exact, answers = noisy_levels(random, tree, 4, spread=20)
            groups, shape = int(exact[0].sum()), size_tree(tree, 4)
            given, out = shape.flattened(answers, np.float64), np.empty(int(shape.first[-1]))
            fit_relaxed_tree(given, shape.first, float(groups), out)
            inner = len(shape.first) - 1
            for node in range(inner):
                assert out[shape.first[node] : shape.first[node + 1]].sum() == pytest.approx(out[node], abs=1e-7)
            # The gradient of one more leaf is the sum of 2 (x − a) on its way up: equal for all positive leaves, not less elsewhere.
            gradient = np.zeros(len(out))
            for node in range(inner):
                for child in range(shape.first[node], shape.first[node + 1]):
                    gradient[child] = gradient[node] + 2 * (out[child] - given[child])
            leaves, slopes = out[inner:], gradient[inner:]
            assert (leaves >= 0).all()
            if (leaves > 1e-9).any():
                price = slopes[leaves > 1e-9]
                assert np.ptp(price) < 1e-6
                assert (slopes >= price.min() - 1e-6).all()


def test_that_the_relaxed_cumulative_program_reaches_the_minimum():
    from scipy.optimize import minimize

    from phexplore.simulate.group_sizes.relaxed_kernel import fit_relaxed_cumulative

    random = np.random.default_rng(33)
    for _ in range(15):
        tree, sizes = random_regions(random, 3, most=2), 3
        exact, _ = noisy_levels(random, tree, sizes)
        groups = int(exact[0].sum())
        given = np.concatenate([np.cumsum(e, axis=1) + random.integers(-9, 10, e.shape) for e in exact]).astype(float)
        out = np.empty_like(given)
        steps, apart = fit_relaxed_cumulative(given, region_nodes(tree), float(groups), 2.0, 1e-9, 100_000, out)
        assert apart <= 1e-9 < steps

        def cost(leaves, tree=tree, given=given, sizes=sizes):
            cumulative = np.cumsum(leaves.reshape(-1, sizes), axis=1)
            return ((np.concatenate(tree.sums(cumulative)) - given) ** 2).sum()

        start = np.full(tree.leaves * sizes, groups / (tree.leaves * sizes))
        best = minimize(
            cost,
            start,
            method="SLSQP",
            bounds=[(0, None)] * len(start),
            constraints={"type": "eq", "fun": lambda leaves, groups=groups: leaves.sum() - groups},
            options={"maxiter": 500, "ftol": 1e-12},
        )
        assert ((out - given) ** 2).sum() == pytest.approx(best.fun, rel=1e-5, abs=1e-5)


def test_that_relaxed_outputs_are_never_negative_and_may_break_sums():
    random = np.random.default_rng(34)
    broken = 0
    for _ in range(40):
        tree = random_regions(random, 3)
        exact, answers = noisy_levels(random, tree, 6)
        groups = int(exact[0].sum())
        cumulative = [np.cumsum(level, axis=1) + random.integers(-9, 10, level.shape) for level in exact]
        for found in (
            fit_relaxed(answers, size_tree(tree, 6), groups),
            fit_relaxed_cumulative_sizes(cumulative, tree, groups),
        ):
            promises = consistency_checks_of(found, tree, groups)
            assert promises.validity == 0
            broken += promises.consistency
    assert broken > 0
    assert TOLERANCE < 0.5


def test_that_answers_beyond_exact_arithmetic_are_refused():
    tree = tree_of_paths(["a"], [()])
    with pytest.raises(ValueError, match="at most"):
        fit_exactly([np.array([[2 * LARGEST_ANSWER]])], size_tree(tree, 1), 1)
    with pytest.raises(ValueError, match="too long"):
        fit_chain([np.array([1])], tree, 1, LARGEST_ANSWER, [1 << 25])
