"""What a figure draws: rows, bars and points that a person can point at, and the strokes they are made of. Plain values."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, fields
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING

from phexplore.model.keys import PopulationGroupLevel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class Role(enum.Enum):
    """What a colour says. Each theme has its own; shape or words always say it too."""

    MAIN = "published"
    MISSED = "attention"
    REFUSED = "refused"
    MET = "good"
    REFERENCE = "reference"
    TEXT = "text"
    MUTED = "muted"
    BASE = "background"
    CHOSEN = "chosen"
    STRIPE = "stripe"


Ink = Role | int | PopulationGroupLevel
"""A role, the number of a series, or a level of population groups."""


class Shape(enum.Enum):
    """The outline of a dot, so that colour is never the only sign."""

    DISC = "disc"
    SQUARE = "square"
    TRIANGLE = "triangle"
    DIAMOND = "diamond"
    POINTED_DOWN = "triangle pointing down"
    UPRIGHT = "upright bar"
    FLAT = "flat bar"
    CROSS = "cross"


SERIES_SHAPES = tuple(shape for shape in Shape if shape is not Shape.CROSS)
"""One per series, in their order."""


def shape_of(series: int) -> Shape:
    """Return the shape of a series."""
    return SERIES_SHAPES[series % len(SERIES_SHAPES)]


class Fill(enum.Enum):
    """How a box is filled."""

    SOLID = "solid"
    SOFT = "soft"
    FAINT = "faint"
    HATCHED = "hatched"
    HOLLOW = "hollow"


class Dash(enum.Enum):
    """How a line is drawn."""

    SOLID = "solid"
    DASHED = "dashed"
    DOTTED = "dotted"


# Strokes: y counts in rows from the middle of the mark's own row (downward) in a figure of rows, else it is a value


@dataclass(frozen=True, slots=True)
class Dot:
    """A dot.

    Attributes:
        x: value.
        y: value, or rows below the mark's own.
        ink: colour.
        shape: outline.
        is_hollow: only its outline is drawn.
        size: half its width in pixels.
        opacity: 0 to 1.
    """

    x: float
    y: float = 0.0
    ink: Ink = 0
    shape: Shape = Shape.DISC
    is_hollow: bool = False
    size: float = 4.5
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Span:
    """A horizontal line between two values.

    Attributes:
        low: one end.
        high: other end.
        y: as of a dot.
        ink: colour.
        width: in pixels.
        cap: half the height of the strokes at its ends in pixels, 0 for none.
        dash: of the line.
    """

    low: float
    high: float
    y: float = 0.0
    ink: Ink = 0
    width: float = 1.5
    cap: float = 0.0
    dash: Dash = Dash.SOLID


@dataclass(frozen=True, slots=True)
class Stroke:
    """A short vertical stroke: a reference, a target, the truth.

    Attributes:
        x: value.
        y: as of a dot.
        ink: colour.
        reach: half its height in pixels.
        width: in pixels.
        dash: of the line.
    """

    x: float
    y: float = 0.0
    ink: Ink = Role.REFERENCE
    reach: float = 8.0
    width: float = 2.5
    dash: Dash = Dash.SOLID


@dataclass(frozen=True, slots=True)
class Box:
    """A filled rectangle between values.

    Attributes:
        low: left end.
        high: right end.
        bottom: end that is a value or rows below the mark's own.
        top: other end.
        ink: colour.
        fill: how.
        text: written inside where there is room.
        short: written where there is less.
    """

    low: float
    high: float
    bottom: float
    top: float
    ink: Ink = 0
    fill: Fill = Fill.SOLID
    text: str = ""
    short: str = ""


@dataclass(frozen=True, slots=True)
class Path:
    """A line through points, or the area under it.

    Attributes:
        xs: values.
        ys: as many values.
        ink: colour.
        width: in pixels.
        dash: of the line.
        lows: lower edge of a shaded band whose upper edge is `ys`; empty for a line.
        is_stepped: the height of each point holds up to the next one.
    """

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    ink: Ink = 0
    width: float = 2.0
    dash: Dash = Dash.SOLID
    lows: tuple[float, ...] = ()
    is_stepped: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """A line across the whole figure.

    Attributes:
        x: value of a vertical one.
        y: value of a horizontal one, where there is no x.
        ink: colour.
        width: in pixels.
        dash: of the line.
        text: beside it.
    """

    x: float | None = None
    y: float | None = None
    ink: Ink = Role.MUTED
    width: float = 1.0
    dash: Dash = Dash.DASHED
    text: str = ""


@dataclass(frozen=True, slots=True)
class Words:
    """A line of text at a place.

    Attributes:
        x: value.
        y: as of a dot.
        text: the line.
        ink: colour.
        is_bold: weight.
        align: 0 starts at the place, 0.5 is centred on it, 1 ends at it.
        shift: pixels to the right.
        rise: lines of text above.
    """

    x: float
    y: float
    text: str
    ink: Ink = Role.TEXT
    is_bold: bool = False
    align: float = 0.0
    shift: float = 0.0
    rise: float = 0.0


Part = Dot | Span | Stroke | Box | Path | Rule | Words


# Marks: what can be pointed at, walked to and chosen

Tip = str | Callable[[], str]
"""Words of a mark. Those that cost to make are made when somebody asks: a picture is made anew at every edit."""


@dataclass(frozen=True, slots=True)
class Handle:
    """The end of a mark that can be dragged: an edit.

    Attributes:
        x: value where it is taken.
        step: the smallest step of a key; Shift takes ten.
        is_whole: dragged values are the roundest whole numbers within a pixel.
        least: smallest value.
    """

    x: float
    step: float = 1.0
    is_whole: bool = False
    least: float = 0.0


@dataclass(frozen=True)
class Mark:
    """A mark made of strokes.

    Attributes:
        key: what choosing it selects elsewhere, None for nothing.
        parts: strokes, painted in this order.
        group: of a row: written once for neighbours that share it.
        name: of the row.
        text: beside what is drawn.
        tip: what it is in words, or what makes them when somebody asks, for the pointer and for screen readers.
        row: its row, where several marks share one; by default each has its own.
        anchor: value its text belongs to: it is written beside it; None writes it at the end of the mark.
        ink: of the text.
        is_locked: a lock stands before the name.
        handle: what can be dragged, None for nothing.
    """

    key: Hashable = None
    parts: tuple[Part, ...] = ()
    group: str = ""
    name: str = ""
    text: str = ""
    tip: Tip = field(default="", compare=False)
    row: int | None = None
    anchor: float | None = None
    ink: Ink = Role.TEXT
    is_locked: bool = False
    handle: Handle | None = None

    @cached_property
    def reach(self) -> tuple[float, ...]:
        """The horizontal values of everything that is drawn."""
        return tuple(value for part in self.parts for value in extent(part)[0])


@dataclass(frozen=True)
class Row:
    """A row with a dot, intervals and reference strokes.

    Attributes:
        key: what choosing it selects elsewhere, None for nothing.
        group: written once for neighbours that share it.
        name: of the row.
        value: the dot, None for none.
        low: end of the thin line.
        high: other end of the thin line.
        inner_low: end of the thick line.
        inner_high: other end of the thick line.
        tick: a vertical stroke: the truth, the noise as it is measured.
        dots: small ones, e.g. one per trial.
        crosses: small ones, e.g. what was measured in each trial.
        text: at the right end of what is drawn.
        tip: what it is in words.
        is_warned: drawn in the colour of attention.
        series: whose colour it has; the name says the same in words.
        is_linked: a line joins tick and dot.
        is_locked: a lock stands before the name.
    """

    key: Hashable
    group: str
    name: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    inner_low: float | None = None
    inner_high: float | None = None
    tick: float | None = None
    dots: tuple[float, ...] = ()
    crosses: tuple[float, ...] = ()
    text: str = ""
    tip: str = ""
    is_warned: bool = False
    series: int = 0
    is_linked: bool = False
    is_locked: bool = False

    row = None
    anchor = None
    ink = Role.TEXT
    handle = None

    @property
    def reach(self) -> tuple[float, ...]:
        """All values that are drawn."""
        ends = (self.value, self.low, self.high, self.inner_low, self.inner_high, self.tick)
        return (*(end for end in ends if end is not None and math.isfinite(end)), *self.dots, *self.crosses)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The strokes of the row."""
        ink: Ink = Role.MISSED if self.is_warned else self.series
        parts: list[Part] = []
        if self.low is not None and self.high is not None:
            parts.append(Span(self.low, self.high, ink=ink, cap=4.0))
        if self.inner_low is not None and self.inner_high is not None:
            parts.append(Span(self.inner_low, self.inner_high, ink=ink, width=8.0))
        if self.is_linked and self.tick is not None and self.value is not None:
            parts.append(Span(self.tick, self.value, ink=ink))
        parts += [Dot(dot, ink=ink, size=2.2, opacity=0.55) for dot in self.dots]
        parts += [Dot(cross, ink=Role.TEXT, shape=Shape.CROSS, size=3.0) for cross in self.crosses]
        if self.tick is not None:
            parts.append(Stroke(self.tick))
        if self.value is not None:
            parts.append(Dot(self.value, ink=ink))
        return tuple(parts)


BAR_HALF = 0.31
"""Half the height of a bar as a part of its row."""


@dataclass(frozen=True)
class Bar:
    """A horizontal bar from 0 with a stroke for the reference.

    Attributes:
        key: what choosing it selects elsewhere, None for nothing.
        group: written once for neighbours that share it.
        name: of the bar.
        value: its length.
        before: the same in the reference, None without one.
        text: at its end.
        tip: what it is in words.
        is_locked: a lock stands before the name; its end cannot be dragged.
        handle: what can be dragged, None for nothing.
        is_marked: drawn in the colour of attention.
    """

    key: str | None
    group: str
    name: str
    value: float
    before: float | None
    text: str
    tip: str
    is_locked: bool = False
    handle: Handle | None = None
    is_marked: bool = False

    row = None
    anchor = None
    ink = Role.TEXT

    @property
    def reach(self) -> tuple[float, ...]:
        """Both ends and the reference."""
        return (0.0, self.value) if self.before is None else (0.0, self.value, self.before)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The strokes of the bar."""
        box = Box(0.0, self.value, BAR_HALF, -BAR_HALF, Role.MISSED if self.is_marked else 0)
        if self.before is None:
            return (box,)
        # On the bar the grey of the reference is hardly seen.
        ink = Role.BASE if self.before < self.value else Role.REFERENCE
        return (box, Stroke(self.before, ink=ink, reach=11.0, width=2.0))


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Many points of one series.

    Attributes:
        name: of the series.
        x: ``float64[points]``.
        y: ``float64[points]``.
        tips: one per point, in words.
        keys: one per point, empty for none.
        series: decides colour and shape.
        size: half the width of a point in pixels.
    """

    name: str
    x: Floats
    y: Floats
    tips: tuple[str, ...]
    keys: tuple[Hashable, ...] = ()
    series: int = 0
    size: float = 3.6


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a heat table.

    Attributes:
        key: what choosing it selects elsewhere.
        row: number from the top.
        column: number from the left.
        text: the number in the cell.
        strength: how dark it is, 0 to 1; None for a cell that holds nothing, drawn as a stroke.
        tip: what it is in words.
        is_changed: written bold: the reference has another value.
    """

    key: Hashable
    row: int
    column: int
    text: str
    strength: float | None
    tip: str = ""
    is_changed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """A coloured polygon of a map.

    Attributes:
        key: of the unit it belongs to.
        rings: ``float32[points, 2]`` each, as `phexplore.figures.map.area_true` makes them.
        value: NaN for nothing known.
        tip: what it is in words.
    """

    key: str
    rings: tuple[NDArray[np.float32], ...]
    value: float
    tip: str


AnyMark = Mark | Row | Bar


def extent(part: Part) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the horizontal and the vertical values a stroke reaches."""
    match part:
        case Dot(x=x, y=y) | Stroke(x=x, y=y) | Words(x=x, y=y):
            return (x,), (y,)
        case Span(low=low, high=high, y=y):
            return (low, high), (y,)
        case Box(low=low, high=high, bottom=bottom, top=top):
            return (low, high), (bottom, top)
        case Path(xs=xs, ys=ys, lows=lows):
            return xs, (*ys, *lows)
        case Rule(x=x, y=y):
            return () if x is None else (x,), () if y is None else (y,)


def looks_like(mark: AnyMark, shown: AnyMark, near: tuple[float, float], *, is_text_seen: bool = True) -> bool:
    """Return whether a mark looks as one that is shown: equal but for strokes that moved by no more than this.

    Args:
        mark: to be shown.
        shown: on the screen.
        near: in values of the horizontal and of the vertical axis.
        is_text_seen: whether the text beside it is compared too.
    """
    if mark is shown:
        return True
    if not (isinstance(mark, Mark) and isinstance(shown, Mark) and len(mark.parts) == len(shown.parts)):
        return mark == shown
    return (
        (mark.text == shown.text or not is_text_seen)
        and _LOOK[Mark](mark) == _LOOK[Mark](shown)
        and all(
            part is before or (type(part) is type(before) and _are_near(part, before, near))
            for part, before in zip(mark.parts, shown.parts, strict=True)
        )
    )


def _are_near(part: Part, shown: Part, near: tuple[float, float]) -> bool:
    if isinstance(part, Box) and isinstance(shown, Box) and (part.bottom, part.top) == (shown.bottom, shown.top):
        # The bars of a row: with every edit all shares move a little.
        is_near = abs(part.low - shown.low) <= near[0] and abs(part.high - shown.high) <= near[0]
        return is_near and bool(_LOOK[Box](part) == _LOOK[Box](shown))
    for values, before, most in zip(extent(part), extent(shown), near, strict=True):
        # Written so that what is not a number is not near.
        if values is not before and not (
            len(values) == len(before) and all(abs(a - b) <= most for a, b in zip(values, before, strict=True))
        ):
            return False
    return bool(_LOOK[type(part)](part) == _LOOK[type(shown)](shown))


_PLACES = {"x", "y", "low", "high", "bottom", "top", "xs", "ys", "lows"}
_LOOK = {
    kind: attrgetter(
        *(
            each.name
            for each in fields(kind)
            if each.compare and each.name not in _PLACES | {"parts", "text" if kind is Mark else ""}
        )
    )
    for kind in (Mark, Dot, Span, Stroke, Box, Path, Rule, Words)
}
"""What is compared of a mark besides text and strokes, and of strokes besides their places."""
