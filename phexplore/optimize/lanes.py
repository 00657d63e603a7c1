"""Arithmetic on `LANE` neighbouring numbers of a row at a time, the same on every processor.

A sum over a row has one order here: lane by lane, then the lanes in pairs. A compiler may not choose such an order for
a loop that adds up one by one, so its additions wait for each other; and what it makes of a loop over a row runs number
by number where the row is as short as those of most families. LLVM has instructions for vectors of this length
on every processor, two halves where its own are shorter, with the same results (IEEE 754, nothing fused).

All functions here are compiled into the kernels that call them; rows are padded to a multiple of `LANE`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.extending import intrinsic, register_model

LANE = 4
"""Numbers in a vector: those of one AVX2 instruction in doubles."""

_VECTOR = ir.VectorType(ir.DoubleType(), LANE)


class _Lanes(types.Type):  # type: ignore[misc]
    """The type of a vector."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


_LANES = _Lanes()


@register_model(_Lanes)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    """How a vector lies in registers."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def _pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Return where the number lies that the first three arguments name: ``array[row, child]``."""
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    width = cgutils.unpack_tuple(builder, array.shape)[-1]
    place = builder.add(builder.mul(arguments[1], width), arguments[2])
    return builder.gep(array.data, [place])


def _lanes_at(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.bitcast(_pointer(context, builder, signature, arguments), _VECTOR.as_pointer())


def _splat(number: float) -> Any:
    return ir.Constant(_VECTOR, [number] * LANE)


def _is_table(array: Any, kinds: tuple[Any, ...] = (types.float64,)) -> bool:
    return bool(isinstance(array, types.Array) and array.ndim <= 2 and array.layout == "C" and array.dtype in kinds)


def _emitted(function: Callable[..., Any]) -> Any:
    """Return what a kernel may call; the function returns types and what emits the instructions."""
    return intrinsic(function)


@_emitted
def load(_context: Any, array: Any, _row: Any, _child: Any) -> Any:
    """Return ``array[row, child : child + LANE]``; ``array[n, m]`` is C-ordered; row 0 of ``array[m]`` is all of it."""
    if not _is_table(array):
        return None

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_lanes_at(context, builder, signature, arguments), align=8)

    return _LANES(array, types.intp, types.intp), make


@_emitted
def store(_context: Any, array: Any, _row: Any, _child: Any, _vector: Any) -> Any:
    """Write ``array[row, child : child + LANE]``; ``array[n, m]`` is C-ordered; row 0 of ``array[m]`` is all of it."""
    if not _is_table(array):
        return None

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[3], _lanes_at(context, builder, signature, arguments), align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, _LANES), make


@_emitted
def fetch(_context: Any, array: Any, _row: Any, _child: Any) -> Any:
    """Ask for ``array[row, child]`` to be brought near before it is read: memory answers many such requests at a time."""
    if not _is_table(array, (types.float64, types.int32)):
        return None

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), (byte, number, number, number))
        request = builder.module.declare_intrinsic("llvm.prefetch", (byte,), kind)
        place = builder.bitcast(_pointer(context, builder, signature, arguments), byte)
        reading, nearest, data = (ir.Constant(number, value) for value in (0, 3, 1))
        builder.call(request, [place, reading, nearest, data])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), make


@_emitted
def alike(_context: Any, _number: Any) -> Any:
    """Return a vector of one number."""

    def make(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), arguments[0], ir.Constant(ir.IntType(32), 0))
        every = ir.Constant(ir.VectorType(ir.IntType(32), LANE), [0] * LANE)
        return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), every)

    return _LANES(types.float64), make


@_emitted
def plus(_context: Any, _left: Any, _right: Any) -> Any:
    """Return the sum of two vectors, lane by lane."""

    def make(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.fadd(*arguments)

    return _LANES(_LANES, _LANES), make


@_emitted
def minus(_context: Any, _left: Any, _right: Any) -> Any:
    """Return the difference of two vectors, lane by lane."""

    def make(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.fsub(*arguments)

    return _LANES(_LANES, _LANES), make


@_emitted
def times(_context: Any, _left: Any, _right: Any) -> Any:
    """Return the product of two vectors, lane by lane."""

    def make(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.fmul(*arguments)

    return _LANES(_LANES, _LANES), make


@_emitted
def over(_context: Any, _left: Any, _right: Any) -> Any:
    """Return the quotient of two vectors, lane by lane."""

    def make(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.fdiv(*arguments)

    return _LANES(_LANES, _LANES), make


@_emitted
def where_positive(_context: Any, _vector: Any, _left: Any, _right: Any) -> Any:
    """Return the left number in the lanes where a vector is positive, the right one in the others."""

    def make(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", arguments[0], _splat(0.0)), *arguments[1:])

    return _LANES(_LANES, _LANES, _LANES), make


@_emitted
def turned(_context: Any, _first: Any, _second: Any, _third: Any, _fourth: Any) -> Any:
    """Return four vectors of which the first has the first lanes of the four given, and so on."""

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def mixed(left: Any, right: Any, lanes: tuple[int, ...]) -> Any:
            return builder.shuffle_vector(left, right, ir.Constant(ir.VectorType(ir.IntType(32), LANE), lanes))

        one, two, three, four = arguments
        low = mixed(one, three, (0, 4, 1, 5)), mixed(two, four, (0, 4, 1, 5))
        high = mixed(one, three, (2, 6, 3, 7)), mixed(two, four, (2, 6, 3, 7))
        found = [mixed(left, right, lanes) for left, right in (low, high) for lanes in ((0, 4, 1, 5), (2, 6, 3, 7))]
        return context.make_tuple(builder, signature.return_type, found)

    return types.UniTuple(_LANES, LANE)(_LANES, _LANES, _LANES, _LANES), make


@_emitted
def larger(_context: Any, _left: Any, _right: Any) -> Any:
    """Return the larger of two numbers in every lane."""

    def make(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        left, right = arguments
        return builder.select(builder.fcmp_ordered(">", left, right), left, right)

    return _LANES(_LANES, _LANES), make


@_emitted
def is_positive(_context: Any, _vector: Any) -> Any:
    """Return 1 in the lanes of positive numbers, 0 in the others."""

    def make(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", arguments[0], _splat(0.0)), _splat(1.0), _splat(0.0))

    return _LANES(_LANES), make


@_emitted
def size(_context: Any, _vector: Any) -> Any:
    """Return the absolute value in every lane."""

    def make(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        positive = builder.fcmp_ordered(">", arguments[0], _splat(0.0))
        return builder.select(positive, arguments[0], builder.fsub(_splat(0.0), arguments[0]))

    return _LANES(_LANES), make


@_emitted
def total(_context: Any, _vector: Any) -> Any:
    """Return the sum of the lanes, (first + third) + (second + fourth)."""

    def make(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        lanes = [builder.extract_element(arguments[0], ir.Constant(ir.IntType(32), lane)) for lane in range(LANE)]
        return builder.fadd(builder.fadd(lanes[0], lanes[2]), builder.fadd(lanes[1], lanes[3]))

    return types.float64(_LANES), make


@_emitted
def largest(_context: Any, _vector: Any) -> Any:
    """Return the largest of the lanes."""

    def make(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        lanes = [builder.extract_element(arguments[0], ir.Constant(ir.IntType(32), lane)) for lane in range(LANE)]
        found = lanes[0]
        for lane in lanes[1:]:
            found = builder.select(builder.fcmp_ordered(">", lane, found), lane, found)
        return found

    return types.float64(_LANES), make
