"""Damaged files of every kind: never a traceback, a hang or a growth of memory, always a sentence with the name of the file."""

from __future__ import annotations

import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from attack import commands

from phexplore.cli.app import program

ATTACK = Path(__file__).with_name("attacker.py")
LONGEST_SECONDS = 5.0
"""Of processor time per file; the machine may be shared. Twelve times that on the clock is a hang."""
MEMORY_BASE = 64 * 2**20
"""Bytes a reader may take beside four times the size of the files: blocks of 16 MB on their way through pyarrow."""
PATIENCE = 60.0
LONGEST_BEGINNING = 900.0
"""Seconds until the whole files of every kind are written and read, also on a machine with much else to do."""

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="peaks of memory are read from /proc"
)


def attacked(home: Path, seed: int, count: int, kind: str = "files") -> list[dict]:
    """Return what was said about every file; a hang or a crash of the process is one of the file it met."""
    cases: list[dict] = []
    first = 0
    while first < count:
        home.mkdir(parents=True, exist_ok=True)
        folder = home / f"from-{first}"
        folder.mkdir()
        process = subprocess.Popen(
            [sys.executable, str(ATTACK), str(folder), kind, str(seed), str(first), str(count - first)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": str(ATTACK.parents[2])},
        )  # fmt: skip
        lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        pump = threading.Thread(target=lambda p=process, q=lines: [q.put(line) for line in p.stdout] + [q.put("")])
        pump.start()
        said: list[str] = []
        listener = threading.Thread(target=lambda p=process, s=said: s.extend(p.stderr))
        listener.start()
        open_case, why = None, ""
        while True:
            try:
                line = lines.get(timeout=PATIENCE if open_case is not None else LONGEST_BEGINNING)
            except queue.Empty:
                why = f"hang of more than {PATIENCE} s"
                break
            if not line:
                why = "the process ended"
                break
            case = json.loads(line)
            if "begins" in case:
                open_case = case
            else:
                cases.append(case)
                open_case, first = None, case["number"] + 1
        process.kill()
        process.wait()
        for thread in (pump, listener):
            thread.join()
        for stream in (process.stdout, process.stderr):
            stream.close()
        if open_case is not None:
            cases.append(
                {**open_case, "outcome": "lost", "words": why, "seconds": PATIENCE, "spent": PATIENCE, "grown": 0}
            )
            first = open_case["number"] + 1
        elif first < count and kind == "files":
            raise AssertionError(f"the attack ended by itself after {first} of {count} files: {''.join(said)[-2000:]}")
        else:
            assert "Traceback" not in (words := "".join(said)), words[-3000:]
            break
    return cases


def beyond(case: dict) -> int:
    """Return the bytes a case took beyond four times its files and the same action on the files before they were damaged."""
    return case["grown"] - 4 * case["size"] - case.get("usual", 0)


def findings(cases: list[dict]) -> list[str]:
    """Return what is wrong, a line per file."""
    found = []
    for case in cases:
        reasons = [name for name in ("unnamed", "wordless") if case.get(name)]
        if case["outcome"] in {"traceback", "lost"}:
            reasons.append(case["outcome"])
        if case["spent"] > LONGEST_SECONDS:
            reasons.append(f"{case['spent']:.1f} s")
        if beyond(case) > MEMORY_BASE:
            reasons.append(f"{case['grown'] >> 20} MB for {case['size'] >> 10} kB")
        if reasons:
            found.append(
                f"{case['number']} {case['kind']} {case['target']} {case['how']}: {reasons}: {case['words'][-400:]}"
            )
    return found


def table(cases: list[dict]) -> str:
    """Return the counts per kind of file as text."""
    kinds = sorted({case["kind"] for case in cases})
    counts = Counter((case["kind"], case["outcome"]) for case in cases)
    lines = [f"{'kind':<22}{'files':>7}{'refused':>9}{'read':>7}"]
    for kind in kinds:
        refused, read = counts[kind, "refused"], counts[kind, "read"]
        lines.append(f"{kind:<22}{refused + read:>7}{refused:>9}{read:>7}")
    refused, read = (sum(1 for case in cases if case["outcome"] == outcome) for outcome in ("refused", "read"))
    lines.append(f"{'all':<22}{len(cases):>7}{refused:>9}{read:>7}")
    longest = max(case["spent"] for case in cases)
    largest = max(map(beyond, cases))
    lines.append(
        f"longest {longest:.2f} s of processor time; most memory beyond 4 x the file and the undamaged one {max(largest, 0) / 2**20:.0f} MB"
    )
    return "\n".join(lines)


def test_that_damaged_files_of_every_kind_are_read_or_refused_with_a_sentence(tmp_path):
    cases = attacked(tmp_path / "files", 20_260_701, 122)
    assert len(cases) == 122
    assert findings(cases) == []
    assert len({case["kind"] for case in cases}) > 60
    assert Counter(case["outcome"] for case in cases)["refused"] > 60


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_that_10_000_damaged_files_are_read_or_refused_with_a_sentence(tmp_path, capsys):
    began = time.perf_counter()
    halves: dict[int, list[dict]] = {}
    threads = [
        threading.Thread(target=lambda s=seed: halves.update({s: attacked(tmp_path / str(s), s, 5_250)}))
        for seed in (1, 2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    cases = [case for seed in sorted(halves) for case in halves[seed]]
    with capsys.disabled():
        sys.stdout.write(f"\n{table(cases)}\nin {time.perf_counter() - began:.0f} s\n")
    assert len(cases) >= 10_000
    assert findings(cases) == []


def _arguments() -> Iterator[tuple[str, str]]:
    """Yield every argument and option of every command that is a path or a scenario."""
    queue_ = [("", typer.main.get_command(program()))]
    while queue_:
        name, command = queue_.pop()
        queue_ += [(f"{name} {sub}".strip(), found) for sub, found in getattr(command, "commands", {}).items()]
        for parameter in getattr(command, "params", ()):
            kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
            if kind in {Path, list[Path]} or parameter.name in SCENARIOS:
                yield name, parameter.opts[0]


SCENARIOS = {"scenario", "scenarios", "a", "b", "members", "baseline", "file"}
OPENS_A_WINDOW, WRITES_ALONE = {"gui"}, {"demo"}


@pytest.mark.defect("F13")
def test_that_the_attack_knows_every_path_argument_of_every_command():
    for command, argument in _arguments():
        if command in OPENS_A_WINDOW | WRITES_ALONE:
            continue
        lines = commands.PATHS[command]
        if argument.startswith("--"):
            assert any(f"{argument} {{}}" in line for line in lines), (command, argument)
        else:
            assert any(not re.search(r"--\S+ \{\}", line) for line in lines), (command, argument)


@pytest.mark.parametrize(
    ("kind", "every", "fewest"),
    [
        pytest.param("paths", 9, 50, marks=pytest.mark.defect("F13")),
        pytest.param("numbers", 67, 40, marks=pytest.mark.defect("F9")),
        pytest.param("names", 29, 20, marks=pytest.mark.defect("F10")),
        *(
            pytest.param(kind, 1, fewest, marks=[pytest.mark.slow, pytest.mark.timeout(3600)])
            for kind, fewest in (("paths", 480), ("numbers", 2_000), ("names", 500))
        ),
    ],
)
def test_that_commands_answer_hostile_arguments_at_once(kind, every, fewest, tmp_path, capsys):
    cases = attacked(tmp_path, every, 10**6, kind)
    with capsys.disabled():
        sys.stdout.write(f"\n{kind}: {len(cases)} cases, longest {max(case['spent'] for case in cases):.1f} s\n")
    assert findings(cases) == []
    assert len(cases) >= fewest
    if kind == "paths":
        assert {case["outcome"] for case in cases} == {"refused"}


HELD_BY_CONTENT = {"rows in gzip"}
"""Whole tables that were packed well: what counts is what they unpack to, which ends at 200 times the file or 16 MB."""


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_that_files_made_to_grow_are_refused_in_time_and_memory(tmp_path, capsys):
    tmp_path.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, str(ATTACK), str(tmp_path), "bombs", "0", "0", "0"], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ATTACK.parents[2])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    cases = [case for case in map(json.loads, done.stdout.splitlines()) if "begins" not in case]
    for case in cases:
        if case["how"] in HELD_BY_CONTENT:
            case["size"] = max(200 * case["size"], 16 * 2**20)
    with capsys.disabled():
        for case in cases:
            words = f"{case['outcome']} in {case['spent']:.1f} s, {case['grown'] / 2**20:.0f} MB for {case['size'] / 2**20:.1f} MB"
            sys.stdout.write(f"\n{case['how']}: {words}")
    assert findings(cases) == []
    assert len(cases) > 30
