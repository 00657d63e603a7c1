"""The projection as the paper writes it, dense and by another road: the reference for every null space."""

from __future__ import annotations

import numpy as np

from phexplore.workload.subspace.releases import expand


def dense_matrix(axes, totals):
    """Return C with one row per total."""
    rows = [row for total in totals for row in expand(axes, total)]
    matrix = np.zeros((len(rows), int(np.prod([axis.size for axis in axes]))))
    for number, row in enumerate(rows):
        for cell, weight in row.coefficients:
            matrix[number, cell] = float(weight)
    return matrix


def dense_projection(matrix):
    """Return Π_N = I − C⁺C."""
    return np.eye(matrix.shape[1]) - np.linalg.pinv(matrix) @ matrix


def pair_sensitivity(projection):
    """Return max |Π_N(e_y − e_z)|² over all pairs."""
    own = np.diag(projection)
    return (own[:, None] + own[None, :] - 2 * projection).max()
