from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phexplore.runs.events import Event, Failed, Finished, Note, Outcome, Paused, Resumed, Started, TrialDone, encode
from phexplore.runs.states import TRANSITIONS, Happening, RunMonitor, RunState, after, exit_text

COMPLETE, CANCELLED, INTERRUPTED = (Finished(outcome) for outcome in Outcome)


def lines(*events: Event) -> bytes:
    return b"".join(encode(event).encode() + b"\n" for event in events)


def running() -> RunMonitor:
    monitor = RunMonitor()
    monitor.launched()
    monitor.feed(lines(Started(3)))
    assert monitor.state is RunState.RUNNING
    return monitor


def test_that_a_final_state_is_left_by_nothing() -> None:
    for state, happening in itertools.product(RunState, Happening):
        if state.is_final:
            assert after(state, happening) is state


def test_that_every_state_with_a_process_can_reach_every_end() -> None:
    for state in RunState:
        if state.has_process:
            ends = {after(state, happening) for happening in Happening}
            assert {state for state in RunState if state.is_final} <= ends


def test_that_every_state_can_be_reached() -> None:
    reached = {RunState.QUEUED}
    for _ in RunState:
        reached |= {target for (source, _), target in TRANSITIONS.items() if source in reached}
    assert reached == set(RunState)


def test_that_the_final_event_is_held_back_until_the_process_is_gone() -> None:
    monitor = running()
    assert monitor.feed(lines(TrialDone(0), COMPLETE)) == [TrialDone(0)]
    assert monitor.state is RunState.RUNNING
    assert monitor.process_gone(0, "") == (COMPLETE,)
    assert monitor.state is RunState.COMPLETE


def test_that_only_the_first_of_two_final_events_counts() -> None:
    monitor = running()
    monitor.feed(lines(CANCELLED, Failed("late")))
    assert monitor.process_gone(0, "") == (CANCELLED,)


def test_that_the_end_is_relayed_once() -> None:
    monitor = running()
    assert monitor.process_gone(0, "") != ()
    assert monitor.process_gone(0, "") == ()


@pytest.mark.parametrize(
    ("exit_code", "words"), [(3, "exit code 3"), (-6, "killed by SIGABRT"), (-11, "killed by SIGSEGV"), (0, "code 0")]
)
def test_that_a_worker_gone_without_a_word_has_failed_with_status_and_log(exit_code: int, words: str) -> None:
    monitor = running()
    (end,) = monitor.process_gone(exit_code, "x" * 9000 + "last words")
    assert isinstance(end, Failed)
    assert words in end.sentence
    assert end.details.endswith("last words")
    assert len(end.details) == 4000
    assert monitor.state is RunState.FAILED


@pytest.mark.defect("T16")
@pytest.mark.parametrize("exit_code", [-1, -2, -9, -15, -24])
def test_that_a_worker_ended_by_a_signal_from_outside_is_interrupted(exit_code: int) -> None:
    monitor = running()
    note, end = monitor.process_gone(exit_code, "")
    assert isinstance(note, Note)
    assert exit_text(exit_code) in note.text
    assert (end, monitor.state) == (INTERRUPTED, RunState.INTERRUPTED)


@pytest.mark.defect("T16")
def test_that_a_worker_killed_by_its_starter_without_a_cancel_is_interrupted() -> None:
    monitor = running()
    monitor.killed()
    assert monitor.process_gone(1, "")[-1] == INTERRUPTED  # a system without signals gives an exit code


def test_that_a_worker_killed_after_a_cancel_is_cancelled() -> None:
    monitor = running()
    assert monitor.ask_to_cancel() == b"cancel\n"
    assert monitor.state is RunState.CANCELLING
    monitor.killed()
    assert monitor.process_gone(-9, "") == (CANCELLED,)


def test_that_a_run_that_completes_while_it_is_cancelled_is_complete() -> None:
    monitor = running()
    monitor.ask_to_cancel()
    monitor.feed(lines(COMPLETE))
    assert monitor.process_gone(0, "") == (COMPLETE,)
    assert monitor.state is RunState.COMPLETE


def test_that_a_failure_while_it_is_cancelled_is_still_told() -> None:
    monitor = running()
    monitor.ask_to_cancel()
    monitor.feed(lines(Failed("disk")))
    assert monitor.process_gone(1, "") == (Failed("disk"),)


def test_that_a_queued_run_is_cancelled_without_a_process() -> None:
    monitor = RunMonitor()
    monitor.ask_to_cancel()
    assert monitor.state is RunState.CANCELLED
    assert monitor.process_gone(None, "") == (CANCELLED,)


def test_that_a_program_that_cannot_be_started_is_a_failure() -> None:
    monitor = RunMonitor()
    monitor.launched()
    (end,) = monitor.process_gone(None, "no such file")
    assert end == Failed(
        "The run could not be started.", "Check that the program is installed completely.", "no such file"
    )


def test_that_pause_and_resume_are_followed() -> None:
    monitor = running()
    assert monitor.feed(lines(Paused())) == [Paused()]
    assert monitor.state is RunState.PAUSED
    monitor.feed(lines(Resumed()))
    assert monitor.state is RunState.RUNNING


def test_that_a_line_cut_by_the_death_of_the_worker_is_relayed_before_the_end() -> None:
    monitor = running()
    monitor.feed(b'{"event": "Trial')
    first, _, end = monitor.process_gone(-9, "")
    assert first == Note('{"event": "Trial')
    assert end == INTERRUPTED


@given(
    st.lists(
        st.sampled_from(
            [
                Started(1),
                TrialDone(0),
                Paused(),
                Resumed(),
                COMPLETE,
                CANCELLED,
                INTERRUPTED,
                Failed("x"),
                "cancel",
                "kill",
            ]
        )
    )
)
def test_that_whatever_happens_there_is_exactly_one_final_event_and_it_is_last(news: list[Event | str]) -> None:
    monitor = RunMonitor()
    monitor.launched()
    relayed: list[Event] = []
    for item in news:
        if item == "cancel":
            monitor.ask_to_cancel()
        elif item == "kill":
            monitor.killed()
        else:
            relayed += monitor.feed(lines(item))  # type: ignore[arg-type]
    relayed += monitor.process_gone(0, "")
    assert [isinstance(event, Finished | Failed) for event in relayed].count(True) == 1
    assert isinstance(relayed[-1], Finished | Failed)
    assert monitor.state.is_final


def test_that_an_unknown_signal_is_named_by_its_number() -> None:
    assert exit_text(-250) == "killed by signal 250"
