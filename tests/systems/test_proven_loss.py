"""The table of proven ε of the published presets, as computed by hand-written code of another hand, to all printed digits."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

import phexplore as px
from phexplore.accounting.composition import Part
from phexplore.accounting.zcdp import epsilon
from phexplore.accuracy.privacy_loss import HEADLINE_DELTA
from phexplore.accuracy.proven_loss import epsilon_bracket, noise_factor, proven_figures
from phexplore.decide.comparing import Compared, compare, comparison_json
from phexplore.decide.rule_evaluation import judge
from phexplore.decide.verdict_words import verdict_text
from phexplore.figures.table import AtLeast, AtMost, shown
from phexplore.model.conventions import Conversion, Neighbours, Proof
from phexplore.model.rounded import rounded_down, rounded_up
from phexplore.model.rules import Bound, Measure, Outcome, Rule
from phexplore.systems.less_noise import less_noise
from phexplore.systems.phsafe.forecast import is_worst_in_one_cell
from phexplore.systems.protocol import UnsupportedError
from phexplore.systems.proven_figure import proven_figure
from phexplore.systems.registry import forecast, preset, presets
from phexplore.systems.topdown.figures import semantics_figure
from phexplore.systems.topdown.forecast import forecast_topdown
from phexplore.systems.topdown.proven_loss import (
    attributes,
    attributes_of_own,
    block_within,
    halves_of,
    possible_halves,
)
from phexplore.systems.topdown.shared import joint_with_partner, proven_joint
from phexplore.systems.topdown.tables import semantics_tables

BOUNDED, UNBOUNDED = Neighbours.BOUNDED, Neighbours.UNBOUNDED
TABLE = [
    ("pl94-2020-persons-us", BOUNDED, 16.4651549, 16.4651559, 130),
    ("pl94-2020-persons-pr", BOUNDED, 16.4651549, 16.4651559, 108),
    ("pl94-2020-units-us", BOUNDED, 2.3632026, 2.3632036, 12),
    ("pl94-2020-units-pr", BOUNDED, 2.3632026, 2.3632036, 10),
    ("dhc-2020-persons-us", BOUNDED, 24.4564935, 24.4564945, 160),
    ("dhc-2020-persons-pr", BOUNDED, 24.4564935, 24.4564945, 140),
    ("dhc-2020-units-us", BOUNDED, 32.0719845, 32.0719855, 160),
    ("dhc-2020-units-pr", BOUNDED, 32.0719845, 32.0719855, 140),
    ("sdhc-2020-us", UNBOUNDED, 10.9438492, 10.9438503, 46),
    ("sdhc-2020-us", BOUNDED, 16.3075410, 16.3075420, 92),
    ("sdhc-2020-pr", UNBOUNDED, 10.7920541, 10.7920551, 23),
]
ZCDP = [
    name
    for name, known in presets().items()
    if any(
        each.rho is not None and each.conversion is Conversion.BUN_STEINKE for each in forecast(known.scenario).epsilons
    )
]


@pytest.mark.parametrize(("name", "neighbours", "low", "high", "answers"), TABLE)
def test_the_table_of_proven_losses(name, neighbours, low, high, answers):
    known = forecast(preset(name).scenario)
    assert sum(part.copies for part in known.noise[neighbours]) == answers
    (found,) = (
        each for each in known.stated() if each.conversion is Proof.DISCRETE_GAUSSIAN and each.neighbours is neighbours
    )
    assert (round(found.low, 7), round(found.value, 7)) == (low, high)
    assert found.value - found.low <= 1.1e-6


@pytest.mark.parametrize("name", ZCDP)
def test_that_every_zcdp_preset_has_a_proven_loss_below_its_published_bound(name):
    known = forecast(preset(name).scenario)
    stated = known.stated()
    proven = [each for each in stated if each.conversion is Proof.DISCRETE_GAUSSIAN]
    assert proven
    for each in proven:
        bound = next(
            other.value
            for other in stated
            if (other.conversion, other.neighbours, other.delta)
            == (Conversion.ZCDP_OPTIMAL_ALPHA, each.neighbours, each.delta)
        )
        assert 0 < each.low < each.value < bound


def test_that_pure_dp_stays_as_it_is():
    known = forecast(preset("ddp-2019-persons-us").scenario)
    assert known.noise == {}
    assert known.stated() == known.epsilons


def test_parts_of_the_redistricting_release():
    scenario = preset("pl94-2020-persons-us").scenario
    method, figures = scenario.topdown, forecast_topdown(scenario.topdown, scenario.conventions)
    within = block_within(method, figures)
    assert [round(within[level][1], 5) for level in method.levels[:-1]] == [
        16.21939,
        12.52424,
        11.22403,
        8.98859,
        2.79500,
    ]
    alone = attributes(method, figures)
    assert [round(alone[name][0], 5) for name in ("hhgq", "votingage", "hispanic", "cenrace")] == [
        6.93696,
        7.24534,
        9.62182,
        9.66563,
    ]
    low, high = proven_joint(scenario, joint_with_partner(scenario))
    assert (round(low, 7), round(high, 7)) == (16.7463455, 16.7463465)


@pytest.mark.parametrize("place", ["us", "pr"])
def test_that_the_counts_of_units_tell_the_tenure_of_households(place):
    """Every query of the release tells tenure, that of units too, so nothing less than ε of the whole is proven of it."""
    scenario = preset(f"dhc-2020-units-{place}").scenario
    figures = forecast_topdown(scenario.topdown, scenario.conventions)
    alone = attributes(scenario.topdown, figures)
    stated = next(loss for loss in figures.attributes if loss.name == "hhtenshort_3lev")
    of_units = sum(entry.budget for entry in figures.entries if entry.key.query == "tenvacgq")
    assert stated.rho + of_units == scenario.topdown.total
    (whole,) = (each for each in forecast(scenario).stated() if each.conversion is Proof.DISCRETE_GAUSSIAN)
    assert alone["hhtenshort_3lev"] == (whole.low, whole.value)
    assert all(alone[loss.name][1] < loss.epsilon for loss in figures.attributes if loss is not stated)
    assert list(attributes_of_own(scenario.topdown, figures)) == ["hhtenshort_3lev"]
    assert attributes_of_own(scenario.topdown, figures)["hhtenshort_3lev"][1] < stated.epsilon


def test_that_bypassing_changes_epsilon_though_not_rho():
    scenario = preset("pl94-2020-persons-us").scenario
    halves = possible_halves(scenario.topdown)
    assert len(halves) == 16
    (found,) = (each for each in forecast(scenario).stated() if each.bypass_high is not None)
    assert found.bypass_high == pytest.approx(16.467752, abs=2e-6)
    assert found.value < found.bypass_high
    standard = replace(scenario.topdown, spine=replace(scenario.topdown.spine, kind="standard", settings=()))
    assert possible_halves(standard) == ()


def test_that_a_total_at_the_root_does_not_count():
    scenario = preset("pl94-2020-persons-us").scenario
    method = scenario.topdown
    root = method.levels[0]
    first = next(key for key in method.query_shares if key.level == root)
    lone = first._replace(query="total")
    share = method.query_shares[first]
    shares = {**method.query_shares, first: share / 2, lone: share / 2}
    changed = replace(scenario, method=replace(method, query_shares=shares))
    before, after = (forecast(each).noise[BOUNDED] for each in (scenario, changed))
    assert len(before) == len(after)
    assert halves_of(changed.topdown, [dict(method.level_shares)])[0][0].variance == after[0].variance


@pytest.mark.parametrize(
    ("names", "target", "percent"),
    [
        (["pl94-2020-persons-us"], Fraction(17849145, 1041158), 6.65),
        (["pl94-2020-units-us"], Fraction(1455307, 588081), 8.35),
        (["pl94-2020-persons-us", "pl94-2020-units-us"], Fraction("17.4351"), 6.63),
    ],
)
def test_how_much_less_noise_the_published_epsilon_pays_for(names, target, percent):
    parts = [part for name in names for part in forecast(preset(name).scenario).noise[BOUNDED]]
    factor, found = noise_factor(parts, target, Fraction(1, 10**10))
    assert 100 * (1 - 1 / float(factor)) == pytest.approx(percent, abs=0.006)
    assert found.high <= target


def test_that_the_same_epsilon_buys_narrower_margins():
    start = preset("pl94-2020-persons-us").scenario
    found = less_noise(start)
    before, after = forecast(start), forecast(found.scenario)
    (stated,) = (each for each in after.stated() if each.low is not None)
    assert max(after.proven(), stated.bypass_high) == found.proven <= before.loss.epsilon_at(HEADLINE_DELTA)
    assert 100 * found.variance_saved == pytest.approx(6.65, abs=0.006)
    assert found.scenario.topdown.query_shares == start.topdown.query_shares
    assert (
        found.scenario.name
        == f"Same converted ε ({rounded_up(before.loss.epsilon_at(HEADLINE_DELTA), 2)}), narrower margins"
    )
    assert "published" not in found.scenario.note
    assert rounded_up(found.converted, 6) in found.scenario.note
    for old, new in zip(before.entries, after.entries, strict=True):
        if old.margins is not None:
            assert new.margins.normal / old.margins.normal == pytest.approx(float(found.factor) ** -0.5, rel=1e-5)
    loose = less_noise(start, Conversion.BUN_STEINKE)
    assert loose.factor > found.factor
    with pytest.raises(UnsupportedError):
        less_noise(preset("ddp-2019-persons-us").scenario)


def test_that_all_budgets_of_the_household_tables_grow_together():
    start = preset("sdhc-2020-us").scenario
    found = less_noise(start)
    assert 100 * found.variance_saved == pytest.approx(6.66, abs=0.006)
    assert forecast(found.scenario).proven() <= found.converted
    locked = replace(start, method=replace(start.phsafe, locks=frozenset(list(start.phsafe.budgets)[:1])))
    with pytest.raises(UnsupportedError, match="locked"):
        less_noise(locked)


def test_that_the_picture_holds_the_bracket():
    known = forecast(preset("pl94-2020-units-us").scenario)
    figure = proven_figure(known, HEADLINE_DELTA)
    row = next(row for row in figure.table.rows if row[0] == "1e-10")
    assert (round(row[1], 7), round(row[2], 7)) == (2.3632026, 2.3632036)
    assert row[4] == pytest.approx(row[3] - row[2])
    assert "at most 0.000001" in figure.summary  # no 1.0e-06
    assert figure.marks[0].text in figure.title  # one name for one line
    assert len(figure.table.rows) == 11
    assert len(proven_figure(known, Fraction(1, 3 * 10**7)).table.rows) == 12
    assert proven_figure(forecast(preset("ddp-2019-persons-us").scenario), HEADLINE_DELTA).marks == ()


@pytest.mark.parametrize("budget", [Fraction(8), Fraction(50)])
def test_that_household_tables_with_little_noise_have_a_sandwich(budget):
    """Below: everything in one cell, which is possible. Above: never more than any noise of that ρ spends."""
    start = preset("sdhc-2020-us").scenario
    query = next(each for each in start.phsafe.budgets if each.text == "PH3/state_A-G")
    loud = replace(start, method=replace(start.phsafe, budgets={**start.phsafe.budgets, query: budget}))
    figures = forecast(loud)
    found = next(figure for figure in figures.stated() if figure.low is not None)
    parts = [part._replace(doubt=Fraction(0)) for part in figures.noise[Neighbours.BOUNDED]]
    one_cell = epsilon_bracket(parts, HEADLINE_DELTA)
    published = next(f.value for f in figures.epsilons if f.conversion is Conversion.ZCDP_OPTIMAL_ALPHA)
    assert one_cell.low == found.low < one_cell.high < found.value <= published


@pytest.mark.parametrize("variance", [Fraction(7, 2), Fraction(8)])
def test_that_every_split_of_a_shift_lies_below_the_sandwich(variance):
    """All splits of 12 over cells, the worst of which is not one cell here."""
    found = epsilon_bracket([Part(variance, 12, 1, Fraction(3))], HEADLINE_DELTA)
    for split in splits(12, 12):
        assert epsilon_bracket([Part(variance, each, 1) for each in split], HEADLINE_DELTA).low <= found.high
    assert epsilon_bracket([Part(variance, 12, 1)], HEADLINE_DELTA).high >= found.low
    assert found.high <= epsilon(Fraction(144) / (2 * variance), HEADLINE_DELTA, Conversion.ZCDP_OPTIMAL_ALPHA)


def splits(whole, largest):
    """Yield all ways to write a whole number as a sum of positive ones."""
    if whole == 0:
        yield ()
    for first in range(min(whole, largest), 0, -1):
        for rest in splits(whole - first, first):
            yield (first, *rest)


def test_the_sandwich_of_any_split_around_the_published_household_tables():
    """The figures of docs/proven_epsilon.md: Gaussians whose variances are 3/2 more and less than those of the noise."""
    parts = forecast(preset("sdhc-2020-us").scenario).noise[Neighbours.UNBOUNDED]
    ends = [
        epsilon(
            sum(part.shift**2 / (2 * (part.variance + more)) for part in parts),
            HEADLINE_DELTA,
            Conversion.GAUSSIAN_CONTINUOUS,
        )
        for more in (Fraction(3, 2), -Fraction(3, 2))
    ]
    assert [round(end, 3) for end in ends] == [10.909, 10.979]


@pytest.mark.parametrize(
    ("sensitivity", "holds", "fails"), [(2, Fraction(5), Fraction(4)), (22, Fraction(36), Fraction(33))]
)
def test_where_one_cell_is_the_worst_split(sensitivity, holds, fails):
    """Against the curve itself: the next worst split stays below where the condition holds."""
    assert is_worst_in_one_cell(sensitivity, holds)
    assert not is_worst_in_one_cell(sensitivity, fails)
    whole = epsilon_bracket([Part(holds, sensitivity, 1)], HEADLINE_DELTA)
    parts = [Part(holds, sensitivity - 1, 1), Part(holds, 1, 1)] if sensitivity > 2 else [Part(holds, 1, 2)]
    assert epsilon_bracket(parts, HEADLINE_DELTA).low < whole.high


def test_that_rules_and_comparisons_ask_for_the_proven_epsilon():
    start = preset("pl94-2020-persons-us").scenario
    rule = Rule(Measure.PROVEN, Bound.AT_MOST, Fraction("16.5"))
    assert [verdict.outcome for verdict in judge((rule,), start, None)] == [Outcome.PASS]
    pure = preset("ddp-2019-persons-us").scenario
    assert [verdict.outcome for verdict in judge((rule,), pure, None)] == [Outcome.NOT_JUDGED]
    found = compare([Compared("a", start), Compared("b", less_noise(start).scenario)])
    assert found.proven[0] == pytest.approx(16.467752, abs=1e-6)
    assert comparison_json(found)["columns"][1]["epsilon_proven"] == found.proven[1]


def test_that_a_printed_bound_is_never_less_than_the_number():
    assert rounded_up(16.4651559, 4) == "16.4652"
    assert rounded_up(16.4651, 4) in {"16.4651", "16.4652"}
    assert Fraction(rounded_up(2.0000001, 6)) >= Fraction(2.0000001)
    assert rounded_up(0.0, 2) == "0.00"
    assert (rounded_down(16.4651549, 4), rounded_down(16.4651999, 4)) == ("16.4651", "16.4651")


def test_that_a_rule_judges_the_largest_epsilon_of_all_paths():
    start = preset("pl94-2020-persons-us").scenario
    known = forecast(start)
    (stated,) = (each for each in known.stated() if each.low is not None)
    assert stated.value < stated.bypass_high == known.proven()
    between = Fraction("16.466")
    assert stated.value < between < stated.bypass_high
    (verdict,) = judge((Rule(Measure.PROVEN, Bound.AT_MOST, between),), start, None)
    assert verdict.outcome is Outcome.FAIL


def test_that_tables_and_verdicts_round_a_bound_away_from_what_is_proven():
    start = preset("pl94-2020-persons-us").scenario
    known = forecast(start)
    row = next(row for row in proven_figure(known, HEADLINE_DELTA).table.rows if row[0] == "1e-10")
    assert (shown(row[1]), shown(row[2])) == ("16.465", "16.466")
    assert (shown(AtMost(2.3632)), shown(AtLeast(2.36321))) == ("2.3632", "2.3632")
    rows = semantics_figure(forecast_topdown(start.topdown, start.conventions), None, known.proven_parts()).table.rows
    parts = [row[4] for row in rows if row[4] is not None]
    assert all(Fraction(shown(each)) >= Fraction(each) for each in parts)
    assert not all(Fraction(shown(float(each))) >= Fraction(each) for each in parts)
    (verdict,) = judge((Rule(Measure.PROVEN, Bound.AT_MOST, Fraction("16.4651")),), start, None)
    assert verdict_text(verdict) == "✗ ε 16.468, 0.0026517 over"


def test_that_nothing_is_added_where_there_is_no_noise():
    known = forecast(preset("sdhc-2020-us").scenario)
    assert proven_figures(known.epsilons, {}) == known.epsilons
    rho = known.epsilons[0].rho
    assert epsilon(rho, Fraction(1, 10**10), Conversion.BUN_STEINKE) == known.epsilons[0].value


def test_that_reports_and_pictures_set_the_proven_epsilon_beside_every_part():
    scenario = preset("pl94-2020-persons-us").scenario
    known = forecast_topdown(scenario.topdown, scenario.conventions)
    parts = forecast(scenario).proven_parts()
    tables = semantics_tables(scenario.topdown, known)
    printed = [row[-1].text for table in tables for row in table.rows]
    assert printed == [f"≤ {rounded_up(parts[each.name][1], 4)}" for each in (*known.attributes, *known.block_within)]
    shown = {row[1]: row[4] for row in semantics_figure(known, None, parts).table.rows}
    assert shown["hhgq"] == parts["hhgq"][1]
    assert {row[4] for row in semantics_figure(known).table.rows} == {None}
    pure = preset("ddp-2019-persons-us").scenario
    assert forecast(pure).proven_parts() == {}


def test_that_python_has_the_bracket_beside_the_conversions():
    frame = px.forecast("pl94-2020-persons-us").privacy.set_index("conversion")
    row = frame.loc["discrete-gaussian-exact"]
    assert row.low < row.epsilon < row.bypass_high < frame.epsilon["zcdp-optimal-alpha"]
    assert frame.low.drop("discrete-gaussian-exact").isna().all()
