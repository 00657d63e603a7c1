"""The failures the program expects, each with a sentence for the user and what to do about it."""

from __future__ import annotations


class PhexploreError(Exception):
    """An expected failure. The text is the sentence; `remedy` says what to do next."""

    def __init__(self, sentence: str, remedy: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.remedy = remedy


class UnknownNameError(PhexploreError):
    """A name that no catalogue knows; the remedy proposes the nearest known one."""

    def __init__(self, kind: str, name: str, known: list[str]) -> None:
        from difflib import get_close_matches  # noqa: PLC0415 - only failures pay for it

        near = get_close_matches(name, known, n=1)
        remedy = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(known)}."
        super().__init__(f"No {kind} is called {name!r}.", remedy)


class BudgetMismatchError(PhexploreError):
    """More or less privacy was spent than declared; the result must not leave the program."""


class CancelledError(PhexploreError):
    """The user asked for a stop; what was finished is kept."""
