"""What can be chosen above each picture of a spine: areas, level, query, another spine, a run, shapes."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from phexplore.spine.settings import spine_presets
from phexplore.systems.run_results import Asks, Choice, Chooser, Option
from phexplore.systems.topdown.spine_forecast import Fit
from phexplore.systems.topdown.spine_views import MapColour, SpineAnswer, SpineTab
from phexplore.systems.topdown.wording import level_title, query_title, spine_preset_title

REFERENCE = "reference"
"""Stands for the spine of what the scenario is compared with."""
FITTING, NO_RUN = "fitting", "none"
"""Stand for the newest run of exactly these parameters and blocks, and for none."""
KINDS: Mapping[str, type[enum.Enum]] = {"fit": Fit, "colour": MapColour}
"""Choices that are members of an enumeration."""
_FITS = {
    Fit.TOP_DOWN.value: "Level by level (TopDown)",
    Fit.AT_ONCE.value: "All at once (best linear)",
}
_SHOWN: Mapping[SpineTab, tuple[str, ...]] = {
    SpineTab.TREE: ("name", "area"),
    SpineTab.DISTANCE: ("area", "name", "other"),
    SpineTab.MARGINS: ("area", "name", "query", "fit", "other", "run"),
    SpineTab.LEVELS: ("query", "fit", "other", "run"),
    SpineTab.FAN_OUT: ("level", "other"),
    SpineTab.BYPASSED: (),
    SpineTab.MAP: ("area", "level", "colour", "shapes"),
}


def spine_choosers(
    tab: SpineTab, answer: SpineAnswer, choices: Mapping[str, Choice], reference: str, runs: Sequence[Path]
) -> tuple[Chooser, ...]:
    """Return the choosers of a picture.

    Args:
        tab: the picture.
        answer: the last one: what there is to choose from.
        choices: what is chosen, by id.
        reference: words for the spine of the reference, "" without one.
        runs: directories of runs whose errors can be drawn over a prediction.
    """

    def one(name: str, label: str, title: str, options: Iterable[tuple[str, str]], letters: int = 14) -> Chooser:
        offered = tuple(Option(*each) for each in options)
        drops = ("area",) if name == "name" else ()
        return Chooser(
            name,
            label,
            title,
            offered,
            choices.get(name, offered[0].value if offered else ""),
            letters=letters,
            drops=drops,
        )

    spines = [(preset.id, spine_preset_title(preset.id)) for preset in spine_presets().values()]
    fitting = ((FITTING, "The newest fitting run"), (NO_RUN, "No run"), *((str(path), "") for path in runs))
    classes = ((each.name, f"{each.title} ({each.areas:,})") for each in answer.blocks.classes)
    offers = (
        one("name", "&Areas", "Class of areas", classes),
        one("level", "&Level", "Level", ((name, level_title(name)) for name, _ in answer.levels[:-1]), 10),
        one("query", "&Query", "Query group", ((name, query_title(name)) for name in answer.queries)),
        one("fit", "F&it", "How measurements become estimates", _FITS.items(), 20),
        one("other", "Compared &with", "Spine to compare with", [*spines, *[(REFERENCE, reference)] * bool(reference)]),
        Chooser(
            "area",
            "Ma&ke up" if tab is SpineTab.TREE else "Fi&nd",
            "Name or code of an area to make up from units"
            if tab is SpineTab.TREE
            else "Name or code of an area to find",
            tuple(Option(name) for name in answer.blocks.names),
            choices.get("area", ""),
            Asks.TEXT,
            20,
            "name or code, e.g. Providence",
            words=answer.area_name,
        ),
        one("run", "&Errors of", "Run to draw over the prediction", fitting),
        one("colour", "Sho&w", "What the map colours", ((each.value, each.value) for each in MapColour), 0),
        Chooser(
            "shapes",
            "",
            "Choose the file of the map's shapes",
            (Option("", "Shapes…"),),
            choices.get("shapes", ""),
            asks=Asks.FILE,
            hint="Shapes (*.zip *.shp *.gpkg *.geojson *.geojson.gz *.json *.json.gz)",
        ),
    )
    by_id = {offer.id: offer for offer in offers}
    return tuple(by_id[name] for name in _SHOWN[tab])
