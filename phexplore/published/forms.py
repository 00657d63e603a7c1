"""What a published file becomes: a population of blocks, or a table of published values; and what is said of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phexplore.model.issues import InputProblemsError, Issue

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_FIRST = re.compile(r"(?i)(?<![a-z0-9])ppmf[_-]?0+(?![0-9])")


@dataclass(frozen=True, slots=True)
class Part:
    """One file that was recognised.

    Attributes:
        path: of the file, or of a member of an archive (see `phexplore.data.archives`).
        layout: id in ``resources/published/kinds.toml``.
    """

    path: Path
    layout: str

    @property
    def is_first(self) -> bool:
        """Whether it is iteration 0 of the Bureau's reruns, by its name or that of its folder."""
        return any(_FIRST.search(name) for name in (self.path.name, self.path.parent.name))


@dataclass(frozen=True, slots=True)
class Published:
    """Files of one kind that belong together.

    Attributes:
        kind: the word of ``data describe``, e.g. ``nhgis-demonstration``.
        title: words for people.
        source: what was named: a file, an archive or a folder.
        parts: its files, sorted.
        beside: files of other kinds that add to these: units to persons, block assignments to blocks.
        ignored: names of files that are none of the kinds.
        wanted: id of the schema that is preferred where records tell several; "" for the first they tell.
    """

    kind: str
    title: str
    source: Path
    parts: tuple[Part, ...]
    beside: tuple[Published, ...] = ()
    ignored: tuple[str, ...] = ()
    wanted: str = ""

    def of(self, *layouts: str) -> tuple[Path, ...]:
        """Return the files of some layouts."""
        return tuple(part.path for part in self.parts if part.layout in layouts)

    def refused(self, sentence: str, remedy: str, path: Path | None = None, line: int = 0) -> InputProblemsError:
        """Return a refusal that says what the file is, to be raised.

        Args:
            sentence: what is wrong.
            remedy: what to do.
            path: of the file, None for all of them.
            line: from 1, 0 for the whole file.
        """
        name = (path or self.source).name
        return InputProblemsError([Issue((name,), f"{self.title}: {sentence}", remedy, line=line)])


@dataclass(frozen=True, slots=True)
class Description:
    """What ``data describe`` says of a published file.

    Attributes:
        kind: the word of the contract.
        title: words for people.
        levels: areas (records, shapes) by level, widest first.
        notes: what a reader has to know.
        more: further figures by name, JSON values.
    """

    kind: str
    title: str
    levels: Mapping[str, int]
    notes: tuple[str, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    def json(self) -> dict[str, Any]:
        """Return the description as JSON values."""
        return {
            "kind": self.kind,
            "title": self.title,
            "areas": sum(self.levels.values()),
            "levels": list(self.levels),
            "areas_by_level": dict(self.levels),
            "notes": list(self.notes),
            **self.more,
        }


@dataclass(frozen=True, slots=True, eq=False)
class ValueTable:
    """Published values of areas, with the truth and what is known of their errors where a file has it.

    Attributes:
        levels: of each row, ``U[rows]``: the names of spines (``State`` … ``Block``) or classes of areas (``place``, ``aiannh`` …).
        codes: public codes of the areas, ``U[rows]``.
        names: of the areas, ``U[rows]``, "" where the file gives none.
        columns: codes of the values, as the file has them or as the adapter says.
        titles: of the columns, in words.
        published: ``float64[rows, columns]``, NaN where the file has none.
        true: the same of the counts that were protected, None where the file has none.
        deviation: standard deviations, None where the file has none.
        replicates: ``float64[draws, rows, columns]`` of further runs of the same algorithm, None where the file has none.
        remarks: what was assumed on the way.
    """

    levels: NDArray[np.str_]
    codes: NDArray[np.str_]
    names: NDArray[np.str_]
    columns: tuple[str, ...]
    titles: tuple[str, ...]
    published: NDArray[np.float64]
    true: NDArray[np.float64] | None = None
    deviation: NDArray[np.float64] | None = None
    replicates: NDArray[np.float64] | None = None
    remarks: tuple[str, ...] = ()

    def at(self, level: str) -> ValueTable:
        """Return the rows of one level."""
        rows = self.levels == level
        return replace(
            self,
            levels=self.levels[rows],
            codes=self.codes[rows],
            names=self.names[rows],
            published=self.published[rows],
            true=None if self.true is None else self.true[rows],
            deviation=None if self.deviation is None else self.deviation[rows],
            replicates=None if self.replicates is None else self.replicates[:, rows],
        )
