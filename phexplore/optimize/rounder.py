"""Controlled rounding of all families of one level (TopDown paper, eq. 7.3, 7.4 and 7.7)."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from phexplore.optimize.least_squares import LevelData, LevelError, families_of, run_spans, spans_of
from phexplore.optimize.plan import LevelPlan, chain_of
from phexplore.optimize.rounding import Chain, Rounding, round_families

Ints = npt.NDArray[np.int64]


class Target(enum.Enum):
    """What the rounder draws the answers of its objective to."""

    FRACTION = "fraction"
    """The answers of the estimate itself: eq. 7.7 as printed."""
    WHOLE = "whole"
    """Their fractional parts rounded to whole numbers first: what production does."""


@dataclass(frozen=True, slots=True)
class RounderOptions:
    """How estimates are rounded.

    Attributes:
        target: of the objective.
        snap: estimates nearer than this to a whole number are taken for it, in people.
    """

    target: Target = Target.FRACTION
    snap: float = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class RounderResult:
    """Whole counts of all children.

    Attributes:
        counts: ``int64[]``, laid out as the estimates.
        unrounded: ``int64[]``, families whose estimates have no rounding within the bounds.
        pivots: ``int64[families]``, of the network simplex.
    """

    counts: Ints
    unrounded: Ints
    pivots: Ints


def round_level(
    plan: LevelPlan,
    level: LevelData,
    values: npt.NDArray[np.float64],
    *,
    options: RounderOptions | None = None,
    threads: int = 1,
) -> RounderResult:
    """Round the estimates of every family; column sums and bounds hold exactly.

    Args:
        values: ``float64[]``, as `least_squares` returns them.
        threads: ranges of families rounded at the same time.

    Raises:
        LevelError: there are not as many values as the level has counts.
    """
    starts = level.value_start
    if values.shape != (int(starts[-1]),):
        raise LevelError(f"The level has {int(starts[-1])} counts, {len(values)} estimates are given.")
    chosen = options or RounderOptions()
    rounding = Rounding(level.counts is not None, chosen.target is Target.WHOLE, chosen.snap)
    chain = chain_tables(plan)
    families = families_of(level)
    counts = np.zeros(len(values), np.int64)
    status = np.zeros(level.parents, np.int64)
    pivots = np.zeros(level.parents, np.int64)

    def solve(span: tuple[int, int]) -> None:
        round_families(chain, families, rounding, *span, starts, values, counts, status, pivots)

    run_spans(solve, spans_of(starts, threads), threads)
    return RounderResult(counts, np.flatnonzero(status), pivots)


@lru_cache(maxsize=64)
def chain_tables(plan: LevelPlan) -> Chain:
    """Return the rounder's queries of a plan as index arrays."""
    levels = chain_of(plan)
    starts = plan.bound_start
    return Chain(
        answer_of=np.stack([level.query.cell_map() for level in levels]).astype(np.int32),
        answers=np.array([level.query.answers for level in levels], dtype=np.int64),
        times=np.array([level.times for level in levels], dtype=np.int64).T.copy(),
        bound_start=np.array([starts.get(level.query, -1) for level in levels], dtype=np.int64),
    )
