"""The command about file formats."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from phexplore.errors import UnknownNameError
from phexplore.files.output_folder import writes_into_out
from phexplore.report.terminal import print_json, print_table


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(formats)


@writes_into_out("formats")
def formats(
    name: str = typer.Argument("", help="A format; all of them are listed without one."),
    out: str = typer.Option("", "--out", help="Write NAME.schema.json of every format, or of this one, into a folder."),
) -> None:
    """List the file formats, or print the JSON Schema of one.

    Example: phexplore formats project
    """
    from phexplore.systems.formats import FORMATS, json_schema

    if name and name not in FORMATS:
        raise UnknownNameError("file format", name, list(FORMATS))
    if out:
        folder = Path(out)
        folder.mkdir(parents=True, exist_ok=True)
        for each in [name] if name else FORMATS:
            text = json.dumps(json_schema(each), indent=2, ensure_ascii=False) + "\n"
            (folder / f"{each}.schema.json").write_text(text, encoding="utf-8")
    elif name:
        print_json(json_schema(name))
    else:
        print_table(("format", "content", "files"), [(f.name, f.title, f.files) for f in FORMATS.values()])
