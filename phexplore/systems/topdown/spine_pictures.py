"""From what the explorer of spines found out to pictures as values: titles, rows, bins, tables. No Qt."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from phexplore.catalog.names import Naming, chosen_naming
from phexplore.figures.axis import Axis, Scale
from phexplore.figures.figure import Figure, nothing, row_figure
from phexplore.figures.histogram import Counts, paired_histograms
from phexplore.figures.map import map_figure
from phexplore.figures.marks import Patch, Row
from phexplore.figures.table import Share, Table, Value, grouped
from phexplore.figures.wording import people, share_percent
from phexplore.runs.store import started_words
from phexplore.systems.topdown.areas_on_maps import Holding
from phexplore.systems.topdown.spine_findings import margin_text
from phexplore.systems.topdown.spine_tree import unit_name
from phexplore.systems.topdown.spine_views import (
    BypassContent,
    DistributionContent,
    Impossible,
    MapColour,
    MarginsContent,
    SpineMap,
)
from phexplore.systems.topdown.wording import heading, level_title, plural_level, taken_over

THIS = "this spine"
MOST_ROWS = 1000
"""Rows that are drawn; the table lists all."""
_MOST_BINS = 32
RULES = {
    "single-child": "only children",
    "pure-dp": "Theorem 2, pure DP",
    "sum-of-squares": "sum of squares, rejected by the paper",
    "none": "no bypassing",
    "as-in-2020": "as in 2020",
}


def bins_of(*parts: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Return ``edges[bins + 1]`` of bins of equal whole width that hold all numbers, at most 32 of them."""
    values = np.concatenate([part for part in parts if part is not None])
    if not len(values):
        return np.array([0, 1], np.int64)
    low, high = int(values.min()), int(values.max())
    width = max(1, -(-(high - low + 1) // _MOST_BINS))
    for nice in (1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000, 10_000, 50_000, 100_000, 1_000_000):
        if nice >= width:
            width = nice
            break
    low -= low % width
    return np.arange(low, high + width + 1, width, dtype=np.int64)


_KEPT = "as in the redistricting release"


def margin_rows(content: MarginsContent, this: str, other: str) -> Figure:
    """Return predicted margins as rows: a dot on this spine, a tick on the other, crosses for a run's errors.

    Args:
        content: the margins.
        this: name of the spine.
        other: name of the spine it is compared with.
    """
    order = _order(content)
    rows = tuple(_margin_row(content, place, this, other) for place in order[:MOST_ROWS])
    summary = f"Dot: {this}. " + (
        f"Tick: {other}. Amber: wider than on it. "
        if content.other is not None
        else f"No margins on {other}: {content.why_not} "
    )
    summary += f"{content.kept} " if content.kept and (content.this == 0).any() else ""
    summary += f"Margin at {content.confidence} of {content.answers}. "
    if content.observed is not None:
        seen = content.observed
        summary += (
            f"Crosses: margins by the errors of {_run_words(seen.run)}, {seen.trials} trial{'s' if seen.trials != 1 else ''}, "
            f"{_z(content)} × their root mean square; {_ratio_words(content)} "
        )
    if content.schema:
        summary += f"Predicted for the run's data, {content.schema}; the margins of the tree are for the scenario's own cells. "
    if content.unobserved:
        summary += f"{content.unobserved} "
    if len(order) > MOST_ROWS:
        summary += f"Shown are the {MOST_ROWS:,} widest of {len(order):,}. "
    return row_figure(
        "margin-rows",
        rows,
        Axis(f"predicted margin of {content.answers}, {content.unit}", _scale(content)),
        _area_finding(content, order, other) or content.finding,
        summary + content.unseen,
        _margin_numbers(content, order, this, other),
    )


def _name_of(content: MarginsContent, place: int) -> str:
    code = content.names[place]
    return level_title(code) if content.what == "levels" else _area_name(content.titles, code)


def _area_name(titles: Mapping[str, str], code: str) -> str:
    """Return the name of an area, which tells it apart, with its code where codes are wanted."""
    title = titles.get(code, "")
    is_enough = chosen_naming() is Naming.NAMES or title.endswith(f"({code})")
    return code if not title else title if is_enough else f"{title} ({code})"


def _run_words(run: str) -> str:
    started = started_words(Path(run))
    return f"the run of {started}" if started and chosen_naming() is Naming.NAMES else f"run {run}"


def _area_finding(content: MarginsContent, order: list[int], other: str) -> str:
    """Return how it stands with the area that was looked for: its margin before, its error after; "" without one."""
    place = order[0] if order else -1
    if not content.found or content.names[place] != content.found:
        return ""
    now, found = float(content.this[place]), _name_of(content, place)
    if _is_kept(content, now):
        return f"{found}: {content.answers} {_KEPT}"
    if not math.isfinite(now):
        return f"{found}: no margin can be predicted"
    words = f"{found}: margin {margin_text(now)} before"
    if content.other is not None and math.isfinite(was := float(content.other[place])):
        words += f" ({margin_text(was)} on {other})"
    if content.observed is None:
        return f"{words}; a run of these parameters and blocks shows its error after"
    error = people(float(content.observed.errors[place]))
    return f"{words}, error {error} after (root mean square of {content.observed.trials} trials)"


def _is_kept(content: MarginsContent, margin: float) -> bool:
    """Return whether a margin of 0 is that of a count which an earlier release published with noise."""
    return bool(content.kept) and margin == 0


def _order(content: MarginsContent) -> list[int]:
    """Return areas with the widest margin first; levels stay as they are."""
    if content.what == "levels":
        return list(range(len(content.names)))
    widest = content.this if content.other is None else np.fmax(content.this, content.other)
    found: list[int] = np.argsort(-np.nan_to_num(widest, nan=-1.0, posinf=np.inf), kind="stable").tolist()
    return sorted(found, key=lambda place: content.names[place] != content.found)


def _scale(content: MarginsContent) -> Scale:
    """Return a linear scale where all margins can be read on it."""
    values = np.concatenate([content.this, content.this if content.other is None else content.other])
    values = values[np.isfinite(values) & (values > 0)]
    if not len(values) or values.max() < 12 * np.median(values):
        return Scale.LINEAR
    return Scale.COUNT


def _margin_row(content: MarginsContent, place: int, this: str, other: str) -> Row:
    name = _name_of(content, place)
    now = float(content.this[place])
    was = None if content.other is None else float(content.other[place])
    seen = None if content.observed is None else float(content.z) * float(content.observed.errors[place])
    is_kept = _is_kept(content, now)
    words = _KEPT if is_kept else margin_text(now)
    tip = f"{name}: {words} on {this}"
    if was is not None and math.isfinite(was) and not is_kept:
        words = f"{margin_text(was)} → {words}" if abs(was - now) > 5e-3 * max(was, now) else words
        tip += f", {margin_text(was)} on {other}"
    if seen is not None:
        tip += f"; a run had errors of {margin_text(seen)}"
    tip += f"; {content.units_title}: {int(content.units[place]):,}"
    if content.other_units is not None:
        tip += f" (was {int(content.other_units[place]):,})"
    finite = math.isfinite(now)
    return Row(
        content.names[place],
        "",
        name,
        now if finite and not is_kept else None,
        tick=was if was is not None and math.isfinite(was) and not is_kept else None,
        crosses=(seen,) if seen is not None else (),
        text=words if finite else "not determined",
        tip=tip,
        is_linked=True,
        is_warned=not finite or (was is not None and now > was * 1.001),
    )


def _margin_numbers(content: MarginsContent, order: list[int], this: str, other: str) -> Table:
    seen = content.observed
    headers = [
        "Level" if content.what == "levels" else "Area",
        f"Margin: {other}, {content.unit}",
        f"Margin: {this}, {content.unit}",
        f"Change, {content.unit}",
        f"{content.units_title.capitalize()}: {other}",
        f"{content.units_title.capitalize()}: {this}",
    ]
    if seen is not None:
        headers += [
            f"{_z(content)} × error of {_run_words(seen.run)}, {content.unit}",
            "Squared errors ÷ predicted variance",
        ]
    rows: list[tuple[Value, ...]] = []
    for place in order:
        now = float(content.this[place])
        was = None if content.other is None else float(content.other[place])
        change = None if was is None or not math.isfinite(now - was) else now - was
        row: list[Value] = [
            _name_of(content, place),
            *((None, None, None) if _is_kept(content, now) else (was, now, change)),
            None if content.other_units is None else int(content.other_units[place]),
            int(content.units[place]),
        ]
        if seen is not None:
            own = float(content.z) * float(seen.errors[place])
            row += [own, (own / now) ** 2 if now > 0 else None]
        rows.append(tuple(row))
    return Table(tuple(headers), tuple(rows))


def _ratio_words(content: MarginsContent) -> str:
    seen = content.observed
    if seen is None:
        return ""
    if content.what == "levels":
        parts = [
            f"{level_title(name).lower()} {ratio:.2f}"
            for name, ratio in zip(content.names, seen.ratios.tolist(), strict=True)
            if math.isfinite(ratio)
        ]
        if parts:
            return f"squared errors over predicted variance: {', '.join(parts)}."
    if content.what == "levels" or not math.isfinite(seen.ratio):
        return "no variance is predicted to compare them with." if content.kept else "the prediction is 0 here."
    doubt = f" (standard error {seen.ratio_error:.2f})" if math.isfinite(seen.ratio_error) else ""
    return f"squared errors are {seen.ratio:.2f}{doubt} times the predicted variance."


def _z(content: MarginsContent) -> str:
    return f"{float(content.z):.5g}"


def bypass_rows(content: BypassContent) -> Figure:
    """Return how many units of every level were bypassed, and what budget that freed."""
    found = {level: (units, moved) for level, units, moved in content.levels}
    rows = []
    for name, units in content.units[:-1]:
        count, moved = found.get(name, (0, 0))
        text = f"{count:,} of {units:,}"
        if count:
            text += f", moved {share_percent(Fraction(moved) / count)} of the total each on average"
        rows.append(Row(name, "", level_title(name), float(count), text=text, tip=f"{level_title(name)}: {text}"))
    rule = RULES.get(content.rule, content.rule)
    title = "No unit was bypassed"
    if content.count:
        title = taken_over(content.count)
    freed_loss = float(content.moved * content.total)
    freed = f"{content.symbol} {freed_loss:.6g}, summed over units that are measured in parallel"
    summary = f"Rule: {rule}. " + (f"Moved: {freed}. " if content.count else "")
    summary += f"Every path from the root to a block carries {share_percent(content.carried)} of the total."
    for level, share in content.unspent:
        if share:
            summary += (
                f" Unspent, because these blocks have no such level: {level_title(level)} ({share_percent(share)})."
            )
    if len(content.listed) < content.count:
        summary += f" The table lists the first {len(content.listed):,}."
    table = tuple(
        (level_title(each.level), each.code, each.children, Share(each.share), each.share * content.total)
        for each in content.listed
    )
    headers = ("Level", "Bypassed unit", "Children", "Share that moved", f"{content.symbol} that moved")
    return row_figure(
        "bypass-rows", tuple(rows), Axis("bypassed units", Scale.COUNT), title, summary, Table(headers, table)
    )


def map_words(content: SpineMap) -> tuple[str, str, str]:
    """Return unit, title and sentence of the map."""
    finite = content.values[np.isfinite(content.values)]
    unit = {
        MapColour.UNITS: "",
        MapColour.MARGIN: content.unit,
        MapColour.CHILDREN: "children",
        MapColour.BLOCKS: "blocks",
    }[content.colour]
    units = f"{content.found:,} {plural_level(content.level, content.found)} with shapes"
    title = (
        units
        if content.colour is MapColour.UNITS or not len(finite)
        else f"{units}: {content.colour.value} {_range(finite)} {unit}"
    )
    return unit, title, "Blocks of one unit share a colour. A click chooses the unit, Left and Right walk the units."


def map_tip(content: SpineMap, code: str, value: float, blocks: int, unit: str) -> str:
    """Return what the pointer says of a shape: its unit, how many blocks that has, and the quantity where there is one.

    Args:
        content: the map.
        code: of the unit, "" where there is no block.
        value: of the quantity.
        blocks: how many the unit has.
        unit: of the quantity, "" for none.
    """
    if not code:
        return "no block here"
    name = unit_name(code, content.titles.get(code, ""))
    called = f"{level_title(content.level)} {code}" if name == code else heading(name)
    words = f"{called}: {blocks:,} block{'' if blocks == 1 else 's'}"
    return f"{words}, {value:,.4g} {unit}" if unit not in {"", "blocks"} else words


def _range(values: NDArray[np.float64]) -> str:
    low, high = float(values.min()), float(values.max())
    if low == high:
        return f"{low:,.4g}"
    return f"{low:,.3g} to {high:,.3g}"


def distribution_numbers(content: DistributionContent, edges: NDArray[np.int64], this: str, other: str) -> Table:
    """Return the table of two histograms: one row per area where both list the same, else one per bin.

    Args:
        content: the two histograms.
        edges: ``edges[bins + 1]``.
        this: name of the spine.
        other: name of the spine it is compared with.
    """
    if len(content.codes) and content.other is not None:
        names = (_area_name(content.titles, code) for code in content.codes.tolist())
        listed = zip(names, content.other.tolist(), content.this.tolist(), strict=True)
        return Table(("Area", other, this), tuple(listed))
    mine = np.histogram(content.this, edges)[0].tolist()
    theirs = [None] * len(mine) if content.other is None else np.histogram(content.other, edges)[0].tolist()
    labels = [
        grouped(low) if low + 1 == high else f"{grouped(low)}–{grouped(high - 1)}"
        for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    ]
    return Table((content.axis.capitalize(), other, this), tuple(zip(labels, theirs, mine, strict=True)))


def figure_of(content: DistributionContent | MarginsContent | BypassContent | Impossible, other: str) -> Figure:
    """Return what an answer says as a picture.

    Args:
        content: of the answer.
        other: words for the spine that is compared with.
    """
    match content:
        case DistributionContent():
            return _histograms(content, other)
        case MarginsContent():
            return margin_rows(content, THIS, other)
        case BypassContent():
            return bypass_rows(content)
        case Impossible():
            return nothing("spine", content.reason)


def _histograms(content: DistributionContent, other: str) -> Figure:
    edges = bins_of(content.this, content.other)
    return paired_histograms(
        content.what,
        edges,
        _counts(THIS, content.this, edges),
        None if content.other is None else _counts(other, content.other, edges),
        (content.axis, content.what),
        (_distance_finding(content, other) or content.finding, content.reason),
        distribution_numbers(content, edges, THIS, other),
    )


def _distance_finding(content: DistributionContent, other: str) -> str:
    """Return how far the area is that was looked for, "" without one."""
    if not content.found or content.found not in content.codes:
        return ""
    place = content.codes.tolist().index(content.found)
    now = int(content.this[place])
    words = f"{_area_name(content.titles, content.found)}: {now:,} unit{'' if now == 1 else 's'} added or subtracted"
    return words if content.other is None else f"{words} ({int(content.other[place]):,} on {other})"


def _counts(title: str, values: NDArray[np.int64], edges: NDArray[np.int64]) -> Counts:
    counts = np.histogram(values, edges)[0].astype(np.int64)
    return Counts(title, counts, float(values.mean()) if len(values) else 0.0)


def map_picture(content: SpineMap, outlines: Sequence[Sequence[NDArray[np.float32]]], other: str = "") -> Figure:
    """Return blocks coloured by the unit each lies in.

    Args:
        content: of the answer.
        outlines: rings of every shape: ``ring[points, 2]`` as `phexplore.figures.map.area_true` makes them.
        other: name of the spine that an area's margin is compared with.
    """
    if content.reason:
        return nothing("map", content.reason)
    unit, title, summary = map_words(content)
    outlined = frozenset(content.marked) & frozenset(content.units)
    if content.margins is not None and (stands := _area_finding(content.margins, _order(content.margins), other)):
        found = Holding(np.arange(len(content.marked)), content.partly)
        where = found.words(content.level, len(outlined))
        title, summary = stands, f"{title}. {summary} {where}"
    blocks = content.blocks.tolist()
    names = content.names or ("",) * len(content.units)
    shapes = zip(content.units, outlines, content.values.tolist(), blocks, names, strict=True)
    pieces = tuple(
        Patch(code, tuple(rings), value, f"{name}{', ' if name else ''}{map_tip(content, code, value, count, unit)}")
        for code, rings, value, count, name in shapes
    )
    header, values = "blocks", dict(zip(content.units, blocks, strict=True))
    if unit:
        header, values = f"{content.colour.value}, {unit}", {piece.key: piece.value for piece in pieces}
    values.pop("", None)
    listed = tuple((unit_name(code, content.titles.get(code, "")), value) for code, value in sorted(values.items()))
    numbers = Table((level_title(content.level), header), listed)
    return replace(map_figure("map", pieces, unit, (title, summary), numbers), outlined=outlined)
