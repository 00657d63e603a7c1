"""The block-by-block mechanism, the baseline TopDown is compared with (TopDown paper, Appendix A).

All of the budget is spent at the leaves, split over the queries by the leaves' shares of the scenario; every leaf is
estimated alone by eq. 7.1 and rounded by eq. 7.3 under its own invariants. Nothing holds the totals above.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from phexplore.noise.distributions import Noise
from phexplore.optimize.plan import LevelPlan
from phexplore.simulate.topdown.design import Design, measuring
from phexplore.simulate.topdown.driver import World
from phexplore.spine.tree import GeoTree
from phexplore.workload.queries import detailed_query


def leaves_alone(world: World, total: Fraction, noise: Callable[[Fraction], Noise]) -> World:
    """Return the leaves of a world, each its own root, with all of a budget.

    Args:
        world: of the top-down run; its leaves keep their bounds.
        total: ρ or ε.
        noise: distribution of one answer for a budget.
    """
    design, last = world.design, len(world.tree.levels) - 1
    leaf = design.levels[last]
    spent = leaf.measuring.spent
    budgets = [total * budget / spent for budget in leaf.measuring.budgets]
    plan = LevelPlan(
        leaf.plan.schema,
        leaf.plan.measured,
        (leaf.plan.measured,),
        ((detailed_query(leaf.plan.schema),),),
        leaf.plan.bounded,
    )
    alone = replace(leaf, plan=plan, measurings=(measuring(budgets, noise),))
    remark = "Block by block: all of the budget at the leaves, each estimated alone; nothing holds the totals above."
    return World(
        Design(design.schema, (alone,), (), alone.measuring.spent, design.images, (*design.remarks, remark)),
        GeoTree((world.tree.levels[last],), world.tree.dropped),
        world.truth[last:],
        world.lower[last:],
        world.upper[last:],
        world.classes[last:],
    )
