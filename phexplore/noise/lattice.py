"""Tails of sums of independent integer noises, by Fourier inversion on a finite lattice.

For integer X with characteristic function φ and any period N > 2m,

    (1/N) Σ_{j mod N} φ(2πj/N) sin(πj(2m+1)/N) / sin(πj/N)  =  P(|X| ≤ m) + P(|X − lN| ≤ m for some l ≠ 0),

and the last term is at most P(|X| ≥ N − m): there is no discretisation error, only this aliasing, which Chernoff's
bound makes as small as wanted. φ of a wide noise vanishes after a few j, so a handful of terms gives all digits.

    discrete Gaussian  φ(2πu) = Σ_k exp(−2π²σ²(u+k)²) / Σ_k exp(−2π²σ²k²)      (Poisson summation)
    geometric          φ(t)   = (1−q)² / ((1−q)² + 4q sin²(t/2)),  q = e^{-1/b}

Both fall on [0, π], and |sin(πj(2m+1)/N) / (N sin(πj/N))| ≤ 1/(2j): together they bound the terms left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from phexplore.noise.certified_quantile import Tail
from phexplore.noise.enclosure import Enclosure, cosine_of_pi, exp_negative, pi, sine_of_pi

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy as np
    from numpy.typing import NDArray

# Float evaluation: aliasing and truncation below 2^-60, rounding above it.
_FLOAT_BITS = 60
# Beyond this, j (2m+1) no longer fits an int64 and every decision goes the exact way.
_LARGEST_PRODUCT = 1 << 62
MOST_TERMS = 1 << 21
# From σ² = 1/4 up the Poisson form of φ needs few images; below, the sum over the support needs few points.
_POISSON_FROM = 0.25


@dataclass(frozen=True)
class Mixture:
    """A sum of independent noises, by kind and parameter.

    Attributes:
        gaussians: (σ², how many) of the discrete Gaussians.
        geometrics: (scale b, how many) of the two-sided geometrics.
    """

    gaussians: tuple[tuple[Fraction, int], ...] = ()
    geometrics: tuple[tuple[Fraction, int], ...] = ()

    @property
    def summands(self) -> int:
        """How many noises are added."""
        return sum(count for _, count in (*self.gaussians, *self.geometrics))

    def reach(self, bits: int) -> int:
        """Return r with P(|X| ≥ r) < 2^-(bits+1), by Chernoff's bound at the best of a few exponents.

        The discrete Gaussian is sub-Gaussian with its σ² (Canonne, Kamath, Steinke 2020, Lemma 22); the geometric
        has E e^{λX} = 1 / (1 − sinh²(λ/2) / sinh²(1/2b)) for λ < 1/b. Any exponent gives a valid bound, so that
        they are floats affects the size of r only; the rounding of r is covered by the last two units.
        """
        nats = (bits + 3) * math.log(2)
        spread = sum(float(sigma2) * count for sigma2, count in self.gaussians)
        scales = [(float(scale), count) for scale, count in self.geometrics]
        ceiling = 1 / max(scale for scale, _ in scales) if scales else math.inf
        variance = spread + sum(2 * scale * scale * count for scale, count in scales)
        exponents = [math.sqrt(2 * nats / variance)]
        if scales:
            exponents = [e for e in exponents if e < 0.98 * ceiling]
            exponents += [share * ceiling for share in (0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98)]

        def log_moment(exponent: float) -> float:
            return spread * exponent * exponent / 2 - sum(
                count * math.log1p(-_squared_sinh_ratio(exponent / 2, 0.5 / scale)) for scale, count in scales
            )

        return math.ceil(min((nats + log_moment(e)) / e for e in exponents) * (1 + 1e-9)) + 2

    def exact_tail(self, m: int, bits: int) -> Enclosure:
        """Enclose P(|X| > m), m ≥ 0; the width is about 2^-bits.

        Args:
            m: margin in people, at least 0.
            bits: binary digits behind the point.
        """
        reach = self.reach(bits)
        if m >= reach:
            return Enclosure(0, 1, bits)
        period = 2 * reach + 1
        widest = max((int(scale) + 1 for scale, _ in self.geometrics), default=1)
        working = bits + 40 + 2 * period.bit_length() + 2 * widest.bit_length() + self.summands.bit_length()
        factors = [_ExactGaussian(sigma2, count, period, working) for sigma2, count in self.gaussians]
        factors_geometric = [_ExactGeometric(scale, count, working) for scale, count in self.geometrics]
        total = Enclosure.of(2 * m + 1, working)
        left_out = 0
        for j in range(1, reach + 1):
            value = Enclosure.of(1, working)
            half_sine = sine_of_pi(j, period, working)
            for gaussian in factors:
                value = value * gaussian.at(j)
            for geometric in factors_geometric:
                value = value * geometric.at(half_sine)
            total = total + (value * sine_of_pi(j * (2 * m + 1), period, working) / half_sine).scaled(2)
            # φ falls from here on: the terms left out add up to less than φ (1 + ln N) N.
            left_out = value.high * (1 + period.bit_length()) * period
            if left_out.bit_length() < working - bits - 2:
                break
        else:
            left_out = 0
        covered = Enclosure(total.low - left_out, total.high + left_out, working).scaled(1, period)
        tail = (Enclosure.of(1, working) - covered).at(bits)
        return Enclosure(max(tail.low, 0), tail.high + 1, bits)


class _ExactGaussian:
    """φ of `count` discrete Gaussians at 2πj/N."""

    def __init__(self, sigma2: Fraction, count: int, period: int, bits: int) -> None:
        self._sigma2, self._count, self._period, self._bits = sigma2, count, period, bits
        self._poisson = sigma2 >= _POISSON_FROM
        if self._poisson:
            self._pi2 = pi(bits) * pi(bits)
            self._weights: list[Enclosure] = []
            self._norm = self._images(0)
        else:
            self._weights = self._support()
            self._norm = Enclosure.of(1, bits)
            for weight in self._weights:
                self._norm = self._norm + weight.scaled(2)

    def at(self, j: int) -> Enclosure:
        if self._poisson:
            return (self._images(j) / self._norm).power(self._count)
        total = Enclosure.of(1, self._bits)
        for x, weight in enumerate(self._weights, start=1):
            total = total + (weight * cosine_of_pi(2 * j * x, self._period, self._bits)).scaled(2)
        ratio = total / self._norm
        return Enclosure(max(ratio.low, 0), ratio.high, self._bits).power(self._count)

    def _images(self, j: int) -> Enclosure:
        """Enclose Σ_k exp(−2π²σ²(j/N + k)²), 0 ≤ j ≤ N/2."""
        total, k = self._image(j), 0
        while True:
            k += 1
            pair = self._image(j - k * self._period) + self._image(j + k * self._period)
            total = total + pair
            # σ² ≥ 1/4: each further pair is less than a tenth of the one before.
            if pair.high <= 2:
                return Enclosure(total.low, total.high + 1, self._bits)

    def _image(self, j: int) -> Enclosure:
        sigma2, period = self._sigma2, self._period
        return exp_negative(self._pi2.scaled(2 * sigma2.numerator * j * j, sigma2.denominator * period * period))

    def _support(self) -> list[Enclosure]:
        """Enclose exp(−x²/(2σ²)) for x = 1, 2, … until it vanishes; σ² < 1/4."""
        weights: list[Enclosure] = []
        while not weights or weights[-1].high > 1:
            x = len(weights) + 1
            weights.append(exp_negative(Enclosure.of(x * x / (2 * self._sigma2), self._bits)))
        # What is left out is less than a tenth of the last weight, which is at most one unit.
        last = weights[-1]
        weights[-1] = Enclosure(last.low, last.high + 1, self._bits)
        return weights


class _ExactGeometric:
    """φ of `count` two-sided geometrics, as a function of sin(t/2)."""

    def __init__(self, scale: Fraction, count: int, bits: int) -> None:
        q = exp_negative(Enclosure.of(1 / scale, bits))
        one = Enclosure.of(1, bits)
        self._count = count
        self._gap = (one - q) * (one - q)
        self._slope = q.scaled(4)

    def at(self, half_sine: Enclosure) -> Enclosure:
        return (self._gap / (self._gap + self._slope * half_sine * half_sine)).power(self._count)


class FloatSeries:
    """The inversion formula in floats: everything but the factor that depends on m.

    Attributes:
        terms: how many terms an evaluation has; a narrow or a single geometric noise needs many.
    """

    def __init__(self, mixture: Mixture) -> None:
        import numpy as np  # noqa: PLC0415 - the window starts without arrays

        reach = mixture.reach(_FLOAT_BITS)
        self._period = period = 2 * reach + 1
        self._reach = reach
        self._index: NDArray[np.int64] | None = None
        terms = self.terms = min(_terms_needed(mixture, period), reach)
        if terms > MOST_TERMS or terms * period > _LARGEST_PRODUCT:
            return
        self._index = np.arange(1, terms + 1, dtype=np.int64)
        fraction = self._index / period
        half_sine = np.sin(np.pi * fraction)
        value = np.ones(terms)
        for sigma2, count in mixture.gaussians:
            value *= _gaussian_characteristic(float(sigma2), fraction) ** count
        for scale, count in mixture.geometrics:
            slope = _inverse_squared_sinh(0.5 / float(scale))
            value *= (1 + slope * half_sine * half_sine) ** -float(count)
        self._weights = 2 * value / (period * half_sine)
        # Each factor carries a few units of the last place, each power as many times more; |terms| ≤ φ/j.
        self._error = 2.3e-16 * (16 + 8 * mixture.summands) * (2 + math.log(terms)) + 2.0**-58

    def tail(self, m: int) -> Tail:
        """Return P(|X| > m), m ≥ 0; the error is infinite where floats cannot hold the phases."""
        import numpy as np  # noqa: PLC0415 - the window starts without arrays

        if m >= self._reach:
            return Tail(0.0, 2.0**-_FLOAT_BITS)
        if self._index is None:
            return Tail(0.0, math.inf)
        phase = self._index * (2 * m + 1) % (2 * self._period)
        waves = np.sin(phase * (np.pi / self._period))
        return Tail(1.0 - (2 * m + 1) / self._period - float(waves @ self._weights), self._error)


def _terms_needed(mixture: Mixture, period: int) -> int:
    """Return J with φ(2πj/N) (1 + ln N) below 2^-60 for j > J, by bisection on an upper bound of ln φ."""
    goal = -(_FLOAT_BITS * math.log(2) + math.log(1 + math.log(period)))
    gaussians = [(float(s), n) for s, n in mixture.gaussians if s >= _POISSON_FROM]
    slopes = [(_inverse_squared_sinh(0.5 / float(b)), n) for b, n in mixture.geometrics]

    def log_bound(j: int) -> float:
        u = j / period
        half_sine2 = math.sin(math.pi * u) ** 2
        return sum(n * _log_bound_of_gaussian(s, u) for s, n in gaussians) - sum(
            n * math.log1p(slope * half_sine2) for slope, n in slopes
        )

    low, high = 0, period // 2
    if log_bound(high) > goal:
        return high
    while high - low > 1 + low // 8:
        middle = (low + high) // 2
        low, high = (middle, high) if log_bound(middle) > goal else (low, middle)
    return high


def _log_bound_of_gaussian(sigma2: float, u: float) -> float:
    """Return a bound of ln φ(2πu) for 0 ≤ u ≤ 1/2, σ² ≥ 1/4: its numerator, as the denominator is above 1."""
    rate = 2 * math.pi**2 * sigma2
    images = sum(math.exp(-rate * (k * k + 2 * u * k)) for k in (-3, -2, -1, 1, 2))
    return -rate * u * u + math.log1p(images)


def _gaussian_characteristic(sigma2: float, u: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return φ(2πu) of one discrete Gaussian for 0 < u ≤ 1/2."""
    import numpy as np  # noqa: PLC0415 - the window starts without arrays

    if sigma2 >= _POISSON_FROM:
        rate = 2 * math.pi**2 * sigma2
        # e^{-rate/4} < 1e-17 for every further image.
        images = 0 if rate > 160 else 4
        shifts = np.arange(-images, images + 1)
        numerator: NDArray[np.float64] = np.exp(-rate * np.square(u[:, None] + shifts)).sum(axis=1)
        return numerator / float(np.exp(-rate * np.square(shifts)).sum())
    points = np.arange(1, 13)
    weights = 2 * np.exp(-np.square(points) / (2 * sigma2))
    support: NDArray[np.float64] = 1 + np.cos(2 * np.pi * u[:, None] * points) @ weights
    return support / (1 + float(weights.sum()))


def _squared_sinh_ratio(a: float, b: float) -> float:
    """Return (sinh a / sinh b)² for 0 < a < b, also where the hyperbolic sines overflow."""
    return (math.sinh(a) / math.sinh(b)) ** 2 if b < 300 else math.exp(2 * (a - b))


def _inverse_squared_sinh(b: float) -> float:
    """Return 1 / sinh² b for b > 0, also where it underflows."""
    return math.sinh(b) ** -2 if b < 300 else 4 * math.exp(-2 * b)
