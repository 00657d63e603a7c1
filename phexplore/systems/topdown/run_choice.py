"""Which numbers of a TopDown run a picture shows: what can be chosen, and what is chosen where nobody did."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from phexplore.catalog.names import heading, place
from phexplore.data.blocks.published_tables import published_tables
from phexplore.metrics.topdown.worst import WorstBy
from phexplore.resources import resource
from phexplore.runs.spec import DEMONSTRATION_BLOCKS
from phexplore.runs.store import SUMMARY_FILE
from phexplore.systems.run_results import NAMES, Asks, Chooser, Option, RunRequest
from phexplore.systems.topdown.area_names import Area, area_name, find_area, known_names
from phexplore.systems.topdown.folds import ALL_SIZES
from phexplore.systems.topdown.open_run import TopDownRun
from phexplore.systems.topdown.wording import level_title, query_title

E = TypeVar("E", bound=enum.Enum)

DEMONSTRATION_SHAPES = "synthetic/demo-shapes.geojson.gz"
"""Shipped shapes of the fictional state that the demonstration blocks are in."""
EVERY_QUERY = "every query"
"""The choice of all query groups, where a picture can show them together."""
MOST_RUNS = 6
"""Runs of a comparison, the one looked at included."""

ALL_STATES = "all"
"""The choice of all states of a run that was estimated by state."""
NATION_TABS = ("errors", "criterion")
"""Pictures of all states together: the summary of a run has their figures."""

BY_WORDS = {
    WorstBy.TOTAL: "Error of the total",
    WorstBy.RELATIVE: "Error of the total, percent",
    WorstBy.CELLS: "Sum over the cells",
    WorstBy.LARGEST_GROUP: "Share of the largest group",
}
"""What units can be worst in, for the chooser."""


class MapValue(enum.Enum):
    """What a map colours. The value is the word in the chooser."""

    ERROR = "Error of the total"
    RELATIVE = "Error in percent"
    SHARE = "Error of the largest group's share"


class CompareBy(enum.Enum):
    """What the groups of a comparison of runs are. The value is the word in the chooser."""

    LEVEL = "level"
    QUERY = "query"
    SIZE = "size of the unit"
    PLACE = "place"
    AREA = "towns, places and districts"


class CompareFigure(enum.Enum):
    """What a comparison of runs compares. The value is the word in the chooser."""

    SIZE = "Mean absolute error"
    MEAN = "Mean error (bias)"
    SQUARE = "Root mean square error"


@dataclass(frozen=True, slots=True)
class TopDownChoice:
    """Which numbers are looked at.

    Attributes:
        level: of the tree.
        query: name of a query group, or `EVERY_QUERY`.
        size: label of a class of the units' true population, `ALL_SIZES` for all.
        unit: code of a unit, or of an area of the class `area`.
        area: class of the area looked at, e.g. ``place``; "" for a unit of the level.
        name: what people call the unit or area, "" where nobody knows.
        on_map: places are shown on a map.
        by: what the worst units are worst in.
        value: what the map colours.
        shapes: file of the map's shapes, "" for none.
        others: runs that are compared with the one looked at.
        compare: what the groups of the comparison are.
        figure: what is compared.
        table: id of a published table, "" for none.
        partner: a run of the other records (housing units beside people), which some checks of plausibility need; None for none.
    """

    level: str
    query: str
    size: str = ALL_SIZES
    unit: str = ""
    by: WorstBy = WorstBy.TOTAL
    value: MapValue = MapValue.ERROR
    shapes: str = ""
    others: tuple[TopDownRun, ...] = ()
    compare: CompareBy = CompareBy.LEVEL
    figure: CompareFigure = CompareFigure.SIZE
    partner: TopDownRun | None = None
    area: str = ""
    name: str = ""
    table: str = ""
    on_map: bool = False

    @property
    def size_words(self) -> str:
        """The size of the units for people."""
        return "units of all sizes" if self.size == ALL_SIZES else f"units of {self.size} people"


MAP = "map"
_AS = (Option("list", "list"), Option(MAP, "map"))
_SHOWN = {
    "errors": ("query", "size"),
    "shape": ("level", "query", "size"),
    "bias": ("level", "query"),
    "groups": ("level",),
    "tables": ("table", "level", "unit"),
    "criterion": ("level",),
    "worst": ("find", "as", "level", "query", "by"),
    "where": ("find", "as", "level", "value", "shapes"),
    "place": ("level", "query", "unit"),
    "path": ("level", "query", "unit"),
    "plausible": ("partner",),
    "compare": ("others", "compare", "figure", "level", "query", "size"),
    "map": ("unit", "level", "value", "shapes"),
}
"""Which choosers each picture has; the places farthest off have others on a map."""
_GROUPED = {
    CompareBy.LEVEL: "level",
    CompareBy.QUERY: "query",
    CompareBy.SIZE: "size",
    CompareBy.PLACE: "size",
    CompareBy.AREA: "level",
}
"""The chooser a comparison has no use for: its groups are all there is."""


def settled(run: TopDownRun, request: RunRequest) -> TopDownChoice:
    """Return what is looked at: what was chosen where the run offers it, else the best first choice of the picture.

    Args:
        run: the one looked at; runs beside it are left out.
        request: what was chosen, and for which picture.
    """
    first = 0 if request.tab == "tables" else max(0, len(run.levels) - 2)
    level = _first_of(request.chosen("level"), run.levels, run.levels[first])
    tables = _tables(run)
    by_group = run.groups is not None and request.tab in {"worst", "place"}
    best = EVERY_QUERY if request.tab == "path" else run.groups.name if by_group and run.groups is not None else "total"
    size = request.chosen("size", ALL_SIZES)
    unit = request.chosen("find" if request.tab == "worst" else "unit").strip()
    found = _found(run, level, unit) if unit else None
    area = ""
    if found is not None:
        area, level = (found.kind, level) if found.kind in run.areas else ("", found.kind)
        unit = found.code
    if request.tab in {"place", "path", "tables"} and not unit:
        unit = str(run.codes(level)[int(run.people(level).argmax())])
        found = _found(run, level, unit)  # the field names what nobody typed
    return TopDownChoice(
        level=level,
        query=_first_of(request.chosen("query"), _query_names(run, request.tab), best),
        size=size if size in run.sizes(level) else ALL_SIZES,
        unit=unit,
        by=_member(WorstBy, request.chosen("by"), WorstBy.TOTAL),
        value=_member(MapValue, request.chosen("value"), MapValue.ERROR),
        shapes=request.chosen("shapes") or _shipped_shapes(run),
        compare=_member(CompareBy, request.chosen("compare"), CompareBy.LEVEL),
        figure=_member(CompareFigure, request.chosen("figure"), CompareFigure.SIZE),
        area=area,
        name="" if found is None else found.name,
        table=_first_of(request.chosen("table"), tables, tables[0]) if tables else "",
        on_map=request.tab == "map" or request.chosen("as") == MAP,
    )


def _shipped_shapes(run: TopDownRun) -> str:
    """Return the file of the shipped map of the demonstration, "" for other data."""
    return str(resource(DEMONSTRATION_SHAPES)) if run.spec.data.place == resource(DEMONSTRATION_BLOCKS) else ""


def _tables(run: TopDownRun) -> tuple[str, ...]:
    """Return the ids of the published tables of a run's schema, P2 before P12."""
    return tuple(sorted((each.id for each in published_tables(run.schema.id)), key=lambda name: (len(name), name)))


def _found(run: TopDownRun, level: str, typed: str) -> Area | None:
    """Return the unit or area that somebody typed: by its code, which needs no names to be read, or by its name."""
    if typed in run.codes(level):
        return Area(level, typed, area_name(level, typed, {}))
    return find_area(typed, _offered(run, level), run.area_names)


def _offered(run: TopDownRun, level: str) -> Mapping[str, Iterable[str]]:
    """Return the codes of the units and areas that can be looked at, by level and class."""
    units = {each: run.codes(each) for each in (level, *run.levels)}
    return units | {kind: area.codes for kind, area in run.areas.items()}


def _known(run: TopDownRun) -> tuple[str, ...]:
    """Return the names that can be typed: of towns, places and districts first, then of units, the widest first."""
    offered = _offered(run, run.levels[0])
    areas = {kind: codes for kind, codes in offered.items() if kind not in run.levels}
    return known_names(areas | dict(offered), run.area_names)


def _first_of(wanted: str, offered: Sequence[str], otherwise: str) -> str:
    return next((name for name in (wanted, otherwise) if name in offered), offered[0])


def _member(kind: type[E], name: str, otherwise: E) -> E:
    return kind.__members__.get(name, otherwise)


def _query_names(run: TopDownRun, tab: str) -> tuple[str, ...]:
    names = tuple(query.name for query in run.queries)
    return (EVERY_QUERY, *names) if tab == "path" else names


def choosers(
    run: TopDownRun, choice: TopDownChoice, request: RunRequest, partners: Sequence[Path]
) -> tuple[Chooser, ...]:
    """Return what can be chosen for a picture.

    Args:
        run: the one looked at.
        choice: what is chosen.
        request: names the picture and the other runs.
        partners: runs of the other records.
    """
    names = _SHOWN.get(request.tab, ())
    if request.tab == "worst" and choice.on_map:
        names = _SHOWN["where"]
    known = tuple(map(Option, _known(run))) if request.chosen(NAMES) else ()
    grouped = _GROUPED[choice.compare] if request.tab == "compare" else ""
    everything = (
        Chooser(
            "others",
            "",
            "Runs to compare with",
            tuple(Option(str(each)) for each in request.others),
            request.choices.get("others", ()),
            Asks.RUNS,
            most=MOST_RUNS - 1,  # the run looked at is one of them
        ),
        _enumerated("compare", "", "Groups of the comparison", choice.compare, "by "),
        _enumerated("figure", "", "Figure that is compared", choice.figure),
        Chooser(
            "table",
            "Ta&ble",
            "Published table",
            tuple(Option(each.id, f"{each.id}: {each.title}") for each in published_tables(run.schema.id)),
            choice.table,
            letters=28,
        ),
        Chooser(
            "level",
            "&Level",
            "Level",
            tuple(Option(level, level_title(level)) for level in run.levels),
            choice.level,
            drops=("unit", "find"),
        ),
        Chooser(
            "query",
            "&Query",
            "Query group",
            tuple(Option(query, query_title(query)) for query in _query_names(run, request.tab)),
            choice.query,
            letters=18,
        ),
        Chooser(
            "size",
            "Si&ze",
            "Size of the units",
            (Option(ALL_SIZES, "all sizes"), *(Option(size, f"{size} people") for size in run.sizes(choice.level))),
            choice.size,
        ),
        Chooser(
            "by",
            "B&y",
            "Worst in what",
            tuple(Option(by.name, words) for by, words in BY_WORDS.items()),
            choice.by.name,
        ),
        Chooser("as", "Show &as", "What the places are shown as", _AS, _AS[choice.on_map].value),
        _enumerated("value", "Sho&w", "What the map colours", choice.value),
        Chooser(
            "find",
            "Fi&nd",
            "Name or code of a place, nothing for the worst ones",
            known,
            choice.unit,
            Asks.TEXT,
            20,
            "name or code",
            words=choice.name,
        ),
        Chooser(
            "unit",
            "&Place",
            "Name or code of the place",
            known,
            choice.unit,
            Asks.TEXT,
            20,
            "name or code",
            words=choice.name,
        ),
        Chooser(
            "shapes",
            "",
            "Choose the file of the map's shapes",
            (Option("", "Shapes…"),),
            choice.shapes,
            Asks.FILE,
            hint="Shapes (*.zip *.shp *.gpkg *.geojson *.geojson.gz *.json *.json.gz)",
        ),
        Chooser(
            "partner",
            "Toget&her with",
            "Run of the other records",
            (Option("", "no other run"), *(Option(str(each)) for each in partners)),
            request.chosen("partner"),
            Asks.RUN,
            24,
            "Some checks need people and housing units: choose a run of the other records of the same blocks.",
        ),
    )
    by_id = {each.id: each for each in everything}
    shown = tuple(by_id[name] for name in names if name != grouped)
    if not run.states:
        return shown
    is_whole = request.tab in NATION_TABS and (run.directory / SUMMARY_FILE).exists()
    return (state_chooser(run.states, run.state, with_all=is_whole), *shown)


def state_chooser(states: Sequence[str], chosen: str, *, with_all: bool) -> Chooser:
    """Return the chooser of the state that is looked at.

    Args:
        states: their codes.
        chosen: the one looked at.
        with_all: whether all of them can be looked at together.
    """
    offered = tuple(Option(code, state_words(code)) for code in states)
    together = (Option(ALL_STATES, "all states"),) if with_all else ()
    return Chooser("state", "S&tate", "State", (*together, *offered), chosen, drops=("unit",))


def state_words(code: str) -> str:
    """Return the name of a state by its code, the code where nobody knows it."""
    return heading(place(code)) or code


def _enumerated(identity: str, label: str, name: str, chosen: enum.Enum, before: str = "") -> Chooser:
    options = tuple(Option(each.name, f"{before}{each.value}") for each in type(chosen))
    return Chooser(identity, label, name, options, chosen.name)
