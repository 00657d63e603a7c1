"""What changed against the reference, as sentences with the place they speak of. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

from phexplore.gui.binding.shown import Shown
from phexplore.model.diff import ChangedField, diff, parameters_only
from phexplore.model.keys import QueryKey
from phexplore.report.changes import change_sentence


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """One difference.

    Attributes:
        text: a sentence.
        query: which query it is about, None when it is about something else.
        field: what kind of parameter.
    """

    text: str
    query: QueryKey | None
    field: ChangedField


def change_lines(shown: Shown) -> tuple[ChangeLine, ...]:
    """Return every parameter that differs from the reference; empty without one."""
    reference = shown.reference
    if reference is None:
        return ()
    return tuple(
        ChangeLine(
            change_sentence(change, reference.figures, shown.figures),
            change.key if isinstance(change.key, QueryKey) else None,
            change.field,
        )
        for change in parameters_only(diff(reference.scenario, shown.scenario))
    )
