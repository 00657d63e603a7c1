"""The mark that says where a population comes from: ``provenance.json`` beside its files.

Written by the generator and the converters, last of all files, with the hash of each; absent beside confidential data.
No times, no machine names: the same population gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.provenance import UNMARKED, Provenance, ProvenanceKind
from phexplore.opening import read_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PROVENANCE_FILE = "provenance.json"
FORMAT = "phexplore-provenance"
FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class FileMark:
    """A file as it was written.

    Attributes:
        rows: records in it, without a header.
        size: in bytes.
        sha256: of its bytes, in hexadecimal.
    """

    rows: int
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class PopulationMark:
    """Where a population comes from.

    Attributes:
        kind: ``synthetic-population`` or ``converted-sample``.
        generator: program and version.
        synthetic: true when no record is a confidential one.
        seed: of the random choices.
        states: FIPS codes.
        matched: what agrees with real figures, each with its source.
        imputed: what was assumed or imputed, in words with counts.
        statement: one sentence for people.
        options: what the user asked for.
        files: by file name.
    """

    kind: str
    generator: str
    synthetic: bool
    seed: int
    states: tuple[str, ...]
    matched: tuple[str, ...]
    imputed: tuple[str, ...]
    statement: str
    options: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, FileMark] = field(default_factory=dict)

    @property
    def provenance(self) -> Provenance:
        """The origin as every result states it: a converted sample is imputed in part."""
        if not self.synthetic:
            return UNMARKED
        kind = ProvenanceKind.IMPUTED if self.kind == "converted-sample" else ProvenanceKind.SYNTHETIC
        return Provenance(kind, f"{self.generator}, {self.kind.replace('-', ' ')}, seed {self.seed}")


def write_provenance(directory: Path, provenance: PopulationMark) -> None:
    """Write the mark, whole or not at all.

    Args:
        directory: of the population's files.
        provenance: what made them, with the hash of each.
    """
    content = {"format": FORMAT, "format_version": FORMAT_VERSION, **asdict(provenance)}
    target = directory / PROVENANCE_FILE
    part = directory / (PROVENANCE_FILE + ".part")
    part.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    part.replace(target)


def read_provenance(directory: Path) -> PopulationMark | None:
    """Return the mark of a directory, None when it has none.

    Raises:
        InputProblemsError: the file is there but is not such a mark.
    """
    path = directory / PROVENANCE_FILE
    if not path.is_file():
        return None
    try:
        content = json.loads(read_bytes(path, limit=2**20))
        json.dumps(content, ensure_ascii=False).encode()  # half a character could be read but not written again
        _confirm_format(content["format"], content["format_version"])
        known = {name.name: content[name.name] for name in fields(PopulationMark)}
        known["files"] = {name: FileMark(**mark) for name, mark in known["files"].items()}
        for name in ("states", "matched", "imputed"):
            known[name] = tuple(known[name])
        return PopulationMark(**known)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputProblemsError(
            [
                Issue(
                    (PROVENANCE_FILE,),
                    f"This is not a provenance mark this program understands: {error}.",
                    "Remove the file if the data do not come from the generator or a converter of this program.",
                )
            ]
        ) from error


def _confirm_format(name: str, version: int) -> None:
    if name != FORMAT or version != FORMAT_VERSION:
        raise ValueError(f"format {name!r}, version {version!r}")


def mark_file(path: Path, rows: int) -> FileMark:
    """Return size and hash of a written file.

    Args:
        path: of the file.
        rows: records that it holds.
    """
    with path.open("rb") as file:
        return FileMark(rows, path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())


def is_as_marked(path: Path, mark: FileMark) -> bool:
    """Return whether a file still has the bytes that were marked.

    Args:
        path: of the file.
        mark: its size and hash as written.
    """
    if path.stat().st_size != mark.size:
        return False
    return mark_file(path, mark.rows).sha256 == mark.sha256
