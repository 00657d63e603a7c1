"""An except that takes errors of the program belongs around a reader of what others wrote, and around nothing else.

What such a reader returns is used outside of it: there, a `TypeError` is a bug, and no file or caller is blamed for it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import phexplore

PACKAGE = Path(phexplore.__file__).parent
BUGS = {"TypeError", "AttributeError", "LookupError", "KeyError", "IndexError", "ArithmeticError", "Exception"}
LONGEST = 24
"""Lines of what is tried: a reader, not the work that is done with what it read."""
SUPPRESS = "suppress"

READERS = {
    # Parsing of values that a person typed or a program gave: the type is what is tried.
    "cli/run_options:_understood", "gui/binding/settings:_bytes", "gui/run_manager/launch_controls:values_of",
    "gui/run_manager/launch_form:read", "gui/widgets/form:_take_text", "interface/arguments:argument_of",
    "interface/frames:_write_frame", "model/kinds:collect", "model/kinds:parsed", "model/kinds:typed_value",
    "model/paths:_named", "model/paths:typed", "model/paths:with_parameters", "systems/running:run_options_of",
    # Decoding of one file, line or message into values.
    "data/archives:-", "data/blocks/geocodes:read_layout", "data/blocks/published_tables:_read", "data/blocks/published_tables:_read_own",
    "data/provenance:read_provenance", "decide/signing:decode_signature", "decide/trusted_keys:trusted_keys",
    "decide/verifying:-", "document/soundness:-", "decide/verifying:_manifest", "files/approval_json:decode_decisions", "files/journal:recover",
    "files/output_folder:_marked", "files/project_file:_replay", "files/project_salvage:-", "files/rules_json:read_rules",
    "files/xlsx_limits:_defines_entities", "files/xlsx_limits:_merged_cells", "gui/systems/topdown/tune_view:_on_done",
    "library:own_entries", "published/measurements:__enter__", "published/measurements:__exit__", "published/rows:-",
    "published/sdhc:_answered", "published/shapes:-", "runs/events:decode", "runs/run_files:-", "runs/spec:decode_spec",
    "runs/store:_stated", "runs/wire:unpack", "spine/spine_file:read_spine", "systems/experiments:pictures_of",
    "systems/group_sizes/experiment:taken_over", "systems/phsafe/truncation_study:_sizes_from",
    "systems/topdown/shapes:_outline", "systems/topdown/streaming:_estimate_top",
    "systems/topdown/tune_answers:read_probes", "systems/topdown/tuning_probes:_asked_of",
    "systems/topdown/tuning_probes:read_probes", "workload/schema:read_schema", "document/as_python:_code",
    # Calls of a library, or of the system, that raises this where something is absent.
    "decide/signing:load_private_key", "decide/sshsig:signed_by_command", "files/sheet_grids:sheet_grids",
    "gui/binding/process_service:_kill", "gui/binding/process_service:_on_started",
    "gui/binding/process_service:interrupt", "gui/run_manager/result_server:main", "model/fields:__hash__",
    "runs/cluster:_connect", "runs/cluster:_greet", "runs/cluster:_look", "runs/cluster:_receive", "runs/cluster:_send",
    "runs/confidentiality:person_here",
    # The edge of a process: the traceback goes to its log.
    "cli/app:run", "gui/main/start:main", "runs/worker:main",
}  # fmt: skip
READING = {
    "runs/run_files", "systems/group_sizes/run_files", "systems/phsafe/number_files", "systems/subspace/run_files",
    "systems/topdown/facilities", "systems/topdown/measured_units", "systems/topdown/measurements", "systems/topdown/run_files",
}  # fmt: skip
"""Modules that read files of a run, and may therefore use `reading` and `as_written`."""


def _names(node: ast.AST | None) -> set[str]:
    return set() if node is None else {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} & BUGS


def _nodes(tree: ast.AST, owner: str = "-") -> Iterator[tuple[str, ast.AST]]:
    """Yield every node with the name of the function it stands in."""
    for child in ast.iter_child_nodes(tree):
        inside = child.name if isinstance(child, ast.FunctionDef) else owner
        yield inside, child
        yield from _nodes(child, inside)


def _wide(node: ast.AST) -> bool:
    """Return whether errors of the program are taken here: by an except, a suppress, or a tuple that either may name."""
    match node:
        case ast.Try(handlers=handlers):
            return any(_names(handler.type) for handler in handlers)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args) if name == SUPPRESS:
            return any(map(_names, args))
        case ast.Assign(value=ast.Tuple() as value):
            return bool(_names(value))
    return False


def _modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).with_suffix("").as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def test_that_only_readers_take_errors_of_the_program() -> None:
    found, long = set(), []
    for module, tree in _modules():
        for owner, node in _nodes(tree):
            if _wide(node):
                found.add(f"{module}:{owner}")
            if _wide(node) and isinstance(node, ast.Try) and module not in {"cli/app", "runs/worker"}:
                lines = (node.body[-1].end_lineno or 0) - node.body[0].lineno + 1
                long += [f"{module}:{owner}"] if lines > LONGEST else []
    assert found - READERS == set(), "try the reading alone, and use what was read after it"
    assert READERS - found == set(), "no longer there: take it off the list"
    assert long == []


def test_that_only_files_of_a_run_are_read_as_such() -> None:
    using = set()
    for module, tree in _modules():
        for _owner, node in _nodes(tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in {"reading", "as_written"}
            ):
                using.add(module)
    assert using == READING
