"""Noise on exact counts: right distribution, right cost, right derived tables."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from phexplore.catalog.tables import sensitivity, table
from phexplore.errors import BudgetMismatchError
from phexplore.model.keys import Region, parse_query
from phexplore.model.numbers import UNLIMITED
from phexplore.model.phsafe import PhSafe, PrivacyFramework
from phexplore.noise.distributions import DiscreteGaussian
from phexplore.noise.entropy import OsEntropy, SeededEntropy
from phexplore.simulate import phsafe_release
from phexplore.simulate.phsafe_count import CountingSpec, tabulate
from phexplore.simulate.phsafe_release import Measurement, PhsafeReleaser, ReleaseMismatchError

SMALL = 1e-7
"""False-alarm rate of each statistical test; the seeds are fixed, so they fail for a reason or never."""


def with_budgets(parameters, budget, framework=PrivacyFramework.ZCDP, tables=None, states=None):
    budgets = {q: budget if tables is None or q.table in tables else Fraction(0) for q in parameters.budgets}
    return replace(parameters, budgets=budgets, framework=framework, states=states or parameters.states)


def tabulated(slow, parameters, seed=1, **options):
    return tabulate([slow.frames(slow.clean_population(seed, **options))], CountingSpec.measured(parameters))


@pytest.fixture(scope="module")
def production(us, slow):
    """A release at the 2020 parameters with all 51 states present."""
    population = slow.clean_population(1)
    population.geo += [
        {"RTYPE": "2", "MAFID": str(700000001 + i), "TABBLKST": s} for i, s in enumerate(us.method.states)
    ]
    tabulation = tabulate([slow.frames(population)], CountingSpec.measured(us.method))
    return tabulation, PhsafeReleaser(tabulation, us.method)


def test_that_production_parameters_measure_46_queries_and_spend_what_they_declare(production, us):
    _, releaser = production
    assert len(releaser.measurements) == 46
    assert sum(m.spends for m in releaser.measurements) == Fraction(1257281, 10**6)
    assert sum(array.size for array in releaser.release(SeededEntropy(1)).counts.values()) == 12688


def test_that_reported_variances_follow_the_formula(production, us):
    """Δ² / 2ρ with Δ = 2τ + 2 or 2; the owners of PH8_num have twice that of PH7 (PHSafe 3.0.0, output validation)."""
    _, releaser = production
    for query, noise in releaser.noise.items():
        product = table(query.table)
        source = table(product.derived_from) if product.derived_from else product
        rho = us.method.budgets[query._replace(table=source.id)]
        delta = sensitivity(source, us.method.thresholds.get(source.id))
        expected = float(Fraction(delta**2) / (2 * rho))
        factors = [2, 1] if query.table == "PH8_num" else [1] * len(noise.variances)
        assert noise.distribution == "Discrete Gaussian"
        assert noise.variances == pytest.approx([factor * expected for factor in factors], rel=1e-12)


def test_that_the_noise_has_the_distribution_of_its_budget(production):
    """All noise of 40 trials by χ² on 20 bins against exp(-x² / 2σ²), σ² from the published formula."""
    tabulation, releaser = production
    for text, delta, rho in (
        ("PH3/state_A-G", 14, 0.662976),
        ("PH1_num/state_*", 22, 0.016371),
        ("PH8_denom/state_A-G", 2, 0.00117),
    ):
        query, sigma2 = parse_query(text), delta**2 / (2 * rho)
        draws = [releaser.release(SeededEntropy(3, (t,))).counts[query] - tabulation.counts[query] for t in range(40)]
        sample = np.array(draws).ravel()
        outcomes = np.arange(-int(12 * sigma2**0.5), int(12 * sigma2**0.5) + 1)
        probability = np.exp(-(outcomes**2) / (2 * sigma2))
        cumulative = np.cumsum(probability) / probability.sum()
        bins = np.minimum((cumulative * 20).astype(int), 19)
        expected = np.bincount(bins, probability / probability.sum(), minlength=20) * len(sample)
        observed = np.bincount(bins[sample - outcomes[0]], minlength=20)
        assert stats.chisquare(observed, expected).pvalue > SMALL


def test_that_derived_tables_copy_and_add_noisy_counts(production):
    _, releaser = production
    counts = releaser.release(SeededEntropy(1)).counts
    for level in ("usa_*", "usa_A-G", "state_H,I"):
        ph4, ph5 = counts[parse_query(f"PH4/{level}")], counts[parse_query(f"PH5_num/{level}")]
        assert (ph4 == ph5).all()
        ph7, ph8 = counts[parse_query(f"PH7/{level}")], counts[parse_query(f"PH8_num/{level}")]
        assert (ph8[..., 0] == ph7[..., 0] + ph7[..., 1]).all()
        assert (ph8[..., 1] == ph7[..., 2]).all()


def test_that_unlimited_budgets_release_the_exact_truncated_counts(us, slow):
    for framework in PrivacyFramework:
        parameters = with_budgets(us.method, UNLIMITED, framework)
        tabulation = tabulated(slow, parameters)
        release = PhsafeReleaser(tabulation, parameters).release(OsEntropy())
        assert list(release.counts) == list(tabulation.counts)
        assert all((release.counts[query] == counts).all() for query, counts in tabulation.counts.items())
        assert {noise.variances[0] for noise in release.noise.values()} == {0.0}
    assert release.noise[parse_query("PH2/usa_*")].distribution == "Two-Sided Geometric"


def test_that_pure_privacy_draws_two_sided_geometric_noise(us, slow):
    parameters = with_budgets(us.method, Fraction(1, 2), PrivacyFramework.PURE_DP, tables={"PH8_denom"})
    tabulation = tabulated(slow, parameters)
    releaser = PhsafeReleaser(tabulation, parameters)
    query = parse_query("PH8_denom/state_A-G")
    ratio = np.exp(-0.25)  # b = Δ / ε = 4
    assert releaser.noise[query].variances[0] == pytest.approx(2 * ratio / (1 - ratio) ** 2)
    draws = [releaser.release(SeededEntropy(7, (t,))).counts[query] - tabulation.counts[query] for t in range(200)]
    sample = np.array(draws).ravel()
    outcomes = np.arange(-12, 13)
    observed = [(sample == x).sum() for x in outcomes]
    probability = (1 - ratio) / (1 + ratio) * ratio ** np.abs(outcomes)
    observed.append(len(sample) - sum(observed))
    expected = np.append(probability, 1 - probability.sum()) * len(sample)
    assert stats.chisquare(observed, expected).pvalue > SMALL


def test_that_a_seed_repeats_a_release_and_the_system_does_not(production):
    _, releaser = production
    first, again = releaser.release(SeededEntropy(1, (4,))), releaser.release(SeededEntropy(1, (4,)))
    other, unseeded = releaser.release(SeededEntropy(1, (5,))), releaser.release(OsEntropy())
    same = [
        all((first.counts[q] == release.counts[q]).all() for q in first.counts) for release in (again, other, unseeded)
    ]
    assert same == [True, False, False]
    assert (first.is_reproducible, unseeded.is_reproducible) == (True, False)


def test_that_a_query_keeps_its_noise_when_others_are_published(production, us, slow):
    """Common random numbers: what a scenario adds does not move the noise of what it keeps."""
    tabulation, releaser = production
    budgets = {q: b if q.table == "PH7" else Fraction(0) for q, b in us.method.budgets.items()}
    alone = replace(us.method, budgets=budgets)
    population = slow.clean_population(1)
    population.geo += [
        {"RTYPE": "2", "MAFID": str(700000001 + i), "TABBLKST": s} for i, s in enumerate(us.method.states)
    ]
    few = tabulate([slow.frames(population)], CountingSpec.measured(alone))
    query = parse_query("PH7/state_A-G")
    noise = PhsafeReleaser(few, alone).release(SeededEntropy(9)).counts[query] - few.counts[query]
    assert (noise == releaser.release(SeededEntropy(9)).counts[query] - tabulation.counts[query]).all()
    assert noise.any()


def test_that_repeated_geography_makes_the_noise_wider(us, slow):
    population = slow.clean_population(1, states=("44",))
    parameters = with_budgets(us.method, Fraction(1, 10), states=("44",))
    unit = next(row for row in population.geo if row["RTYPE"] == "2")
    population.geo.append(dict(unit))
    tabulation = tabulate([slow.frames(population)], CountingSpec.measured(parameters))
    widths = {m.query.table: m.sensitivity for m in PhsafeReleaser(tabulation, parameters).measurements}
    assert (widths["PH1_num"], widths["PH3"], widths["PH1_denom"]) == (42, 26, 4)


def test_that_zero_budgets_have_no_counts_and_derived_tables_follow_their_source(us, slow):
    parameters = with_budgets(us.method, Fraction(1), tables={"PH4"})
    release = PhsafeReleaser(tabulated(slow, parameters), parameters).release(SeededEntropy(1))
    assert {query.table for query in release.counts} == {"PH4", "PH5_num"}
    assert {query.level.region for query in release.counts} == set(Region)


def test_that_exact_production_output_is_not_released(us, slow):
    tabulation = tabulate([slow.frames(slow.clean_population(1))], CountingSpec.exact())
    with pytest.raises(ReleaseMismatchError, match="not truncated"):
        PhsafeReleaser(tabulation, us.method)


def test_that_counts_of_other_thresholds_queries_or_states_are_not_released(us, slow):
    tabulation = tabulated(slow, us.method)
    other = replace(us.method, thresholds={**us.method.thresholds, "PH3": 5})
    with pytest.raises(ReleaseMismatchError, match="PH3 was truncated at 6 persons, but the noise would be for 5"):
        PhsafeReleaser(tabulation, other)
    fewer = replace(us.method, budgets={**us.method.budgets, parse_query("PH3/usa_*"): Fraction(0)})
    with pytest.raises(ReleaseMismatchError, match=r"different queries: PH3/usa_\*"):
        PhsafeReleaser(tabulation, fewer)
    with pytest.raises(ReleaseMismatchError, match="not in the run: 01, 44"):
        PhsafeReleaser(tabulation, replace(us.method, states=("56",)))


def test_that_noise_that_costs_more_than_declared_releases_nothing(production, us, slow, monkeypatch):
    """A wrong scale anywhere between parameters and samples stops the release."""

    def too_narrow(framework, *, sensitivity, budget):
        return DiscreteGaussian(Fraction(sensitivity**2) / (2 * budget) - Fraction(1, 10**6))

    tabulation, _ = production
    monkeypatch.setattr(phsafe_release, "noise_for", too_narrow)
    with pytest.raises(BudgetMismatchError, match="more"):
        PhsafeReleaser(tabulation, us.method)


def test_that_a_release_is_checked_again_when_it_is_drawn(production, us):
    tabulation, _ = production
    releaser = PhsafeReleaser(tabulation, us.method)
    first = releaser.measurements[0]
    releaser.measurements = (replace(first, noise=DiscreteGaussian(Fraction(1))), *releaser.measurements[1:])
    with pytest.raises(BudgetMismatchError):
        releaser.release(SeededEntropy(1))


def test_that_noise_of_unknown_cost_is_refused():
    @dataclass(frozen=True)
    class Strange:
        name: str = "strange"

    with pytest.raises(TypeError, match="Strange"):
        _ = Measurement(parse_query("PH2/usa_*"), Fraction(1), 22, Strange()).spends


def test_that_parameters_are_of_the_model(us):
    assert isinstance(us.method, PhSafe)
