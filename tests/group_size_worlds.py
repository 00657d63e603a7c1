"""Small random group-size tables, and slow solutions of their programs that share no code with the fast ones."""

from __future__ import annotations

import numpy as np

from phexplore.data.regions.region_tree import tree_of_paths

FAR = 10**15


def random_regions(random, levels, most=3):
    """A hierarchy whose regions have 1 to `most` children each."""
    paths = [()]
    for _ in range(levels - 1):
        paths = [(*path, f"{child:02}") for path in paths for child in range(random.integers(1, most + 1))]
    return tree_of_paths([f"level {number}" for number in range(levels)], paths)


def noisy_levels(random, tree, sizes, mean=3, spread=6):
    """The exact levels of a random table, and the same with whole noise on every value."""
    exact = tree.sums(random.poisson(mean, (tree.leaves, sizes)))
    return exact, [level + random.integers(-spread, spread + 1, level.shape) for level in exact]


def least_cost_of_tree(answers, tree, groups):
    """Least squared distance of consistent whole numbers, by min-plus convolution over all values 0 to G."""
    domain = np.arange(groups + 1)

    def convolve(f, g):
        found = np.full(groups + 1, FAR)
        for value in domain:
            found[value:] = np.minimum(found[value:], f[value] + g[: groups + 1 - value])
        return found

    def costs(level, region, size):
        own = (domain - answers[level][region, size]) ** 2
        if level == len(answers) - 1:
            return own
        first = tree.first_child[level]
        below = None
        for child in range(first[region], first[region + 1]):
            table = costs(level + 1, child, size)
            below = table if below is None else convolve(below, table)
        return own + below

    total = None
    for size in range(answers[0].shape[1]):
        table = costs(0, 0, size)
        total = table if total is None else convolve(total, table)
    return total[groups]


def least_cost_of_chain(chains, weights, tree, sizes, groups):
    """Least weighted squared distance of a monotone chain that all levels agree on, by dynamic programming over 0 to G."""
    domain = np.arange(groups + 1)
    best = np.zeros(groups + 1)
    for size in range(sizes):
        for leaf in range(tree.leaves):
            place = np.zeros(groups + 1)
            node = leaf
            for level in range(len(chains) - 1, -1, -1):
                place = place + weights[level] * (domain - chains[level][size * tree.widths[level] + node]) ** 2
                if level == 0:
                    break
                first = tree.first_child[level - 1]
                parent = int(np.searchsorted(first, node, side="right")) - 1
                if first[parent + 1] - 1 != node:
                    break
                node = parent
            best = np.minimum.accumulate(best) + place
    return best[groups]


def distance(levels, answers):
    """Squared distance over all levels."""
    return sum(int(((a - b) ** 2).sum()) for a, b in zip(levels, answers, strict=True))
