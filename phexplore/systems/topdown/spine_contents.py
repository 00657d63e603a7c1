"""The pictures of the explorer of spines as values: what each tab shows of a spine and of the one it is compared with. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from phexplore.catalog.names import has_synthetic_areas
from phexplore.model.rounded import percent
from phexplore.model.topdown import TopDown
from phexplore.published.shapes import Outline
from phexplore.spine.allocation import Allocation, moved_budget
from phexplore.spine.building import Spine
from phexplore.spine.description import ClassDistances, class_entities
from phexplore.spine.distance import composition
from phexplore.spine.settings import SpineSettings
from phexplore.spine.tree import GeoTree, TreeLevel
from phexplore.spine.variance import UNSEEN, UNSEEN_TOP_DOWN
from phexplore.systems.topdown.areas_on_maps import holding
from phexplore.systems.topdown.spine_findings import distance_finding, margin_finding, margin_text, noun
from phexplore.systems.topdown.spine_forecast import Fit, SpineForecast
from phexplore.systems.topdown.spine_observed import ObservedErrors, ObservedRun
from phexplore.systems.topdown.spine_study import SpineStudy, possible
from phexplore.systems.topdown.spine_tree import SpineTree, Unit, called
from phexplore.systems.topdown.spine_views import (
    BypassContent,
    BypassedParent,
    DistributionContent,
    IcicleLevel,
    MapColour,
    MarginsContent,
    Observed,
    SpineContent,
    SpineMap,
    SpineRequest,
    SpineStyle,
    TreeContent,
)
from phexplore.systems.topdown.wording import counted, level_title, plural, plural_level
from phexplore.workload.queries import parse_query
from phexplore.workload.schema import load_schema
from phexplore.workload.schema_reduction import image_of

KEPT = (
    "Counts without a margin here are kept from the redistricting release: they are as far off as they are there, which this "
    "scenario does not say."
)
"""What no noise of its own means in a scenario that stands on an earlier release."""
MAP_TONES = 5
"""Tones that tell neighbouring units of a map apart."""
MOST_LISTED = 3000
"""Bypassed units that are listed one by one; their number and budget are always those of all."""
_MOST_PARTS = 200_000
_MOST_NAMED = 20_000
"""Units of a map that are named."""


class Work:
    """One request with what it needs, made when it is first asked for."""

    def __init__(self, study: SpineStudy, settings: SpineSettings, request: SpineRequest, look: SpineStyle) -> None:
        self.study, self.settings, self.request, self.look = study, settings, request, look

    @property
    def method(self) -> TopDown:
        """The parameters."""
        return self.request.method

    @property
    def spine(self) -> Spine:
        """The spine under study."""
        return self.study.spine(self.settings)

    @property
    def other(self) -> Spine:
        """The spine it is compared with."""
        return self.study.spine(self.request.other)

    @property
    def allocation(self) -> Allocation:
        """The budget of every unit, after bypassing."""
        return self.study.allocation(self.settings, self.method)

    def forecast(self, settings: SpineSettings, query: str, onto: str = "") -> SpineForecast:
        """Return the predicted variances of a query on a spine.

        Args:
            settings: of the spine.
            query: name of the query group.
            onto: id of the smaller schema it is predicted for, "" for the scenario's own.
        """
        return self.study.forecast(
            settings, self.method, self.request.conventions, query=query, fit=self.look.fit, onto=onto
        )


def tree_content(work: Work, *, has_margins: bool = True) -> TreeContent:
    """Return the levels of the spine with the budgets of their units, after bypassing where the scenario fits.

    Args:
        work: what is asked.
        has_margins: whether the margins of the units' totals are predicted.
    """
    allocation, _ = possible(lambda: work.allocation)
    tree = work.spine.tree if allocation is None else allocation.tree
    kept = KEPT if load_schema(work.method.schema).is_chained else ""
    is_predicted = has_margins and not kept
    forecast, why = possible(lambda: work.forecast(work.settings, "total")) if is_predicted else (None, kept)
    signs, title, parts = _signs(work, tree)
    levels, own = [], []
    for number, level in enumerate(tree.levels):
        shares = level.shares
        variance = forecast.at_level(level.name)[:, 0] if forecast is not None else None
        levels.append(
            IcicleLevel(
                level.name,
                np.char.encode(level.codes, "utf-8"),
                level.first_block,
                None if shares is None else shares.of_unit,
                None if signs is None else signs[number],
                variance,
            )
        )
        own.append(None if allocation is None else work.method.level_shares[level.name])
    first = tree.levels[0].shares
    bypassed = () if allocation is None else tuple((level.level, level.units) for level in allocation.bypassed)
    z = forecast.z if forecast is not None else Fraction(0)
    return TreeContent(
        tuple(levels),
        () if first is None else first.values,
        tuple(own),
        work.method.total,
        work.method.framework.symbol,
        z,
        bypassed,
        title,
        parts,
        why if has_margins else "",
        counted(work.method.schema),
    )


def _signs(work: Work, tree: GeoTree) -> tuple[list[NDArray[np.int8]] | None, str, int]:
    """Return per level which units are added and subtracted to make up the chosen area, its title, and their number."""
    look = work.look
    if not look.area:
        return None, "", 0
    entities = class_entities(work.spine, look.name)
    place = int(np.searchsorted(entities.codes, look.area))
    if place >= entities.areas or str(entities.codes[place]) != look.area:
        return None, "", 0
    if int(entities.starts[place + 1] - entities.starts[place]) > _MOST_PARTS:
        return None, "", 0
    parts = composition(tree, entities, place)
    signs = [np.zeros(level.units, np.int8) for level in tree.levels]
    for part in parts:
        signs[part.level][part.unit] = part.sign
    return signs, f"{noun(look.name, 1)} {look.area}", len(parts)


def fan_out_content(work: Work) -> DistributionContent:
    """Return the children of every unit of a level."""
    level = work.look.level
    this, other = _children(work.spine, level), _children(work.other, level)
    if this is None:
        raise ValueError(f"{level} has no children")
    finding = f"{level_title(level)}: {len(this):,} units with a median of {_quantiles(this)}"
    if other is not None:
        finding += f"; on the compared spine {len(other):,} with {_quantiles(other)}"
    return DistributionContent(this, other, "units", "children of a unit", np.empty(0, "U1"), f"{finding}.", "")


def _children(spine: Spine, name: str) -> NDArray[np.int64] | None:
    for level in spine.tree.levels:
        if level.name == name and level.first_child is not None:
            return np.diff(level.first_child)
    return None


def _quantiles(values: NDArray[np.int64]) -> str:
    low, middle, high = np.quantile(values, (0.0, 0.5, 1.0), method="inverted_cdf").tolist()
    children = "child" if middle == 1 else "children"
    return f"{middle:,} {children}" if low == high else f"{middle:,} {children} ({low:,} to {high:,})"


def distance_content(found: ClassDistances, *, aimed: bool) -> DistributionContent:
    """Return how far the areas of a class are.

    Args:
        found: distances of a class of areas.
        aimed: whether the spine's block groups follow the areas.
    """
    return DistributionContent(
        found.this.distance,
        found.standard.distance,
        noun(found.name, len(found.this.codes)),
        "off-spine distance, units added or subtracted",
        found.this.codes,
        distance_finding(found, targeted=aimed),
        found.reason,
    )


def area_margins(work: Work, observed: ObservedErrors) -> SpineContent:
    """Return the predicted margins of the areas of a class.

    Args:
        work: the spines and the scenario at hand.
        observed: errors of a run to draw beside the margins.
    """
    look = work.look
    entities = class_entities(work.spine, look.name)
    pair = _pair(work, observed)
    weights = _weights(pair.this)
    variances = pair.this.of_class(look.name)
    margins = _margins(variances, weights, pair.this.z)
    before = None
    if pair.other is not None:
        before = _margins(pair.other.of_class(look.name), _weights(pair.other), pair.other.z)
    found = work.study.distances(work.settings, work.request.other, look.name)
    seen = None if pair.run is None else pair.run.of_areas(entities, pair.query, variances @ weights)
    return _margins_content(
        work,
        pair,
        noun(look.name, entities.areas),
        tuple(entities.codes.tolist()),
        (margins, before),
        (found.this.distance, found.standard.distance, "off-spine distance"),
        seen,
        _kept_finding(pair, margins)
        or margin_finding(f"{entities.areas:,} {noun(look.name, entities.areas)}", before, margins, pair.unit),
    )


def level_margins(work: Work, observed: ObservedErrors) -> SpineContent:
    """Return the predicted margins of a unit of every level, the mean over its units.

    Args:
        work: the spines and the scenario at hand.
        observed: errors of a run to draw beside the margins.
    """
    pair = _pair(work, observed)
    this, other = pair.this, pair.other
    margins, units = _by_level(this)
    before, before_units = _by_level(other) if other is not None else ({}, {})
    names = tuple(margins)
    shown = np.array(list(margins.values()))
    tree, weights = this.allocation.tree, _weights(this)
    variances = [this.at_level(level.name) @ weights for level in tree.levels]
    seen = None if pair.run is None else pair.run.of_levels(tree, pair.query, variances)
    return _margins_content(
        work,
        pair,
        "levels",
        names,
        (shown, None if other is None else np.array([before.get(name, np.nan) for name in names])),
        (
            np.array([units[name] for name in names], np.int64),
            None if other is None else np.array([before_units.get(name, 0) for name in names], np.int64),
            "units",
        ),
        seen,
        _kept_finding(pair, shown) or _level_finding(names, shown, pair.unit),
    )


@dataclass(frozen=True, slots=True)
class _Pair:
    """The predictions on both spines, in the schema of the run that is drawn over them."""

    this: SpineForecast
    other: SpineForecast | None
    why_not: str
    query: str
    run: ObservedRun | None
    why_no_run: str

    @property
    def unit(self) -> str:
        """What is counted, plural."""
        return plural(self.this.prediction.shape.measured.schema.record)

    @property
    def is_chained(self) -> bool:
        """Whether the predicted counts stand on those of an earlier release."""
        return self.this.prediction.shape.measured.schema.is_chained


def _pair(work: Work, observed: ObservedErrors) -> _Pair:
    look, name = work.look, work.look.query
    run, why_no_run = observed.open(work.request, work.study.geography) if look.run is not None else (None, "")
    onto = run.schema if run is not None else ""
    if onto and onto != work.method.schema:
        name = image_of(parse_query(load_schema(work.method.schema), name), load_schema(onto)).name
    this = work.forecast(work.settings, name, onto)
    other, why_not = possible(lambda: work.forecast(work.request.other, name, onto))
    return _Pair(this, other, why_not, name, run, why_no_run)


def _margins_content(
    work: Work,
    pair: _Pair,
    what: str,
    names: tuple[str, ...],
    margins: tuple[NDArray[np.float64], NDArray[np.float64] | None],
    units: tuple[NDArray[np.int64], NDArray[np.int64] | None, str],
    seen: Observed | None,
    finding: str,
) -> MarginsContent:
    unobserved = pair.why_no_run
    if pair.run is not None and seen is None:
        unobserved = "This query has too many answers to add up here; choose a coarser one to see the run's errors."
    return MarginsContent(
        what,
        names,
        margins[0],
        margins[1],
        pair.why_not,
        units[0],
        units[1],
        units[2],
        _answers(pair.this),
        pair.this.z,
        percent(work.request.conventions.confidence, places=None),
        UNSEEN if work.look.fit is Fit.AT_ONCE else UNSEEN_TOP_DOWN,
        seen,
        unobserved,
        finding,
        "" if pair.run is None or pair.run.schema == work.method.schema else load_schema(pair.run.schema).title,
        kept=KEPT if pair.is_chained else "",
        unit=pair.unit,
    )


def _kept_finding(pair: _Pair, margins: NDArray[np.float64]) -> str:
    """Return that an earlier release decides about all of these counts, "" where some have a margin of their own."""
    if not pair.is_chained or not len(margins) or margins.any():
        return ""
    return f"{_capital(_answers(pair.this))}: every count is kept from the redistricting release, and as far off as it is there"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _level_finding(names: Sequence[str], margins: NDArray[np.float64], unit: str) -> str:
    open_ones = [
        (name, value) for name, value in zip(names, margins.tolist(), strict=True) if np.isfinite(value) and value > 0
    ]
    if not open_ones:
        return "No level has a margin: everything is exact, or nothing is determined"
    exact = [plural_level(name, 1) for name, value in zip(names, margins.tolist(), strict=True) if value == 0]
    widest, narrowest = max(open_ones, key=lambda each: each[1]), min(open_ones, key=lambda each: each[1])
    found = (
        f"Predicted margins run from {margin_text(narrowest[1])} {unit} for a {plural_level(narrowest[0], 1)} to "
        f"{margin_text(widest[1])} for a {plural_level(widest[0], 1)}"
    )
    return f"{found}; exact: {', '.join(exact)}" if exact else found


def _by_level(found: SpineForecast) -> tuple[dict[str, float], dict[str, int]]:
    weights = _weights(found)
    margins, units = {}, {}
    for level in found.allocation.tree.levels:
        table = _margins(found.at_level(level.name), weights, found.z)
        margins[level.name], units[level.name] = float(table.mean()), len(table)
    return margins, units


def _weights(found: SpineForecast) -> NDArray[np.float64]:
    """Return how much each kind of answer counts in a mean over all answers of the query."""
    alike = np.concatenate([kinds.alike for kinds in found.kinds]).astype(np.float64)
    weights: NDArray[np.float64] = alike / alike.sum()
    return weights


def _margins(variances: NDArray[np.float64], weights: NDArray[np.float64], z: Fraction) -> NDArray[np.float64]:
    """Return margins of one answer, the mean over a query's answers taken of their variances."""
    with np.errstate(invalid="ignore"):
        mean = np.where(np.isinf(variances).any(axis=1), np.inf, variances @ weights)
    found: NDArray[np.float64] = float(z) * np.sqrt(mean)
    return found


def _answers(found: SpineForecast) -> str:
    query = found.kinds[0].query
    return (
        "the total"
        if query.answers == 1
        else f"one of the {query.answers:,} answers of {query.name.replace(' * ', ' × ')}"
    )


def bypass_content(work: Work) -> BypassContent:
    """Return which units gave their budget away, and how much."""
    allocation = work.allocation
    listed: list[BypassedParent] = []
    for level in allocation.parents:
        room = MOST_LISTED - len(listed)
        parts = zip(
            level.codes[:room].tolist(), level.children[:room].tolist(), level.of_unit[:room].tolist(), strict=True
        )
        listed += [BypassedParent(level.level, code, children, level.shares[place]) for code, children, place in parts]
    return BypassContent(
        allocation.rule,
        tuple((level.level, level.units, level.moved) for level in allocation.bypassed),
        sizes(work.spine),
        tuple(listed),
        moved_budget(allocation.bypassed),
        allocation.total,
        allocation.unspent,
        work.method.total,
        work.method.framework.symbol,
    )


def _map_values(work: Work, number: int) -> tuple[NDArray[np.float64], str]:
    level = work.spine.tree.levels[number]
    match work.look.colour:
        case MapColour.UNITS:
            return (1 + np.arange(level.units) % MAP_TONES).astype(np.float64), ""
        case MapColour.CHILDREN if level.first_child is not None:
            return np.diff(level.first_child).astype(np.float64), ""
        case MapColour.MARGIN:
            forecast, why = possible(lambda: work.forecast(work.settings, work.look.query))
            if forecast is None:
                return np.full(level.units, np.nan), why
            # Bypassing may have split the units of a level: a unit shows the mean of what stands in its place.
            starts = next(each.first_block for each in forecast.allocation.tree.levels if each.name == level.name)
            margins = _margins(forecast.at_level(level.name), _weights(forecast), forecast.z)
            own = np.searchsorted(level.first_block, starts[:-1], side="right") - 1
            counts = np.bincount(own, minlength=level.units)
            return np.bincount(own, weights=margins, minlength=level.units) / np.maximum(counts, 1), ""
        case _:
            return np.diff(level.first_block).astype(np.float64), ""


def _geoid(code: str) -> str:
    """Return the public 15 digits of a block's code; the 16-digit form repeats the block group's digit."""
    return code[:11] + code[12:] if len(code) == 16 else code


def sizes(spine: Spine) -> tuple[tuple[str, int], ...]:
    """Return the units of every level."""
    return tuple((level.name, level.units) for level in spine.tree.levels)


def map_content(work: Work, outlines: Sequence[Outline]) -> SpineContent:
    """Return shapes with the unit each lies in.

    Args:
        work: the spines and the scenario at hand.
        outlines: shapes of blocks, or of wider areas, which lie in the unit that all their blocks are in.
    """
    look = work.look
    tree = work.spine.tree
    number = [level.name for level in tree.levels].index(look.level)
    level = tree.levels[number]
    leaves = _leaves_of(work, level.first_block, [_geoid(outline.code) for outline in outlines])
    units = np.searchsorted(level.first_block, leaves, side="right") - 1
    values, why = _map_values(work, number)
    of_shape = np.where(leaves >= 0, values[np.maximum(units, 0)], np.nan)
    found = len(np.unique(units[leaves >= 0]))
    reason = why or ("" if found else "No shape of this file belongs to one of the blocks: the codes differ.")
    codes = level.codes
    return SpineMap(
        look.level,
        look.colour,
        look.shapes,
        None if look.known_shapes == look.shapes else tuple(outline.rings for outline in outlines),
        tuple(
            str(codes[unit]) if leaf >= 0 else "" for unit, leaf in zip(units.tolist(), leaves.tolist(), strict=True)
        ),
        of_shape,
        found,
        reason,
        np.where(leaves >= 0, np.diff(level.first_block)[np.maximum(units, 0)], 0),
        tuple("" if has_synthetic_areas() else outline.name for outline in outlines),
        *_units_of_area(work, level),
        unit=counted(work.method.schema),
        titles=_titles(work, number, np.unique(units[leaves >= 0])),
    )


def _titles(work: Work, number: int, units: NDArray[np.int64]) -> dict[str, str]:
    """Return what people call some units of a level, by code; of very many none is named."""
    if len(units) > _MOST_NAMED:
        return {}
    levels = tuple(
        IcicleLevel(each.name, np.char.encode(each.codes, "utf-8"), each.first_block, None, None, None)
        for each in work.spine.tree.levels
    )
    method = work.method
    tree = SpineTree(
        TreeContent(levels, (), (None,) * len(levels), method.total, method.framework.symbol, Fraction(0), ())
    )
    named = ((tree.code(unit), called(tree, unit)) for unit in (Unit(number, each) for each in units.tolist()))
    return {code: name for code, name in named if name}


def _units_of_area(work: Work, level: TreeLevel) -> tuple[tuple[str, ...], int]:
    """Return the codes of the units in which the chosen area lies, most of its blocks first, and how many hold others, too."""
    if not work.look.area:
        return (), 0
    entities = class_entities(work.spine, work.look.name)
    place = int(np.flatnonzero(entities.codes == work.look.area)[0])
    blocks = entities.blocks[entities.starts[place] : entities.starts[place + 1]]
    order = work.spine.tree.order
    found = holding(level.first_block, blocks if order is None else np.argsort(order)[blocks])
    return tuple(map(str, level.codes[found.units])), found.partly


def _leaves_of(work: Work, first_block: NDArray[np.int64], codes: Sequence[str]) -> NDArray[np.int64]:
    """Return a leaf of the unit that each area lies in, -1 where none or several do; ``first_block`` is that of the level."""
    geoids = work.study.geography.geoids[work.spine.order]
    order = np.argsort(geoids, kind="stable")
    ascending = geoids[order]
    low = np.searchsorted(ascending, np.array(codes, np.str_))
    high = np.searchsorted(ascending, np.array([f"{code}~" for code in codes], np.str_))
    units = np.searchsorted(first_block, order, side="right") - 1
    changes = np.concatenate([[0], np.cumsum(units[1:] != units[:-1])])
    within = np.maximum(high - 1, low)
    one = (high > low) & (changes[np.minimum(within, len(changes) - 1)] == changes[np.minimum(low, len(changes) - 1)])
    leaves: NDArray[np.int64] = np.where(one, order[np.minimum(low, len(order) - 1)], -1)
    return leaves
