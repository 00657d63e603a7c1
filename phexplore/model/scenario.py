"""A scenario: one immutable value that says everything a committee can decide."""

from __future__ import annotations

from dataclasses import dataclass, field

from phexplore.model.conventions import Conventions
from phexplore.model.group_sizes import GroupSizes
from phexplore.model.phsafe import PhSafe
from phexplore.model.subspace import Subspace
from phexplore.model.topdown import TopDown

Method = PhSafe | TopDown | Subspace | GroupSizes
"""The systems a scenario can hold. A closed union: consumers match it to the end."""


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
        if not isinstance(self.method, PhSafe):
            raise TypeError(f"the scenario {self.name!r} holds {type(self.method).__name__}, not PhSafe")
        return self.method

    @property
    def topdown(self) -> TopDown:
        """The parameters of TopDown.

        Raises:
            TypeError: the scenario holds another system.
        """
        if not isinstance(self.method, TopDown):
            raise TypeError(f"the scenario {self.name!r} holds {type(self.method).__name__}, not TopDown")
        return self.method

    @property
    def subspace(self) -> Subspace:
        """The parameters of releases under subspace privacy.

        Raises:
            TypeError: the scenario holds another system.
        """
        if not isinstance(self.method, Subspace):
            raise TypeError(f"the scenario {self.name!r} holds {type(self.method).__name__}, not Subspace")
        return self.method

    @property
    def group_sizes(self) -> GroupSizes:
        """The parameters of hierarchical group sizes.

        Raises:
            TypeError: the scenario holds another system.
        """
        if not isinstance(self.method, GroupSizes):
            raise TypeError(f"the scenario {self.name!r} holds {type(self.method).__name__}, not GroupSizes")
        return self.method
