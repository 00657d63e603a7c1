"""Files of figures: matplotlib draws the same value the window paints, in the light theme, always the same bytes."""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from phexplore.figures.axis import Axis, Scale
from phexplore.figures.figure import Figure
from phexplore.figures.map import outer_edges, scale_words, stretch_at, tint_of
from phexplore.figures.marks import (
    AnyMark,
    Box,
    Dash,
    Dot,
    Fill,
    Ink,
    Part,
    Path,
    Role,
    Rule,
    Shape,
    Span,
    Stroke,
    Words,
    shape_of,
)
from phexplore.figures.naming import in_chosen_words
from phexplore.figures.scales import spread
from phexplore.figures.style import (
    ACCENT,
    ACCENT_SOFT,
    ATTENTION,
    BORDER,
    GHOST,
    GRID,
    INK,
    LEVEL_COLOURS,
    MUTED,
    PAGE_WIDTH,
    PNG_DPI,
    TITLE_INCHES,
    Chart,
    FigureFormat,
    chart_bytes,
)
from phexplore.figures.table import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

SERIES = ("#0072b2", "#d55e00", "#009e73", "#a1558a", "#8f6200", "#3b4650", "#2a86bd")
"""Colours of series on white, each at least 3 : 1 (Okabe and Ito, 2008, the light ones darkened)."""
NARROW = 3.7
"""Inches of a picture for a telephone: names of rows stand above them."""
WIDE = (12.8, 7.2)
"""Inches of a picture for slides, 16 : 9."""
_ROLES = {
    Role.MAIN: ACCENT,
    Role.MISSED: ATTENTION,
    Role.REFUSED: "#b3261e",
    Role.MET: "#17704a",
    Role.REFERENCE: GHOST,
    Role.TEXT: INK,
    Role.MUTED: MUTED,
    Role.BASE: "#ffffff",
    Role.CHOSEN: ACCENT_SOFT,
    Role.STRIPE: "#f7f9fb",
}
_MARKERS = {
    Shape.DISC: "o",
    Shape.SQUARE: "s",
    Shape.TRIANGLE: "^",
    Shape.DIAMOND: "D",
    Shape.POINTED_DOWN: "v",
    Shape.UPRIGHT: "|",
    Shape.FLAT: "_",
    Shape.CROSS: "x",
}
_LINES: dict[Dash, Any] = {Dash.SOLID: "-", Dash.DASHED: "--", Dash.DOTTED: ":"}
_POINTS_PER_PIXEL = 0.72
"""A stroke of one pixel on the screen beside text of 13 pixels, beside text of 8.5 points in a file."""
_ROW, _FRAME, _PLANE, _PAGE = 0.21, 0.75, 3.2, 7.3
"""Inches of a row, of everything around rows, of a plane, and of rows that a page shows in their whole size."""
_LINE = 0.13
"""Inches of another line of a name."""
_LEAST_ROW, _NAMED_ROW = 0.135, 0.36
"""Inches of a row that its letters stay apart in, and of one with its name above it."""
_CHARACTER = 6.6
"""Pixels of a character of bold text, for the room texts need."""
_BELOW = 0.5
"""Where the key of a figure in somebody's axes begins, in inches below them."""
_AXES = 0.775
"""Part of a figure's width that its axes have where nobody says otherwise."""
_LETTER = 5.4
"""Pixels of a letter of the text beside a mark."""
_LEAST_TEXT, _LEAST_BEHIND = 12, 48
"""Letters that a text beside a mark keeps; those behind it get their room from the axis."""
_WORD = 4
"""Letters that a line may be longer for, to end with a word."""
_MOST_LAYOUTS = 4
"""How often a figure is laid out until its texts are inside."""
_EDGE = 0.06
"""Inches between a text and the edge of the picture."""
_BACK = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
_THIN = {"edgecolor": BORDER, "linewidth": 0.3, "zorder": 1}
_MOST_NAME = 56
"""Letters of a name of a row in a line; longer ones have two lines of smaller letters, where rows are high enough."""
_MOST_ABOVE = 64
"""Letters of a name above a row of a narrow picture."""
_SMALL_NAME, _SMALLER, _TWO_LINES = 6.5, 72, 0.19
"""Points of the letters of long names, how many of them a line has, and the inches of two lines."""
_MOST_TITLE = 80
_MOST_TICKS, _TICK = 12, 8
"""Ticks of an axis, and letters that each has room for."""
_MOST_KEY = 110
"""Letters of a line of the key."""
_MOST_ROWS = 16
"""Rows that can be read on a slide."""
_MOST_SAID = 40
"""Marks whose words a description lists; the data table has them all."""


def chart_of(figure: Figure) -> Chart:
    """Return what a report embeds of a figure."""
    return _chart_of(in_chosen_words(figure))


def _chart_of(figure: Figure) -> Chart:
    title = "\n".join(wrap(figure.title, _MOST_TITLE))
    brief = _chart_of(figure.brief(_MOST_ROWS)) if len(figure.rows) > _MOST_ROWS else None
    said, high = described(figure), _inches(figure)
    slim = partial(draw, figure=figure, is_narrow=True)
    row = max(_NAMED_ROW, _ROW * figure.stretch + _LEAST_ROW)
    low = row * len(figure.rows) + _FRAME + _key_inches(figure, 3) if figure.has_rows else high
    narrow = Chart(figure.id, title, said, NARROW, low, slim)
    return Chart(figure.id, title, said, PAGE_WIDTH, high, partial(draw, figure=figure), brief, figure.summary, narrow)


def described(figure: Figure) -> str:
    """Return what a reader who cannot see the figure needs to know: its sentence, and its marks where they are few."""
    said = [" ".join(word for word in (mark.group, mark.name, mark.text) if word) for mark in figure.marks if mark.text]
    few = said if len(said) <= _MOST_SAID else []
    return f"{figure.summary} {'; '.join(few)}.".strip() if few else figure.summary


def figure_bytes(figure: Figure, form: FigureFormat, *, wide: bool = False) -> bytes:
    """Return a figure as a file with its title; the same figure gives the same bytes.

    Args:
        figure: what to draw.
        form: format of the file.
        wide: for slides, 16 : 9; else as wide as a page.
    """
    if not wide:
        return chart_bytes(chart_of(figure), form)
    figure = in_chosen_words(figure)
    title = wrap(figure.title, int(_MOST_TITLE * WIDE[0] / PAGE_WIDTH)) or [""]
    high = WIDE[1] - TITLE_INCHES * len(title)
    chart = Chart(figure.id, "\n".join(title), figure.summary, WIDE[0], high, partial(draw, figure=figure))
    return chart_bytes(chart, form)


def draw(target: FigureBase, figure: Figure, *, is_narrow: bool = False) -> None:
    """Draw a figure into an empty matplotlib figure.

    Args:
        target: an empty figure of matplotlib.
        figure: what to draw.
        is_narrow: whether it is for a telephone: names of rows stand above them.
    """
    axes = target.subplots()
    _Drawing(axes, figure, is_narrow=is_narrow).draw()
    if figure.key:
        _draw_key(target, figure, _MOST_KEY // 2 if is_narrow else _MOST_KEY, loc="outside lower center")
    if figure.cells:
        _part_columns(axes)
    if figure.has_rows:
        _keep_texts_inside(axes)
    _keep_captions_inside(axes)


def _keep_texts_inside(axes: Axes) -> None:
    """Widen the axis until the texts beside marks end inside the picture: names of rows may leave less room than was reckoned."""
    from matplotlib.text import Annotation  # noqa: PLC0415 - only files pay for matplotlib

    root = axes.figure.figure
    before, root.dpi = root.dpi, PNG_DPI  # letters stand on whole dots: at others they are wider or narrower
    for _ in range(_MOST_LAYOUTS):
        root.draw_without_rendering()
        edge, start, wider = root.bbox.x1 - _EDGE * root.dpi, axes.get_window_extent().x0, 1.0
        for text in axes.texts:
            over = text.get_window_extent().x1 - edge
            if isinstance(text, Annotation) and over > 0:
                room = axes.transData.transform(text.xy)[0] - start
                wider = max(wider, room / (room - over)) if over < room else wider
        if wider == 1.0:
            break
        low, high = axes.get_xlim()
        axes.set_xlim(low, low + (high - low) * wider)
    root.dpi = before


def _keep_captions_inside(axes: Axes) -> None:
    """Write the words of an axis in several lines where they would end outside of the picture."""
    root = axes.figure.figure
    root.draw_without_rendering()
    page, area = root.bbox, axes.get_window_extent()
    for axis, side, room in ((axes.xaxis, "x", area.width), (axes.yaxis, "y", 0.9 * area.height)):
        box, words = axis.label.get_window_extent(), axis.label.get_text()
        low, high, long = (
            getattr(box, name) for name in (f"{side}0", f"{side}1", "width" if side == "x" else "height")
        )
        if words and (low < getattr(page, f"{side}0") or high > getattr(page, f"{side}1")):
            letters = len(words) // math.ceil(long / room) + _WORD
            axis.set_label_text("\n".join(wrap(words, max(_LEAST_TEXT, letters))))


def _part_columns(axes: Axes) -> None:
    """Stand names of columns upright where they meet each other."""
    root, labels = axes.figure.figure, axes.get_xticklabels()
    root.draw_without_rendering()
    boxes = [label.get_window_extent() for label in labels]
    if not all(left.x1 + root.dpi * _EDGE / 2 < right.x0 for left, right in pairwise(boxes)):
        axes.set_xticklabels([label.get_text().replace("\n", " ") for label in labels])
        axes.tick_params(axis="x", rotation=90)


def draw_into(axes: Axes, figure: Figure) -> None:
    """Draw a figure into axes of somebody else's, with its title and key; nothing outside them is touched.

    A figure with nothing to draw says what would be there in place of a title.

    Args:
        axes: empty axes of matplotlib.
        figure: what to draw.
    """
    _Drawing(axes, figure).draw()
    letters = int(
        _MOST_TITLE
        * min(1.0, axes.get_position().width / _AXES * axes.figure.bbox.width / axes.figure.dpi / PAGE_WIDTH)
    )
    axes.set_title("\n".join(wrap(figure.title or figure.summary, max(letters, _LEAST_TEXT))), loc="left", fontsize=9)
    if figure.key:
        from matplotlib.transforms import ScaledTranslation  # noqa: PLC0415 - only files pay for matplotlib

        below = axes.transAxes + ScaledTranslation(0, -_BELOW, axes.figure.dpi_scale_trans)
        _draw_key(axes, figure, _MOST_KEY, loc="upper center", bbox_to_anchor=(0.5, 0.0), bbox_transform=below)


def inches(figure: Figure) -> tuple[float, float]:
    """Return width and height that suit a figure on a page, in inches."""
    return PAGE_WIDTH, _inches(figure)


def _inches(figure: Figure) -> float:
    key = _key_inches(figure, 5)
    if figure.has_rows:
        rows = max(len(figure.rows), 1)
        key += _LINE * max((name.count(" ") for name in figure.columns), default=0)
        high = _ROW * max(0.8, figure.stretch) * rows
        return _FRAME + key + min(high, max(_PAGE - key, _LEAST_ROW * rows))
    return _PLANE + key


def _key_inches(figure: Figure, beside: int) -> float:
    """Return how high the key is with so many entries beside each other."""
    return 0.25 * (1 + len(figure.key) // beside) if figure.key else 0.0


def colour_of(ink: Ink) -> str:
    """Return the colour of an ink on white."""
    match ink:
        case int():
            return SERIES[ink % len(SERIES)]
        case Role():
            return _ROLES[ink]
        case _:
            return LEVEL_COLOURS[ink]


class _Drawing:
    """Draws one figure into one pair of axes."""

    def __init__(self, axes: Axes, figure: Figure, *, is_narrow: bool = False) -> None:
        self._axes, self._figure, self._pixels = axes, figure, 0.0
        self._middle, self._part = (0.22, 0.5) if is_narrow and figure.has_rows else (0.0, 1.0)
        longest = max((len(f"{mark.group}  {mark.name}{mark.text}") for mark in figure.marks), default=0)
        self._ends_names = bool(self._middle) and longest <= _MOST_ABOVE - 2
        """Whether texts of marks stand at the end of the lines of names, so that the axis need leave them no room."""

    def draw(self) -> None:
        figure, axes = self._figure, self._axes
        self._frame()
        self._parts(figure.under, 0)
        for row, mark in zip(figure.row_numbers, figure.marks, strict=True):
            self._mark(mark, row if figure.has_rows else 0)
        if not figure.has_rows:
            self._line_names()
        self._cells()
        self._patches()
        for points in figure.points:
            x, y = figure.x.positions(points.x), figure.y.positions(points.y)
            seen = points.y > 0 if figure.y.scale is Scale.LOG else np.ones(len(y), dtype=bool)
            axes.plot(
                x[seen], y[seen], linestyle="none", marker=_MARKERS[shape_of(points.series)],
                markersize=points.size * 1.2, color=colour_of(points.series), alpha=0.6, markeredgewidth=0,
            )  # fmt: skip
        self._parts(figure.over, 0)

    def _frame(self) -> None:
        figure, axes = self._figure, self._axes
        part = axes.get_position().width / _AXES
        self._pixels = part * axes.figure.bbox.width / axes.figure.dpi / PAGE_WIDTH * 560.0
        low, high = figure.x_range if self._ends_names else figure.x_range_in(self._pixels, _width)
        axes.set_xlim(low, high)
        axes.set_xlabel(figure.x.caption)
        if figure.has_rows:
            labels = figure.rows
            bottom = max(len(labels), 1) - 0.5
            axes.set_ylim(bottom, -0.5)
            names = [_name(label.group, label.name, before.group if before else None)
                     for label, before in zip(labels, (None, *labels), strict=False)]  # fmt: skip
            self._name_rows(names)
            axes.tick_params(axis="y", length=0)
            axes.spines["left"].set_visible(False)
        else:
            bottom, top = figure.y_range
            axes.set_ylim(bottom, top if top > bottom else bottom + 1.0)  # a picture that only says why it is empty
            axes.set_ylabel(figure.y.caption)
            _ticks(figure.y, bottom, top, axes.yaxis)
            axes.grid(visible=True, axis="y")
        if figure.cells:
            names = [
                name.replace(" ", "\n") for name in figure.columns
            ]  # a word is narrower than a column, a name is not
            axes.set_xticks([number + 0.5 for number in range(len(names))], names, color=INK, fontsize=7.5)
            axes.xaxis.tick_top()
            axes.tick_params(length=0)
            axes.spines["bottom"].set_visible(False)
        else:
            _ticks(figure.x, low, high, axes.xaxis, self._pixels / _LETTER)
            axes.grid(visible=True, axis="x")

    def _name_rows(self, names: list[str]) -> None:
        """Write the names of rows beside them, or above them in a narrow picture."""
        axes = self._axes
        if self._middle:
            axes.set_yticks([])
            for row, name in enumerate(names):
                axes.annotate(
                    shortened(name, _MOST_ABOVE), (0, row - self._middle), xycoords=("axes fraction", "data"), va="center",
                    fontsize=7.5, color=INK, bbox=_BACK,
                ).set_in_layout(False)  # fmt: skip
            return
        room = (axes.figure.bbox.height / axes.figure.dpi - _FRAME) / max(len(names), 1)
        is_long = [len(name) > _MOST_NAME for name in names]
        axes.set_yticks(range(len(names)), [_in_lines(name, room) for name in names], color=INK)
        for label, is_own in zip(axes.get_yticklabels(), is_long, strict=True):
            if is_own or (any(is_long) and room < _TWO_LINES):
                label.set(fontsize=_SMALL_NAME, linespacing=0.95)

    def _x(self, value: float) -> float:
        return self._figure.x.position(value)

    def _y(self, value: float, row: int) -> float:
        return row + self._middle + value * self._part if self._figure.has_rows else self._figure.y.position(value)

    def _mark(self, mark: AnyMark, row: int) -> None:
        self._parts(mark.parts, row)
        if not mark.text or not self._figure.has_rows:
            return
        if self._ends_names:
            self._axes.annotate(
                mark.text, (1, row - self._middle), xycoords=("axes fraction", "data"), va="center", ha="right",
                fontsize=7.5, color=colour_of(mark.ink), bbox=_BACK,
            ).set_in_layout(False)  # fmt: skip
            return
        end = mark.anchor if mark.anchor is not None else max(mark.reach, default=0.0)
        others = [value for value in mark.reach if value > end]
        place = max([end, *others]) if mark.anchor is None or not others else end
        is_left = bool(others) and mark.anchor is not None
        low, high = self._axes.get_xlim()
        room = (self._x(place) - low if is_left else high - self._x(place)) / (high - low) * self._pixels
        text = shortened(mark.text, max(_LEAST_TEXT if is_left else _LEAST_BEHIND, int(room / _LETTER)))
        self._axes.annotate(
            text, (self._x(place), self._y(0.0, row)), xytext=(-6 if is_left else 6, 0), textcoords="offset points",
            ha="right" if is_left else "left", va="center", fontsize=7.5, color=colour_of(mark.ink),
        ).set_in_layout(False)  # fmt: skip  # the axis leaves them room: a layout that did would move what they stand beside

    def _line_names(self) -> None:
        """Write the names of lines at their ends, moved apart where the lines are close."""
        named = [
            (mark, path) for mark in self._figure.marks if mark.text for path in mark.parts if isinstance(path, Path)
        ]
        low, high = self._axes.get_ylim()
        gap = (high - low) / 13
        places = spread([self._y(path.ys[-1], 0) for _, path in named], gap, low + gap / 2, high - gap / 2)
        for (mark, path), place in zip(named, places, strict=True):
            self._axes.annotate(
                mark.text, (self._x(path.xs[-1]), self._y(path.ys[-1], 0)), xytext=(self._x(path.xs[-1]), place),
                textcoords="data", va="center", fontsize=7.5, color=colour_of(path.ink), annotation_clip=False,
            )  # fmt: skip

    def _parts(self, parts: tuple[Part, ...], row: int) -> None:
        for part in parts:
            match part:
                case Dot():
                    self._dot(part, row)
                case Span():
                    self._span(part, row)
                case Stroke():
                    self._axes.plot(
                        [self._x(part.x)], [self._y(part.y, row)], linestyle="none", marker="|", color=colour_of(part.ink),
                        markersize=2 * part.reach * _POINTS_PER_PIXEL, markeredgewidth=part.width * 0.7,
                    )  # fmt: skip
                case Box():
                    self._box(part, row)
                case Path():
                    self._path(part, row)
                case Rule():
                    self._rule(part)
                case Words():
                    self._axes.annotate(
                        part.text, (self._x(part.x), self._y(part.y, row)),
                        xytext=(part.shift * _POINTS_PER_PIXEL, part.rise * 9), textcoords="offset points",
                        ha={0.0: "left", 0.5: "center", 1.0: "right"}.get(part.align, "left"), va="center", fontsize=7.5,
                        color=colour_of(part.ink), fontweight="bold" if part.is_bold else "normal",
                    )  # fmt: skip

    def _dot(self, part: Dot, row: int) -> None:
        colour = colour_of(part.ink)
        self._axes.plot(
            [self._x(part.x)], [self._y(part.y, row)], linestyle="none", marker=_MARKERS[part.shape],
            markersize=2 * part.size * _POINTS_PER_PIXEL, color=colour, alpha=part.opacity,
            markerfacecolor="white" if part.is_hollow else colour, zorder=4,
        )  # fmt: skip

    def _span(self, part: Span, row: int) -> None:
        self._axes.plot(
            [self._x(part.low), self._x(part.high)], [self._y(part.y, row)] * 2, color=colour_of(part.ink),
            linewidth=part.width * _POINTS_PER_PIXEL, linestyle=_LINES[part.dash], solid_capstyle="butt", zorder=2,
            marker="|" if part.cap else None, markersize=2 * part.cap * _POINTS_PER_PIXEL,
        )  # fmt: skip

    def _box(self, part: Box, row: int) -> None:
        from matplotlib.patches import Rectangle  # noqa: PLC0415 - only files pay for matplotlib

        left, right = sorted((self._x(part.low), self._x(part.high)))
        bottom, top = self._y(part.bottom, row), self._y(part.top, row)
        colour = colour_of(part.ink)
        look: dict[str, Any] = {"facecolor": colour, "edgecolor": "none"}
        match part.fill:
            case Fill.HOLLOW:
                look = {"facecolor": "none", "edgecolor": colour, "linewidth": 1.1}
            case Fill.HATCHED:
                look = {"facecolor": colour, "edgecolor": _mixed(colour, 0.7), "hatch": "///", "linewidth": 0.0}
            case Fill.SOFT:
                look["alpha"] = 0.55
            case Fill.FAINT:
                look["alpha"] = 0.22
        self._axes.add_patch(Rectangle((left, bottom), right - left, top - bottom, zorder=1.5, **look))
        low, high = self._axes.get_xlim()
        room = (right - left) / ((high - low) or 1.0) * 100
        text = next((text for text in (part.text, part.short) if text and 1.15 * len(text) < room), "")
        if text:
            back = {"facecolor": colour, "edgecolor": "none", "pad": 1.0} if part.fill is Fill.HATCHED else None
            middle = (left + right) / 2, (bottom + top) / 2
            ink = _ink_on(_mixed(colour, look.get("alpha", 1.0)))
            self._axes.text(*middle, text, ha="center", va="center", fontsize=6.5, color=ink, bbox=back)

    def _path(self, part: Path, row: int) -> None:
        xs, ys = [self._x(x) for x in part.xs], [self._y(y, row) for y in part.ys]
        step: Literal["post"] | None = "post" if part.is_stepped else None
        if part.lows:
            lows = [self._y(y, row) for y in part.lows]
            self._axes.fill_between(xs, lows, ys, color=colour_of(part.ink), alpha=0.22, linewidth=0, step=step)
        else:
            self._axes.plot(
                xs, ys, color=colour_of(part.ink), linewidth=part.width * _POINTS_PER_PIXEL, linestyle=_LINES[part.dash],
                drawstyle="steps-post" if part.is_stepped else "default",
            )  # fmt: skip

    def _rule(self, part: Rule) -> None:
        look: dict[str, Any] = {
            "color": colour_of(part.ink), "linewidth": part.width * _POINTS_PER_PIXEL, "linestyle": _LINES[part.dash],
        }  # fmt: skip
        axes = self._axes
        if part.x is not None:
            axes.axvline(self._x(part.x), zorder=1, **look)
            if part.text:
                axes.annotate(part.text, (self._x(part.x), 1.0), xycoords=("data", "axes fraction"), xytext=(0, 2),
                              textcoords="offset points", ha="center", fontsize=7.5, color=MUTED)  # fmt: skip
        elif part.y is not None:
            axes.axhline(self._y(part.y, 0), zorder=1, **look)
            if part.text:
                axes.annotate(part.text, (1.0, self._y(part.y, 0)), xycoords=("axes fraction", "data"), xytext=(-2, 3),
                              textcoords="offset points", ha="right", fontsize=7.5, color=MUTED)  # fmt: skip

    def _patches(self) -> None:
        from matplotlib.collections import LineCollection  # noqa: PLC0415 - only files pay for matplotlib
        from matplotlib.patches import PathPatch  # noqa: PLC0415 - as above
        from matplotlib.path import Path as Outline  # noqa: PLC0415 - as above

        figure = self._figure
        if figure.tint is None:
            return
        self._axes.set_aspect(1 / stretch_at(sum(figure.y_range) / 2), adjustable="datalim")
        self._axes.grid(visible=False)
        for patch in figure.patches:
            found = tint_of(figure.tint, patch.value)
            colour = GRID if found is None else _mixed(colour_of(found[0]), found[1])
            outline = Outline.make_compound_path(*(Outline(ring, closed=True) for ring in patch.rings))
            self._axes.add_patch(PathPatch(outline, facecolor=colour, **_THIN))
        border = outer_edges(ring for patch in figure.patches if patch.key in figure.outlined for ring in patch.rings)
        self._axes.add_collection(LineCollection(list(border), colors=INK, linewidths=1.2, zorder=2))
        if figure.tint.unit:
            self._axes.set_xlabel(f"colours from {scale_words(figure.tint)}")

    def _cells(self) -> None:
        from matplotlib.patches import Rectangle  # noqa: PLC0415 - only files pay for matplotlib

        for cell in self._figure.cells:
            middle = cell.column + 0.5, self._y(0.0, cell.row)
            if cell.strength is None:
                self._axes.text(*middle, "–", ha="center", va="center", fontsize=7, color=MUTED)
                continue
            tint = _mixed(ACCENT, cell.strength)
            self._axes.add_patch(
                Rectangle(
                    (cell.column + 0.02, self._y(-0.46, cell.row)),
                    0.96,
                    0.92 * self._part,
                    facecolor=tint,
                    edgecolor=GRID,
                    linewidth=0.4,
                )
            )
            self._axes.text(
                *middle, cell.text, ha="center", va="center", fontsize=7.5, color=_ink_on(tint),
                fontweight="bold" if cell.is_changed else "normal",
            )  # fmt: skip


def _mixed(colour: str, strength: float) -> tuple[float, float, float]:
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return (1 - strength * (1 - red), 1 - strength * (1 - green), 1 - strength * (1 - blue))


def _ink_on(fill: tuple[float, float, float]) -> str:
    """Return black or white, whichever is easier to read on this fill (WCAG 2.2, relative luminance)."""
    parts = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in fill)
    light = sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))
    return "black" if (light + 0.05) ** 2 > 1.05 * 0.05 else "white"


def _ticks(axis: Axis, low: float, high: float, target: Any, letters: float = math.inf) -> None:
    """Write the ticks of an axis.

    Args:
        axis: what it shows.
        low: place it begins at.
        high: place it ends at.
        target: axis of matplotlib.
        letters: that fit beside each other; names that need more get several lines.
    """
    found = [(axis.position(value), axis.label(value)) for value in axis.values_between(low, high)]
    part = (found[-1][0] - found[0][0]) / ((high - low) or 1.0) if found else 0.0
    are_names = any(text[:1].isalpha() for _, text in found)
    longest = max((len(text) for _, text in found), default=0)
    most = _MOST_TICKS if are_names else max(2, min(_MOST_TICKS, 1 + letters * part // max(_TICK, longest)))
    found = found[:: math.ceil(len(found) / most)] if found else found
    places, texts = [place for place, _ in found], [text for _, text in found]
    if texts and (room := letters / len(texts) - 2) < max(map(len, texts)):
        lines = (wrap(text, max(_LEAST_TEXT, int(room)), break_long_words=False) for text in texts)
        texts = ["\n".join(each) for each in lines]
    target.set_ticks(places, texts)


def _name(group: str, name: str, before: str | None) -> str:
    is_said = not group or group in {before, name}
    return name if is_said else f"{group}  {name}".rstrip()


def _in_lines(name: str, room: float) -> str:
    """Return a name of a row as it is written in so many inches: a long one in two lines, or cut where there is one alone."""
    if len(name) <= _MOST_NAME:
        return name
    return (
        "\n".join(wrap(shortened(name, 2 * _MOST_NAME - 8), _MOST_NAME)[:2])
        if room >= _TWO_LINES
        else shortened(name, _SMALLER)
    )


def _width(text: str) -> float:
    return _CHARACTER * len(text)


def _draw_key(target: FigureBase | Axes, figure: Figure, letters: int, **place: Any) -> None:
    from matplotlib.lines import Line2D  # noqa: PLC0415 - only files pay for matplotlib
    from matplotlib.patches import Patch  # noqa: PLC0415 - as above

    handles: list[Any] = []
    for entry in figure.key:
        match entry.sign:
            case Box(ink=ink, fill=fill):
                hollow = fill is Fill.HOLLOW
                alpha = {Fill.SOFT: 0.55, Fill.FAINT: 0.22}.get(fill, 1.0)
                handles.append(
                    Patch(facecolor="none" if hollow else colour_of(ink), edgecolor=colour_of(ink) if hollow else "white",
                          hatch="///" if fill is Fill.HATCHED else None, alpha=alpha, linewidth=0.8 if hollow else 0.0)
                )  # fmt: skip
            case Dot(ink=ink, shape=shape, is_hollow=hollow, size=size):
                handles.append(
                    Line2D([], [], linestyle="", marker=_MARKERS[shape], color=colour_of(ink), markersize=1.5 * size,
                           markerfacecolor="white" if hollow else colour_of(ink))
                )  # fmt: skip
            case Stroke(ink=ink):
                handles.append(Line2D([], [], linestyle="", marker="|", color=colour_of(ink), markersize=9))
            case Path(ink=ink, dash=dash, width=width) | Span(ink=ink, dash=dash, width=width):
                handles.append(
                    Line2D([], [], color=colour_of(ink), linestyle=_LINES[dash], linewidth=width * _POINTS_PER_PIXEL)
                )
            case _:
                handles.append(Line2D([], [], linestyle=""))
    texts = [entry.text for entry in figure.key]
    longest = max(map(len, texts))
    columns = max(1, min(len(texts), letters // (longest + 6)))
    target.legend(handles, texts, ncols=columns, fontsize=7.5, handletextpad=0.5, **place)
