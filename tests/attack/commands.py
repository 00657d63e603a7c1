"""Command lines with a place for something hostile: a path that is no file, a number out of all bounds, a name that is no name."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import socket
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

from phexplore.cli.app import run

GIVEN = {
    "PROJECT": "project/a.phx", "BLOCKS": "blocks/b.csv", "SPINE": "spine/s.spine", "RUN": "run-phsafe", "BUNDLE": "bundle/a.bundle",
    "KEY": "key/k.pem", "GOALS": "goals-json/g.json", "POPULATION": "population-csv", "PUMS": "pums/p.csv",
    "COUNTIES": "counties/c.csv",
}  # fmt: skip
"""Whole files the other arguments of a line name, below the folder of samples."""

PATHS = {
    "check": ["{}"],
    "forecast": ["{}", "pl94-2020-persons-us --data {}"],
    "diff": ["{} sdhc-2020-us", "sdhc-2020-us {}"],
    "export": ["{} --format phsafe-config --out o", "sdhc-2020-us --format phsafe-config --out {}"],
    "solve": [
        "{} --targets GOALS", "sdhc-2020-us --targets {}", "sdhc-2020-us --targets GOALS --out {}",
        "pl94-2020-persons-us --after-least-squares --targets GOALS --blocks {}",
    ],
    "compare": ["{} sdhc-2020-us", "sdhc-2020-us sdhc-2020-us --rules {}"],
    "frontier": ["{} --points 2", "missing --out {}"],
    "committee": ["{} sdhc-2020-us", "sdhc-2020-us sdhc-2020-us --baseline {}", "sdhc-2020-us sdhc-2020-pr --out {}"],
    "approve": [
        "{} --who A --role B", "PROJECT --who A --role B --runs {} --out o.phx", "PROJECT --who A --role B --out {}",
    ],
    "bundle": [
        "{} --out o", "sdhc-2020-us --out {}", "sdhc-2020-us --out o --runs {}", "sdhc-2020-us --out o --sign {} --signer A,B",
        "sdhc-2020-us --out o --expect {}",
    ],
    "keys add": ["{} --name A"],
    "sweep": [
        "{} --grid missing --out o", "sdhc-2020-us --grid {} --out o", "sdhc-2020-us --grid missing --out {}",
        *(f"sdhc-2020-us --grid missing --out o --{part} {{}}" for part in ("runs", "data", "picture")),
    ],
    "less-noise": ["{} --json", "missing --out {}"],
    "published errors": ["{}", "missing --run {}"],
    "published confidence": ["{}", "missing --run {}"],
    "measurements describe": ["{}"],
    "verify": ["{}", "BUNDLE --trust {}", "BUNDLE --certificate {}"],
    "truncation": [
        "{} --query PH3/state_A-G", "sdhc-2020-us --query PH3/state_A-G --sizes {}", "sdhc-2020-us --query PH3/state_A-G --run {}",
    ],
    "publish": ["{} --out o", "missing --out {}"],
    "tune": [
        "{} --data BLOCKS --judge Block --out o --trials 1", "pl94-2020-persons-us --data {} --judge Block --out o --trials 1",
        "pl94-2020-persons-us --data missing --judge Block --trials 1 --out {}",
    ],
    "tabulate": ["{} --out o", "POPULATION --out {}"],
    "run": [
        "{} --data demo --out o", "sdhc-2020-us --data {} --out o", "sdhc-2020-us --data missing --out {}",
        "pl94-2020-persons-us --data BLOCKS --out o --measurements {}",
        *(
            f"pl94-2020-persons-us --data missing --out o --scheduler tls://127.0.0.1:1 --tls-{part} {{}}"
            for part in ("ca-file", "cert", "key")
        ),
    ],
    "report": ["{} --format csv --out o", "missing --format csv --out {}"],
    "formats": ["{}", "project --out {}"],
    "synth sdhc": ["--persons 100 --seed 1 --states 44 --out {}"],
    "synth pl94": ["--blocks 20 --seed 1 --out {}"],
    "synth demonstration-2010": ["--blocks 20 --seed 1 --out {}"],
    "data check": ["{}"],
    "data describe": ["{}"],
    "data convert pums": ["{} --out o", "PUMS --out {}"],
    "spine build": ["{} --preset pl94-2020 --out o", "BLOCKS --preset pl94-2020 --out {}"],
    "spine describe": ["{}", "SPINE --scenario {}"],
    "spine variance": ["{} pl94-2020-persons-us", "SPINE {}"],
    "group-sizes experiment": ["--trials 1 --epsilons 1 --data {} --out o", "--trials 1 --data missing --out {}"],
    "group-sizes taxis": ["--groups 10 --out {}"],
    "subspace figure1": ["--trials 1 --out o --counties {}", "--trials 1 --counties missing --out {}"],
    "subspace compare": ["--trials 1 --out o --households {}", "--trials 1 --households missing --out {}"],
    "subspace share": ["{} --answers 1 --seed-file KEY", "counties-invariant-2010 --answers 1 --seed-file {}"],
}  # fmt: skip
"""Per command, a line for every argument that is a path or a scenario."""

NUMBERS = (
    "solve sdhc-2020-us --cap-rho {}", "solve sdhc-2020-us --cap-bounded-rho {} --spend", "solve sdhc-2020-us --cap-epsilon {}",
    "solve sdhc-2020-us --cap-proven-epsilon {} --spend",
    "truncation sdhc-2020-us --query PH3/state_A-G --share {}", "truncation sdhc-2020-us --query PH3/state_A-G --part {}",
    "frontier sdhc-2020-us --points {}", "subspace constant --delta {}", "subspace constant --epsilons {}",
    "subspace compare --epsilon {} --trials 1 --households missing --out o", "tabulate missing --truncate PH3={} --out o",
    "tune pl94-2020-persons-us --data missing --judge Block --out o --at-least {}",
    "tune pl94-2020-persons-us --data missing --judge Block --out o --within {}",
    "tune pl94-2020-persons-us --data missing --judge Block --out o --people {}",
    "run sdhc-2020-us --data missing --out o --seed {}", "run sdhc-2020-us --data missing --out o --trials {}",
    "run pl94-2020-persons-us --data missing --out o --stop-at {}", "synth pl94 --blocks 10 --seed 1 --out o --tribal {}",
    "synth sdhc --persons 10 --out o --states 44 --seed {}", "group-sizes experiment --data missing --out o --epsilons {}",
    "group-sizes experiment --data missing --out o --largest {}", "publish missing --out o --trial {}",
    "spine build BLOCKS --preset pl94-2020 --out o --fanout-cutoff {}",
)  # fmt: skip
"""Numeric options."""

EXTREME = (
    "1e9999", "1e-9999", "-1e9999", "1e309", "1e-309", "1e75", "1e-74", "1e30", "1e-30", "9" * 5000, f"1/{'7' * 4299}", f"{'9' * 1990}/{'7' * 1989}",
    "1" + "0" * 400, "0", "-0", "-1", "NaN", "Infinity", "-Infinity", "0x1F", "1_000", "1/0", "99.99999999999999999999", "0.99999999999999999999999999",
    "9223372036854775808", "18446744073709551616", "4294967296", "2147483648", "٣", "", "1e", "1,5", "true",
)  # fmt: skip

NAMES = (
    "A\x1b[2K\rsigned by Ada", "two\nlines", "tab\there", "bell\a", "back\b\b\b", "\x9b2J", "\u202egnp.exe", "\u2066left\u2069", "zero\u200bwidth",
    "\ufeffmark", "soft\u00adhyphen", "line\u2028separator", "\x7f", "un-caf\udce9", "\udcff\udcfe", "n" * 200, "é" * 100, "n" * 255, "n" * 256,
    "n" * 5000, "a/" * 2000 + "b", ".", "..", "~", "-", "--", "-x", "--out", "#", "a#b", "%s%n", "{0}", "$HOME", "`id`", "$(id)", "; rm x", "'", '"', "\\",
    "*", "?", "[a-z]", "CON", "nul.phx", " leading", "trailing ", "=1+1", "@SUM(A1)", "<b>bold</b>", "&amp;", "😀", "e\u0301", "\U000e0041tag", "\ufdd0", "\U0010ffff",
    "file:///etc/passwd", "http://127.0.0.1/x", "/etc/passwd", "/proc/self/mem", "/dev/stdin",
)  # fmt: skip
"""Names of files and of scenarios that are no names."""

_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What must not reach a terminal; tables and JSON have line feeds."""

_NUMBER = re.compile(r"[+-]?\d+(?:[./]\d+)?(?:[eE][+-]?\d+)?")

Case = tuple[dict[str, object], Callable[[], str], set[str]]


def called(*arguments: str) -> str:
    """Run the command line; return what a refusal said, "" for success.

    Raises:
        AssertionError: a refusal without a word, another status than 0, 1 and 2, or signs that a terminal obeys.
    """
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = run(list(arguments))
    assert not (found := _OBEYED.findall(out.getvalue() + err.getvalue())), f"printed {found[:5]!a}"
    assert status in {0, 1, 2}, (status, err.getvalue())
    assert not status or err.getvalue().strip() or out.getvalue().strip(), f"status {status} without a word"
    return (err.getvalue().strip() or out.getvalue().strip()) if status else ""


def _line(home: Path, text: str, hostile: str) -> list[str]:
    words = shlex.split(text)
    return [
        hostile
        if word == "{}"
        else word.replace("{}", hostile)
        if "{}" in word
        else str(home / "whole" / GIVEN[word])
        if word in GIVEN
        else word
        for word in words
    ]


def irregular(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield paths that are no regular files, each with what it is."""
    os.mkfifo(folder / "pipe")
    yield "pipe", str(folder / "pipe")
    (folder / "zero").symlink_to("/dev/zero")
    yield "device", str(folder / "zero")
    (folder / "link").symlink_to(folder / "link")
    yield "circle", str(folder / "link")
    with suppress(OSError), socket.socket(socket.AF_UNIX) as end:
        end.bind(os.path.relpath(folder / "socket"))
    yield "socket", str(folder / "socket")
    yield "in a file", str(folder / "pipe" / "below")
    yield "long name", str(folder / ("n" * 300))
    yield "undecodable", str(folder / "caf\udce9")


def meet_paths(home: Path, every: int, first: int, count: int) -> Iterator[Case]:
    """Yield every path argument of every command with something that is no file."""
    number = 0
    for command, lines in PATHS.items():
        for line in lines:
            folder = home / "paths" / str(number)
            folder.mkdir(parents=True)
            for what, path in irregular(folder):
                if number % every == 0 and first <= number < first + count:
                    words = [*command.split(), *_line(home, line, path)]
                    case = {"number": number, "kind": f"{command} {line}", "target": what, "how": "path", "size": 0}
                    yield case, lambda words=words: called(*words), set()
                number += 1


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of every number in a JSON value, written as a number or as a text."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(inner, (*path, key))
    elif not isinstance(value, bool) and (
        isinstance(value, int | float) or (isinstance(value, str) and _NUMBER.fullmatch(value))
    ):
        yield path


def _put(value: Any, path: tuple[Any, ...], new: Any) -> None:
    for key in path[:-1]:
        value = value[key]
    value[path[-1]] = new


NUMERIC_FILES = (
    ("project/a.phx", ["forecast {}", "check {}"]), ("project-topdown/a.phx", ["forecast {}", "check {}"]),
    ("config-us/config.json", ["forecast {}"]), ("subspace/s.json", ["forecast {}", "check {}"]), ("group-sizes/s.json", ["forecast {}", "check {}"]),
    ("goals-json/g.json", ["solve sdhc-2020-us --targets {}"]), ("rules/r.json", ["compare sdhc-2020-us sdhc-2020-pr --rules {}"]),
)  # fmt: skip
"""Files of numbers and the command lines that read them."""


def meet_numbers(home: Path, every: int, first: int, count: int) -> Iterator[Case]:
    """Yield every kind of numeric field and every numeric option with numbers out of all bounds."""
    number = 0
    for line in NUMBERS:
        for extreme in EXTREME:
            if number % every == 0 and first <= number < first + count:
                words = _line(home, line, extreme)
                case = {"number": number, "kind": line, "target": extreme[:30], "how": "option", "size": 0}
                yield case, lambda words=words: called(*words), set()
            number += 1
    for file, lines in NUMERIC_FILES:
        content = json.loads((home / "whole" / file).read_bytes())
        scenarios = [content["workbook"], content["first"]["workbook"]] if "first" in content else [content]
        if "first" in content:
            content["log"], content["cursor"] = [], 0
            content["workbook"] = scenarios[0] = json.loads(json.dumps(scenarios[1]))
        kinds: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
        for path in _leaves(scenarios[0]):
            kinds.setdefault(tuple(0 if isinstance(key, int) else key for key in path[-3:-1]), []).append(path)
        singles = [path for paths in kinds.values() for path in (paths if len(paths) < 8 else paths[:2] + paths[-1:])]
        for place in singles:
            for extreme in EXTREME:
                if number % every == 0 and first <= number < first + count:
                    path = home / "numbers" / str(number) / Path(file).name
                    case = {
                        "number": number,
                        "kind": file,
                        "target": "/".join(map(str, place)),
                        "how": extreme[:30],
                        "size": 0,
                    }
                    yield case, lambda c=(content, scenarios, place, extreme, lines, path): _with_number(*c), set()
                number += 1


def _with_number(
    content: Any, scenarios: list[Any], place: tuple[Any, ...], extreme: str, lines: list[str], path: Path
) -> str:
    before = scenarios[0]
    for key in place:
        before = before[key]
    for holder in scenarios:
        _put(holder, place, extreme)
    text = json.dumps(content)
    if not isinstance(before, str) and _NUMBER.fullmatch(extreme):
        text = text.replace(json.dumps(extreme), extreme)
    for holder in scenarios:
        _put(holder, place, before)
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return " ".join(called(*_line(path.parent, line, str(path))) for line in lines)


def meet_names(home: Path, every: int, first: int, count: int) -> Iterator[Case]:
    """Yield files of hostile names, and files that hold them as names of scenarios and people."""
    source = home / "whole" / "project" / "a.phx"
    lines = (
        "check {}", "forecast {}", "export {} --format phsafe-config --out {}.json", "approve {} --who A --role B", "compare {} {}", "verify {}", "data check {}", "spine build {} --preset pl94-2020 --out {}.spine", "tabulate {} --out {}.d",
        "report {} --format csv --out {}.r", "run {} --data {} --out {}.o",
    )  # fmt: skip
    number = 0
    for name in NAMES:
        for line in (*lines, ""):
            if number % every == 0 and first <= number < first + count:
                folder = home / "names" / str(number)
                case = {
                    "number": number,
                    "kind": line or "inside",
                    "target": ascii(name)[:40],
                    "how": "name",
                    "size": 0,
                }
                yield case, lambda c=(source, folder, name, line): _with_name(*c), set()
            number += 1


def _with_name(source: Path, folder: Path, name: str, line: str) -> str:
    folder.mkdir(parents=True)
    os.chdir(folder)
    if line:
        with suppress(OSError, ValueError):
            if not Path(name).is_absolute() and not Path(name).exists():
                Path(name).write_bytes(source.read_bytes())
        return called(*_line(folder, line, name))
    content = json.loads(source.read_bytes())
    content["log"], content["cursor"], old = [], 0, content["first"]["workbook"]["active"]
    content["workbook"] = content["first"]["workbook"]
    text = json.dumps(content).replace(json.dumps(old), json.dumps(name))
    Path("a.phx").write_text(text.replace('"Ada"', json.dumps(name)), encoding="utf-8")
    files = (
        "check a.phx",
        "forecast a.phx",
        "compare a.phx sdhc-2020-us",
        "approve a.phx --who {} --role {}",
        "diff a.phx sdhc-2020-us",
    )
    return " ".join(called(*_line(folder, each, name)) for each in files if "{}" not in each or "\0" not in name)
