"""Noise on exact counts: the measurement of PHSafe (paper, section 3.2, Algorithms 1, 2 and 5) and what derives from it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from phexplore.accounting.composition import confirm_spent, spent
from phexplore.catalog.tables import queries, sensitivity, table, tables
from phexplore.data.classification import Mode
from phexplore.errors import PhexploreError
from phexplore.model.keys import QueryKey, Region
from phexplore.model.numbers import UNLIMITED, Budget
from phexplore.noise.distributions import DiscreteGaussian, Noise, NoNoise, TwoSidedGeometric, noise_for
from phexplore.noise.sampler import sampler_for
from phexplore.simulate.phsafe_count import derived_counts
from phexplore.simulate.tabulation import Tabulation, region_ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phexplore.model.phsafe import PhSafe
    from phexplore.noise.entropy import Entropy


class ReleaseMismatchError(PhexploreError):
    """The exact counts were not made for these parameters; noise calibrated for them would not protect."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """How one query is measured.

    Attributes:
        query: table and level.
        budget: ρ or ε, not 0.
        sensitivity: L2 (zCDP) or L1 (pure DP) sensitivity in records.
        noise: the distribution added to every count.
    """

    query: QueryKey
    budget: Budget
    sensitivity: int
    noise: Noise

    @property
    def spends(self) -> Budget:
        """What this noise costs at this sensitivity, computed back from the noise, exactly (paper, Lemma 3)."""
        match self.noise:
            case NoNoise():
                return UNLIMITED
            case DiscreteGaussian(sigma2):
                return Fraction(self.sensitivity**2) / (2 * sigma2)
            case TwoSidedGeometric(scale):
                return self.sensitivity / scale
            case _:
                raise TypeError(f"nobody knows what noise of the kind {type(self.noise).__name__} costs")


@dataclass(frozen=True, slots=True)
class CellNoise:
    """What a release says about the noise of a query's counts.

    Attributes:
        distribution: the text of NOISE_DISTRIBUTION.
        variances: per basis cell, in people²: the VARIANCE production reports (σ² for the discrete Gaussian); for a
            sum of n measured cells n times that.
    """

    distribution: str
    variances: tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PhsafeRelease:
    """Noisy counts of one private run.

    Attributes:
        states: FIPS codes of the states, ascending.
        counts: per table and level, derived tables included: ``int64[regions, codes, basis cells]``; may be negative.
        noise: of the same tables and levels.
        is_reproducible: drawn from a seed: anyone with the seed can subtract the noise, so it protects nobody.
    """

    states: tuple[int, ...]
    counts: Mapping[QueryKey, NDArray[np.int64]]
    noise: Mapping[QueryKey, CellNoise]
    is_reproducible: bool

    def regions(self, region: Region) -> tuple[str, ...]:
        """Return the REGION_IDs of a region level, in the order of the arrays."""
        return region_ids(region, self.states)


class PhsafeReleaser:
    """Draws releases of one tabulation. It holds no state that changes; threads may share it.

    Args:
        tabulation: exact counts, made by `CountingSpec.measured` of the same parameters.
        parameters: budgets, thresholds and framework.

    Raises:
        ReleaseMismatchError: the tabulation is not of these parameters.
        BudgetMismatchError: the noise does not cost what the parameters declare.
    """

    def __init__(self, tabulation: Tabulation, parameters: PhSafe) -> None:
        _require_match(tabulation, parameters)
        self._tabulation = tabulation
        self._declared = spent(parameters.budgets.values())
        self.measurements = tuple(
            Measurement(query, budget, delta, noise_for(parameters.framework, sensitivity=delta, budget=budget))
            for query in tabulation.counts
            if table(query.table).measured
            for budget in (parameters.budgets[query],)
            for delta in (_sensitivity(tabulation, query),)
        )
        confirm_spent(self._declared, [measurement.spends for measurement in self.measurements])
        self.noise = MappingProxyType(_cell_noise(self.measurements))

    def release(self, entropy: Entropy) -> PhsafeRelease:
        """Return the counts with fresh noise.

        Every query draws from a stream of its own (spawn key = its place in Table 10 of the paper; of a table of the user's
        library, made of its name), so with a seed its noise is the same whatever else is published.

        Raises:
            BudgetMismatchError: more or less was spent than declared; nothing is released.
        """
        counts: dict[QueryKey, NDArray[np.int64]] = {}
        spending = []
        for measurement in self.measurements:
            query = measurement.query
            exact = self._tabulation.counts[query]
            noise = sampler_for(measurement.noise).sample(entropy.spawn(_stream(query)), exact.size)
            spending.append(measurement.spends)
            counts[query] = exact + noise.reshape(exact.shape)
        confirm_spent(self._declared, spending)
        counts |= derived_counts(counts)
        return PhsafeRelease(
            states=self._tabulation.states,
            counts=MappingProxyType({query: counts[query] for query in self._tabulation.counts}),
            noise=self.noise,
            is_reproducible=entropy.is_reproducible,
        )


@lru_cache(maxsize=512)
def _stream(query: QueryKey) -> int:
    places = {known: place for place, known in enumerate(queries())}
    if query in places:
        return places[query]
    return int.from_bytes(hashlib.sha256(query.text.encode()).digest()) + len(places)


def _require_match(tabulation: Tabulation, parameters: PhSafe) -> None:
    if tabulation.mode is not Mode.PRIVATE:
        raise ReleaseMismatchError(
            "Exact production output has totals and is not truncated, so no noise can protect it.",
            "Tabulate with the parameters of the run.",
        )
    published = {query for query, budget in parameters.budgets.items() if budget != 0}
    counted = {query for query in tabulation.counts if table(query.table).measured}
    if published != counted:
        differing = ", ".join(sorted(query.text for query in published ^ counted))
        raise ReleaseMismatchError(
            f"The counts and the budgets are for different queries: {differing}.",
            "Tabulate again with the parameters of the run.",
        )
    for name, threshold in tabulation.thresholds.items():
        if parameters.thresholds[name] != threshold:
            raise ReleaseMismatchError(
                f"{name} was truncated at {threshold} persons, but the noise would be for {parameters.thresholds[name]}.",
                "Tabulate again with the parameters of the run.",
            )
    strangers = sorted(set(tabulation.regions(Region.STATE)) - set(parameters.states))
    if strangers:
        raise ReleaseMismatchError(
            f"The counts contain states that are not in the run: {', '.join(strangers)}.",
            "Tabulate again with the parameters of the run.",
        )


def _sensitivity(tabulation: Tabulation, query: QueryKey) -> int:
    # The public geography may repeat a MAFID; every repetition repeats the unit, and so what one person changes.
    multiplicity = max(1, tabulation.geo_multiplicity)
    return sensitivity(table(query.table), tabulation.thresholds.get(query.table), multiplicity)


def _cell_noise(measurements: tuple[Measurement, ...]) -> dict[QueryKey, CellNoise]:
    by_query = {measurement.query: measurement.noise for measurement in measurements}
    found = {}
    for product in tables().values():
        for level in product.levels:
            noise = by_query.get(QueryKey(product.derived_from or product.id, level))
            if noise is not None:
                variance = noise.reported_variance()
                terms = [max(1, len(cell.sources)) for cell in product.basis_cells]
                found[QueryKey(product.id, level)] = CellNoise(noise.name, tuple(n * variance for n in terms))
    return found
