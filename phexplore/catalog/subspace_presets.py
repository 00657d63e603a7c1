"""The shipped presets of subspace privacy, with what the paper prints otherwise."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from phexplore.model.numbers import parse_exact
from phexplore.model.subspace import Axis, Basis, Calibration, Histogram, Mechanism, Release, Subspace, Totals
from phexplore.resources import resource


@dataclass(frozen=True, slots=True)
class SubspaceEntry:
    """One published set of parameters.

    Attributes:
        id: as the command line takes it.
        title: for people.
        product: the publication.
        source: where the figures come from.
        errata: what the paper prints otherwise, in words.
        method: the parameters.
    """

    id: str
    title: str
    product: str
    source: str
    errata: tuple[str, ...]
    method: Subspace


@lru_cache(maxsize=1)
def subspace_entries() -> Mapping[str, SubspaceEntry]:
    """Return all published parameters by id."""
    content = json.loads(resource("presets/subspace.json").read_text(encoding="utf-8"))
    return MappingProxyType({entry["id"]: _entry(entry) for entry in content["presets"]})


def _entry(entry: Mapping[str, Any]) -> SubspaceEntry:
    stated = entry["method"]
    method = Subspace(
        axes=tuple(Axis(axis["name"], axis["size"], tuple(axis["labels"])) for axis in stated["axes"]),
        releases={name: _release(release) for name, release in stated["releases"].items()},
        epsilon=parse_exact(stated["epsilon"]),
        delta=parse_exact(stated["delta"]),
        calibration=Calibration(stated["calibration"]),
        table=stated["table"],
    )
    return SubspaceEntry(entry["id"], entry["title"], entry["product"], entry["source"], tuple(entry["errata"]), method)


def _release(stated: Mapping[str, Any]) -> Release:
    return Release(
        query=Histogram(),
        invariants=tuple(Totals(tuple(exact["totals by"])) for exact in stated["exact"]),
        mechanism=Mechanism(stated["mechanism"]),
        share=Fraction(stated["share"]),
        basis=Basis(stated["basis"]),
    )
