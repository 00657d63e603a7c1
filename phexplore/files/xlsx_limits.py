"""Workbooks that are too much: an XLSX is a ZIP of XML, and a few kilobytes of it can unpack to gigabytes."""

from __future__ import annotations

import io
import zipfile

from phexplore.model.issues import InputProblemsError, Issue

LARGEST_FILE = 32 * 2**20
LARGEST_CONTENT = 128 * 2**20
MOST_PARTS = 512
LARGEST_RATIO = 200
"""Spreadsheets of numbers compress about ten times; a bomb a thousand times."""


def refuse_bombs(content: bytes, name: str) -> None:
    """Pass a workbook whose parts, unpacked, are of a size somebody could have typed; nothing is unpacked to find out.

    Macros, links to other files and embedded objects are refused too: parameters need none of them.

    Args:
        content: the file.
        name: for messages.

    Raises:
        InputProblemsError: it is too large, or holds what a table of parameters does not.
    """
    remedy = "Save the table alone as XLSX, or as CSV."
    if len(content) > LARGEST_FILE:
        raise _refusal(name, f"The workbook has {len(content) // 2**20} MB.", remedy)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, RuntimeError) as error:
        raise _refusal(name, f"The workbook cannot be opened: {error}.", "Save it as XLSX again.") from error
    unpacked = sum(part.file_size for part in parts)
    if len(parts) > MOST_PARTS or unpacked > LARGEST_CONTENT or unpacked > LARGEST_RATIO * max(len(content), 4096):
        raise _refusal(
            name, f"The workbook would unpack to {unpacked // 2**20} MB in {len(parts)} parts from "
            f"{max(1, len(content) // 2**10)} kB.", remedy,
        )  # fmt: skip
    for part in parts:
        lowered = part.filename.lower()
        if lowered.endswith("vbaproject.bin") or "externallinks/" in lowered or "embeddings/" in lowered:
            raise _refusal(name, f"The workbook holds {part.filename}: macros, links or embedded files.", remedy)


def _refusal(name: str, sentence: str, remedy: str) -> InputProblemsError:
    return InputProblemsError([Issue((name,), sentence, remedy)])
