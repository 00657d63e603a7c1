"""Taste: what the window remembers between starts. Nothing in here changes a number.

It is a small JSON file and not Qt's own store, which makes any object that a damaged file names and can die of it.
"""

from __future__ import annotations

import base64
import enum
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QByteArray, QStandardPaths

from phexplore.catalog.names import Naming
from phexplore.errors import PhexploreError
from phexplore.files.atomic_files import WriteError, read_text, write_atomically
from phexplore.files.json_text import plain_values
from phexplore.gui.theme.appearance import ThemeChoice
from phexplore.gui.theme.depth import Depth
from phexplore.gui.theme.number_style import NumberStyle

Value = TypeVar("Value")
Choice = TypeVar("Choice", bound=enum.Enum)
FILE = "settings.json"
MOST_RECENT = 10
_LARGEST = 2**22
_MOST_VALUES = 50_000
_DIGITS = re.compile("[0-9]{1,6}")


@dataclass(frozen=True, slots=True)
class Setting(Generic[Value]):
    """One remembered choice.

    Attributes:
        key: where it is kept.
        default: when nothing is kept, or something that cannot be read.
        convert: reads what the file holds, which may be anything; None when it cannot be read.
        text: what it is, for people.
    """

    key: str
    default: Value
    convert: Callable[[Any], Value | None]
    text: str


def _word(kept: Any) -> str | None:
    return kept if isinstance(kept, str) else None


def _one_of(choices: type[Choice]) -> Callable[[Any], Choice | None]:
    return lambda kept: next((choice for choice in choices if choice.value == kept), None)


def _number(kept: Any) -> int | None:
    return int(kept) if _DIGITS.fullmatch(str(kept)) else None


def _flag(kept: Any) -> bool | None:
    return {"true": True, "false": False}.get(str(kept).lower())


def _names(kept: Any) -> tuple[str, ...] | None:
    if isinstance(kept, str):
        return (kept,)
    return tuple(map(str, kept)) if isinstance(kept, list | tuple) else None


def _bytes(kept: Any) -> QByteArray | None:
    with suppress(ValueError, TypeError):
        return QByteArray(base64.b64decode(kept, validate=True))
    return None


THEME = Setting("look/theme", ThemeChoice.SYSTEM, _one_of(ThemeChoice), "Theme: system, light or dark")
NUMBERS = Setting(
    "look/numbers", NumberStyle.SYSTEM, _one_of(NumberStyle), "How numbers are written: system, point or comma"
)
NAMES = Setting("look/names", Naming.NAMES, _one_of(Naming), "How things are called: names, codes or both")
DEPTH = Setting("look/depth", Depth.COMMITTEE, _one_of(Depth), "How much is shown: committee or expert")
TEXT_SIZE = Setting("look/text_size", 100, _number, "Text size in percent")
AUTHOR = Setting("comments/author", "", _word, "Who commented last")
FOLDER = Setting("files/folder", "", _word, "Folder of the last file")
RECENT: Setting[tuple[str, ...]] = Setting("files/recent", (), _names, "Files opened lately, newest first")
GEOMETRY = Setting("window/geometry", QByteArray(), _bytes, "Place and size of the window")
LAYOUT = Setting("window/layout", QByteArray(), _bytes, "How the window is divided between page and inspector")
INSPECTOR = Setting("window/inspector", True, _flag, "Whether the inspector is shown")
ISSUES = Setting("window/issues", False, _flag, "Whether the list of issues is shown")
PICTURE = Setting("budgets/picture", True, _flag, "Whether margins are drawn beside the budget table, if there is room")

TOUR = Setting("window/tour_offered", False, _flag, "Whether the tour was offered at a first start")


class Settings:
    """Typed access to what is kept on this computer for this user."""

    def __init__(self, path: Path | None = None) -> None:
        """Use the user's own file, or another one."""
        config = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppConfigLocation)
        self._path = path or Path(config) / FILE
        self._kept = self._read()

    def read(self, setting: Setting[Value]) -> Value:
        """Return the kept value, the default when there is none that can be read."""
        found = setting.convert(self._kept.get(setting.key))
        return setting.default if found is None else found

    def keep(self, setting: Setting[Value], value: Value) -> None:
        """Keep a value, at least until the program ends."""
        written: Any = value.value if isinstance(value, enum.Enum) else value
        self._put(setting.key, base64.b64encode(value.data()).decode() if isinstance(value, QByteArray) else written)

    def _put(self, key: str, value: object) -> None:
        kept = {**self._read(), key: value}  # another window may have written since
        try:
            write_atomically(self._path, json.dumps(kept, indent=1, ensure_ascii=False).encode(), private=True)
        except (WriteError, UnicodeEncodeError):
            kept = {**self._kept, key: value}
        self._kept = kept

    def _read(self) -> dict[str, Any]:
        with suppress(PhexploreError):
            found = plain_values(read_text(self._path, limit=_LARGEST), FILE, "", most=_MOST_VALUES)
            return found if isinstance(found, dict) else {}
        return {}

    def recent_files(self) -> list[Path]:
        """Return the files opened lately that still exist, newest first."""
        kept: tuple[str, ...] = self.read(RECENT)
        return [path for path in map(Path, kept) if _is_there(path)]

    def remember_file(self, path: Path) -> None:
        """Put a file first among the recent ones, and remember its folder."""
        self._kept = self._read() or self._kept
        kept: tuple[str, ...] = self.read(RECENT)
        others = [name for name in kept if Path(name) != path.resolve()]
        self.keep(RECENT, (str(path.resolve()), *others)[:MOST_RECENT])
        self.keep(FOLDER, str(path.resolve().parent))

    def data_of(self, project: Path) -> dict[str, str]:
        """Return the paths of the data that a project file was looked at with, by what they are."""
        found = self._kept.get(_data_key(project))
        return {str(name): str(path) for name, path in found.items()} if isinstance(found, dict) else {}

    def keep_data(self, project: Path, paths: Mapping[str, str]) -> None:
        """Keep the paths of the data that a project file was looked at with."""
        self._put(_data_key(project), dict(paths))


def _is_there(path: Path) -> bool:
    with suppress(OSError):  # a damaged name can be longer than any file's
        return path.is_file()
    return False


def _data_key(project: Path) -> str:
    return f"data/{hashlib.sha256(str(project.resolve()).encode()).hexdigest()[:16]}"
