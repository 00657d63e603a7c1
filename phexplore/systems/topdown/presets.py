"""The presets of TopDown: exact production parameters, the misprints of the papers corrected and named.

For every schema of the user's library there are parameters to begin with.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from phexplore.catalog.presets import Preset, read_presets
from phexplore.library import own_entries, own_title, until_reread
from phexplore.model.fingerprint import fingerprint
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery, Passes, SpineChoice, TopDown
from phexplore.resources import resource
from phexplore.workload.schema import Schema, read_schema

_DISTRICTS = ("Nation", "State", "County", "Supdist", "Enumdist")
_BLOCKS = ("US", "State", "County", "Tract", "Block_Group", "Block")


@until_reread
def topdown_presets() -> Mapping[str, Preset]:
    """Return all published parameters by id, then those to begin with over the schemas of the user's library."""
    own = own_entries("schemas", lambda path: _beginning(path, read_schema(path)))
    found = {preset.id: preset for _, preset in own}
    return MappingProxyType({**read_presets("presets/topdown.json", _method, "{product} (TopDown)"), **found})


def published_epsilon(scenario: Scenario) -> str:
    """Return ε as the signed certificate of a release of 2020 prints it, "" for parameters that are not exactly those of one."""
    return _certified().get(fingerprint(scenario), "")


@lru_cache(maxsize=1)
def _certified() -> Mapping[str, str]:
    stated = tomllib.loads(resource("published/confidence.toml").read_text("utf-8"))["certificates"]
    return {fingerprint(topdown_presets()[each["scenario"]].scenario): each["epsilon"] for each in stated}


def _beginning(path: Path, schema: Schema) -> Preset:
    """Return parameters that favour nothing: ρ 1, equal shares of the levels of the standard spine and of the queries of a schema."""
    levels = _BLOCKS if schema.geography == "census-blocks" else _DISTRICTS
    queries = tuple(dict.fromkeys((*schema.catalogue, "detailed")))
    passes = Passes(((queries,),), ((tuple(dict.fromkeys(("total", "detailed"))),),))
    zeros = tuple(zero.name for zero in schema.structural_zeros)
    method = TopDown(
        schema=schema.id,
        levels=levels,
        total=Fraction(1),
        level_shares=dict.fromkeys(levels, Fraction(1, len(levels))),
        query_shares={LevelQuery(level, query): Fraction(1, len(queries)) for level in levels for query in queries},
        passes=dict.fromkeys(levels, passes),
        constraints={levels[-1]: zeros} if zeros else {},
    )
    id_, title = f"schema:{schema.id}", own_title(schema.title)
    scenario = Scenario(schema.title, method, baseline=id_)
    return Preset(id_, title, str(path), "TopDown over a schema of yours, all shares equal", scenario, is_own=True)


def _method(entry: Mapping[str, Any]) -> TopDown:
    levels = tuple(entry["levels"])
    shares = {
        LevelQuery(level, query): Fraction(share)
        for level in levels
        for query, share in entry["query_shares"][level].items()
    }
    return TopDown(
        schema=entry["schema"],
        levels=levels,
        total=Fraction(entry["total"]),
        level_shares={level: Fraction(entry["level_shares"][level]) for level in levels},
        query_shares=shares,
        framework=PrivacyFramework(entry["framework"]),
        passes={level: _passes(order) for order in entry["passes"] for level in order["levels"]},
        invariants={level: tuple(names) for level, names in entry["invariants"].items()},
        constraints={level: tuple(names) for level, names in entry["constraints"].items()},
        spine=SpineChoice(entry["spine"]["kind"], tuple(entry["spine"]["settings"].items())),
    )


def _passes(order: Mapping[str, Any]) -> Passes:
    return Passes(_nested(order["least_squares"]), _nested(order["rounder"]))


def _nested(passes: list[list[list[str]]]) -> tuple[tuple[tuple[str, ...], ...], ...]:
    return tuple(tuple(tuple(names) for names in inner) for inner in passes)
