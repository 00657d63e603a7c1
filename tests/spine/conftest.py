"""Small trees, small geographies, and least squares written out in full: what the recursions are proved against."""

from __future__ import annotations

import itertools
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pytest

from phexplore.data.blocks.source import read_population
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.spine import measuring, top_down
from phexplore.spine.geography import AreaCodes, Geography, geography_of
from phexplore.spine.measuring import noise_variance
from phexplore.spine.tree import GeoTree, TreeLevel, UnitShares
from phexplore.workload.queries import OMITTED, parse_query
from phexplore.workload.schema import Attribute, Recode, Schema


def small_schema():
    """30 cells: an attribute with recodes that overlap, nest and leave levels out, one with a recode, one without."""
    a, b, c = (Attribute(n, n, tuple(f"{n}{i}" for i in range(k))) for n, k in (("a", 5), ("b", 2), ("c", 3)))
    recodes = [
        Recode("a_some", "a", "", ((0,), (1, 2)), ("x", "y")),
        Recode("a_two", "a", "", ((0, 1, 2), (3, 4)), ("x", "y")),
        Recode("c_two", "c", "", ((0, 1), (2,)), ("x", "y")),
    ]
    return Schema("small", "", "person", "", (a, b, c), MappingProxyType({r.name: r for r in recodes}), ())


QUERIES = ("total", "a_some", "a_two * b", "c_two", "a * c", "b * c", "detailed")


@pytest.fixture
def schema(monkeypatch):
    found = small_schema()
    for module in (measuring, top_down):
        monkeypatch.setattr(module, "load_schema", lambda _name: found)
    return found


def random_tree(rng, depth=3, fanout=3, blocks=8):
    """Return a tree whose units have 1 to `fanout` children; deeper levels are cut off so that at most `blocks` leaves are left."""
    sizes = [np.array([int(rng.integers(2, fanout + 1))])]
    while len(sizes) < depth:
        sizes.append(rng.integers(1, fanout + 1, int(sizes[-1].sum())))
        while sizes[-1].sum() > blocks:
            sizes[-1][rng.integers(len(sizes[-1]))] = 1
    return tree_of_fanouts(sizes)


def tree_of_fanouts(sizes, names=None):
    """Return the tree in which unit u of level l has ``sizes[l][u]`` children."""
    names = names or [f"L{n}" for n in range(len(sizes) + 1)]
    first = [np.arange(int(np.sum(sizes[-1])) + 1)]
    for level in reversed(sizes):
        first.append(first[-1][np.concatenate([[0], np.cumsum(level)])])
    first.reverse()
    levels = []
    for number, name in enumerate(names):
        child = np.concatenate([[0], np.cumsum(sizes[number])]).astype(np.int64) if number < len(sizes) else None
        codes = np.array([f"{name}/{u}" for u in range(len(first[number]) - 1)])
        levels.append(TreeLevel(name, codes, first[number].astype(np.int64), child))
    return GeoTree(tuple(levels), ())


def with_shares(tree, shares):
    """Return the tree with one share per unit, given as lists of fractions."""
    values = tuple(dict.fromkeys(itertools.chain.from_iterable(shares)))
    levels = [
        TreeLevel(
            level.name,
            level.codes,
            level.first_block,
            level.first_child,
            UnitShares(values, np.array([values.index(share) for share in own], np.int32)),
        )
        for level, own in zip(tree.levels, shares, strict=True)
    ]
    return GeoTree(tuple(levels), tree.dropped, tree.order)


def random_shares(rng, tree):
    """Return a share between 1/50 and 1 for every unit: siblings differ."""
    return [[Fraction(int(rng.integers(1, 51)), 50) for _ in range(level.units)] for level in tree.levels]


def small_method(tree, rng=None, *, queries=QUERIES, framework=PrivacyFramework.ZCDP, total=Fraction(2), **more):
    """Return parameters over the levels of a tree; query shares random or equal, level shares equal."""
    names = tuple(level.name for level in tree.levels)
    shares = {}
    for name in names:
        weights = [1] * len(queries) if rng is None else [int(w) for w in rng.integers(1, 9, len(queries))]
        for query, weight in zip(queries, weights, strict=True):
            shares[LevelQuery(name, query)] = Fraction(weight, sum(weights))
    level_shares = dict.fromkeys(names, Fraction(1, len(names)))
    return TopDown("small", names, total, level_shares, shares, framework, **more)


class Dense:
    """Least squares over all leaves and cells at once: one matrix, inverted."""

    def __init__(self, tree, method, schema, exact=()):
        """`exact` names (level, unit or tuple of units, query name) whose answers are known."""
        self.tree, self.schema = tree, schema
        self.leaves, self.cells = tree.blocks, schema.cells
        information = np.zeros((self.leaves * self.cells,) * 2)
        for level in tree.levels:
            for unit in range(level.units):
                budget = method.total * level.shares.share(unit)
                if budget == 0:
                    continue
                local = np.zeros((self.cells, self.cells))
                for name in method.queries_at(level.name):
                    share = method.query_shares[LevelQuery(level.name, name)]
                    matrix = self.matrix(name)
                    local += matrix.T @ matrix / noise_variance(method.framework, budget * share)
                where = self.indicator(level, unit)
                information += np.kron(np.outer(where, where), local)
        rows = [
            np.kron(sum(self.indicator(tree.levels[level], unit) for unit in np.atleast_1d(units)), self.matrix(name))
            for level, units, name in exact
        ]
        if rows:
            _, values, right = np.linalg.svd(np.concatenate([np.atleast_2d(row) for row in rows]))
            rank = int((values > 1e-9).sum())
            free = right[rank:].T
            self.covariance = free @ np.linalg.inv(free.T @ information @ free) @ free.T
        else:
            self.covariance = np.linalg.inv(information)

    def indicator(self, level, unit):
        where = np.zeros(self.leaves)
        where[level.first_block[unit] : level.first_block[unit + 1]] = 1
        return where

    def matrix(self, name):
        query = parse_query(self.schema, name)
        answers = query.cell_map()
        matrix = np.zeros((query.answers, self.cells))
        kept = np.flatnonzero(answers != OMITTED)
        matrix[answers[kept], kept] = 1
        return matrix

    def variances(self, where, name):
        """Return the variance of every answer of a query over leaves with weights `where`."""
        rows = np.kron(where, self.matrix(name))
        return ((rows @ self.covariance) * rows).sum(axis=1)


@pytest.fixture
def dense():
    return Dense


@pytest.fixture
def small():
    """The makers of small trees, by name."""

    class Makers:
        random_tree = staticmethod(random_tree)
        tree_of_fanouts = staticmethod(tree_of_fanouts)
        with_shares = staticmethod(with_shares)
        random_shares = staticmethod(random_shares)
        method = staticmethod(small_method)
        queries = QUERIES
        geography = staticmethod(small_geography)

    return Makers


def small_geography(rng, blocks=60, *, states=("44",), aian=True):
    """Return blocks in a few counties and tracts with areas drawn at random, without regard to each other."""
    codes = set()
    while len(codes) < blocks:
        county, tract, block = rng.integers(1, 3), rng.integers(1, 4), rng.integers(1, 5) * 1000 + rng.integers(30)
        codes.add(f"{states[rng.integers(len(states))]}{county:03d}{tract:06d}{block:04d}")
    areas = {}
    for name, many in (("place", 5), ("cousub", 6), ("school_dist", 3)):
        of_block = rng.integers(-1, many, blocks).astype(np.int32)
        areas[name] = AreaCodes(np.array([f"{name}{i}" for i in range(many)]), of_block)
    if aian:
        of_block = np.where(rng.random(blocks) < 0.2, rng.integers(0, 2, blocks), -1).astype(np.int32)
        areas["aiannh"] = AreaCodes(np.array(["2415", "9600"]), of_block)
    return Geography(np.array(sorted(codes)), areas, rng.integers(0, 3, blocks).astype(np.int32))


@pytest.fixture(scope="session")
def rhode_island(real_data):
    """Where the blocks of Rhode Island 2010 lie."""
    return geography_of(read_population(real_data / "blocks" / "pl94_ri_2010_blocks.csv.gz"))
