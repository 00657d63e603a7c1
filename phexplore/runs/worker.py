"""The worker process of a run: ``phexplore --worker RUN_DIR [PLACE]`` starts it here.

Events leave on standard output, one JSON object per line. Standard input takes the commands ``cancel``, ``pause`` and
``resume``; its end means that the starter is gone. Standard error is the log. Everything the run leaves behind is in
its directory (`phexplore.runs.store`).

Exit status: 0 when the run is complete, cancelled or interrupted, 1 when it failed.
"""

from __future__ import annotations

import contextlib
import errno
import faulthandler
import logging
import mmap
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from phexplore import __version__
from phexplore.errors import CancelledError, PhexploreError, trace_without_data
from phexplore.model.fingerprint import fingerprint
from phexplore.model.issues import InputProblemsError
from phexplore.platforms import peak_megabytes
from phexplore.preparing import heard_by
from phexplore.runs.confidentiality import UNMARKED, answer_about, close_to_others
from phexplore.runs.disclosure import shared_summary
from phexplore.runs.events import Failed, FinalEvent, Finished, Note, Outcome, PhaseDone, Started, TrialDone
from phexplore.runs.journal import EventJournal
from phexplore.runs.lock import locked
from phexplore.runs.place import Place
from phexplore.runs.release_note import write_beside
from phexplore.runs.reporting import Control, Reporter, WorkerWatch, listen
from phexplore.runs.simulation import Maker
from phexplore.runs.spec import RunSpec, RunSpecError
from phexplore.runs.store import (
    EVENTS_FILE,
    LOG_FILE,
    MANIFEST_FILE,
    RELEASE_DIRECTORY,
    SHARED_SUMMARY_FILE,
    SUMMARY_FILE,
    close_run,
    load_events,
    load_spec,
    present_trials,
    remove_leftovers,
)
from phexplore.runs.trials import TrialLoop
from phexplore.runs.writing import is_private, run_record, write_json

NICENESS = 10
"""Workers yield to the window: with more workers than cores its timer gaps stay below 15 ms."""

CANCEL_PATIENCE_SECONDS = 0.4
"""A worker that reaches no checkpoint in that time after ``cancel`` leaves at once: its files are whole anyway."""

ORPHAN_PATIENCE_SECONDS = 5
"""How long a worker whose starter is gone may take to leave by itself."""

LEAST_ADDRESS_SPACE = 1 << 30
"""Bytes that NumPy, Arrow and the compiler reserve before anything is counted; untouched, they cost nothing."""

SUMMARY_VERSION = 1

_LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_LOGGER = logging.getLogger("phexplore.runs")


def main(directory: Path, place: Place, make: Maker) -> int:
    """Run what the directory's specification says, where whoever starts it says; return the exit status.

    Args:
        directory: of the run.
        place: where it is computed.
        make: makes the simulation of the specification; the program above knows which.
    """
    _watch_over_starter()
    _settle_process()
    reporter, control = Reporter(_take_standard_output()), Control()
    threading.Thread(
        target=listen, args=(sys.stdin.fileno(), control, lambda: _leave_soon(reporter, control)), daemon=True
    ).start()
    with ExitStack() as held:
        run = _Start(directory, place, make, reporter, control, held)
        try:
            end = run.to_end()
        except CancelledError:
            end = Finished(control.outcome)
        except Exception as error:  # noqa: BLE001 - the edge of the process: whatever it is becomes the final event
            end = _failure(error)
        if not reporter.claim_end():
            threading.Event().wait()  # the listener is ending the process
        end = run.write_end(end)
    reporter.send_end(end)
    return 1 if isinstance(end, Failed) else 0


def _watch_over_starter() -> None:
    """Leave a process behind that ends this one when the starter is gone, even while a library holds the interpreter.

    It waits for the other end of standard input to close, reads nothing, and goes with the worker.
    """
    if not hasattr(os, "fork"):
        return
    alive, own_end = os.pipe()
    if os.fork():
        os.close(alive)
        return
    for handle in (own_end, 1, 2):
        os.close(handle)
    ends = select.poll()
    ends.register(alive, 0)
    ends.register(0, 0)
    if alive not in {handle for handle, _ in ends.poll()}:
        ends.unregister(0)
        if not ends.poll(ORPHAN_PATIENCE_SECONDS * 1000):
            worker = os.getppid()
            end = os.killpg if os.getpgid(worker) == worker else os.kill  # with what it started, if it leads its group
            end(worker, signal.SIGKILL)
    os._exit(0)


def _confirm_address_space() -> None:
    """Refuse to load the libraries where they do not fit: OpenBLAS asks for its buffers for ever.

    Raises:
        MemoryError: less is left than they take.
    """
    try:
        mmap.mmap(-1, LEAST_ADDRESS_SPACE).close()
    except OSError as error:
        raise MemoryError from error


def _settle_process() -> None:
    """Be nice, single-threaded inside libraries (the run decides what is done at the same time), and traceable."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    if hasattr(os, "nice"):
        os.nice(max(0, NICENESS - os.nice(0)))
    faulthandler.enable()
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format=_LOG_FORMAT)


def _take_standard_output() -> int:
    """Return a descriptor for events; whatever else is printed goes to the log."""
    sys.stdout.flush()
    events = os.dup(1)
    os.dup2(2, 1)
    return events


def _leave_soon(reporter: Reporter, control: Control) -> None:
    """Give the run time to stop by itself, then end the process from here: long work may pass no checkpoint.

    Safe at any moment, because files are whole or absent; not done once the run has begun to write its end.
    """
    time.sleep(CANCEL_PATIENCE_SECONDS)
    if reporter.claim_end():
        end = Finished(control.outcome)
        with contextlib.suppress(OSError):  # a full disk must not keep the process alive
            reporter.record_end(end)
        reporter.send_end(end)
        os._exit(0)


@dataclass(slots=True)
class _Start:
    """One start of a worker on a run directory; `held` keeps the lock and the records open until its end."""

    directory: Path
    place: Place
    make: Maker
    reporter: Reporter
    control: Control
    held: ExitStack
    holds: bool = False

    def to_end(self) -> FinalEvent:
        """Do the run and return how it ended; everything but the manifest is on disk then."""
        _confirm_address_space()
        spec = self._spec()
        self.held.enter_context(locked(self.directory))
        self.holds = True
        present = present_trials(self.directory)
        if (self.directory / MANIFEST_FILE).exists():
            self.reporter.report(Started(spec.trials, len(present)))
            self.reporter.report(Note("This run was complete already; nothing was computed."))
            return Finished(Outcome.COMPLETE)
        remove_leftovers(self.directory)
        if is_private(self.directory):
            os.umask(0o077)
        self._open_records()
        _refuse_another_version(spec)
        self.reporter.report(Started(spec.trials, len(present)))
        watch = WorkerWatch(self.reporter, self.control)
        self.held.enter_context(heard_by(watch.prepare_solver))
        with watch.phase("check data"):
            spec.data.verify(on_progress=lambda done, total: watch.progress("check data", done, total))
        answer = answer_about(spec.scenario, spec.data)
        if answer.confidential:
            close_to_others(self.directory)
        simulation = self.make(spec, self.directory, self.place)
        simulation.prepare(watch)
        if answer.confidential:
            watch.note(UNMARKED)
        trials = TrialLoop(self.directory, spec, simulation, watch=watch, report=self.reporter.report).run()
        with watch.phase("summary"):
            content = simulation.finish(trials, watch)
            if (release := self.directory / RELEASE_DIRECTORY).is_dir():
                write_beside(spec, release, sorted(release.rglob("*.csv")), private=answer.confidential)
        watch.checkpoint()
        summary = {**_summary(self.directory, spec, trials, content), "confidentiality": answer.json()}
        write_json(self.directory / SUMMARY_FILE, summary)
        if answer.confidential:
            write_json(self.directory / SHARED_SUMMARY_FILE, shared_summary(summary))
        return Finished(Outcome.COMPLETE)

    def _spec(self) -> RunSpec:
        spec = load_spec(self.directory)
        return spec if self.place.workers is None else replace(spec, workers=self.place.workers)

    def write_end(self, end: FinalEvent) -> FinalEvent:
        """Record how the run ended, the manifest of a complete one last; return what became of it."""
        if isinstance(end, Failed):
            _LOGGER.error("%s\n%s", end.sentence, end.details)
            if self.holds:
                with contextlib.suppress(OSError):  # the reason of the failure is on its way
                    remove_leftovers(self.directory)
        if (self.directory / MANIFEST_FILE).exists():
            return end
        try:
            self.reporter.record_end(end)
            if end == Finished(Outcome.COMPLETE):
                close_run(self.directory, load_spec(self.directory).identity)
        except (OSError, PhexploreError) as error:
            end = _failure(error)
            with contextlib.suppress(OSError):  # the disk may be what failed; whoever started the run hears it anyway
                self.reporter.record_end(end)
        return end

    def _open_records(self) -> None:
        self.reporter.record_in(self.held.enter_context(EventJournal(self.directory / EVENTS_FILE)))
        log = open(self.directory / LOG_FILE, "a", encoding="utf-8", opener=run_record)  # noqa: SIM115 - see below
        handler = logging.StreamHandler(log)
        handler.setFormatter(logging.Formatter(_LOG_FORMAT))
        logging.getLogger().addHandler(handler)
        self.held.callback(_close_quietly, handler)


def _close_quietly(handler: logging.StreamHandler[TextIOWrapper]) -> None:
    """Close the log, which may hold lines that a full disk refused: a better error is on its way."""
    logging.getLogger().removeHandler(handler)
    with contextlib.suppress(OSError):
        handler.stream.close()


def _refuse_another_version(spec: RunSpec) -> None:
    """Raise when the run was made by another version: trials of two versions must not be mixed."""
    if spec.code_version != __version__:
        raise RunSpecError(
            f"This run was made by version {spec.code_version} of the program; this is {__version__}.",
            "Start a new run; its finished trials can still be read.",
        )


def _summary(directory: Path, spec: RunSpec, trials: tuple[int, ...], content: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``summary.json``: what the run was, then what its method says."""
    return {
        "version": SUMMARY_VERSION,
        "identity": spec.identity,
        "fingerprint": fingerprint(spec.scenario),
        "scenario": spec.scenario.name,
        "mode": spec.mode.value,
        "seed": spec.seed,
        "reproducible": spec.is_reproducible,
        "releasable": spec.is_releasable,
        "synthetic_data": spec.provenance.is_synthetic,
        "provenance": spec.provenance.json(),
        "trials": len(trials),
        "trials_asked": spec.trials,
        "code_version": spec.code_version,
        "seconds": _seconds(directory),
        **({} if (peak := peak_megabytes()) is None else {"peak_mb": peak}),
        **content,
    }


def _seconds(directory: Path) -> dict[str, float]:
    """Return the seconds spent per phase, all starts of the run together; trials summed over threads."""
    spent: dict[str, float] = {}
    for event in load_events(directory):
        match event:
            case PhaseDone(name, seconds):
                spent[name] = spent.get(name, 0.0) + seconds
            case TrialDone():
                spent["trials"] = spent.get("trials", 0.0) + event.seconds
    return {name: round(seconds, 4) for name, seconds in spent.items()}


def _failure(error: Exception) -> Failed:
    details = f"phexplore {__version__}\n{trace_without_data(error)}"
    match error:
        case InputProblemsError():
            listed = "\n".join(f"{issue.place}: {issue.sentence} {issue.remedy}" for issue in error.issues)
            return Failed(error.sentence, error.remedy, listed, len(error.issues))
        case PhexploreError():
            return Failed(error.sentence, error.remedy, details)
        case MemoryError():
            return Failed(
                "There is not enough memory for this run.",
                "Close other programs, use fewer workers or smaller data; finished trials are kept.",
                details,
            )
        case OSError() if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            return Failed(
                f"The disk is full ({error.strerror}).",
                "Free some space, then resume the run: finished trials are kept.",
                details,
            )
        case OSError():
            return Failed(
                f"A file could not be read or written: {error}.",
                "Check that the disk has space and that you may read and write there; finished trials are kept.",
                details,
            )
    return Failed(
        f"The run stopped because of an error in the program ({type(error).__name__}).",
        "Finished trials are kept. Please report the error with its details.",
        details,
    )
