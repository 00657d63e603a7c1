"""The redistricting criterion as the tuner asks for it: TopDown simulated on block data, some levels without noise.

A level without noise keeps its measurements exact; its budget is set far above the others, so that least squares believes them. The
criterion is looked at in every judged level, once for all people and once for those of voting age, and the worst share counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from phexplore.data.blocks.population import BlockPopulation
from phexplore.metrics.topdown.redistricting import group_shares, redistricting_criterion
from phexplore.model.rules import REDISTRICTING, Bound, Measure, Rule
from phexplore.model.topdown import TopDown
from phexplore.simulate.topdown.design import make_design
from phexplore.simulate.topdown.driver import Mapper, World, descend, in_order, make_world
from phexplore.simulate.topdown.families import Estimation
from phexplore.simulate.topdown.histograms import Histograms
from phexplore.simulate.topdown.measuring import Draw, DrawnMeasurements, MeasurementSource, TrialKey
from phexplore.simulate.topdown.pooling import lowest_pooled, pool
from phexplore.spine.tree import GeoTree, tree_of
from phexplore.systems.topdown.forecast import noise_of, query_of
from phexplore.systems.topdown.tuning import TuningError

GROUPS = {"pl94_persons": "hispanic * cenrace_7lev_two_comb", "pl94_reduced16": "race_ethnicity"}
"""The query whose answers are the groups of the criterion, by schema of the data."""

_EXACT = Fraction(20)
"""ρ of a level without noise, and the largest that a query's noise is computed for: its weight in least squares is that of a
standard deviation of 0.01 people. Beyond it variances underflow and nothing changes any more."""


@dataclass(frozen=True, slots=True)
class SimulatedCriterion:
    """Budgets per level in, worst share of areas that meet the criterion out; the same seed for every setting.

    Attributes:
        population: block data in a schema with voting age and groups.
        method: gives query shares, passes and constraints; its levels reach down to the data's.
        judged: levels whose areas are looked at.
        rule: the criterion: at least so many areas from so many people within a tolerance.
        trials: simulated releases per setting.
        seed: of their noise.
        is_pooled: whether the pooled estimator estimates; levels without noise, which nobody has, are not pooled.
        mapper: applies work at the same time where it can.
    """

    population: BlockPopulation
    method: TopDown
    judged: Sequence[str]
    rule: Rule = REDISTRICTING
    trials: int = 1
    seed: int = 1
    is_pooled: bool = False
    mapper: Mapper = in_order

    def __post_init__(self) -> None:
        """Refuse what the criterion cannot be asked of.

        Raises:
            TuningError: the data have no groups, a judged level is not theirs, or the rule is another one.
        """
        if self.population.schema.id not in GROUPS:
            raise TuningError(
                f"Data in the schema {self.population.schema.id} have no groups to judge by.",
                f"Take data in one of {', '.join(GROUPS)}.",
            )
        if (self.rule.measure, self.rule.bound) != (Measure.LARGEST_GROUP, Bound.AT_LEAST):
            raise TuningError(
                "The tuner judges by the share of areas whose largest group is kept.", "Give such a rule."
            )
        if unknown := sorted(set(self.judged) - set(self.levels)) or not self.judged:
            name = unknown[0] if isinstance(unknown, list) else "no level"
            raise TuningError(f"{name} is not a level of the data.", f"Their levels are {', '.join(self.levels)}.")

    @property
    def tree(self) -> GeoTree:
        """The tree over the data's blocks."""
        return tree_of(self.population.geocodes(), self.method.levels, self.population.layout)

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels the data have, widest first."""
        return tuple(level.name for level in self.tree.levels)

    def __call__(self, budgets: Mapping[str, Fraction | None]) -> tuple[float, bool]:
        """Simulate a setting.

        Raises:
            DesignError: the scenario cannot be simulated on this data.
        """
        world = self._world(budgets)
        worst = min(self._worst(world, budgets, trial) for trial in range(self.trials))
        return float(worst), worst >= self.rule.limit

    def _world(self, budgets: Mapping[str, Fraction | None]) -> World:
        levels = self.levels
        given = {level: budgets[level] or _EXACT for level in levels}
        total = sum(given.values(), Fraction(0))
        method = TopDown(
            schema=self.method.schema,
            levels=levels,
            total=total,
            level_shares={level: budget / total for level, budget in given.items()},
            query_shares={k: share for k, share in self.method.query_shares.items() if k.level in levels},
            framework=self.method.framework,
            passes={level: order for level, order in self.method.passes.items() if level in levels},
            invariants=self.method.invariants,
            constraints=self.method.constraints,
        )
        design = make_design(
            method,
            self.population.schema,
            levels,
            lambda budget: noise_of(method.framework, min(budget, _EXACT))[0],
            has_facilities=self.population.facilities is not None,
        )
        return make_world(design, self.tree, self.population)

    def _worst(self, world: World, budgets: Mapping[str, Fraction | None], trial: int) -> Fraction:
        sources: list[MeasurementSource] = [
            DrawnMeasurements(Draw(TrialKey(self.seed, trial), exact=budgets[level.name] is None))
            for level in world.design.levels
        ]
        if self.is_pooled:
            noisy = max((number for number, name in enumerate(self.levels) if budgets[name] is not None), default=-1)
            lowest = min(noisy, lowest_pooled(world))
            sources = list(pool(world, sources, lowest=lowest, mapper=self.mapper))
        options = Estimation(pooled=self.is_pooled)
        estimates = descend(world, sources, options, mapper=self.mapper).levels
        shares = [
            share
            for number, level in enumerate(self.levels)
            if level in self.judged
            for share in self._shares(world.truth[number], estimates[number])
        ]
        if not shares:
            raise TuningError(
                f"No area of the judged levels has {self.rule.least_people} people.",
                "Judge wider levels, or smaller areas.",
            )
        return min(shares)

    def _shares(self, truth: Histograms, estimate: Histograms) -> list[Fraction]:
        """Return the share of areas that meet the criterion, for all people and for those of voting age."""
        found = []
        for cells, answers in self._bases():
            groups = group_shares(truth.answers(cells, answers), estimate.answers(cells, answers), self.rule.tolerance)
            result = redistricting_criterion(groups, least_people=self.rule.least_people)
            if result.coverage.errors:
                found.append(Fraction(result.coverage.held, result.coverage.errors))
        return found

    def _bases(self) -> list[tuple[NDArray[np.int32], int]]:
        schema = self.population.schema.id
        groups = query_of(schema, GROUPS[schema])
        cells = groups.cell_map()
        adults = query_of(schema, "votingage").cell_map() == 1
        return [(cells, groups.answers), (np.where(adults, cells, -1).astype(np.int32), groups.answers)]
