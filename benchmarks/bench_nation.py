"""The scaling curve of TopDown runs by state: wall and processor seconds, memory of all processes over time, and disk.

Usage: python benchmarks/bench_nation.py [--blocks N ...] [--memory 4G] [--place DIR] [--microdata] [--further] [--resume]
       [--cluster] [--again] [--table FILE.md] [--json FILE]

Synthetic nations of so many blocks (25,000 250,000 1,000,000 2,900,000 5,892,698 without --blocks) are made once and kept
under --place. Every run is the whole command, start, reading and summary included. ``--further`` runs a second trial beside
the first and counts the difference; ``--resume`` kills a run's worker at 13 states, cancels it by Ctrl-C at 26, pauses it at 39 and
compares its bytes with the run before; ``--cluster`` estimates on two Dask workers of this machine, then again with one of them
killed at 26 states. Memory is that of the command and everything it started (of a cluster, with its workers), added up five times
a second (Linux): pages that processes share are counted in each.

What the JSON file has is not measured again, so that sizes can be run one at a time, or after an interruption; ``--again`` measures
it anew. Two tables are written, between the lines ``<!-- measured -->``, ``<!-- memory -->`` and their ends where a page has them:
the figures, and the memory in tenths of every run's time.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from phexplore.runs.events import Progress
from phexplore.runs.launch import WorkerProcess, worker_command
from phexplore.runs.place import Place, read_memory

CURVE = (25_000, 250_000, 1_000_000, 2_900_000, 5_892_698)
RHODE_ISLAND = Path(__file__).parents[2] / "shared" / "data" / "blocks" / "pl94_ri_2010_blocks.csv.gz"
TESTS = Path(__file__).parents[1] / "tests"
_TICK = 0.2
_REST = 5.0
_TENTHS = 10
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Memory(threading.Thread):
    """Adds up what a process and its descendants hold."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self._root, self._over = process, threading.Event()
        self.over_time: list[tuple[float, float]] = []
        self.largest_process = 0.0

    def run(self) -> None:
        """Sample until it is over."""
        began = time.monotonic()
        while not self._over.wait(_TICK):
            held = [_megabytes(process) for process in _family(self._root)]
            self.over_time.append((round(time.monotonic() - began, 1), round(sum(held), 1)))
            self.largest_process = max([self.largest_process, *held])

    def stop(self) -> None:
        """End."""
        self._over.set()
        self.join()

    @property
    def peak(self) -> float:
        """The most at once, MB."""
        return max((held for _, held in self.over_time), default=0.0)


def _family(root: int) -> set[int]:
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found, before = {root}, 0
    while len(found) != before:
        before = len(found)
        found |= {process for process, parent in parents.items() if parent in found}
    return found


def _megabytes(process: int) -> float:
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * _PAGE / 2**20
    except OSError:
        return 0.0


def program(*arguments: str) -> list[str]:
    """Return a command of the program."""
    return [sys.executable, "-m", "phexplore", *arguments]


def made(out: Path, blocks: int) -> dict[str, Any]:
    """Make the block files of a nation."""
    shutil.rmtree(out, ignore_errors=True)
    size = ("--nation", "--blocks", str(blocks))
    return measured(program("synth", "pl94", *size, "--seed", "1", "--out", str(out)), out)


def order(data: Path, out: Path, *further: str) -> list[str]:
    """Return the command of a run."""
    options = ("--expand", "3", "--seed", "1", "--out", str(out))
    return program("run", "pl94-2020-persons-us", "--data", str(data), *options, *further)


def processor_seconds() -> float:
    """Return what all ended processes that were started here took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(command: list[str], out: Path, root: int = 0) -> dict[str, Any]:
    """Run a command to its end and return what it took.

    Args:
        command: of the program.
        out: what it writes.
        root: process whose descendants' memory counts; 0 for the command's own.
    """
    before, began = processor_seconds(), time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    memory = Memory(root or process.pid)
    memory.start()
    _, said = process.communicate()
    memory.stop()
    wall = time.perf_counter() - began
    if process.returncode:
        raise SystemExit(said[-2000:])
    return {
        "wall_s": round(wall, 1),
        "processor_s": round(processor_seconds() - before, 1),
        "peak_mb_all_processes": memory.peak,
        "peak_mb_one_process": round(memory.largest_process, 1),
        **figures(out),
        "load_at_end": os.getloadavg()[0],
        "memory_over_time": memory.over_time,
    }


def figures(out: Path) -> dict[str, Any]:
    """Return what a command left: its size, and of a run its checks and 64 hexadecimal digits over all counts of its first trial."""
    found: dict[str, Any] = {"disk_mb": round(sum(p.stat().st_size for p in out.rglob("*") if p.is_file()) / 2**20, 1)}
    if (out / "summary.json").exists():
        summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
        digest, trial = hashlib.sha256(), out / "trial-00000.parquet"
        for path in sorted(trial.iterdir()) if trial.is_dir() else (trial,):
            digest.update(path.read_bytes())
        found["checks_hold"] = all(value is True for value in summary["checks"].values())
        found |= {
            "failsafe": summary["failsafe"],
            "unfinished": summary["unfinished"],
            "seconds": summary["seconds"],
            "bytes": digest.hexdigest(),
        }
    return found


def interrupted(data: Path, out: Path, memory: str, alone: dict[str, Any]) -> dict[str, Any]:
    """Kill a run's worker, cancel the run by Ctrl-C, let it rest and go on to its end; say what each cost.

    Args:
        data: block files.
        out: directory of the run.
        memory: that it may take.
        alone: figures of the same run when nothing disturbed it.
    """
    shutil.rmtree(out, ignore_errors=True)
    command, unfinished = order(data, out, "--trials", "1", "--memory", memory), out / "trial-00000.parquet.part"
    before, peak, found = processor_seconds(), 0.0, dict[str, Any]()

    def there() -> dict[str, int]:
        return {path.name: path.stat().st_mtime_ns for path in unfinished.glob("??.parquet")}

    kept: dict[str, int] = {}
    began = time.perf_counter()
    for name, states in (("killed", 13), ("cancelled", 26)):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        watched = Memory(process.pid)
        watched.start()
        while process.poll() is None and len(there()) < states:
            time.sleep(_TICK)
        found[f"{name}_states_there"], asked = len(there()), time.perf_counter()
        if name == "killed":
            for each in _family(process.pid) - {process.pid}:
                os.kill(each, signal.SIGKILL)
        else:
            process.send_signal(signal.SIGINT)
        process.wait()
        found[f"{name}_s"] = round(time.perf_counter() - asked, 2)
        watched.stop()
        peak, kept = max(peak, watched.peak), there() | kept
    with WorkerProcess(out, worker_command(out, Place(memory=read_memory(memory)))) as worker:
        for event in worker.events():
            if "rested_states" not in found and isinstance(event, Progress) and len(there()) >= 39:
                worker.pause()
                time.sleep(_REST)
                rested, used = there(), _own_seconds(worker.process_id)
                time.sleep(_REST)
                found["rested_states"] = len(there()) - len(rested)
                found["rested_processor_s"] = round(_own_seconds(worker.process_id) - used, 2)
                worker.resume()
    end = figures(out)
    whole = out / "trial-00000.parquet"
    again = [name for name, stamp in kept.items() if (whole / name).stat().st_mtime_ns != stamp]
    return {
        **alone,
        **end,
        **found,
        "wall_s": round(time.perf_counter() - began, 1),
        "processor_s": round(processor_seconds() - before, 1),
        "peak_mb_all_processes": peak,
        "memory_over_time": [],
        "load_at_end": os.getloadavg()[0],
        "states_made_again": again,
        "same_bytes": end["bytes"] == alone.get("bytes"),
    }


def _own_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def on_cluster(data: Path, out: Path, memory: str, alone: dict[str, Any], *, kill: bool = False) -> dict[str, Any]:
    """Run on two workers of this machine, each a process.

    Args:
        data: block files.
        out: directory of the run.
        memory: that the run may take on this machine, and either worker.
        alone: figures of the same run without a cluster.
        kill: whether a worker is killed when half of the states are there.
    """
    sys.path.insert(0, str(TESTS))
    from runs.dask_cluster import ClusterProcess

    shutil.rmtree(out, ignore_errors=True)
    before, unfinished = processor_seconds(), out / "trial-00000.parquet.part"
    with ClusterProcess(2, memory=read_memory(memory)) as cluster:

        def end_one() -> None:
            while len(list(unfinished.glob("??.parquet"))) < 26:
                time.sleep(_TICK)
            os.kill(cluster.workers()[0], signal.SIGKILL)

        if kill:
            threading.Thread(target=end_one, daemon=True).start()
        command = order(data, out, "--trials", "1", "--memory", memory, "--scheduler", cluster.address)
        found = measured(command, out, os.getpid())
    found["processor_s"] = round(processor_seconds() - before, 1)  # with the workers, which end with the cluster
    return {**found, "same_bytes": found["bytes"] == alone.get("bytes")}


def table(results: dict[str, dict[str, Any]]) -> str:
    """Return the figures as a table of the documentation."""
    lines = [
        "| run | wall, s | processor, s | peak of all processes, MB | of one process, MB | disk, MB | load |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {name} | {each['wall_s']:,} | {each['processor_s']:,} | {each['peak_mb_all_processes']:,.0f} | "
        f"{each['peak_mb_one_process']:,.0f} | {each['disk_mb']:,} | {each['load_at_end']:.1f} |"
        for name, each in results.items()
    ]
    return "\n".join(lines) + "\n"


def memory_table(results: dict[str, dict[str, Any]]) -> str:
    """Return what all processes held at most in each tenth of every run's time, as a table of the documentation."""
    tenths = range(_TENTHS)
    lines = [
        "| MB of all processes, by tenths of the time | " + " | ".join(f"{tenth + 1}" for tenth in tenths) + " |",
        "|---|" + "--:|" * _TENTHS,
    ]
    for name, each in results.items():
        if over_time := each.get("memory_over_time"):
            end = over_time[-1][0] or 1.0
            most = [0.0] * _TENTHS
            for second, held in over_time:
                tenth = min(_TENTHS - 1, int(second / end * _TENTHS))
                most[tenth] = max(most[tenth], held)
            lines.append(f"| {name} | " + " | ".join(f"{held:,.0f}" for held in most) + " |")
    return "\n".join(lines) + "\n"


def put_table(path: Path, text: str, name: str) -> None:
    """Write a table between its marks in a page that has them, or behind everything else."""
    page = path.read_text(encoding="utf-8") if path.exists() else ""
    marks = f"<!-- {name} -->\n", f"<!-- end {name} -->"
    before, begin, rest = page.partition(marks[0])
    _, _, after = rest.partition(marks[1])
    path.write_text(f"{before}{marks[0]}{text}{marks[1]}{after if begin else chr(10)}", encoding="utf-8")


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--blocks", type=int, nargs="*", default=CURVE)
    arguments.add_argument("--memory", default="4G")
    arguments.add_argument("--place", type=Path, default=Path("nation-benchmark"))
    for name in ("microdata", "further", "resume", "cluster", "again"):
        arguments.add_argument(f"--{name}", action="store_true")
    arguments.add_argument("--table", type=Path)
    arguments.add_argument("--json", type=Path)
    options = arguments.parse_args()
    options.place.mkdir(parents=True, exist_ok=True)
    results: dict[str, dict[str, Any]] = {}
    if options.json and options.json.exists():
        results = json.loads(options.json.read_text(encoding="utf-8"))
    for name, run in plan(options, results):
        if name in results and not options.again:
            print(f"{name}: measured before")
            continue
        results[name] = run()
        print(table({name: results[name]}).splitlines()[-1], flush=True)
        if options.table:
            put_table(options.table, table(results), "measured")
            put_table(options.table, memory_table(results), "memory")
        if options.json:
            options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")


def plan(
    options: argparse.Namespace, results: dict[str, dict[str, Any]]
) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """Yield what is asked for, with names; what was measured before is in the results when it is needed."""
    out, memory = options.place / "run", options.memory

    def whole(data: Path, *further: str) -> Callable[[], dict[str, Any]]:
        return lambda: fresh(data, out, *further)

    if RHODE_ISLAND.exists():
        yield "Rhode Island 2010, first command", whole(RHODE_ISLAND, "--trials", "1")
        yield "Rhode Island 2010", whole(RHODE_ISLAND, "--trials", "1")
    for blocks in sorted(options.blocks):
        data, limit, name = options.place / f"nation-{blocks}", ("--memory", memory), f"{blocks:,} blocks"
        if not (data / "56.csv.gz").exists():
            yield f"{name}, generated", partial(made, data, blocks)
        yield name, whole(data, "--trials", "1", *limit)
        if options.further:
            yield f"{name}, two trials", whole(data, "--trials", "2", *limit)
        if options.microdata:
            yield f"{name}, microdata", whole(data, "--trials", "1", "--microdata", *limit)
        if options.resume:
            yield f"{name}, killed, cancelled, resumed", partial(interrupted, data, out, memory, results[name])
        if options.cluster:
            there = partial(on_cluster, data, out, memory, results[name])
            yield f"{name}, cluster of two", there
            yield f"{name}, cluster of two, one killed", partial(there, kill=True)


def fresh(data: Path, out: Path, *further: str) -> dict[str, Any]:
    """Run in an empty folder."""
    shutil.rmtree(out, ignore_errors=True)
    return measured(order(data, out, *further), out)


if __name__ == "__main__":
    main()
