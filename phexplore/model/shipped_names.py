"""Names of files that came with the program or are the user's own: a fingerprint holds what the user's say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from phexplore.library import carried, digest
from phexplore.model.fields import Declared, declared_fields
from phexplore.model.kinds import Name, Text


@dataclass(frozen=True, slots=True)
class ShippedName(Text):
    """The name of a shipped file, or of one of the user's library, without its ending.

    Attributes:
        folder: of the files.
        ending: of their names.
    """

    folder: str = ""
    ending: str = ".toml"

    def canonical(self, value: Any) -> Any:
        """Return the name, with the digest of the content where the user may change it."""
        own = digest(self.folder, f"{value}{self.ending}")
        return f"{value} {own}" if own else value


@dataclass(frozen=True, slots=True)
class TableKey(Name):
    """A key that begins with the name of a table, e.g. ``PH3/state_A-G``: shipped, or of the user's library."""

    def file(self, value: Any) -> str:
        """Return the name of the table's file, if it is the user's."""
        return f"{self.encode(value).partition('/')[0]}.toml"

    def canonical(self, value: Any) -> str:
        """Return the text, with the digest of the table where it is the user's."""
        own = digest("tables", self.file(value))
        return f"{self.encode(value)} {own}" if own else self.encode(value)


def files_named(method: Declared) -> dict[str, str]:
    """Return the user's files that parameters name, by folder and name: what has to travel with them."""
    found: dict[str, str] = {}
    for part in declared_fields(type(method)):
        if isinstance(part.kind, ShippedName):
            found |= carried(part.kind.folder, f"{getattr(method, part.name)}{part.kind.ending}")
        elif isinstance(part.kind.keys, TableKey):
            for file in sorted({part.kind.keys.file(key) for key in getattr(method, part.name)}):
                found |= carried("tables", file)
    return found
