"""The geographic levels of DAS ``.ini`` files: their spellings, their lengths, and where a silent file takes them from."""

from __future__ import annotations

from collections.abc import Sequence

from phexplore.systems.topdown.ini_strategy import StrategyTable, named_strategies
from phexplore.systems.topdown.ini_text import EffectiveIni
from phexplore.systems.topdown.presets import topdown_presets

_SPELLINGS = {"National": "Nation"}
"""Production's programs of 2019 write either name for the same level."""

_LENGTHS = {
    "US": 0,
    "Nation": 1,
    "State": 2,
    "County": 5,
    "Tract": 11,
    "Tract_Group": 9,
    "Block_Group": 12,
    "Block": 16,
}
_PRIM_LENGTHS = {"Prim": 6, "Tract_Subset_Group": 11, "Tract_Subset": 12, "Block_Group": 13}


def level_named(written: str) -> str:
    """Return the level that a file names."""
    return _SPELLINGS.get(written, written)


def spelling_in(ini: EffectiveIni, level: str) -> str:
    """Return the name that a chain of files gives a level.

    Args:
        ini: the chain with its latest values.
        level: as this program calls it.
    """
    return spellings_in(ini).get(level, level)


def spellings_in(ini: EffectiveIni) -> dict[str, str]:
    """Return the names that a chain of files gives the levels it lists."""
    value = ini.get("geodict", "geolevel_names")
    written = () if value is None else value.items()
    return {level_named(text): text for text, _, _ in reversed(written)}


def levels_of_strategy(ini: EffectiveIni, table: StrategyTable | None) -> tuple[str, ...]:
    """Return the levels of the strategy that a file names, widest first; empty where nobody knows them.

    Args:
        ini: the chain with its latest values.
        table: shares named beside the chain, None for none.
    """
    if table is not None:
        return tuple(dict.fromkeys(key.level for key in table.shares))
    if (value := ini.get("budget", "strategy")) is None:
        return ()
    preset_id = named_strategies().strategies.get(value.text)
    return () if preset_id is None else topdown_presets()[preset_id].scenario.topdown.levels


def level_lengths(levels: Sequence[str]) -> tuple[int, ...] | None:
    """Return the lengths of the geocodes of these levels in production, None when one is unknown."""
    known = {**_LENGTHS, **_PRIM_LENGTHS} if "Prim" in levels else _LENGTHS
    return tuple(known[level] for level in levels) if set(levels) <= set(known) else None
