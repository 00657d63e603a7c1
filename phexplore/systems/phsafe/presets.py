"""The shipped presets of PHSafe: exact production parameters of the S-DHC."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from phexplore.catalog.presets import Preset, read_presets
from phexplore.catalog.tables import queries
from phexplore.model.keys import QueryKey, TableId, parse_level
from phexplore.model.numbers import parse_budget, parse_exact
from phexplore.model.phsafe import PhSafe, PrivacyFramework


@lru_cache(maxsize=1)
def phsafe_presets() -> Mapping[str, Preset]:
    """Return all published parameters by id."""
    return read_presets("presets/sdhc.json", _method, "S-DHC (PHSafe)")


def _method(entry: Mapping[str, Any]) -> PhSafe:
    budgets = _by_query(entry["budgets"], parse_budget)
    return PhSafe(
        budgets={query: budgets[query] for query in queries()},
        thresholds={TableId(table): people for table, people in entry["thresholds"].items()},
        states=tuple(entry["states"]),
        framework=PrivacyFramework(entry["framework"]),
        reader=entry["reader"],
        targets=_by_query(entry["targets"], parse_exact),
    )


def _by_query(tables: Mapping[str, Mapping[str, str]], parse: Any) -> dict[QueryKey, Any]:
    return {
        QueryKey(TableId(table), parse_level(level)): parse(text)
        for table, levels in tables.items()
        for level, text in levels.items()
    }
