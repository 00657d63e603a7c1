"""Files that are whole or absent: written aside, renamed at the end."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

from phexplore.errors import PhexploreError
from phexplore.opening import refuse_irregular_target

if TYPE_CHECKING:
    from pathlib import Path


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing bytes; it gets its name when the block ends, and vanishes when the block fails.

    Raises:
        PhexploreError: it cannot be written.
    """
    part = path.with_name(path.name + ".part")
    try:
        refuse_irregular_target(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            yield file
        part.replace(path)
    except OSError as error:
        _remove(part)
        raise PhexploreError(
            f"{path} cannot be written: {error.strerror or error}.", "Choose another place, or make room on the disk."
        ) from error
    except BaseException:
        _remove(part)
        raise


def _remove(part: Path) -> None:
    # The place itself may be what is wrong; then there is nothing to remove.
    with contextlib.suppress(OSError):
        part.unlink(missing_ok=True)
