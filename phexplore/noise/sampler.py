"""Exact samples of integer noise at some hundred million a second.

Design: inverse distribution function (Devroye, Non-Uniform Random Variate Generation, 1986, chapter III, section 2), evaluated as lazily as the random bits allow. 16 bits
decide nearly every sample by a look-up; where a threshold shares them, 48 more bits are compared with 64-bit
thresholds; where those are equal (probability about 2^-64 per threshold) U and the thresholds are extended by 64 digits
until they part. The result is the exact distribution, not one close to it. Time depends on the outcome; no protection
against someone who measures it.

Wide noise (tables.Law over blocks): the block of size B from a table of the one-sided law, the place inside uniform,
and acceptance with exp(−(energy − energy of the block's start)), decided by the same lazy comparison.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import numpy as np

from phexplore.noise.distributions import DiscreteGaussian, Noise, NoNoise, TwoSidedGeometric
from phexplore.noise.enclosure import Enclosure, exp_negative
from phexplore.noise.tables import Law, refine, thresholds

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import NDArray

    from phexplore.noise.entropy import Entropy

TABLE_BITS = 64
# Samples drawn at a time: the random bits and the look-up table stay in the second-level cache.
_CHUNK = 1 << 15
# Widest laws with a table of their own; the table has some 20 σ, or 90 b, entries.
_WIDEST_SIGMA2 = Fraction(1 << 20)
_WIDEST_SCALE = Fraction(1 << 8)


class Sampler(Protocol):
    """A source of independent samples of one noise. It has no state; threads may share it."""

    def fill(self, entropy: Entropy, out: NDArray[Any]) -> None:
        """Overwrite ``out[n]``, a contiguous array, with independent samples, in people.

        Args:
            entropy: where the random bits come from.
            out: int64; int16 and int32 where `dtype` allows, which is faster.

        Raises:
            TypeError: the type of `out` cannot hold every sample.
        """

    def sample(self, entropy: Entropy, size: int) -> NDArray[np.int64]:
        """Return independent samples, in people, as int64[size].

        Args:
            entropy: where the random bits come from.
            size: how many samples.
        """
        out = np.empty(size, dtype=np.int64)
        self.fill(entropy, out)
        return out

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest type of `fill` that holds every sample."""


@lru_cache(maxsize=64)
def sampler_for(noise: Noise) -> Sampler:
    """Return the sampler of this noise; building its table takes up to 0.1 s once.

    Raises:
        TypeError: a noise of another kind than those of this package.
    """
    match noise:
        case NoNoise():
            return ZeroSampler()
        case DiscreteGaussian(sigma2):
            law = Law(quadratic=1 / (2 * sigma2), linear=Fraction(0))
            return TableSampler(law) if sigma2 <= _WIDEST_SIGMA2 else _blocks(law, sigma2 / _WIDEST_SIGMA2, power=2)
        case TwoSidedGeometric(scale):
            law = Law(quadratic=Fraction(0), linear=1 / scale)
            return TableSampler(law) if scale <= _WIDEST_SCALE else _blocks(law, scale / _WIDEST_SCALE, power=1)
        case _:
            raise TypeError(f"no sampler is known for noise of the kind {type(noise).__name__}")


class ZeroSampler(Sampler):
    """The sampler of an unlimited budget: zeros."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest type of `fill` that holds every sample."""
        return np.dtype(np.int16)

    def fill(self, entropy: Entropy, out: NDArray[Any]) -> None:  # noqa: ARG002 - zeros need no randomness
        """Overwrite ``out[n]`` with zeros; arguments as in `Sampler.fill`."""
        _require_room(out, self.dtype)
        out[:] = 0


class TableSampler(Sampler):
    """Samples of a law narrow enough for a table of its thresholds.

    Args:
        law: weights of the outcomes; 16-bit integers must hold all that are likelier than 2^-64.
        bits: digits of the stored thresholds, 17 to 64. Fewer make ties frequent and change no distribution.
    """

    def __init__(self, law: Law, bits: int = TABLE_BITS) -> None:
        self._law = law
        self._bits = bits
        self._thresholds = np.array(thresholds(law, bits), dtype=np.uint64)
        prefix_of = (self._thresholds >> np.uint64(bits - 16)).astype(np.int64)
        self._guide = np.searchsorted(prefix_of, np.arange((1 << 16) + 1), side="left").astype(np.int64)
        first, following = self._guide[:-1], self._guide[1:]
        outcomes = np.where(first & 1, (first + 1) >> 1, -(first >> 1)) if law.two_sided else first
        # -32768, the mark of a prefix that does not decide, is no outcome of a law that fits.
        self._table = np.where(first == following, outcomes, -(1 << 15)).astype(np.int16)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest type of `fill` that holds every sample."""
        return np.dtype(np.int16)

    def fill(self, entropy: Entropy, out: NDArray[Any]) -> None:
        """Overwrite ``out[n]`` with samples; arguments as in `Sampler.fill`."""
        from phexplore.noise import _kernels  # noqa: PLC0415 - numba takes half a second to load

        _require_room(out, self.dtype)
        prefixes = np.empty(min(out.size, _CHUNK), dtype=np.uint16)
        pending = np.empty(prefixes.size, dtype=np.int32)
        for start in range(0, out.size, _CHUNK):
            part = out[start : start + _CHUNK]
            drawn = prefixes[: part.size]
            entropy.fill(drawn)
            count = _kernels.look_up(drawn, self._table, part, pending)
            if count:
                words = np.empty(count, dtype=np.uint64)
                entropy.fill(words)
                ties = np.empty((count, 3), dtype=np.int64)
                tied = _kernels.search(
                    pending[:count],
                    drawn,
                    words,
                    self._thresholds,
                    self._guide,
                    self._bits,
                    self._law.two_sided,
                    part,
                    ties,
                )
                for place, index, word in ties[:tied].tolist():
                    digits = (int(drawn[place]) << 48 | int(words[word]) >> 16) >> (64 - self._bits)
                    part[place] = self._break_tie(entropy, index, digits)

    def decide(
        self, first: NDArray[np.uint64], second: NDArray[np.uint64], more: Callable[[int], Entropy]
    ) -> NDArray[np.int64]:
        """Return one sample per pair of words, ``int64[n]``: the outcome depends on its own bits alone.

        Args:
            first: ``uint64[n]``, of which 16 bits are used.
            second: ``uint64[n]``, the digits that follow them.
            more: further bits of the sample with this number, asked for once in 2⁶⁴ samples.
        """
        from phexplore.noise import _kernels  # noqa: PLC0415 - numba takes half a second to load

        drawn = (first >> np.uint64(48)).astype(np.uint16)
        out = np.empty(len(first), np.int64)
        pending = np.empty(len(first), np.int32)
        count = _kernels.look_up(drawn, self._table, out, pending)
        words = second[pending[:count]]
        ties = np.empty((count, 3), np.int64)
        tied = _kernels.search(
            pending[:count], drawn, words, self._thresholds, self._guide, self._bits, self._law.two_sided, out, ties
        )
        for place, index, word in ties[:tied].tolist():
            digits = (int(drawn[place]) << 48 | int(words[word]) >> 16) >> (64 - self._bits)
            out[place] = self._break_tie(more(place), index, digits)
        return out

    def _break_tie(self, entropy: Entropy, index: int, digits: int) -> int:
        """Extend U and the thresholds until they part."""
        bits, decided = self._bits, False
        while not decided:
            more = _word(entropy)
            index, decided = refine(self._law, index, digits, bits, more)
            digits, bits = (digits << 64) | more, bits + 64
        return self._law.outcome(index)


class BlockSampler(Sampler):
    """Samples of a law of any width: a block by its table, a place in it by rejection.

    Args:
        law: two-sided weights of the outcomes.
        shift: the block size is 2^shift, at most 2^40.
        bits: digits of the stored thresholds of the blocks, 17 to 64.
    """

    def __init__(self, law: Law, shift: int, bits: int = TABLE_BITS) -> None:
        self._law = law
        self._shift = shift
        size = 1 << shift
        self._blocks = TableSampler(Law(law.quadratic * size * size, law.linear * size, two_sided=False), bits)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest type of `fill` that holds every sample."""
        return np.dtype(np.int64)

    def fill(self, entropy: Entropy, out: NDArray[Any]) -> None:
        """Overwrite ``out[n]`` with samples; arguments as in `Sampler.fill`."""
        _require_room(out, self.dtype)
        for start in range(0, out.size, _CHUNK):
            part = out[start : start + _CHUNK]
            rejected = self._propose(entropy, part)
            while rejected.size:
                again = np.empty(rejected.size, dtype=np.int64)
                still = self._propose(entropy, again)
                part[rejected] = again
                rejected = rejected[still]

    def _propose(self, entropy: Entropy, out: NDArray[np.int64]) -> NDArray[np.int64]:
        """Fill `out` with proposals and return the places of those that are not accepted."""
        from phexplore.noise import _kernels  # noqa: PLC0415 - numba takes half a second to load

        blocks = np.empty(out.size, dtype=np.int32)
        self._blocks.fill(entropy, blocks)
        words = np.empty(out.size, dtype=np.uint64)
        entropy.fill(words)
        pending = np.empty(out.size, dtype=np.int64)
        ties = np.empty(out.size, dtype=np.int64)
        rejected, undecided = _kernels.spread(
            blocks, words, self._shift, float(self._law.quadratic), float(self._law.linear), out, pending, ties
        )
        refused = [
            place
            for place in ties[:undecided].tolist()
            if not self._accepts(entropy, int(blocks[place]), int(words[place]))
        ]
        return np.concatenate([pending[:rejected], np.array(refused, dtype=np.int64)])

    def _accepts(self, entropy: Entropy, block: int, word: int) -> bool:
        """Return whether U < exp(−decay), by more digits of both until they part."""
        offset = word & ((1 << self._shift) - 1)
        decay = self._law.decay(block << self._shift, offset)
        digits, bits = word >> (self._shift + 1), 63 - self._shift
        while True:
            chance = exp_negative(Enclosure.of(decay, bits + 64))
            if (digits + 1) << 64 <= chance.low:
                return True
            if digits << 64 >= chance.high:
                return False
            digits, bits = (digits << 64) | _word(entropy), bits + 64


def _blocks(law: Law, excess: Fraction, power: int) -> BlockSampler:
    """Return a sampler whose blocks bring the law into the range of tables: 2^(shift power) ≥ excess."""
    shift = 0
    while (1 << (shift * power)) < excess:
        shift += 1
    return BlockSampler(law, shift)


def _word(entropy: Entropy) -> int:
    word = np.empty(1, dtype=np.uint64)
    entropy.fill(word)
    return int(word[0])


def _require_room(out: NDArray[Any], dtype: np.dtype[Any]) -> None:
    if out.ndim != 1 or not out.flags.c_contiguous:
        raise TypeError(f"samples are written to a contiguous one-dimensional array, got shape {out.shape}")
    if out.dtype.kind != "i" or out.dtype.itemsize < dtype.itemsize:
        raise TypeError(f"samples of this noise need {dtype} or wider, got {out.dtype}")
