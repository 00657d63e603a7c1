"""Sentences about mechanisms under exact sums. No Qt."""

from __future__ import annotations

from phexplore.model.subspace import Basis, Calibration, Mechanism

BASES = {Basis.HELMERT: "Helmert: each cell against those before it", Basis.HALVES: "Halves, halved again"}


CALIBRATIONS = {
    Calibration.EXACT: "Exact: the smallest σ that keeps (ε, δ)",
    Calibration.PAPER: "The paper's constant (refused where it breaks δ)",
}


MECHANISM_EXPLANATIONS = {
    Mechanism.PROJECTED_LAPLACE: "Independent Laplace noise on every answer, projected onto what the exact sums leave free "
    "(Corollary 3.8). Pure: no δ.",
    Mechanism.EXTENDED_LAPLACE: "Laplace noise on the coordinates of a basis of what the exact sums leave free (Corollary 3.9). Pure, "
    "and its error depends on the basis.",
    Mechanism.PROJECTED_GAUSSIAN: "Independent Gaussian noise at the query's own sensitivity, projected (Corollary 3.5). Needs δ.",
    Mechanism.EXTENDED_GAUSSIAN: "Gaussian noise at the sensitivity that is left beside the exact sums (Algorithm 1): never worse than "
    "projecting. Needs δ.",
    Mechanism.CORRELATED_GAUSSIAN: "Gaussian noise shaped to the query, near the least squared error (Theorem 3.11). Needs δ; up to 200 "
    "answers.",
    Mechanism.K_NORM: "Noise that falls with the norm made from the differences of records (§3.4), drawn exactly for one grand total. "
    "Pure, and numbers stay whole.",
}
