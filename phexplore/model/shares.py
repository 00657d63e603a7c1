"""Shares on a simplex: what one takes, the unlocked others give.

The rule of rebalancing: the unlocked shares keep their proportions (equal shares if all are 0) and are rounded to
multiples of one millionth by largest remainder, the largest of them taking what is left, so that the column adds to
exactly 1. Without the rounding a slider dragged 200 steps would multiply denominators 200 times.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import TypeVar

from phexplore.model.edits import EditRefusedError
from phexplore.model.rounded import percent

SHARE_STEP = Fraction(1, 10**6)


Key = TypeVar("Key", bound=Hashable)


def rebalanced(
    shares: Mapping[Key, Fraction], key: Key, share: Fraction, locked: frozenset[Key]
) -> dict[Key, Fraction]:
    """Return the shares with `key` set to `share` and the unlocked others adjusted so that all add to exactly 1.

    Args:
        shares: adding to exactly 1.
        key: whose share it is.
        share: the new one, from 0 to what the locked ones leave.
        locked: keys whose shares stay as they are.

    Raises:
        EditRefusedError: the share is not between 0 and what the locked ones leave, or nothing is left to give or take.
    """
    if key in locked:
        raise EditRefusedError(f"{_name(key)} is locked.", "Unlock it first.")
    held = sum((value for other, value in shares.items() if other in locked), Fraction(0))
    if not 0 <= share <= 1 - held:
        raise EditRefusedError(
            f"A share of {percent(share, places=4)} for {_name(key)} does not fit: locked shares hold {percent(held, places=4)}.",
            f"Enter a share from 0 to {percent(1 - held, places=4)}, or unlock one of the others.",
        )
    free = [other for other in shares if other != key and other not in locked]
    left = 1 - held - share
    if not free:
        if left != 0:
            raise EditRefusedError(
                f"No unlocked share can take the remaining {percent(left, places=4)}.", "Unlock one of the others."
            )
        return {**shares, key: share}
    return {**shares, key: share, **_divided({other: shares[other] for other in free}, left)}


def rebalanced_block(
    shares: Mapping[Key, Fraction], given: Mapping[Key, Fraction], locked: frozenset[Key]
) -> dict[Key, Fraction]:
    """Return the shares with several set at once and the unlocked others adjusted so that all add to exactly 1.

    Locked shares may be given their own value: a block copied from the table goes back into it.

    Args:
        shares: adding to exactly 1.
        given: new share of each key that gets one.
        locked: keys whose shares stay as they are.

    Raises:
        EditRefusedError: a locked share would change, the given ones do not fit, or nothing is left to give or take.
    """
    for key, share in given.items():
        if key in locked and share != shares[key]:
            raise EditRefusedError(f"{_name(key)} is locked.", "Unlock it first.")
        if not 0 <= share <= 1:
            raise EditRefusedError(
                f"The share of {_name(key)} lies between 0 and 1, got {float(share):g}.", "Enter a part of the whole."
            )
    held = sum((value for key, value in shares.items() if key in locked and key not in given), Fraction(0))
    left = 1 - held - sum(given.values(), Fraction(0))
    free = [key for key in shares if key not in given and key not in locked]
    if left < 0:
        raise EditRefusedError(
            f"The shares given and locked add to {percent(1 - left, places=4)}, more than 100 %.", "Make them smaller."
        )
    if not free:
        if left != 0:
            raise EditRefusedError(
                f"The shares given and locked add to {percent(1 - left, places=4)}, and no other share can take the rest.",
                "Give shares that add to exactly 1, or leave one of them open.",
            )
        return {**shares, **given}
    return {**shares, **given, **_divided({key: shares[key] for key in free}, left)}


def largest_share(shares: Mapping[Key, Fraction], key: Key, locked: frozenset[Key]) -> Fraction:
    """Return the largest share `key` can take: what the locked others leave.

    Args:
        shares: adding to exactly 1.
        key: whose share it is.
        locked: keys whose shares stay as they are.
    """
    return 1 - sum((value for other, value in shares.items() if other in locked and other != key), Fraction(0))


def _divided(shares: Mapping[Key, Fraction], total: Fraction) -> dict[Key, Fraction]:
    """Return multiples of the share step in proportion to `shares` that add to `total`; the largest takes the rest."""
    whole = sum(shares.values(), Fraction(0))
    if whole == total:
        return dict(shares)  # a share that is given its own value moves no other
    wanted = {key: total * (value / whole if whole else Fraction(1, len(shares))) for key, value in shares.items()}
    rounded = {key: (value // SHARE_STEP) * SHARE_STEP for key, value in wanted.items()}
    by_remainder = sorted(wanted, key=lambda key: wanted[key] - rounded[key], reverse=True)
    for key in by_remainder:
        if total - sum(rounded.values()) < SHARE_STEP:
            break
        rounded[key] += SHARE_STEP
    largest = max(wanted, key=lambda key: wanted[key])
    rounded[largest] += total - sum(rounded.values())
    return rounded


def _name(key: object) -> str:
    return str(getattr(key, "text", key))
