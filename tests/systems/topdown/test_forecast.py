from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore.model.conventions import Conventions, Conversion
from phexplore.model.edits import set_field
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.topdown import LevelQuery
from phexplore.systems.registry import preset
from phexplore.systems.topdown import forecast as topdown_forecast
from phexplore.systems.topdown.edits import set_level_share, set_query_share
from phexplore.systems.topdown.forecast import forecast_topdown, joint_release, query_of
from phexplore.systems.topdown.presets import topdown_presets

CERTIFICATES = {
    "pl94-2020-persons-us": (17.1435507, [2.93, 9.38, 11.70, 13.05, 16.89], [7.24, 7.57, 10.04, 10.08]),
    "pl94-2020-units-us": (2.4746711, [0.82, 1.81, 2.35, 2.46, 2.47], [2.47]),
    "pl94-2020-persons-pr": (17.1435507, [2.93, 11.18, 13.51, 15.41], [8.69, 9.49, 11.65, 11.69]),
    "pl94-2020-units-pr": (2.4746711, [0.82, 1.81, 2.35, 2.47], [2.47]),
}
"""Signed certificates of June 2021: ε at δ = 1e-10, block within (narrowest first), per attribute."""


def figures(preset_id):
    return forecast_topdown(topdown_presets()[preset_id].scenario.method, Conventions())


@pytest.mark.parametrize("preset_id", CERTIFICATES)
def test_that_the_signed_certificates_are_reproduced(preset_id):
    epsilon, within, attributes = CERTIFICATES[preset_id]
    found = figures(preset_id)
    value = next(e.value for e in found.epsilons if e.conversion is Conversion.ZCDP_OPTIMAL_ALPHA)
    assert value == pytest.approx(epsilon, abs=5e-8)
    assert [round(loss.epsilon, 2) for loss in found.block_within] == within
    assert [round(loss.epsilon, 2) for loss in found.attributes] == attributes


@pytest.mark.parametrize("preset_id", topdown_presets())
def test_that_every_share_column_adds_to_exactly_one(preset_id):
    method = topdown_presets()[preset_id].scenario.method
    assert sum(method.level_shares.values()) == 1
    for level in method.levels:
        assert sum(share for key, share in method.query_shares.items() if key.level == level) == 1
    found = figures(preset_id)
    assert sum(entry.budget for entry in found.entries) == method.total
    assert sum(entry.share_of_total for entry in found.entries) == 1


def test_that_noise_of_a_query_is_exact():
    found = {entry.key: entry for entry in figures("pl94-2020-persons-us").entries}
    total = found[LevelQuery("State", "total")]
    assert total.sigma2 == Fraction(214437516707, 177339451520)
    detailed = found[LevelQuery("US", "detailed")]
    assert (detailed.cells, detailed.budget) == (2016, Fraction(641580576, 12613971571))
    assert detailed.margins.exact == 7


def test_that_pure_privacy_uses_geometric_noise_with_sensitivity_two():
    found = figures("ddp-2019-persons-us")
    assert found.framework is PrivacyFramework.PURE_DP
    entry = next(e for e in found.entries if e.key == LevelQuery("Nation", "hhgq"))
    assert entry.budget == Fraction(4, 25)
    assert float(entry.noise.scale) == 12.5
    assert entry.sigma2 is None


def test_that_persons_and_units_are_one_release():
    entries = topdown_presets()
    persons = entries["pl94-2020-persons-us"]
    joint = joint_release(persons.scenario.method, persons.partner, entries[persons.partner].scenario.method)
    assert float(joint.rho) == pytest.approx(2.6311692, abs=5e-8)
    assert joint.epsilon == pytest.approx(17.435, abs=5e-4)
    assert joint.sum_of_epsilons == pytest.approx(19.618, abs=5e-4)


@pytest.mark.parametrize(("name", "printed"), [("high", 11.124), ("low", 4.358)])
def test_that_april_2021_follows_from_the_exact_budgets(name, printed):
    from phexplore.accounting.zcdp import epsilon

    entries = topdown_presets()
    rho = sum(entries[f"ppmf-2021-04-{name}-{part}-us"].scenario.method.total for part in ("persons", "units"))
    assert epsilon(rho, Fraction(1, 10**10), Conversion.BUN_STEINKE) == pytest.approx(printed, abs=5e-4)


def test_that_queries_are_found_in_any_order_of_their_factors():
    assert query_of("pl94_persons", "hispanic * cenrace") == query_of("pl94_persons", "cenrace*hispanic")


def test_that_an_edit_of_one_share_leaves_the_others_as_they_were():
    method = topdown_presets()["pl94-2020-persons-us"].scenario.method
    before, after = forecast_topdown(method, Conventions()), forecast_topdown(method, Conventions())
    assert all(a.margins is b.margins for a, b in zip(before.entries, after.entries, strict=True))


def test_that_figures_taken_over_from_the_last_edit_equal_fresh_ones():
    scenario = preset("pl94-2020-persons-us").scenario
    rng = random.Random(5)
    for _ in range(60):
        method = scenario.topdown
        match rng.randrange(4):
            case 0:
                key = rng.choice(list(method.query_shares))
                scenario = set_query_share(scenario, key, Fraction(rng.randrange(1, 900), 1000))
            case 1:
                scenario = set_level_share(scenario, rng.choice(method.levels), Fraction(rng.randrange(1, 900), 1000))
            case 2:
                scenario = set_field(scenario, "total", Fraction(rng.randrange(1, 90), 7))
            case _:
                step = rng.choice([Fraction(9, 10), Fraction(19, 20)])
                scenario = set_field(scenario, "conventions", replace(scenario.conventions, confidence=step))
        found = forecast_topdown(scenario.topdown, scenario.conventions)
        topdown_forecast._RECENT.clear()
        assert found == forecast_topdown(scenario.topdown, scenario.conventions)
