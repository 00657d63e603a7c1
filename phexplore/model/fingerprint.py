"""The identity of a scenario's parameters: equal exactly when a run or a release would be the same."""

from __future__ import annotations

import hashlib
import json

from phexplore.model.numbers import exact_text
from phexplore.model.scenario import Scenario

FINGERPRINT_VERSION = 1


def fingerprint(scenario: Scenario) -> str:
    """Return 64 hexadecimal digits: SHA-256 of the canonical JSON of all parameters.

    Name, note, locks, targets, conventions and provenance do not count: they change no released number.
    """
    method = scenario.method
    canonical = {
        "version": FINGERPRINT_VERSION,
        "method": "phsafe",
        "framework": method.framework.value,
        "budgets": {query.text: exact_text(budget) for query, budget in method.budgets.items()},
        "thresholds": dict(method.thresholds),
        "states": sorted(method.states),
    }
    text = json.dumps(canonical, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
