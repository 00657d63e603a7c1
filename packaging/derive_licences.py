"""Derive the list of the parts the program needs, with its options (resources/licences.csv).

Usage: .venv/bin/python packaging/derive_licences.py
"""

from __future__ import annotations

import csv
import re
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
OPTIONS = ("", "pdf", "cluster")
# Their metadata give the whole text, nothing, or a word that names no licence; read off the licence files they ship.
BY_HAND = {"llvmlite": "BSD-2-Clause AND Apache-2.0 WITH LLVM-exception"}
# Needed on other systems and not installed on this one; read off their distributions.
ELSEWHERE = {
    "brotlicffi": ("MIT", "https://github.com/python-hyper/brotlicffi"),
    "colorama": ("BSD-3-Clause", "https://github.com/tartley/colorama"),
}


def licence_of(part: Distribution) -> str:
    """Return the licence a part states: SPDX expression first, then classifiers, then a short text."""
    meta = part.metadata
    if (name := part.name.lower()) in BY_HAND:
        return BY_HAND[name]
    if expression := meta.get("License-Expression"):
        return expression
    classifiers = [
        text.rsplit(" :: ", 1)[1] for text in meta.get_all("Classifier") or () if text.startswith("License ::")
    ]
    classifiers = [text for text in classifiers if text != "OSI Approved"]
    if classifiers:
        return " OR ".join(classifiers)
    text = (meta.get("License") or "").strip().splitlines()
    return text[0] if text and len(text[0]) < 60 else ""


def plain(name: str) -> str:
    """Return the spelling of a name that is compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(option: str) -> set[str]:
    """Return every part that the program with one of its options needs on this system."""
    found: set[str] = set()
    open_ends = [("phexplore", frozenset({option}))]
    while open_ends:
        name, extras = open_ends.pop()
        for line in distribution(name).requires or ():
            part = Requirement(line)
            wanted = part.marker is None or any(part.marker.evaluate({"extra": extra}) for extra in extras | {""})
            if wanted and plain(part.name) not in found:
                found.add(plain(part.name))
                open_ends.append((part.name, frozenset(part.extras)))
    return found


def locked(name: str) -> dict[str, str]:
    """Return the version of every part of a lock file."""
    text = (ROOT / "packaging" / f"{name}.lock").read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z][\w.-]*)==([^ \n]+)", text, re.MULTILINE))


def row(name: str, version: str, option: str) -> tuple[str, str, str, str, str]:
    """Return one line of the list; stop where a part states no licence."""
    if name in ELSEWHERE:
        return name, version, *ELSEWHERE[name], option
    part = distribution(name)
    links = dict(re.split(r",\s*", text, maxsplit=1) for text in part.metadata.get_all("Project-URL") or ())
    home = part.metadata.get("Home-page") or next((links[key] for key in links if key.lower() in _HOMES), "")
    if not (licence := licence_of(part)):
        raise SystemExit(f"{part.name} states no licence: read its files and add it to BY_HAND")
    return part.name, version, licence, home, option


def main() -> None:
    """Write the resource file."""
    versions = locked("requirements")
    option_of = {name: option for option in reversed(OPTIONS) for name in needed(option)}
    option_of = {**dict.fromkeys(set(locked("program")) - set(option_of), ""), **option_of}
    rows = [row(name, versions[name], option) for name, option in option_of.items()]
    with (ROOT / "resources" / "licences.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["part", "version", "licence", "home", "option"])
        writer.writerows(sorted(rows, key=lambda entry: entry[0].lower()))


_HOMES = {"homepage", "home", "repository", "source", "source code", "source_code", "documentation", "github"}

if __name__ == "__main__":
    main()
