"""The identity of a scenario's parameters: equal exactly when a run or a release would be the same."""

from __future__ import annotations

import hashlib
import json
from typing import Any, assert_never

from phexplore.model.group_sizes import GroupSizes
from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PhSafe
from phexplore.model.scenario import Scenario
from phexplore.model.subspace import LinearCount, LinearQuery, Release, Subspace, Totals
from phexplore.model.topdown import TopDown

FINGERPRINT_VERSION = 1


def fingerprint(scenario: Scenario) -> str:
    """Return 64 hexadecimal digits: SHA-256 of the canonical JSON of all parameters.

    Name, note, locks, targets, conventions and provenance do not count: they change no released number.
    """
    canonical = {"version": FINGERPRINT_VERSION, **_canonical(scenario)}
    text = json.dumps(canonical, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _canonical(scenario: Scenario) -> dict[str, Any]:
    match scenario.method:
        case PhSafe() as method:
            return {
                "method": "phsafe",
                "framework": method.framework.value,
                "budgets": {query.text: exact_text(budget) for query, budget in method.budgets.items()},
                "thresholds": dict(method.thresholds),
                "states": sorted(method.states),
            }
        case TopDown() as method:
            return {
                "method": "topdown",
                "framework": method.framework.value,
                "schema": method.schema,
                "levels": list(method.levels),
                "total": exact_text(method.total),
                "level_shares": {level: exact_text(share) for level, share in method.level_shares.items()},
                "query_shares": {key.text: exact_text(share) for key, share in method.query_shares.items()},
                "passes": {level: [p.least_squares, p.rounder] for level, p in method.passes.items()},
                "invariants": {level: sorted(names) for level, names in method.invariants.items()},
                "constraints": {level: sorted(names) for level, names in method.constraints.items()},
                "spine": [method.spine.kind, sorted(method.spine.settings)],
            }
        case Subspace() as method:
            return {
                "method": "subspace",
                "axes": [
                    [axis.name, axis.size, axis.labels, [[each.name, each.groups] for each in axis.groupings]]
                    for axis in method.axes
                ],
                "releases": {name: _canonical_release(release) for name, release in method.releases.items()},
                "epsilon": exact_text(method.epsilon),
                "delta": exact_text(method.delta),
                "calibration": method.calibration.value,
                "table": method.table,
            }
        case GroupSizes() as method:
            tail = method.tail
            return {
                "method": "group-sizes",
                "framework": method.framework.value,
                "mechanism": method.mechanism.value,
                "levels": list(method.levels),
                "regions": list(method.regions),
                "total": exact_text(method.total),
                "level_shares": {level: exact_text(share) for level, share in method.level_shares.items()},
                "largest": method.largest,
                "largest_quantity": method.largest_quantity,
                "tail": None if tail is None else [tail.outliers, tail.smallest, tail.seed],
            }
        case _:
            assert_never(scenario.method)


def _canonical_release(release: Release) -> dict[str, Any]:
    query = release.query
    return {
        "query": [_canonical_sum(answer) for answer in query.answers]
        if isinstance(query, LinearQuery)
        else "histogram",
        "exact": [each.by if isinstance(each, Totals) else _canonical_sum(each) for each in release.invariants],
        "mechanism": release.mechanism.value,
        "share": exact_text(release.share),
        "basis": release.basis.value,
    }


def _canonical_sum(count: LinearCount) -> dict[str, Any]:
    return {"name": count.name, "weights": [[number, exact_text(weight)] for number, weight in count.coefficients]}
