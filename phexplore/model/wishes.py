"""A choice that began as yes or no: files and flags of earlier versions stay what they were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from phexplore.model.kinds import Choice, Schema, Shared

YES = "yes"
"""What stands on the command line for a `Wish` without a word."""


@dataclass(frozen=True, slots=True)
class Wish(Choice):
    """A choice whose first two members are false and true in files, the others a word.

    On the command line it is a flag, the second member, that may be followed by the word of a further one.
    """

    def held(self, value: Any) -> Any:
        """Return the member that yes, no or a word stands for."""
        return self.read(value) if isinstance(value, bool | str) else value

    def encode(self, value: Any) -> Any:
        """Return a member, or what stands for one, as plain JSON."""
        return getattr(value, "value", value)

    def parse(self, text: str) -> Any:
        """Return the member that a word stands for."""
        return self.read(True if text == YES else text)

    def describe(self, shared: Shared) -> Schema:  # noqa: ARG002 - the members are few and nowhere else
        """Return a JSON Schema."""
        return {"enum": [member.value for member in self.options]}

    @property
    def further(self) -> tuple[str, ...]:
        """The words that may follow the flag."""
        return tuple(str(member.value) for member in list(self.options)[2:])
