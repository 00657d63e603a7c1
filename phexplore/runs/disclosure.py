"""Releasable part of a run on confidential records: only what follows from the noisy measurements and the parameters.

A statistic of the drawn noise is confidential: together with the released noisy counts of the trial, it reveals exact counts.
The mean error of one cell is its noise; mean and RMSE of two cells give the noise of both. `docs/sdhc.md` contains the proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LEFT_OUT = (
    "Statistics computed from errors or exact counts were omitted. The data of the run have no mark of synthetic or published origin "
    "and are treated as confidential. Together with the noisy counts, the statistics reveal exact counts. "
    "For margins, use phexplore forecast."
)

HELD_BACK = (
    "This result contains errors or exact counts of data without a mark of synthetic or published origin. It is treated as "
    "confidential: you can view it, but not copy or save it."
)

SEEDED = "The noise can be drawn again from the run's seed, so its counts are as confidential as the data."

_SHARED = (
    "version", "identity", "fingerprint", "scenario", "mode", "reproducible", "releasable", "synthetic_data", "provenance",
    "trials_asked", "code_version", "privacy", "conventions", "confidentiality",
)  # fmt: skip
"""Entries that follow from the parameters; the identity is salted."""
_CHECKED = "budget_spent_equals_declared"
"""The only check of parameters alone. All others use records or noise, so their outcomes are not released."""


def shared_summary(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of ``summary.json`` without errors and exact counts, and the names of the omitted entries."""
    kept = {name: summary[name] for name in _SHARED if name in summary}
    left_out = sorted(set(summary) - set(kept) - {"checks", "seed", "trials"})
    checks = {name: passed for name, passed in summary.get("checks", {}).items() if name == _CHECKED}
    asked = {"seed": None, "trials": summary.get("trials_asked")}
    return {**kept, **asked, "checks": checks, "metrics": [], "left_out": left_out, "remark": LEFT_OUT}
