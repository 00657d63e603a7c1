from __future__ import annotations

import io
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phexplore.catalog.names import Naming, called, chosen_naming
from phexplore.gui.binding.frames import FrameDecoder, Refused, frame, read_frame
from phexplore.gui.binding.request_service import RequestService, reader_process
from phexplore.gui.run_manager import result_server
from phexplore.gui.run_manager.result_server import serve
from phexplore.systems.phsafe.system import PHSAFE
from phexplore.systems.run_results import RunAnswer, RunRequest


@given(st.lists(st.one_of(st.integers(), st.binary(), st.text()), max_size=6), st.lists(st.integers(1, 9), min_size=1))
def test_that_frames_cut_anywhere_come_out_whole(values, cuts):
    stream = b"".join(map(frame, values))
    decoder, found, place, turn = FrameDecoder(), [], 0, 0
    while place < len(stream):
        step = cuts[turn % len(cuts)]
        found += decoder.feed(stream[place : place + step])
        place, turn = place + step, turn + 1
    assert found == values


def test_that_a_stream_ends_between_and_inside_frames():
    whole = io.BytesIO(frame("one"))
    assert read_frame(whole) == "one"
    assert read_frame(whole) is None
    assert read_frame(io.BytesIO(frame("one")[:-1])) is None


def test_that_the_server_answers_and_refuses_until_the_requests_end(write_run, tmp_path):
    run = write_run()
    asked = [RunRequest(run.directory, tab.id) for tab in PHSAFE.results.tabs] + [RunRequest(tmp_path)]
    answers = io.BytesIO()
    serve(io.BytesIO(b"".join(map(frame, asked))), answers)
    answers.seek(0)
    found = [read_frame(answers) for _ in asked]
    assert [type(each) for each in found] == [RunAnswer] * 5 + [Refused]
    assert found[-1].remedy


def test_that_what_is_answered_calls_things_as_the_window_did_when_it_asked(monkeypatch, tmp_path):
    monkeypatch.setattr(
        result_server, "_results_of", lambda _request: ("named", lambda _tell: lambda _: chosen_naming())
    )
    before = chosen_naming()
    with called(Naming.BOTH):
        asked = RunRequest(tmp_path)
    assert result_server.Readers(print).answer(asked) is Naming.BOTH
    assert chosen_naming() is before is not Naming.BOTH


def test_that_an_answer_is_small_whatever_the_number_of_errors(write_run):
    run = write_run(trials=20)
    answers = io.BytesIO()
    serve(io.BytesIO(frame(RunRequest(run.directory, "errors"))), answers)
    assert len(answers.getvalue()) < 100_000


@pytest.fixture
def reader(qapp):
    made = []

    def make(command=None):
        made.append(reader_process(command=command))
        return made[-1]

    yield make
    for each in made:
        each.end(wait=True)


@pytest.fixture
def service(reader):
    made = []

    def make(command=None):
        found = RequestService(reader(command), is_alone=True)
        found.answers, found.failures = [], []
        found.answered.connect(found.answers.append)
        found.failed.connect(found.failures.append)
        made.append(found)
        return found

    yield make
    for each in made:
        each.stop()


def test_that_a_real_reader_answers_survives_a_kill_and_ends_with_the_window(service, write_run, tmp_path, qtbot):
    run = write_run()
    found = service()
    found.request(RunRequest(run.directory, "worst"))
    qtbot.waitUntil(lambda: len(found.answers) == 1)
    assert found.answers[0].trials == 2
    first = found.process_id
    os.kill(first, signal.SIGSTOP)  # so that the kill comes before the answer
    found.request(RunRequest(run.directory, "worst"))
    os.kill(first, signal.SIGKILL)
    qtbot.waitUntil(lambda: len(found.failures) == 1)
    assert "their reader stopped" in found.failures[0].sentence
    found.request(RunRequest(tmp_path))
    qtbot.waitUntil(lambda: len(found.failures) == 2)
    assert found.process_id != first
    found.stop()
    assert found.process_id == 0


ECHO = """
import sys, struct, pickle, time
sys.path.insert(0, {path!r})
from phexplore.gui.binding.frames import frame, read_frame
while (request := read_frame(sys.stdin.buffer)) is not None:
    time.sleep(0.05)
    sys.stdout.buffer.write(frame(request)); sys.stdout.buffer.flush()
"""


def test_that_the_newest_of_waiting_requests_is_answered_next(service, tmp_path, qtbot):
    script = tmp_path / "echo.py"
    script.write_text(ECHO.format(path=str(Path.cwd())))
    found = service([sys.executable, str(script)])
    asked = [RunRequest(tmp_path / str(number)) for number in range(10)]
    for request in asked:
        found.request(request)
    assert found.is_busy
    qtbot.waitUntil(lambda: len(found.answers) == 2)
    assert found.answers == [asked[0], asked[-1]]
    assert not found.is_busy


@pytest.fixture
def echo(reader, tmp_path):
    """A reader that answers with what it is asked."""
    script = tmp_path / "echo.py"
    script.write_text(ECHO.format(path=str(Path.cwd())))
    return reader([sys.executable, str(script)])


@pytest.mark.defect("M15")
def test_that_all_views_of_a_window_share_one_process_and_each_hears_its_own_answers(echo, tmp_path, qtbot):
    views = [RequestService(echo) for _ in range(3)]
    heard = [[] for _ in views]
    for view, answers in zip(views, heard, strict=True):
        view.answered.connect(answers.append)
    asked = [[RunRequest(tmp_path / f"{one}-{turn}") for turn in range(3)] for one in range(3)]
    for turn in range(3):
        for view, requests in zip(views, asked, strict=True):
            view.request(requests[turn])
    process = echo.process_id
    qtbot.waitUntil(lambda: all(answers[-1:] == [requests[-1]] for answers, requests in zip(heard, asked, strict=True)))
    assert echo.process_id == process
    for answers, requests in zip(heard, asked, strict=True):
        assert all(answer in requests for answer in answers)


@pytest.mark.defect("M15")
def test_that_the_reader_ends_with_its_project_and_starts_again_for_the_next(echo, tmp_path, qtbot):
    view, other = RequestService(echo), RequestService(echo)
    answers = []
    view.answered.connect(answers.append)
    other.answered.connect(answers.append)
    view.request(RunRequest(tmp_path / "old"))
    other.request(RunRequest(tmp_path / "old too"))
    ended = echo.process_id
    echo.end(wait=True)
    assert echo.process_id == 0
    assert not view.is_busy
    assert not other.is_busy
    assert not Path(f"/proc/{ended}").exists() or sys.platform != "linux"
    wanted = RunRequest(tmp_path / "new")
    view.request(wanted)
    qtbot.waitUntil(lambda: answers == [wanted])
    view.stop()
    view.request(wanted)
    assert not view.is_busy


def test_that_a_reader_that_cannot_be_started_is_told(service, tmp_path, qtbot):
    found = service([str(tmp_path / "missing")])
    found.request(RunRequest(tmp_path))
    qtbot.waitUntil(lambda: len(found.failures) == 1)
    assert "could not be started" in found.failures[0].sentence
