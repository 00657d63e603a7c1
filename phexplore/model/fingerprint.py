"""The identity of a scenario's parameters: equal exactly when a run or a release would be the same."""

from __future__ import annotations

import hashlib
import json

from phexplore.model.scenario import Scenario

FINGERPRINT_VERSION = 1


def fingerprint(scenario: Scenario) -> str:
    """Return 64 hexadecimal digits: SHA-256 of the canonical JSON of all parameters.

    Name, note, locks, targets, conventions and provenance do not count: they change no released number.
    """
    canonical = {"version": FINGERPRINT_VERSION, **scenario.method.canonical()}
    text = json.dumps(canonical, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
