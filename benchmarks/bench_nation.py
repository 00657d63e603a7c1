"""The scaling curve of TopDown runs by state: wall and processor seconds, memory of all processes over time, and disk.

Usage: python benchmarks/bench_nation.py [--blocks N ...] [--memory 4G] [--place DIR] [--microdata] [--further] [--resume]
       [--cluster] [--again] [--table FILE.md] [--json FILE]

Synthetic nations of so many blocks (25,000 250,000 1,000,000 2,900,000 5,892,698 without --blocks) are made once and kept
under --place. Every run is the whole command, start, reading and summary included. ``--further`` runs a second trial beside
the first and counts the difference; ``--resume`` kills a run's worker when half of the states are there and goes on;
``--cluster`` estimates on two Dask workers of this machine. Memory is that of the command and everything it started, added up five
times a second (Linux): pages that processes share are counted in each.

What the JSON file has is not measured again, so that sizes can be run one at a time, or after an interruption; ``--again`` measures
it anew. The table is written to a file of its own, or between the lines ``<!-- measured -->`` and ``<!-- end -->`` of a page.
"""

from __future__ import annotations

import argparse
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

CURVE = (25_000, 250_000, 1_000_000, 2_900_000, 5_892_698)
RHODE_ISLAND = Path(__file__).parents[2] / "shared" / "data" / "blocks" / "pl94_ri_2010_blocks.csv.gz"
TESTS = Path(__file__).parents[1] / "tests"
_TICK = 0.2
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


def nation(place: Path, blocks: int) -> Path:
    """Return the block files of a nation, made if they are not there."""
    out = place / f"nation-{blocks}"
    if not (out / "56.csv.gz").exists():
        shutil.rmtree(out, ignore_errors=True)
        subprocess.run(
            program("synth", "pl94", "--nation", "--blocks", str(blocks), "--seed", "1", "--out", str(out)), check=True
        )
    return out


def order(data: Path, out: Path, *further: str) -> list[str]:
    """Return the command of a run."""
    options = ("--expand", "3", "--seed", "1", "--out", str(out))
    return program("run", "pl94-2020-persons-us", "--data", str(data), *options, *further)


def processor_seconds() -> float:
    """Return what all ended processes that were started here took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(command: list[str], out: Path) -> dict[str, Any]:
    """Run a command to its end and return what it took."""
    before, began = processor_seconds(), time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    memory = Memory(process.pid)
    memory.start()
    _, said = process.communicate()
    memory.stop()
    wall = time.perf_counter() - began
    if process.returncode:
        raise SystemExit(said[-2000:])
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    return {
        "wall_s": round(wall, 1),
        "processor_s": round(processor_seconds() - before, 1),
        "peak_mb_all_processes": memory.peak,
        "peak_mb_one_process": round(memory.largest_process, 1),
        "disk_mb": round(sum(path.stat().st_size for path in out.rglob("*") if path.is_file()) / 2**20, 1),
        "checks_hold": all(value is True for value in summary["checks"].values()),
        "failsafe": summary["failsafe"],
        "seconds": summary["seconds"],
        "load_at_end": os.getloadavg()[0],
        "memory_over_time": memory.over_time,
    }


def interrupted(data: Path, out: Path, memory: str) -> dict[str, Any]:
    """Kill a run when half of its states are there, go on, and say how many files of states were not made again."""
    shutil.rmtree(out, ignore_errors=True)
    command = order(data, out, "--trials", "1", "--memory", memory)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    unfinished = out / "trial-00000.parquet.part"
    while process.poll() is None and len(list(unfinished.glob("??.parquet"))) < 26:
        time.sleep(_TICK)
    for each in _family(process.pid) - {process.pid}:
        os.kill(each, signal.SIGKILL)
    process.kill()
    process.wait()
    kept = {path.name: path.stat().st_mtime_ns for path in unfinished.glob("??.parquet")}
    found = measured(command, out)
    same = sum((out / "trial-00000.parquet" / name).stat().st_mtime_ns == stamp for name, stamp in kept.items())
    return {**found, "states_there_at_the_kill": len(kept), "states_not_made_again": same}


def on_cluster(data: Path, out: Path, memory: str) -> dict[str, Any]:
    """Run on two workers of this machine, each a process."""
    sys.path.insert(0, str(TESTS))
    from runs.dask_cluster import ClusterProcess

    shutil.rmtree(out, ignore_errors=True)
    before = processor_seconds()
    with ClusterProcess(2) as cluster:
        found = measured(order(data, out, "--trials", "1", "--memory", memory, "--scheduler", cluster.address), out)
    return {
        **found,
        "processor_s": round(processor_seconds() - before, 1),
    }  # with the workers, which end with the cluster


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


def put_table(path: Path, text: str) -> None:
    """Write the table to a file, or between its marks in a page that has them."""
    page = path.read_text(encoding="utf-8") if path.exists() else ""
    before, begin, rest = page.partition("<!-- measured -->\n")
    _, end, after = rest.partition("<!-- end -->")
    path.write_text(f"{before}{begin}{text}{end}{after}" if end else text, encoding="utf-8")


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
    for name, run in plan(options):
        if name in results and not options.again:
            print(f"{name}: measured before")
            continue
        results[name] = run()
        print(table({name: results[name]}).splitlines()[-1], flush=True)
        if options.table:
            put_table(options.table, table(results))
        if options.json:
            options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")


def plan(options: argparse.Namespace) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """Yield the runs that are asked for, with their names."""
    out, memory = options.place / "run", options.memory

    def whole(data: Path, *further: str) -> Callable[[], dict[str, Any]]:
        return lambda: fresh(data, out, *further)

    if RHODE_ISLAND.exists():
        yield "Rhode Island 2010, first command", whole(RHODE_ISLAND, "--trials", "1")
        yield "Rhode Island 2010", whole(RHODE_ISLAND, "--trials", "1")
    for blocks in sorted(options.blocks):
        data, limit = nation(options.place, blocks), ("--memory", memory)
        yield f"{blocks:,} blocks", whole(data, "--trials", "1", *limit)
        if options.further:
            yield f"{blocks:,} blocks, two trials", whole(data, "--trials", "2", *limit)
        if options.microdata:
            yield f"{blocks:,} blocks, microdata", whole(data, "--trials", "1", "--microdata", *limit)
        if options.resume:
            yield f"{blocks:,} blocks, killed and resumed", partial(interrupted, data, out, memory)
        if options.cluster:
            yield f"{blocks:,} blocks, cluster of two", partial(on_cluster, data, out, memory)


def fresh(data: Path, out: Path, *further: str) -> dict[str, Any]:
    """Run in an empty folder."""
    shutil.rmtree(out, ignore_errors=True)
    return measured(order(data, out, *further), out)


if __name__ == "__main__":
    main()
