"""Comments as people read them: a line each, and a table for comparisons and reports."""

from __future__ import annotations

from collections.abc import Sequence

from phexplore.figures.table import Table
from phexplore.model.comment import Comment
from phexplore.model.comments import PICTURE
from phexplore.model.moments import minute_text
from phexplore.model.scenario import Scenario
from phexplore.systems.registry import system_of
from phexplore.text.escapes import visible

_BREAK, _INDENTED = "\n", "\n    "
"""Further lines of a comment stand in from its author: none reads as another's."""
HEADERS = ("About", "Comment", "Who", "When (UTC)")


def said_of(comment: Comment) -> str:
    """Return a comment behind its author and time."""
    when = f", {minute_text(comment.at)}" if comment.at else ""
    return f"{visible(comment.who)}{when}: {comment.text.replace(_BREAK, _INDENTED)}"


def about_words(scenario: Scenario, about: str) -> str:
    """Return what a comment is about, for people.

    Args:
        scenario: commented on.
        about: as `Comment.about`.
    """
    if not about:
        return "the whole scenario"
    if about.startswith(PICTURE):
        return about[:1].upper() + about[1:]
    return system_of(scenario).place_name(about).title


def comment_rows(scenario: Scenario) -> tuple[tuple[str, str, str, str], ...]:
    """Return what stands under `HEADERS`, oldest first."""
    return tuple((about_words(scenario, c.about), c.text, c.who, minute_text(c.at)) for c in scenario.comments)


def comments_table(scenarios: Sequence[Scenario], names: Sequence[str]) -> Table:
    """Return the comments of scenarios beside each other.

    Args:
        scenarios: that are compared.
        names: of them.
    """
    pairs = zip(scenarios, names, strict=True)
    return Table(("Of", *HEADERS), tuple((name, *row) for scenario, name in pairs for row in comment_rows(scenario)))
