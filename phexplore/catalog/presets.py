"""Shipped presets: exact production parameters, each with its source; every system says how its own are read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from phexplore.model.scenario import Method, Scenario
from phexplore.resources import resource


@dataclass(frozen=True, slots=True)
class Preset:
    """Published parameters under a short id.

    Attributes:
        id: as the command line takes it, e.g. ``sdhc-2020-us``.
        title: for people.
        source: where the figures come from.
        product: the publication, e.g. "S-DHC (PHSafe)".
        scenario: the parameters.
        partner: id of the preset released together with this one, "" when alone.
        errata: what the papers print otherwise, in words.
        is_own: whether it is the user's.
    """

    id: str
    title: str
    source: str
    product: str
    scenario: Scenario
    partner: str = ""
    errata: tuple[str, ...] = ()
    is_own: bool = False


def read_presets(
    name: str, method_of: Callable[[Mapping[str, Any]], Method], product: str = "{product}"
) -> Mapping[str, Preset]:
    """Return the presets of one resource by id, in its order.

    Args:
        name: of the resource.
        method_of: reads the parameters of one entry.
        product: the publication; in braces what an entry says.
    """
    content = json.loads(resource(name).read_text(encoding="utf-8"))
    return MappingProxyType({entry["id"]: _preset(entry, method_of(entry), product) for entry in content["presets"]})


def _preset(entry: Mapping[str, Any], method: Method, product: str) -> Preset:
    return Preset(
        id=entry["id"],
        title=entry["title"],
        source=entry["source"],
        product=product.format_map(entry),
        scenario=Scenario(name=entry["title"], method=method, baseline=entry["id"]),
        partner=entry.get("partner", ""),
        errata=tuple(entry.get("errata", ())),
    )


def errata_of(presets: Mapping[str, Preset], scenario: Scenario) -> tuple[str, ...]:
    """Return what the papers print otherwise of the preset a scenario started from.

    Args:
        presets: of its system, by id.
        scenario: of any origin.
    """
    return presets[scenario.baseline].errata if scenario.baseline in presets else ()
