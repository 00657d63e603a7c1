"""How a spine is shaped: the settings as a value, the shipped presets, and their form in a scenario."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from phexplore.catalog.states import states
from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.library import confirm_id, own_entries, own_title, text_of, until_reread
from phexplore.model.topdown import SpineChoice, TopDown
from phexplore.resources import resource
from phexplore.text.messages import msg

KINDS = ("standard", "aian", "optimised", "prim")
"""Spines: the tabulation hierarchy; the same with tribal areas apart; with block groups of its own; the one of the DHC."""

GROUPINGS = ("production", "paper")
"""Blocks in one optimised block group: int(√n + cutoff) + 1 as production's code counts them (errata G2), or ⌊√n⌋ + cutoff."""

TRACT_GROUPS = ("none", "standard", "production", "paper")
"""Groups of tracts: no such level; by the first four digits of the tract; merged as production does; as Algorithm 2 does."""

BYPASS_RULES = ("as-in-2020", "single-child", "pure-dp", "sum-of-squares", "none")
"""Which parents give their budget away: `single-child` under zCDP and `pure-dp` with production's limits under pure DP; an
only child's; Theorem 2; where the sum of squared errors falls (rejected by the paper, section 3.1); none."""

REDEFINED_COUNTIES = ("nowhere", "in_strong_MCDs", "everywhere")

STRONG_MCD_STATES = ("09", "23", "25", "26", "27", "33", "34", "36", "42", "44", "50", "55")
"""States whose towns govern: their minor civil divisions are targeted, elsewhere places are (paper, section 6)."""

AIAN_RANGES: Mapping[str, tuple[int, int]] = {
    "Legal_Federally_Recognized_American_Indian_Area": (1, 4799),
    "American_Indian_Joint_Use_Area": (4800, 4989),
    "Hawaiian_Home_Land": (5000, 5499),
    "Oklahoma_Tribal_Statistical_Area": (5500, 5899),
    "Joint_Use_Oklahoma_Tribal_Statistical_Area": (5900, 5999),
    "Alaska_Native_Village_Statistical_Area": (6000, 7999),
    "Tribal_Designated_Statistical_Area": (8000, 8999),
    "State_Recognized_Legal_American_Indian_Area": (9000, 9499),
    "State_Designated_Tribal_Statistical_Area": (9500, 9998),
}
"""First and last AIANNHCE code of each class of tribal area (topdown, section 10)."""

AIAN_AREAS_2020 = (
    "Legal_Federally_Recognized_American_Indian_Area",
    "American_Indian_Joint_Use_Area",
    "Hawaiian_Home_Land",
    "Alaska_Native_Village_Statistical_Area",
    "State_Recognized_Legal_American_Indian_Area",
    "Oklahoma_Tribal_Statistical_Area",
    "Joint_Use_Oklahoma_Tribal_Statistical_Area",
)
"""The classes production puts on the spine: all but the two statistical ones without a fixed extent."""

PLACE_MCD, QUARTERS, BLOCK_GROUP = "place_mcd", "gq", "block_group"
"""Targets that are no column: town or place by state, the types of group quarters present, the tabulation block group."""

CLASS_TITLES: Mapping[str, str] = MappingProxyType(
    {
        "place": "Places",
        "cousub": msg("County subdivisions (MCDs)"),
        "aiannh": msg("American Indian, Alaska Native, and Native Hawaiian areas"),
        "school_dist": msg("School districts, unified or elementary"),
        "secondary_sd": msg("School districts, secondary"),
        "sldu": msg("State legislative districts, upper chamber"),
        "sldl": msg("State legislative districts, lower chamber"),
        "cd": msg("Congressional districts"),
        "zcta": msg("ZIP Code Tabulation Areas"),
        "county": "Counties",
        "tract": msg("Census tracts"),
        BLOCK_GROUP: msg("Block groups of the tabulation"),
        PLACE_MCD: msg("County subdivisions of strong-MCD states, places elsewhere, outside AIAN areas"),
        QUARTERS: msg("Combinations of group quarters types"),
    }
)
"""Words for the classes of areas."""

DEFAULT_TARGETS = (PLACE_MCD, "aiannh", QUARTERS)


@dataclass(frozen=True, slots=True)
class SpineSettings:
    """How a spine is shaped.

    Attributes:
        kind: one of `KINDS`.
        aian_areas: classes of tribal areas that stand apart from state to block; none for the standard spine.
        targets: classes of areas whose blocks optimised block groups keep together; used by `optimised` and `prim`.
        grouping: how many blocks an optimised block group holds, one of `GROUPINGS`.
        tract_groups: one of `TRACT_GROUPS`.
        fanout_cutoff: added to √n, at least 0.
        entity_threshold: areas that no tract group can bring further away than this are left out of production's merging.
        redefine_counties: where tribal areas take the place of counties inside the AIAN branch.
        strong_mcd_states: where `place_mcd` means the town.
        bypass: one of `BYPASS_RULES`.
        bypass_cutoff: most units under one parent that bypassing under pure DP may make in production's rule.
    """

    kind: str = "standard"
    aian_areas: tuple[str, ...] = ()
    targets: tuple[str, ...] = DEFAULT_TARGETS
    grouping: str = "production"
    tract_groups: str = "none"
    fanout_cutoff: int = 12
    entity_threshold: int = 9
    redefine_counties: str = "nowhere"
    strong_mcd_states: tuple[str, ...] = STRONG_MCD_STATES
    bypass: str = "none"
    bypass_cutoff: int = 150

    def __post_init__(self) -> None:
        """Refuse names nobody knows and numbers out of range."""
        for name, known in (
            ("kind", KINDS),
            ("grouping", GROUPINGS),
            ("tract_groups", TRACT_GROUPS),
            ("redefine_counties", REDEFINED_COUNTIES),
            ("bypass", BYPASS_RULES),
        ):
            if getattr(self, name) not in known:
                raise UnknownNameError(msg("{name} of a spine", name=name), getattr(self, name), list(known))
        for area in self.aian_areas:
            if area not in AIAN_RANGES:
                raise UnknownNameError(msg("class of tribal areas"), area, list(AIAN_RANGES))
        for code in self.strong_mcd_states:
            if code not in states():
                raise UnknownNameError(msg("state (strong_mcd_states of the spine)"), code, list(states()))
        for name in ("fanout_cutoff", "entity_threshold", "bypass_cutoff"):
            if not 0 <= getattr(self, name) <= 10**6:
                raise PhexploreError(
                    msg("{name} must be between 0 and 1,000,000 (got {got}).", name=name, got=getattr(self, name)),
                    msg("Correct the value."),
                )
        if self.kind == "standard" and self.aian_areas:
            raise PhexploreError(
                msg("The standard spine does not separate tribal areas."),
                msg("Choose the AIAN spine, or remove the areas."),
            )

    @property
    def shapes_block_groups(self) -> bool:
        """Whether block groups are the spine's own."""
        return self.kind in {"optimised", "prim"}

    def with_targets(self, targets: Iterable[str]) -> SpineSettings:
        """Return the settings with other areas to keep together.

        Raises:
            PhexploreError: the spine does not shape block groups.
        """
        if not self.shapes_block_groups:
            raise PhexploreError(
                msg(
                    "The {kind} spine uses the block groups of the tabulation, which no area class changes.",
                    kind=self.kind,
                ),
                msg("To target areas, choose an optimized spine, e.g. pl94-2020."),
            )
        return replace(self, targets=tuple(dict.fromkeys(targets)))

    def with_kind(self, kind: str) -> SpineSettings:
        """Return the settings as another kind of spine; what was not set for the present kind is as its presets have it."""
        first, was = (
            next(each.settings for each in spine_presets().values() if each.settings.kind == one)
            for one in (kind, self.kind)
        )
        return replace(
            self,
            kind=kind,
            aian_areas=() if kind == "standard" else self.aian_areas or first.aian_areas,
            bypass=first.bypass if self.bypass == was.bypass else self.bypass,
            targets=first.targets if {kind, self.kind} & {"standard", "prim"} else self.targets,
        )

    def with_target_turned(self, target: str) -> SpineSettings:
        """Return the settings with one class of areas more, or less; in the order of a preset that has the same ones."""
        if target in self.targets:
            names = {name for name in self.targets if name != target}
        else:
            # Towns or places by state says the same as one of the two.
            dropped = {"place": {PLACE_MCD}, "cousub": {PLACE_MCD}, PLACE_MCD: {"place", "cousub"}}.get(target, set())
            names = {*self.targets, target} - dropped
        for preset in spine_presets().values():
            if preset.settings.kind == self.kind and set(preset.settings.targets) == names:
                return replace(self, targets=preset.settings.targets)
        present = [name for name in self.targets if name in names]
        return replace(self, targets=(*present, *sorted(names - set(present))))


@dataclass(frozen=True, slots=True)
class SpinePreset:
    """Published settings.

    Attributes:
        id: as the command line takes it.
        title: for people.
        source: where they come from.
        scenario: preset whose budgets the settings were used with.
        settings: the settings.
        is_own: whether it is the user's.
    """

    id: str
    title: str
    source: str
    scenario: str
    settings: SpineSettings
    is_own: bool = False


@until_reread
def spine_presets() -> Mapping[str, SpinePreset]:
    """Return the presets by id: the standard spine first, the other shipped ones by name, then the user's."""
    shipped = sorted(resource("spines").glob("*.toml"), key=lambda path: (path.stem != "standard", path.stem))
    found = {path.stem: _read_preset(path) for path in shipped}
    own = own_entries("spines", _read_preset)
    return found | {name: replace(preset, title=own_title(preset.title), is_own=True) for name, preset in own}


def _read_preset(path: Path) -> SpinePreset:
    entry = tomllib.loads(text_of(path))
    confirm_id(path, entry["id"])
    source, scenario = str(entry.get("source", path)), str(entry.get("scenario", "pl94-2020-persons-us"))
    return SpinePreset(path.stem, str(entry["title"]), source, scenario, settings_from(dict(entry["settings"])))


def spine_preset(name: str) -> SpinePreset:
    """Return a preset.

    Raises:
        UnknownNameError: there is none of that name.
    """
    if name not in spine_presets():
        raise UnknownNameError(msg("spine preset"), name, list(spine_presets()))
    return spine_presets()[name]


def preset_of(settings: SpineSettings) -> SpinePreset:
    """Return the shipped preset nearest to settings: the same, else the first of its kind."""
    presets = list(spine_presets().values())
    alike = [preset for preset in presets if preset.settings.kind == settings.kind]
    return next((preset for preset in alike if preset.settings == settings), (alike or presets)[0])


def settings_from(entries: Mapping[str, Any]) -> SpineSettings:
    """Read settings from names and plain values, as `settings_json` writes them.

    Raises:
        PhexploreError: a name nobody knows or a value that cannot be.
    """
    known = SpineSettings.__dataclass_fields__
    for name in entries:
        if name not in known:
            raise UnknownNameError(msg("setting of a spine"), name, list(known))
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in entries.items()
    }
    return SpineSettings(**values)


def settings_json(settings: SpineSettings) -> dict[str, Any]:
    """Return settings as JSON values."""
    return {
        name: list(value) if isinstance(value := getattr(settings, name), tuple) else value
        for name in SpineSettings.__dataclass_fields__
    }


OWN_SETTINGS = ("targets", "grouping", "tract_groups", "bypass")
"""Settings that production's configuration does not have; a scenario keeps them beside production's."""


def settings_of(choice: SpineChoice) -> SpineSettings:
    """Return the settings of a scenario's spine: production's keys of ``[geodict]`` and those of this program.

    Raises:
        PhexploreError: a value that cannot be read.
    """
    if choice.kind not in KINDS:
        raise UnknownNameError(msg("kind of spine"), choice.kind, list(KINDS))
    read = _Reader(dict(choice.settings))
    own: dict[str, Any] = {"bypass": _bypass_of_kind(choice.kind)}
    own |= {name: read.text(name) for name in OWN_SETTINGS if name != "targets" and name in read.entries}
    if choice.kind == "standard":
        return SpineSettings(**own)
    targets = read.names("targets", _targets_of_production(choice.kind, read))
    return SpineSettings(
        kind=choice.kind,
        aian_areas=read.names("aian_areas", AIAN_AREAS_2020),
        targets=targets,
        fanout_cutoff=read.number("fanout_cutoff", 12),
        entity_threshold=read.number("entity_threshold", 9),
        redefine_counties=read.text("redefine_counties", "nowhere"),
        strong_mcd_states=read.names("strong_mcd_states", STRONG_MCD_STATES),
        bypass_cutoff=read.number("bypass_cutoff", 150),
        **own,
    )


def settings_for(method: TopDown) -> SpineSettings:
    """Return the settings of the spine that parameters choose, with the levels that the parameters have.

    Raises:
        PhexploreError: a value that cannot be read.
    """
    return with_levels(settings_of(method.spine), method)


def with_levels(settings: SpineSettings, method: TopDown) -> SpineSettings:
    """Return settings whose standard spine has groups of tracts where parameters give that level a budget.

    In the tabulation's own hierarchy they are those of the first four digits (formats, section 4): nothing else has to be
    said.

    Args:
        settings: of a spine.
        method: the scenario whose levels count.
    """
    asked = method.level_shares.get("Tract_Group", 0) > 0
    if asked and settings.kind == "standard" and settings.tract_groups == "none":
        return replace(settings, tract_groups="standard")
    return settings


def choice_of(settings: SpineSettings) -> SpineChoice:
    """Return settings as the value a scenario carries; `settings_of` reads it back."""
    default = SpineSettings(bypass=_bypass_of_kind(settings.kind))
    own = {
        name: getattr(settings, name)
        for name in ("grouping", "tract_groups", "bypass")
        if getattr(settings, name) != getattr(default, name)
    }
    if settings.kind == "standard":
        return SpineChoice("standard", tuple(own.items()))
    entries = {
        "spine": "aian_spine" if settings.kind == "aian" else "opt_spine",
        "aian_areas": json.dumps(settings.aian_areas),
        "target_das_aian_areas": _truth("aiannh" in settings.targets),
        "target_orig_block_groups": _truth(BLOCK_GROUP in settings.targets),
        "entity_threshold": str(settings.entity_threshold),
        "bypass_cutoff": str(settings.bypass_cutoff),
        "fanout_cutoff": str(settings.fanout_cutoff),
        "redefine_counties": settings.redefine_counties,
        "strong_mcd_states": json.dumps(settings.strong_mcd_states),
        "ignore_gqs_in_block_groups": _truth(QUARTERS not in settings.targets),
    }
    if settings.kind == "prim":
        entries |= {"prim_spine": "true", "target_school_dists": _truth("school_dist" in settings.targets)}
    if settings.targets != _targets_of_production(settings.kind, _Reader(entries)):
        entries["targets"] = json.dumps(settings.targets)
    return SpineChoice(settings.kind, tuple((entries | own).items()))


def changed_choice(choice: SpineChoice, settings: SpineSettings) -> SpineChoice:
    """Return a choice with other settings: only what changed is written anew, every other key stays as it was spelled.

    Args:
        choice: as the scenario has it.
        settings: the new ones.

    Raises:
        PhexploreError: the present settings cannot be read.
    """
    if settings.kind == "standard":
        return choice_of(settings)
    before, after = dict(choice_of(settings_of(choice)).settings), dict(choice_of(settings).settings)
    entries = dict(choice.settings)
    for name in dict.fromkeys((*before, *after)):
        if name not in after:
            entries.pop(name, None)
        elif before.get(name) != after[name]:
            entries[name] = after[name]
    found = SpineChoice(settings.kind, tuple(entries.items()))
    if settings_of(found) != settings:  # a switch that an own setting had overruled
        found = SpineChoice(settings.kind, tuple((entries | after).items()))
    return found


def _bypass_of_kind(kind: str) -> str:
    """Return production's rule: only spines with block groups of their own are bypassed (topdown, section 10)."""
    return "as-in-2020" if kind in {"optimised", "prim"} else "none"


def _targets_of_production(kind: str, read: _Reader) -> tuple[str, ...]:
    """Return the areas that production's switches keep together (topdown, section 10)."""
    targets = [] if kind == "prim" else [PLACE_MCD]
    if kind == "prim" and read.truth("target_school_dists", default=True):
        targets.append("school_dist")
    if read.truth("target_orig_block_groups", default=kind == "prim"):
        targets.append(BLOCK_GROUP)
    if read.truth("target_das_aian_areas", default=True):
        targets.append("aiannh")
    if not read.truth("ignore_gqs_in_block_groups", default=False):
        targets.append(QUARTERS)
    return tuple(targets)


def _truth(value: bool) -> str:  # noqa: FBT001 - the text of a truth value
    return "true" if value else "false"


@dataclass(frozen=True, slots=True)
class _Reader:
    """Texts of settings as values."""

    entries: Mapping[str, str]

    def text(self, name: str, default: str = "") -> str:
        return self.entries.get(name, default)

    def number(self, name: str, default: int) -> int:
        text = self.entries.get(name, str(default))
        if not (text.isascii() and text.isdigit()):
            raise PhexploreError(
                msg("{name} of the spine must be a whole number of 0 or more (got {text!r}).", name=name, text=text),
                msg("Correct the value."),
            )
        return int(text)

    def truth(self, name: str, *, default: bool) -> bool:
        text = self.entries.get(name, _truth(default)).strip().lower()
        if text in {"true", "1", "on", "yes"}:
            return True
        if text in {"false", "0", "off", "no"}:
            return False
        raise PhexploreError(
            msg("{name} of the spine must be true or false (got {text!r}).", name=name, text=text),
            msg("Correct the value."),
        )

    def names(self, name: str, default: tuple[str, ...]) -> tuple[str, ...]:
        if name not in self.entries:
            return default
        text = self.entries[name]
        try:
            found = json.loads(text) if text.lstrip().startswith("[") else [part.strip() for part in text.split(",")]
        except json.JSONDecodeError as error:
            raise PhexploreError(
                msg("{name} of the spine must be a list of names (got {text!r}).", name=name, text=text),
                msg("Correct the value."),
            ) from error
        if not all(isinstance(part, str) for part in found):
            raise PhexploreError(
                msg("{name} of the spine must be a list of names (got {text!r}).", name=name, text=text),
                msg("Correct the value."),
            )
        return tuple(part for part in found if part)
