"""One comment on a scenario, a number of it or a picture."""

from __future__ import annotations

from phexplore.model.fields import Declared, declared, parameter
from phexplore.model.kinds import Supplied, Text

LONGEST_COMMENT = 10_000
"""Characters. More is a document, which is cited."""


@declared
class Comment(Declared):
    """What somebody says.

    Attributes:
        text: in their words.
        who: the person.
        at: when, ISO 8601 in UTC; "" where nobody knows.
        about: the place of a number as comparisons call it, ``picture:`` and a name, or "" for the whole scenario.
    """

    text: str = parameter(Supplied())
    who: str = parameter(Supplied())
    at: str = parameter(Text(), default="")
    about: str = parameter(Text(), default="")

    def agree(self) -> None:
        """Refuse texts that are no comments.

        Raises:
            ValueError: one is longer than `LONGEST_COMMENT`.
        """
        if max(map(len, (self.text, self.who, self.at, self.about))) > LONGEST_COMMENT:
            raise ValueError(f"a comment has at most {LONGEST_COMMENT:,} characters")
