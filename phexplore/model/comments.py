"""Comments: why somebody wants a number, a scenario or a picture so, in their words, with author and time.

They are part of a scenario, so that they travel with a proposal, stay when proposals are merged, and are undone as any edit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from phexplore.errors import PhexploreError
from phexplore.model.comment import Comment
from phexplore.model.scenario import Scenario
from phexplore.model.workbook import Workbook

PICTURE = "picture: "
"""Before the name of a picture that a comment is about."""


class CommentRefusedError(PhexploreError):
    """A comment that says nothing, or that nobody says."""


def place_of(key: object) -> str:
    """Return what comments on a key of a system are about; "" is the whole scenario."""
    return "" if key is None else str(getattr(key, "text", key))


def add_comment(scenario: Scenario, comment: Comment) -> Scenario:
    """Return a scenario with one more comment.

    Args:
        scenario: commented on.
        comment: the new one.

    Raises:
        CommentRefusedError: it has no text or no author.
    """
    if not comment.text.strip() or not comment.who.strip():
        raise CommentRefusedError("A comment has a text and an author.", "Write both.")
    return replace(scenario, comments=(*scenario.comments, comment))


def comments_on(scenario: Scenario, about: str) -> tuple[Comment, ...]:
    """Return the comments on a number, a picture or the whole scenario, oldest first.

    Args:
        scenario: commented on.
        about: as `Comment.about`.
    """
    return tuple(comment for comment in scenario.comments if comment.about == about)


def in_one_line(comment: Comment) -> str:
    """Return a comment behind its author, where each has one line: a break in it would begin what reads as another's."""
    return " ".join(f"{comment.who}: {comment.text}".split())


def all_reasons(proposals: Iterable[Scenario]) -> tuple[Comment, ...]:
    """Return every comment of some proposals, once each; a note is a comment of its proposal on the whole."""
    found = []
    for proposal in proposals:
        found += [*proposal.comments, *([Comment(proposal.note, proposal.name)] if proposal.note.strip() else [])]
    return tuple(dict.fromkeys(found))


def new_comments(before: Workbook, after: Workbook) -> tuple[Comment, ...]:
    """Return the comments of the active scenario that a step added.

    Args:
        before: the step.
        after: it.
    """
    known = {comment for scenario in before.scenarios for comment in scenario.comments}
    return tuple(comment for comment in after.scenario.comments if comment not in known)
