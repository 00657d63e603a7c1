"""What every null space can do, whichever form the invariants have.

Source: subspace paper, Definition 2.2 (invariants) and Theorem 3.1 (projection).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from phexplore.errors import PhexploreError
from phexplore.workload.subspace.exact import Exact, Integers, Rationals

Floats = NDArray[np.float64]


class InvariantError(PhexploreError):
    """Invariants that cannot be kept, or leave nothing to protect."""


@dataclass(frozen=True, slots=True)
class RowReport:
    """What one invariant adds to those before it.

    Attributes:
        name: of the invariant.
        rows: how many sums it fixes.
        independent: how many of them do not follow from the others.
        why: what the rest follows from, "" when nothing is redundant.
    """

    name: str
    rows: int
    independent: int
    why: str = ""


class NullSpace(Protocol):
    """The vectors of answers v with C·v = 0: where noise may live.

    All projections are orthogonal. A vector of ``n`` answers is flat.
    """

    @property
    def size(self) -> int:
        """Number of answers n."""

    @property
    def rank(self) -> int:
        """Number of independent invariants n_c, exact; below n."""

    @property
    def reports(self) -> tuple[RowReport, ...]:
        """What each invariant adds."""

    @property
    def denominators(self) -> Exact:
        """Denominators of a projected whole vector: one for all (0-d) or per answer ``[n]``."""

    def project(self, noise: Integers) -> Rationals:
        """Return Π_N·noise exactly; ``noise`` is ``int64[n]``."""

    def project_floats(self, values: Floats) -> Floats:
        """Return Π_N·values for ``float64[n]``, rounded as floats are."""

    def unit_variances(self) -> Rationals:
        """Return the diagonal of Π_N: the variance of each answer when the noise before projection has variance 1."""

    def weights(self, answer: int) -> list[tuple[Fraction, int]]:
        """Return the distinct weights of a row of Π_N with how often each occurs, zeros left out."""

    def squared_sensitivity(self) -> Fraction:
        """Return max |Π_N(e_y − e_z)|² over two different answers: Δ₂² of the projected histogram, or a bound of it."""

    def row_norm_bound(self) -> int:
        """Return a bound of the largest eigenvalue of B·Bᵀ, B whole independent rows that span the row space."""

    def broken(self, released: Rationals, truth: Integers) -> int:
        """Return how many invariant sums of `released` differ from those of the truth, compared exactly.

        Args:
            released: ``released[n]``, the published answers.
            truth: ``truth[n]``, the true answers, whole numbers.
        """

    def determined(self) -> int:
        """Return how many answers are fixed by the invariants alone: rows of Π_N that are 0."""
