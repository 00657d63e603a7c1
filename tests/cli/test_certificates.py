"""Every figure of the certificates and papers, out of ``phexplore forecast --json`` as a user gets it (issue: analytics before any run)."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from phexplore.cli.app import run

US_PERSONS, US_UNITS, PR_PERSONS, PR_UNITS = (
    f"pl94-2020-{part}-{area}" for area in ("us", "pr") for part in ("persons", "units")
)


def forecast(capsys, preset_id):
    assert run(["forecast", preset_id, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def epsilon_of(found, conversion="zcdp-optimal-alpha"):
    (entry,) = [e for e in found["privacy"]["epsilon"] if (e["conversion"], e["delta"]) == (conversion, 1e-10)]
    return entry["value"]


@pytest.mark.parametrize(
    ("preset_id", "value"),
    [(US_PERSONS, 17.1435507), (PR_PERSONS, 17.1435507), (US_UNITS, 2.4746711), (PR_UNITS, 2.4746711)],
)
def test_that_epsilon_is_the_certificate_s(capsys, preset_id, value):
    assert epsilon_of(forecast(capsys, preset_id)) == pytest.approx(value, abs=5e-8)


@pytest.mark.parametrize(
    ("preset_id", "within"),
    [
        (
            US_PERSONS,
            {"Block_Group": 2.93, "Tract": 9.38, "County": 11.70, "State": 13.05, "US": 16.89},
        ),
        (PR_PERSONS, {"Block_Group": 2.93, "Tract": 11.18, "County": 13.51, "State": 15.41}),
        (US_UNITS, {"Block_Group": 0.82, "Tract": 1.81, "County": 2.35, "State": 2.46, "US": 2.47}),
        (PR_UNITS, {"Block_Group": 0.82, "Tract": 1.81, "County": 2.35, "State": 2.47}),
    ],
)
def test_that_a_block_within_a_unit_loses_what_the_certificate_says(capsys, preset_id, within):
    found = forecast(capsys, preset_id)["privacy"]["block_within"]
    assert {entry["level"]: round(entry["epsilon"], 2) for entry in found} == within


@pytest.mark.parametrize(
    ("preset_id", "attributes"),
    [
        (US_PERSONS, {"hhgq": 7.24, "votingage": 7.57, "hispanic": 10.04, "cenrace": 10.08}),
        (PR_PERSONS, {"hhgq": 8.69, "votingage": 9.49, "hispanic": 11.65, "cenrace": 11.69}),
    ],
)
def test_that_an_attribute_alone_loses_what_the_certificate_says(capsys, preset_id, attributes):
    found = forecast(capsys, preset_id)["privacy"]["attributes"]
    assert {entry["attribute"]: round(entry["epsilon"], 2) for entry in found} == attributes


def test_that_persons_and_units_are_one_release(capsys):
    joint = forecast(capsys, US_PERSONS)["privacy"]["joint_release"]
    assert round(float(Fraction(joint["rho"])), 7) == 2.6311692
    assert round(joint["epsilon"], 3) == 17.435
    assert round(joint["sum_of_epsilons"], 3) == 19.618


@pytest.mark.parametrize(("budget", "value", "printed"), [("high", 11.124, "11.14"), ("low", 4.358, "4.36")])
def test_that_april_2021_follows_from_exact_budgets_and_its_print_is_an_erratum(capsys, budget, value, printed):
    found = forecast(capsys, f"ppmf-2021-04-{budget}-persons-us")
    assert round(found["privacy"]["joint_release"]["epsilon_bun_steinke"], 3) == value
    assert any(printed in text and str(value) in text for text in found["errata"])


@pytest.mark.parametrize(
    "preset_id",
    [US_PERSONS, US_UNITS, PR_PERSONS, PR_UNITS, "ppmf-2021-04-high-persons-us", "dhc-2020-persons-us"],
)
def test_that_every_share_column_sums_to_exactly_one(capsys, preset_id):
    shares = {}
    for cell in forecast(capsys, preset_id)["cells"]:
        shares.setdefault(cell["level"], []).append(Fraction(cell["share"]))
    assert {level: sum(column) for level, column in shares.items()} == dict.fromkeys(shares, Fraction(1))
