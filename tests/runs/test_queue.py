from __future__ import annotations

from pathlib import Path

import pytest

from phexplore.runs.queue import RunQueue, activate, enqueue, hold, leave, move, release

A, B, C = Path("a"), Path("b"), Path("c")


def three(slots: int = 1) -> RunQueue:
    queue = RunQueue(slots=slots)
    for directory in (A, B, C):
        queue = enqueue(queue, directory)
    return queue


def test_that_runs_start_in_their_order_one_at_a_time() -> None:
    queue, order = three(), []
    while queue.due:
        (directory,) = queue.due
        order.append(directory)
        queue = activate(queue, directory)
        assert queue.due == ()
        queue = leave(queue, directory)
    assert order == [A, B, C]
    assert queue == RunQueue()


def test_that_as_many_start_at_once_as_there_are_slots() -> None:
    assert three(slots=2).due == (A, B)
    assert activate(three(slots=2), A).due == (B,)


def test_that_a_held_queue_starts_nothing_until_it_is_released() -> None:
    assert hold(three()).due == ()
    assert release(hold(three())).due == (A,)


def test_that_a_waiting_run_can_be_withdrawn() -> None:
    assert leave(three(), A).waiting == (B, C)


@pytest.mark.parametrize(("position", "order"), [(0, (C, A, B)), (1, (A, C, B)), (9, (A, B, C)), (-1, (C, A, B))])
def test_that_a_waiting_run_can_be_moved(position: int, order: tuple[Path, ...]) -> None:
    assert move(three(), C, position).waiting == order


def test_that_a_run_is_in_the_queue_once() -> None:
    with pytest.raises(ValueError, match="twice"):
        enqueue(three(), B)


def test_that_a_run_that_does_not_wait_can_be_neither_started_nor_moved() -> None:
    queue = activate(three(), A)
    with pytest.raises(ValueError, match="does not wait"):
        activate(queue, A)
    with pytest.raises(ValueError, match="does not wait"):
        move(queue, A, 0)


def test_that_a_queue_without_slots_is_refused() -> None:
    with pytest.raises(ValueError, match="got 0"):
        RunQueue(slots=0)
