from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore.accounting.group_sizes_noise import LevelNoise, level_noises, noise_of
from phexplore.errors import BudgetMismatchError
from phexplore.model.conventions import Conventions, Neighbours
from phexplore.model.group_sizes import SizeMechanism
from phexplore.model.phsafe import PrivacyFramework
from phexplore.noise.distributions import DiscreteGaussian, NoNoise, TwoSidedGeometric
from phexplore.systems.group_sizes.figures import levels_figure, margins_figure, mechanisms_figure
from phexplore.systems.group_sizes.forecast import forecast_group_sizes, published_chain_total
from phexplore.systems.registry import preset

CENSUS = preset("group-sizes-census-2010").scenario.group_sizes
CONVENTIONS = Conventions()


@pytest.mark.parametrize("framework", PrivacyFramework)
@pytest.mark.parametrize("mechanism", SizeMechanism)
def test_that_the_noise_costs_exactly_what_is_declared(framework, mechanism):
    method = replace(CENSUS, framework=framework, mechanism=mechanism, total=Fraction(7, 13))
    noises = level_noises(method)
    assert sum(noise.spends for noise in noises) == Fraction(7, 13)


def test_that_noise_has_the_scale_of_the_paper_and_of_zcdp():
    direct = replace(CENSUS, mechanism=SizeMechanism.TREE, total=Fraction(1, 10))
    assert level_noises(direct)[0].noise == TwoSidedGeometric(Fraction(60))  # 2 L / ε
    cumulative = replace(direct, mechanism=SizeMechanism.CUMULATIVE_TREE)
    assert level_noises(cumulative)[2].noise == TwoSidedGeometric(Fraction(30))
    concentrated = replace(direct, framework=PrivacyFramework.ZCDP)
    assert level_noises(concentrated)[0].noise == DiscreteGaussian(Fraction(30))  # (√2)² / (2 ρ/3)
    assert noise_of(PrivacyFramework.ZCDP, 1, Fraction(1, 30)) == DiscreteGaussian(Fraction(15))


def test_that_the_privacy_loss_of_neighbouring_tables_is_the_declared_one():
    """The largest log ratio of probabilities, over all outcomes near two neighbouring tables, with noise of two sizes."""
    method = replace(CENSUS, mechanism=SizeMechanism.TREE, total=Fraction(3, 2), largest=2)
    (noise, *_) = (level.noise for level in level_noises(method))
    one, other = (3, 1), (2, 2)
    worst = max(
        sum(noise.log_pmf(out - a) - noise.log_pmf(out - b) for out, a, b in zip(outcome, one, other, strict=True))
        for outcome in itertools.product(range(-5, 10), repeat=2)
    )
    assert worst == pytest.approx(0.5, rel=1e-12)  # ε / L


def test_that_shares_that_do_not_add_up_are_caught():
    wrong = replace(CENSUS, level_shares={"Nation": Fraction(1, 3), "State": Fraction(1, 3), "County": Fraction(1, 4)})
    with pytest.raises(BudgetMismatchError, match=r"less"):
        level_noises(wrong)


def test_that_figures_follow_the_noise():
    figures = forecast_group_sizes(CENSUS, CONVENTIONS)
    nation = figures.levels[0]
    q = math.exp(-1 / 3)
    assert nation.sigma == pytest.approx(math.sqrt(2 * q) / (1 - q))
    assert [level.answers for level in figures.levels] == [1000, 51_000, 3_107_000]
    assert nation.answer_margins.exact == 7
    # A size is the difference of two answers: P(|X − Y| ≤ 10) is the first to reach 90 %.
    pmf = {x: (1 - q) / (1 + q) * q ** abs(x) for x in range(-80, 81)}
    held = {m: sum(pmf[a] * pmf[b] for a in pmf for b in pmf if abs(a - b) <= m) for m in (9, 10)}
    assert held[9] < 0.9 <= held[10]
    assert nation.size_margins.exact == 10


def test_that_epsilon_is_given_at_the_headline_delta_for_individuals_more_or_less():
    pure = forecast_group_sizes(CENSUS, CONVENTIONS)
    assert [(float(each.delta), each.value) for each in pure.epsilons] == [(0.0, 1.0), (1e-10, 1.0)]
    zcdp = forecast_group_sizes(replace(CENSUS, framework=PrivacyFramework.ZCDP), CONVENTIONS)
    assert {each.delta for each in zcdp.epsilons} == {Fraction(1, 10**10)}
    assert len(zcdp.epsilons) == 3
    assert {each.neighbours for each in (*pure.epsilons, *zcdp.epsilons)} == {Neighbours.UNBOUNDED}
    assert "ε = 2" in pure.not_protected[1]
    assert "ρ = 4" in zcdp.not_protected[1]


def test_that_the_papers_chain_is_priced():
    chain = replace(CENSUS, mechanism=SizeMechanism.CHAIN)
    assert published_chain_total(chain) == Fraction(1 + 51 + 3107, 3)
    assert forecast_group_sizes(chain, CONVENTIONS).published_chain_total == 1053
    assert forecast_group_sizes(CENSUS, CONVENTIONS).published_chain_total is None


def test_that_no_noise_has_no_finite_cost():
    with pytest.raises(TypeError, match="no finite cost"):
        _ = LevelNoise("Nation", NoNoise(), 2).spends
    with pytest.raises(ValueError, match="positive"):
        noise_of(PrivacyFramework.ZCDP, 1, Fraction(0))


@pytest.mark.parametrize(
    ("framework", "quantity", "direct", "cumulative"),
    [
        (PrivacyFramework.PURE_DP, 1, 2, math.sqrt(2)),  # scale Δ/ε, Δ = 2; two answers of scale q/ε
        (PrivacyFramework.PURE_DP, 3, 2, 3 * math.sqrt(2)),
        (PrivacyFramework.ZCDP, 3, 1, math.sqrt(3)),  # σ² = Δ²/2ρ with Δ² = 2 and q
    ],
)
def test_that_the_noise_of_both_ways_to_measure_is_told_of_the_right_one(framework, quantity, direct, cumulative):
    """From two individuals on, cumulative sizes have more noise; the title said it of measured ones."""
    scenario = preset("group-sizes-census-2010").scenario
    method = replace(CENSUS, framework=framework, largest_quantity=quantity)
    figure = mechanisms_figure(replace(scenario, method=method))
    words = re.fullmatch(
        r"On .* has σ ([0-9.,]+) where sizes are measured, σ ([0-9.,]+) from cumulative ones", figure.title
    )
    assert words is not None
    first, second = (float(each.replace(",", "")) for each in words.groups())
    assert second / first == pytest.approx(cumulative / direct, rel=0.02)


def test_that_equal_noise_of_both_ways_is_said_once():
    scenario = preset("group-sizes-census-2010").scenario
    figure = mechanisms_figure(replace(scenario, method=replace(CENSUS, framework=PrivacyFramework.ZCDP)))
    assert figure.title.endswith("with every mechanism")
    assert [bar.text.partition(", ")[2] for bar in figure.marks] == ["", "", "", "chosen", "", ""]  # no more has room


def test_that_every_row_has_the_margin_of_the_reference_and_the_picture_says_what_a_stroke_is():
    scenario = preset("group-sizes-census-2010").scenario
    found = forecast_group_sizes(CENSUS, CONVENTIONS)
    then = forecast_group_sizes(replace(CENSUS, total=Fraction(1, 2)), CONVENTIONS)
    figure = margins_figure(scenario, found, then)
    assert [row.tick > row.value for row in figure.marks] == [True] * 6
    sizes = forecast_group_sizes(replace(CENSUS, mechanism=SizeMechanism.TREE), CONVENTIONS)
    assert [row.tick is None for row in margins_figure(scenario, found, sizes).marks] == [True, False] * 3
    pictures = (figure, levels_figure(CENSUS, CENSUS))
    assert all(each.summary.endswith("A stroke is the reference.") for each in pictures)
    assert "stroke" not in margins_figure(scenario, found).summary + levels_figure(CENSUS).summary
