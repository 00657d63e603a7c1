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
    "This holds errors or exact counts of records that carry no mark of synthetic or published origin: they are treated as "
    "confidential and can be looked at, not copied or saved."
)

SEEDED = "The noise can be drawn again from the run's seed, so its counts are as confidential as the data."

_SHARED = (
    "version", "identity", "fingerprint", "scenario", "mode", "seed", "reproducible", "releasable", "synthetic_data", "provenance",
    "trials", "trials_asked", "code_version", "seconds", "failsafe", "relaxed", "unfinished", "privacy", "conventions", "design",
    "confidentiality",
)  # fmt: skip


def shared_summary(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of ``summary.json`` that holds nothing of errors and exact counts, and the names of what is left out."""
    kept = {name: summary[name] for name in _SHARED if name in summary}
    left_out = sorted(set(summary) - set(kept) - {"checks"})
    checks = _passed(summary.get("checks", {}))
    return {**kept, "checks": checks, "metrics": [], "left_out": left_out, "remark": LEFT_OUT}


def _passed(checks: Mapping[str, Any]) -> dict[str, Any]:
    """Return whether each check passed, without how many failures there were."""
    return {name: _passed(value) if isinstance(value, Mapping) else value is True for name, value in checks.items()}
