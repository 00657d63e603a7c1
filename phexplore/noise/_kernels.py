"""Compiled loops of `sampler` (Devroye 1986, chapter III). Imported with the first sample: numba takes a while to load."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phexplore.compiled import kernel

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

UNDECIDED = np.int16(-32768)
"""Look-up entry of a 16-bit prefix that some threshold shares."""


@kernel
def look_up(
    prefixes: NDArray[np.uint16], table: NDArray[np.int16], out: NDArray[Any], pending: NDArray[np.int32]
) -> int:
    """Write the outcome of each 16-bit prefix; list the samples it does not decide. Return how many these are.

    Args:
        prefixes: ``prefixes[n]``, the first 16 digits of U per sample.
        table: ``table[65536]``, the outcome of each prefix, or `UNDECIDED`.
        out: ``out[n]``, receives the outcomes.
        pending: ``pending[n]``, receives the indices of undecided samples.
    """
    count = 0
    for i in range(prefixes.size):
        outcome = table[prefixes[i]]
        out[i] = outcome
        # Written always, kept only if undecided: no branch to mispredict.
        pending[count] = i
        count += outcome == UNDECIDED
    return count


@kernel
def search(  # noqa: PLR0913, PLR0917 - compiled code takes its arrays one by one
    pending: NDArray[np.int32],
    prefixes: NDArray[np.uint16],
    words: NDArray[np.uint64],
    thresholds: NDArray[np.uint64],
    guide: NDArray[np.int64],
    bits: int,
    two_sided: bool,  # noqa: FBT001 - compiled code knows positional arguments only
    out: NDArray[Any],
    ties: NDArray[np.int64],
) -> int:
    """Decide the pending places by `bits` digits of U; list those that equal a threshold. Return how many.

    Args:
        pending: ``pending[k]``, indices of the samples to decide.
        prefixes: ``prefixes[n]``, the first 16 digits of U per sample.
        words: ``words[k]``, the digits that follow, per pending sample; the last 80 - bits of them are not used.
        thresholds: as `tables.thresholds`.
        guide: how many thresholds have a smaller 16-bit prefix, for each prefix and one more.
        bits: 17 to 64.
        two_sided: order of the outcomes, as in `tables.Law`.
        out: ``out[n]``, receives the outcomes.
        ties: ``ties[k, 3]``, receives the sample, the threshold and the word of each tie.
    """
    ahead = np.uint64(bits - 16)
    drop = np.uint64(80 - bits)
    count = 0
    for k in range(pending.size):
        place = pending[k]
        prefix = prefixes[place]
        digits = (np.uint64(prefix) << ahead) | (words[k] >> drop)
        low = guide[prefix]
        high = guide[np.int64(prefix) + 1]
        while low < high:
            middle = (low + high) >> 1
            if thresholds[middle] < digits:
                low = middle + 1
            else:
                high = middle
        if low < thresholds.size and thresholds[low] == digits:
            ties[count, 0] = place
            ties[count, 1] = low
            ties[count, 2] = k
            count += 1
        elif two_sided:
            out[place] = (low + 1) >> 1 if low & 1 else -(low >> 1)
        else:
            out[place] = low
    return count


@kernel
def spread(
    blocks: NDArray[np.int32],
    words: NDArray[np.uint64],
    shift: int,
    quadratic: float,
    linear: float,
    out: NDArray[np.int64],
    pending: NDArray[np.int64],
    ties: NDArray[np.int64],
) -> tuple[int, int]:
    """Draw a place inside each block of 2^shift outcomes and a sign; accept with the weight relative to the block's.

    Args:
        blocks: ``blocks[n]``, one-sided block numbers k; the outcome is ±(k 2^shift + v).
        words: ``words[n]``, 64 random bits each: v, the sign, and the digits of a uniform number for acceptance.
        shift: binary logarithm of the block size.
        quadratic: A of the law, as a float.
        linear: C of the law, as a float.
        out: ``out[n]``, receives the outcomes of accepted proposals.
        pending: ``pending[n]``, receives the indices of rejected proposals.
        ties: ``ties[n]``, receives the indices where floats do not decide; `out` holds the proposal.

    Returns:
        The number of rejected and of undecided places.
    """
    size = np.float64(np.uint64(1) << np.uint64(shift))
    mask = (np.uint64(1) << np.uint64(shift)) - np.uint64(1)
    digit_count = 63 - shift
    unit = 1.0 / np.float64(np.uint64(1) << np.uint64(digit_count))
    rejected = 0
    undecided = 0
    for i in range(blocks.size):
        word = words[i]
        offset = np.int64(word & mask)
        negative = (word >> np.uint64(shift)) & np.uint64(1)
        digits = np.float64(word >> np.uint64(shift + 1)) * unit
        start = np.float64(blocks[i]) * size
        inside = np.float64(offset)
        decay = quadratic * inside * (2.0 * start + inside) + linear * inside
        magnitude = (np.int64(blocks[i]) << np.int64(shift)) + offset
        out[i] = -magnitude if negative else magnitude
        # Rounding of decay and of exp stays below 1e-14 (1 + decay) relative; the digits are known to one unit.
        guard = unit + 1e-13
        if digits + guard < 1.0 - decay:
            accepted = True
            sure = True
        else:
            chance = np.exp(-decay)
            accepted = digits + guard < chance
            sure = accepted or digits - guard > chance
        if magnitude == 0 and negative:
            # 0 has one sign only.
            pending[rejected] = i
            rejected += 1
        elif not sure:
            ties[undecided] = i
            undecided += 1
        elif not accepted:
            pending[rejected] = i
            rejected += 1
    return rejected, undecided
