"""A scenario: one immutable value that says everything a committee can decide."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, TypeVar

from phexplore.model.comment import Comment
from phexplore.model.conventions import Conventions
from phexplore.model.fields import Declared, Record, declared, declared_fields, decode, describe, encode, parameter
from phexplore.model.group_sizes import GroupSizes
from phexplore.model.kinds import Kind, Listing, Place, Problems, Schema, Shared, Supplied, Text, object_of, shown
from phexplore.model.phsafe import PhSafe
from phexplore.model.subspace import Subspace
from phexplore.model.topdown import TopDown

Method = PhSafe | TopDown | Subspace | GroupSizes
"""Parameters of the systems of this program."""

Held = TypeVar("Held")

METHODS: dict[str, type[Declared]] = {cls.file_kind: cls for cls in (PhSafe, TopDown, GroupSizes, Subspace)}
"""The parameters this process knows, by their word in files. A system of a program's own is added by the registry."""


def add_method(cls: type[Declared]) -> None:
    """Let files hold the parameters of one more system in this process.

    Raises:
        ValueError: their word is taken, or one of their fields is called as one of a scenario.
    """
    if cls.file_kind in METHODS:
        raise ValueError(f"the files know a method {cls.file_kind!r} already")
    if taken := {field.word for field in declared_fields(cls)} & {field.word for field in declared_fields(Scenario)}:
        raise ValueError(f"logs call a part of every scenario {min(taken)!r}; give the field another word")
    METHODS[cls.file_kind] = cls


class _Parameters(Kind):
    """Parameters of any system, in files told apart by their ``kind``."""

    def encode(self, value: Any) -> Any:
        """Return an object with its kind."""
        return encode(value)

    def collect(self, value: Any, problems: Problems, place: Place) -> Any:
        """Return parameters; what is wrong stands at the names of their fields."""
        if (holder := problems.parsed(value, object_of, place)) is None:
            return None
        word = holder.get("kind")
        if not isinstance(word, str) or word not in METHODS:
            known = ", ".join(map(repr, METHODS))
            problems.report(place, f"this version knows the methods {known}, got {shown(word)}")
            return None
        return decode(METHODS[word], holder, problems, place)

    def read(self, value: Any) -> Any:
        """Return parameters.

        Raises:
            InputProblemsError: every field that cannot be read.
        """
        problems = Problems(())
        method = self.collect(value, problems, ("method",))
        problems.finish()
        return method

    def describe(self, shared: Shared) -> Schema:
        """Return a JSON Schema."""
        kinds = [describe(cls, shared) for cls in METHODS.values()]
        words = {word: kind["$ref"] for word, kind in zip(METHODS, kinds, strict=True)}
        return {"oneOf": kinds, "discriminator": {"propertyName": "kind", "mapping": words}}


@declared
class Scenario(Declared):
    """One proposal: parameters of one system with their conventions.

    Attributes:
        name: what people call it.
        method: the system and its parameters.
        conventions: what the shown numbers mean.
        note: free text.
        baseline: preset id the scenario started from, "" when none.
        source_text: the production file it was imported from, character by character, "" when none; an export
            changes only the parameters in it, so unknown keys and layout survive.
        comments: what people say about it, oldest first.
    """

    file_order: ClassVar[tuple[str, ...]] = (
        "name",
        "note",
        "baseline",
        "conventions",
        "method",
        "source_text",
        "comments",
    )
    log_order: ClassVar[tuple[str, ...]] = ("conventions",)

    name: str = parameter(Supplied(), absent="Scenario", is_parameter=False)
    method: Method = parameter(_Parameters())
    conventions: Conventions = parameter(Record(Conventions), default=Conventions())
    note: str = parameter(Supplied(), default="", is_parameter=False)
    baseline: str = parameter(Text(), default="", is_parameter=False, title="preset it started from")
    source_text: str = parameter(Text(), default="", is_parameter=False, title="layout of the imported file")
    comments: tuple[Comment, ...] = parameter(Listing(Record(Comment)), default=(), is_parameter=False, is_omitted=True)

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


def stated_as(scenario: Scenario, other: Scenario) -> Scenario:
    """Return a scenario with the conventions of the one it stands beside.

    A margin at 95 % beside one at 90 % would be a difference of words.

    Args:
        scenario: any.
        other: whose conventions hold for both.
    """
    if scenario.conventions == other.conventions:
        return scenario
    return replace(scenario, conventions=other.conventions)
