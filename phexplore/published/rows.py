"""Lines of small delimited files with a header, as dictionaries; what cannot be read is refused with its line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from phexplore.data.archives import read_whole
from phexplore.published.forms import Published

BAD_NUMBERS = (ValueError, KeyError, AttributeError, TypeError, OverflowError)
"""What converting a field of a damaged line raises."""


def rows_of(
    found: Published, path: Path, *, delimiter: str, largest: int, remedy: str
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield line numbers and fields by the names of the header.

    Args:
        found: what the file belongs to.
        path: of the file.
        delimiter: between fields.
        largest: bytes of a file that is read.
        remedy: what to do about a line that cannot be split.

    Raises:
        InputProblemsError: the file cannot be read, or a line cannot be split.
    """
    text = read_whole(path, largest).decode("utf-8-sig", "replace")
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        yield from enumerate(reader, start=2)
    except csv.Error as error:
        raise found.refused(f"a line cannot be split into fields ({error}).", remedy, path, reader.line_num) from error
