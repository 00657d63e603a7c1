"""The shipped presets: exact production parameters, each with its source."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from phexplore.catalog.group_sizes_presets import GroupSizesEntry, group_sizes_entries
from phexplore.catalog.subspace_presets import SubspaceEntry, subspace_entries
from phexplore.catalog.tables import queries
from phexplore.catalog.topdown_presets import TopDownEntry, topdown_entries
from phexplore.errors import UnknownNameError
from phexplore.model.keys import QueryKey, TableId, parse_level
from phexplore.model.numbers import parse_budget, parse_exact
from phexplore.model.phsafe import PhSafe, PrivacyFramework
from phexplore.model.scenario import Scenario
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
    """

    id: str
    title: str
    source: str
    product: str
    scenario: Scenario
    partner: str = ""
    errata: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def presets() -> Mapping[str, Preset]:
    """Return all presets by id, in the order they are shown."""
    content = json.loads(resource("presets/sdhc.json").read_text(encoding="utf-8"))
    found = [_sdhc(entry) for entry in content["presets"]]
    found += [_topdown(entry) for entry in topdown_entries().values()]
    found += [_alone(entry) for entry in group_sizes_entries().values()]
    found += [_alone(entry) for entry in subspace_entries().values()]
    return MappingProxyType({preset.id: preset for preset in found})


def preset(preset_id: str) -> Preset:
    """Return one preset.

    Raises:
        UnknownNameError: no such preset; the remedy names the nearest.
    """
    if (found := presets().get(preset_id)) is None:
        raise UnknownNameError("preset", preset_id, list(presets()))
    return found


def _sdhc(entry: Mapping[str, Any]) -> Preset:
    budgets = _by_query(entry["budgets"], parse_budget)
    method = PhSafe(
        budgets={query: budgets[query] for query in queries()},
        thresholds={TableId(table): people for table, people in entry["thresholds"].items()},
        states=tuple(entry["states"]),
        framework=PrivacyFramework(entry["framework"]),
        reader=entry["reader"],
        targets=_by_query(entry["targets"], parse_exact),
    )
    scenario = Scenario(name=entry["title"], method=method, baseline=entry["id"])
    return Preset(entry["id"], entry["title"], entry["source"], "S-DHC (PHSafe)", scenario)


def _topdown(entry: TopDownEntry) -> Preset:
    scenario = Scenario(name=entry.title, method=entry.method, baseline=entry.id)
    return Preset(
        entry.id, entry.title, entry.source, f"{entry.product} (TopDown)", scenario, entry.partner, entry.errata
    )


def _alone(entry: SubspaceEntry | GroupSizesEntry) -> Preset:
    scenario = Scenario(name=entry.title, method=entry.method, baseline=entry.id)
    return Preset(entry.id, entry.title, entry.source, entry.product, scenario, errata=entry.errata)


def _by_query(tables: Mapping[str, Mapping[str, str]], parse: Any) -> dict[QueryKey, Any]:
    return {
        QueryKey(TableId(table), parse_level(level)): parse(text)
        for table, levels in tables.items()
        for level, text in levels.items()
    }
