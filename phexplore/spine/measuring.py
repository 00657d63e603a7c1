"""What TopDown parameters measure in the units of a tree: precisions of the answers, and which counts are exact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.noise.distributions import DiscreteGaussian, TwoSidedGeometric
from phexplore.spine.components import Known
from phexplore.text.messages import msg
from phexplore.workload.queries import MarginalQuery, parse_query, total_query
from phexplore.workload.schema import Schema, load_schema
from phexplore.workload.schema_reduction import image_of, project_shares

SENSITIVITY_SQUARED = 2
"""Replacing one record moves two answers of a query group by one each: squared L2 norm 2, L1 norm 2."""

EXACT_TOTALS = ("tot", "total")
"""Production's names of the exact number of records, as an invariant and as a constraint."""

EXACT_QUERIES: Mapping[str, str] = {
    "va": "votingage",
    "pl94": "hhgq8lev * votingage * hispanic * cenrace",
    "h1": "total",
}
"""Production's names of other exact counts, and the query they answer (topdown, section 4)."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What is measured and what is exact.

    Attributes:
        schema: of the histograms.
        shares: per level, the share of the level's budget of each query.
        exact: per level, queries whose answers are known in every unit, there or below.
        remarks: what was left out, in words.
    """

    schema: Schema
    shares: Mapping[str, Mapping[MarginalQuery, Fraction]]
    exact: Mapping[str, tuple[MarginalQuery, ...]]
    remarks: tuple[str, ...]

    @property
    def queries(self) -> tuple[MarginalQuery, ...]:
        """Everything measured with a share above 0, each once, in the order of the levels."""
        return tuple(dict.fromkeys(query for shares in self.shares.values() for query in shares))


def measured(method: TopDown, levels: Sequence[str], onto: Schema | None = None) -> Measured:
    """Return what parameters measure at some levels.

    Args:
        method: the parameters.
        levels: of the tree.
        onto: a smaller schema of the data: every query becomes its image there.

    Raises:
        PhexploreError: a query is unknown, or has no image.
    """
    source = load_schema(method.schema)
    schema = onto or source
    remarks: dict[str, None] = {}
    shares = {}
    for level in levels:
        own: dict[MarginalQuery, Fraction] = {}
        for name in method.queries_at(level):
            query = parse_query(source, name)
            share = method.query_shares[LevelQuery(level, name)]
            if query.schema != source:
                remarks[
                    msg(
                        "{name} counts another histogram ({title}) and contains no information about this one.",
                        name=name,
                        title=query.schema.title,
                    )
                ] = None
            elif share > 0:
                own[query] = own.get(query, Fraction(0)) + share
        shares[level] = dict(project_shares(own, schema).shares)
    exact: dict[str, tuple[MarginalQuery, ...]] = {}
    below: tuple[MarginalQuery, ...] = ()
    for level in reversed(levels):
        # What every unit of a level keeps, the units above keep: their answers are its sums (topdown, section 4).
        exact[level] = below = tuple(dict.fromkeys((*_exact(method, source, schema, level), *below)))
    return Measured(schema, shares, exact, tuple(remarks))


def _exact(method: TopDown, source: Schema, schema: Schema, level: str) -> tuple[MarginalQuery, ...]:
    names = (*method.invariants.get(level, ()), *method.constraints.get(level, ()))
    found: list[MarginalQuery] = []
    for name in names:
        if name in EXACT_TOTALS:
            found.append(total_query(schema))
        elif name in EXACT_QUERIES:
            found.append(image_of(parse_query(source, EXACT_QUERIES[name]), schema))
    return tuple(dict.fromkeys(found))


def known_steps(exact: Mapping[str, Sequence[MarginalQuery]]) -> tuple[tuple[Known, ...], dict[str, int]]:
    """Return the sets of exact queries from the smallest to the largest, and how many of them each level keeps.

    Args:
        exact: of every level, as `Measured` has them: each set holds those of the levels below.
    """
    sets = sorted(
        {frozenset(queries) for queries in exact.values() if queries},
        key=lambda queries: (sum(query.answers for query in queries), sorted(query.name for query in queries)),
    )
    steps = tuple(Known(tuple(sorted(queries, key=lambda query: query.name))) for queries in sets)
    kept = {level: sets.index(frozenset(queries)) + 1 if queries else 0 for level, queries in exact.items()}
    return steps, kept


@lru_cache(maxsize=65536)
def noise_variance(framework: PrivacyFramework, budget: Fraction) -> float:
    """Return the variance in people² of one answer's noise: discrete Gaussian with σ² = 1/ρ, or geometric with b = 2/ε.

    Args:
        framework: zCDP for discrete Gaussian, pure DP for geometric noise.
        budget: ρ or ε of the query in the unit, above 0.
    """
    if framework is PrivacyFramework.PURE_DP:
        return TwoSidedGeometric(SENSITIVITY_SQUARED / budget).variance()
    return DiscreteGaussian(Fraction(SENSITIVITY_SQUARED) / (2 * budget)).variance()
