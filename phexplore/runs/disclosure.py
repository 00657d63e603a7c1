"""What of a run on confidential records may leave: what follows from the noisy answers and the parameters, and nothing else.

A statistic of the drawn noise is confidential: once the noisy counts of the trial are released, it gives exact counts. The mean
error of one cell is its noise; mean and RMSE of two cells are the noise of both. `docs/sdhc.md` states the rule and its proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LEFT_OUT = (
    "Figures computed from errors or exact counts were left out: the data of the run carry no mark of synthetic or published "
    "origin and are treated as confidential. Together with the noisy counts they give exact counts. See phexplore forecast for margins."
)

HELD_BACK = (
    "This holds errors or exact counts of data that carry no mark of synthetic or published origin: they are treated as "
    "confidential and can be looked at, not copied or saved."
)

SEEDED = "The noise can be drawn again from the run's seed, so its counts are as confidential as the data."

_SHARED = (
    "version", "identity", "fingerprint", "scenario", "mode", "reproducible", "releasable", "synthetic_data", "provenance",
    "trials_asked", "code_version", "privacy", "conventions", "confidentiality",
)  # fmt: skip
"""All of it follows from the parameters; the identity is salted."""
_CHECKED = "budget_spent_equals_declared"
"""The one check of parameters alone. All others look at records or noise, so their outcomes stay in the run."""


def shared_summary(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of ``summary.json`` that holds nothing of errors and exact counts, and the names of what is left out."""
    kept = {name: summary[name] for name in _SHARED if name in summary}
    left_out = sorted(set(summary) - set(kept) - {"checks", "seed", "trials"})
    checks = {name: passed for name, passed in summary.get("checks", {}).items() if name == _CHECKED}
    asked = {"seed": None, "trials": summary.get("trials_asked")}
    return {**kept, **asked, "checks": checks, "metrics": [], "left_out": left_out, "remark": LEFT_OUT}
