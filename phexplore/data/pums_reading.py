"""Reading person records in the form of the American Community Survey's public-use samples (PUMS)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from phexplore.catalog.states import states
from phexplore.data.problems import LISTED_PER_RULE
from phexplore.model.issues import InputProblemsError, Issue

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

# RELP, ACS 2010-2018, to RELSHIP. Spouses (1) and partners (13) get their code from the sexes of the couple. The 2020
# list has no roomer or boarder (11): it counts them among other nonrelatives.
SPOUSE_RELP, PARTNER_RELP, ROOMER_RELP = 1, 13, 11
RELSHIP_OF_RELP: Mapping[int, int] = {
    0: 20, 1: 21, 2: 25, 3: 26, 4: 27, 5: 28, 6: 29, 7: 30, 8: 31, 9: 32, 10: 33, 11: 36, 12: 34, 13: 22, 14: 35, 15: 36,
    16: 37, 17: 38,
}  # fmt: skip

OLDEST = 115
_RACES = ("RACWHT", "RACBLK", "RACAIAN", "RACASN", "RACNHPI", "RACSOR")
_PACIFIC_PARTS = ("RACNH", "RACPI")


@dataclass(frozen=True, slots=True, eq=False)
class PumsPersons:
    """Person records, in file order.

    Attributes:
        household: ``int64[n]``, number of the SERIALNO, in order of first appearance.
        order: ``int64[n]``, SPORDER, or the order in the file.
        relp: ``int64[n]``, RELP as given; -1 when the file has RELSHIPP.
        relship: ``uint8[n]``, census relationship 20-38, couples as opposite-sex where RELP does not say.
        qage: ``uint8[n]``.
        female: ``bool[n]``.
        hispanic: ``bool[n]``.
        races: ``uint8[n]``, bit i set = race i of W, B, I, A, N, S reported.
        state: ``uint8[n]``, FIPS code, 0 = not in the file.
        weight: ``int64[n]``, PWGTP, 1 when the file has none.
        tenure: ``uint8[n]``, TEN 1-4, 0 = not given.
        serials: SERIALNO by household number.
        has_weights: the file has PWGTP.
    """

    household: NDArray[np.int64]
    order: NDArray[np.int64]
    relp: NDArray[np.int64]
    relship: NDArray[np.uint8]
    qage: NDArray[np.uint8]
    female: NDArray[np.bool_]
    hispanic: NDArray[np.bool_]
    races: NDArray[np.uint8]
    state: NDArray[np.uint8]
    weight: NDArray[np.int64]
    tenure: NDArray[np.uint8]
    serials: tuple[str, ...]
    has_weights: bool


def read_pums(path: Path) -> PumsPersons:
    """Read a PUMS person file, .csv or .csv.gz; columns that are not needed may be there too.

    Raises:
        InputProblemsError: the file cannot be read, a column is missing, or values are not legal; all are listed.
    """
    return _Reader(path).persons()


class _Reader:
    """Columns of one file and what is wrong with them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._issues: list[Issue] = []
        self._table = self._read()
        self._names: list[str] = self._table.column_names

    def persons(self) -> PumsPersons:
        count = self._table.num_rows
        self._require()
        by_relp = "RELP" in self._names
        relp = self._integers("RELP", tuple(RELSHIP_OF_RELP)) if by_relp else np.full(count, -1)
        relship = (
            np.array([RELSHIP_OF_RELP.get(code, 0) for code in range(18)])[np.clip(relp, 0, 17)]
            if by_relp
            else self._integers("RELSHIPP", range(20, 39))
        )
        household, serials = self._serials()
        races = np.zeros(count, np.uint8)
        for place, name in enumerate(_RACES):
            races |= (self._race(name) << place).astype(np.uint8)
        known_states = [int(code) for code in states()]
        place_column = next((name for name in ("ST", "STATE") if name in self._names), None)
        found = PumsPersons(
            household=household,
            order=self._integers("SPORDER", range(1, 100_000)) if "SPORDER" in self._names else np.arange(count),
            relp=relp,
            relship=relship.astype(np.uint8),
            qage=self._integers("AGEP", range(OLDEST + 1)).astype(np.uint8),
            female=self._integers("SEX", (1, 2)) == 2,
            hispanic=self._integers("HISP", range(1, 100)) != 1,
            races=races,
            state=(self._integers(place_column, known_states) if place_column else np.zeros(count)).astype(np.uint8),
            weight=self._integers("PWGTP", range(100_000)) if "PWGTP" in self._names else np.ones(count, np.int64),
            tenure=(self._integers("TEN", range(5), blank=0) if "TEN" in self._names else np.zeros(count)).astype(
                np.uint8
            ),
            serials=serials,
            has_weights="PWGTP" in self._names,
        )
        if self._issues:
            raise InputProblemsError(self._issues)
        return found

    def _read(self) -> pa.Table:
        import pyarrow as pa  # noqa: PLC0415 - the command line starts without it
        from pyarrow import csv  # noqa: PLC0415

        from phexplore.data.blocks.delimited import MOST_COLUMNS, read_head  # noqa: PLC0415

        if not self._path.is_file():
            raise InputProblemsError(
                [Issue((str(self._path),), "There is no such file.", "Give a PUMS person file, .csv or .csv.gz.")]
            )
        if read_head(self._path).partition(b"\n")[0].count(b",") >= MOST_COLUMNS:
            sentence = f"The first line names more than {MOST_COLUMNS:,} columns."
            raise InputProblemsError([Issue((self._path.name,), sentence, "Give a PUMS person file.", line=1)])
        try:
            header = csv.open_csv(self._path).schema.names
            return csv.read_csv(
                self._path,
                convert_options=csv.ConvertOptions(
                    column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=False
                ),
            )
        except (pa.ArrowException, OSError, EOFError, ValueError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise InputProblemsError(
                [
                    Issue(
                        (self._path.name,),
                        f"{self._path.name} cannot be read as CSV: {reason}",
                        "Give a comma-separated file in UTF-8 with a header line, plain or gzipped.",
                    )
                ]
            ) from error

    def _require(self) -> None:
        wanted: list[Sequence[str]] = [("SERIALNO",), ("RELP", "RELSHIPP"), ("AGEP",), ("SEX",), ("HISP",)]
        wanted += [(name,) for name in _RACES if name != "RACNHPI"]
        missing = [" or ".join(names) for names in wanted if not any(name in self._names for name in names)]
        if "RACNHPI" not in self._names and not all(name in self._names for name in _PACIFIC_PARTS):
            missing.append("RACNH and RACPI (or RACNHPI)")
        repeated = sorted({name for name in self._names if self._names.count(name) > 1})
        issues = [
            Issue((self._path.name,), f"Column {name} is missing.", "Give a PUMS person file with it.", line=1)
            for name in missing
        ]
        issues += [
            Issue((self._path.name,), f"Column {name!r} occurs twice.", "Keep one of them.", line=1)
            for name in repeated
        ]
        if not issues and self._table.num_rows == 0:
            issues.append(Issue((self._path.name,), "The file holds no records.", "Give a file with persons.", line=2))
        if issues:
            raise InputProblemsError(issues)

    def _serials(self) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        encoded = self._table.column("SERIALNO").combine_chunks().dictionary_encode()
        serials = tuple(encoded.dictionary.to_pylist())
        numbers = encoded.indices.to_numpy().astype(np.int64)
        if "" in serials:
            self._report("SERIALNO", np.flatnonzero(numbers == serials.index("")), "the number of the household")
        return numbers, serials

    def _race(self, name: str) -> NDArray[np.int64]:
        if name == "RACNHPI" and name not in self._names:
            hawaiian, pacific = (self._integers(part, (0, 1)) for part in _PACIFIC_PARTS)
            return np.maximum(hawaiian, pacific)
        return self._integers(name, (0, 1))

    def _integers(self, name: str, legal: Sequence[int], *, blank: int | None = None) -> NDArray[np.int64]:
        """Return a column as whole numbers; values that are not legal become issues and 0."""
        encoded = self._table.column(name).combine_chunks().dictionary_encode()
        allowed = set(legal)
        codes: list[Any] = []
        for text in encoded.dictionary.to_pylist():
            stripped = text.strip()
            number = int(stripped) if stripped.isascii() and stripped.isdigit() and len(stripped) < 10 else None
            number = blank if not stripped else number
            codes.append(number if number in allowed else -1)
        values = np.array(codes, np.int64)[encoded.indices.to_numpy()]
        if (wrong := np.flatnonzero(values < 0)).size:
            words = f"{min(legal)} to {max(legal)}" if len(legal) > 2 else " or ".join(map(str, legal))
            self._report(name, wrong, words)
        legal_values: NDArray[np.int64] = np.maximum(values, 0)
        return legal_values

    def _report(self, name: str, rows: NDArray[np.int64], legal: str) -> None:
        column = self._table.column(name)
        place = self._names.index(name) + 1
        for row in rows[:LISTED_PER_RULE]:
            value = column[int(row)].as_py()
            self._issues.append(
                Issue(
                    (self._path.name,),
                    f"{name} is {value!r}, which is not legal." if value else f"{name} is empty.",
                    f"Legal: {legal}.",
                    line=int(row) + 2,
                    column=place,
                )
            )
        if len(rows) > LISTED_PER_RULE:
            more = len(rows) - LISTED_PER_RULE
            sentence = f"{more:,} more values of {name} are not legal."
            self._issues.append(Issue((self._path.name,), sentence, f"Legal: {legal}.", column=place))
