"""County errors of TopDown and of the projected Laplace mechanism under an exact state total: the two sides of Figure 1.

The paper takes TopDown's errors from the November 2020 demonstration files. These are not at hand, so TopDown runs
here, on the same counties and the 16 person cells that public tables give: state and county level with ε = 0.64 each (4
× 0.16), of which the population query has 0.3 (ε = 0.192, as the mechanism beside it) and the 16 cells the rest; the
state's total is exact. Production splits the rest over more queries of a far larger histogram.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from phexplore.accounting.subspace_noise import noise_plan
from phexplore.data.blocks.population import BlockPopulation
from phexplore.data.regions.counties import Counties
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.subspace import Axis, Histogram, Mechanism, Release, Subspace, Totals
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.noise.distributions import Noise, TwoSidedGeometric
from phexplore.noise.entropy import SeededEntropy
from phexplore.simulate.subspace.drawing import draw_noise
from phexplore.simulate.topdown.design import make_design
from phexplore.simulate.topdown.driver import descend, make_world
from phexplore.simulate.topdown.measuring import Draw, DrawnMeasurements, TrialKey
from phexplore.spine.tree import GeoTree, TreeLevel
from phexplore.workload.schema import load_schema
from phexplore.workload.subspace.spaces import Floats

EPSILON = Fraction("0.192")
"""ε of the county populations: 4 in all × 0.16 for the county level × 0.3 for the population query (§5.1)."""

LEAST_COUNTIES = 6
"""States with more than five counties are regressed."""

_LEVEL = Fraction("0.64")
_NO_SPREAD = np.finfo(float).tiny
_POPULATION = Fraction("0.3")
_SCHEMA = "pl94_reduced16"
# The schema counts Hispanic first; the counties have it last.
_GROUP_ORDER = (7, 0, 1, 2, 3, 4, 5, 6)


@dataclass(frozen=True, slots=True, eq=False)
class StateErrors:
    """Errors of one state's counties, released − true.

    Attributes:
        state: two digits.
        name: of the state.
        counties: their names.
        population: ``int64[counties]``, true.
        topdown: ``int64[trials, counties]``.
        subspace: ``float64[trials, counties]``, of the projected Laplace mechanism.
    """

    state: str
    name: str
    counties: tuple[str, ...]
    population: NDArray[np.int64]
    topdown: NDArray[np.int64]
    subspace: Floats


def county_errors(counties: Counties, trials: int, seed: int) -> Iterator[StateErrors]:
    """Yield the errors of every state with more than five counties, by its code.

    Args:
        counties: with populations and the 16 cells.
        trials: of each mechanism.
        seed: of the noise.
    """
    for state in np.unique(counties.states).tolist():
        rows = counties.of_state(state)
        if len(rows) >= LEAST_COUNTIES:
            yield state_errors(counties, state, trials, seed)


def state_errors(counties: Counties, state: str, trials: int, seed: int) -> StateErrors:
    """Return the errors of one state's counties.

    Args:
        counties: with populations and the 16 cells.
        state: its code.
        trials: of each mechanism.
        seed: of the noise.
    """
    rows = counties.of_state(state)
    return StateErrors(
        state,
        counties.state_names[int(rows[0])],
        tuple(counties.names[row] for row in rows.tolist()),
        counties.population[rows],
        _topdown(counties, rows, state, trials, seed),
        _subspace(len(rows), state, trials, seed),
    )


def county_method(counties: int) -> Subspace:
    """Return the parameters of the paper's example for one state."""
    release = Release(Histogram(), (Totals(),), Mechanism.PROJECTED_LAPLACE)
    return Subspace((Axis("county", counties),), {"counties": release}, EPSILON)


def _subspace(counties: int, state: str, trials: int, seed: int) -> Floats:
    plan = noise_plan(county_method(counties), "counties")
    return np.stack([draw_noise(plan, SeededEntropy(seed, (trial, int(state)))).values for trial in range(trials)])


def topdown_method() -> TopDown:
    """Return the parameters of the TopDown run that stands beside the paper's mechanism."""
    levels = ("State", "County")
    shares = {"total": _POPULATION, "detailed": 1 - _POPULATION}
    return TopDown(
        schema=_SCHEMA,
        levels=levels,
        total=2 * _LEVEL,
        level_shares=dict.fromkeys(levels, Fraction(1, 2)),
        query_shares={LevelQuery(level, query): share for level in levels for query, share in shares.items()},
        framework=PrivacyFramework.PURE_DP,
        invariants={"State": ("tot",)},
        constraints={"State": ("total",)},
    )


def _topdown(counties: Counties, rows: NDArray[np.intp], state: str, trials: int, seed: int) -> NDArray[np.int64]:
    schema = load_schema(_SCHEMA)
    # groups[county, age, group] to cells votingage × race_ethnicity
    table = counties.groups[rows][:, :, _GROUP_ORDER].reshape(len(rows), -1)
    places, cells = np.nonzero(table)
    starts = np.concatenate([[0], np.cumsum(np.count_nonzero(table, axis=1))]).astype(np.int64)
    leaves = BlockPopulation(
        schema, counties.fips[rows], starts, cells.astype(np.int32), table[places, cells].astype(np.int32)
    )
    ends = np.array([0, len(rows)], dtype=np.int64)
    tree = GeoTree(
        (
            TreeLevel("State", np.array([state]), ends, ends),
            TreeLevel("County", counties.fips[rows], np.arange(len(rows) + 1, dtype=np.int64), None),
        ),
        (),
    )

    def noise(budget: Fraction) -> Noise:
        return TwoSidedGeometric(2 / budget)

    design = make_design(topdown_method(), schema, ["State", "County"], noise, has_facilities=False)
    world = make_world(design, tree, leaves)
    found = np.zeros((trials, len(rows)), dtype=np.int64)
    for trial in range(trials):
        key = TrialKey(seed, trial * 100 + int(state))
        sources = [DrawnMeasurements(Draw(key)) for _ in design.levels]
        found[trial] = descend(world, sources).leaves.totals() - counties.population[rows]
    return found


@dataclass(frozen=True, slots=True)
class Slope:
    """The least squares line of errors on the logarithm (base e) of the true count.

    Attributes:
        slope: people per unit of ln count.
        intercept: people.
        p_value: two-sided, of no slope, by Student's t.
    """

    slope: float
    intercept: float
    p_value: float


def slope_of(errors: Floats | NDArray[np.int64], population: NDArray[np.int64]) -> Slope:
    """Return the regression line of one trial's errors.

    Args:
        errors: ``errors[counties]``, people.
        population: ``population[counties]``, above 0; the line is over its logarithm.

    Raises:
        ValueError: fewer than three counties, or all of one size.
    """
    from scipy.special import stdtr  # noqa: PLC0415 - only a summary needs it

    if len(errors) < 3 or len(np.unique(population)) < 2:
        raise ValueError(f"a line with its error needs at least 3 counties of different sizes, got {len(errors)}")
    at = np.log(population)
    (intercept, slope), (residuals, *_) = np.polynomial.polynomial.polyfit(at, errors, 1, full=True)
    freedom = len(errors) - 2
    spread = np.sqrt(np.sum(residuals) / freedom / np.sum((at - at.mean()) ** 2))
    return Slope(float(slope), float(intercept), float(2 * stdtr(freedom, -abs(slope) / max(spread, _NO_SPREAD))))
