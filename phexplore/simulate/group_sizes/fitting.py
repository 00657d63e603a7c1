"""From noisy answers to group sizes: the post-processing of every mechanism. Nothing here sees the exact counts, but G."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from phexplore.data.regions.region_tree import RegionTree
from phexplore.simulate.group_sizes.measuring import differences
from phexplore.simulate.group_sizes.size_tree import SizeTree, region_nodes

Ints = NDArray[np.int64]

LARGEST_ANSWER = 1 << 40
"""Bound of the size of answers, so that sums of a whole tree stay inside an int64."""

TOLERANCE = 0.05
"""How far monotone and consistent values may differ when the relaxed cumulative program ends; a quarter of them rounds alike."""

_PENALTY = 8.0
_MOST_STEPS = 600


def _require_room(answers: Sequence[Ints], groups: int) -> None:
    if groups < 0 or groups > LARGEST_ANSWER or any(len(a) and np.abs(a).max() > LARGEST_ANSWER for a in answers):
        raise ValueError(f"answers and the number of groups are at most {LARGEST_ANSWER:,}")


def fit_exactly(answers: Sequence[Ints], tree: SizeTree, groups: int) -> list[Ints]:
    """Return the consistent whole numbers of at least 0 nearest to noisy sizes (Model 1), exactly.

    Args:
        answers: ``int64[regions, N]`` per level.
        tree: of these regions and sizes.
        groups: G.
    """
    from phexplore.simulate.group_sizes.tree_kernel import fit_tree  # noqa: PLC0415 - numba takes half a second to load

    _require_room(answers, groups)
    out = np.empty(int(tree.first[-1]), np.int64)
    fit_tree(tree.flattened(answers), tree.first, groups, out)
    return tree.unflattened(out)


def fit_level_by_level(answers: Sequence[Ints], tree: SizeTree, groups: int) -> list[Ints]:
    """Return sizes fixed from the top: each level nearest to its answers, given the level above (section 10).

    Least squares over two levels and rounding that keeps the sums are one step here: with whole answers and one sum
    for every parent and size, the nearest whole numbers are the rounded real optimum. Arguments as in `fit_exactly`.
    """
    from phexplore.simulate.group_sizes.tree_kernel import fit_from_top  # noqa: PLC0415 - as above

    _require_room(answers, groups)
    out = np.empty(int(tree.first[-1]), np.int64)
    fit_from_top(tree.flattened(answers), tree.first, groups, out)
    return tree.unflattened(out)


def fit_relaxed(answers: Sequence[Ints], tree: SizeTree, groups: int) -> list[Ints]:
    """Return the real optimum of Model 1, every value rounded by itself: sums need not hold.

    Arguments as in `fit_exactly`.
    """
    from phexplore.simulate.group_sizes.relaxed_kernel import fit_relaxed_tree  # noqa: PLC0415 - as above

    _require_room(answers, groups)
    out = np.empty(int(tree.first[-1]))
    fit_relaxed_tree(tree.flattened(answers, np.float64), tree.first, float(groups), out)
    return tree.unflattened(np.floor(out + 0.5).astype(np.int64))


def fit_relaxed_cumulative_sizes(answers: Sequence[Ints], tree: RegionTree, groups: int) -> list[Ints]:
    """Return the real optimum of Model 2 to within `TOLERANCE`, every cumulative value rounded by itself, as sizes.

    Args:
        answers: ``answers[regions, N]`` per level, noisy cumulative sizes.
        tree: of these regions.
        groups: G, the exact number of groups.
    """
    from phexplore.simulate.group_sizes.relaxed_kernel import fit_relaxed_cumulative  # noqa: PLC0415 - as above

    _require_room(answers, groups)
    given = np.concatenate(answers).astype(np.float64)
    out = np.empty_like(given)
    fit_relaxed_cumulative(given, region_nodes(tree), float(groups), _PENALTY, TOLERANCE, _MOST_STEPS, out)
    # What is left of the tolerance must not become a negative number of groups.
    rounded = np.maximum.accumulate(np.maximum(np.floor(out + 0.5), 0.0), axis=1).astype(np.int64)
    ends = np.cumsum(tree.widths)[:-1]
    return np.split(differences(rounded), ends)


def fit_region_by_region(answers: Sequence[Ints], tree: SizeTree, groups: int) -> list[Ints]:
    """Return sizes from noisy cumulative sizes by Algorithm 2: each region made monotone by itself, then `fit_exactly`.

    Args:
        answers: ``answers[regions, N]`` per level, noisy cumulative sizes.
        tree: of these regions and sizes.
        groups: G, the exact number of groups.
    """
    from phexplore.simulate.group_sizes.chain_kernel import fit_rows  # noqa: PLC0415 - as above

    _require_room(answers, groups)
    monotone = []
    for level in answers:
        out = np.empty_like(level)
        fit_rows(np.ascontiguousarray(level), 0, LARGEST_ANSWER, out)
        monotone.append(differences(out))
    return fit_exactly(monotone, tree, groups)


def fit_chain(chains: Sequence[Ints], tree: RegionTree, sizes: int, groups: int, weights: Sequence[int]) -> list[Ints]:
    """Return sizes from noisy chains (Model 3), exactly: monotone, equal between levels, the last value G.

    A region's last region of the lowest level ends where it ends itself: every level's chain is a selection of the
    lowest one, so the program is one weighted isotonic regression.

    Args:
        chains: ``int64[N regions]`` per level.
        tree: the regions.
        sizes: N.
        groups: G.
        weights: of the squared distances per level, positive; the paper's are 1.

    Raises:
        ValueError: numbers too large for exact arithmetic.
    """
    from phexplore.simulate.group_sizes.chain_kernel import fit_monotone, unchain  # noqa: PLC0415 - as above

    _require_room(chains, groups)
    leaves = tree.leaves
    together = sum(weight * width for weight, width in zip(weights, tree.widths, strict=True)) * sizes
    if together >= 1 << 31 or 4 * together * (groups + 1) >= 1 << 62:
        raise ValueError(
            f"a chain of {sizes * leaves:,} places with weights {tuple(weights)} is too long for exact sums"
        )
    total, weight = weights[-1] * chains[-1], np.full(sizes * leaves, weights[-1], np.int64)
    last = np.arange(leaves)
    for level in range(len(chains) - 2, -1, -1):
        last = last[tree.first_child[level][1:] - 1]
        places = (leaves * np.arange(sizes)[:, None] + last).ravel()
        total[places] += weights[level] * chains[level]
        weight[places] += weights[level]
    out = np.empty_like(total)
    out[-1] = groups
    if len(out) > 1:
        fit_monotone(total[:-1], weight[:-1], 0, groups, out[:-1])
    lowest = np.empty((leaves, sizes), np.int64)
    unchain(out, lowest)
    return tree.sums(lowest)
