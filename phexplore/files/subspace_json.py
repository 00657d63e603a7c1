"""Subspace parameters as readable JSON values, and back with every problem at its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, assert_never

from phexplore.model.numbers import exact_text, parse_exact
from phexplore.model.subspace import (
    Axis,
    Basis,
    Calibration,
    Grouping,
    Histogram,
    Invariant,
    LinearCount,
    LinearQuery,
    Mechanism,
    Query,
    Release,
    Subspace,
    Totals,
)

Json = dict[str, Any]
Collect = Callable[[Any, Callable[[Any], Any], tuple[str, ...]], Any]
"""Parses a value, reports a failure at its place and then returns None."""


def encode_subspace(method: Subspace) -> Json:
    """Return the parameters as JSON; numbers that decide privacy are exact text."""
    return {
        "kind": "subspace",
        "epsilon": exact_text(method.epsilon),
        "delta": exact_text(method.delta),
        "calibration": method.calibration.value,
        "table": method.table,
        "axes": encode_axes(method.axes),
        "releases": {name: encode_release(release) for name, release in method.releases.items()},
    }


def encode_axes(axes: tuple[Axis, ...]) -> list[Json]:
    """Return the axes of a histogram as JSON."""
    return [_encode_axis(axis) for axis in axes]


def _encode_axis(axis: Axis) -> Json:
    return {
        "name": axis.name,
        "size": axis.size,
        "labels": list(axis.labels),
        "groupings": {grouping.name: list(grouping.groups) for grouping in axis.groupings},
    }


def encode_release(release: Release) -> Json:
    """Return one release as JSON."""
    return {
        "query": _encode_query(release.query),
        "exact": [_encode_invariant(invariant) for invariant in release.invariants],
        "mechanism": release.mechanism.value,
        "share": exact_text(release.share),
        "basis": release.basis.value,
    }


def _encode_query(query: Query) -> Any:
    match query:
        case Histogram():
            return "histogram"
        case LinearQuery(answers):
            return [_encode_count(answer) for answer in answers]
        case _:
            assert_never(query)


def _encode_invariant(invariant: Invariant) -> Json:
    match invariant:
        case Totals(by):
            return {"totals by": list(by)}
        case LinearCount():
            return _encode_count(invariant)
        case _:
            assert_never(invariant)


def _encode_count(count: LinearCount) -> Json:
    return {"name": count.name, "weights": {str(number): exact_text(weight) for number, weight in count.coefficients}}


def decode_subspace(holder: Mapping[str, Any], collect: Collect) -> Subspace | None:
    """Read subspace parameters.

    Args:
        holder: the object of the method.
        collect: reads one field and reports what is wrong with it.

    Returns:
        The parameters, or None when a problem was reported.
    """
    axes = [
        collect(value, _axis, ("axes", str(number)))
        for number, value in enumerate(_listed(holder.get("axes"), collect, ("axes",)))
    ]
    stated = collect(holder.get("releases", {}), _object, ("releases",)) or {}
    releases = {name: collect(value, decode_release, ("releases", name)) for name, value in stated.items()}
    fields = {
        "epsilon": collect(holder.get("epsilon"), _number, ("epsilon",)),
        "delta": collect(holder.get("delta", "0"), _number, ("delta",)),
        "calibration": collect(holder.get("calibration", Calibration.EXACT.value), Calibration, ("calibration",)),
        "table": collect(holder.get("table", ""), _text, ("table",)),
    }
    if None in axes or None in releases.values() or None in fields.values():
        return None
    made = {**fields, "axes": tuple(axes), "releases": releases}
    return collect(made, lambda values: Subspace(**values), ())  # type: ignore[no-any-return]


def _listed(value: Any, collect: Collect, place: tuple[str, ...]) -> list[Any]:
    return collect(value, _list, place) or []


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"text is expected, got {value!r}")
    return value


def _number(value: Any) -> Fraction:
    return parse_exact(_text(value))


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"a whole number is expected, got {value!r}")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"a list is expected, got {value!r:.60}")
    return value


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"an object is expected, got {value!r:.60}")
    return value


def decode_axes(value: Any) -> tuple[Axis, ...]:
    """Read the axes of a histogram.

    Raises:
        ValueError, TypeError: they cannot be read.
    """
    return tuple(map(_axis, _list(value)))


def _axis(value: Any) -> Axis:
    holder = _object(value)
    labels = tuple(map(_text, _list(holder.get("labels", []))))
    groupings = tuple(
        Grouping(name, tuple(map(_text, _list(groups))))
        for name, groups in _object(holder.get("groupings", {})).items()
    )
    return Axis(_text(_field(holder, "name")), _whole(holder.get("size", len(labels))), labels, groupings)


def _field(holder: Mapping[str, Any], key: str) -> Any:
    if key not in holder:
        raise ValueError(f"{key!r} is missing")
    return holder[key]


def decode_release(value: Any) -> Release:
    """Read one release.

    Raises:
        ValueError, TypeError: it cannot be read.
    """
    holder = _object(value)
    return Release(
        query=_query(holder.get("query", "histogram")),
        invariants=tuple(map(_invariant, _list(holder.get("exact", [])))),
        mechanism=Mechanism(_field(holder, "mechanism")),
        share=_number(holder.get("share", "1")),
        basis=Basis(holder.get("basis", Basis.HALVES.value)),
    )


def _query(value: Any) -> Query:
    if value == "histogram":
        return Histogram()
    return LinearQuery(tuple(map(_count, _list(value))))


def _invariant(value: Any) -> Invariant:
    holder = _object(value)
    if "totals by" in holder:
        return Totals(tuple(map(_text, _list(holder["totals by"]))))
    return _count(holder)


def _count(value: Any) -> LinearCount:
    holder = _object(value)
    weights = tuple((_cell(cell), _number(weight)) for cell, weight in _object(_field(holder, "weights")).items())
    return LinearCount(_text(_field(holder, "name")), weights)


def _cell(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise ValueError(f"cells and answers are numbered from 0, got {text!r}")
    return int(text)
