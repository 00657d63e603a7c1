"""What is shown of TopDown runs: choosers, tiles and figures of what was read, in a process beside the window."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from phexplore.errors import PhexploreError
from phexplore.figures.figure import Figure
from phexplore.metrics.topdown.worst import WorstBy
from phexplore.runs.disclosure import HELD_BACK
from phexplore.runs.spec import RunSpec
from phexplore.runs.store import load_spec
from phexplore.systems.run_results import Asks, Chooser, Jump, Option, RunAnswer, RunRequest
from phexplore.systems.topdown.compare_pictures import compare_rows
from phexplore.systems.topdown.compare_reader import MOST_RUNS
from phexplore.systems.topdown.content_reader import TopDownResultReader
from phexplore.systems.topdown.place_pictures import path_rows, place_rows
from phexplore.systems.topdown.plausible_pictures import plausible_rows
from phexplore.systems.topdown.result_pictures import (
    BY_WORDS,
    bias_rows,
    criterion_rows,
    criterion_tile,
    error_rows,
    error_tile,
    histogram,
    map_picture,
    reliable_tile,
    topdown_headline_tile,
    topdown_trials_tile,
    worst_rows,
)
from phexplore.systems.topdown.run_contents import (
    ALL_SIZES,
    CompareBy,
    CompareFigure,
    MapValue,
    PathContent,
    PlaceContent,
    TopDownAnswer,
    TopDownChoice,
    TopDownOffer,
    TopDownRequest,
    TopDownTab,
)
from phexplore.systems.topdown.wording import counted, level_title, query_title

E = TypeVar("E", bound=Enum)

COUNTING = "The run is adding up its data; the first errors appear here with its first trial."
_SHOWN = {
    TopDownTab.ERRORS: ("query", "size"),
    TopDownTab.SHAPE: ("level", "query", "size"),
    TopDownTab.BIAS: ("level", "query"),
    TopDownTab.CRITERION: ("level",),
    TopDownTab.WORST: ("level", "query", "by"),
    TopDownTab.PLACE: ("level", "query", "unit"),
    TopDownTab.PATH: ("level", "query", "unit"),
    TopDownTab.PLAUSIBLE: ("partner",),
    TopDownTab.COMPARE: ("others", "compare", "figure", "level", "query", "size"),
    TopDownTab.MAP: ("level", "value", "shapes"),
}
"""Which choosers each picture has."""
_GROUPED = {CompareBy.LEVEL: "level", CompareBy.QUERY: "query", CompareBy.SIZE: "size"}
"""The chooser a comparison has no use for: its groups are all there is."""
_ERRORS_ALONE = {TopDownTab.ERRORS, TopDownTab.SHAPE, TopDownTab.COMPARE}
"""Pictures that show how large errors are, and nothing about single places or true counts."""
_JUMPS = {
    TopDownTab.ERRORS: Jump(("level",), TopDownTab.SHAPE.value),
    TopDownTab.CRITERION: Jump(("level",), TopDownTab.SHAPE.value),
    TopDownTab.WORST: Jump(("unit",), TopDownTab.PLACE.value),
    TopDownTab.MAP: Jump(("unit",), TopDownTab.PLACE.value),
    TopDownTab.PLAUSIBLE: Jump(("level", "unit"), TopDownTab.PLACE.value),
}
_PICTURES: dict[TopDownTab, Callable[[Any, TopDownChoice, str], Figure]] = {
    TopDownTab.ERRORS: error_rows,
    TopDownTab.SHAPE: histogram,
    TopDownTab.BIAS: lambda content, _, unit: bias_rows(content, unit),
    TopDownTab.CRITERION: lambda content, _, __: criterion_rows(content),
    TopDownTab.WORST: lambda content, _, unit: worst_rows(content, unit),
    TopDownTab.PLACE: lambda content, _, unit: place_rows(content, unit),
    TopDownTab.PATH: lambda content, _, unit: path_rows(content, unit),
    TopDownTab.PLAUSIBLE: lambda content, _, __: plausible_rows(content),
    TopDownTab.COMPARE: lambda content, _, unit: compare_rows(content, unit),
    TopDownTab.MAP: lambda content, _, unit: map_picture(content, unit),
}


class TopDownRunReader:
    """Answers what the page of results asks."""

    def __init__(self) -> None:
        self._reader = TopDownResultReader()
        self._specs: dict[Path, RunSpec] = {}

    def answer(self, request: RunRequest) -> RunAnswer:
        """Return what is asked, as far as it is there and a moment of reading allows.

        Raises:
            PhexploreError: the run cannot be read.
        """
        tab = TopDownTab(request.tab) if request.tab else None
        partners = self._partners(request) if tab is TopDownTab.PLAUSIBLE else []
        found = self._reader.answer(TopDownRequest(request.directory, tab, self._choice(request, tab, partners)))
        run, choice = found.headline, found.request.choice
        unit = counted(run.spec.scenario.topdown.schema)
        picture = None if found.content is None or tab is None else _PICTURES[tab](found.content, choice, unit)
        return RunAnswer(
            request,
            run.trials,
            (criterion_tile(run), reliable_tile(run), error_tile(run), topdown_trials_tile(run)),
            topdown_headline_tile(run),
            () if tab is None or found.offer is None else _choosers(request, found, found.offer, tab, partners),
            picture,
            COUNTING,
            choice.level if tab in {TopDownTab.ERRORS, TopDownTab.CRITERION} else None,
            None if tab is None else _JUMPS.get(tab),
            HELD_BACK if run.confidential and tab not in _ERRORS_ALONE else "",
            found.problems,
            found.waiting,
        )

    def _choice(self, request: RunRequest, tab: TopDownTab | None, partners: list[Path]) -> TopDownChoice:
        """Return what is looked at; what is open is settled by the reader, or by the runs there are."""
        others = request.choices.get("others", tuple(map(str, request.others[:1])))
        partner = request.chosen("partner", "" if not partners else str(self._same_data(request, partners) or ""))
        return TopDownChoice(
            level=request.chosen("level"),
            query=request.chosen("query"),
            size=request.chosen("size", ALL_SIZES),
            unit=request.chosen("unit"),
            by=_member(WorstBy, request.chosen("by"), WorstBy.TOTAL),
            value=_member(MapValue, request.chosen("value"), MapValue.ERROR),
            shapes=request.chosen("shapes"),
            others=tuple(map(Path, others)) if tab is TopDownTab.COMPARE and not isinstance(others, str) else (),
            compare=_member(CompareBy, request.chosen("compare"), CompareBy.LEVEL),
            figure=_member(CompareFigure, request.chosen("figure"), CompareFigure.SIZE),
            partner=Path(partner) if partner else None,
        )

    def _partners(self, request: RunRequest) -> list[Path]:
        """Return the other runs that count the other records: housing units beside people, and the other way round."""
        mine = counted(self._spec(request.directory).scenario.topdown.schema)
        found = []
        for directory in request.others:
            try:
                other = counted(self._spec(directory).scenario.topdown.schema)
            except PhexploreError:
                continue  # a run that was removed meanwhile is no choice
            if other != mine:
                found.append(directory)
        return found

    def _same_data(self, request: RunRequest, partners: Iterable[Path]) -> Path | None:
        mine = self._spec(request.directory).data.sha256
        return next((each for each in partners if self._spec(each).data.sha256 == mine), None)

    def _spec(self, directory: Path) -> RunSpec:
        if directory not in self._specs:
            self._specs[directory] = load_spec(directory)
        return self._specs[directory]


def _member(kind: type[E], name: str, otherwise: E) -> E:
    return kind.__members__.get(name, otherwise)


def _choosers(
    request: RunRequest, found: TopDownAnswer, offer: TopDownOffer, tab: TopDownTab, partners: list[Path]
) -> tuple[Chooser, ...]:
    choice = found.request.choice
    unit = found.content.code if isinstance(found.content, PlaceContent | PathContent) else choice.unit
    everything = (
        Chooser(
            "others",
            "",
            "Runs to compare with",
            tuple(Option(str(each)) for each in request.others),
            tuple(map(str, choice.others)),
            Asks.RUNS,
            most=MOST_RUNS - 1,  # the run looked at is one of them
        ),
        _enumerated("compare", "", "Groups of the comparison", CompareBy, choice.compare, "by "),
        _enumerated("figure", "", "Figure that is compared", CompareFigure, choice.figure),
        Chooser(
            "level",
            "&Level",
            "Level",
            tuple(Option(level, level_title(level)) for level in offer.levels),
            choice.level,
            drops=("unit",),
        ),
        Chooser(
            "query",
            "&Query",
            "Query group",
            tuple(Option(query, query_title(query)) for query in offer.queries),
            choice.query,
            letters=18,
        ),
        Chooser(
            "size",
            "Si&ze",
            "Size of the units",
            (Option(ALL_SIZES, "all sizes"), *(Option(size, f"{size} people") for size in offer.sizes)),
            choice.size,
        ),
        Chooser(
            "by",
            "B&y",
            "Worst in what",
            tuple(Option(by.name, words) for by, words in BY_WORDS.items()),
            choice.by.name,
        ),
        _enumerated("value", "Sho&w", "What the map colours", MapValue, choice.value),
        Chooser("unit", "&Place", "Code of the unit", (), unit, Asks.TEXT, 20, "code, e.g. 44007"),
        Chooser(
            "shapes",
            "",
            "Choose the file of the map's shapes",
            (Option("", "Shapes…"),),
            choice.shapes,
            Asks.FILE,
            hint="Shapes (*.geojson *.geojson.gz *.json *.json.gz)",
        ),
        Chooser(
            "partner",
            "Toget&her with",
            "Run of the other records",
            (Option("", "no other run"), *(Option(str(each)) for each in partners)),
            str(choice.partner or ""),
            Asks.RUN,
            24,
            "Some checks need people and housing units: choose a run of the other records of the same blocks.",
        ),
    )
    shown = set(_SHOWN[tab]) - ({_GROUPED[choice.compare]} if tab is TopDownTab.COMPARE else set())
    return tuple(each for each in everything if each.id in shown)


def _enumerated(identity: str, label: str, name: str, kind: type[Enum], chosen: Enum, before: str = "") -> Chooser:
    options = tuple(Option(each.name, f"{before}{each.value}") for each in kind)
    return Chooser(identity, label, name, options, chosen.name)
