"""Where the files of a hand-over go."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from phexplore.errors import ExportError
from phexplore.systems.topdown.ini_writing import IniOutput


def placed_files(output: IniOutput, out: Path, *, is_file: bool) -> dict[Path, str]:
    """Return where every file goes, the first one first.

    Args:
        output: the files.
        out: a folder, which gets all of them under their names; or the first file, beside which the others go.
        is_file: which of the two it is.

    Raises:
        ExportError: an included file would land outside the folder of `out`.
    """
    names = [output.root, *(name for name in output.files if name != output.root)]
    if not is_file:
        return {out / name: output.files[name] for name in names}
    home = PurePosixPath(output.root).parent
    placed = {out: output.files[output.root]}
    for name in names[1:]:
        inside = PurePosixPath(name)
        if home.parts and not inside.is_relative_to(home):
            raise ExportError(
                f"{PurePosixPath(output.root).name} includes {name}, which lies above it.",
                "Name a folder with --out: it gets the whole tree.",
            )
        placed[out.parent / inside.relative_to(home)] = output.files[name]
    return placed
