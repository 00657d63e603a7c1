"""Write the reference of file formats: docs/file_formats.md and docs/formats/*.schema.json, out of the declarations.

Usage: .venv/bin/python packaging/derive_format_reference.py [FOLDER]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from phexplore.systems.formats import FORMATS, json_schema

HEAD = """# File formats

Made by `packaging/derive_format_reference.py` out of the declared parameters and `phexplore/systems/formats.py`; the same as JSON Schema in `docs/formats/` and by
`phexplore formats NAME`. A test holds what the program writes to these schemas, and this page to the declarations.

Files are UTF-8 and carry no locale: decimal points, no grouping. Numbers that decide privacy are text such as `"0.002619"` or
`"1/3"`, because JSON numbers are binary floating point in most readers. Reading is stricter than a schema can be: budgets
must be at least 0, shares of a column add up to exactly 1, names must exist; every problem is told with line and column.

Formats of production (`config.json`, DAS `.ini` chains, CSV inputs and outputs) are theirs; [block data](block_data.md) and
[the synthetic population](synthetic_population.md) describe inputs.
"""


def words(schema: dict[str, Any]) -> str:
    """Return the type of a field in words."""
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(dict.fromkeys(map(words, choices)))
    if "$ref" in schema:
        name = plain(schema["$ref"].rsplit("/", 1)[1])
        return f"[{name}](#{name.lower().replace(' ', '-')})"
    if values := schema.get("enum") or ([schema["const"]] if "const" in schema else []):
        return ", ".join(f"`{value}`" for value in values)
    return of_type(schema)


def of_type(schema: dict[str, Any]) -> str:
    """Return the JSON type of a field in words."""
    kind = schema.get("type", "")
    if kind == "array":
        return f"list of {words(schema.get('items', {}))}"
    if kind == "object":
        inner = schema.get("additionalProperties") or next(iter(schema.get("patternProperties", {}).values()), {})
        return f"object of {words(inner) if isinstance(inner, dict) else 'anything'}"
    if kind == "string" and (word := schema.get("pattern", "")[1:-1]).isidentifier():
        return f"`{word}`"
    if kind == "string" and "/" in schema.get("pattern", ""):
        return "exact number as text"
    return {
        "": "anything",
        "integer": "whole number",
        "boolean": "`true` or `false`",
        "string": "text",
        "null": "`null`",
    }.get(kind, kind)


def plain(name: str) -> str:
    """Return ``Run Specification`` for ``RunSpecification``."""
    spaced = "".join(f" {letter}" if letter.isupper() and at else letter for at, letter in enumerate(name))
    return spaced.replace("Ph Safe", "PHSafe").replace("Top Down", "TopDown")


def said(schema: dict[str, Any]) -> str:
    """Return what an object says of itself, as Markdown."""
    return " ".join(schema.get("description", "").split()).replace("``", "`")


def table(schema: dict[str, Any]) -> Iterator[str]:
    """Write the fields of one object."""
    if "enum" in schema:
        yield ", ".join(f"`{value}`" for value in schema["enum"]) + "\n"
        return
    required = set(schema.get("required", ()))
    yield "| Field | | Value |\n|---|---|---|\n"
    for name, field in schema.get("properties", {}).items():
        note = field.get("description", "").replace("``", "`").replace("|", "\\|")
        shown = words(field)
        text = shown if not note or note.startswith("An exact number") else f"{shown}. {note}"
        yield f"| `{name}` | {'needed' if name in required else 'may be left out'} | {text} |\n"


def page() -> str:
    """Return the whole page."""
    parts, shared = [HEAD], dict[str, dict[str, Any]]()
    for form in FORMATS.values():
        schema = json_schema(form.name)
        shared.update(schema.get("$defs", {}))
        parts.append(
            f"\n## {form.title}\n\n{said(schema)} Files: {form.files}. Schema: `formats/{form.name}.schema.json`.\n\n"
        )
        parts.extend(table(schema))
    parts.append("\n# Parts that several formats share\n")
    for name, schema in sorted(shared.items()):
        about = "" if "enum" in schema else said(schema) + "\n\n"
        parts.append(f"\n## {plain(name)}\n\n{about}")
        parts.extend(table(schema))
    return "".join(parts)


def write(folder: Path) -> None:
    """Write page and schemas."""
    (folder / "formats").mkdir(parents=True, exist_ok=True)
    (folder / "file_formats.md").write_text(page(), encoding="utf-8")
    for name in FORMATS:
        text = json.dumps(json_schema(name), indent=2, ensure_ascii=False) + "\n"
        (folder / "formats" / f"{name}.schema.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs")
