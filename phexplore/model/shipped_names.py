"""Names of files that came with the program or are the user's own: a fingerprint holds what the user's say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from phexplore.library import carried, digest
from phexplore.model.fields import Declared, declared_fields
from phexplore.model.kinds import Text


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


def files_named(method: Declared) -> dict[str, str]:
    """Return the user's files that parameters name, by folder and name: what has to travel with them."""
    found: dict[str, str] = {}
    for part in declared_fields(type(method)):
        if isinstance(part.kind, ShippedName):
            found |= carried(part.kind.folder, f"{getattr(method, part.name)}{part.kind.ending}")
    return found
