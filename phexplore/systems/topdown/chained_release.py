"""The redistricting release that a DHC run stands on: made trial by trial on the same data, or taken from where it is.

Production's DHC keeps every published redistricting count: 2,016 cells of people per block for persons, occupied and vacant units for
households. A simulation therefore needs protected counts first, those of the same trial. Without a release that is named, the program
makes one by the redistricting preset of 2020; both together cost what both cost.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from phexplore.data.blocks.facilities import assume_facilities
from phexplore.data.blocks.population import BlockPopulation, from_filled
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import TopDown
from phexplore.noise.distributions import Noise
from phexplore.optimize.rounder import RounderOptions
from phexplore.published.door import read_population
from phexplore.runs.spec import RunSpec, RunSpecError
from phexplore.runs.store import MANIFEST_FILE, SPEC_FILE, load_spec, trial_file
from phexplore.simulate.outer_passes.partitions import answered, of_cells
from phexplore.simulate.topdown.design import make_design
from phexplore.simulate.topdown.driver import Mapper, World, descend, in_order, make_world
from phexplore.simulate.topdown.families import Estimation
from phexplore.simulate.topdown.histograms import Histograms, histograms_of
from phexplore.simulate.topdown.measuring import Draw, DrawnMeasurements, TrialKey
from phexplore.simulate.topdown.on_spine import in_code_order, world_on_spine
from phexplore.spine.tree import tree_of
from phexplore.systems.topdown.forecast import joint_release, noise_of
from phexplore.systems.topdown.presets import topdown_presets
from phexplore.systems.topdown.run_files import open_leaf_files, schema_of
from phexplore.systems.topdown.run_options import TopDownOptions, topdown_options
from phexplore.workload.queries import MarginalQuery, parse_query
from phexplore.workload.schema import Link, Schema, load_schema

_HOUSING_UNITS = 11
"""Answers of `tenvacgq` that are housing units; the others are group quarters."""


def release_link(schema: Schema) -> Link:
    """Return what a schema, or its companion, keeps of an earlier release.

    Raises:
        ValueError: nothing.
    """
    schemas = [schema, *([] if schema.companion is None else [load_schema(schema.companion)])]
    for each in schemas:
        for link in each.links:
            if link.release is not None:
                return link
    raise ValueError(f"{schema.id} keeps nothing of an earlier release")


def kept_query(schema: Schema) -> MarginalQuery:
    """Return the query whose answers are those of the earlier release."""
    return parse_query(schema, release_link(schema).query)


def partner_preset(method: TopDown) -> str:
    """Return the redistricting preset whose release a DHC scenario stands on; Puerto Rico's has no national level."""
    kind = "persons" if release_link(load_schema(method.schema)).release == "pl94_persons" else "units"
    return f"pl94-2020-{kind}-{'us' if 'US' in method.levels else 'pr'}"


def redistricting_of(population: BlockPopulation) -> BlockPopulation:
    """Return what the earlier release counts, exactly, of data in a DHC schema.

    Args:
        population: with facilities; of households their place is the unit histogram.

    Raises:
        ValueError: facilities are not known.
    """
    if population.facilities is None:
        raise ValueError(f"the facilities of {population.schema.id} are not known")
    link = release_link(population.schema)
    schema = load_schema(str(link.release))
    if link.release == "pl94_persons":
        cells = answered(histograms_of(population), of_cells(population.schema, kept_query(population.schema)))
        facilities = _by_major_type(population.facilities[:, 0], population.facilities[:, 1:])
    else:
        units = population.facilities.astype(np.int64)
        table = np.stack([units[:, 4:_HOUSING_UNITS].sum(axis=1), units[:, :4].sum(axis=1)], axis=1)
        rows, cell = np.nonzero(table)
        cells = Histograms(
            np.searchsorted(rows, np.arange(len(table) + 1)), cell.astype(np.int32), table[rows, cell].astype(np.int64)
        )
        facilities = _by_major_type(table.sum(axis=1), population.facilities[:, _HOUSING_UNITS:])
    return from_filled(
        schema,
        population.geoids,
        rows=np.repeat(np.arange(population.blocks), np.diff(cells.starts)),
        cells=cells.cells,
        counts=cells.counts,
        facilities=facilities.astype(np.int32),
        housing=population.housing,
        places=population.places,
        layout=population.layout,
    )


def _by_major_type(housing: Any, detailed: Any) -> Any:
    """Return housing units and facilities of the seven major types, ``int[blocks, 8]``."""
    levels = parse_query(load_schema("dhc_persons"), "hhgq8lev").axis_map("relgq")
    if levels is None:
        raise ValueError("the schema does not say major types")
    major = levels[18:] - 1
    table = np.zeros((len(detailed), 8), np.int64)
    table[:, 0] = housing
    for place, kind in enumerate(major.tolist()):
        table[:, 1 + kind] += detailed[:, place]
    return table


@dataclass(frozen=True, slots=True, eq=False)
class ChainedRelease:
    """The earlier release of every trial.

    Attributes:
        preset: id of the scenario that makes it, "" where it is taken from elsewhere.
        source: run or file that it is taken from, "" where it is made.
        scenario: the scenario that made it; None for published microdata, whose cost is not the run's to say.
        population: exact counts in its schema.
        world: of its estimation; None where it is taken.
        given: the counts of the blocks themselves, in the order of their codes, where noisy measurements state them; else None.
    """

    preset: str
    source: str
    scenario: Scenario | None
    population: BlockPopulation
    world: World | None
    given: Histograms | None = None

    def leaves(self, key: TrialKey, *, exact: bool, rounder: RounderOptions, mapper: Mapper = in_order) -> Histograms:
        """Return the protected counts of the blocks of a trial, in the order of their codes.

        Args:
            key: of the random bits, and the number of the trial.
            exact: whether no noise is added.
            rounder: options of the rounder.
            mapper: applies a function to ranges of families.

        Raises:
            RunSpecError: the release that is named has no such trial or other blocks.
        """
        if self.given is not None:
            return self.given
        if self.world is None:
            return self._taken(key.trial)
        sources = [DrawnMeasurements(Draw(key, exact)) for _ in self.world.design.levels]
        found = descend(self.world, sources, Estimation(rounder=rounder), mapper=mapper)
        return in_code_order(self.world.tree, found.leaves)

    def _taken(self, trial: int) -> Histograms:
        path = Path(self.source)
        if not (path / SPEC_FILE).exists():
            released = read_population(path, wanted=self.population.schema.id)
            if released.schema.is_chained:
                released = redistricting_of(
                    released if released.facilities is not None else assume_facilities(released)
                )
            return _aligned(released, self.population)
        file = path / trial_file(trial)
        if not file.exists():
            raise RunSpecError(
                f"{path} has no trial {trial}.", "Ask for as many trials as it has, or let it draw more."
            )
        schema = schema_of(file)
        files = open_leaf_files(file, schema)
        counts = files.read(file)
        released = BlockPopulation(schema, files.geoids, counts.starts, counts.cells, counts.counts.astype(np.int32))
        return _aligned(released, self.population)

    def json(self, method: TopDown) -> Mapping[str, Any]:
        """Return what the summary says of it: where it comes from, and what both releases cost together."""
        joint = None
        if self.scenario is not None:
            joint = joint_release(method, self.scenario.name, self.scenario.topdown)
        return {
            "release": self.population.schema.id,
            "preset": self.preset,
            "source": self.source,
            "rho": None if self.scenario is None else _text(self.scenario.topdown.total),
            "joint": None
            if joint is None
            else {
                "rho": _text(joint.rho),
                "epsilon": joint.epsilon,
                "epsilon_by_productions_formula": joint.loose_epsilon,
                "delta": 1e-10,
            },
        }

    @property
    def remark(self) -> str:
        """Where the release comes from, for the notes of the run."""
        if self.source:
            return f"Stands on the redistricting counts of {self.source}: every one of them is kept."
        return (
            f"Stands on a redistricting release of its own, {self.preset}, drawn in the same trial: every one of its counts is kept, "
            "and its privacy loss comes on top."
        )


def _text(value: Fraction) -> str:
    return str(value)


def _aligned(released: BlockPopulation, wanted: BlockPopulation) -> Histograms:
    """Return released counts for the blocks of a run; blocks without a count are empty.

    Raises:
        RunSpecError: the release counts something else, or other blocks.
    """
    if released.schema != wanted.schema:
        raise RunSpecError(
            f"The redistricting release counts {released.schema.title}, not {wanted.schema.title}.",
            "Name a run or microdata of the right kind.",
        )
    place = np.searchsorted(wanted.geoids, released.geoids)
    strange = (place == wanted.blocks) | (wanted.geoids[np.minimum(place, wanted.blocks - 1)] != released.geoids)
    if strange.any():
        raise RunSpecError(
            f"The redistricting release has {int(strange.sum()):,} blocks that the data lack, e.g. {released.geoids[strange][0]}.",
            "Name a release of the same blocks.",
        )
    sizes = np.zeros(wanted.blocks, np.int64)
    sizes[place] = np.diff(released.starts)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    return Histograms(starts, released.cells, released.counts.astype(np.int64))


def published_release(path: Path, published: BlockPopulation, blocks: BlockPopulation) -> ChainedRelease:
    """Return the release whose counts noisy measurements state as exact.

    Args:
        path: of the noisy measurements.
        published: blocks with these counts, in the DHC schema.
        blocks: of the run.

    Raises:
        RunSpecError: these are other blocks.
    """
    counted = redistricting_of(blocks)
    return ChainedRelease("", str(path), None, counted, None, _aligned(redistricting_of(published), counted))


def chained_release(spec: RunSpec, population: BlockPopulation) -> ChainedRelease:
    """Return the release a run stands on.

    Args:
        spec: of the run.
        population: exact counts in the DHC schema.

    Raises:
        RunSpecError: the named release cannot be used.
        DesignError: none can be made on these data.
    """
    options, method = topdown_options(spec), spec.scenario.topdown
    counted = redistricting_of(population)
    if options.redistricting:
        path = Path(options.redistricting)
        scenario = load_spec(path).scenario if (path / SPEC_FILE).exists() else None
        if options.redistricting_identity and options.redistricting_identity != release_identity(path):
            raise RunSpecError(f"{path} is not what the run was made for.", "Name the release it was made for.")
        return ChainedRelease("", str(path), scenario, counted, None)
    preset = partner_preset(method)
    scenario = replace(topdown_presets()[preset].scenario, name=preset)
    partner = scenario.topdown

    def noise(budget: Fraction) -> Noise:
        return noise_of(partner.framework, budget)[0]

    tree = tree_of(counted.geocodes(), partner.levels, counted.layout)
    names = [level.name for level in tree.levels]
    design = make_design(partner, counted.schema, names, noise, has_facilities=True)
    world, _ = world_on_spine(make_world(design, tree, counted), partner, counted, noise)
    return ChainedRelease(preset, "", scenario, counted, world)


def release_identity(path: Path) -> str:
    """Return what tells one release from another: the identity of a run, the digest of a file.

    Raises:
        RunSpecError: there is neither, or the run is not complete.
    """
    if (path / SPEC_FILE).exists():
        if not (path / MANIFEST_FILE).exists():
            raise RunSpecError(f"{path} is not a complete run.", "Let it run to its end first.")
        return load_spec(path).identity
    if not path.is_file():
        raise RunSpecError(f"{path} is no run and no file.", "Name a redistricting run or published microdata.")
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def with_release(spec: RunSpec) -> RunSpec:
    """Return a run with the identity of the release that its options name.

    Raises:
        RunSpecError: the release cannot be used, or the scenario stands on none.
    """
    options = topdown_options(spec)
    if not options.redistricting or options.redistricting_identity:
        return spec
    if (
        not load_schema(spec.scenario.topdown.schema).is_chained
        and not load_schema(spec.scenario.topdown.schema).companion
    ):
        raise RunSpecError(
            f"{spec.scenario.name} stands on no earlier release.", "Leave out --redistricting; DHC scenarios take it."
        )
    identity = release_identity(Path(options.redistricting))
    return replace(spec, options=_identified(options, identity))


def _identified(options: TopDownOptions, identity: str) -> TopDownOptions:
    return replace(options, redistricting_identity=identity)
