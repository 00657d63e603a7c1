"""Sentences about mechanisms of group sizes. No Qt."""

from __future__ import annotations

from phexplore.model.group_sizes import SizeMechanism

SIZE_EXPLANATIONS = {
    SizeMechanism.RELAXED: "Noisy numbers of groups of each size; the quadratic program without whole numbers, every value rounded "
    "by itself. Regions need not add up: a run counts the sums that break.",
    SizeMechanism.TREE: "Noisy numbers of groups of each size; the nearest consistent whole numbers, found exactly.",
    SizeMechanism.CUMULATIVE_RELAXED: "Noisy numbers of groups of at most each size; the quadratic program without whole numbers, "
    "rounded. Regions need not add up: a run counts the sums that break.",
    SizeMechanism.CUMULATIVE_TREE: "Noisy numbers of groups of at most each size, made rising region by region, then the nearest "
    "consistent whole numbers. The most accurate consistent one at most settings.",
    SizeMechanism.CHAIN: "Noisy numbers of groups of at most each size, added up along one chain through all regions; the nearest "
    "consistent whole numbers, found exactly. The paper puts noise for one change on the chain, where one individual changes as many "
    "places as a level has regions; the noise here is on the regions' own counts and keeps the budget.",
    SizeMechanism.TOPDOWN: "Noisy numbers of groups of each size; estimated and rounded level by level from the top.",
}


def reach_sentence(cumulative: bool, quantity: int) -> str:
    """Return where the sensitivity of group sizes comes from."""
    if cumulative:
        how = (
            "moves the group from one size to the next and changes one number of groups of at most a size by 1"
            if quantity == 1
            else f"can move the group by {quantity:,} sizes and change as many numbers of groups of at most a size by 1"
        )
        return f"Sensitivity {quantity:,}: an individual more {how}."
    return "Sensitivity 2: an individual more takes the group out of one size and puts it into another; both counts change by 1."
