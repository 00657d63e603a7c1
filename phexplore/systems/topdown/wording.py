"""Levels, queries and shares of TopDown as the window words them. Pure functions; exact numbers never pass through a float."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from phexplore.catalog.names import Naming, chosen_naming
from phexplore.errors import PhexploreError
from phexplore.library import is_own, own_title
from phexplore.model.numbers import exact_text
from phexplore.model.topdown import LevelQuery
from phexplore.spine.settings import spine_presets
from phexplore.systems.protocol import PlaceName, plain_place
from phexplore.systems.topdown.forecast import query_of
from phexplore.workload.schema import load_schema

_LEVELS = {
    "US": "US",
    "Nation": "Nation",
    "Prim": "Primitive area",
    "Block_Group": "Block group",
    "Tract_Group": "Tract group",
    "Tract_Subset": "Tract subset",
    "Tract_Subset_Group": "Tract subset group",
}
_SPINES = {
    "standard": "Standard hierarchy",
    "aian": "With AIAN areas apart",
    "optimised": "Optimised",
    "prim": "Primitive areas (DHC)",
}
_SPINE_PRESETS = {
    "standard": "Standard spine",
    "aian": "AIAN spine",
    "pl94-2020": "2020 persons (US, PR)",
    "pl94-2020-units": "2020 units (US, PR)",
    "dhc-2020": "2020 DHC (US, PR)",
}

UNITS_OF_RESULTS = (
    "Results are those of tabulated units; a forecast margin is that of the spine's own units, which an optimised spine forms "
    "differently, e.g. its block groups."
)


def level_title(level: str) -> str:
    """Return the name of a level for people, e.g. "Block group" for ``Block_Group``."""
    return _LEVELS.get(level, level.replace("_", " "))


def query_title(query: str) -> str:
    """Return the name of a query group for people, e.g. "hispanic × cenrace"."""
    return query.replace(" * ", " × ")


def heading(title: str) -> str:
    """Return a title as it stands at the start of a line or sentence: "total at County" as "Total at County"."""
    return title[:1].upper() + title[1:]


def place_title(key: LevelQuery | str | None) -> str:
    """Return the name of what is being looked at: a query at a level, a level, or everything."""
    if key is None:
        return "All levels and queries"
    if isinstance(key, LevelQuery):
        return f"{query_title(key.query)} at {level_title(key.level)}"
    return level_title(key)


@lru_cache(maxsize=1024)
def query_sentence(schema: str, query: str) -> str:
    """Return what a query group counts, in words.

    Args:
        schema: id.
        query: which answers.
    """
    try:
        found = query_of(schema, query)
    except PhexploreError as error:
        return error.sentence
    record = plural(found.schema.record)
    if found.name == "total":
        return f"All {record} of a unit, one answer."
    words = " × ".join(factor.title for factor in found.factors)
    if found.name == "detailed":
        return f"Every cell of the histogram: {words}. {found.answers:,} answers."
    return f"{record.capitalize()} by {words}. {found.answers:,} answers."


@lru_cache(maxsize=64)
def counted(schema: str) -> str:
    """Return what a schema counts, e.g. "people" or "housing units"."""
    return plural(load_schema(schema).record)


def plural(record: str) -> str:
    """Return the plural of what one record is, which may be one thing or another."""
    one, _, rest = record.partition(" or ")
    many = {"person": "people"}.get(one) or (f"{one[:-1]}ies" if one.endswith("y") else f"{one}s")
    return f"{many} or {plural(rest)}" if rest else many


def schema_title(schema: str) -> str:
    """Return what a schema is called, with its id where codes are wanted; the id alone where it is known no more."""
    try:
        title = load_schema(schema).title
    except PhexploreError:
        return schema
    return title if chosen_naming() is Naming.NAMES else f"{title} ({schema})"


def schema_sentence(schema_id: str) -> str:
    """Return what a schema is and whether it can be simulated."""
    try:
        schema = load_schema(schema_id)
    except PhexploreError as error:
        return error.sentence
    sizes = " × ".join(f"{attribute.name} {attribute.levels}" for attribute in schema.attributes)
    limit = f" {schema.analytic_only}" if schema.analytic_only else ""
    title = own_title(schema.title) if is_own("schemas", f"{schema.id}.toml") else schema.title
    return f"{title}: {sizes} = {schema.cells:,} cells.{limit}"


def spine_title(kind: str) -> str:
    """Return the name of a kind of spine."""
    return _SPINES.get(kind, kind)


def spine_preset_title(preset: str) -> str:
    """Return the name of a spine in a few words; the user's as its file has it."""
    own = spine_presets().get(preset)
    return _SPINE_PRESETS.get(preset) or (own.title if own is not None and own.is_own else preset)


def plural_level(level: str, count: int) -> str:
    """Return what units of a level are called, one or several, e.g. "counties".

    Args:
        level: of the tree.
        count: how many.
    """
    one = level if level in {"US", "Nation"} else level_title(level).lower()
    if count == 1:
        return one
    return f"{one[:-1]}ies" if one.endswith("y") else f"{one}s"


def share_exact(share: Fraction) -> str:
    """Return a share as people type it: a decimal where there is one, else a fraction."""
    return exact_text(share)


def place_name(place: str) -> PlaceName:
    """Return what ``Block/total`` is called."""
    level, _, query = place.partition("/")
    if not query:
        return plain_place(place)
    group, name = level_title(level), query_title(query)
    return PlaceName(group, name, f"{group}: {name}")


def taken_over(units: int) -> str:
    """Return that units were bypassed, in words."""
    return (
        f"{units:,} unit takes over its children's budget"
        if units == 1
        else f"{units:,} units take over their children's budgets"
    )
