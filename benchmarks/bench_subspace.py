"""Noise under exact totals: this program's exact projection against the dense one of the paper and a sparse solver's.

    python benchmarks/bench_subspace.py [--cells 4000000] [--json FILE]

Peers, in NumPy and SciPy, all on the same noise: the dense projection Π = I − C⁺C, formed once and applied (the paper's
formula); and C sparse with (C·Cᵀ)⁻¹ by a sparse factorization, formed once. Both are floats: the error of their totals is
shown. Ours is exact: totals are compared as fractions. Wall and processor seconds, medians; drawing is timed apart.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from phexplore.model.subspace import Axis, Totals
from phexplore.noise.distributions import DiscreteGaussian
from phexplore.noise.entropy import SeededEntropy
from phexplore.noise.sampler import sampler_for
from phexplore.workload.subspace.margin_space import MarginSpace, total_blocks

CAMPUS = (Axis("group", 14), Axis("hour", 24), Axis("place", 20))
CAMPUS_TOTALS = (Totals(("hour", "place")), Totals(("group", "place")))
NOISE = DiscreteGaussian(Fraction(64**2))


def timed(work: Callable[[], Any], repeats: int) -> tuple[Any, float, float]:
    """Return the last result and the median wall and processor seconds; one warm-up is not counted."""
    result, walls, cpus = work(), [], []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        result = work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return result, statistics.median(walls), statistics.median(cpus)


def sparse_rows(axes: Sequence[Axis], totals: Sequence[Totals]) -> sparse.csr_matrix:
    """Return C, one row per total, the redundant ones included."""
    blocks, start = [], 0
    for total in totals:
        own = total_blocks(axes, total)
        blocks.append(own + start)
        start += int(own.max()) + 1
    cells = len(blocks[0])
    rows = np.concatenate(blocks)
    return sparse.csr_matrix((np.ones(len(rows)), (rows, np.tile(np.arange(cells), len(totals)))), (start, cells))


def independent(axes: Sequence[Axis], totals: Sequence[Totals], rows: sparse.csr_matrix) -> sparse.csr_matrix:
    """Return rows that span the same space: of a second margin, one row per place is left out (it follows from the first)."""
    space = MarginSpace(axes, totals)
    if space.rank == rows.shape[0]:
        return rows
    first = space.reports[0].rows
    extra = rows.shape[0] - space.rank
    return rows[np.concatenate([np.arange(first), np.arange(first + extra, rows.shape[0])])]


def measure(
    title: str, axes: Sequence[Axis], totals: Sequence[Totals], repeats: int, *, dense: bool
) -> list[dict[str, Any]]:
    """Return the rows of one case."""
    sampler = sampler_for(NOISE)
    space, built, built_cpu = timed(lambda: MarginSpace(axes, totals), repeats)
    noise, drawn, drawn_cpu = timed(
        lambda: np.asarray(sampler.sample(SeededEntropy(1), int(np.prod([axis.size for axis in axes])))), repeats
    )
    exact, applied, applied_cpu = timed(lambda: space.project(noise), repeats)
    broken = space.broken(exact, np.zeros(space.size, dtype=np.int64))
    rows = [
        line(title, "drawing", space.size, 0.0, drawn, 0.0, drawn_cpu, None),
        line(title, "exact averages (ours)", space.size, built, applied, built_cpu, applied_cpu, float(broken)),
    ]
    matrix = sparse_rows(axes, totals)
    reduced = independent(axes, totals, matrix)
    floats = noise.astype(np.float64)

    def factor() -> Any:
        return splu((reduced @ reduced.T).tocsc())

    solver, built, built_cpu = timed(factor, 1)
    found, applied, applied_cpu = timed(lambda: floats - reduced.T @ solver.solve(reduced @ floats), repeats)
    assert np.abs(found - exact.values).max() < 1e-6
    rows.append(
        line(title, "sparse factorization", space.size, built, applied, built_cpu, applied_cpu, off(matrix, found))
    )
    if dense:
        full = reduced.toarray()
        projection, built, built_cpu = timed(lambda: np.eye(space.size) - np.linalg.pinv(full) @ full, 1)
        found, applied, applied_cpu = timed(lambda: projection @ floats, repeats)
        assert np.abs(found - exact.values).max() < 1e-6
        rows.append(
            line(
                title,
                "dense projection (paper)",
                space.size,
                built,
                applied,
                built_cpu,
                applied_cpu,
                off(matrix, found),
            )
        )
    return rows


def off(matrix: sparse.csr_matrix, found: np.ndarray) -> float:
    """Return the largest error of a total that should be 0."""
    return float(np.abs(matrix @ found).max())


def line(
    title: str,
    road: str,
    cells: int,
    built: float,
    applied: float,
    built_cpu: float,
    applied_cpu: float,
    error: float | None,
) -> dict[str, Any]:
    """Return one row."""
    return {
        "case": title,
        "road": road,
        "cells": cells,
        "build_s": built,
        "apply_s": applied,
        "build_cpu_s": built_cpu,
        "apply_cpu_s": applied_cpu,
        "total_off": error,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=4_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    side = max(2, round((arguments.cells / 100) ** 0.5))
    large = (Axis("a", side), Axis("b", side), Axis("c", 100))
    states = (Axis("county", arguments.cells // 1000), Axis("cell", 1000))
    rows = measure("campus, 14 × 24 × 20", CAMPUS, CAMPUS_TOTALS, arguments.repeats, dense=True)
    rows += measure(
        f"two margins, {side} × {side} × 100",
        large,
        (Totals(("a", "b")), Totals(("c",))),
        arguments.repeats,
        dense=False,
    )
    rows += measure("a total per county", states, (Totals(("county",)),), arguments.repeats, dense=False)
    print(f"load {os.getloadavg()[0]:.1f}")
    print(
        f"{'case':34}  {'road':25}  {'cells':>10}  {'build s':>9}  {'apply s':>9}  {'cpu s':>9}  {'totals off by':>13}"
    )
    for row in rows:
        error = "" if row["total_off"] is None else f"{row['total_off']:.1e}" if row["total_off"] else "0 (exact)"
        cells = f"{row['cells']:>10,}"
        print(
            f"{row['case']:34}  {row['road']:25}  {cells}  {row['build_s']:>9.4f}  {row['apply_s']:>9.4f}  "
            f"{row['apply_cpu_s']:>9.4f}  {error:>13}"
        )
    if arguments.json:
        arguments.json.write_text(json.dumps({"load": os.getloadavg(), "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
