"""Reads mutated files one after the other and writes down, per file, what the program said, how long it took and what memory.

``python attack.py FOLDER SEED FIRST COUNT`` (a negative seed: the bombs): one JSON object per line on standard output. A process of its own, so that a hang, a
crash or a growth of memory is one of a reader and not of the tests.
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
from contextlib import suppress
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from fuzz.bombs import make_bombs  # noqa: E402 - after the path is set
from fuzz.mutations import mutated  # noqa: E402 - after the path is set
from fuzz.samples import Sample, make_samples  # noqa: E402 - as above

from phexplore.errors import PhexploreError  # noqa: E402 - as above
from phexplore.model.issues import InputProblemsError  # noqa: E402 - as above

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


def met(sample: Sample, folder: Path) -> dict[str, object]:
    """Let a reader meet a file; return what it said."""
    # The others of the folder too: what is wrong may show in the file that refers to the damaged one.
    names = {part for file in folder.rglob("*") if file.is_file() for part in (file.name, file.stem)} | {folder.name}

    def named(words: str) -> bool:
        return any(each in words for each in names)

    before, began, spent = reset_peak(), time.perf_counter(), time.process_time()
    found: dict[str, object] = {}
    try:
        words = sample.read(folder)
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


def main(home: Path, seed: int, first: int, count: int) -> None:
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    samples = make_samples(home / "whole")
    os.chdir(home)
    for sample in samples:  # pays for imports and caches, and shows that the whole files are read
        words = sample.read(_copy(sample, home))
        assert (
            not words
            or sample.kind in {"provenance", "run-json", "run-parquet"}
            or sample.kind.startswith("population")
        ), (
            sample.kind,
            words,
        )
    if seed < 0:
        throw_bombs(samples, home)
        return
    for number in range(first, first + count):
        dice = random.Random(f"{seed}-{number}")
        sample = samples[number % len(samples)]
        name = dice.choice(sample.targets)
        folder = _copy(sample, home)
        path = folder / name
        content, how = mutated(path.read_bytes(), sample.family, dice)
        path.write_bytes(content)
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        case = {"number": number, "kind": sample.kind, "target": name, "how": how, "size": size}
        print(json.dumps({"begins": number, **case}), file=CHANNEL, flush=True)
        print(json.dumps(case | met(sample, folder)), file=CHANNEL, flush=True)


def throw_bombs(samples: list[Sample], home: Path) -> None:
    """Let the readers meet files that are made to grow."""
    for number, (what, sample, name, content) in enumerate(make_bombs(samples)):
        folder = _copy(sample, home)
        (folder / name).write_bytes(content)
        del content
        gc.collect()
        case = {
            "number": number,
            "kind": sample.kind,
            "target": name,
            "how": what,
            "size": (folder / name).stat().st_size,
        }
        print(json.dumps({"begins": number, **case}), file=CHANNEL, flush=True)
        print(json.dumps(case | met(sample, folder)), file=CHANNEL, flush=True)


def _copy(sample: Sample, home: Path) -> Path:
    """Return a fresh copy of a sample, of a name that no message holds by chance."""
    folder = home / "here" / f"case-{sample.kind}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(sample.folder, folder)
    return folder


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:5]))
