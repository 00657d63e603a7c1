"""Every difference to the reference as a sentence. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from phexplore.figures.wording import capital, share_percent
from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.model.diff import Change, changed_values, diff, parameters_only
from phexplore.model.kinds import Choice
from phexplore.model.numbers import Unlimited, exact_text
from phexplore.model.subspace import Axis


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """One difference.

    Attributes:
        text: a sentence.
        key: of what it is about, None when it is about everything.
        area: where it is edited.
        field: what kind of parameter.
        count: how many parameters it is about.
    """

    text: str
    key: Any = None
    area: Area = Area.BUDGETS
    field: str = ""
    count: int = 1


def change_lines(shown: ScenarioView) -> tuple[ChangeLine, ...]:
    """Return every parameter that differs from the reference as a sentence; empty without one."""
    if shown.reference is None:
        return ()
    changes = parameters_only(diff(shown.reference.scenario, shown.scenario))
    return tuple(ChangeLine(_sentence(change), change.key, field=change.word) for change in changes)


def _sentence(change: Change) -> str:
    key = str(change.key or "")
    match change.word:
        case "level share":
            return f"Share of {key}: {_share(change.before)} → {_share(change.after)}"
        case "level lock":
            return f"Share of {key} " + ("locked" if change.after else "unlocked")
        case "release":
            return f"Release {key}: {_word(change.before)} → {_word(change.after)}"
        case "conventions":
            return f"Conventions: {' → '.join(changed_values(change))}"
        case _:
            name, kind = capital(change.word) + (f" of {key}" if key else ""), change.field.kind.entry
            before, after = (
                kind.words(value) if isinstance(kind, Choice) else _word(value)
                for value in (change.before, change.after)
            )
            return f"{name}: {before} → {after}"


def _share(value: Any) -> str:
    return share_percent(value) if isinstance(value, Fraction) else "none"


def _word(value: Any) -> str:
    match value:
        case None | "":
            return "none"
        case Unlimited():
            return "∞"
        case Fraction():
            return exact_text(value)
        case Axis():
            return f"{value.name} {value.size:,}"
        case tuple() | list():
            return ", ".join(map(_word, value))
        case _:
            return str(getattr(value, "value", value))
