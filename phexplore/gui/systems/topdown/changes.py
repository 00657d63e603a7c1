"""What differs from the reference, as sentences with the place they speak of. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from phexplore.figures.wording import people, share_percent, significant
from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.change_texts import ChangeLine
from phexplore.gui.systems.topdown.session import TopDownShown
from phexplore.model.diff import Change, diff, parameters_only
from phexplore.model.topdown import LevelQuery
from phexplore.systems.topdown.spine_words import spine_difference
from phexplore.systems.topdown.wording import counted, heading, level_title, place_title

_AREAS = dict.fromkeys(("passes", "invariants", "constraints"), Area.LEVELS) | {"spine": Area.SPINE}


def change_lines(shown: TopDownShown) -> tuple[ChangeLine, ...]:
    """Return every parameter that differs from the reference; empty without one.

    A moved share takes the rest of its column along: such a column is one line that names the largest movements.
    """
    reference = shown.reference
    if reference is None:
        return ()
    changes = parameters_only(diff(reference.scenario, shown.scenario))
    found = []
    columns: dict[str | None, list[Change]] = {}
    for change in changes:
        if change.word == "level share":
            columns.setdefault(None, []).append(change)
        elif change.word == "query share" and isinstance(change.key, LevelQuery):
            columns.setdefault(change.key.level, []).append(change)
        else:
            found.append(_single(change, shown))
    found += [_column(level, each, shown) for level, each in columns.items()]
    return tuple(found)


def _single(change: Change, shown: TopDownShown) -> ChangeLine:
    key = change.key if isinstance(change.key, str) else None
    match change.word:
        case "total":
            symbol = shown.method.framework.symbol
            words = f"Total {symbol}: {significant(change.before, 6)} → {significant(change.after, 6)}"
        case "spine":
            words = f"Spine: {spine_difference(change.before, change.after)}"
        case "invariants" | "constraints":
            words = f"{change.word.capitalize()} at {level_title(key or '')}: {_names(change.before, change.after)}"
        case "passes":
            words = f"Order of the passes at {level_title(key or '')} changed"
        case _:
            name = change.word.capitalize()
            words = f"{name}: {_word(change.before)} → {_word(change.after)}"
    return ChangeLine(words, key, _AREAS.get(change.word, Area.BUDGETS))


def _column(level: str | None, changes: Sequence[Change], shown: TopDownShown) -> ChangeLine:
    ordered = sorted(changes, key=lambda change: -abs(_number(change.after) - _number(change.before)))
    first = ordered[0]
    place = first.key if isinstance(first.key, LevelQuery | str) else None
    words = f"{heading(place_title(place))}: share {_share(first.before)} → {_share(first.after)}"
    if isinstance(place, LevelQuery) and (margins := _margins(place, shown)):
        words += f"; margin {margins}"
    rest = len(ordered) - 1
    if rest:
        what = "levels" if level is None else f"query groups at {level_title(level)}"
        words += f"; {rest} other {what} moved"
    return ChangeLine(words, place)


def _margins(key: LevelQuery, shown: TopDownShown) -> str:
    convention = shown.scenario.conventions.margin
    reference = shown.reference
    before = reference.entries.get(key) if reference is not None else None
    words = [
        "none" if entry is None or entry.margins is None else f"±{people(entry.margins.by(convention))}"
        for entry in (before, shown.entries.get(key))
    ]
    return f"{words[0]} → {words[1]} {counted(shown.method.schema)}"


def _number(value: Any) -> Fraction:
    return value if isinstance(value, Fraction) else Fraction(0)


def _share(value: Any) -> str:
    return share_percent(value) if isinstance(value, Fraction) else "not measured"


def _names(before: Any, after: Any) -> str:
    was, now = set(before or ()), set(after or ())
    words = [f"{name} added" for name in sorted(now - was)] + [f"{name} dropped" for name in sorted(was - now)]
    return ", ".join(words) or "another order"


def _word(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return str(getattr(value, "value", value))
