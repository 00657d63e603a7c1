"""From the full schema of P.L. 94-171 to that of the 2010 demonstration data, by a stated and seeded rule that keeps every margin.

Every person gets, independently of all others:

1. a single year of age of its voting age that its quarters admit: minors evenly; adults evenly to 60, then falling evenly to 0 at
   100. College housing takes 18 to 24, nursing facilities 65 and over where they may; the structural zeros of the schema
   rule out the rest (`structural_zeros` of ``resources/schemas/demonstration_2010_persons.toml``).
2. a sex, evenly; 9 of 10 in correctional facilities and military quarters are men.
3. citizenship: 98 % of the minors, 96 % of the adults who are not Hispanic, 66 % of those who are.

Type of quarters, voting age, ethnicity and race of every person stay what they were; the rest is invented.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.blocks.population import BlockPopulation, from_filled
from phexplore.errors import PhexploreError
from phexplore.workload.schema import Schema, load_schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

TARGET = "demonstration_2010_persons"
VOTING_AGE, OLDEST = 18, 100
_CORRECTIONAL, _NURSING, _COLLEGE, _MILITARY = 1, 3, 5, 6
_CITIZENS = np.array([[0.98, 0.98], [0.96, 0.66]])
"""Share of citizens by voting age and Hispanic origin."""


def with_ages(persons: BlockPopulation, seed: int) -> BlockPopulation:
    """Return the population in the schema ``demonstration_2010_persons``, facilities kept, housing left out.

    Args:
        persons: in the schema ``pl94_persons``.
        seed: of every draw; equal seeds give equal populations.

    Raises:
        ValueError: the population is in another schema.
        PhexploreError: a negative seed.
    """
    if seed < 0:
        raise PhexploreError(f"A seed is a whole number of 0 or more, got {seed}.", "Leave out the sign.")
    if persons.schema.id != "pl94_persons":
        raise ValueError(f"only pl94_persons get ages, got {persons.schema.id}")
    schema = load_schema(TARGET)
    rng = np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=(116,))))
    rows = np.repeat(persons.rows(), persons.counts)
    cells = np.repeat(persons.cells.astype(np.int64), persons.counts)
    quarters, adult, hispanic, race = np.unravel_index(cells, persons.schema.shape)
    cumulative = np.cumsum(_shares_of_ages(schema), axis=2)
    drawn = rng.random(len(cells))
    age = np.empty(len(cells), np.int64)
    for kind, grown in np.unique(np.stack([quarters, adult], axis=1), axis=0).tolist():
        chosen = np.flatnonzero((quarters == kind) & (adult == grown))
        sums = cumulative[kind, grown]
        oldest = int(np.searchsorted(sums, sums[-1]))  # the sum may round to just below 1
        age[chosen] = np.minimum(np.searchsorted(sums, drawn[chosen], side="right"), oldest)
    male = rng.random(len(cells)) < np.where(np.isin(quarters, (_CORRECTIONAL, _MILITARY)), 0.9, 0.5)
    citizen = rng.random(len(cells)) < _CITIZENS[adult, hispanic]
    levels = (quarters, np.where(male, 0, 1), age, hispanic, race, citizen.astype(np.int64))
    return from_filled(
        schema,
        persons.geoids,
        rows=rows,
        cells=np.ravel_multi_index(levels, schema.shape),
        counts=np.ones(len(cells), np.int64),
        facilities=persons.facilities,
        places=dict(persons.places),
        layout=persons.layout,
        remarks=(*persons.remarks, f"Ages, sexes and citizenship were invented (seed {seed}); all else is kept."),
    )


def _shares_of_ages(schema: Schema) -> NDArray[np.float64]:
    """Return the shares of the ages by type of quarters and voting age, ``float64[types, 2, ages]``."""
    age = np.arange(schema.attribute("age").levels)
    weight = np.where(age <= 60, 1.0, np.clip((OLDEST - age) / 40, 0.0, None))
    shares = np.tile(weight, (schema.attribute("hhgq").levels, 2, 1))
    shares[:, 0, VOTING_AGE:] = shares[:, 1, :VOTING_AGE] = 0.0
    shares[_COLLEGE, 1] *= (age >= 18) & (age <= 24)
    shares[_NURSING, 1] *= age >= 65
    for zero in schema.structural_zeros:
        for kind in zero.where["hhgq"]:
            shares[kind][:, list(zero.where["age"])] = 0.0
    sums = shares.sum(axis=2, keepdims=True)
    found: NDArray[np.float64] = shares / np.where(sums > 0, sums, 1.0)
    return found
