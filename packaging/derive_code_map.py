"""Write the map of the code, docs/code_map.md: every package with its purpose, its size and what it may import.

Usage: .venv/bin/python packaging/derive_code_map.py
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "phexplore"

HEAD = """# The map of the code

Made by `packaging/derive_code_map.py` out of the first lines of the packages and of the import contract in `pyproject.toml`; a test
compares it with the tree. Lines are counted with comments and blank ones, and rounded.

A package imports packages of the lines below its own line, none above and none beside it: numbers count from the top. The rooms in
`systems/` know nothing of each other, and nobody outside asks which one a scenario belongs to.
[Extending](extending.md) says what goes where, [design](design.md) says why.

| | Package | Purpose | Lines |
|--:|---|---|--:|
"""


def layers() -> list[list[str]]:
    """Return the packages and modules of every layer of the import contract, from the top."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    lines = next(each["layers"] for each in contracts["contracts"] if each["name"] == "Layers")
    return [[name.strip(" ()") for name in line.split("|")] for line in lines]


def purpose(file: Path) -> str:
    """Return the first sentence of a module's docstring."""
    said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return said.partition("\n")[0].replace("``", "`").replace("|", "\\|")


def size(place: Path) -> int:
    """Return the lines of a module, or of the modules of a package without those of its parts that are listed."""
    files = [place] if place.is_file() else list(place.glob("*.py"))
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


def rows() -> Iterator[tuple[str, str, str, int]]:
    """Yield layer, name, purpose and lines of everything on the map."""
    for number, names in enumerate(layers(), start=1):
        for name in names:
            place = PACKAGE / name
            if not place.is_dir():
                file = place.with_suffix(".py")
                yield str(number), f"`{name}.py`", purpose(file), size(file)
                continue
            yield str(number), f"`{name}/`", purpose(place / "__init__.py"), size(place)
            for part in sorted(each.parent for each in place.rglob("*/__init__.py")):
                yield "", f"`{part.relative_to(PACKAGE).as_posix()}/`", purpose(part / "__init__.py"), size(part)


def page() -> str:
    """Return the whole page."""
    lines = [f"| {layer} | {name} | {text} | {round(count, -2):,} |\n" for layer, name, text, count in rows()]
    return HEAD + "".join(lines)


if __name__ == "__main__":
    (ROOT / "docs" / "code_map.md").write_text(page(), encoding="utf-8")
