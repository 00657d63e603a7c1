"""What a user should know about a scenario or a file: the place, a sentence, a remedy."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from phexplore.errors import PhexploreError


class Severity(enum.Enum):
    """How bad an issue is."""

    ERROR = "error"
    """A run or an export is refused until it is cured."""
    WARNING = "warning"
    """Allowed, but worth a decision."""


@dataclass(frozen=True, slots=True)
class Issue:
    """Something that needs the user's attention.

    Attributes:
        path: where, from the outside in, e.g. ``("budgets", "PH3/state_A-G")`` or ``("persons.csv",)``.
        sentence: what is wrong, with the offending value.
        remedy: what to do about it.
        line: 1-based line in a file, 0 when there is none.
        column: 1-based column in a file (characters or field number), 0 when there is none.
    """

    path: tuple[str, ...]
    sentence: str
    remedy: str
    severity: Severity = Severity.ERROR
    line: int = 0
    column: int = 0

    def __post_init__(self) -> None:
        # The words of an error that was met on the way are a clause; beside a remedy they have to end.
        if self.sentence and not self.sentence.endswith((".", "!", "?", ":", "…")):
            object.__setattr__(self, "sentence", f"{self.sentence}.")

    @property
    def place(self) -> str:
        """The place as one text, e.g. ``persons.csv:12:3``."""
        text = " › ".join(self.path)
        if self.line:
            text += f":{self.line}"
            if self.column:
                text += f":{self.column}"
        return text


class InputProblemsError(PhexploreError):
    """A file that cannot be understood: all its problems at once, nothing half-loaded."""

    def __init__(self, issues: Sequence[Issue]) -> None:
        first = issues[0]
        more = f" (and {len(issues) - 1} more)" if len(issues) > 1 else ""
        super().__init__(f"{first.place}: {first.sentence}{more}", first.remedy)
        self.issues = tuple(issues)


def has_errors(issues: list[Issue]) -> bool:
    """Return whether a run or an export must be refused."""
    return any(issue.severity is Severity.ERROR for issue in issues)


def errors_first(issues: Iterable[Issue]) -> list[Issue]:
    """Return the issues with errors before warnings, otherwise in their order."""
    return sorted(issues, key=lambda issue: issue.severity is not Severity.ERROR)
