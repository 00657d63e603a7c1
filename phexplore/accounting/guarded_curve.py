"""δ(ε) of a product of discrete Gaussians by tilted Fourier inversion, with a proven bound of every error.

An answer with noise N_Z(0, σ²), shifted by the integer v, has the privacy loss L = a(v² − 2vy)/2, a = 1/σ², y the noise.
With z = c + it, q = 2π²/a and w = t·a·v / 2π, of which r is the part in [−½, ½] and k₀ the rest, Poisson's summation gives

    E e^{zL} = e^{z(z+1)av²/2} · e^{2πi k₀vc} S(r),   S(r) = Σ_d e^{−q(r+d)²} e^{2πi dvc} / Σ_k e^{−qk²}   (up to the sign of k₀),

so that |S| ≤ 1; the first factor alone is the continuous Gaussian. (1 − e^{−x})₊ has the transform 1/(z(z+1)), hence
δ(ε) = (1/2π) ∫ M(z) e^{−zε} / (z(z+1)) dt for every c > 0, M the product over all answers. A tiny continuous Gaussian of μ = s
(the guard) is composed with them. Post-processing takes it away again: δ ≤ δ_s; and δ_s − δ ≤ s²·H·p_s, p_s the density of the
guarded loss (the same integral without kernel), H = 1 + (s/2)·Mills(−s/2). It makes the tail of the integral summable.

Errors that are bounded and added, none of them estimated:
- step of the sum: what is folded in is positive, so the sum is above; Chernoff's bound takes it off below;
- nodes beyond 10/s, and nodes left out because a bound of |M| there is below 1e-25;
- rounding: numbers that enter (σ², c, ε, the step) are exact; every operation of double precision is within u = 2^-53, `exp`,
  `cos` and `sin` of NumPy within 8u of the largest of their value and, for the last two, 1 (four units in the last place; tests
  measure them); products carry a radius (`_Ball`).

Source: G. Poisson's formula as in Canonne, Kamath and Steinke 2020 (arXiv 2004.00010); the guard and its bounds are this program's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phexplore.accounting.composition import Part

Floats = NDArray[np.float64]

_U = 2.0**-53
_FUNCTION = 8 * _U
"""Bound of the error of NumPy's `exp` (relative), `cos` and `sin`."""
_LEFT_OUT = 1e-25
"""Nodes whose product is proven smaller are not evaluated."""
_FAR = 80.0
"""Exponent beyond which terms of S are left to a bound."""
_FAR_TERMS = 3 * math.exp(-_FAR + 1)
_TILT_STEP = 2**20
"""The tilt is a multiple of its inverse: v·c·k is then exact modulo 1."""
_TILT_BITS = _TILT_STEP - 1
_EXACT_BITS = 200
_MOST_TERMS = 40
"""Of S: variances down to 0.0025."""
_MOST_NODES = 60_000
_MOST_STEPS = 2**21


class CurveError(ArithmeticError):
    """The parameters are beyond what the proof of the rounding covers."""


class _Ball(NamedTuple):
    """Complex numbers with a bound of their error, node by node."""

    value: NDArray[np.complex128]
    radius: Floats

    def times(self, other: _Ball) -> _Ball:
        value = self.value * other.value
        mine, its = abs(self.value), abs(other.value)
        radius = mine * other.radius + self.radius * (its + other.radius) + 5 * _U * mine * its + 1e-300
        return _Ball(value, radius * (1 + 16 * _U))


class _Kinds:
    """Answers of a release as arrays, one entry per kind ``[n]``: how often, turns per unit of t, q, shift."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.copies = np.array([part.copies for part in parts], dtype=np.float64)
        self.shift = np.array([part.shift for part in parts], dtype=np.float64)
        # Whole numbers divided: rounded once, as a Fraction made a float, and much sooner.
        sigma2 = [(part.variance.numerator, part.variance.denominator) for part in parts]
        variances = np.array([above / below for above, below in sigma2])
        shifts = [(part.shift, *each) for part, each in zip(parts, sigma2, strict=True)]
        self.turns = np.array([shift * below / above for shift, above, below in shifts]) / (2 * math.pi)
        self.q = (2 * math.pi**2) * variances
        self.rho = np.array([shift**2 * below / (2 * above) for shift, above, below in shifts])

    def bound(self, step: float, last: int, times: int) -> tuple[NDArray[np.intp], float]:
        """Return the nodes whose product may exceed `_LEFT_OUT`, and a bound of the sum of the others.

        Args:
            step: between two nodes.
            last: number of the last one; the first is 0.
            times: how many releases of these answers are multiplied.
        """
        reach = np.minimum(0.5 / self.turns, last * step)
        order = np.argsort(-self.copies * self.q * (self.turns * reach) ** 2)
        # Positions in turns are rounded: over all answers that moves the exponent by less than this.
        slack = math.exp(min(5 * _U * math.pi * last * step * float(self.copies @ self.shift) * times, 100.0))
        chosen = self._near(int(order[0]), step, last, times)
        height, below = np.zeros(len(chosen)), (last + 1 - len(chosen)) * _LEFT_OUT * slack * 1.01
        cut = math.log(_LEFT_OUT)
        for one in order:
            turned = self.turns[one] * (step * chosen)
            turned -= np.rint(turned)
            q, copies = float(self.q[one]), times * float(self.copies[one])
            height += copies * np.minimum(_log_neighbours(q) - q * (1 - 1e-9) * turned**2, 0.0)
            stay = np.flatnonzero(height > cut)
            if len(stay) < 0.9 * len(chosen):
                below += (len(chosen) - len(stay)) * _LEFT_OUT * slack * 1.01
                chosen, height = chosen[stay], height[stay]
            if len(chosen) < 300:
                break
        return chosen, below

    def _near(self, one: int, step: float, last: int, times: int) -> NDArray[np.intp]:
        """Return the nodes near whole turns of one kind; at all others its factor by itself is at most `_LEFT_OUT`.

        Few of a hundred thousand are near, so they are not looked at one by one. Arguments as in `bound`.
        """
        q, turns = float(self.q[one]), float(self.turns[one]) * step
        if turns > 0.2:
            return np.arange(last + 1)
        apart = (_log_neighbours(q) - math.log(_LEFT_OUT) / (times * float(self.copies[one]))) / (q * (1 - 1e-9))
        whole = np.arange(math.floor(last * turns + 0.5) + 1) / turns
        # A node more on each side, for the rounding of their places.
        reach = math.sqrt(apart) / turns + 2
        first = np.maximum(np.floor(whole - reach), 0).astype(np.intp)
        counts = np.maximum(np.minimum(np.ceil(whole + reach), last).astype(np.intp) - first + 1, 0)
        if np.any(first[1:] < (first + counts)[:-1]):
            return np.arange(last + 1)
        found: NDArray[np.intp] = np.arange(counts.sum()) + np.repeat(first - (np.cumsum(counts) - counts), counts)
        return found

    def product(self, t: Floats, tilt: int) -> _Ball:
        """Return Π S^copies e^{2πi k₀vc} at the nodes t[n].

        Args:
            t: nodes.
            tilt: c in steps of `_TILT_STEP`.
        """
        turned = np.outer(self.turns, t)
        whole = np.rint(turned)
        rest = turned - whole
        flips = -_weighted(self.copies * self.shift, whole)
        if np.abs(flips).max(initial=0.0) >= 2.0**53:
            raise CurveError("the phases exceed 2^53 turns")
        angle = ((flips.astype(np.int64) & _TILT_BITS) * (tilt & _TILT_BITS) & _TILT_BITS) * (2 * math.pi / _TILT_STEP)
        wide = self.q >= 4 * _FAR
        single, count = self._single(t, rest[wide], wide), float(self.copies.sum())
        value = single.value * (np.cos(angle) + 1j * np.sin(angle))
        radius = single.radius + np.abs(single.value) * 40 * _U
        ball = _Ball(value, radius)
        narrow = ~wide
        if narrow.any():
            ball = ball.times(self._several(t, rest[narrow], narrow, tilt))
        # A term of S that was left out is absolute: all other factors are at most 1.
        return _Ball(ball.value, ball.radius * (1 + 1e-6) + count * _FAR_TERMS)

    def _single(self, t: Floats, rest: Floats, wide: NDArray[np.bool_]) -> _Ball:
        """Return the product of the answers of which one term of S remains: real, one exponential for all."""
        if not wide.any():
            return _Ball(np.ones(len(t), dtype=np.complex128), np.zeros(len(t)))
        weight = self.copies[wide] * self.q[wide]
        exponent = _weighted(weight, rest * rest)
        moved = 5 * _U * t  # times the turns: the error of a position
        error = (len(weight) + 12) * _U * exponent
        error += 2 * moved * _weighted(weight * self.turns[wide], np.abs(rest)) * (1 + 1e-6)
        error += moved**2 * float(self.copies[wide] @ self.rho[wide]) * 1.01
        if error.max(initial=0.0) > 0.01:
            raise CurveError("the exponents are too large")
        value = np.exp(-exponent)
        return _Ball(value.astype(np.complex128), value * (1.02 * error + 2 * _FUNCTION) + 1e-300)

    def _several(self, t: Floats, rest: Floats, narrow: NDArray[np.bool_], tilt: int) -> _Ball:
        """Return the product of the answers whose lattice shows: S with the terms that count."""
        q, copies = self.q[narrow][:, None], self.copies[narrow].astype(np.int64)
        shifts = [int(shift) for shift in self.shift[narrow]]
        most = max(math.ceil(math.sqrt(_FAR / float(q.min())) - 0.5), 1)
        if most > _MOST_TERMS:
            raise CurveError("a variance is too small")
        theta = np.array([1 + 2 * math.fsum(math.exp(-each * k * k) for k in range(1, most + 2)) for each in q[:, 0]])
        sums = np.exp(-q * rest**2).astype(np.complex128)
        for d in range(1, most + 1):
            up, down = np.exp(-q * (rest + d) ** 2), np.exp(-q * (rest - d) ** 2)
            angles = np.array([2 * math.pi * ((d * shift * tilt & _TILT_BITS) / _TILT_STEP) for shift in shifts])[
                :, None
            ]
            sums += (up + down) * np.cos(angles) + 1j * ((up - down) * np.sin(angles))
        sums /= theta[:, None]
        terms = 2 * most + 1
        # Per term: the exponent is within 10u of itself (x e^-x ≤ 1/e), the position moves it by √q times its error.
        moved = 4.5 * _U * np.sqrt(q) * self.turns[narrow][:, None] * t
        if moved.max(initial=0.0) > 1e-3:
            raise CurveError("the nodes are too far")
        errors = terms * (110 * _U + moved) + _FAR_TERMS
        sizes = np.abs(sums) + errors
        value = np.multiply.reduce(_powers(sums, copies), axis=0)
        largest = np.multiply.reduce(sizes ** copies[:, None], axis=0) * (1 + 1e-6)
        radius = largest * ((copies[:, None] * errors) / sizes).sum(axis=0)
        radius += (2 * float(copies.sum()) + len(copies) + 5) * 4 * _U * largest
        return _Ball(value, radius * (1 + 1e-6) + 1e-300)


def _products(rows: NDArray[Any], others: NDArray[Any]) -> NDArray[Any]:
    """Return Σ_n rows[i, n]·others[j, n]; without the threads of a matrix product, which cost more than they bring."""
    result: NDArray[Any] = np.einsum("in,jn->ij", rows, others)
    return result


def _weighted(weights: Floats, rows: Floats) -> Floats:
    """Return Σ_i weights[i]·rows[i, n]; without threads, as `_products`."""
    result: Floats = np.einsum("i,ij->j", weights, rows)
    return result


def _powers(base: NDArray[np.complex128], copies: NDArray[np.int64]) -> NDArray[np.complex128]:
    """Return base[i, n] to the power copies[i], by squaring."""
    result = np.where((copies & 1)[:, None] == 1, base, 1.0)
    rest = copies >> 1
    while rest.any():
        base = base * base
        result = np.where((rest & 1)[:, None] == 1, result * base, result)
        rest = rest >> 1
    return result


def _log_neighbours(q: float) -> float:
    """Return ln of a bound of Σ_k e^{−q((r+k)² − r²)} over |r| ≤ ½: on one side k² − k, on the other k²."""
    if q > 50:
        return math.log(2 + 1e-9)
    many = range(1, 4 + math.ceil(math.sqrt(50 / q)))
    return math.log(
        1 + math.fsum(math.exp(-q * (k * k - k)) for k in many) + math.fsum(math.exp(-q * k * k) for k in many) + 1e-9
    )


def _mills(x: float) -> float:
    """Return (1 − Φ(x)) / φ(x) for moderate x."""
    return math.sqrt(math.pi / 2) * math.exp(x * x / 2) * math.erfc(x / math.sqrt(2))


class Tilt(NamedTuple):
    """Where a curve is evaluated best.

    Attributes:
        epsilon: near which it is asked.
        logarithm: −ln δ there, roughly.
        guard: s, the μ of the guard; halves the width when it falls by √2.
    """

    epsilon: float
    logarithm: float
    guard: float


class Nodes:
    """The nodes of one tilt, shared by releases of equal ρ.

    Args:
        releases: whose products the nodes have to carry.
        tilt: where they are to be good.
        times: how many of the releases are multiplied with each other.

    Raises:
        CurveError: the proof of the rounding does not cover these parameters.
    """

    def __init__(self, releases: Sequence[Sequence[Part]], tilt: Tilt, times: int = 1) -> None:
        self.kinds = [_Kinds(parts) for parts in releases]
        rho = times * max(float((kind.rho * kind.copies).sum()) for kind in self.kinds)
        guard = tilt.guard
        while guard < 5:
            self.rho_float = rho + guard * guard / 2
            self.steps = max(round((tilt.epsilon / self.rho_float - 1) / 2 * _TILT_STEP), _TILT_STEP // 20)
            self.c = self.steps / _TILT_STEP
            aim = tilt.logarithm + 40
            period = max(aim / self.c, 2 * math.sqrt(self.rho_float * aim))
            # Few bits: multiples of the step are exact.
            mantissa, power = math.frexp(2 * math.pi / period)
            self.step = math.ldexp(math.floor(mantissa * 2**28), power - 28)
            self.period = 2 * math.pi / self.step
            last = math.ceil(10 / guard / self.step)
            if last > _MOST_STEPS:
                guard *= 2
                continue
            # The guard by itself keeps nodes to 10/s; the answers leave few of them.
            chosen, below = _union([kind.bound(self.step, last, times) for kind in self.kinds])
            if len(chosen) <= _MOST_NODES:
                break
            guard *= 2
        else:
            raise CurveError("too many nodes")
        self.guard = guard
        self.t: Floats = self.step * chosen.astype(np.float64)
        exponent = guard * guard / 2 * self.t**2
        self.damping = _Ball(
            np.exp(-exponent).astype(np.complex128), np.exp(-exponent) * (6 * _U * exponent + 2 * _FUNCTION) + 1e-300
        )
        last_t = self.step * last
        beyond = math.exp(-(guard**2) / 2 * last_t**2) * (1 + 1 / (guard**2 * last_t * self.step))
        self.missing = (below + beyond) * self.step / math.pi * (1 + 1e-6)
        self.weight = np.where(self.t == 0, 0.5, 1.0) * (self.step / math.pi)
        self.kernel = 1 / ((self.c + 1j * self.t) * (self.c + 1 + 1j * self.t))

    def product(self, place: int) -> _Ball:
        """Return the product of the answers of one release, without the guard."""
        return self.kinds[place].product(self.t, self.steps)


def _union(sieved: list[tuple[NDArray[np.intp], float]]) -> tuple[NDArray[np.intp], float]:
    """Return the nodes that any release needs, and a bound of what the others leave out."""
    chosen = sieved[0][0]
    for other, _ in sieved[1:]:
        chosen = np.union1d(chosen, other)
    return chosen, max(below for _, below in sieved)


class _Saddle:
    """The factors of the integral that are the same at every node: e^height, and how fast the rest turns.

    Args:
        nodes: of the tilt.
        rho: of the whole release, exact.
    """

    def __init__(self, nodes: Nodes, rho: Fraction) -> None:
        guard, c = Fraction(nodes.guard), Fraction(nodes.steps, _TILT_STEP)
        whole = _rounded(rho + guard * guard / 2)
        self._turn = whole * (2 * c + 1)
        self._height, self._c = whole * c * (c + 1), c

    def at(self, epsilon: float, logarithm: float) -> tuple[float, float, float]:
        """Return e^height as a multiple of e^-logarithm, inf where that is too large, the relative error of it, and the turn.

        Args:
            epsilon: any number, exact as it stands.
            logarithm: −ln of the unit, at least 0.
        """
        exact = Fraction(epsilon)
        exponent = float(self._height - self._c * exact)
        scale = exponent + logarithm
        doubt = 2 * _U * (abs(exponent) + 5 * logarithm + abs(scale)) + 4 * _FUNCTION
        return math.exp(scale) if scale <= 700 else math.inf, doubt, float(self._turn - exact)


def highest_of_pairs(nodes: Nodes, factors: Sequence[_Ball], rho: Fraction, epsilon: float, logarithm: float) -> Floats:
    """Return proven upper bounds of δ(ε) of all products of two factors, ``[factors, factors]``, as multiples of e^-logarithm.

    Args:
        nodes: of the tilt, for products of two.
        factors: as products of `Nodes.product`.
        rho: of a product, exact.
        epsilon: any number, exact as it stands.
        logarithm: −ln of the unit, at least 0.
    """
    unit, doubt, turn = _Saddle(nodes, rho).at(epsilon, logarithm)
    if math.isinf(unit):
        return np.full((len(factors), len(factors)), math.inf)
    values, radii = (np.stack([each[side] for each in factors]) for side in (0, 1))
    sizes, guard = np.abs(values), nodes.damping
    angle = nodes.t * turn
    turned = nodes.kernel * (nodes.weight * guard.value.real) * (np.cos(angle) + 1j * np.sin(angle))
    kernel = np.abs(nodes.kernel) * nodes.weight
    found = _products(values * turned, values).real
    size = _products(sizes * (kernel * guard.value.real), sizes)
    largest = _products((sizes + radii) * (kernel * (guard.value.real + guard.radius)), sizes + radii)
    # What the radii add, and the rounding of products and of sums of as many terms as there are nodes.
    error = largest - size + largest * ((8 * len(nodes.t) + 400) * _U)
    error += 2.2 * _U * abs(turn) * _products(sizes * (kernel * guard.value.real * nodes.t), sizes)
    error = error * (1 + 1e-6) + nodes.missing / (nodes.c * (nodes.c + 1)) * (1 + 1e-12)
    result: Floats = np.maximum(found + error, 0.0) * (unit * (1 + doubt))
    return result


class GuardedCurve:
    """Proven bounds of δ(ε) near a tilt.

    Args:
        nodes: of the tilt.
        factors: the release, as products of `Nodes.product`.
        rho: of the whole release, exact.
    """

    def __init__(self, nodes: Nodes, factors: Sequence[_Ball], rho: Fraction) -> None:
        self._nodes, self._saddle = nodes, _Saddle(nodes, rho)
        ball = nodes.damping
        for factor in factors:
            ball = ball.times(factor)
        weight, size = nodes.weight, np.abs(ball.value)
        guarded, kerneled = ball.value * weight, ball.value * nodes.kernel * weight
        self._terms = np.stack((kerneled.real, kerneled.imag, guarded.real, guarded.imag))
        kernel = np.abs(nodes.kernel)
        count = len(nodes.t)
        base = weight * (ball.radius + size * ((2 * count + 100) * _U))
        turning = weight * size * nodes.t * (2.2 * _U)
        self._errors = [float(each.sum()) * (1 + 1e-6) for each in (base * kernel, turning * kernel, base, turning)]
        s = nodes.guard
        self._gap = s * s * (1 + s / 2 * _mills(-s / 2)) * (1 + 1e-12)

    def bounds(self, epsilon: float, logarithm: float) -> tuple[float, float]:
        """Return proven bounds of δ(ε) as multiples of e^-logarithm.

        Args:
            epsilon: any number, exact as it stands.
            logarithm: −ln of the unit, at least 0.
        """
        nodes = self._nodes
        unit, doubt, turn = self._saddle.at(epsilon, logarithm)
        if math.isinf(unit):
            return 0.0, math.inf
        angle = nodes.t * turn
        cosine, sine = np.cos(angle), np.sin(angle)
        real, imaginary, density_real, density_imaginary = self._terms
        value = float((real * cosine - imaginary * sine).sum())
        density = float((density_real * cosine - density_imaginary * sine).sum())
        still, turning, still_density, turning_density = self._errors
        c = nodes.c
        error = still + turning * abs(turn) + nodes.missing / (c * (c + 1)) * (1 + 1e-12)
        density += still_density + turning_density * abs(turn) + nodes.missing
        high = max(value + error, 0.0) * unit * (1 + doubt)
        folded = self._folded(epsilon, logarithm)
        low = value - error - self._gap * max(density, 0.0)
        return max(low * unit * (1 - doubt if low > 0 else 1 + doubt) - folded, 0.0), high

    def _folded(self, epsilon: float, logarithm: float) -> float:
        """Return a bound of what the step of the sum folds in: δ ≤ 1 to the left, Chernoff's bound to the right."""
        c, period, rho = self._nodes.c, self._nodes.period, self._nodes.rho_float * (1 + 1e-12)
        left = math.exp(min(logarithm - c * period, 700.0)) / -math.expm1(-c * period)
        more = max(period / (2 * rho), 0.1)
        exponent = rho * (c + more) * (c + more + 1) - (c + more) * epsilon - more * period + logarithm
        return (left + math.exp(min(exponent, 700.0)) / -math.expm1(-more * period)) * (1 + 1e-6)


def _rounded(value: Fraction) -> Fraction:
    """Return a number cut after 200 binary places: sums of a hundred fractions have denominators of thousands of digits."""
    if value.denominator.bit_length() <= _EXACT_BITS:
        return value
    return Fraction((value.numerator << _EXACT_BITS) // value.denominator, 1 << _EXACT_BITS)
