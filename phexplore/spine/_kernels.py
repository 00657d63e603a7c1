"""Compiled recursions over classes and representatives. Imported when the first variance is asked for.

They carry out `variance` and `top_down` (spines paper, equations 18 and 19; TopDown paper, section 7).

Every block of the histogram is a problem of its own: small matrices in a basis whose first k coordinates are the
exactly known ones. P is the covariance of a node's histogram by what is measured in it and below; O the precision of
what is known from outside; X = O + H with the node's own information H. Up: P = (I + S H)⁻¹ S with S the sum of the
children's P (a leaf: H⁻¹), then conditioned on what is exact. Down: O = (I + X S')⁻¹ X with S' the sum of the siblings'
P. Result: (I + P O)⁻¹ P. These forms need no inverse of a P that exact counts have made singular, and nothing is
subtracted from a sum that contains it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phexplore.compiled import float_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


@float_kernel
def solve(matrix: Floats, right: Floats, size: int) -> None:
    """Replace `right` by matrix⁻¹ right, by Gaussian elimination with row pivots.

    Args:
        matrix: ``matrix[>= size, >= size]``, invertible; destroyed.
        right: ``right[>= size, >= size]``, receives the solution.
        size: edge of the system.
    """
    if size == 1:
        right[0, 0] /= matrix[0, 0]
        return
    for k in range(size):
        pivot = k
        for i in range(k + 1, size):
            if abs(matrix[i, k]) > abs(matrix[pivot, k]):
                pivot = i
        if pivot != k:
            for j in range(size):
                matrix[k, j], matrix[pivot, j] = matrix[pivot, j], matrix[k, j]
                right[k, j], right[pivot, j] = right[pivot, j], right[k, j]
        inverse = 1.0 / matrix[k, k]
        for i in range(k + 1, size):
            factor = matrix[i, k] * inverse
            if factor != 0.0:
                for j in range(k + 1, size):
                    matrix[i, j] -= factor * matrix[k, j]
                for j in range(size):
                    right[i, j] -= factor * right[k, j]
    for k in range(size - 1, -1, -1):
        inverse = 1.0 / matrix[k, k]
        for i in range(k + 1, size):
            factor = matrix[k, i]
            if factor != 0.0:
                for j in range(size):
                    right[k, j] -= factor * right[i, j]
        for j in range(size):
            right[k, j] *= inverse


@float_kernel
def one_plus_product(left: Floats, right: Floats, out: Floats, size: int) -> None:
    """Write I + left right.

    Args:
        left: ``left[>= size, >= size]``.
        right: ``right[>= size, >= size]``.
        out: ``out[>= size, >= size]``, receives the result; not one of the factors.
        size: edge of the product.
    """
    for i in range(size):
        for j in range(size):
            out[i, j] = 0.0
        out[i, i] = 1.0
        for k in range(size):
            factor = left[i, k]
            if factor != 0.0:
                for j in range(size):
                    out[i, j] += factor * right[k, j]


@float_kernel
def clear(out: Floats, size: int) -> None:
    """Fill a matrix with zeros.

    Args:
        out: ``out[>= size, >= size]``.
        size: edge of the part to fill.
    """
    for i in range(size):
        for j in range(size):
            out[i, j] = 0.0


@float_kernel
def add(out: Floats, factor: float, matrix: Floats, size: int) -> None:
    """Add a multiple of a matrix.

    Args:
        out: ``out[>= size, >= size]``, receives the sum.
        factor: of the matrix added.
        matrix: ``matrix[>= size, >= size]``.
        size: edge of the part to add.
    """
    for i in range(size):
        for j in range(size):
            out[i, j] += factor * matrix[i, j]


@float_kernel
def copy_from(source: Floats, offset: int, out: Floats, size: int) -> None:
    """Write the part of a matrix from `offset` on, made symmetric.

    Args:
        source: ``source[>= offset + size, >= offset + size]``.
        offset: first row and column of the part.
        out: ``out[>= size, >= size]``, receives the part.
        size: edge of the part.
    """
    for i in range(size):
        for j in range(size):
            out[i, j] = 0.5 * (source[offset + i, offset + j] + source[offset + j, offset + i])


@float_kernel
def condition(matrix: Floats, first: int, last: int, size: int, work: Floats, other: Floats) -> None:
    """Condition a covariance on its coordinates ``first:last`` being known; those before `first` are zero already.

    Args:
        matrix: ``matrix[size, size]``, covariance; changed in place.
        first: first coordinate that becomes known.
        last: one past the last such coordinate.
        size: edge of the covariance.
        work: ``work[>= last - first, >= last - first]``, scratch.
        other: scratch of the same shape.
    """
    known = last - first
    if known <= 0:
        return
    for i in range(known):
        for j in range(known):
            work[i, j] = matrix[first + i, first + j]
    rest = size - last
    # Columns of the right side: covariances of the known coordinates with the rest.
    for start in range(0, rest, known):
        width = min(known, rest - start)
        for i in range(known):
            for j in range(known):
                work[i, j] = matrix[first + i, first + j]
                other[i, j] = matrix[first + i, last + start + j] if j < width else 0.0
        solve(work, other, known)
        for i in range(rest):
            for j in range(width):
                value = 0.0
                for k in range(known):
                    value += matrix[last + i, first + k] * other[k, j]
                matrix[last + i, last + start + j] -= value
    for i in range(last):
        for j in range(size):
            matrix[i, j] = 0.0
            matrix[j, i] = 0.0


@float_kernel
def sweep_up(
    measure: Ints,
    child_start: Ints,
    child_class: Ints,
    child_count: Ints,
    own_known: Ints,
    information: Floats,
    size: int,
    covariance: Floats,
    known: Ints,
    informed: NDArray[np.bool_],
) -> int:
    """Fill P of every class. Return -1, or the class whose own measurement must determine it and does not.

    Args:
        measure: ``int64[classes]``.
        child_start: rows of a class's children, as in `Structure`.
        child_class: as above.
        child_count: as above.
        own_known: ``int64[measures]``, coordinates known at a node so measured.
        information: ``float64[measures, size, size]``, H.
        size: rows of the block.
        covariance: ``float64[classes, size, size]``, receives P.
        known: ``int64[classes]``, receives how many coordinates are known from below.
        informed: ``bool[classes]``, receives whether P is finite.
    """
    a, b, s = np.empty((size, size)), np.empty((size, size)), np.empty((size, size))
    for c in range(len(measure)):
        h = information[measure[c]]
        rank = own_known[measure[c]]
        first, last = child_start[c], child_start[c + 1]
        below = size
        complete = first < last
        for row in range(first, last):
            below = min(below, known[child_class[row]])
            complete = complete and informed[child_class[row]]
        if first == last:
            below = 0
        p = covariance[c]
        clear(p, size)
        if complete:
            clear(s, size)
            for row in range(first, last):
                add(s, float(child_count[row]), covariance[child_class[row]], size)
            one_plus_product(s, h, a, size)
            clear(b, size)
            add(b, 1.0, s, size)
            solve(a, b, size)
            copy_from(b, below * 0, p, size)
            for i in range(below):
                for j in range(size):
                    p[i, j] = 0.0
                    p[j, i] = 0.0
            condition(p, below, rank, size, a, b)
            known[c] = max(below, rank)
            informed[c] = True
            continue
        k = max(below, rank)
        known[c] = k
        rest = size - k
        measured = False
        for i in range(k, size):
            if h[i, i] > 0.0:
                measured = True
        informed[c] = rest == 0 or measured
        if rest == 0 or not measured:
            continue
        for i in range(rest):
            for j in range(rest):
                a[i, j] = h[k + i, k + j]
                b[i, j] = 1.0 if i == j else 0.0
        scale = 0.0
        for i in range(rest):
            scale = max(scale, a[i, i])
        for i in range(rest):
            if a[i, i] <= 1e-14 * scale:
                return c
        solve(a, b, rest)
        for i in range(rest):
            if not 0.0 < b[i, i] < 1e13 / scale:
                return c
            for j in range(rest):
                p[k + i, k + j] = 0.5 * (b[i, j] + b[j, i])
    return -1


@float_kernel
def sweep_down(
    measure: Ints,
    child_start: Ints,
    child_class: Ints,
    child_count: Ints,
    own_known: Ints,
    information: Floats,
    size: int,
    covariance: Floats,
    known: Ints,
    informed: NDArray[np.bool_],
    rep_class: Ints,
    rep_first: Ints,
    result: Floats,
    finite: NDArray[np.bool_],
    outside: Floats,
    rep_known: Ints,
) -> int:
    """Fill the covariance of every representative. Return -1, or a representative that cannot be worked out.

    Args:
        measure: as in `sweep_up`, like the next nine.
        child_start: as above.
        child_class: as above.
        child_count: as above.
        own_known: as above.
        information: as above.
        size: as above.
        covariance: as above.
        known: as above.
        informed: as above.
        rep_class: as in `Structure`.
        rep_first: as above.
        result: ``float64[representatives, size, size]``, receives the covariance given everything.
        finite: ``bool[representatives]``, receives whether it is.
        outside: ``float64[representatives, size, size]``, work space: O.
        rep_known: ``int64[representatives]``, work space: coordinates known from outside.
    """
    a, b, x = np.empty((size, size)), np.empty((size, size)), np.empty((size, size))
    others, inverse = np.empty((size, size)), np.empty((size, size))
    most = 1
    for c in range(len(measure)):
        most = max(most, child_start[c + 1] - child_start[c])
    after = np.zeros((most + 1, size, size))
    before = np.zeros((size, size))
    clear(outside[0], size)
    rep_known[0] = 0
    for rep in range(len(rep_class)):
        c = rep_class[rep]
        # The covariance of this one.
        k = max(rep_known[rep], known[c])
        rest = size - k
        f = result[rep]
        clear(f, size)
        finite[rep] = informed[c] or rest == 0
        if informed[c] and rest > 0:
            clear(x, size)
            add(x, 1.0, covariance[c], size)
            condition(x, known[c], k, size, a, b)
            copy_from(x, k, others, rest)
            for i in range(rest):
                for j in range(rest):
                    inverse[i, j] = outside[rep, k + i, k + j]
            one_plus_product(others, inverse, a, rest)
            solve(a, others, rest)
            for i in range(rest):
                for j in range(rest):
                    f[k + i, k + j] = 0.5 * (others[i, j] + others[j, i])
        first, last = child_start[c], child_start[c + 1]
        if first == last:
            continue
        # What the children learn through it.
        k = max(rep_known[rep], own_known[measure[c]])
        h = information[measure[c]]
        rows = last - first
        clear(after[rows], size)
        # Of the children: fewest known coordinates and how many children have so few, the next fewest, undetermined ones.
        fewest, how_many, next_fewest, undetermined = size + 1, 0, size + 1, 0
        for row in range(rows - 1, -1, -1):
            count = child_count[first + row]
            child_kind = child_class[first + row]
            clear(after[row], size)
            add(after[row], 1.0, after[row + 1], size)
            add(after[row], float(count), covariance[child_kind], size)
            if not informed[child_kind]:
                undetermined += count
            if known[child_kind] < fewest:
                fewest, how_many, next_fewest = known[child_kind], count, fewest
            elif known[child_kind] == fewest:
                how_many += count
            else:
                next_fewest = min(next_fewest, known[child_kind])
        clear(before, size)
        for row in range(rows):
            me = child_class[first + row]
            count = child_count[first + row]
            siblings = next_fewest if known[me] == fewest and how_many == 1 else fewest
            siblings = min(siblings, size)
            complete = undetermined == (0 if informed[me] else 1)
            target = rep_first[rep] + row
            start = min(k, siblings)
            rep_known[target] = start
            o = outside[target]
            clear(o, size)
            if not complete:
                # Nothing gets past a sibling that is not determined, but for what is exact of it.
                if siblings > start and known[me] < siblings:
                    return int(target)
            elif start < size:
                n = size - start
                for i in range(n):
                    for j in range(n):
                        others[i, j] = (
                            before[start + i, start + j]
                            + after[row + 1, start + i, start + j]
                            + (count - 1) * covariance[me, start + i, start + j]
                        )
                        x[i, j] = outside[rep, start + i, start + j] + h[start + i, start + j]
                # Rows of known coordinates say S' O = I, the others (I + X S') O = X: nothing infinite is written down.
                free = k - start
                for i in range(n):
                    for j in range(n):
                        a[i, j] = 0.0
                        b[i, j] = 0.0
                    if i < free:
                        b[i, i] = 1.0
                        for j in range(n):
                            a[i, j] = others[i, j]
                    else:
                        a[i, i] = 1.0
                        for each in range(free, n):
                            b[i, each] = x[i, each]
                            for j in range(n):
                                a[i, j] += x[i, each] * others[each, j]
                solve(a, b, n)
                for i in range(n):
                    for j in range(n):
                        o[start + i, start + j] = 0.5 * (b[i, j] + b[j, i])
            add(before, float(count), covariance[me], size)
    return -1


@float_kernel
def invert(matrix: Floats, size: int, factor: Floats) -> None:
    """Replace positive definite matrices by their inverses (Gauss-Jordan).

    Args:
        matrix: ``float64[size, size, blocks]``, one matrix per block; the blocks run together through vector registers.
        size: rows.
        factor: ``float64[blocks]``, work space.
    """
    blocks = matrix.shape[2]
    for k in range(size):
        for n in range(blocks):
            matrix[k, k, n] = 1.0 / matrix[k, k, n]
        for j in range(size):
            if j != k:
                for n in range(blocks):
                    matrix[k, j, n] *= matrix[k, k, n]
        for i in range(size):
            if i == k:
                continue
            for n in range(blocks):
                factor[n] = matrix[i, k, n]
            for j in range(size):
                if j != k:
                    for n in range(blocks):
                        matrix[i, j, n] -= factor[n] * matrix[k, j, n]
            for n in range(blocks):
                matrix[i, k, n] = -factor[n] * matrix[k, k, n]


@float_kernel
def multiply(left: Floats, right: Floats, out: Floats, size: int) -> None:
    """Write the products of many pairs of matrices.

    Args:
        left: ``left[size, size, blocks]``.
        right: ``right[size, size, blocks]``.
        out: ``out[size, size, blocks]``, receives the products; not one of the factors.
        size: edge of the matrices.
    """
    blocks = left.shape[2]
    for i in range(size):
        for j in range(size):
            for n in range(blocks):
                out[i, j, n] = 0.0
            for k in range(size):
                for n in range(blocks):
                    out[i, j, n] += left[i, k, n] * right[k, j, n]


@float_kernel
def sweep_together(
    measure: Ints,
    child_start: Ints,
    child_class: Ints,
    child_count: Ints,
    information: Floats,
    rep_class: Ints,
    rep_first: Ints,
    size: int,
    covariance: Floats,
    result: Floats,
    above: Floats,
) -> None:
    """Do both sweeps for several blocks of one size, without exact counts, root and leaves being measured in full.

    With A the covariance of a parent's histogram by all that is outside it and measured in it, and C = A + S' that of a
    child by all that is outside it, the child's covariance is P (P + C)⁻¹ C: P + C is the same for all children, and a
    leaf needs no inverse.

    Args:
        measure: as in `sweep_up`.
        child_start: as above.
        child_class: as above.
        child_count: as above.
        information: ``float64[measures, size, size, blocks]``, H.
        rep_class: as in `sweep_down`.
        rep_first: as above.
        size: rows of each block.
        covariance: ``float64[classes, size, size, blocks]``, receives P.
        result: ``float64[representatives, size, size, blocks]``, receives the covariances given everything.
        above: ``float64[representatives, size, size, blocks]``, work space: A.
    """
    blocks = information.shape[3]
    factor = np.empty(blocks)
    width = size * size * blocks
    most = 1
    for c in range(len(measure)):
        most = max(most, child_start[c + 1] - child_start[c])
        first, last = child_start[c], child_start[c + 1]
        p, h = covariance[c].reshape(width), information[measure[c]].reshape(width)
        for e in range(width):
            p[e] = 0.0
        for row in range(first, last):
            count = float(child_count[row])
            child = covariance[child_class[row]].reshape(width)
            for e in range(width):
                p[e] += count * child[e]
        if first < last:
            invert(covariance[c], size, factor)
        for e in range(width):
            p[e] += h[e]
        invert(covariance[c], size, factor)
    after = np.zeros((most + 1, width))
    before, joint = np.empty(width), np.empty((size, size, blocks))
    outer, product = np.empty((size, size, blocks)), np.empty((size, size, blocks))
    root = rep_class[0]
    result[0] = covariance[root]
    above[0] = information[measure[root]]
    invert(above[0], size, factor)
    for rep in range(len(rep_class)):
        c = rep_class[rep]
        first, rows = child_start[c], child_start[c + 1] - child_start[c]
        if rows == 0:
            continue
        a = above[rep].reshape(width)
        for e in range(width):
            after[rows, e] = 0.0
            before[e] = 0.0
        for row in range(rows - 1, -1, -1):
            count = float(child_count[first + row])
            child = covariance[child_class[first + row]].reshape(width)
            for e in range(width):
                after[row, e] = after[row + 1, e] + count * child[e]
        flat = joint.reshape(width)
        for e in range(width):
            flat[e] = a[e] + after[0, e]
        invert(joint, size, factor)
        for row in range(rows):
            me, target = child_class[first + row], rep_first[rep] + row
            count = float(child_count[first + row])
            child, out = covariance[me].reshape(width), outer.reshape(width)
            for e in range(width):
                out[e] = a[e] + before[e] + after[row + 1, e] + (count - 1.0) * child[e]
                before[e] += count * child[e]
            multiply(joint, outer, product, size)
            multiply(covariance[me], product, result[target], size)
            if child_start[me + 1] > child_start[me]:
                invert(outer, size, factor)
                mine, h = above[target].reshape(width), information[measure[me]].reshape(width)
                for e in range(width):
                    mine[e] = out[e] + h[e]
                invert(above[target], size, factor)


@float_kernel
def gather_areas(
    first: Ints,
    whole: NDArray[np.bool_],
    units: Ints,
    classes: Ints,
    start: Ints,
    child_class: Ints,
    child_count: Ints,
    covariance: Floats,
    known: Ints,
    informed: NDArray[np.bool_],
    size: int,
    slope_below: Floats,
    spread_below: Floats,
    finite_below: NDArray[np.bool_],
    slope: Floats,
    spread: Floats,
    finite: NDArray[np.bool_],
) -> None:
    """Go one level up: for each pair of an area and a unit, how the area's part depends on the unit's histogram.

    Given the unit's histogram x, the area's part of it has mean R x + const and covariance V.

    Args:
        first: ``int64[pairs + 1]``, pairs of the level below that belong to each pair.
        whole: ``bool[pairs below]``, whether the unit lies in the area entirely: R = I, V = 0.
        units: ``int64[pairs]``, how many children the unit of each pair has.
        classes: ``int64[pairs below]``, class of the unit of each pair below.
        start: ``int64[pairs + 1]``, rows of the children of each pair's unit in the two lists that follow.
        child_class: ``int64[rows]``.
        child_count: ``int64[rows]``.
        covariance: ``float64[classes, size, size]``, P.
        known: ``int64[classes]``.
        informed: ``bool[classes]``.
        size: rows of the block.
        slope_below: ``float64[pairs below, size, size]``, R.
        spread_below: ``float64[pairs below, size, size]``, V.
        finite_below: ``bool[pairs below]``.
        slope: ``float64[pairs, size, size]``, receives R.
        spread: ``float64[pairs, size, size]``, receives V.
        finite: ``bool[pairs]``, receives whether V is finite.
    """
    a, total = np.empty((size, size)), np.empty((size, size))
    product, slopes, right = np.empty((size, size)), np.empty((size, size)), np.empty((size, size))
    for pair in range(len(units)):
        begin, end = first[pair], first[pair + 1]
        r, v = slope[pair], spread[pair]
        clear(r, size)
        clear(v, size)
        finite[pair] = True
        if units[pair] == 1:
            add(r, 1.0, slope_below[begin], size)
            add(v, 1.0, spread_below[begin], size)
            finite[pair] = finite_below[begin]
            continue
        clear(total, size)
        rank = size
        for row in range(start[pair], start[pair + 1]):
            add(total, float(child_count[row]), covariance[child_class[row]], size)
            rank = min(rank, known[child_class[row]])
            # A child without a finite variance leaves open how the unit divides, whatever the unit's own count.
            if not informed[child_class[row]]:
                finite[pair] = False
        clear(slopes, size)
        for below in range(begin, end):
            if not finite_below[below]:
                finite[pair] = False
            p = covariance[classes[below]]
            if whole[below]:
                add(slopes, 1.0, p, size)
                add(v, 1.0, p, size)
                continue
            # R P, and R P R' + V.
            for i in range(size):
                for j in range(size):
                    product[i, j] = 0.0
                    for k in range(size):
                        product[i, j] += slope_below[below, i, k] * p[k, j]
                    slopes[i, j] += product[i, j]
            for i in range(size):
                for j in range(size):
                    value = spread_below[below, i, j]
                    for k in range(size):
                        value += product[i, k] * slope_below[below, j, k]
                    v[i, j] += value
        if rank == size or not finite[pair]:
            continue
        # S R' = (sum of R P)'; coordinates that are known of every child tell nothing and get a row of their own.
        for i in range(size):
            for j in range(size):
                a[i, j] = total[i, j] if i >= rank else 0.0
                right[i, j] = slopes[j, i] if i >= rank else 0.0
            if i < rank:
                a[i, i] = 1.0
        solve(a, right, size)
        for i in range(rank, size):
            for j in range(size):
                r[j, i] = right[i, j]
        for i in range(size):
            for j in range(size):
                value = 0.0
                for k in range(rank, size):
                    value += r[i, k] * slopes[j, k]
                v[i, j] -= value
