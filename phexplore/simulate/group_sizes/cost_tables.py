"""The paper's dynamic program over cost tables (section 7, Algorithm 1): the reference of the fast exact solution.

Every node has a table of the least cost of its subtree for each value 0 to G. Tables are convex, so a parent's best
division of its value takes its children's steps in the order of their costs: the steps of all children are merged,
sorted. Time and memory grow with nodes times G; `tree_kernel` gives the same cost without tables.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from phexplore.simulate.group_sizes.size_tree import SizeTree

Ints = NDArray[np.int64]


def fit_by_tables(answers: Sequence[Ints], tree: SizeTree, groups: int) -> list[Ints]:
    """Return the consistent whole numbers of at least 0 nearest to noisy sizes; arguments as in `fit_exactly`."""
    flat, first = tree.flattened(answers), tree.first
    inner = len(first) - 1
    domain = np.arange(groups + 1)
    steps: list[Ints] = [np.empty(0, np.int64)] * len(flat)
    owners: list[Ints] = [np.empty(0, np.int64)] * inner
    for node in range(len(flat) - 1, -1, -1):
        own = np.diff((domain - flat[node]) ** 2) if node else np.zeros(groups, np.int64)
        if node >= inner:
            steps[node] = own
            continue
        children = range(first[node], first[node + 1])
        merged = np.concatenate([steps[child] for child in children])
        order = np.argsort(merged, kind="stable")[:groups]
        owners[node] = np.repeat(np.arange(len(children)), groups)[order]
        steps[node] = own + merged[order]
    out = np.zeros(len(flat), np.int64)
    out[0] = groups
    for node in range(inner):
        taken = owners[node][: out[node]]
        out[first[node] : first[node + 1]] = np.bincount(taken, minlength=int(first[node + 1] - first[node]))
    return tree.unflattened(out)
