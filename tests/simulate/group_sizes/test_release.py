from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from group_size_runs import SMALL, small_table, with_mechanism

from phexplore.model.group_sizes import SizeMechanism
from phexplore.model.phsafe import PrivacyFramework
from phexplore.noise.entropy import SeededEntropy
from phexplore.simulate.group_sizes import release as module
from phexplore.simulate.group_sizes.measuring import (
    along_chain,
    chain_as_published,
    chain_of_noisy_regions,
    differences,
    noisy_cumulative_sizes,
    noisy_sizes,
)
from phexplore.simulate.group_sizes.release import (
    BrokenPromiseError,
    ConsistencyChecks,
    GroupSizeReleaser,
    consistency_checks_of,
)

TABLE = small_table(np.random.default_rng(2))


def releaser(mechanism, **fields):
    return GroupSizeReleaser(TABLE, with_mechanism(mechanism, **fields).method)


@pytest.mark.parametrize("mechanism", SizeMechanism)
def test_that_without_noise_every_mechanism_returns_the_table(mechanism):
    exact = GroupSizeReleaser(TABLE, with_mechanism(mechanism).method, noise=False)
    found = exact.release(SeededEntropy(1))
    assert all((a == b).all() for a, b in zip(found, TABLE.by_level(), strict=True))


def test_that_noise_is_as_wide_as_the_budget_says():
    """Variance of 38,400 answers: the false-alarm rate of 5 standard errors is below 1e-6 each."""
    wide = replace(TABLE, counts=np.zeros((5, 12), np.int64))
    for mechanism, measure in (
        (SizeMechanism.TREE, noisy_sizes),
        (SizeMechanism.CUMULATIVE_TREE, noisy_cumulative_sizes),
    ):
        for framework in PrivacyFramework:
            own = GroupSizeReleaser(wide, with_mechanism(mechanism, framework=framework).method)
            draws = np.concatenate(
                [np.concatenate([level.ravel() for level in measure(own.levels, own.noises, SeededEntropy(3, (t,)))])
                 for t in range(400)]
            ).astype(float)  # fmt: skip
            variance = own.noises[0].noise.variance()
            error = np.sqrt((np.mean(draws**4) - variance**2) / len(draws))
            assert abs(draws.var() - variance) < 5 * error


def test_that_the_chain_of_noisy_regions_costs_what_regions_cost():
    """Added up from noisy regions, the chain's noise is a sum of theirs: nothing new is drawn."""
    own = releaser(SizeMechanism.CHAIN)
    regions = noisy_cumulative_sizes(own.levels, own.noises, SeededEntropy(4))
    chains = chain_of_noisy_regions(own.levels, own.noises, SeededEntropy(4))
    for region, chain in zip(regions, chains, strict=True):
        assert (chain == along_chain(differences(region))).all()
        # Behind the last region of a size the chain is the sum of the regions' cumulative sizes.
        assert (chain.reshape(12, len(region))[:, -1] == region.sum(axis=0)).all()


def test_that_the_published_chain_draws_one_noise_a_place():
    own = releaser(SizeMechanism.CHAIN)
    chains = chain_as_published(own.levels, own.noises, SeededEntropy(4))
    assert [len(chain) for chain in chains] == [12, 24, 60]
    found = own.release_published_chain(SeededEntropy(4))
    assert consistency_checks_of(found, TABLE.tree, TABLE.groups) == ConsistencyChecks(0, 0, 0)


def test_that_promises_are_counted():
    levels = TABLE.by_level()
    levels[2] = levels[2].copy()
    levels[2][0, 0] += 1
    levels[2][4, 3] = -1
    found = consistency_checks_of(levels, TABLE.tree, TABLE.groups)
    assert found == ConsistencyChecks(2, 1, 1)
    assert not found.kept


def test_that_a_broken_promise_stops_the_release(monkeypatch):
    monkeypatch.setattr(module, "fit_exactly", lambda *_: [level + 1 for level in TABLE.by_level()])
    with pytest.raises(BrokenPromiseError, match="breaks its promises"):
        releaser(SizeMechanism.TREE).release(SeededEntropy(1))


def test_that_much_budget_gives_the_exact_counts_back():
    for mechanism in SizeMechanism:
        found = releaser(mechanism, total=Fraction(500)).release(SeededEntropy(6))
        assert all((a == b).all() for a, b in zip(found, TABLE.by_level(), strict=True))


def test_that_errors_shrink_with_the_budget():
    """Mean L1 error over 60 releases at ε and 10 ε; the ratio is near 10, so 3 is passed by chance once in 10⁶ at most."""
    for mechanism in SizeMechanism:
        errors = []
        for total in (Fraction(3, 10), Fraction(3)):
            own = releaser(mechanism, total=total)
            draws = [own.release(SeededEntropy(7, (t,))) for t in range(60)]
            errors.append(np.mean([np.abs(d[-1] - TABLE.counts).sum() for d in draws]))
        assert errors[0] > 1.5 * errors[1], mechanism


def test_that_the_small_scenario_is_what_these_tests_think():
    assert SMALL.method.largest == TABLE.largest == 12
