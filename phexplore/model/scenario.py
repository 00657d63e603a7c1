"""A scenario: one immutable value that says everything a committee can decide."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from phexplore.model.conventions import Conventions
from phexplore.model.group_sizes import GroupSizes
from phexplore.model.phsafe import PhSafe
from phexplore.model.subspace import Subspace
from phexplore.model.topdown import TopDown

Method = PhSafe | TopDown | Subspace | GroupSizes
"""Parameters of the systems of this program."""

Held = TypeVar("Held")


@dataclass(frozen=True, slots=True)
class Scenario:
    """A named set of parameters.

    Attributes:
        name: what people call it.
        method: the system and its parameters.
        conventions: what the shown numbers mean.
        note: free text.
        baseline: preset id the scenario started from, "" when none.
        source_text: the production file it was imported from, character by character, "" when none; an export
            changes only the parameters in it, so unknown keys and layout survive.
    """

    name: str
    method: Method
    conventions: Conventions = field(default_factory=Conventions)
    note: str = ""
    baseline: str = ""
    source_text: str = ""

    @property
    def phsafe(self) -> PhSafe:
        """The parameters of PHSafe.

        Raises:
            TypeError: the scenario holds another system.
        """
        return self._held(PhSafe)

    @property
    def topdown(self) -> TopDown:
        """The parameters of TopDown.

        Raises:
            TypeError: the scenario holds another system.
        """
        return self._held(TopDown)

    @property
    def subspace(self) -> Subspace:
        """The parameters of releases under subspace privacy.

        Raises:
            TypeError: the scenario holds another system.
        """
        return self._held(Subspace)

    @property
    def group_sizes(self) -> GroupSizes:
        """The parameters of hierarchical group sizes.

        Raises:
            TypeError: the scenario holds another system.
        """
        return self._held(GroupSizes)

    def _held(self, kind: type[Held]) -> Held:
        if not isinstance(self.method, kind):
            raise TypeError(f"the scenario {self.name!r} holds {type(self.method).__name__}, not {kind.__name__}")
        return self.method
