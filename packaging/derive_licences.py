"""Derive the list of the parts the program is shipped with (resources/licences.csv).

Usage: out/package/program/bin/python packaging/derive_licences.py

Run in the environment of ``packaging/package.sh``, which holds the program and what it needs, nothing else.
"""

from __future__ import annotations

import csv
import re
from importlib.metadata import Distribution, distributions
from pathlib import Path

# Their metadata give the whole text, nothing, or a word that names no licence; read off the licence files they ship.
BY_HAND = {"llvmlite": "BSD-2-Clause AND Apache-2.0 WITH LLVM-exception"}
BUILD_TOOLS = {"pip", "setuptools", "wheel", "phexplore", "pyinstaller", "pyinstaller-hooks-contrib", "altgraph"}


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


def main() -> None:
    """Write the resource file; stop where a part states no licence."""
    rows = []
    for part in distributions():
        if part.name.lower() in BUILD_TOOLS:
            continue
        links = dict(re.split(r",\s*", text, maxsplit=1) for text in part.metadata.get_all("Project-URL") or ())
        home = part.metadata.get("Home-page") or next((links[key] for key in links if key.lower() in _HOMES), "")
        if not (licence := licence_of(part)):
            raise SystemExit(f"{part.name} states no licence: read its files and add it to BY_HAND")
        rows.append((part.name, part.version, licence, home))
    target = Path(__file__).parents[1] / "resources" / "licences.csv"
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["part", "version", "licence", "home"])
        writer.writerows(sorted(rows, key=lambda row: row[0].lower()))


_HOMES = {"homepage", "home", "repository", "source", "source code", "source_code", "documentation", "github"}

if __name__ == "__main__":
    main()
