"""The user's library: presets, spines, tables, schemas and rules in a folder of the user, beside those shipped.

What a project or a bundle brings counts as well, in this process, so that it opens where the library is missing. No file
replaces a shipped one, and one name means one content.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import _lru_cache_wrapper, lru_cache
from pathlib import Path
from typing import TypeVar

from phexplore.errors import PhexploreError
from phexplore.platforms import user_folder
from phexplore.resources import resource
from phexplore.text.messages import Quoted, msg
from phexplore.text.quoted import quote

KINDS: Mapping[str, tuple[str, ...]] = {
    "presets": (".phx", ".json", ".ini", ".xlsx"),
    "spines": (".toml",),
    "tables": (".toml", ".csv"),
    "schemas": (".toml",),
    "rules": (".json",),
}
"""Folders of a library, and how their files end."""

CARRIED: Mapping[str, tuple[str, ...]] = {"schemas": (".toml",), "tables": (".toml", ".csv")}
"""What parameters name, and therefore projects bring; presets, spines and rules are copied into a scenario or a project."""

FOLDER = "PHEXPLORE_LIBRARY"
"""The environment variable that names another folder."""

LARGEST = 4 * 2**20
"""Bytes of the largest file of a library: what is larger is data, not a definition."""

_LARGEST_DEFINITION = 2**18
_MOST_DOTS = 64
"""Bytes of a definition (``.toml``), and dots in one of its lines: reading a key of many parts takes the square of their number."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}\.[a-z]+")
_brought: list[Path] = []
_refused: dict[Path, PhexploreError] = {}
_texts: dict[tuple[str, str], str] = {}
_caches: list[Callable[[], None]] = []
Read = TypeVar("Read")


class LibraryError(PhexploreError):
    """A file of a library that cannot be used, with its name."""


def library_folder() -> Path:
    """Return where the user's library lies: among the data of the user, or where `PHEXPLORE_LIBRARY` says."""
    if named := os.environ.get(FOLDER):
        return Path(named)
    return user_folder("data") / "library"


def until_reread(function: Callable[..., Read]) -> _lru_cache_wrapper[Read]:
    """Keep what a function returned until the library is read again."""
    cached = lru_cache(maxsize=len(KINDS) + 3)(function)
    _caches.append(cached.cache_clear)
    return cached


def reread() -> None:
    """Look for files again. Schemas and tables that were read stay as they were: open scenarios were computed with them."""
    _refused.clear()
    for clear in _caches:
        clear()


@until_reread
def own_files(kind: str) -> Mapping[str, Path]:
    """Return the files of one kind that are the user's or were brought, by name with ending; looked for once, see `reread`.

    Refused are names of shipped files, names that are none, and links: what a scenario names travels with it, and a link in a
    shared folder would take along whatever else the reader may read.
    """
    found: dict[str, Path] = {}
    for folder in (library_folder() / kind, *(root / kind for root in _brought)):
        try:
            files = sorted(path for path in folder.iterdir() if path.suffix in KINDS[kind])
            is_link = folder.is_symlink()
        except OSError:  # there is no such folder, or it may not be read
            continue
        for path in files:
            like = next((name for name in found if name != path.name and name.lower() == path.name.lower()), "")
            if reason := _no_name(kind, path.name):
                _refused[path] = LibraryError(reason, msg("Rename the file."))
            elif like:
                _refused[path] = LibraryError(
                    msg(
                        "Some systems cannot distinguish the names {name} and {like}.",
                        name=Quoted(path.name),
                        like=Quoted(like),
                    ),
                    msg("Rename one of the files."),
                )
            elif is_link or path.is_symlink():
                _refused[path] = LibraryError(
                    msg("{path} is a link.", path=Quoted(path)), msg("Copy the file itself into the library.")
                )
            else:
                found[path.name] = path
                quote(path.stem)
    return found


def _no_name(kind: str, name: str) -> str:
    if not _NAME.fullmatch(name):
        return msg("A name in the library must consist of letters, digits, - and _.")
    if name.lower() not in _shipped(kind):
        return ""
    return f"The program ships {kind}/{name} itself, which nothing replaces."


@lru_cache(maxsize=len(KINDS))
def _shipped(kind: str) -> frozenset[str]:
    """Return the names of shipped files in small letters: some systems do not tell large ones apart."""
    try:
        return frozenset(path.name.lower() for path in resource(kind).rglob("*"))
    except FileNotFoundError:
        return frozenset()


def own_text(kind: str, name: str) -> str | None:
    """Return what a file of the user says, None when there is no such file; it is read once per process.

    Args:
        kind: folder of the library.
        name: of the file, with its ending.

    Raises:
        LibraryError: it is no regular file of text, or too large.
    """
    if (kind, name) not in _texts:
        if (path := own_files(kind).get(name)) is None:
            return None
        _texts[kind, name] = text_of(path)
    return _texts[kind, name]


def text_of(path: Path) -> str:
    """Return the text of a file of the library.

    Raises:
        LibraryError: it is no regular file of text, or too large.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise LibraryError(msg("{path} is not a file.", path=Quoted(path)), msg("Move it out of the library."))
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise LibraryError(
                msg("{path} is larger than {limit} MB.", path=Quoted(path), limit=LARGEST // 2**20),
                msg("Move data out of the library, which contains only definitions."),
            )
        text = content.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LibraryError(
            msg("{path} cannot be read: {error}.", path=Quoted(path), error=str(error)),
            msg("Correct the file, or move it out of the library."),
        ) from error
    if reason := _too_much(path.name, text):
        raise LibraryError(f"{path} {reason}.", msg("Divide the file, or remove anything that is not a definition."))
    return text


def _too_much(name: str, text: str) -> str:
    """Return why a definition would take too long to be read, "" when it would not."""
    if not name.endswith(".toml"):
        return ""
    if len(text) > _LARGEST_DEFINITION:
        return f"is larger than {_LARGEST_DEFINITION // 2**10} KB, as no definition is"
    return "has a line of too many dots" if any(line.count(".") > _MOST_DOTS for line in text.split("\n")) else ""


def confirm_id(path: Path, given: object) -> None:
    """Pass the id that a file states of itself.

    Args:
        path: of the file.
        given: what it states.

    Raises:
        ValueError: it is not the name of the file.
    """
    if given != path.stem:
        raise ValueError(f"its id is {given!r}, not the name of the file")


def own_entries(kind: str, read: Callable[[Path], Read | None], ending: str = "") -> Iterator[tuple[str, Read]]:
    """Yield what can be read of the user's files of one kind, by name without ending; the others are named in `refused`.

    Args:
        kind: folder of the library.
        read: gives the value of a file, None for one that is not meant for it; its `PhexploreError` is kept.
        ending: of the files wanted, "" for all of the kind.
    """
    for name, path in own_files(kind).items():
        if not name.endswith(ending):
            continue
        try:
            value = read(path)
        except PhexploreError as error:
            _refused[path] = error
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
            message = f"entry {error} is missing" if isinstance(error, KeyError) else str(error)
            _refused[path] = LibraryError(
                f"{message}.", msg("Correct the file. The shipped files contain every entry.")
            )
        else:
            if value is not None:  # else it is for another reader of this kind
                _refused.pop(path, None)
                yield path.stem, value


def own_title(title: str) -> str:
    """Return a title marked as the user's."""
    return msg("{title} (your library)", title=Quoted(title))


def refused(kind: str = "") -> Mapping[Path, PhexploreError]:
    """Return the files of the library that were left out so far, of one kind or of all, each with why."""
    return {path: error for path, error in _refused.items() if kind in {"", path.parent.name}}


def left_out(kind: str = "") -> list[str]:
    """Return a sentence with remedy for every file that was left out, of one kind or of all; each names the file."""
    known = refused(kind).items()
    return [error.full if path.name in error.sentence else f"{path.name}: {error.full}" for path, error in known]


def is_own(kind: str, name: str) -> bool:
    """Return whether a file is the user's, or came with a project.

    Args:
        kind: folder of the library.
        name: of the file, with its ending.
    """
    return name in own_files(kind)


def digest(kind: str, name: str) -> str:
    """Return what the content of the user's file is hashed to, 64 hexadecimal digits; "" where the name is no file of the user.

    Args:
        kind: folder of the library.
        name: of the file, with its ending.
    """
    text = own_text(kind, name)
    return "" if text is None else hashlib.sha256(text.encode()).hexdigest()


def carried(kind: str, name: str) -> dict[str, str]:
    """Return the user's file with those of its kind that it names, by folder and name: what travels with who names it.

    Args:
        kind: folder of the library.
        name: of the file, with its ending.
    """
    found: dict[str, str] = {}
    wanted = [name]
    while wanted:
        each = wanted.pop()
        place = f"{kind}/{each}"
        if place not in found and (text := own_text(kind, each)) is not None:
            found[place] = text
            if kind == "schemas":  # a table names nothing; its labels may be called as somebody's counts are
                wanted += [other for other in own_files(kind) if f'"{Path(other).stem}"' in text]
    return found


def bring(files: Mapping[str, str]) -> None:
    """Use what a project brings, in this process.

    Args:
        files: texts by folder and name, as `carried` gives them.

    Raises:
        LibraryError: a name is none or a shipped one, or stands for something else here; nothing was taken then.
    """
    new: dict[str, str] = {}
    for place, text in files.items():
        kind, _, name = place.partition("/")
        if not isinstance(text, str) or len(text) > LARGEST or Path(name).suffix not in CARRIED.get(kind, ()):
            raise LibraryError(
                msg("{place!r} is not a file of a library.", place=place), msg("Ask the sender for the file again.")
            )
        if reason := _no_name(kind, name):
            raise LibraryError(f"{place!r}: {reason}", msg("Ask the sender for the file with another name in it."))
        if reason := _too_much(name, text):
            raise LibraryError(f"{place!r} {reason}.", msg("Ask the sender for the file again."))
        if (known := own_text(kind, name)) is None:
            new[place] = text
        elif known != text:
            raise LibraryError(
                msg(
                    "The file contains its own {place}, but on this computer the name has another definition.",
                    place=place,
                ),
                msg(
                    "Rename {own}, or close the file that defined it, then open the file again.",
                    own=Quoted(own_files(kind)[name]),
                ),
            )
    if not new:
        return
    if not _brought:
        _brought.append(Path(tempfile.mkdtemp(prefix="phexplore-library-")))
        atexit.register(shutil.rmtree, _brought[0], ignore_errors=True)
    for place, text in new.items():
        path = _brought[0] / place
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    reread()
