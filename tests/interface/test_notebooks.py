"""The notebooks of the manual: every cell runs, and what is shown in them was made by running them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def _texts(notebook) -> list[list[str]]:
    """Return the kinds of output of every cell."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [[kind for made in cell["outputs"] for kind in sorted(made.get("data", {"text": ""}))] for cell in cells]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_that_every_cell_runs_and_gives_what_is_shown(path, tmp_path, monkeypatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(ROOT / "packaging"))
    monkeypatch.chdir(tmp_path)
    import derive_notebooks

    shown = json.loads(path.read_text(encoding="utf-8"))
    kinds = _texts(shown)
    assert any("image/png" in cell for cell in kinds)
    assert _texts(derive_notebooks.executed(shown)) == kinds
    del sys.modules["derive_notebooks"]
