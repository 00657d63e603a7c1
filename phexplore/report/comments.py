"""What people said about a scenario, as a chapter of its report."""

from __future__ import annotations

from dataclasses import replace

from phexplore.model.comment import Comment
from phexplore.model.moments import minute_text
from phexplore.model.scenario import Scenario
from phexplore.report.document import Column, Document, Part, table_of, words

_COLUMNS: tuple[Column[Comment], ...] = (
    words("About", lambda comment: comment.about or "the whole scenario"),
    words("Comment", lambda comment: comment.text),
    words("Who", lambda comment: comment.who, whole=True),
    words("When (UTC)", lambda comment: minute_text(comment.at), whole=True),
)


def with_comments(document: Document, scenario: Scenario) -> Document:
    """Return a report with the comments on its scenario before its last chapter; the same one without any.

    Args:
        document: of the scenario.
        scenario: commented on.
    """
    if not scenario.comments:
        return document
    said = Part("comments", "What people said", tables=(table_of("said", "Comments", _COLUMNS, scenario.comments),))
    return replace(document, parts=(*document.parts[:-1], said, *document.parts[-1:]))
