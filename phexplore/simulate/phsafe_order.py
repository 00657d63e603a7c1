"""The order in which production keeps the persons of a household that exceeds a truncation threshold.

PHSafe 3.0.0 orders rows by a hash of their content, so the same input is always cut the same way (paper, Algorithm 3,
"a predefined ordering over the universe of records"). The key of a row is made of its columns RTYPE, MAFID, QAGE,
CENHISP, CENRACE, RELSHIP and k, where k = 1, 2, … numbers rows that are equal in all columns: each value's text is
hashed with SHA-256 (whole numbers as base-2 digits without padding, codes as written), the seven hexadecimal digests
are joined with commas, and the SHA-256 digest of that is hashed once more, again as hexadecimal text. Keys compare as
text; as the digits are lower case, comparing the bytes is the same. Equal keys would fall back to the columns, but
rows that differ have different keys unless SHA-256 collides.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phexplore.data.population import SdhcPersons


def _digest(text: str) -> bytes:
    return sha256(text.encode("ascii")).hexdigest().encode("ascii")


_NUMBER = [_digest(format(number, "b")) for number in range(256)]
_ONE_DIGIT = [_digest(str(code)) for code in range(256)]
_TWO_DIGITS = [_digest(f"{code:02d}") for code in range(256)]


def truncation_order(persons: SdhcPersons, selected: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the selected persons household by household, in each the one kept first in front: ``int64[n]``.

    Args:
        persons: the population.
        selected: rows of `persons`; of every household all rows that a table's universe holds.
    """
    columns = (persons.rtype, persons.mafid, persons.qage, persons.cenhisp, persons.cenrace, persons.relship)
    by_content = np.lexsort([column[selected] for column in (*columns[2:], columns[0], columns[1])])
    ordered = selected[by_content]
    keys = bytearray()
    last: tuple[int, ...] = ()
    mafid_digest, repetition = b"", 0
    for row in zip(*(column[ordered].tolist() for column in columns), strict=True):
        repetition = repetition + 1 if row == last else 1
        if not last or row[1] != last[1]:
            mafid_digest = _digest(format(row[1], "b"))
        last = row
        keys += row_key(row, mafid_digest, repetition)
    words = np.frombuffer(bytes(keys), dtype=">u8").reshape(-1, 4)
    order = np.lexsort((words[:, 3], words[:, 2], words[:, 1], words[:, 0], persons.mafid[ordered]))
    return ordered[order]


def row_key(row: tuple[int, ...], mafid_digest: bytes, repetition: int) -> bytes:
    """Return the sort key of one person: the 32 bytes of the last digest.

    Args:
        row: RTYPE, MAFID, QAGE, CENHISP, CENRACE, RELSHIP.
        mafid_digest: of the MAFID, hexadecimal; a household shares it.
        repetition: k, from 1.
    """
    parts = (
        _ONE_DIGIT[row[0]],
        mafid_digest,
        _NUMBER[row[2]],
        _NUMBER[row[3]],
        _TWO_DIGITS[row[4]],
        _TWO_DIGITS[row[5]],
        _NUMBER[repetition] if repetition < len(_NUMBER) else _digest(format(repetition, "b")),
    )
    return sha256(sha256(b",".join(parts)).hexdigest().encode("ascii")).digest()
