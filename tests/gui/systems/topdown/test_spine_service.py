"""The process that holds the blocks: newest request, progress, cancelling, and its death."""

from __future__ import annotations

import sys

import pytest

from phexplore.gui.binding.request_service import BLOCKS, RequestService, reader_process
from phexplore.spine.settings import SpineSettings
from phexplore.systems.registry import preset
from phexplore.systems.topdown.spine_views import BlocksRefused, SpineRequest, SpineStyle, SpineTab

WAIT_MS = 600_000
SCENARIO = preset("pl94-2020-persons-us").scenario


def request(path, tab=SpineTab.FAN_OUT):
    return SpineRequest(path, SCENARIO.topdown, SCENARIO.conventions, SpineSettings(), "standard", SpineStyle(tab))


@pytest.fixture
def blocks(tmp_path):
    path = tmp_path / "blocks.csv"
    rows = "".join(f"06001000100{1000 + block:04d},{block % 2:05d}\n" for block in range(30))
    path.write_text(f"geoid,place\n{rows}", "utf-8")
    return path


@pytest.fixture
def make():
    made = []

    def service(*command):
        process = reader_process(wording=BLOCKS, command=list(command) or None)
        made.append(RequestService(process, is_alone=True))
        return made[-1]

    yield service
    for each in made:
        each.stop()


def test_that_the_newest_request_is_answered_with_progress_before(qtbot, make, blocks):
    service, told, busy, answers = make(), [], [], []
    service.progressed.connect(told.append)
    service.busy_changed.connect(busy.append)
    service.answered.connect(answers.append)
    for tab in (SpineTab.FAN_OUT, SpineTab.DISTANCE, SpineTab.BYPASSED):
        service.request(request(blocks, tab))
    qtbot.waitUntil(lambda: not service.is_busy and len(answers) == 2, timeout=WAIT_MS)
    assert [answer.look.tab for answer in answers] == [SpineTab.FAN_OUT, SpineTab.BYPASSED]
    assert [each.step for each in told] == [1, 2, 3]
    assert busy[0]
    assert not busy[-1]


ECHO = """
import sys
from phexplore.gui.binding.frames import Progress, frame, read_frame

while (asked := read_frame(sys.stdin.buffer)) is not None:
    sys.stdout.buffer.write(frame(Progress(asked)) + frame(asked))
    sys.stdout.flush()
"""


@pytest.mark.parametrize("command", [(), (sys.executable, "-c", ECHO)], ids=["blocks", "all-in-one-chunk"])
def test_that_cancelling_delivers_nothing_and_the_next_request_starts_anew(qtbot, make, blocks, command):
    service, answers, cancelled = make(*command), [], []

    def cancel(_told):
        if not cancelled:
            cancelled.append(service.process_id)
            service.end()
            assert not service.is_busy
            service.request(request(blocks, SpineTab.DISTANCE))

    service.progressed.connect(cancel)
    service.answered.connect(answers.append)
    service.request(request(blocks))
    qtbot.waitUntil(lambda: bool(answers) and not service.is_busy, timeout=WAIT_MS)
    assert service.process_id not in {0, *cancelled}
    assert [answer.look.tab for answer in answers] == [SpineTab.DISTANCE]


def test_that_a_broken_file_comes_back_with_its_problems(qtbot, make, tmp_path):
    path = tmp_path / "broken.csv"
    path.write_text("geoid\n123\n", "utf-8")
    service = make()
    with qtbot.waitSignal(service.answered, timeout=WAIT_MS) as caught:
        service.request(request(path))
    assert isinstance(caught.args[0], BlocksRefused)
    assert caught.args[0].issues[0].line == 2


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ((sys.executable, "-c", "import sys; sys.exit('out of memory')"), "stopped"),
        (("/nonexistent/program",), "could not be started"),
    ],
)
def test_that_a_process_that_dies_is_said_and_survived(qtbot, make, blocks, command, words):
    service = make(*command)
    for _ in range(2):
        with qtbot.waitSignal(service.failed, timeout=WAIT_MS) as caught:
            service.request(request(blocks))
        assert words in caught.args[0].sentence
        assert not service.is_busy
