"""Edits of what a project asks of its scenario: every one is a named step, refused with a reason or made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from phexplore.decide.solving import goals_of, with_targets
from phexplore.gui.binding.session import Refusal, Session
from phexplore.model.goal_edits import tied, untied, with_cap, with_floors, without_cap
from phexplore.model.goals import Cap, Goals, Key, TiedBy, title_of
from phexplore.model.numbers import exact_text
from phexplore.model.workbook import Workbook, replace_active, set_goals, system_name
from phexplore.systems.registry import budgets_of

Step = tuple[str, Callable[[Any], Any]]
"""Name of a step of the history, and its edit of the workbook."""


def set_targets(keys: Sequence[Key], value: Fraction | None) -> Step:
    """Ask for a margin of at most this much, None for none."""
    label = f"Remove the target{'s' if len(keys) > 1 else ''} of {_named(keys)}"
    if value is not None:
        label = f"Set{label.removeprefix('Remove')} to {exact_text(value)}"
    return label, lambda book: with_targets(book, dict.fromkeys(keys, value))


def set_floors(keys: Sequence[Key], value: Fraction | None) -> Step:
    """Ask for a budget of at least this, None for none."""
    label = f"{'Drop the floor' if value is None else 'Set the smallest budget'} of {_named(keys)}"
    return _step(label, lambda goals: with_floors(goals, dict.fromkeys(keys, value)))


def set_locks(keys: Sequence[Key], *, locked: bool) -> Step:
    """Keep the budgets of queries, or let them move."""

    def edit(book: Workbook) -> Workbook:
        scenario, system = book.scenario, system_name(book.scenario)
        for key in keys:
            scenario = budgets_of(scenario).with_lock(key, locked=locked)
        goals = book.goals.get(system, Goals())
        goals = goals if locked else replace(goals, locks=goals.locks - set(keys))
        return set_goals(replace_active(book, scenario), system, goals)

    return f"{'Lock' if locked else 'Unlock'} {_named(keys)}", edit


def _step(label: str, change: Callable[[Goals], Goals]) -> Step:
    def edit(book: Workbook) -> Workbook:
        system = system_name(book.scenario)
        return set_goals(book, system, change(book.goals.get(system, Goals())))

    return label, edit


class GoalEdits:
    """Changes ties and caps of the active scenario's system; each edit returns why not, or None."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def goals(self) -> Goals:
        """What the project asks of the active scenario."""
        return goals_of(self._session.project.workbook)

    def make(self, step: Step) -> Refusal | None:
        """Edit the workbook."""
        return self._session.edit_workbook(*step)

    def change(self, label: str, change: Callable[[Goals], Goals]) -> Refusal | None:
        """Change the project's goals for the system of the active scenario."""
        return self.make(_step(label, change))

    def tie(self, keys: Sequence[Key], equal: TiedBy) -> Refusal | None:
        """Let queries have equal margins or budgets."""
        return self.change(f"Tie {_named(keys)} by {equal.value}", lambda goals: tied(goals, tuple(keys), equal))

    def untie(self, keys: Sequence[Key]) -> Refusal | None:
        """Let queries move by themselves."""
        return self.change(f"Untie {_named(keys)}", lambda goals: untied(goals, tuple(keys)))

    def add_cap(self, cap: Cap) -> Refusal | None:
        """Limit the privacy loss."""
        return self.change(f"Add the cap {cap.title}", lambda goals: with_cap(goals, cap))

    def remove_cap(self, number: int) -> Refusal | None:
        """Drop the limit at this place."""
        cap = self.goals.caps[number]

        def without(goals: Goals) -> Goals:
            return without_cap(goals, goals.caps.index(cap)) if cap in goals.caps else goals

        return self.change(f"Remove the cap {cap.title}", without)

    def forget(self) -> Refusal | None:
        """Ask nothing beside the scenario's own targets and locks."""
        return self.change("Drop all goals of the project", lambda _: Goals())


def _named(keys: Sequence[Key]) -> str:
    return title_of(keys[0]) if len(keys) == 1 else f"{len(keys)} queries"
