"""Least squares of one family against an interior point method, on a family that is hard to solve."""

from __future__ import annotations

from pathlib import Path

import clarabel
import numpy as np
import pytest
from scipy import sparse

from phexplore.simulate.outer_passes import fit_kernels

STUCK = Path(__file__).parent / "stuck_family.npz"
"""A group of invented blocks of Rhode Island: 327 numbers, most of them 0, that Newton's full steps overshoot time and again."""


def test_a_family_whose_newton_steps_are_cut_short_is_solved():
    with np.load(STUCK, allow_pickle=False) as held:
        weight, measured, soft, target = (held[name] for name in ("weight", "measured", "soft", "target"))
        rows = held["rows"].astype(np.int32)
    numbers, count = len(weight), len(target)
    x = np.zeros(numbers)
    left = fit_kernels.fit(weight, measured, rows, soft, target, 2, 2e-7, x)
    assert left <= 2e-7
    used = rows >= 0
    sums = sparse.coo_array(
        (np.ones(used.sum()), (rows[used], np.broadcast_to(np.arange(numbers), rows.shape)[used])),
        shape=(count, numbers),
    ).tocsr()
    hard = soft == 0
    assert np.abs(sums[hard] @ x - target[hard]).max() <= 2e-7
    force = sparse.diags_array(1 / soft[~hard])
    hessian = sparse.diags_array(weight) + sums[~hard].T @ force @ sums[~hard]
    linear = -weight * measured - sums[~hard].T @ force @ target[~hard]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    solver = clarabel.DefaultSolver(
        sparse.triu(hessian).tocsc(),
        linear,
        sparse.vstack([sums[hard], -sparse.eye_array(numbers)]).tocsc(),
        np.concatenate([target[hard], np.zeros(numbers)]),
        [clarabel.ZeroConeT(int(hard.sum())), clarabel.NonnegativeConeT(numbers)],
        settings,
    )
    assert x == pytest.approx(np.array(solver.solve().x), abs=1e-4)
