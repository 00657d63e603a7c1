"""How much of the engine says what it takes, which shapes its arrays have, and where its methods are printed.

The shares are what is reached; a change may raise them, never lower them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "phexplore"
MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.relative_to(PACKAGE).parts[0] != "gui"]

ARRAYS = re.compile(r"NDArray|\b(Floats|Ints|Integers|Booleans|Codes)\b")
SHAPE = re.compile(r"\w\[[^\]`]*\]``|\w\[[^\]]+\]")
SOURCE = re.compile(
    r"\b(1[89]|20)\d\d\b|§|\b([Pp]aper|[Ss]ection|Theorem|Lemma|Algorithm|Proposition|Definition|Corollary|[Pp]roduction|reference)\b"
)
REFERENCE = re.compile(r"\bas (?:in|for) `([\w.]+)`")
"""How a docstring points to the function or class whose arguments it shares: "arguments as in `Sampler.fill`"."""

METHODS = ("accounting", "noise", "metrics", "accuracy", "spine", "workload", "simulate")
"""Layers whose modules implement published methods."""

OWN = {
    "accuracy/budget_model",
    "metrics/topdown/distribution",
    "metrics/topdown/shapes",
    "metrics/topdown/summary",
    "metrics/topdown/worst",
    "simulate/outer_passes/partitions",
    "simulate/subspace/cell_counts",
    "simulate/topdown/histograms",
    "spine/spine_file",
    "workload/schema_reduction",
}
"""Modules of these layers that carry out nothing anybody published: protocols, containers, files, rules of the program."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, eq=False)
class Public:
    """A public function or method with where it stands."""

    node: Function
    holder: ast.Module | ast.ClassDef
    module: ast.Module

    @property
    def name(self) -> str:
        return f"{self.holder.name}.{self.node.name}" if isinstance(self.holder, ast.ClassDef) else self.node.name

    @property
    def taken(self) -> list[ast.arg]:
        arguments = self.node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        return [each for each in every if each.arg not in {"self", "cls"} and not each.arg.startswith("_")]

    @property
    def note(self) -> str:
        parts = (self.node.returns, *(arg.annotation for arg in self.taken))
        return " ".join(ast.unparse(part) for part in parts if part)


def public_functions(tree: ast.Module) -> Iterator[Public]:
    holders = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_"))]
    for holder in holders:
        for node in holder.body:
            if isinstance(node, Function) and not node.name.startswith("_"):
                yield Public(node, holder, tree)


TREES = [ast.parse(path.read_text(encoding="utf-8")) for path in MODULES]
FUNCTIONS = [each for tree in TREES for each in public_functions(tree)]
NAMED = {each.name: each for each in FUNCTIONS}
CLASSES = {node.name: node for tree in TREES for node in tree.body if isinstance(node, ast.ClassDef)}


def text_of(node: ast.AST | None) -> str:
    return (ast.get_docstring(node) or "") if isinstance(node, (*Function.__args__, ast.ClassDef, ast.Module)) else ""


def overridden(each: Public) -> Iterator[Public]:
    """The methods of the bases that this one carries out: what they promise holds here without being repeated."""
    pending = list(each.holder.bases) if isinstance(each.holder, ast.ClassDef) else []
    while pending:
        base = ast.unparse(pending.pop()).split("[")[0].split(".")[-1]
        if (inherited := NAMED.get(f"{base}.{each.node.name}")) is not None:
            yield inherited
        if (node := CLASSES.get(base)) is not None:
            pending += node.bases


def texts(each: Public) -> str:
    """What is written about a function: its own words and what it inherits or names as the place of its description."""
    own = text_of(each.node)
    referred = [text_of(NAMED[name].node if name in NAMED else CLASSES.get(name)) for name in REFERENCE.findall(own)]
    return "\n".join([own, *referred, *(text_of(base.node) for base in overridden(each))])


def is_declared(value: ast.expr | None) -> bool:
    return (
        isinstance(value, ast.Call)
        and ast.unparse(value.func) in {"typer.Option", "typer.Argument"}
        and any(keyword.arg == "help" for keyword in value.keywords)
    )


DECLARED = {
    target.id
    for tree in TREES
    for node in tree.body
    if isinstance(node, ast.Assign) and is_declared(node.value)
    for target in node.targets
    if isinstance(target, ast.Name)
}


def explained(each: Public) -> set[str]:
    """Arguments of a command: what each is stands where it is declared, because ``--help`` prints it, and nowhere else.

    The context comes from the framework, not from a caller.
    """
    arguments = each.node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(reversed(positional), reversed(arguments.defaults), strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    context = {arg.arg for arg in positional if arg.annotation and ast.unparse(arg.annotation) == "typer.Context"}
    return context | {
        arg.arg for arg, value in pairs if is_declared(value) or (isinstance(value, ast.Name) and value.id in DECLARED)
    }


def argument_names(text: str) -> set[str]:
    """The names under ``Args:``, of which a line may describe several."""
    lines = re.findall(r"^ +(\w+(?:, \w+)*): ", text.partition("Args:")[2], re.MULTILINE)
    return {name for line in lines for name in line.split(", ")}


def says_what_it_takes(each: Public) -> bool:
    """``Args:`` stands in the docstring, or, for arguments that a whole class or module shares, in that of the class or module."""
    if "Args:" in texts(each):
        return True
    shared = {name for node in (each.holder, each.module) for name in argument_names(text_of(node))}
    return {arg.arg for arg in each.taken} <= shared | explained(each)


def says_shapes(each: Public) -> bool:
    """A shape stands in the docstring, or in the shared arguments of its class or module."""
    return any(
        SHAPE.search(text)
        for text in (
            texts(each),
            *(text.partition("Args:")[2] for text in (text_of(each.holder), text_of(each.module))),
        )
    )


def share(held: list[bool]) -> float:
    assert len(held) > 100
    return sum(held) / len(held)


def test_that_public_functions_are_described():
    assert share([bool(texts(each).strip()) for each in FUNCTIONS]) >= 0.99


def test_that_functions_of_two_or_more_arguments_say_what_each_is():
    assert share([says_what_it_takes(each) for each in FUNCTIONS if len(each.taken) >= 2]) >= 0.99


def test_that_arrays_have_shapes():
    assert share([says_shapes(each) for each in FUNCTIONS if ARRAYS.search(each.note)]) >= 0.99


def test_that_modules_of_published_methods_name_a_source():
    """Kernels too: they name the module whose method they carry out, with its source."""
    modules = [path for layer in METHODS for path in sorted((PACKAGE / layer).rglob("*.py"))]
    names = {
        path.relative_to(PACKAGE).with_suffix("").as_posix(): path for path in modules if path.name != "__init__.py"
    }
    without = {name for name, path in names.items() if not SOURCE.search(path.read_text(encoding="utf-8"))}
    assert without == OWN
