"""Noisy answers in the published layout: a release estimated from them.

The files say what was measured, with which variance, and what is exact (facilities, totals); of the true counts they say nothing. An
estimate from them needs a scenario of the same schema for its passes, invariants and constraints.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from phexplore.data.blocks.population import BlockPopulation, from_filled
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.topdown import TopDown
from phexplore.noise.distributions import Noise
from phexplore.published.measurements import (
    MeasuredProduct,
    NoisyMeasurements,
    Rows,
)
from phexplore.resources import resource
from phexplore.simulate.outer_passes.partitions import of_cells
from phexplore.simulate.topdown.design import Design, LevelDesign, Measuring, make_design, measuring
from phexplore.simulate.topdown.driver import World, make_world
from phexplore.simulate.topdown.histograms import Histograms
from phexplore.simulate.topdown.measuring import Measured, answer_type, query_columns
from phexplore.spine.tree import GeoTree, TreeLevel
from phexplore.systems.topdown.chained_release import kept_query, release_link
from phexplore.systems.topdown.forecast import noise_of
from phexplore.systems.topdown.outer_noise import LookedUpAnswers
from phexplore.systems.topdown.published_writing import noise_parameter
from phexplore.workload.schema import load_schema

_STATE = slice(1, 3)
_BLOCK_CODE = 16
_MOST_NOISES = 127
_RELATIVE = 1e-6
"""Published variances are σ² to 32 bits."""
_REMEDY = "Name the folder or archive of a whole release."


@dataclass(frozen=True, slots=True, eq=False)
class _LevelIndex:
    """What was measured at a level.

    Attributes:
        codes: ``U[units]``, ascending.
        variances: ``float32[units, queries]`` in the order of the plan's queries, NaN where a unit was not asked.
        files: names with the first and last place of their units.
    """

    codes: NDArray[np.str_]
    variances: NDArray[np.float32]
    files: tuple[tuple[str, int, int], ...]


class PublishedAnswers:
    """The noisy answers of one level in the published layout: a `MeasurementSource`."""

    is_anywhere = False

    def __init__(self, product: MeasuredProduct, index: _LevelIndex) -> None:
        """Read from files.

        Args:
            product: they belong to.
            index: of the level.
        """
        self._product, self._index = product, index
        self._held: tuple[str, Rows] | None = None

    def measure(
        self,
        level: LevelDesign,
        truth: Histograms,
        first: int,
        classes: NDArray[np.int8],  # noqa: ARG002 - the files say which units were measured
    ) -> Measured:
        """Return the published answers of some units; see `MeasurementSource.measure`.

        Args:
            level: what is measured there.
            truth: exact counts; only how many units there are is asked.
            first: number of the first unit.
            classes: of the units, ``int8[units]``.

        Raises:
            InputProblemsError: the files cannot be read.
        """
        out = np.zeros((truth.units, level.plan.answers), answer_type(level))
        last = first + truth.units
        for name, low, high in self._index.files:
            if high < first or low >= last:
                continue
            rows = self._rows(name)
            places = np.searchsorted(self._index.codes, rows.codes)
            inside = (places >= first) & (places < last)
            for query, columns in query_columns(level.plan):
                chosen = np.flatnonzero(inside & (rows.queries == query))
                if len(chosen):
                    answers = rows.values.take(pa.array(chosen)).flatten().to_numpy()
                    out[places[chosen] - first, columns] = answers.reshape(-1, query.answers)
        return Measured(out, 0, 0)

    def _rows(self, name: str) -> Rows:
        if self._held is None or self._held[0] != name:
            self._held = (name, self._product.rows(name))
        return self._held[1]


class PublishedNoise:
    """A release of noisy measurements, made ready for a scenario.

    Attributes:
        path: folder or archive.
        product: whose answers are used.
        products: it, and that of the units that households live in where the schema has a companion.
    """

    def __init__(self, path: Path, method: TopDown) -> None:
        """Find the product that measures what the scenario does.

        Args:
            path: folder or archive.
            method: the scenario's parameters.

        Raises:
            InputProblemsError: there is none.
        """
        self.path, self._method = path, method
        if method.framework is PrivacyFramework.PURE_DP:
            raise self._refused(
                "Published variances are those of discrete Gaussian noise; the scenario's is geometric."
            )
        self._found = NoisyMeasurements(path)
        schema = load_schema(method.schema)
        self.product = self._found.product(schema)
        beside = () if schema.companion is None else (self._found.product(load_schema(schema.companion)),)
        self.products = (self.product, *beside)
        lacking = [name for name in self.product.levels if name not in method.levels]
        if lacking or not self.product.levels:
            raise self._refused(f"{lacking[0]} is measured, for which the scenario has no budget.")
        self._levels = [name for name in method.levels if name in self.product.levels]
        self._indices: list[_LevelIndex] = []

    def population(self) -> BlockPopulation:
        """Return the blocks of the release with what is exact of them: facilities, and totals that are published.

        Its cells are no counts: the total of a unit stands in the first cell of its first block, because of the true counts nothing is known.

        Raises:
            InputProblemsError: the files are not complete.
        """
        schema, leaf = self.product.schema, self._levels[-1]
        codes, values = self._exact(leaf)
        blocks = np.array([code[-_BLOCK_CODE:] for code in codes.tolist()], np.str_)
        order = np.argsort(blocks, kind="stable")
        geoids = np.array([code[:11] + code[12:] for code in blocks[order].tolist()], np.str_)
        if (geoids[1:] == geoids[:-1]).any():
            raise self._refused(f"The same block stands under two codes of {leaf}.")
        facilities = None
        bounds = schema.facility_bounds
        if bounds is not None and "hhgq_total_lb" in values and "hhgq_total_ub" in values:
            least, most = values["hhgq_total_lb"], values["hhgq_total_ub"]
            counted = np.array(bounds.least_per_unit) > 0
            if least.shape[1] != len(counted) or most.shape[1] != len(counted):
                raise self._refused(f"Bounds of facilities are not of {len(counted)} types.")
            facilities = np.where(counted, least, most // bounds.most_per_unit)[order]
            facilities = self._countable(facilities, "hhgq_total_lb_con").astype(np.int32)
        if schema.is_chained:
            return self._chained(geoids, values, facilities, order)
        rows, totals = self._totals(codes[order], values.get("total"), order)
        self._countable(totals, "total_con")
        return from_filled(
            schema,
            geoids,
            rows=rows,
            cells=np.zeros(len(rows), np.int64),
            counts=totals,
            facilities=facilities,
        )

    def _chained(
        self,
        geoids: NDArray[np.str_],
        values: Mapping[str, NDArray[np.int64]],
        facilities: NDArray[np.int32] | None,
        order: NDArray[np.int64],
    ) -> BlockPopulation:
        """Return blocks with the redistricting counts that DHC files state: each in the first of the cells that it counts."""
        schema, leaf = self.product.schema, self._levels[-1]
        link, query = release_link(schema), kept_query(schema)
        exact = values if schema.companion is None else self._exact(leaf, self.products[-1])[1]
        if link.constraint not in exact or (facilities is None and "gq_vect" not in exact):
            raise self._refused(f"The files do not say every block's redistricting counts ({link.constraint}_con).")
        kept = self._countable(exact[link.constraint][order], f"{link.constraint}_con")
        if facilities is None:
            kept = np.concatenate([kept, self._countable(exact["gq_vect"][order], "gq_vect_con")], axis=1)
        if kept.shape[1] != query.answers:
            raise self._refused(f"{link.constraint}_con has {kept.shape[1]:,} counts, not {query.answers:,}.")
        possible = np.flatnonzero(
            ~query.schema.structurally_empty([zero.name for zero in query.schema.structural_zeros])
        )
        answers, first = np.unique(of_cells(query.schema, query)(possible), return_index=True)
        cell_of = np.zeros(query.answers, np.int64)
        cell_of[answers] = possible[first]
        rows, found = np.nonzero(kept)
        if schema.companion is None:
            counts = kept[rows, found]
            return from_filled(schema, geoids, rows=rows, cells=cell_of[found], counts=counts, facilities=facilities)
        units = np.zeros((len(geoids), query.schema.cells), np.int32)
        units[rows, cell_of[found]] = kept[rows, found]
        occupied = np.flatnonzero(kept[:, 1])
        cells = np.zeros(len(occupied), np.int64)
        return from_filled(schema, geoids, rows=occupied, cells=cells, counts=kept[occupied, 1], facilities=units)

    def _countable(self, counts: NDArray[np.int64], name: str) -> NDArray[np.int64]:
        """Return counts as they are; refuse what no block can hold."""
        if counts.size and (counts.min() < 0 or counts.max() > np.iinfo(np.int32).max):
            raise self._refused(
                f"{name} counts {int(counts.min()):,} to {int(counts.max()):,} of something in a block."
            )
        return counts

    def world(self, leaves: BlockPopulation) -> tuple[World, tuple[str, ...]]:
        """Return what is estimated: the tree of the codes, with the variances of the files.

        Args:
            leaves: the true counts of the same blocks, or what `population` returns.

        Raises:
            InputProblemsError: these are other blocks, or the files do not fit the scenario.
        """
        if leaves.schema != self.product.schema:
            raise self._refused(f"The answers are of {self.product.schema.title}, the data of {leaves.schema.title}.")
        codes = [self._exact(level, with_values=False)[0] for level in self._levels]
        tree = _tree(self._levels, codes, self._refused)
        public = np.array([code[-_BLOCK_CODE:][:11] + code[-_BLOCK_CODE:][12:] for code in codes[-1].tolist()], np.str_)
        public, moved = tabulated_codes(public, leaves.geoids)
        if len(public) != leaves.blocks or (np.sort(public) != leaves.geoids).any():
            missing = np.setdiff1d(public, leaves.geoids)
            raise self._refused(
                f"{len(missing):,} of {len(public):,} measured blocks are not among the {leaves.blocks:,} blocks of the data."
            )
        order = np.searchsorted(leaves.geoids, public)
        straight = bool((order[1:] > order[:-1]).all())
        tree = replace(tree, order=None if straight else order)
        method = self._method
        design = make_design(
            method,
            leaves.schema,
            self._levels,
            self._noise,
            has_facilities=leaves.facilities is not None,
            shared_totals=("State",) if any(code[:1] == "1" for code in codes[-1].tolist()) else (),
        )
        levels, classes, own, left_out = [], [], 0, 0
        self._indices = []
        for number, level in enumerate(design.levels):
            index, ignored = self._index(level, codes[number])
            self._indices.append(index)
            fitted, of_unit, matched = self._fitted(design, number, index)
            levels.append(fitted)
            classes.append(of_unit)
            own += not matched
            left_out += ignored
        design = replace(design, levels=tuple(levels), spent=_most_spent(levels, classes, tree))
        world = make_world(design, tree, leaves, lambda code: code[_STATE])
        said = ["Variances: those of the files; they are the scenario's." if not own else ""]
        if own:
            said[0] = f"Variances: those of the files; at {own} levels they are not the scenario's."
        if left_out:
            said.append(f"Left out: {left_out:,} answers to queries that the scenario does not ask.")
        if moved:
            said.append(f"Blocks of water: {moved} stand under the codes that their people were tabulated in.")
        return replace(world, classes=tuple(classes)), (*design.remarks, *said)

    def sources(self) -> list[PublishedAnswers]:
        """Return the answers of every level of `world`, which has to be made first."""
        return [PublishedAnswers(self.product, index) for index in self._indices]

    def looked_up(self) -> LookedUpAnswers:
        """Return the answers of `world`, which has to be made first, by unit and query."""
        return LookedUpAnswers(self.products, self._levels, [index.codes for index in self._indices])

    def _noise(self, budget: Fraction) -> Noise:
        return noise_of(self._method.framework, budget)[0]

    def _exact(
        self, level: str, product: MeasuredProduct | None = None, *, with_values: bool = True
    ) -> tuple[NDArray[np.str_], dict[str, NDArray[np.int64]]]:
        """Return all units of a level, and the answers of exact queries that every unit has, ``int64[units, answers]``."""
        product = product or self.product
        parts = [product.rows(name, with_values=with_values) for name in product.parts(level, constrained=True)]
        noisy = [product.rows(name, with_values=False).codes for name in product.parts(level)]
        codes = np.unique(np.concatenate([*(part.codes for part in parts), *noisy]))
        if not with_values:
            return codes, {}
        found: dict[str, NDArray[np.int64]] = {}
        known = {name for part in parts for name in np.unique(part.names).tolist()}
        for name in sorted(known):
            chosen = [np.flatnonzero(part.names == name) for part in parts]
            if sum(map(len, chosen)) != len(codes):
                continue
            lists = [part.values.take(pa.array(own)) for part, own in zip(parts, chosen, strict=True)]
            flat = np.concatenate([each.flatten().to_numpy() for each in lists]).astype(np.int64)
            where = np.concatenate([part.codes[own] for part, own in zip(parts, chosen, strict=True)])
            if len(flat) % len(codes):
                raise self._refused(f"{level}: {name} has {len(flat):,} numbers for {len(codes):,} units.")
            table = np.empty((len(codes), len(flat) // len(codes)), np.int64)
            table[np.searchsorted(codes, where)] = flat.reshape(len(codes), -1)
            found[name.removesuffix("_con")] = table
        return codes, found

    def _totals(
        self, codes: NDArray[np.str_], exact: NDArray[np.int64] | None, order: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return blocks and the totals that are put into them."""
        if exact is not None:
            return np.arange(len(codes)), exact[order, 0]
        states, first = np.unique(np.array([code[_STATE] for code in codes.tolist()]), return_index=True)
        nation = self._exact(self._levels[0])[1].get("total")
        stated = self._found.state_totals()
        if stated is None and len(states) == 1 and nation is not None:
            return first, nation[:, 0]
        stated = stated or resident_population_2020()
        totals = np.array([stated.get(state, 0) for state in states.tolist()], np.int64)
        if nation is not None and int(totals.sum()) != int(nation.sum()):
            raise self._refused(
                f"The exact total is {int(nation.sum()):,}; the known populations of its {len(states)} states add up to "
                f"{int(totals.sum()):,}."
            )
        return first, totals

    def _index(self, level: LevelDesign, codes: NDArray[np.str_]) -> tuple[_LevelIndex, int]:
        """Return what was measured at a level, and how many answers the scenario does not ask for."""
        places = {query: number for number, query in enumerate(level.measured)}
        variances = np.full((len(codes), len(places)), np.nan, np.float32)
        files, ignored = [], 0
        for product, name in ((each, name) for each in self.products for name in each.parts(level.name)):
            rows = product.rows(name, with_values=False)
            if not len(rows.codes):
                continue
            units = np.searchsorted(codes, rows.codes)
            for query in set(rows.queries.tolist()):
                chosen = rows.queries == query
                if query not in places:
                    ignored += int(chosen.sum()) * (query.answers if query else 1)
                    continue
                variances[units[chosen], places[query]] = rows.variances[chosen]
            files.append((name, int(units.min()), int(units.max())))
        if (variances <= 0).any():
            raise self._refused(f"{level.name}: a noisy answer has no variance.")
        return _LevelIndex(codes, variances, tuple(files)), ignored

    def _fitted(self, design: Design, number: int, index: _LevelIndex) -> tuple[LevelDesign, NDArray[np.int8], bool]:
        """Return a level with the noises of its units, the place of each unit's among them, and whether they are the scenario's."""
        level = design.levels[number]
        filled = np.where(np.isnan(index.variances), np.float32(0), index.variances)
        different, of_unit = np.unique(filled, axis=0, return_inverse=True)
        silent: NDArray[np.bool_] = np.logical_not(different.any(axis=1))
        sizes = np.bincount(of_unit, minlength=len(different))
        usual = [place for place in np.argsort(-sizes, kind="stable").tolist() if not silent[place]]
        if len(usual) > _MOST_NOISES:
            raise self._refused(
                f"{level.name}: units have {len(usual)} different noises; at most {_MOST_NOISES} are read."
            )
        candidates = self._candidates(design, number)
        usual.sort(key=lambda place: not _is_same(level.measuring, different[place]))
        found, matched = [], True
        for place in usual:
            known = next((each for each in candidates if _is_same(each, different[place])), None)
            matched = matched and known is not None
            found.append(
                known
                or measuring([1 / Fraction(float(v)) if v else Fraction(0) for v in different[place]], self._noise)
            )
        table = np.full(len(different), -1, np.int8)
        table[usual] = np.arange(len(usual), dtype=np.int8)
        return replace(level, measurings=tuple(found) or level.measurings), table[of_unit.ravel()], matched

    def _candidates(self, design: Design, number: int) -> list[Measuring]:
        """Return the noises that the scenario gives units of a level: of its own budget, and of neighbours' that were bypassed."""
        shares = [self._method.level_shares[level.name] for level in design.levels]
        base = design.levels[number].measuring
        factors = {
            sum(shares[low:high], Fraction(0)) / shares[number]
            for low in range(number + 1)
            for high in range(number + 1, len(shares) + 1)
        }
        return [measuring([budget * factor for budget in base.budgets], self._noise) for factor in sorted(factors)]

    def _refused(self, sentence: str) -> InputProblemsError:
        return InputProblemsError([Issue((str(self.path),), sentence, _REMEDY)])


def tabulated_codes(measured: NDArray[np.str_], tabulated: NDArray[np.str_]) -> tuple[NDArray[np.str_], int]:
    """Return codes of measured blocks as tables and microdata have them, and how many differ: some blocks of water were moved.

    Known is the one pair of 2020 that is at hand; other pairs are lines of ``resources/published/water_blocks.csv``.

    Args:
        measured: public codes of the noisy measurements, ``U[blocks]``.
        tabulated: those of the data, ``U[blocks]``.
    """
    with resource("published/water_blocks.csv").open(encoding="utf-8", newline="") as file:
        pairs = [(row["measured"], row["tabulated"]) for row in csv.DictReader(file)]
    found, moved = measured.copy(), 0
    for old, new in pairs:
        if old not in tabulated and new in tabulated and new not in measured and old in measured:
            found[measured == old] = new
            moved += 1
    return found, moved


def _is_same(known: Measuring, variances: NDArray[np.float32]) -> bool:
    own = np.array([0.0 if noise is None else noise_parameter(noise) for noise in known.noises])
    return bool(np.allclose(own, variances, rtol=_RELATIVE, atol=0))


def _most_spent(levels: Sequence[LevelDesign], classes: Sequence[NDArray[np.int8]], tree: GeoTree) -> Fraction:
    """Return the largest budget on a way from the root to a block."""
    ways = [np.repeat(own, np.diff(units.first_block)) for own, units in zip(classes, tree.levels, strict=True)]
    return max(
        sum((level.measurings[n].spent for level, n in zip(levels, way, strict=True) if n >= 0), Fraction(0))
        for way in np.unique(np.stack(ways, axis=1), axis=0).tolist()
    )


def _tree(levels: Sequence[str], codes: Sequence[NDArray[np.str_]], refused: Any) -> GeoTree:
    """Return the tree of units whose codes begin with their parents'."""
    leaves = codes[-1]
    found = []
    starts = []
    for level, own in zip(levels, codes, strict=True):
        width = len(str(own[0]))
        prefixes = leaves.astype(f"U{width}") if width else np.full(len(leaves), "")
        present, first = np.unique(prefixes, return_index=True)
        if len(present) != len(own) or (present != own).any():
            raise refused(f"{level}: the codes of its units are not those that the codes of {levels[-1]} begin with.")
        starts.append(np.append(first, len(leaves)).astype(np.int64))
    if len(codes[0]) != 1:
        raise refused(f"There are {len(codes[0])} units of {levels[0]}, and no level stands above them.")
    for number, (level, own) in enumerate(zip(levels, codes, strict=True)):
        children = (
            np.searchsorted(starts[number + 1], starts[number]).astype(np.int64) if number + 1 < len(codes) else None
        )
        found.append(TreeLevel(level, own, starts[number], children))
    return GeoTree(tuple(found), ())


def resident_population_2020() -> dict[str, int]:
    """Return the resident populations of the states and DC in 2020 by code: exact in every release of that census."""
    with resource("tables/resident_population_2020.csv").open(encoding="utf-8", newline="") as file:
        return {row["fips"]: int(row["persons"]) for row in csv.DictReader(file)}
