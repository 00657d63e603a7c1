"""Proven brackets of (ε, δ) for releases made of discrete Gaussian answers.

Two ways, chosen by the number of values the privacy loss can take: `enumerated_curve` adds up all of them where answers are few or
of few different small variances, `guarded_curve` inverts the Fourier transform. Both return bounds of δ(ε) with everything that was
left out or rounded; an end of a bracket is returned only after the bound at that very number was seen on the right side of δ.
ε is a function of the answers, not of their ρ. Source of the δ(ε) that is bracketed: Balle and Wang 2018, Theorem 5.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import NamedTuple, Protocol

import numpy as np

from phexplore.accounting.composition import Part
from phexplore.accounting.enumerated_curve import EnumeratedCurve, few_enough
from phexplore.accounting.gaussian_curve import gaussian_solution
from phexplore.accounting.guarded_curve import CurveError, GuardedCurve, Nodes, Tilt, highest_of_pairs
from phexplore.accounting.zcdp import epsilon as epsilon_of_rho
from phexplore.accounting.zcdp import log_inverse
from phexplore.model.conventions import Conversion

WIDTH = 1e-6
"""Of a bracket of ε, up to ε = 100; in proportion beyond."""
_MOST_ROUNDS = 4
_MOST_STEPS = 200
_STEEPEST = 800.0
_STEPS = Fraction(1, 10**11)
_LEAST_FACTOR = Fraction(1, 10**7)


class Bracket(NamedTuple):
    """A number that is proven to lie between two others, both exact as they stand.

    Attributes:
        low: at most the number; 0 when nothing better is known.
        high: at least the number; the one to state for a privacy loss. inf when nothing better is known.
    """

    low: float
    high: float


class Curve(Protocol):
    """δ(ε) near some ε, with bounds."""

    def bounds(self, epsilon: float, logarithm: float) -> tuple[float, float]:
        """Return proven bounds of δ(ε) as multiples of e^-logarithm.

        Args:
            epsilon: any number, exact as it stands.
            logarithm: −ln of the unit, at least 0.
        """


def merged(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Return the same answers with equal kinds counted together, the ones without a copy left out.

    Raises:
        ValueError: a variance is not positive, a shift below 1, or a number of copies or doubt negative.
    """
    copies: Counter[tuple[int, ...]] = Counter()
    first: dict[tuple[int, ...], Part] = {}
    for part in parts:
        if part.variance <= 0 or part.shift < 1 or part.copies < 0 or part.doubt < 0:
            raise ValueError(
                f"an answer has a positive variance, a shift from 1 and no negative copies or doubt, got {part}"
            )
        if part.copies:
            # By whole numbers: to hash a fraction of a hundred digits takes longer than all the rest here.
            kind = (*part.variance.as_integer_ratio(), part.shift, *part.doubt.as_integer_ratio())
            copies[kind] += part.copies
            first.setdefault(kind, part)
    return tuple(first[kind]._replace(copies=count) for kind, count in copies.items())


def rho_of(parts: Iterable[Part]) -> Fraction:
    """Return ρ of a release, exact: what zCDP says of it."""
    return sum((part.rho * part.copies for part in parts), Fraction(0))


def epsilon_bracket(parts: Iterable[Part], delta: Fraction, width: float = WIDTH) -> Bracket:
    """Return a proven bracket of the smallest ε at which the release is (ε, δ)-indistinguishable.

    Args:
        parts: all answers in which a pair of neighbouring inputs differs.
        delta: strictly between 0 and 1.
        width: aimed at up to ε = 100; small variances of several kinds may leave a wider one.

    Raises:
        ValueError: δ is not strictly between 0 and 1, or a part is none.
    """
    return _bracket(merged(parts), delta, width)


@lru_cache(maxsize=1024)
def _bracket(parts: tuple[Part, ...], delta: Fraction, width: float) -> Bracket:
    logarithm = log_inverse(delta)
    if not parts:
        return Bracket(0.0, 0.0)
    if any(part.doubt for part in parts):
        return _sandwich(parts, delta, width)
    rho = rho_of(parts)
    start = _continuous(float(rho), logarithm)
    found = Bracket(0.0, math.inf)
    for _ in range(_MOST_ROUNDS):
        try:
            curve = curve_near(parts, rho, start, logarithm, width)
        except CurveError:
            break
        found = _ends(curve.bounds, start, logarithm)
        centre = (found.low + found.high) / 2 if math.isfinite(found.high) else start
        # The tilt suits ε near the start: an ε far from it has a curve of its own.
        if abs(found.high - start) < 0.05 * max(1.0, math.sqrt(2 * float(rho))) or centre == start:
            break
        start = centre if found.high - found.low < 1 else found.high
    if not math.isfinite(found.high):
        return Bracket(found.low, epsilon_of_rho(rho, delta, Conversion.ZCDP_OPTIMAL_ALPHA))
    return found


def _sandwich(parts: tuple[Part, ...], delta: Fraction, width: float) -> Bracket:
    """Return ε of the worst way to spread the shifts: at least that of one answer each, at most that of less noise, or of ρ.

    At any spread of an integer shift the noise is a Gaussian of σ² − r², rounded; that Gaussian is discrete noise of σ² − 2r² with
    more noise added (r² = 3/2, `doubt` = 2r²). Each step holds but for factors of e^±2.1η of the densities, η = 2e^(−2π²r²), one for
    each answer that may differ: `_STEPS` is more than all of them.
    """
    low = _bracket(tuple(part._replace(doubt=Fraction(0)) for part in parts), delta, width).low
    bound = epsilon_of_rho(rho_of(parts), delta, Conversion.ZCDP_OPTIMAL_ALPHA)
    doubtful = sum(part.copies * part.shift for part in parts if part.doubt)
    if any(part.doubt >= part.variance for part in parts):
        return Bracket(low, bound)
    narrowed = tuple(Part(part.variance - part.doubt, part.shift, part.copies) for part in parts)
    above = _bracket(merged(narrowed), delta * (1 - _STEPS * doubtful), width).high
    return Bracket(low, min(bound, math.nextafter(above + float(_STEPS * doubtful), math.inf)))


def delta_bracket(parts: Iterable[Part], epsilon: Fraction) -> Bracket:
    """Return a proven bracket of δ(ε), within 1e-5 of it for releases of many answers.

    Args:
        parts: all answers in which a pair of neighbouring inputs differs.
        epsilon: at least 0.

    Raises:
        ValueError: ε is negative, a part is none, or one is in doubt.
    """
    if epsilon < 0:
        raise ValueError(f"ε is at least 0, got {epsilon}")
    release = merged(parts)
    if not release:
        return Bracket(0.0, 0.0)
    if any(part.doubt for part in release):
        raise ValueError("δ at ε is known where the worst answer is")
    # Outward, so that the two floats enclose ε: δ falls with it.
    below, above = _floats_around(epsilon)
    rho = rho_of(release)
    logarithm = _continuous_logarithm(float(rho), above)
    try:
        curve = curve_near(release, rho, above, logarithm, WIDTH / 10)
    except CurveError:
        return Bracket(0.0, 1.0)
    unit = math.exp(-logarithm)
    low, high = curve.bounds(above, logarithm)[0], curve.bounds(below, logarithm)[1]
    return Bracket(low * unit * (1 - 1e-12), min(high * unit * (1 + 1e-12), 1.0))


def epsilon_curve(parts: Iterable[Part], deltas: Iterable[Fraction], width: float = WIDTH) -> tuple[Bracket, ...]:
    """Return the bracket of ε at every δ.

    Args:
        parts: all answers in which a pair of neighbouring inputs differs.
        deltas: each strictly between 0 and 1.
        width: of a bracket, as in `epsilon_bracket`.

    Raises:
        ValueError: a δ is not strictly between 0 and 1, or a part is none.
    """
    release = merged(parts)
    return tuple(_bracket(release, delta, width) for delta in deltas)


def largest_of_pairs(halves: Sequence[Iterable[Part]], delta: Fraction, width: float = WIDTH) -> Bracket:
    """Return a bracket of the largest ε over all pairs of halves: two records that lie below different branches of a geography.

    Args:
        halves: answers that one record of the pair moves, alternatives of equal ρ; a pair takes any two of them.
        delta: strictly between 0 and 1.
        width: of the bracket.

    Raises:
        ValueError: δ is not strictly between 0 and 1, there is no half, their ρ differ, or a part is none.
    """
    releases = list(dict.fromkeys(merged(half) for half in halves))
    totals = {rho_of(release) for release in releases}
    if len(totals) != 1:
        raise ValueError("the halves of a pair have one ρ")
    rho = 2 * totals.pop()
    logarithm = log_inverse(delta)
    try:
        start = _continuous(float(rho), logarithm)
        nodes = Nodes(releases, _tilt(float(rho), start, logarithm, width), times=2)
        factors = [nodes.product(place) for place in range(len(releases))]
    except CurveError:
        pairs = combinations_with_replacement(releases, 2)
        found = [_bracket(merged((*one, *other)), delta, width) for one, other in pairs]
        return Bracket(max(each.low for each in found), max(each.high for each in found))

    def ends(pair: tuple[int, int], near: float) -> Bracket:
        return _ends(GuardedCurve(nodes, [factors[place] for place in pair], rho).bounds, near, logarithm)

    # The pair that is largest where all are asked first is nearly always the largest: the others then cost one look together.
    heights = highest_of_pairs(nodes, factors, rho, start, logarithm)
    best = ends(divmod(int(heights.argmax()), len(factors)), start)
    for one, other in np.argwhere(np.triu(highest_of_pairs(nodes, factors, rho, best.high, logarithm)) > 1).tolist():
        mine = ends((one, other), best.high)
        best = Bracket(max(best.low, mine.low), max(best.high, mine.high))
    return (
        best
        if math.isfinite(best.high)
        else Bracket(best.low, epsilon_of_rho(rho, delta, Conversion.ZCDP_OPTIMAL_ALPHA))
    )


def noise_factor(parts: Iterable[Part], target: Fraction, delta: Fraction) -> tuple[Fraction, Bracket]:
    """Return by how much all variances can be divided so that ε at δ stays within a target, and the proven ε at that factor.

    More noise is not always more private where a lattice shows: the result is evaluated, not inferred. It has seven decimals, is
    rounded down, and is 0 when no such factor is found. The largest one is looked for near the factor at which the continuous
    Gaussian reaches the target.

    Args:
        parts: all answers in which a pair of neighbouring inputs differs.
        target: ε not to exceed, above 0.
        delta: strictly between 0 and 1.

    Raises:
        ValueError: the target is not positive, δ is not strictly between 0 and 1, there are no parts, or one is none.
    """
    release = merged(parts)
    if target <= 0 or not release:
        raise ValueError(f"a factor needs answers and a positive ε, got {target} for {len(release)} kinds of answers")

    def at(factor: Fraction) -> Bracket:
        return _bracket(tuple(part._replace(variance=part.variance / factor) for part in release), delta, WIDTH)

    rho, logarithm = float(rho_of(release)), log_inverse(delta)
    factor, aim = Fraction(1), float(target)
    for _ in range(12):
        high = at(factor).high
        if not math.isfinite(high):
            break
        slope = gaussian_solution(rho * float(factor), logarithm).slope * rho
        step = (aim - high) / slope
        following = max(Fraction(float(factor) + step).limit_denominator(10**12), factor / 4)
        close = abs(following - factor) < _LEAST_FACTOR / 10
        factor = following
        if close:
            break
    shrink = Fraction(0)
    for _ in range(60):
        tried = (factor * (1 - shrink)) // _LEAST_FACTOR * _LEAST_FACTOR
        if tried <= 0:
            break
        if (found := at(tried)).high <= target:
            return tried, found
        shrink = max(2 * shrink, Fraction(1, 10**7))
    return Fraction(0), Bracket(0.0, 0.0)


def curve_near(parts: Sequence[Part], rho: Fraction, epsilon: float, logarithm: float, width: float) -> Curve:
    """Return the curve of a release, good near one of its points.

    Args:
        parts: of the release, merged.
        rho: of the release, exact.
        epsilon: of the point.
        logarithm: −ln δ of the point.
        width: of brackets of ε made from it.

    Raises:
        CurveError: the proof of the rounding does not cover these parts.
    """
    if few_enough(parts, logarithm):
        return EnumeratedCurve(parts, logarithm)
    nodes = Nodes([parts], _tilt(float(rho), epsilon, logarithm, width))
    return GuardedCurve(nodes, [nodes.product(0)], rho)


def _tilt(rho: float, epsilon: float, logarithm: float, width: float) -> Tilt:
    large = max(min(1.0, 10 * epsilon), epsilon / 100, 1e-12)
    c = max((epsilon / rho - 1) / 2, 0.05)
    return Tilt(epsilon, logarithm, min(math.sqrt(width * large / (c + 1)), 0.02 * math.sqrt(large)))


def _continuous(rho: float, logarithm: float) -> float:
    """Return ε of one continuous Gaussian of the same ρ: where to look first."""
    return max(gaussian_solution(rho, logarithm).epsilon, 0.0)


def _continuous_logarithm(rho: float, epsilon: float) -> float:
    """Return −ln δ of one continuous Gaussian at ε: where to look first; within a few per cent."""
    low, high = 1e-3, max(10.0, 4 * (epsilon + 10) ** 2 / rho)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_solution(rho, middle).epsilon < epsilon else (low, middle)
    return high


def _floats_around(value: Fraction) -> tuple[float, float]:
    near = float(value)
    exact = Fraction(near)
    return (
        near if exact <= value else math.nextafter(near, -math.inf),
        near if exact >= value else math.nextafter(near, math.inf),
    )


def _ends(bounds: Callable[[float, float], tuple[float, float]], start: float, logarithm: float) -> Bracket:
    """Return ε between an end whose δ is proven at least the asked one, and an end whose δ is proven at most it."""
    low = _crossing(lambda epsilon: bounds(epsilon, logarithm)[0], start, above=True)
    high = _crossing(lambda epsilon: bounds(epsilon, logarithm)[1], start, above=False)
    return Bracket(max(low, 0.0), max(high, 0.0))


def _crossing(ratio: Callable[[float], float], start: float, *, above: bool) -> float:
    """Return an ε at which a falling function is on the asked side of 1, within 1e-10 of where it crosses.

    Regula falsi on the logarithm (Illinois), with halving: lattices have kinks that Newton's method falls over.

    Args:
        ratio: what falls through 1.
        start: where to look first.
        above: whether the result is where it is at least 1, else at most 1. Without one: -inf or inf; 0 where it is at most 1 there.
    """

    def height(epsilon: float) -> float:
        value = ratio(epsilon)
        return -_STEEPEST if value <= 0 else math.log(value) if value < math.inf else _STEEPEST

    left, left_height = _first(height, start, -1)
    right, right_height = _first(height, start, 1)
    if left_height < 0:
        return -math.inf if above else max(left, 0.0)
    if right_height > 0:
        return math.inf
    precise = 1e-10 * max(1.0, abs(right))
    side = 0
    for step in range(_MOST_STEPS):
        if right - left < precise:
            break
        middle = (left + right) / 2
        if step % 4 != 3 and left_height > right_height:
            middle = (left * right_height - right * left_height) / (right_height - left_height)
        margin = min(1e-3 * (right - left), precise / 4)
        middle = min(max(middle, left + margin), right - margin)
        now = height(middle)
        if now >= 0:
            left, left_height = middle, now
            right_height = right_height / 2 if side == 1 else right_height
            side = 1
        else:
            right, right_height = middle, now
            left_height = left_height / 2 if side == -1 else left_height
            side = -1
    return left if above else right


def _first(height: Callable[[float], float], start: float, way: int) -> tuple[float, float]:
    """Return a place from the start on, in one direction, where a falling height has the sign it has there in the end; its height.

    Args:
        height: that falls.
        start: where to begin.
        way: -1 for where it is at least 0, to the left and not below ε = 0 by more than a step; 1 for at most 0.
    """
    place, reach = start, 1e-4 * max(1.0, abs(start))
    most = 1e6 * max(1.0, abs(start))
    now = height(place)
    while way * now > 0 and reach < most and (way > 0 or place > 0):
        place, reach = place + way * reach, 4 * reach
        now = height(place)
    return place, now
