"""What stands beside tables that look like a publication: that they are simulated, by which run, from which seed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from phexplore.data.provenance import PROVENANCE_FILE
from phexplore.files.atomic_files import write_atomically
from phexplore.runs.spec import RunMode, RunSpec

NOTE_FILE = "SIMULATED.txt"
"""Beside the tables, in no folder of production's layout: their files stay as production writes them."""


def release_note(spec: RunSpec) -> str:
    """Return the text of the note."""
    if spec.mode is not RunMode.PRIVATE:
        drawn = "No noise was added: these are exact counts, as confidential as the data."
    elif spec.seed is None:
        drawn = "Noise came from the operating system. Every trial that is released spends the budget once more."
    else:
        # Beside tables of real records the seed itself would be the key to them.
        seed = f"the seed {spec.seed}" if spec.data.is_open else "a seed that only the run contains"
        drawn = f"Noise was drawn from {seed}: anyone who has it can take the noise away. Never release these tables."
    data = "" if spec.salt else f"Data: SHA-256 {spec.data.sha256}. "
    return (
        "SIMULATED. These tables have the layout of a publication but are not one.\n"
        f"{drawn}\n"
        f"Scenario: {spec.scenario.name!r}. Run: {spec.identity}.\n"
        f"{data}{spec.provenance.sentence}\n"
    )


def beside(spec: RunSpec, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files that go next to tables of a run: the note, and the provenance with the SHA-256 of each table.

    Args:
        spec: of the run.
        files: the tables by name.
    """
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    return {NOTE_FILE: release_note(spec).encode(), PROVENANCE_FILE: spec.provenance.listed(digests)}


def write_beside(spec: RunSpec, folder: Path, tables: Iterable[Path], *, private: bool) -> None:
    """Write the note and the provenance next to tables that are written.

    Args:
        spec: of the run.
        folder: that holds the tables.
        tables: in it, or below it.
        private: whether only their owner may read them.

    Raises:
        PhexploreError: the folder cannot be written.
    """
    for name, content in beside(
        spec, {path.relative_to(folder).as_posix(): path.read_bytes() for path in tables}
    ).items():
        write_atomically(folder / name, content, private=private)
