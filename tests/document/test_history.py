from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from phexplore.document.history import History, Step


class HistoryMachine(RuleBasedStateMachine):
    """A history against the obvious model: two stacks, a value, and what was saved."""

    def __init__(self):
        super().__init__()
        self.history = History([Step("Open", 0)])
        self.undone: list[int] = []
        self.done: list[int] = []
        self.value = 0
        self.saved: object = 0
        self.saved_depth = 0
        self.heard: list[tuple[int, int]] = []
        self.history.listen(lambda before, after: self.heard.append((before, after)))

    @rule(value=st.integers(0, 5))
    def commit(self, value):
        changed = self.history.commit("Edit", value)
        assert changed == (value != self.value)
        if changed:
            if self.saved_depth > len(self.done):
                self.saved_depth = -1
            self.done.append(self.value)
            self.value = value
            self.undone.clear()
            assert self.heard[-1] == (self.done[-1], value)

    @rule()
    def undo(self):
        assert self.history.undo() == bool(self.done)
        if self.done:
            self.undone.append(self.value)
            self.value = self.done.pop()

    @rule()
    def redo(self):
        assert self.history.redo() == bool(self.undone)
        if self.undone:
            self.done.append(self.value)
            self.value = self.undone.pop()

    @rule()
    def save(self):
        self.history.mark_saved()
        self.saved_depth = len(self.done)

    @invariant()
    def agrees(self):
        assert self.history.current == self.value
        assert self.history.can_undo == bool(self.done)
        assert self.history.can_redo == bool(self.undone)
        assert self.history.is_saved == (self.saved_depth == len(self.done))


TestHistoryMachine = HistoryMachine.TestCase
TestHistoryMachine.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


def test_that_a_drag_is_one_step():
    history = History([Step("Open", 0)])
    for value in range(1, 200):
        history.commit("Drag", value, merge_key="slider")
    assert (len(history.steps), history.current) == (2, 199)
    history.undo()
    assert history.current == 0


def test_that_a_released_slider_starts_a_new_step():
    history = History([Step("Open", 0)])
    history.commit("Drag", 1, merge_key="slider")
    history.end_merge()
    history.commit("Drag", 2, merge_key="slider")
    assert len(history.steps) == 3


def test_that_a_drag_never_overwrites_the_saved_version():
    history = History([Step("Open", 0)])
    history.commit("Drag", 1, merge_key="slider")
    history.mark_saved()
    history.commit("Drag", 2, merge_key="slider")
    assert not history.is_saved
    history.undo()
    assert (history.current, history.is_saved) == (1, True)


def test_that_a_history_needs_a_version_and_a_cursor_in_it():
    with pytest.raises(ValueError, match="one version"):
        History([])
    with pytest.raises(ValueError, match="outside"):
        History([Step("Open", 0)], 3)
