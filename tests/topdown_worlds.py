"""Small states to descend through: synthetic blocks in 16 cells, and expanded to the full schema with facilities."""

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from phexplore.data.blocks.expansion import expand
from phexplore.data.blocks.generator import synthesize_blocks
from phexplore.simulate.topdown.design import make_design
from phexplore.simulate.topdown.driver import make_world
from phexplore.simulate.topdown.measuring import Draw, DrawnMeasurements, TrialKey
from phexplore.spine.tree import tree_of
from phexplore.systems.topdown.forecast import noise_of
from phexplore.systems.topdown.presets import topdown_presets

PERSONS = topdown_presets()["pl94-2020-persons-us"].scenario.method
UNITS = topdown_presets()["pl94-2020-units-us"].scenario.method


@lru_cache(maxsize=8)
def blocks(count=150, seed=3, state="44"):
    return synthesize_blocks(count, seed, state)


@lru_cache(maxsize=8)
def full(count=150, seed=3, state="44"):
    return expand(blocks(count, seed, state), 5)


def world_of(population, method=PERSONS, factor=1):
    method = replace(method, total=method.total * Fraction(factor))
    tree = tree_of(population.geocodes(), method.levels, population.layout)
    design = make_design(
        method,
        population.schema,
        [level.name for level in tree.levels],
        lambda budget: noise_of(method.framework, budget)[0],
        has_facilities=population.facilities is not None,
    )
    return make_world(design, tree, population)


def draws(world, trial=0, seed=1, exact=False):
    return [DrawnMeasurements(Draw(TrialKey(seed, trial), exact)) for _ in world.design.levels]
