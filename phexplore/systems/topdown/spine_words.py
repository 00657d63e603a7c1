"""What the settings of a spine are called, what they do, and how two spines differ, in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from phexplore.catalog.names import Naming, chosen_naming, listed_states
from phexplore.errors import PhexploreError
from phexplore.model.topdown import SpineChoice
from phexplore.spine.settings import BLOCK_GROUP, CLASS_TITLES, PLACE_MCD, QUARTERS, settings_json, settings_of
from phexplore.systems.topdown.wording import spine_title


class Setting(NamedTuple):
    """A setting in words.

    Attributes:
        title: its name.
        tip: what it does.
        values: words of each value, where it is one of a few.
    """

    title: str
    tip: str = ""
    values: Mapping[str, str] = MappingProxyType({})


SETTINGS: Mapping[str, Setting] = {
    "spine": Setting("Production's name", "How production calls the kind of spine."),
    "geocode_length": Setting("Length of geocodes", "Digits of the code of a block."),
    "targets": Setting("Block groups follow", "Which areas block groups are shaped by."),
    "aian_areas": Setting("Types of AIAN areas", "Which types of areas form the branch of their own."),
    "strong_mcd_states": Setting("Strong-MCD states", "States whose towns count as places."),
    "prim_spine": Setting("Primitive areas", "Whether counties are cut by county subdivision and place first."),
    "use_prim_crosswalk": Setting(
        "Crosswalk of primitive areas", "Whether production reads them from a supplied list."
    ),
    "fanout_cutoff": Setting(
        "Fan-out cutoff",
        "A group holds at most √n + this many blocks of a tract of n blocks; larger groups make fewer, wider units.",
    ),
    "bypass_cutoff": Setting("Bypass cutoff", "Under pure DP: most units under one parent that bypassing may make."),
    "entity_threshold": Setting(
        "Entity threshold",
        "Areas that no group of tracts can bring further away than this are left out of merging.",
    ),
    "target_das_aian_areas": Setting("AIAN areas apart", "Whether American Indian areas form a branch of their own."),
    "target_orig_block_groups": Setting(
        "Keep tabulation block groups", "Whether tabulated block groups are kept whole."
    ),
    "ignore_gqs_in_block_groups": Setting(
        "Ignore group quarters", "Whether blocks with different group quarters may share a block group."
    ),
    "target_school_dists": Setting("School districts", "Whether school districts are kept whole."),
    "aian_sum_constraints": Setting(
        "Sums over AIAN parts", "Whether the parts of a state are held in sum, not each by itself."
    ),
    "grouping": Setting(
        "Size of a block group",
        values={"production": "By production: one more may fit", "paper": "By the paper: ⌊√n⌋ + cutoff"},
    ),
    "redefine_counties": Setting(
        "Redefine counties",
        "Where tribal areas take the place of counties inside their branch.",
        {"nowhere": "Nowhere (as in 2020)", "in_strong_MCDs": "In strong-MCD states", "everywhere": "Everywhere"},
    ),
    "tract_groups": Setting(
        "Groups of tracts",
        values={
            "none": "None",
            "standard": "First four digits of the tract",
            "production": "Merged by production's rule",
            "paper": "Merged by the paper's Algorithm 2",
        },
    ),
    "bypass": Setting(
        "Rule of bypassing",
        values={
            "as-in-2020": "As in 2020",
            "single-child": "Only children (zCDP)",
            "pure-dp": "Theorem 2 (pure DP)",
            "sum-of-squares": "Sum of squares (rejected)",
            "none": "None",
        },
    ),
}
"""By the name production's configuration or this program gives it."""

KIND_SENTENCES: Mapping[str, str] = {
    "standard": "State, county, tract, block group, block as tabulated. Places, towns and tribal areas cut across it, so "
    "their totals add up many noisy pieces.",
    "aian": "Tribal areas form a branch of their own in every state that has them; inside the branches the standard "
    "hierarchy stays.",
    "optimised": "Tribal areas form their own branch, and the blocks of a tract are grouped anew so that the areas ticked "
    "below are made of few pieces.",
    "prim": "The hierarchy of the 2020 DHC: counties are cut by county subdivision and place before tracts. It needs a "
    "scenario with those levels.",
}
BYPASS_SENTENCES: Mapping[str, str] = {
    "as-in-2020": "Only children under zCDP; under pure DP also Theorem 2, below the county and within the bypass cutoff.",
    "single-child": "A parent with one child takes over its budget; the child copies the parent. No variance rises.",
    "pure-dp": "A parent of c children is bypassed where 2 × the smallest child budget ≥ (c − 1) × its own. Under Gaussian "
    "noise bypassing two or more raises at least one variance.",
    "sum-of-squares": "A parent is bypassed where the sum of all variances falls. The paper rejects it: many small gains hide "
    "large losses. Here to be compared.",
    "none": "Every unit keeps its level's budget.",
}
TARGETS: Mapping[str, str] = {
    PLACE_MCD: "Towns or places, by state",
    "place": "Places",
    "cousub": "Towns",
    "aiannh": "Tribal areas",
    "school_dist": "School districts",
    QUARTERS: "Group quarters apart",
    BLOCK_GROUP: "Tabulated block groups",
    "secondary_sd": "Secondary school districts",
    "sldu": "Upper-chamber districts",
    "sldl": "Lower-chamber districts",
    "zcta": "ZIP code areas",
    "cd": "Congressional districts",
}
"""What block groups can follow."""
_TARGET_TIPS = {
    PLACE_MCD: "What production targets: towns where they govern (strong-MCD states), places elsewhere, outside tribal areas.",
    QUARTERS: "Blocks with different types of group quarters never share a block group (persons; units ignore it).",
}
_SAID_BY_TARGETS = {
    "target_das_aian_areas",
    "target_orig_block_groups",
    "ignore_gqs_in_block_groups",
    "target_school_dists",
}

_LISTED = re.compile(r'"(\w+)"')


def setting_words(name: str) -> Setting:
    """Return a setting in words; one nobody described says its name."""
    return SETTINGS.get(name, Setting(name.replace("_", " ").capitalize()))


def target_tip(target: str) -> str:
    """Return what following a class of areas means."""
    areas = CLASS_TITLES.get(target, target).lower()
    return _TARGET_TIPS.get(target, f"Blocks in different {areas} never share a block group.")


def spine_text(spine: SpineChoice) -> str:
    """Return a spine with all that it sets, in a line: as production writes it where codes are wanted, else in words."""
    if chosen_naming() is Naming.CODES:
        return ", ".join((spine.kind, *(f"{name} = {value}" for name, value in spine.settings)))
    has_both = chosen_naming() is Naming.BOTH
    said = [spine_title(spine.kind)]
    for name, value in spine.settings:
        title, _, values = setting_words(name)
        said.append(
            f"{_inside(title)}{f' ({name})' if has_both else ''}: {_inside(values[value]) if value in values else _value_text(name, value)}"
        )
    return "; ".join(said)


def _value_text(name: str, value: str) -> str:
    """Return a value that is written as production writes it, in words."""
    listed = _LISTED.findall(value)
    if listed:
        return (
            listed_states(listed)
            if name == "strong_mcd_states"
            else ", ".join(each.replace("_", " ") for each in listed)
        )
    return {"true": "yes", "false": "no"}.get(value, value.replace("_", " "))


def spine_difference(before: SpineChoice, after: SpineChoice) -> str:
    """Return how one spine differs from another, in words.

    Args:
        before: of the reference.
        after: the other one.
    """
    if before.kind != after.kind:
        return f"{spine_title(before.kind)} → {spine_title(after.kind)}"
    was, now = _values(before), _values(after)
    names = [name for name in dict.fromkeys((*now, *was)) if was.get(name) != now.get(name)]
    return "; ".join(_difference(name, was.get(name), now.get(name)) for name in names) or "settings changed"


def _values(choice: SpineChoice) -> dict[str, object]:
    """Return the values of all settings, those that are not written as they apply."""
    written = dict(choice.settings)
    try:
        settings = settings_json(settings_of(choice))
    except PhexploreError:
        return dict(written)
    return {name: value for name, value in written.items() if name not in _SAID_BY_TARGETS} | settings


def _difference(name: str, before: object, after: object) -> str:
    title, _, values = setting_words(name)
    if isinstance(before, list) and isinstance(after, list):
        parts = [f"{_item(each)} added" for each in after if each not in before]
        parts += [f"{_item(each)} dropped" for each in before if each not in after]
        return f"{_inside(title)}: {', '.join(parts) or 'another order'}"
    was, now = ("not set" if each is None else _inside(values.get(str(each), str(each))) for each in (before, after))
    return f"{_inside(title)} {was} → {now}"


def _item(name: str) -> str:
    return _inside(TARGETS[name]) if name in TARGETS else name.replace("_", " ")


def _inside(title: str) -> str:
    """Return a title as it stands inside a sentence."""
    return title if title[:2].isupper() else title[:1].lower() + title[1:]
