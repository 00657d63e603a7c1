"""The reference of the Python interface: made of the docstrings, and every example in it runs."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import phexplore as px

ROOT = Path(__file__).parents[2]
MODULES = (
    "errors",
    *(f"interface.{name}" for name in ("scenarios", "decisions", "runs", "data", "sweeps", "frames", "studies")),
)


class _Unwrapping(doctest.DocTestFinder):
    """Finds the examples of names that are wrapped so that they raise errors of the program."""

    def _from_module(self, module, object) -> bool:  # noqa: A002 - its name there
        return super()._from_module(module, inspect.unwrap(object))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return where the examples write; a run that one of them made is found by the next."""
    return tmp_path_factory.mktemp("examples")


@pytest.fixture
def inside(folder, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(folder)


def test_that_the_page_is_that_of_the_docstrings() -> None:
    code = "import derive_python_reference; print(derive_python_reference.page(), end='')"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "packaging", capture_output=True, text=True, check=True
    )
    assert (ROOT / "docs" / "python.md").read_text(encoding="utf-8") == done.stdout, (
        "run packaging/derive_python_reference.py"
    )


def test_that_every_public_name_has_an_example_and_names_its_arguments() -> None:
    for name in px.__all__:
        value = getattr(px, name)
        said = inspect.getdoc(value)
        assert "Example:\n    >>> import phexplore as px\n" in said, name
        if not inspect.isclass(value):
            described = set(re.findall(r"^    (\w+):", said, re.MULTILINE))
            assert set(inspect.signature(value).parameters) <= described, name


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.usefixtures("inside")
def test_that_every_example_runs(module) -> None:
    found = import_module(f"phexplore.{module}")
    tests = _Unwrapping().find(found, found.__name__)
    runner = doctest.DocTestRunner()
    for test in tests:
        runner.run(test)
    failed, tried = runner.summarize(verbose=False)
    assert failed == 0
    assert tried


@pytest.mark.usefixtures("inside")
def test_that_the_ten_lines_run() -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    start = page.split("```python\n")[1].partition("```")[0]
    assert len(ast.parse(start).body) <= 10
    exec(compile(start, "python.md", "exec"), {})  # noqa: S102 - the manual's own lines
    assert Path("tracts.png").read_bytes().startswith(b"\x89PNG")
