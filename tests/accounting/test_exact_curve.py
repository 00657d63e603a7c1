from __future__ import annotations

import math
import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpc, mpf

from phexplore.accounting import guarded_curve
from phexplore.accounting.composition import Part
from phexplore.accounting.enumerated_curve import EnumeratedCurve
from phexplore.accounting.exact_curve import (
    Bracket,
    delta_bracket,
    epsilon_bracket,
    epsilon_curve,
    largest_of_pairs,
    merged,
    noise_factor,
    rho_of,
)
from phexplore.accounting.gaussian_curve import gaussian_solution
from phexplore.accounting.guarded_curve import CurveError, GuardedCurve, Nodes, Tilt, highest_of_pairs
from phexplore.accounting.zcdp import epsilon
from phexplore.model.conventions import Conversion
from tests.accounting.enumerated_losses import delta_at, losses

DELTA = Fraction(1, 10**10)
F = Fraction


def parts(*of):
    return [Part(1 / F(str(a)), shift, copies) for a, shift, copies in of]


SMALL = [
    parts((0.5, 1, 2)),
    parts((0.827, 1, 2), (0.31, 1, 1)),
    parts((1.7, 1, 2), (0.11, 1, 1)),
    parts((0.05, 3, 1), (0.6, 1, 2)),
    parts((3.0, 1, 1), (0.9, 1, 1), (0.37, 1, 1)),
    parts((0.25, 1, 4)),
]


def continuous(release, logarithm):
    return gaussian_solution(float(rho_of(release)), logarithm).epsilon


def guarded(release, near, logarithm, guard=1e-3):
    nodes = Nodes([merged(release)], Tilt(near, logarithm, guard))
    return GuardedCurve(nodes, [nodes.product(0)], rho_of(release))


def contains(bounds, truth, unit):
    low, high = (mpf(bound) * unit for bound in bounds)
    return low <= truth <= high


@pytest.mark.parametrize("release", SMALL)
@pytest.mark.parametrize("guard", [1e-2, 1e-3])
def test_that_the_guarded_bounds_enclose_the_enumeration(release, guard):
    logarithm = 8 * math.log(10)
    near = continuous(release, logarithm)
    curve, atoms, unit = guarded(release, near, logarithm, guard), losses(release), mpmath.exp(-mpf(logarithm))
    for offset in (-1.3, -0.5, 0.0, 0.77):
        assert contains(curve.bounds(near + offset, logarithm), delta_at(atoms, near + offset), unit)


def test_that_both_ways_enclose_the_enumeration_of_random_releases():
    rnd = random.Random(20201)
    for _ in range(210):
        kinds = rnd.randint(1, 2)
        release = merged(
            Part(F(rnd.randint(5, 250), 100), rnd.choice((1, 1, 2)), rnd.choice((1, 1, 2)) if kinds == 1 else 1)
            for _ in range(kinds)
        )
        logarithm = rnd.uniform(3, 20)
        near = continuous(release, logarithm) * rnd.uniform(0.6, 1.2)
        truth, unit = delta_at(losses(release), near), mpmath.exp(-mpf(logarithm))
        for curve in (guarded(release, near, logarithm), EnumeratedCurve(release, logarithm + 25)):
            low, high = curve.bounds(near, logarithm)
            assert mpf(low) * unit <= truth <= mpf(high) * unit, (release, near)
        assert truth == 0 or high >= low > 0


def test_that_an_epsilon_on_an_atom_is_enclosed_and_that_each_half_of_the_proof_is_needed(monkeypatch):
    release = parts((0.827, 1, 2), (0.31, 1, 1))
    atom = float(F("0.827") / 2 * (1 + 7) + F("0.827") / 2 * (1 + 5) + F("0.31") / 2 * (1 + 6))
    atoms, logarithm = losses(release), 12.0
    unit = mpmath.exp(-mpf(logarithm))
    for guard in (0.02, 1e-3):
        curve = guarded(release, atom, logarithm, guard)
        for near in (atom, atom + 0.02, atom - 0.02):
            assert contains(curve.bounds(near, logarithm), delta_at(atoms, near), unit)
    truth = delta_at(atoms, atom)
    # Planted: the gap of the guard left out.
    curve = guarded(release, atom, logarithm, 0.02)
    curve._gap = 0.0
    assert not contains(curve.bounds(atom, logarithm), truth, unit)
    # Planted: one copy instead of two.
    single = [part._replace(copies=1) for part in release]
    assert not contains(guarded(single, atom, logarithm).bounds(atom, logarithm), truth, unit)
    # Planted: the guard in the height alone, not in the nodes.
    nodes = Nodes([merged(release)], Tilt(atom, logarithm, 0.02))
    nodes.damping = nodes.damping._replace(value=np.ones_like(nodes.damping.value))
    curve = GuardedCurve(nodes, [nodes.product(0)], rho_of(release))
    assert not contains(curve.bounds(atom - 0.01, logarithm), delta_at(atoms, atom - 0.01), unit)
    # Planted: a lattice taken for a continuous Gaussian.
    monkeypatch.setattr(guarded_curve, "_FAR", 1e-3)
    assert not contains(guarded(release, atom, logarithm).bounds(atom, logarithm), truth, unit)


MANY = [Part(F(1, 2) + F(7, 3) * k * k, 1, 2) for k in range(1, 40)]


def resummed(release, nodes, near):
    """The same sum over the same nodes, in forty digits."""
    c, step = mpf(nodes.steps) / 2**20, mpf(nodes.step)
    rho = mpf(nodes.guard) ** 2 / 2
    value = density = mpf(0)
    kinds = []
    for part in merged(release):
        a = mpf(part.variance.denominator) / part.variance.numerator
        rho += a * part.shift**2 / 2 * part.copies
        kinds.append((a, part, 1 + 2 * sum(mpmath.exp(-2 * mpmath.pi**2 * k * k / a) for k in range(1, 12))))
    for node in nodes.t:
        t = step * round(float(node) / nodes.step)
        term = mpmath.exp(-(mpf(nodes.guard) ** 2) / 2 * t * t)
        for a, part, theta in kinds:
            turn = 2 * mpmath.pi / (a * part.shift)
            nearest, several = int(mpmath.nint(-t / turn)), mpc(0)
            for k in range(nearest - 8, nearest + 9):
                several += mpmath.exp(-a * part.shift**2 / 2 * (t + k * turn) ** 2) * mpmath.expjpi(
                    2 * k * part.shift * c
                )
            term *= (several / theta) ** part.copies
        term *= mpmath.expj(t * (rho * (2 * c + 1) - mpf(near))) * (mpf(1) / 2 if t == 0 else 1) * step / mpmath.pi
        density += term.real
        value += (term / ((c + 1j * t) * (c + 1 + 1j * t))).real
    height = mpmath.exp(rho * c * (c + 1) - c * mpf(near))
    return value * height, density * height


@pytest.mark.parametrize(
    "release", [MANY[:15], parts((0.827, 1, 2), (0.31, 1, 1), (0.002, 14, 2)), parts((6, 1, 2), (4.3, 1, 3))]
)
def test_that_the_bound_of_the_rounding_holds_against_forty_digits(release):
    logarithm = math.log(10) * 10
    near = continuous(release, logarithm)
    nodes = Nodes([merged(release)], Tilt(near, logarithm, 2e-3))
    nodes.t, nodes.weight, nodes.kernel = (each[:120] for each in (nodes.t, nodes.weight, nodes.kernel))
    nodes.damping = guarded_curve._Ball(*(each[:120] for each in nodes.damping))
    curve = GuardedCurve(nodes, [nodes.product(0)], rho_of(release))
    nodes.missing = 0.0
    value, _ = resummed(release, nodes, near)
    low, high = curve.bounds(near, logarithm)
    unit = mpmath.exp(-mpf(logarithm))
    assert mpf(low) * unit < value < mpf(high) * unit
    # Without the gap of the guard and the folding both bounds are rounding alone.
    curve._gap = 0.0
    low, high = curve.bounds(near, logarithm)
    claimed, off = (high - low) / 2 / high, abs((mpf(high) + mpf(low)) / 2 * unit / value - 1)
    assert off < claimed < 1e-7


@pytest.mark.parametrize(
    "release",
    [
        MANY,
        parts((0.0003, 1, 2), (0.31, 1, 1)),
        parts((0.002, 14, 2)),
        parts((0.5, 3, 9)),
        parts((1e-7, 2, 3), (4, 1, 2)),
    ],
)
def test_that_every_node_that_counts_is_among_those_evaluated(release):
    logarithm = math.log(10) * 10
    nodes = Nodes([merged(release)], Tilt(continuous(release, logarithm), logarithm, 3e-3))
    all_of_them = nodes.step * np.arange(math.ceil(10 / nodes.guard / nodes.step) + 1)
    sizes = np.abs(nodes.kinds[0].product(all_of_them, nodes.steps).value)
    left_out = np.setdiff1d(all_of_them[sizes > 1e-24], nodes.t)
    assert len(left_out) == 0
    assert sizes[~np.isin(all_of_them, nodes.t)].sum() <= nodes.missing * math.pi / nodes.step


def test_that_the_functions_of_this_machine_are_as_exact_as_the_proof_assumes():
    values = np.random.default_rng(5).uniform(-80, 1, 4000)
    for ours, theirs in ((np.exp, mpmath.exp), (np.expm1, mpmath.expm1)):
        worst = max(
            abs(mpf(float(got)) / theirs(mpf(float(x))) - 1) for got, x in zip(ours(values), values, strict=True)
        )
        assert worst <= guarded_curve._FUNCTION
    angles = np.random.default_rng(6).uniform(-1e4, 1e4, 4000)
    for ours, theirs in ((np.cos, mpmath.cos), (np.sin, mpmath.sin)):
        worst = max(abs(mpf(float(got)) - theirs(mpf(float(x)))) for got, x in zip(ours(angles), angles, strict=True))
        assert worst <= guarded_curve._FUNCTION


def test_that_few_small_variances_are_enumerated_to_many_digits():
    for text, value in (("0.05", 59.950257786), ("0.1", 29.999998349)):
        found = epsilon_bracket([Part(F(text), 1, 2)], DELTA)
        assert found.high - found.low < 1e-6
        assert found.low == pytest.approx(value, abs=1e-6)
        atoms = losses([Part(F(text), 1, 2)])
        assert delta_at(atoms, found.high) <= mpf(10) ** -10 <= delta_at(atoms, found.low)
    three = epsilon_bracket([Part(F(text), 1, 2) for text in ("0.05", "0.1", "0.11")], DELTA)
    assert 0 < three.high - three.low < 1e-6


releases = st.lists(
    st.builds(
        Part, st.fractions(F(1, 2), 500, max_denominator=50), st.integers(1, 5), st.integers(1, 3), st.just(F(0))
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(releases, st.sampled_from([F(1, 10**5), DELTA, F(1, 10**13)]))
def test_that_the_zcdp_bound_is_never_below_the_bracket(release, delta):
    found = epsilon_bracket(release, delta)
    assert found.low <= found.high <= epsilon(rho_of(release), delta, Conversion.ZCDP_OPTIMAL_ALPHA) * (1 + 1e-9)


@settings(max_examples=25, deadline=None)
@given(releases, st.randoms(use_true_random=False))
def test_that_order_and_grouping_do_not_matter_and_that_less_is_never_worse(release, rnd):
    whole = epsilon_bracket(release, DELTA)
    single = [part._replace(copies=1) for part in release for _ in range(part.copies)]
    rnd.shuffle(single)
    other = epsilon_bracket(single, DELTA)
    assert max(whole.low, other.low) <= min(whole.high, other.high)
    assert epsilon_bracket(single[1:], DELTA).low <= whole.high


def test_that_tilts_and_guards_agree():
    logarithm = math.log(10) * 10
    near = continuous(MANY, logarithm)
    ratios = [
        guarded(MANY, near * tilted, logarithm, guard).bounds(near, logarithm)
        for tilted in (0.8, 1.0, 1.2)
        for guard in (1e-2, 1e-3)
    ]
    assert max(low for low, _ in ratios) <= min(high for _, high in ratios)
    widths = [high - low for low, high in ratios]
    assert all(wide > 50 * narrow for wide, narrow in zip(widths[::2], widths[1::2], strict=True))


def test_that_many_answers_come_near_the_continuous_gaussian():
    release = [Part(F(40 + k), 1, 2) for k in range(70)]
    near = continuous(release, math.log(10) * 10)
    found = epsilon_bracket(release, DELTA)
    assert found.low - 1e-8 <= near <= found.high + 1e-8


def test_that_delta_and_epsilon_belong_together():
    found = epsilon_bracket(MANY, DELTA)
    at_high, at_low = (delta_bracket(MANY, F(end)) for end in (found.high, found.low))
    assert at_high.low <= 1e-10 <= at_low.high
    assert at_low.high / at_high.low < 1 + 1e-4
    atoms = losses(SMALL[0])
    for near in (F(1), F(5, 2)):
        small = delta_bracket(SMALL[0], near)
        assert small.low <= delta_at(atoms, mpf(near.numerator) / near.denominator) <= small.high


def test_that_a_curve_falls_and_nothing_costs_nothing():
    curve = epsilon_curve(MANY, [F(1, 10**k) for k in (5, 10, 15)])
    assert curve[0].high < curve[1].low
    assert curve[1].high < curve[2].low
    assert epsilon_bracket([], DELTA) == Bracket(0.0, 0.0)
    assert epsilon_bracket([Part(F(5), 1, 0)], DELTA) == Bracket(0.0, 0.0)
    assert epsilon_bracket([Part(F(10**9), 1, 3)], F(9, 10)) == Bracket(0.0, 0.0)


def test_that_what_the_proof_does_not_cover_falls_back_to_the_bound_of_zcdp():
    release = [Part(F(1, 10**9), 1, 2)]
    delta = F(1, 10**300)
    with pytest.raises(CurveError):
        guarded(release, 1e9, 300 * math.log(10))
    assert epsilon_bracket(release, delta).high == epsilon(rho_of(release), delta, Conversion.ZCDP_OPTIMAL_ALPHA)


def test_that_the_largest_pair_is_the_largest_of_all():
    halves = [
        [Part(1 / (rho * weight), 1, 1) for weight in weights]
        for rho, weights in (
            (F(1, 2), (F(1, 2), F(1, 2))),
            (F(1, 2), (F(9, 10), F(1, 10))),
            (F(1, 2), (F(1, 3), F(2, 3))),
        )
    ]
    pairs = [epsilon_bracket([*one, *other], DELTA) for one in halves for other in halves]
    found = largest_of_pairs(halves, DELTA)
    releases, logarithm = [merged(half) for half in halves], math.log(10) * 10
    nodes = Nodes(releases, Tilt(found.high, logarithm, 1e-3), times=2)
    factors = [nodes.product(place) for place in range(3)]
    heights = highest_of_pairs(nodes, factors, F(1, 2), found.high, logarithm)
    for one in range(3):
        for other in range(3):
            _, high = GuardedCurve(nodes, (factors[one], factors[other]), F(1, 2)).bounds(found.high, logarithm)
            assert high * (1 - 1e-9) <= heights[one, other] <= high * (1 + 1e-7)
        listed = losses(merged([*halves[one], *halves[one]]))  # pairs of two different ones have millions of outcomes
        assert delta_at(listed, found.high) <= mpf(float(heights[one, one])) * mpmath.exp(-mpf(logarithm))
    assert found.low == pytest.approx(max(each.low for each in pairs), abs=2e-6)
    assert found.high >= max(each.low for each in pairs)
    with pytest.raises(ValueError, match="one ρ"):
        largest_of_pairs([halves[0], [Part(F(1), 1, 1)]], DELTA)


def test_that_a_factor_is_certified_and_cannot_be_much_larger():
    target = F(str(round(epsilon(rho_of(MANY), DELTA, Conversion.ZCDP_OPTIMAL_ALPHA), 4)))
    factor, found = noise_factor(MANY, target, DELTA)
    assert factor > 1
    scaled = [part._replace(variance=part.variance / factor) for part in MANY]
    assert epsilon_bracket(scaled, DELTA) == found
    assert found.high <= target
    more = [part._replace(variance=part.variance / (factor * F("1.00001"))) for part in MANY]
    assert epsilon_bracket(more, DELTA).high > target


@pytest.mark.parametrize("part", [Part(F(0), 1, 1), Part(F(1), 0, 1), Part(F(1), 1, -1)])
def test_that_an_impossible_answer_is_refused(part):
    with pytest.raises(ValueError, match="positive variance"):
        epsilon_bracket([part], DELTA)
    with pytest.raises(ValueError, match="at least 0"):
        delta_bracket(SMALL[0], F(-1))


def test_that_the_peer_agrees():
    peer = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    release = [Part(F(20 + 15 * k), 1, 2) for k in range(10)]
    pessimistic = optimistic = None
    for part in release:
        deviation = math.sqrt(part.variance)
        for _ in range(part.copies):
            above = peer.from_discrete_gaussian_mechanism(deviation, value_discretization_interval=1e-3)
            below = peer.from_discrete_gaussian_mechanism(
                deviation, value_discretization_interval=1e-3, pessimistic_estimate=False, use_connect_dots=False
            )
            pessimistic = above if pessimistic is None else pessimistic.compose(above)
            optimistic = below if optimistic is None else optimistic.compose(below)
    for delta in (F(1, 10**6), DELTA):
        found = epsilon_bracket(release, delta)
        assert pessimistic.get_epsilon_for_delta(float(delta)) >= found.low
        assert optimistic.get_epsilon_for_delta(float(delta)) <= found.high
