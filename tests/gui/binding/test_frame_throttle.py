from __future__ import annotations

from phexplore.gui.binding.frame_throttle import FrameThrottle


def test_that_many_changes_in_a_frame_become_one_the_last(qtbot) -> None:
    frames, seen = FrameThrottle(), []
    frames.due.connect(seen.append)
    with qtbot.waitSignal(frames.due):
        for number in range(200):
            frames.request(number)
    assert seen == [199]


def test_that_the_last_change_is_never_lost(qtbot) -> None:
    frames, seen = FrameThrottle(interval_ms=1), []
    frames.due.connect(seen.append)
    for number in range(50):
        frames.request(number)
        qtbot.wait(1)
    qtbot.waitUntil(lambda: bool(seen) and seen[-1] == 49)
    assert seen == sorted(seen)


def test_that_flush_passes_on_at_once_and_only_once(qtbot) -> None:
    frames, seen = FrameThrottle(), []
    frames.due.connect(seen.append)
    frames.request("now")
    frames.flush()
    frames.flush()
    assert seen == ["now"]
