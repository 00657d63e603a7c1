"""Parameters of group sizes as readable JSON values, and back with every problem at its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from phexplore.model.group_sizes import GroupSizes, HeavyTail, SizeMechanism
from phexplore.model.numbers import exact_text, parse_exact
from phexplore.model.phsafe import PrivacyFramework

Json = dict[str, Any]
Collect = Callable[[Any, Callable[[Any], Any], tuple[str, ...]], Any]
"""Parses a value, reports a failure at its place and then returns None."""


def encode_group_sizes(method: GroupSizes) -> Json:
    """Return the parameters as JSON; numbers that decide privacy are exact text."""
    return {
        "kind": "group-sizes",
        "framework": method.framework.value,
        "mechanism": method.mechanism.value,
        "total": exact_text(method.total),
        "levels": [
            {"level": level, "regions": regions, "share": exact_text(method.level_shares[level])}
            for level, regions in zip(method.levels, method.regions, strict=True)
        ],
        "largest": method.largest,
        "largest_quantity": method.largest_quantity,
        "tail": encode_tail(method.tail),
        "locked_levels": sorted(method.locked_levels),
    }


def encode_tail(tail: HeavyTail | None) -> Json | None:
    """Return the heavy tail as JSON."""
    return None if tail is None else {"outliers": tail.outliers, "smallest": tail.smallest, "seed": tail.seed}


def decode_tail(value: Any) -> HeavyTail:
    """Read a heavy tail.

    Raises:
        ValueError, TypeError: it cannot be read.
    """
    if not isinstance(value, dict):
        raise TypeError(f"an object with outliers, smallest and seed is expected, got {value!r:.60}")
    unknown = set(value) - {"outliers", "smallest", "seed"}
    if unknown:
        raise ValueError(f"a tail has outliers, smallest and seed, not {min(unknown)!r}")
    return HeavyTail(**{name: whole(number) for name, number in value.items()})


def whole(value: Any) -> int:
    """Read a whole number.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"a whole number is expected, got {value!r:.60}")
    return value


def wholes(value: Any) -> tuple[int, ...]:
    """Read a list of whole numbers.

    Raises:
        TypeError: it is none.
    """
    return tuple(whole(item) for item in _list(value))


def decode_group_sizes(holder: Mapping[str, Any], collect: Collect) -> GroupSizes | None:
    """Read parameters of group sizes.

    Args:
        holder: the object of the method.
        collect: reads one field and reports what is wrong with it.

    Returns:
        The parameters, or None when a problem was reported.
    """
    entries = collect(holder.get("levels"), _list, ("levels",)) or []
    levels = [collect(entry, _level, ("levels", str(number))) for number, entry in enumerate(entries)]
    tail = holder.get("tail")
    fields = {
        "framework": collect(holder.get("framework", PrivacyFramework.PURE_DP.value), PrivacyFramework, ("framework",)),
        "mechanism": collect(holder.get("mechanism"), SizeMechanism, ("mechanism",)),
        "total": collect(holder.get("total"), _number, ("total",)),
        "largest": collect(holder.get("largest"), whole, ("largest",)),
        "largest_quantity": collect(holder.get("largest_quantity", 1), whole, ("largest_quantity",)),
        "locked_levels": collect(holder.get("locked_levels", []), _texts, ("locked_levels",)),
    }
    if tail is not None:
        fields["tail"] = collect(tail, decode_tail, ("tail",))
    if None in levels or not entries or None in fields.values():
        return None
    made = {
        **fields,
        "levels": tuple(name for name, _, _ in levels),
        "regions": tuple(regions for _, regions, _ in levels),
        "level_shares": {name: share for name, _, share in levels},
    }
    return collect(made, lambda values: GroupSizes(**values), ())  # type: ignore[no-any-return]


def _level(value: Any) -> tuple[str, int, Fraction]:
    if not isinstance(value, dict):
        raise TypeError(f"an object with level, regions and share is expected, got {value!r:.60}")
    for key in ("level", "regions", "share"):
        if key not in value:
            raise ValueError(f"{key!r} is missing")
    return _text(value["level"]), whole(value["regions"]), _number(value["share"])


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"text is expected, got {value!r:.60}")
    return value


def _number(value: Any) -> Fraction:
    return parse_exact(_text(value))


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"a list is expected, got {value!r:.60}")
    return value


def _texts(value: Any) -> frozenset[str]:
    return frozenset(_text(item) for item in _list(value))
