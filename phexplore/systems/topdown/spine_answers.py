"""One picture of a spine at once: what the page of spines asks its process and draws, for scripts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.figures.figure import Figure
from phexplore.figures.stated_origin import with_origin
from phexplore.model.issues import InputProblemsError
from phexplore.model.scenario import Scenario
from phexplore.spine.building import PUERTO_RICO, Spine
from phexplore.spine.settings import choice_of, preset_of, spine_preset
from phexplore.systems.topdown.spine_choosers import KINDS
from phexplore.systems.topdown.spine_pictures import figure_of, map_picture
from phexplore.systems.topdown.spine_reader import SpineReader
from phexplore.systems.topdown.spine_tree import SpineTree, tree_figure
from phexplore.systems.topdown.spine_views import (
    BlocksRefused,
    Impossible,
    SpineMap,
    SpineRequest,
    SpineStyle,
    SpineTab,
    TreeContent,
)
from phexplore.systems.topdown.wording import spine_preset_title

_NOT_ASKED = frozenset({"tab", "known_shapes"})


def spine_picture(spine: Spine, path: Path, scenario: Scenario, tab: SpineTab, choices: Mapping[str, Any]) -> Figure:
    """Return a picture of a spine under a scenario's budgets.

    Args:
        spine: whose settings count.
        path: of its file.
        scenario: of TopDown.
        tab: the picture.
        choices: what it asks, as on the page; ``other`` is the id of a preset of spines.

    Raises:
        UnknownNameError: it does not ask that.
        PhexploreError: there is nothing to draw.
    """
    asked = [each.name for each in fields(SpineStyle) if each.name not in _NOT_ASKED]
    for name in choices:
        if name not in (*asked, "other"):
            raise UnknownNameError("choice", name, [*asked, "other"])
    other = spine_preset(str(choices.get("other", "standard")))
    given = {name: _read(name, value) for name, value in choices.items() if name != "other"}
    method = replace(scenario.topdown, spine=choice_of(spine.settings))
    title = spine_preset_title(other.id)
    request = SpineRequest(
        path, method, scenario.conventions, other.settings, title[0].lower() + title[1:], SpineStyle(tab, **given)
    )
    answer = SpineReader().answer(request, lambda _: None)
    if isinstance(answer, BlocksRefused):
        raise InputProblemsError(answer.issues)
    content = answer.content
    if isinstance(content, Impossible):
        raise PhexploreError(content.reason, "Choose something else to draw.")
    if isinstance(content, TreeContent):
        found = tree_figure(SpineTree(content))
    elif isinstance(content, SpineMap):
        found = map_picture(content, content.rings or ())
    else:
        found = figure_of(content, request.other_title)
    return with_origin(found, answer.blocks.provenance)


def published_with(spine: Spine) -> str:
    """Return the scenario that a spine's settings were published with; Puerto Rico has budgets of its own."""
    name = preset_of(spine.settings).scenario
    is_territory = bool((spine.geography.numbers(0, 2) == PUERTO_RICO).all())
    return f"{name.removesuffix('-us')}-pr" if is_territory and name.endswith("-us") else name


def _read(name: str, value: Any) -> Any:
    """Return a choice as the page holds it."""
    if name in KINDS and not isinstance(value, KINDS[name]):
        known = {each.value: each for each in KINDS[name]}
        if value not in known:
            raise UnknownNameError(name, str(value), list(known))
        return known[value]
    return Path(value) if name == "run" else str(value) if name not in KINDS else value
