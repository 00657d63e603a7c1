"""What the explorer of spines asks the process that holds the blocks, and what it is told. No Qt: both ends read this module."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from phexplore.catalog.names import has_synthetic_areas
from phexplore.lazy import lazy
from phexplore.model.conventions import Conventions
from phexplore.model.issues import Issue
from phexplore.model.provenance import Provenance
from phexplore.model.topdown import TopDown
from phexplore.spine.settings import SpineSettings
from phexplore.systems.topdown.spine_forecast import Fit

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class SpineTab(enum.Enum):
    """The pictures. The value is the title of the tab."""

    TREE = "Tree"
    DISTANCE = "Distance of areas"
    MARGINS = "Margins of areas"
    LEVELS = "Margins of levels"
    FAN_OUT = "Fan-out"
    BYPASSED = "Bypassed units"
    MAP = "Map"


class MapColour(enum.Enum):
    """What the map colours. The value is for people."""

    UNITS = "units, told apart"
    MARGIN = "predicted margins"
    CHILDREN = "children per unit"
    BLOCKS = "blocks per unit"


@dataclass(frozen=True, slots=True)
class SpineStyle:
    """Which numbers are looked at; "" stands for the best first choice.

    Attributes:
        tab: the picture.
        name: class of areas.
        level: name.
        query: query group whose margins are predicted.
        fit: how measurements become estimates.
        area: code of an area whose composition the tree shows, or what somebody typed to find it: a code or words of its name.
        run: directory of a run whose errors are drawn over the prediction, None for none.
        shapes: file with outlines of blocks.
        colour: what the map shows.
        known_shapes: the file whose outlines the window holds already; they are not sent again.
    """

    tab: SpineTab = SpineTab.TREE
    name: str = ""
    level: str = ""
    query: str = "total"
    fit: Fit = Fit.TOP_DOWN
    area: str = ""
    run: Path | None = None
    shapes: str = ""
    colour: MapColour = MapColour.UNITS
    known_shapes: str = ""


_reader = lazy("phexplore.systems.topdown.spine_reader", "SpineReader")
"""Loads what reads blocks, in the process beside the window alone."""


@dataclass(frozen=True, slots=True)
class SpineRequest:
    """What is asked.

    Attributes:
        path: of the blocks.
        method: parameters with the spine under study.
        conventions: for margins.
        other: the spine it is compared with.
        other_title: words for it.
        look: which numbers.
    """

    path: Path
    method: TopDown
    conventions: Conventions
    other: SpineSettings
    other_title: str
    look: SpineStyle

    def reader(self) -> tuple[str, Callable[[Callable[[object], None]], Callable[[SpineRequest], object]]]:
        """Return the name of what answers, and what makes it."""

        def make(tell: Callable[[object], None]) -> Callable[[SpineRequest], object]:
            reader = _reader()
            return lambda request: reader.answer(request, tell)

        return "spines", make


@dataclass(frozen=True, slots=True)
class SpineProgress:
    """How far the process is.

    Attributes:
        words: what it does.
        step: which of the steps, from 1 on.
        steps: how many there are.
    """

    words: str
    step: int
    steps: int


@dataclass(frozen=True, slots=True)
class AreaClass:
    """A class of areas that the blocks have codes of.

    Attributes:
        name: as settings and the command line call it.
        title: for people.
        areas: how many.
        targeted: whether the spine's block groups follow them.
    """

    name: str
    title: str
    areas: int
    targeted: bool


@dataclass(frozen=True, slots=True)
class BlocksFigures:
    """The blocks that were read.

    Attributes:
        path: of the file.
        blocks: how many.
        classes: of areas.
        warnings: what is odd but was read.
        provenance: of the file.
        names: of areas, as far as somebody knows them.
    """

    path: Path
    blocks: int
    classes: tuple[AreaClass, ...]
    warnings: tuple[Issue, ...]
    provenance: Provenance
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class IcicleLevel:
    """The units of one level of the tree.

    Attributes:
        name: of the level.
        codes: ``S[units]``.
        first_block: ``int64[units + 1]``.
        share: ``int32[units]``, places in the list of shares; None without budgets.
        sign: ``int8[units]``, 1 where the unit is added to make up the chosen area, -1 where it is subtracted; None without one.
        variance: ``float64[units]``, predicted variance of the total in people², None where it is not predicted.
    """

    name: str
    codes: NDArray[np.bytes_]
    first_block: Integers
    share: NDArray[np.int32] | None
    sign: NDArray[np.int8] | None
    variance: Floats | None


@dataclass(frozen=True, slots=True, eq=False)
class TreeContent:
    """The spine itself.

    Attributes:
        levels: widest first.
        shares: the different shares of the budget that units have.
        level_shares: what each level of the scenario has.
        total: ρ or ε.
        symbol: of the total.
        z: from a standard deviation to a margin.
        bypassed: units per level that were bypassed.
        area: title of the chosen area with its code, "" without one.
        parts: how many units make it up.
        kept: why totals have no margin of their own, "" where they have one.
        unit: what totals count, plural.
        area_name: what people call the chosen area, "" where nobody knows.
        is_synthetic: whether the blocks are.
    """

    levels: tuple[IcicleLevel, ...]
    shares: tuple[Fraction, ...]
    level_shares: tuple[Fraction | None, ...]
    total: Fraction
    symbol: str
    z: Fraction
    bypassed: tuple[tuple[str, int], ...]
    area: str = ""
    parts: int = 0
    kept: str = ""
    unit: str = "people"
    area_name: str = ""
    is_synthetic: bool = field(default_factory=has_synthetic_areas)


@dataclass(frozen=True, slots=True, eq=False)
class DistributionContent:
    """Whole numbers on two spines, e.g. the children of every unit or the distances of areas.

    Attributes:
        this: ``int64[..]`` on the spine.
        other: on the one it is compared with; None where it has no such level.
        what: the things counted, plural.
        axis: quantity and unit.
        codes: ``U[..]`` of what both list, in the same order; empty where they list different things.
        finding: one sentence.
        reason: why it is so, or "".
        titles: names of areas by code, as far as somebody gives them.
        found: code of the area that was looked for, "" for none.
    """

    this: Integers
    other: Integers | None
    what: str
    axis: str
    codes: NDArray[np.str_]
    finding: str
    reason: str
    titles: Mapping[str, str] = field(default_factory=dict)
    found: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """Errors of a run beside the prediction.

    Attributes:
        run: what people call it.
        trials: how many.
        errors: ``float64[rows]``, root mean square over trials and answers.
        ratios: ``float64[rows]``, mean squared error over predicted variance.
        ratio: of all areas together, or of the level of tracts.
        ratio_error: its Monte-Carlo standard error.
    """

    run: str
    trials: int
    errors: Floats
    ratios: Floats
    ratio: float
    ratio_error: float


@dataclass(frozen=True, slots=True, eq=False)
class MarginsContent:
    """Predicted margins on two spines, one per area or one per level.

    Attributes:
        what: the things that have margins, plural.
        names: of each.
        this: ``float64[rows]``, in the unit that is counted.
        other: on the other spine; None where the scenario cannot be predicted on it.
        why_not: why not.
        units: ``int64[rows]``: off-spine distance of an area, or units of a level, on this spine.
        other_units: the same on the other spine.
        units_title: what they are.
        answers: what one margin is of.
        z: from a standard deviation to a margin.
        confidence: in words.
        unseen: what no prediction sees.
        observed: of a run, None without one.
        unobserved: why the chosen run is not drawn, "" if it is.
        finding: one sentence.
        schema: title of the smaller schema that the run's data have and the prediction was made for, "" for the scenario's.
        titles: names of areas by code, as far as somebody gives them.
        found: code of the area that was looked for, "" for none.
        kept: what a margin of 0 means where counts are those of an earlier release, "" where it means exactness.
        unit: what is counted, plural.
    """

    what: str
    names: tuple[str, ...]
    this: Floats
    other: Floats | None
    why_not: str
    units: Integers
    other_units: Integers | None
    units_title: str
    answers: str
    z: Fraction
    confidence: str
    unseen: str
    observed: Observed | None
    unobserved: str
    finding: str
    schema: str
    titles: Mapping[str, str] = field(default_factory=dict)
    found: str = ""
    kept: str = ""
    unit: str = "people"


@dataclass(frozen=True, slots=True)
class BypassedParent:
    """One bypassed unit.

    Attributes:
        level: name.
        code: of the unit.
        children: when it was bypassed.
        share: of the total that moved.
    """

    level: str
    code: str
    children: int
    share: Fraction


@dataclass(frozen=True, slots=True)
class BypassContent:
    """What was bypassed.

    Attributes:
        rule: that was applied.
        levels: name, units and the moved shares of all of them added up.
        units: units of the level, per level of the spine.
        listed: the first ones, one by one.
        moved: all moved shares added up.
        carried: what every path carries.
        unspent: levels that the blocks do not have, and their shares.
        total: ρ or ε.
        symbol: of the total.
    """

    rule: str
    levels: tuple[tuple[str, int, Fraction], ...]
    units: tuple[tuple[str, int], ...]
    listed: tuple[BypassedParent, ...]
    moved: Fraction
    carried: Fraction
    unspent: tuple[tuple[str, Fraction], ...]
    total: Fraction
    symbol: str

    @property
    def count(self) -> int:
        """How many units were bypassed."""
        return sum(units for _, units, _ in self.levels)


@dataclass(frozen=True, slots=True, eq=False)
class SpineMap:
    """Blocks with the unit each lies in.

    Attributes:
        level: name.
        colour: what the values are.
        shapes: the file.
        rings: outlines of each block; None where the window has them.
        units: code of the unit of each shape, "" outside the spine.
        values: one per shape, NaN for nothing known.
        found: how many units have shapes.
        reason: why there is no map, or "".
        blocks: one per shape: the blocks of its unit, 0 outside the spine.
        names: of the shapes, as their file gives them, "" for none.
        marked: units in which the area lies that was looked for, the one with most of its blocks first.
        partly: how many of them lie in other areas, too.
        margins: of the class of that area, None where no area was looked for or nothing can be predicted.
        unit: what is counted, plural.
        titles: names of the units by code, as far as somebody gives them.
    """

    level: str
    colour: MapColour
    shapes: str
    rings: tuple[tuple[NDArray[np.float32], ...], ...] | None
    units: tuple[str, ...]
    values: Floats
    found: int
    reason: str
    blocks: NDArray[np.int64]
    names: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()
    partly: int = 0
    margins: MarginsContent | None = None
    unit: str = "people"
    titles: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Impossible:
    """Why there is no picture.

    Attributes:
        reason: sentence and remedy.
    """

    reason: str


SpineContent = TreeContent | DistributionContent | MarginsContent | BypassContent | SpineMap | Impossible


@dataclass(frozen=True, slots=True, eq=False)
class SpineAnswer:
    """What the process found.

    Attributes:
        request: what was asked.
        look: the same look with every open choice settled.
        blocks: what was read.
        levels: name and units of each level of the spine.
        queries: names of the query groups that can be predicted.
        finding: what the spine does to areas, in one sentence.
        reason: why, or "".
        remarks: what was assumed.
        problem: why the scenario does not fit the spine, or "".
        content: of the picture.
        area_name: of the area that was looked for, "" without one or where nobody knows.
    """

    request: SpineRequest
    look: SpineStyle
    blocks: BlocksFigures
    levels: tuple[tuple[str, int], ...]
    queries: tuple[str, ...]
    finding: str
    reason: str
    remarks: tuple[str, ...]
    problem: str
    content: SpineContent
    area_name: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """The provenance of the blocks, what was assumed, and what is odd in the blocks."""
        notes, warnings = (self.blocks.provenance.sentence, *self.remarks), self.blocks.warnings
        if not warnings:
            return notes
        more = f" And {len(warnings) - 1:,} more like it." if len(warnings) > 1 else ""
        return (*notes, f"Accepted with a warning: {warnings[0].place}: {warnings[0].sentence}{more}")


@dataclass(frozen=True, slots=True)
class BlocksRefused:
    """Blocks that cannot be read.

    Attributes:
        path: of the file.
        issues: every problem with its line.
    """

    path: Path
    issues: tuple[Issue, ...]
