"""What each outer pass of a level estimates: its queries, its rounder, and what is held as equalities.

Only the first pass of a histogram couples many cells. A pass without the detailed query cannot see more than the coarsest
partition of cells that its queries, its rounder and what it holds can tell apart; the finer cells of a class only split its count,
and with children that add up to their parent such a split always exists. So every pass is solved on its classes (production:
`constrain_main_vars_to_zero`; proved against the uncollapsed problem in the tests).

Source: production's `L2PlusRounder_interleaved`, as told in its configuration of 2020 for persons and households.
"""

from __future__ import annotations

from dataclasses import dataclass

from phexplore.optimize.plan import PlanError
from phexplore.workload.queries import MarginalQuery, detailed_query
from phexplore.workload.schema import Schema

Queries = tuple[MarginalQuery, ...]


@dataclass(frozen=True, slots=True)
class Held:
    """Sums that a pass keeps per child.

    Attributes:
        query: whose answers they are.
        source: where they come from: a query of another histogram of the same unit with as many answers, or None where they are
            published or were rounded in an earlier pass.
    """

    query: MarginalQuery
    source: MarginalQuery | None = None


@dataclass(frozen=True, slots=True)
class OuterPass:
    """One outer pass.

    Attributes:
        fine: the query whose answers are the classes: it determines everything else in the pass.
        measured: queries of the objective.
        chain: queries of the rounder between what is held and the classes, coarse to fine.
        held: the finest sums that are kept; all others that are kept follow from them.
        is_last: whether the classes are cells.
    """

    fine: MarginalQuery
    measured: Queries
    chain: Queries
    held: Held
    is_last: bool

    @property
    def schema(self) -> Schema:
        """Of the histogram that the pass estimates."""
        return self.fine.schema


def outer_passes(orders: tuple[tuple[Queries, Queries], ...], held: tuple[Held, ...]) -> tuple[OuterPass, ...]:
    """Return the passes of a level.

    Args:
        orders: per outer pass, the measured queries of its least squares and the queries of its rounder.
        held: sums that are known from the start, per histogram.

    Raises:
        PlanError: a pass that has no finest query, whose rounder is not nested, or that leaves cells open.
    """
    found: list[OuterPass] = []
    known = list(held)
    for number, (measured, rounder) in enumerate(orders):
        if not measured or not rounder:
            raise PlanError(
                f"Outer pass {number} has no measured query or no rounder.", "Give it at least one of each."
            )
        schema = measured[0].schema
        if any(query.schema != schema for query in (*measured, *rounder)):
            raise PlanError(
                f"Outer pass {number} asks two histograms at once.", "Give each histogram a pass of its own."
            )
        kept = _finest([each for each in known if each.query.schema == schema], number)
        fine = next(
            (query for query in measured if all(query.determines(each) for each in (*measured, *rounder, kept.query))),
            None,
        )
        if fine is None or fine not in rounder:
            raise PlanError(
                f"Outer pass {number} has no query that determines all others, measured and rounded.",
                "Measure the finest of its queries and put it into its rounder.",
            )
        chain = sorted(
            (each for each in dict.fromkeys(rounder) if each != fine and not kept.query.determines(each)),
            key=lambda query: query.answers,
        )
        for coarse, finer in zip([kept.query, *chain], [*chain, fine], strict=True):
            if not finer.determines(coarse):
                raise PlanError(
                    f"The rounder cannot keep {coarse.name} and {finer.name} together: neither adds up to the other.",
                    "Keep the queries of a rounder and what is held nested.",
                )
        is_last = fine == detailed_query(schema)
        found.append(OuterPass(fine, measured, tuple(chain), kept, is_last))
        known = [*known, Held(fine)]
    for schema in dict.fromkeys(each.schema for each in found):
        if not [each for each in found if each.schema == schema][-1].is_last:
            raise PlanError(f"No pass determines the cells of {schema.id}.", "Let its last pass measure `detailed`.")
    return tuple(found)


def _finest(known: list[Held], number: int) -> Held:
    for each in known:
        if all(each.query.determines(other.query) for other in known):
            return each
    raise PlanError(
        f"Outer pass {number} holds sums of which none determines the others.",
        "Hold nested queries: a network has two families of sums, the columns are one of them.",
    )
