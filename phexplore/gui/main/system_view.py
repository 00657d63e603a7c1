"""What the window does differently for the scenarios of one system: one value per system, and a table of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from PySide6.QtWidgets import QWidget

from phexplore.gui.binding.headline import TileContent
from phexplore.gui.binding.systems import System
from phexplore.gui.main.navigation import AREAS, Area
from phexplore.gui.main.pages import Make
from phexplore.gui.main.palette import Offer
from phexplore.model.issues import Issue


@dataclass(frozen=True)
class SystemView:
    """The pages and answers of one system; an area it has no page of its own for is shared by all.

    Attributes:
        makers: its own pages, made on first use.
        tiles: the three figures of the headline that the parameters give.
        make_inspector: explains the selection beside the page.
        go_to_issue: shows the place of an issue.
        offers: places the palette leads to, beside the actions.
        titles: what areas are called, where it differs.
        inspected: areas whose rows the inspector explains; the overview joins them when there is room.
    """

    makers: Mapping[Area, Make]
    tiles: Callable[[], tuple[TileContent, ...]]
    make_inspector: Callable[[], QWidget]
    go_to_issue: Callable[[Issue], object]
    offers: Callable[[], list[Offer]] = list
    titles: Mapping[Area, str] = field(default_factory=dict)
    inspected: frozenset[Area] = frozenset({Area.BUDGETS})


HIDDEN: Mapping[System, frozenset[Area]] = MappingProxyType(
    {
        System.PHSAFE: frozenset({Area.SPINE, Area.EXPERIMENT}),
        System.TOPDOWN: frozenset({Area.EXPERIMENT}),
        System.GROUP_SIZES: frozenset({Area.LEVELS, Area.SPINE, Area.TARGETS}),
        System.SUBSPACE: frozenset({Area.LEVELS, Area.SPINE, Area.TARGETS}),
    }
)
"""Areas that say nothing about a system and are not listed while its scenario is active."""


def offered_areas(system: System) -> tuple[Area, ...]:
    """Return the areas of a system, from top to bottom."""
    return tuple(area for area in AREAS if area not in HIDDEN[system])


def page_key(system: System, area: Area) -> Hashable:
    """Return the key of a system's own page of an area. Pages of PHSafe and shared ones go by the area alone."""
    return area if system is System.PHSAFE else (system, area)


def page_makers(views: Mapping[System, SystemView], shared: Mapping[Area, Make]) -> dict[Hashable, Make]:
    """Return the makers of all pages by key."""
    own = {page_key(system, area): make for system, view in views.items() for area, make in view.makers.items()}
    keyed: dict[Hashable, Make] = {area: make for area, make in shared.items()}  # noqa: C416 - dict() keeps the type of the keys
    return keyed | own
