"""Whole noisy answers of scenarios with outer passes, in the published layout: written from a trial, and looked up again.

Below the root an estimate looks at few of a million numbers a unit, and draws no others. Noise has an address, so that drawing all of
them gives the numbers that were looked at, and an estimate from the files is the estimate of the trial.
"""

from __future__ import annotations

import math
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.topdown import TopDown
from phexplore.published.measurements import CONSTRAINED, MEASURED, MeasuredProduct
from phexplore.runs.spec import RunSpecError
from phexplore.simulate.outer_passes.descent import OuterWorld, addressed
from phexplore.simulate.topdown.driver import World
from phexplore.simulate.topdown.histograms import Histograms, sums_up
from phexplore.simulate.topdown.measuring import TrialKey
from phexplore.systems.topdown.chained_release import kept_query, release_link
from phexplore.systems.topdown.published_writing import (
    Asked,
    Mark,
    Partitions,
    axes_of,
    exact_rows,
    noise_parameter,
    product_folder,
    published_codes,
    shape_of,
)
from phexplore.workload.queries import MarginalQuery, parse_query
from phexplore.workload.schema import Schema

Ints = NDArray[np.int64]

UNITS_OF_HOUSING = 2
"""Vacant and occupied, before the facilities, among what a household release keeps of each block."""

_GROUPS = {"facility_type": "gqlevels"}
"""What production calls some of our recodes in its files."""
WRITING = "writing noisy answers"
"""The phase of a trial in which they are written."""
_COUNTY = "County"
_AT_ONCE = 64
"""Units whose exact answers are written together."""
_HELD_BYTES, _HELD_PARTS = 256 << 20, 64
"""Bytes and parts of files that were read and are kept for the next question."""


def announced_size(directory: Path, world: World, trials: int) -> str:
    """Return how many noisy answers a trial has and how large their files get, in words.

    Args:
        directory: of the run.
        world: what is measured.
        trials: of the run.

    Raises:
        RunSpecError: there is no room for them.
    """
    numbers, bits = 0, 0
    for level, classes in zip(world.design.levels, world.classes, strict=True):
        for place, measuring in enumerate(level.measurings):
            units = int((classes == place).sum())
            for query, noise in zip(level.measured, measuring.noises, strict=True):
                if noise is not None:
                    numbers += units * query.answers
                    # A file numbers the different values, some 10 σ of them, and gives each answer that many bits.
                    bits += units * query.answers * math.ceil(math.log2(2 + 10 * math.sqrt(noise.variance())))
    free = shutil.disk_usage(directory).free
    size = f"{numbers:,} noisy answers a trial, about {bits / 8e6:,.0f} MB"
    if trials * bits / 8 > free:
        raise RunSpecError(
            f"There is no room for {size}, {trials} times: {free / 1e6:,.0f} MB are free.",
            "Keep the answers of a smaller area or of fewer trials, or put the run elsewhere.",
        )
    return f"Whole noisy answers are written in the published layout: {size}."


def publish_outer_answers(
    release: tuple[Path, Mark],
    outer: OuterWorld,
    kept: Histograms,
    geoids: NDArray[np.str_],
    method: TopDown,
    key: TrialKey,
    *,
    is_exact: bool,
    on_progress: Callable[[str, int, int], None],
) -> None:
    """Write all noisy answers of a trial, unit by unit, and what is exact of every unit.

    Args:
        release: its folder, and what every file says about itself.
        outer: what was measured.
        kept: the redistricting counts that the trial stands on, of the leaves in the tree's order.
        geoids: public codes of the leaves, ``U[leaves]`` in the order of the population.
        method: the scenario's parameters, whose names of queries are the published ones.
        key: of the trial's random bits.
        is_exact: whether no noise was added.
        on_progress: hears the level, its units that are written, and all of them, after each unit; may raise to stop.

    Raises:
        WriteError: the file system refuses.
    """
    world, (root, mark) = outer.world, release
    codes = published_codes(world.tree, geoids, with_plain_counties=True)
    names = [level.name for level in world.design.levels]
    county = int(codes[names.index(_COUNTY)].dtype.itemsize // 4) if _COUNTY in names else 0
    stood_on = sums_up(kept, world.tree, kept_query(world.design.schema).answers)
    for number, (level, own) in enumerate(zip(world.design.levels, codes, strict=True)):
        called = {parse_query(world.design.schema, name): name for name in method.queries_at(level.name)}
        for schema in outer.schemas:
            folder = product_folder(root, schema, codes[-1]) / f"{level.name}.parquet"
            width = county if number and level.name != "State" else _STATES_ALONE
            with Partitions(folder / MEASURED, schema.attributes, mark, width) as parts:
                for unit in range(len(own)):
                    asked = list(_measured(outer, number, unit, (schema, called), key, is_exact=is_exact))
                    parts.add(own[unit : unit + 1], asked)
                    on_progress(f"{WRITING}, {level.name}", unit + 1, len(own))
            with Partitions(folder / CONSTRAINED, schema.attributes, mark, width) as parts:
                exact = exact_rows(world, number) if schema == world.design.schema else []
                exact += _bounds(outer, number, schema)
                for first in range(0, len(own), _AT_ONCE):
                    last = min(first + _AT_ONCE, len(own))
                    rows = [each.part(first, last) for each in exact]
                    parts.add(own[first:last], rows + _kept(schema, world, stood_on[number].part(first, last)))


_STATES_ALONE = 3
"""Characters of a state's code: states, and the nation, have no folders of counties."""


def _measured(
    outer: OuterWorld,
    number: int,
    unit: int,
    asked: tuple[Schema, dict[MarginalQuery, str]],
    key: TrialKey,
    *,
    is_exact: bool,
) -> Iterator[Asked]:
    """Yield every noisy answer of a unit, query by query; `asked` has the schema and the names of its queries."""
    level, place = outer.world.design.levels[number], int(outer.world.classes[number][unit])
    schema, called = asked
    for column, query in enumerate(level.measured):
        noise = level.measurings[place].noises[column] if place >= 0 else None
        if noise is None or query.schema != schema:
            continue
        exact = outer.truth(number, query).part(unit, unit + 1)
        answers = np.zeros(query.answers, np.int64)
        answers[exact.cells] = exact.counts
        if not is_exact:
            every = np.arange(query.answers)
            answers += addressed(key, level, query).samples(noise, np.full(query.answers, unit), every)
        variance = np.array([noise_parameter(noise)], np.float32)
        one = np.zeros(1, np.int64)
        yield Asked(f"{called[query]}_dpq", "", axes_of(query), shape_of(query), one, answers[None], variance)


def _bounds(outer: OuterWorld, number: int, schema: Schema) -> list[Asked]:
    """Return the bounds of facilities of every unit of a level."""
    if outer.repair is None or schema.facility_bounds is None:
        return []
    repair, query = outer.repair[number], parse_query(schema, schema.facility_bounds.query)
    axes = {name: _GROUPS.get(word, word) for name, word in axes_of(query).items()}
    level, found = outer.world.design.levels[number], []
    for is_kept, name, sign, bounds in (
        (level.least, "hhgq_total_lb_con", ">=", repair.lower),
        (level.most, "hhgq_total_ub_con", "<=", repair.upper),
    ):
        if is_kept:
            found.append(_exactly(name, sign, axes, shape_of(query), bounds))
    return found


def _kept(schema: Schema, world: World, counts: Histograms) -> list[Asked]:
    """Return the redistricting counts of some units, as constraints of the histogram that keeps them."""
    query = kept_query(world.design.schema)
    if query.schema != schema:
        return []
    link = release_link(world.design.schema)
    dense = np.zeros((counts.units, query.answers), np.int64)
    dense[np.repeat(np.arange(counts.units), np.diff(counts.starts)), counts.cells] = counts.counts
    if world.design.schema.companion is None:
        return [_exactly(f"{link.constraint}_con", "=", axes_of(query), shape_of(query), dense)]
    axis = query.schema.attributes[0].name
    housing, facilities = dense[:, :UNITS_OF_HOUSING], dense[:, UNITS_OF_HOUSING:]
    return [
        _exactly(f"{link.constraint}_con", "=", {axis: "vacant_occupied"}, [UNITS_OF_HOUSING], housing),
        _exactly("gq_vect_con", "=", {axis: "gqlevels"}, [facilities.shape[1]], facilities),
    ]


def _exactly(name: str, sign: str, axes: dict[str, str], shape: Sequence[int], answers: NDArray[Any]) -> Asked:
    units = np.arange(len(answers))
    return Asked(name, sign, axes, shape, units, answers, np.zeros(len(units), np.float32))


class LookedUpAnswers:
    """The noisy answers of a release, looked up where an estimate asks for them: `phexplore.simulate.outer_passes.descent.Answers`."""

    def __init__(
        self, products: Sequence[MeasuredProduct], levels: Sequence[str], codes: Sequence[NDArray[np.str_]]
    ) -> None:
        """Find where every answer stands.

        Args:
            products: of the release: of the schema, and of its companion.
            levels: names, the widest first.
            codes: of the units of each level, ``U[units]``, ascending.

        Raises:
            InputProblemsError: the files cannot be read.
        """
        self._lock = threading.Lock()
        self._held: list[tuple[str, int, int, Any]] = []
        self._places: list[dict[tuple[int, MarginalQuery], tuple[MeasuredProduct, str, int]]] = []
        for level, own in zip(levels, codes, strict=True):
            found: dict[tuple[int, MarginalQuery], tuple[MeasuredProduct, str, int]] = {}
            for product in products:
                for name in product.parts(level):
                    rows = product.rows(name, with_values=False)
                    units = np.searchsorted(own, rows.codes).tolist()
                    for row, asked in enumerate(zip(units, rows.queries.tolist(), strict=True)):
                        found[asked] = product, name, row
            self._places.append(found)

    def __call__(self, number: int, query: MarginalQuery, unit: Ints, answer: Ints) -> Ints:
        """Return noisy answers, ``int64[n]``; 0 where a unit was not asked.

        Args:
            number: of the level.
            query: whose answers they are.
            unit: ``unit[n]``.
            answer: ``answer[n]``.

        Raises:
            InputProblemsError: the files cannot be read.
        """
        found = np.zeros(len(unit), np.int64)
        for each in np.unique(unit).tolist():
            place = self._places[number].get((each, query))
            if place is not None:
                chosen = unit == each
                found[chosen] = self._answers(place, query)[answer[chosen]]
        return found

    def _answers(self, place: tuple[MeasuredProduct, str, int], query: MarginalQuery) -> NDArray[Any]:
        product, name, row = place
        with self._lock:
            held = next((each for each in self._held if each[0] == name and each[1] <= row < each[2]), None)
            if held is None:
                held = name, *product.answers(name, row)
                self._held = [*self._held[-_HELD_PARTS:], held]
                while len(self._held) > 1 and sum(each[3].nbytes for each in self._held) > _HELD_BYTES:
                    del self._held[0]
        answers: NDArray[Any] = held[3][row - held[1]].values.to_numpy()
        if len(answers) != query.answers:
            sentence = f"{query.name} has {len(answers):,} answers in row {row}, not {query.answers:,}."
            raise InputProblemsError([Issue((name,), sentence, "Download it again.")])
        return answers
