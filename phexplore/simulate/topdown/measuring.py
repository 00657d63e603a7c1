"""Noisy answers of the units of a level, drawn piece by piece so that neither order nor number of workers changes a bit.

The random bits of a measurement depend on the seed, the trial, the names of level and query, and the place of the
answer among all answers of that query at that level, in pieces of `PIECE`. Scenarios that share names and tree
therefore share the bits: their noises have the same signs and grow together with their variances (common random
numbers), below the width where samples are drawn by rejection.

Source of the mechanism: TopDown paper, section 6.1.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from phexplore.noise.entropy import Entropy, OsEntropy, SeededEntropy
from phexplore.noise.sampler import sampler_for
from phexplore.simulate.topdown.histograms import Histograms
from phexplore.workload.queries import MarginalQuery

if TYPE_CHECKING:
    from phexplore.optimize.plan import LevelPlan
    from phexplore.simulate.topdown.design import LevelDesign, Measuring

PIECE = 1 << 14
"""Samples per stream: below the sampler's own chunk, so that equal bits stay aligned whatever the variance."""

_NARROW = float(1 << 24)
"""σ up to which answers of a nation with its noise fit 32 bits."""

_LARGEST_NARROW = 1 << 30


@dataclass(frozen=True, slots=True)
class TrialKey:
    """Where the random bits of a trial come from.

    Attributes:
        seed: None for the operating system; not shown, for it may be a secret one (`secret_key`).
        trial: zero-based.
    """

    seed: int | None = field(repr=False)
    trial: int


def secret_key(trial: int) -> TrialKey:
    """Return a key of 256 bits from the operating system, for a trial whose noise nobody can repeat but which is drawn twice.

    It lives as long as the trial and is never stored.
    """
    return TrialKey(secrets.randbits(256), trial)


@dataclass(frozen=True, slots=True)
class Draw:
    """How a level is measured.

    Attributes:
        key: of the random bits.
        exact: whether no noise is added.
        margins: per measured query, the margin whose coverage is counted, people; the largest of the level's where
            empty.
    """

    key: TrialKey
    exact: bool = False
    margins: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Noisy answers of some units.

    Attributes:
        answers: ``int32 or int64[units, answers]``, in the order of the plan's measured queries; float64 where pooled.
        within: numbers whose noise lies within its margin.
        numbers: numbers that got noise.
        weights: ``float64[units, queries]``, inverse variances of pooled answers, people⁻²; None where they are those of
            the design.
    """

    answers: NDArray[Any]
    within: int
    numbers: int
    weights: NDArray[np.float64] | None = None


class MeasurementSource(Protocol):
    """Where the noisy answers of a level come from.

    Attributes:
        is_anywhere: whether it can be asked where memory and files of this process are out of reach.
    """

    is_anywhere: bool

    def measure(self, level: LevelDesign, truth: Histograms, first: int, classes: NDArray[np.int8]) -> Measured:
        """Return the noisy answers of some units.

        Args:
            level: what is asked.
            truth: exact histograms of these units.
            first: number of the first of them in its level.
            classes: ``int8[units]``, place of each unit's noise among the level's measurings, -1 for none.
        """


class DrawnMeasurements:
    """Exact answers with fresh noise."""

    is_anywhere = True

    def __init__(self, draw: Draw) -> None:
        self._draw = draw

    def measure(self, level: LevelDesign, truth: Histograms, first: int, classes: NDArray[np.int8]) -> Measured:
        """Return the noisy answers of some units; arguments as in `MeasurementSource.measure`."""
        from phexplore.simulate.topdown import kernels  # noqa: PLC0415 - numba takes half a second to load

        answer_of, starts = answer_tables(level.plan)
        out = np.zeros((truth.units, level.plan.answers), answer_type(level))
        kernels.add_answers(truth.starts, truth.cells, truth.counts, 0, answer_of, starts, out)
        if self._draw.exact:
            return Measured(out, 0, 0)
        within = numbers = 0
        system = OsEntropy() if self._draw.key.seed is None else None
        for place, measuring in enumerate(level.measurings):
            wanted = classes == place
            if not wanted.any():
                continue
            for number, query in enumerate(level.plan.measured):
                if measuring.noises[number] is None:
                    begin = int(starts[number])
                    out[wanted, begin : begin + query.answers] = 0
                    continue
                margin = self._draw.margins[number] if self._draw.margins and place == 0 else -1
                within += _add(
                    self._draw.key, level, (number, int(starts[number])), measuring, wanted, first, margin, system, out
                )
                if margin >= 0:
                    numbers += int(wanted.sum()) * query.answers
        # What is not measured must not leave this function: exact answers would be kept beside the noisy ones.
        out[classes < 0] = 0
        return Measured(out, within, numbers)


def _add(  # noqa: PLR0913, PLR0917 - one query of one class of units
    key: TrialKey,
    level: LevelDesign,
    column: tuple[int, int],
    measuring: Measuring,
    wanted: NDArray[np.bool_],
    first: int,
    margin: int,
    system: Entropy | None,
    out: NDArray[Any],
) -> int:
    """Add the noise of one query to the wanted units; return how many samples lie within the margin."""
    from phexplore.simulate.topdown import kernels  # noqa: PLC0415 - numba takes half a second to load

    number, start = column
    query, noise = level.plan.measured[number], measuring.noises[number]
    if noise is None:
        return 0
    sampler = sampler_for(noise)
    answers = query.answers
    begin, end = first * answers, (first + len(wanted)) * answers
    names = (_name_key(level.name), _name_key(query.name)) if system is None else (0, 0)
    sizes = np.empty(PIECE, sampler.dtype)
    signs = np.empty(PIECE // 8, np.uint8)
    within = 0
    for piece in range(begin // PIECE, -(-end // PIECE)):
        offset = piece * PIECE - begin
        low, high = max(0, offset), min(end - begin, offset + PIECE)
        if not wanted[low // answers : -(-high // answers)].any():
            continue
        entropy = system if system is not None else SeededEntropy(key.seed or 0, (key.trial, *names, piece))
        entropy.fill(signs)
        sampler.fill(entropy, sizes)
        negative = np.unpackbits(signs, bitorder="little")
        within += kernels.add_noise(sizes, negative, offset, low, high, answers, start, wanted, margin, out)
    return within


def weights_of(level: LevelDesign, classes: NDArray[np.int8]) -> NDArray[np.float64]:
    """Return inverse variances of the answers of some units, ``float64[units, queries]``; 0 for what they are not asked.

    Args:
        level: with its noises.
        classes: ``int8[units]``, place of each unit's noise among the level's measurings, -1 for none.
    """
    table = np.array([measuring.weights for measuring in level.measurings] + [[0.0] * len(level.plan.measured)])
    found: NDArray[np.float64] = table[classes]
    return found


@lru_cache(maxsize=1024)
def _name_key(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:7], "big")


@lru_cache(maxsize=64)
def answer_tables(plan: LevelPlan) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return per measured query the answer of every cell, ``int32[queries, cells]``, and its first column, ``int64[queries]``."""
    starts = plan.answer_start
    return (
        np.stack([query.cell_map() for query in plan.measured]),
        np.array([starts[query] for query in plan.measured], np.int64),
    )


def answer_type(level: LevelDesign, largest: int = _LARGEST_NARROW) -> np.dtype[Any]:
    """Return the integers that hold every noisy answer of a level whose counts are below `largest`.

    Args:
        level: with its noises.
        largest: no count reaches it.
    """
    noises = [noise for measuring in level.measurings for noise in measuring.noises if noise is not None]
    wide = any(noise.variance() > _NARROW**2 for noise in noises) or largest > _LARGEST_NARROW
    return np.dtype(np.int64 if wide else np.int32)


def query_columns(plan: LevelPlan) -> list[tuple[MarginalQuery, slice]]:
    """Return each measured query with its columns."""
    return [(query, slice(start, start + query.answers)) for query, start in plan.answer_start.items()]
