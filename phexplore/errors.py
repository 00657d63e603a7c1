"""The failures the program expects, each with a sentence for the user and what to do about it."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from importlib import import_module

from phexplore.text.messages import listed, msg, series

MOST_FRAMES = 40
"""Calls that are shown of each error: a recursion without end has thousands."""

_LONGEST_NAME = 1000


class PhexploreError(Exception):
    """An expected failure: `sentence` states it, and `remedy` what to do next. In Python the text of an error contains both.

    Example:
        >>> import phexplore as px
        >>> try:
        ...     px.load("sdhc-2020")
        ... except px.errors.UnknownNameError as error:
        ...     print(error)
        No preset or file is called 'sdhc-2020'. Did you mean 'sdhc-2020-us'?
    """

    is_public = False
    """Whether it left a public name of Python; within the program sentence and remedy are shown apart."""

    def __init__(self, sentence: str, remedy: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.remedy = remedy

    def __str__(self) -> str:
        """Return the sentence, with the remedy where nothing else shows it."""
        return self.full if self.is_public else self.sentence

    @property
    def full(self) -> str:
        """Sentence and remedy as one text."""
        return series(self.sentence, self.remedy)


class UnknownNameError(PhexploreError):
    """A name that no catalogue knows; the remedy proposes the nearest known one."""

    def __init__(self, kind: str, name: str, known: list[str]) -> None:
        near = nearest(name, known)
        remedy = msg("Did you mean {name!r}?", name=near) if near else msg("Known: {names}.", names=listed(known))
        super().__init__(msg("No {kind} is called {name!r}.", kind=kind, name=name), remedy)


def nearest(name: str, known: Sequence[str]) -> str:
    """Return the known name that a wrong one resembles most, "" when it resembles none or is no name at all.

    Args:
        name: that nobody knows.
        known: the legal names.
    """
    from difflib import get_close_matches  # noqa: PLC0415 - only failures pay for it

    # What compares them takes 200 bytes a character, and a damaged file can hold a name of millions.
    return next(iter(get_close_matches(name, known, n=1)), "") if len(name) <= _LONGEST_NAME else ""


class BudgetMismatchError(PhexploreError):
    """More or less privacy was spent than declared; the result must not leave the program."""


class CancelledError(PhexploreError):
    """The user asked for a stop; what was finished is kept."""


def trace_without_data(error: BaseException) -> str:
    """Return where in the program an error happened: kinds, modules, lines and source code, outermost call first.

    The texts of errors are left out, because they may hold a value of the user's data, and so are folders of the
    computer.
    """
    lines: list[str] = []
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        frames = traceback.extract_tb(link.__traceback__)
        shown = [*frames[: MOST_FRAMES // 2], *frames[-MOST_FRAMES // 2 :]] if len(frames) > MOST_FRAMES else frames
        part = [f"{type(link).__module__}.{type(link).__qualname__}".removeprefix("builtins.")]
        part += [f"  {_module_path(frame.filename)}:{frame.lineno} in {frame.name}: {frame.line}" for frame in shown]
        if len(frames) > len(shown):
            part.append(f"  ({len(frames) - len(shown)} calls in the middle are left out)")
        lines += part
        cause = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
        if cause is not None:
            lines.append("caused by")
        link = cause
    return "\n".join(lines)


def _module_path(file: str) -> str:
    """Return the path of a source file from its package on; folders above it tell about the user, not about the error."""
    parts = file.replace("\\", "/").split("/")
    for root in ("site-packages", "lib"):
        if root in parts:
            parts = parts[parts.index(root) + 1 :]
    if "phexplore" in parts[:-1]:
        parts = parts[len(parts) - 1 - parts[::-1].index("phexplore") :]
    return "/".join(parts[-4:])


class ExportError(PhexploreError):
    """A scenario that the production file cannot express exactly."""


class ComparisonError(PhexploreError):
    """Things that cannot be set side by side."""


_HOMES = {
    "ArgumentError": "interface.arguments",
    "DataProblemsError": "systems.running",
    "DecisionError": "model.approval",
    "EditRefusedError": "model.edits",
    "FrontierError": "decide.frontier",
    "FrozenValueError": "interface.arguments",
    "GoalError": "model.goals",
    "InfeasibleError": "accuracy.solving_conflict",
    "InputProblemsError": "model.issues",
    "RunUnreadableError": "runs.store",
    "WriteError": "files.atomic_files",
}
"""Modules of the other errors that the public names document: `phexplore.errors` has all of them."""


def __getattr__(name: str) -> type[PhexploreError]:
    """Load an error of another module when it is first used.

    Raises:
        AttributeError: there is no such error.
    """
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: type[PhexploreError] = getattr(import_module(f"phexplore.{_HOMES[name]}"), name)
    return found
