"""Lets the program meet one hostile thing after the other and writes down what it said, how long it took and what memory.

``python attacker.py FOLDER KIND SEED FIRST COUNT``, where KIND is files, bombs, paths, numbers or names, and the seed of all but files says to take every which case: one JSON object per line on
standard output. A process of its own, so that a hang, a crash or a growth of memory is one of a reader and not of the tests.
"""

from __future__ import annotations

import gc
import json
import os
import random
import shutil
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from attack.bombs import make_bombs  # noqa: E402 - after the path is set
from attack.commands import meet_names, meet_numbers, meet_paths  # noqa: E402 - as above
from attack.mutations import mutated  # noqa: E402 - after the path is set
from attack.samples import Sample, make_samples  # noqa: E402 - as above

from phexplore.errors import PhexploreError  # noqa: E402 - as above
from phexplore.model.issues import InputProblemsError  # noqa: E402 - as above

LITTLE = 48 * 2**20
"""Bytes from which on it is worth knowing what the same action takes on the file before it was damaged."""
CHANNEL = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)  # a library that prints what it thinks of a file must not end up among the answers


def peak_memory() -> int:
    """Return the largest resident size of this process since it was reset, in bytes."""
    with Path("/proc/self/status").open(encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def reset_peak() -> int:
    """Forget the largest resident size; return the present one."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return peak_memory()


Case = tuple[dict[str, object], Callable[[], str], set[str]]
"""What a case is, what reads it (returning what the program said of problems), and the names one of which a refusal has to say."""


def met(act: Callable[[], str], names: set[str]) -> dict[str, object]:
    """Let a reader meet something hostile; return what it said."""

    def named(words: str) -> bool:
        return not names or any(each in words for each in names)

    before, began, spent = reset_peak(), time.perf_counter(), time.process_time()
    found: dict[str, object] = {}
    try:
        words = act()
        found = {"outcome": "refused" if words else "read", "words": words[:300]}
        if words and not named(words):
            found["unnamed"] = True
    except InputProblemsError as error:
        places = [issue.place for issue in error.issues]
        placed = any(issue.line or len(issue.path) > 1 for issue in error.issues)
        found = {"outcome": "refused", "words": str(error)[:300], "placed": placed}
        if not all(named(place) for place in places):
            found["unnamed"] = True
        if not all(issue.sentence.strip() and issue.remedy.strip() for issue in error.issues):
            found["wordless"] = True
    except PhexploreError as error:
        words = f"{error.sentence} {error.remedy}"
        found = {"outcome": "refused", "words": words[:300]}
        if not named(words):
            found["unnamed"] = True
        if not error.sentence.strip():
            found["wordless"] = True
    except BaseException as error:  # noqa: BLE001 - this is what is looked for
        found = {"outcome": "traceback", "words": "".join(traceback.format_exception(error))[-1500:]}
    return found | {
        "seconds": time.perf_counter() - began,
        "spent": time.process_time() - spent,
        "grown": peak_memory() - before,
    }


def main(home: Path, kind: str, seed: int, first: int, count: int) -> None:
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    samples = make_samples(home / "whole", for_commands=kind not in {"files", "bombs"})
    os.chdir(home)
    match kind:
        case "files":
            cases: Iterable[Case] = damaged(samples, home, seed, range(first, first + count))
        case "bombs":
            cases = bombs(samples, home)
        case _:
            throw = {"paths": meet_paths, "numbers": meet_numbers, "names": meet_names}[kind]
            cases = throw(home, seed, first, count)
    for case, act, names in cases:
        print(json.dumps({"begins": case["number"], **case}), file=CHANNEL, flush=True)
        found = met(act, names)
        if kind == "files" and found["grown"] > LITTLE:
            found["usual"] = usual_growth(next(sample for sample in samples if sample.kind == case["kind"]), home)
        print(json.dumps(case | found), file=CHANNEL, flush=True)


def usual_growth(sample: Sample, home: Path) -> int:
    """Return the bytes that the same action takes on the whole files."""
    folder = _copy(sample, home)
    return met(lambda: sample.read(folder), set())["grown"]


def damaged(samples: list[Sample], home: Path, seed: int, numbers: Iterable[int]) -> Iterator[Case]:
    """Yield files of every kind with one damage each."""
    for sample in samples:  # pays for imports and caches, and shows that the whole files are read
        words = sample.read(_copy(sample, home))
        assert (
            not words
            or sample.kind in {"provenance", "run-topdown-measurements"}
            or sample.kind.startswith("population")
        ), (sample.kind, words)
    for number in numbers:
        dice = random.Random(f"{seed}-{number}")
        sample = samples[number % len(samples)]
        name = dice.choice(sample.targets)
        folder = _copy(sample, home)
        content, how = mutated((folder / name).read_bytes(), sample.family, dice)
        (folder / name).write_bytes(content)
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        case = {"number": number, "kind": sample.kind, "target": name, "how": how, "size": size}
        yield case, lambda sample=sample, folder=folder: sample.read(folder), _names(folder)


def bombs(samples: list[Sample], home: Path) -> Iterator[Case]:
    """Yield files that are made to grow."""
    for sample in samples:
        sample.read(_copy(sample, home))
    for number, (what, sample, name, content) in enumerate(make_bombs(samples)):
        folder = _copy(sample, home)
        (folder / name).write_bytes(content)
        size = len(content)
        del content
        gc.collect()
        case = {"number": number, "kind": sample.kind, "target": name, "how": what, "size": size}
        yield case, lambda sample=sample, folder=folder: sample.read(folder), _names(folder)


def _names(folder: Path) -> set[str]:
    """Return what a sentence may call the damaged file: the others of its folder too, because one refers to the other."""
    return {part for file in folder.rglob("*") if file.is_file() for part in (file.name, file.stem)} | {folder.name}


def _copy(sample: Sample, home: Path) -> Path:
    """Return a fresh copy of a sample, of a name that no message holds by chance."""
    folder = home / "here" / f"case-{sample.kind}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(sample.folder, folder)
    return folder


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:6]))
