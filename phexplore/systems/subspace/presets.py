"""The shipped presets of subspace privacy, with what the paper prints otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

from phexplore.catalog.presets import Preset, read_presets
from phexplore.model.numbers import parse_exact
from phexplore.model.subspace import Axis, Basis, Calibration, Histogram, Mechanism, Release, Subspace, Totals


@lru_cache(maxsize=1)
def subspace_presets() -> Mapping[str, Preset]:
    """Return all published parameters by id."""
    return read_presets("presets/subspace.json", _method)


def _method(entry: Mapping[str, Any]) -> Subspace:
    stated = entry["method"]
    return Subspace(
        axes=tuple(Axis(axis["name"], axis["size"], tuple(axis["labels"])) for axis in stated["axes"]),
        releases={name: _release(release) for name, release in stated["releases"].items()},
        epsilon=parse_exact(stated["epsilon"]),
        delta=parse_exact(stated["delta"]),
        calibration=Calibration(stated["calibration"]),
        table=stated["table"],
    )


def _release(stated: Mapping[str, Any]) -> Release:
    return Release(
        query=Histogram(),
        invariants=tuple(Totals(tuple(exact["totals by"])) for exact in stated["exact"]),
        mechanism=Mechanism(stated["mechanism"]),
        share=Fraction(stated["share"]),
        basis=Basis(stated["basis"]),
    )
