"""Execute the notebooks of the manual, docs/notebooks/*.ipynb, and write what their cells print, return and draw.

Usage: .venv/bin/python packaging/derive_notebooks.py
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

NOTEBOOKS = Path(__file__).parents[1] / "docs" / "notebooks"


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook with the outputs of its cells, run in this directory; an error of a cell is raised."""
    plt.close("all")  # what else drew in this process
    names: dict[str, Any] = {"__name__": "__main__"}
    number = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            number += 1
            cell["execution_count"] = number
            cell["outputs"] = outputs("".join(cell["source"]), names, number)
    return notebook


def outputs(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Run one cell and return its outputs: text, the value of its last expression, and figures as PNG."""
    body = ast.parse(source).body
    last = ast.Expression(body.pop().value) if body and isinstance(body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), f"cell {number}", "exec"), names)  # noqa: S102 - the manual's own cells
        if last is not None:
            value = eval(compile(last, f"cell {number}", "eval"), names)  # noqa: S307 - the same
    made = []
    if printed.getvalue():
        made.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue().splitlines(keepends=True)})
    figures = [plt.figure(each) for each in plt.get_fignums()]
    if value is not None and not figures:
        shown = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_"):
            shown["text/html"] = value._repr_html_().splitlines(keepends=True)
        made.append({"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": shown})
    for figure in figures:
        picture = io.BytesIO()
        figure.savefig(picture, format="png", dpi=80, metadata={"Software": None})
        text = base64.b64encode(picture.getvalue()).decode()
        made.append({"output_type": "display_data", "metadata": {}, "data": {"image/png": text}})
        plt.close(figure)
    return made


if __name__ == "__main__":
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            done = executed(json.loads(path.read_text(encoding="utf-8")))
        path.write_text(json.dumps(done, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
