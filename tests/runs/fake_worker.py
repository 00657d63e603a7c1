"""A worker over a simulation that costs nothing, to test the machinery around it in real processes.

``python fake_worker.py RUN_DIR [BEHAVIOUR]``; see `BEHAVIOURS`.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from phexplore.errors import PhexploreError
from phexplore.runs import worker
from phexplore.runs.place import HERE
from phexplore.runs.simulation import TrialFigures, Watch
from phexplore.runs.spec import RunSpec
from phexplore.systems import registry

BEHAVIOURS = (
    "quick",
    "slow",
    "stuck",
    "deaf",
    "broken",
    "refusing",
    "full-disk",
    "dying",
    "hungry",
    "parent",
    "full-record",
)


class FakeSimulation:
    """Writes the seed and the index as text; the covered share is a function of both."""

    def __init__(self, spec: RunSpec, directory: Path, behaviour: str) -> None:
        self.spec, self.directory, self.behaviour = spec, directory, behaviour

    def prepare(self, watch: Watch) -> None:
        with watch.phase("count"):
            for done in range(3):
                watch.progress("count", done + 1, 3)
        if self.behaviour == "stuck":
            time.sleep(3600)  # no checkpoint, but the interpreter is free
        if self.behaviour == "parent":
            child = subprocess.Popen(["sleep", "3600"], stdin=subprocess.DEVNULL)
            watch.note(str(child.pid))
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
            hold_the_interpreter()
        if self.behaviour == "full-record":
            size = (self.directory / "events.jsonl").stat().st_size + 10
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        if self.behaviour == "full-disk":
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    def write_trial(self, index: int, path: Path) -> TrialFigures:
        rng = random.Random(f"{self.spec.seed}/{index}")
        if self.behaviour == "slow":
            time.sleep(0.02)
        if self.behaviour == "broken" and index == 3:
            raise KeyError("no such cell")
        if self.behaviour == "refusing":
            raise PhexploreError("The data holds no households.", "Choose other data.")
        if self.behaviour == "hungry":
            raise MemoryError
        if self.behaviour == "dying" and index == 3:
            os.write(2, b"about to fall over\n")
            os.abort()
        covered = rng.randint(85, 95)
        path.write_bytes(f"{covered} of 100\n".encode() + rng.randbytes(8000 if self.behaviour == "full-disk" else 100))
        return TrialFigures(covered, 100)

    def read_figures(self, path: Path) -> TrialFigures:
        words = path.read_bytes().split(b"\n")[0].split()
        if len(words) != 3:
            raise PhexploreError(f"{path.name} is no trial.")
        return TrialFigures(int(words[0]), int(words[2]))

    def finish(self, trials: tuple[int, ...], watch: Watch) -> Mapping[str, Any]:
        watch.progress("summary", len(trials), len(trials))
        return {"checks": {"whole": True}, "failsafe": 0, "metrics": []}


def hold_the_interpreter() -> None:
    """Work for ever in one call that lets no other thread run: the worker hears no command."""
    sys.setswitchinterval(3600)
    while True:
        pass


if __name__ == "__main__":
    registry.systems()  # a run names its system, which a process knows that has read the table of systems
    chosen = sys.argv[2] if len(sys.argv) > 2 else "quick"
    if chosen not in BEHAVIOURS:
        sys.exit(f"unknown behaviour {chosen}")
    if chosen == "deaf":
        os.write(1, b'{"event": "Started", "trials": 3, "present": 0}\n')
        time.sleep(3600)
    sys.exit(worker.main(Path(sys.argv[1]), HERE, lambda spec, where, _: FakeSimulation(spec, where, chosen)))
