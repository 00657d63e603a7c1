"""Arguments that many commands take."""

from __future__ import annotations

import typer

SCENARIO = typer.Argument(
    help="A preset id, a project file (.phx, #NAME for one of its scenarios), a config.json or a DAS .ini."
)
JSON = typer.Option(False, "--json", help="Print JSON.")
