"""What of a run on records that are treated as confidential may be read by others: noise and checks, nothing counted exactly.

Noise is drawn independently of the records, so how large it came out tells nothing about them. Whatever is compared with exact
counts does: truncation, bias, total error, households by size. It stays in the run's own files, which only their owner reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LEFT_OUT = (
    "Exact counts, truncation, bias and total errors were left out: the data of the run carry no mark of synthetic or published "
    "origin and are treated as confidential. They stay in the run's directory, readable by its owner."
)

HELD_BACK = (
    "This holds exact counts of records that carry no mark of synthetic or published origin: they are treated as confidential and "
    "can be looked at, not copied or saved."
)

_SHARED = (
    "version", "identity", "fingerprint", "scenario", "mode", "seed", "reproducible", "releasable", "synthetic_data", "provenance", "trials",
    "trials_asked", "code_version", "seconds", "checks", "failsafe", "relaxed", "unfinished", "privacy", "conventions", "design",
    "coverage", "confidentiality", "estimator",
)  # fmt: skip
_SHARED_METRICS = ("table", "level", "cells", "margin", "confidence", "coverage", "observed_margin", "noise")
"""Of the metrics of PHSafe; those of other systems are errors against exact counts."""


def shared_summary(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of ``summary.json`` that holds nothing of the exact counts, and the names of what is left out."""
    kept = {name: summary[name] for name in _SHARED if name in summary}
    noise = [
        {name: entry[name] for name in _SHARED_METRICS if name in entry}
        for entry in summary.get("metrics", ())
        if "noise" in entry
    ]
    left_out = sorted(set(summary) - set(kept) - ({"metrics"} if noise else set()))
    return {**kept, "metrics": noise, "left_out": left_out, "remark": LEFT_OUT}
