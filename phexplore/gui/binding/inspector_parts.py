"""Parts of an inspector's text that all systems share. No Qt."""

from __future__ import annotations

from collections.abc import Sequence

from phexplore.model.issues import Issue

NO_FIGURES = ("Errors", "The figures appear when the errors of the scenario are cured; see the issues.")


def issue_parts(issues: Sequence[Issue]) -> tuple[tuple[str, str], ...]:
    """Return issues as the last part, nothing without any."""
    if not issues:
        return ()
    return (("Issues", "\n".join(f"{issue.sentence} {issue.remedy}" for issue in issues)),)
