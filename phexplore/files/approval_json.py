"""Decisions as readable JSON values, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from phexplore.model.approval import Decision
from phexplore.model.fields import encode, read
from phexplore.model.issues import InputProblemsError, Issue


def encode_decisions(decisions: Sequence[Decision]) -> list[dict[str, Any]]:
    """Return decisions as JSON, oldest first."""
    return [encode(decision) for decision in decisions]


def decode_decisions(value: Any, name: str) -> tuple[Decision, ...]:
    """Read decisions.

    Args:
        value: plain JSON of a project file.
        name: of the file, for problems.

    Raises:
        InputProblemsError: one of them cannot be read; nothing is guessed about who approved what.
    """
    if not isinstance(value, list):
        raise InputProblemsError([Issue((name,), "The decisions are not a list.", "Open an earlier copy.")])
    found = []
    for number, entry in enumerate(value, start=1):
        try:
            found.append(read(Decision, entry))
        except (ValueError, TypeError) as error:
            issue = Issue((name,), f"Decision {number} cannot be read: {error}.", "Open an earlier copy.")
            raise InputProblemsError([issue]) from error
    return tuple(found)
