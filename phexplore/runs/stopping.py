"""When a run may stop early: decided on trials in their order, so that it does not depend on which came first."""

from __future__ import annotations

from collections.abc import Sequence

from phexplore.runs.spec import StopRule


def stopping_trial(shares: Sequence[float], rule: StopRule) -> int | None:
    """Return the smallest number of trials at which the rule is met, None when it is not met by these.

    Args:
        shares: share of numbers within the margin, of trials 0, 1, 2, … without a gap.
        rule: the limit of the error of their mean: standard deviation / √trials.
    """
    total = squares = 0.0
    limit = float(rule.coverage_error) ** 2
    for count, share in enumerate(shares, start=1):
        # Welford's update: the sum of squares around the running mean, without cancellation.
        step = share - total
        total += step / count
        squares += step * (share - total)
        if count >= rule.minimum_trials and squares / (count - 1) / count <= limit:
            return count
    return None
