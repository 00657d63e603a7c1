"""The trials of a scenario with outer passes: the release they stand on, the descent, and what must hold afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from phexplore.accuracy.privacy_loss import EpsilonFigure
from phexplore.data.blocks.population import BlockPopulation
from phexplore.model.conventions import Conversion, Proof
from phexplore.model.numbers import exact_text
from phexplore.model.rounded import epsilon_bound, rounded_up
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import TopDown
from phexplore.optimize.rounder import RounderOptions
from phexplore.report.forecast_json import epsilon_json
from phexplore.runs.spec import RunMode, RunSpec, RunSpecError
from phexplore.simulate.outer_passes.descent import (
    Answers,
    OuterDescent,
    OuterEstimation,
    OuterWorld,
    descend_outer,
)
from phexplore.simulate.outer_passes.facility_repair import FacilityRepair
from phexplore.simulate.outer_passes.partitions import answered, of_cells
from phexplore.simulate.topdown.bounds import facility_bounds
from phexplore.simulate.topdown.design import TOTAL_INVARIANT
from phexplore.simulate.topdown.driver import Mapper, World
from phexplore.simulate.topdown.histograms import Histograms, sums_up
from phexplore.simulate.topdown.measuring import TrialKey, secret_key
from phexplore.simulate.topdown.on_spine import in_code_order
from phexplore.systems.topdown.chained_release import (
    ChainedRelease,
    chained_release,
    kept_query,
    published_release,
)
from phexplore.systems.topdown.published_noise import PublishedNoise
from phexplore.systems.topdown.run_options import Mechanism, TopDownOptions
from phexplore.systems.topdown.shared import forecast
from phexplore.workload.queries import parse_query
from phexplore.workload.schema import Schema, load_schema

_LOWEST_WITH_AGES = 2
"""So many of the lowest levels never change an age in the repair (production: `require_feasible_postproc_dim`)."""


def confirm_options(options: TopDownOptions, *, on_cluster: bool) -> None:
    """Refuse what outer passes cannot be asked for.

    Args:
        options: of the run.
        on_cluster: whether it is to be estimated elsewhere.

    Raises:
        RunSpecError: a wish that has no meaning here.
    """
    refused = (
        (options.mechanism is Mechanism.BLOCK_BY_BLOCK, "--block-by-block", "Blocks alone hold no million cells."),
        (options.is_pooled, "--estimator pooled", "The pooled estimator knows one pass."),
        (on_cluster, "--scheduler", "Outer passes are estimated on this machine."),
    )
    for is_asked, name, reason in refused:
        if is_asked:
            raise RunSpecError(f"A scenario with outer passes has no {name}: {reason}", "Leave it out.")


@dataclass(frozen=True, slots=True, eq=False)
class OuterTrial:
    """One trial.

    Attributes:
        found: the estimates.
        kept: the redistricting counts of the blocks, in the tree's order.
        key: of the random bits; not shown, for it may be a secret one.
    """

    found: OuterDescent
    kept: Histograms
    key: TrialKey = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class OuterRun:
    """What all trials of a scenario with outer passes share.

    Attributes:
        outer: exact counts and rules of every level.
        release: what the trials stand on.
        unlinked: ``int64[blocks, 24]`` facilities of each type where these are published exactly with the release, in the tree's
            order; None for persons.
        answers: noise that was drawn elsewhere; None draws it.
    """

    outer: OuterWorld
    release: ChainedRelease
    unlinked: np.ndarray[Any, np.dtype[np.int64]] | None
    answers: Answers | None = None

    @property
    def schema(self) -> Schema:
        """Of the records."""
        return self.outer.world.design.schema

    def trial(
        self,
        key: TrialKey,
        *,
        exact: bool,
        margins: tuple[tuple[int, ...], ...],
        rounder: RounderOptions,
        mapper: Mapper,
        on_progress: Callable[[str, int, int], None] | None,
    ) -> OuterTrial:
        """Return the estimates of a trial.

        Args:
            key: of the random bits.
            exact: whether no noise is added.
            margins: per level and measured query, whose coverage is counted.
            rounder: options of the rounder.
            mapper: applies a function to ranges of families.
            on_progress: as in `phexplore.simulate.outer_passes.descent.descend_outer`.
        """
        # Equal bits are asked for more than once, so noise of the operating system gets a key that nobody keeps.
        secret = key if key.seed is not None else secret_key(key.trial)
        tree = self.outer.world.tree
        kept = self.release.leaves(secret, exact=exact, rounder=rounder, mapper=mapper)
        if tree.order is not None:
            kept = kept.ordered(tree.order)
        kept = self._with_facilities(kept)
        found = descend_outer(
            self.outer,
            {kept_query(self.schema): kept},
            OuterEstimation(secret, exact, margins, rounder, self.answers),
            mapper=mapper,
            on_progress=on_progress,
        )
        return OuterTrial(found, kept, secret)

    def _with_facilities(self, kept: Histograms) -> Histograms:
        """Add the facilities, which every unit histogram keeps exactly, behind vacant and occupied units."""
        if self.unlinked is None:
            return kept
        dense = np.zeros((kept.units, 2 + self.unlinked.shape[1]), np.int64)
        dense[np.repeat(np.arange(kept.units), np.diff(kept.starts)), kept.cells] = kept.counts
        dense[:, 2:] = self.unlinked
        return _sparse(dense)

    def checks(self, trial: OuterTrial) -> dict[str, int]:
        """Return the failures of a trial, by check.

        Redistricting counts: published ones that the sums of the blocks break, at every level. Sums before repair: cells in which
        children do not add up to their parent; the repair of facility bounds afterwards breaks them in production too. Facility
        bounds: bounds that are still broken after the repair. Tenure: levels of households that their unit histogram does not have.

        Args:
            trial: a finished one.
        """
        world, query = self.outer.world, kept_query(self.schema)
        own = trial.found.descent.leaves
        of_query = own if query.schema == self.schema else trial.found.beside[-1]
        summed = sums_up(answered(of_query, of_cells(query.schema, query)), world.tree, query.answers)
        kept = sums_up(trial.kept, world.tree, query.answers)
        possible = world.design.possible()
        checks = {
            "redistricting_counts": sum(one.differences(other) for one, other in zip(summed, kept, strict=True)),
            "structural_zeros": int(np.count_nonzero(~possible[own.cells])),
            "non_negativity": int(np.count_nonzero(own.counts < 0)),
            "sums_before_repair": trial.found.unsummed,
        }
        if trial.found.repair:
            checks["facility_bounds"] = sum(each.remaining for each in trial.found.repair)
        for link in self.schema.links:
            if link.companion_query is not None and self.schema.companion is not None:
                mine = parse_query(self.schema, link.query)
                theirs = parse_query(load_schema(self.schema.companion), link.companion_query)
                one = answered(own, of_cells(self.schema, mine))
                checks["tenure_of_units"] = one.differences(
                    answered(trial.found.beside[-1], of_cells(theirs.schema, theirs))
                )
        return checks

    def repair_json(self, trial: OuterTrial) -> list[dict[str, Any]]:
        """Return what the repair of facility bounds did, level by level.

        Args:
            trial: a finished one.
        """
        return [
            {
                "level": level.name,
                "moves": each.moves,
                "ages": each.ages,
                "broken": each.broken,
                "remaining": each.remaining,
                "units": each.units,
            }
            for level, each in zip(self.outer.world.design.levels, trial.found.repair, strict=False)
        ]

    def units(self, trial: OuterTrial) -> Histograms | None:
        """Return the unit histograms of the blocks in the order of their codes, None for persons.

        Args:
            trial: a finished one.
        """
        return in_code_order(self.outer.world.tree, trial.found.beside[-1]) if trial.found.beside else None


def _sparse(table: np.ndarray[Any, Any]) -> Histograms:
    rows, cells = np.nonzero(table)
    starts = np.searchsorted(rows, np.arange(len(table) + 1))
    return Histograms(starts.astype(np.int64), cells.astype(np.int32), table[rows, cells].astype(np.int64))


def outer_run(
    spec: RunSpec, population: BlockPopulation, world: World, published: PublishedNoise | None = None
) -> OuterRun:
    """Return what all trials share.

    Args:
        spec: of the run.
        population: exact counts, with facilities.
        world: on the scenario's spine.
        published: noise that was drawn elsewhere, whose `world` this is.

    Raises:
        RunSpecError: the release that is named cannot be used.
        ValueError: the data have no facilities.
    """
    schema, tree = population.schema, world.tree
    facilities = population.facilities
    if facilities is None:
        raise ValueError("outer passes need facilities")
    if tree.order is not None:
        facilities = facilities[tree.order]
    beside, unlinked, repair = None, None, None
    if schema.companion is not None:
        beside = sums_up(_sparse(facilities), tree, load_schema(schema.companion).cells)
        unlinked = facilities[:, 11:].astype(np.int64)
    elif schema.facility_bounds is not None and any(level.least or level.most for level in world.design.levels):
        repair = _repairs(spec.scenario.topdown, world, facilities.astype(np.int64))
    outer = OuterWorld(world, beside, repair)
    named = {name for names in dict(spec.scenario.topdown.constraints).values() for name in names}
    if published is None:
        return OuterRun(outer.confirmed(sorted(named)), chained_release(spec, population), unlinked)
    release = published_release(published.path, published.population(), population)
    return OuterRun(outer.confirmed(sorted(named)), release, unlinked, published.looked_up())


def _repairs(
    method: TopDown, world: World, facilities: np.ndarray[Any, np.dtype[np.int64]]
) -> tuple[FacilityRepair, ...]:
    """Return the repair of every level; totals are exact where the scenario keeps them, and above."""
    schema, design = world.design.schema, world.design
    bounds = schema.facility_bounds
    if bounds is None:
        return ()
    query, within, free = parse_query(schema, bounds.query), kept_query(schema), design.possible()
    exact = [TOTAL_INVARIANT in dict(method.invariants).get(level.name, ()) for level in design.levels]
    found = []
    for number, (level, units) in enumerate(zip(design.levels, world.tree.levels, strict=True)):
        here = np.add.reduceat(facilities, units.first_block[:-1], axis=0)
        totals = world.truth[number].totals() if any(exact[number:]) else None
        lower, upper = facility_bounds(bounds, here, totals)
        changes = number < len(design.levels) - _LOWEST_WITH_AGES
        found.append(
            FacilityRepair(schema, query, within, level.plan.measured, free, lower, upper, changes, level.name)
        )
    return tuple(found)


@lru_cache(maxsize=4)
def _stated(scenario: Scenario) -> tuple[EpsilonFigure, ...]:
    return forecast(scenario).stated()


def outer_remarks(spec: RunSpec, outer: OuterRun) -> tuple[str, ...]:
    """Return what the scenario costs by production's formula, and what is proven, and what release it stands on, for the notes of the run.

    Args:
        spec: of the run.
        outer: what its trials share.
    """
    if outer.answers is not None:
        return (outer.release.remark,)
    figures = {figure.conversion: figure.value for figure in _stated(spec.scenario)}
    formula, proven = figures.get(Conversion.BUN_STEINKE), figures.get(Proof.DISCRETE_GAUSSIAN)
    cost = f"The scenario costs ρ {exact_text(spec.scenario.topdown.total)}"
    if formula is not None and proven is not None:
        cost += (
            f": ε {epsilon_bound(formula)} at δ = 10⁻¹⁰ by ρ + 2√(ρ ln 1/δ), as production states it, and at most "
            f"{rounded_up(proven, 2)} as proven"
        )
    return f"{cost}, without the release that it stands on.", outer.release.remark


def outer_summary(
    outer: OuterRun, spec: RunSpec, marks: Sequence[Mapping[str, Any]], told: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what the summary of such a run has beyond that of all others.

    Args:
        outer: what the trials share.
        spec: of the run.
        marks: what the trials' files say of themselves.
        told: what it has as all others.
    """
    numbers = sum(int(each["numbers"]) for each in marks)
    found: dict[str, dict[str, Any]] = {}
    for each in marks:
        for entry in each["facility_repair"]:
            held = found.setdefault(entry["level"], {"level": entry["level"]})
            for name in ("moves", "ages", "broken", "remaining", "units"):
                held[name] = held.get(name, 0) + int(entry[name])
    return {
        # The normal margin is not whole, noise is: what it covers is known exactly, and not the confidence.
        "coverage": {
            **told["coverage"],
            "expected": sum(float(each["expected"]) for each in marks) / numbers if numbers else None,
        },
        "privacy": {
            **told["privacy"],
            "epsilon": []
            if spec.mode is RunMode.NO_NOISE or outer.answers is not None
            else [epsilon_json(figure) for figure in _stated(spec.scenario)],
        },
        "rescued": [entry for each in marks for entry in each["rescued"]],
        "facility_repair": list(found.values()),
        "redistricting_release": outer.release.json(spec.scenario.topdown),
    }
