"""Write the reference of the Python interface, docs/python.md, out of the docstrings of its public names.

Usage: .venv/bin/python packaging/derive_python_reference.py
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import phexplore

ROOT = Path(__file__).parents[1]
GROUPS = {
    "Scenarios and forecasts": ("presets", "load", "Scenario", "forecast", "Forecast", "epsilon"),
    "Deciding": ("solve", "compare", "frontier", "sweep", "approve", "verify"),
    "Runs": ("run", "open_run", "Run", "measurements"),
    "Data and spines": ("synth", "read", "Spine"),
    "Errors": ("PhexploreError",),
}
SECTION = re.compile(r"^(Args|Returns|Raises|Attributes|Example):\n", re.MULTILINE)
ENTRY = re.compile(r"^(?P<name>[\w, ]+): (?P<text>.*)$", re.DOTALL)
HEADINGS = {"Args": "Arguments", "Attributes": "Attributes", "Raises": "Errors", "Returns": "Returns"}
IMPORT = ">>> import phexplore as px\n"
"""Begins every example; the page says it once."""
LONGEST_SIGNATURE = 110

HEAD = """# phexplore in Python

Made by `packaging/derive_python_reference.py` out of the docstrings; a test compares it with them and runs every example.

Every number is the one that the window and the commands show: they call the same functions. A notebook begins like this:

```python
{start}```

Importing takes a tenth of a second and loads neither Qt nor pandas, matplotlib or a compiler; each is loaded by the first name that needs it.

**Units.** `rho` is the zero-concentrated privacy loss ρ, `epsilon` is ε at the δ beside it; margins (`moe_…`) and errors are in people or units
as their picture says, at the confidence of the scenario's conventions; shares are fractions of 1, percentages say so in their header. Columns
named `exact` hold `fractions.Fraction`, the columns beside them the nearest float. A float you give stands for the decimal it is written as: `0.1` is 1/10.

**Parameters** are called by their path, as differences and the log of the window call them: `Scenario.parameters` lists them, `Scenario.set` and `sweep`
take them. Wherever a scenario is asked for, a preset id, a project (`FILE.phx`, `FILE.phx#NAME`) or a file of production does as well.
*Edit › Copy what was done as Python* says them, conventions and targets included; locks, notes and names of scenarios are people's, and left out.

**Errors.** `px.errors` has every error below. The text of an error contains the remedy; `sentence` and `remedy` are its two parts. An error of any other class is an error
in phexplore: report it. The types of results, e.g. `px.Data`, `px.Study` and `px.Verification`, are importable for annotations.

**Stability.** The {count} names below, their arguments, the columns of their frames and the ids of pictures are stable: what is to go is first
deprecated for one release (0.x) or two (from 1.0) with a `DeprecationWarning` that names the replacement, and stands in the [changes](../CHANGELOG.md).
New columns, arguments by keyword and pictures may come with any release. Modules below `phexplore` are the program's inside and change without notice.
Every example follows `import phexplore as px`. This page describes version {version}.

"""

START = """import phexplore as px

px.synth("pl94", 300, "blocks.csv", seed=1)
published = px.load("pl94-2020-persons-us")
proposal = published.set("level share Block", "0.1")
print(px.forecast(proposal).to_frame())
run = px.run(proposal, "blocks.csv", out="runs/proposal", trials=2, seed=1)
print(run.errors())
run.plot("shape", level="Tract").figure.savefig("tracts.png")
print(px.compare(published, proposal))
"""


def parts(said: str) -> tuple[str, dict[str, str]]:
    """Return the description of a docstring, and the text of its sections by name."""
    described, *rest = SECTION.split(said)
    return described.strip(), {
        name: textwrap.dedent(text).strip() for name, text in zip(rest[::2], rest[1::2], strict=True)
    }


def listed(text: str) -> str:
    """Return the entries of a section as a list; a text without entries as a sentence."""
    items = re.split(r"\n(?=\S)", text)
    found = [ENTRY.match(" ".join(item.split())) for item in items]
    if not all(found):
        return " ".join(text.split()) + "\n"
    return "".join(f"- `{each['name']}`: {each['text']}\n" for each in found if each)


def prose(text: str) -> str:
    """Return the paragraphs of a docstring in the marks of the manual."""
    return "\n\n".join(" ".join(each.split()) for each in text.split("\n\n")).replace("``", "`")


class Bare(str):
    """An annotation that is shown as it is written."""

    __slots__ = ()
    __repr__ = str.__str__


def signature(called: Any, name: str) -> str:
    """Return how something is called, an argument a line where a line would be long."""
    given = inspect.signature(called)
    shown = [
        each.replace(annotation=Bare(each.annotation))
        for each in given.parameters.values()
        if each.name not in {"self", "cls"}
    ]
    line = f"{name}{given.replace(parameters=shown, return_annotation=Bare(given.return_annotation))}"
    if len(line) <= LONGEST_SIGNATURE:
        return line
    lines = [str(each) for each in shown]
    if (first := next((n for n, each in enumerate(shown) if each.kind is each.KEYWORD_ONLY), None)) is not None:
        lines.insert(first, "*")
    return f"{name}(\n" + "".join(f"    {each},\n" for each in lines) + f") -> {given.return_annotation}"


def entry(value: Any, name: str, depth: int) -> Iterator[str]:
    """Yield the page's text on one name: how it is called, what it does, its sections and its example."""
    said, sections = parts(inspect.getdoc(value) or "")
    yield f"{'#' * depth} `{name}`\n\n"
    if callable(value) and not inspect.isclass(value):
        yield f"```python\n{signature(value, name)}\n```\n\n"
    yield prose(said) + "\n\n"
    for section, heading in HEADINGS.items():
        if section in sections:
            is_list = section != "Returns"
            body = (listed if is_list else prose)(sections[section]).replace("``", "`").strip()
            yield f"**{heading}**\n\n{body}\n\n" if is_list else f"**{heading}:** {body}\n\n"
    if "Example" in sections:
        example = sections["Example"].removeprefix(IMPORT)
        yield f"```pycon\n{example}\n```\n\n"


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties of a class, its own first, in their order."""
    seen: set[str] = set()
    for home in (each for each in cls.__mro__ if each.__module__.startswith(f"{phexplore.__name__}.")):
        for name, value in vars(home).items():
            if (
                not name.startswith("_")
                and name not in seen
                and (callable(getattr(cls, name)) or isinstance(value, property))
            ):
                seen.add(name)
                yield name, value.fget if isinstance(value, property) else getattr(cls, name)


def described(name: str) -> Iterator[str]:
    """Yield the page's text on a public name, on its members, and on a class of the interface that it or they return."""
    value = getattr(phexplore, name)
    yield from entry(value, name, 3)
    if not inspect.isclass(value):
        yield from of_class(returned_class(value))
        return
    yield from of_class(value)
    for cls in dict.fromkeys(returned_class(what) for _, what in members(value)):
        if cls is not None and cls is not value:
            yield from entry(cls, cls.__name__, 4)
            yield from of_class(cls)


def returned_class(called: Any) -> type | None:
    """Return the class of the interface that something returns, None where it is a public name itself."""
    found = vars(sys.modules[called.__module__]).get(called.__annotations__.get("return"))
    is_ours = inspect.isclass(found) and found.__module__.startswith(f"{phexplore.__name__}.interface")
    return found if is_ours and found.__name__ not in phexplore.__all__ else None


def of_class(cls: type | None) -> Iterator[str]:
    """Yield the page's text on the members of a class."""
    for member, what in () if cls is None else members(cls):
        is_property = isinstance(inspect.getattr_static(cls, member), property)
        text = "".join(entry(what, f"{cls.__name__}.{member}", 4))
        yield re.sub(r"```python\n.*?```\n\n", "", text, count=1, flags=re.DOTALL) if is_property else text


def page() -> str:
    """Return the whole page.

    Raises:
        ValueError: a public name stands in no group, or a group names something else.
    """
    named = [name for names in GROUPS.values() for name in names]
    if sorted(named) != phexplore.__all__:
        raise ValueError(f"GROUPS and __all__ differ by {set(named) ^ set(phexplore.__all__)}")
    found = [HEAD.format(start=START, count=len(named), version=phexplore.__version__)]
    for heading, names in GROUPS.items():
        found += [f"## {heading}\n\n", *(text for name in names for text in described(name))]
    return "".join(found).rstrip() + "\n"


if __name__ == "__main__":
    (ROOT / "docs" / "python.md").write_text(page(), encoding="utf-8")
