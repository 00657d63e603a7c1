"""What a cap allows: the largest sum of budgets that keeps it.

PHSafe's bounded loss is twice the unbounded one (PHSafe paper, section 5.3).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from phexplore.accounting.zcdp import rho_for_epsilon
from phexplore.model.conventions import Conversion, Neighbours
from phexplore.model.goals import Cap, CapOn
from phexplore.model.phsafe import PrivacyFramework


@lru_cache(maxsize=256)
def cap_total(cap: Cap, framework: PrivacyFramework, *, doubles: bool = True) -> Fraction:
    """Return the largest sum of budgets that keeps the cap; for ε rounded down at 1e-13.

    Args:
        cap: on ρ, bounded ρ or ε; one on a proven ε allows at least this (`proven_caps`).
        framework: of the budgets.
        doubles: the bounded loss is twice the sum (PHSafe); else the sum is under replaced records (TopDown).
    """
    match cap.on:
        case CapOn.UNBOUNDED:
            return cap.limit
        case CapOn.BOUNDED:
            return cap.limit / 2 if doubles else cap.limit
        case CapOn.EPSILON | CapOn.PROVEN:
            if framework is PrivacyFramework.ZCDP:
                # Of a proven ε: what keeps it for any noise of that ρ.
                conversion = cap.conversion if cap.on is CapOn.EPSILON else Conversion.ZCDP_OPTIMAL_ALPHA
                rho = rho_for_epsilon(cap.limit, cap.delta, conversion)
            else:
                rho = cap.limit
            return rho / 2 if doubles and cap.neighbours is Neighbours.BOUNDED else rho
