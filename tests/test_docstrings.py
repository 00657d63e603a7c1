"""How much of the engine says what it takes, which shapes its arrays have, and where its methods are printed.

The shares are what is reached; a change may raise them, never lower them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "phexplore"
MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.relative_to(PACKAGE).parts[0] != "gui"]

ARRAYS = re.compile(r"NDArray|\b(Floats|Ints|Integers|Booleans|Codes)\b")
SHAPE = re.compile(r"\w\[[^\]`]*\]``|\w\[[^\]]+\]")
SOURCE = re.compile(
    r"\b(1[89]|20)\d\d\b|§|\b([Pp]aper|[Ss]ection|Theorem|Lemma|Algorithm|Proposition|Definition|Corollary|[Pp]roduction|reference)\b"
)
METHODS = ("accounting", "noise", "metrics", "accuracy", "spine", "workload", "simulate")
"""Layers whose modules implement published methods."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def public_functions(tree: ast.Module) -> Iterator[Function]:
    holders = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_"))]
    for holder in holders:
        for node in holder.body:
            if isinstance(node, Function) and not node.name.startswith("_"):
                yield node


def taken(function: Function) -> list[ast.arg]:
    found = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return [each for each in found if each.arg not in {"self", "cls"} and not each.arg.startswith("_")]


FUNCTIONS = [each for path in MODULES for each in public_functions(ast.parse(path.read_text(encoding="utf-8")))]


def share(held: list[bool]) -> float:
    assert len(held) > 100
    return sum(held) / len(held)


def test_that_public_functions_are_described():
    assert share([ast.get_docstring(each) is not None for each in FUNCTIONS]) >= 0.97


def test_that_functions_of_two_or_more_arguments_say_what_each_is():
    several = [each for each in FUNCTIONS if len(taken(each)) >= 2]
    assert share(["Args:" in (ast.get_docstring(each) or "") for each in several]) >= 0.34


def test_that_arrays_have_shapes():
    notes = {
        each: " ".join(ast.unparse(part) for part in (each.returns, *(arg.annotation for arg in taken(each))) if part)
        for each in FUNCTIONS
    }
    arrays = [each for each, note in notes.items() if ARRAYS.search(note)]
    assert share([bool(SHAPE.search(ast.get_docstring(each) or "")) for each in arrays]) >= 0.48


def test_that_modules_of_published_methods_name_a_source():
    """Modules of kernels included, whose method stands in the module that calls them."""
    modules = [path for layer in METHODS for path in sorted((PACKAGE / layer).rglob("*.py"))]
    texts = [text for path in modules if (text := path.read_text(encoding="utf-8"))]
    assert share([bool(SOURCE.search(text)) for text in texts]) >= 0.5
