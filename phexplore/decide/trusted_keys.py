"""The checker's own small store of public keys: whom each belongs to, as somebody who looked it up wrote down.

It lies in the user's configuration folder and can be read and written by its owner only. No bundle adds to it.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from phexplore.decide.signing import SigningError, confirm_strong, key_id_of
from phexplore.files.atomic_files import WriteError, read_text, write_atomically
from phexplore.files.json_text import plain_values
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.platforms import others_may_write, user_folder
from phexplore.text.quoted import quote

FORMAT, VERSION = "phexplore keys", 1
_FILE = "trusted_keys.json"
_LARGEST_STORE = 2**20
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class TrustedKey:
    """A public key and whose it is.

    Attributes:
        name: the person, in the words of whoever keeps the store.
        public_key: 32 bytes.
    """

    name: str
    public_key: bytes

    def __post_init__(self) -> None:
        """Keep the name as it was typed."""
        quote(self.name)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the public key, 64 hexadecimal digits."""
        return key_id_of(self.public_key)


def store_path() -> Path:
    """Return where the store lies: in the configuration folder of the user."""
    return user_folder("settings") / _FILE


def trusted_keys(path: Path | None = None) -> tuple[TrustedKey, ...]:
    """Return the keys of the store, in the order they were added; none when there is no store yet.

    Raises:
        InputProblemsError: the store cannot be read, or others may write to it.
    """
    place = path or store_path()
    if not place.exists():
        return ()
    if others_may_write(place):
        raise _damaged(place, "others may write to it", f"Look through it, then: chmod 600 {place}")
    remedy = "Move it away and add the keys again with phexplore keys add."
    value = plain_values(read_text(place, limit=_LARGEST_STORE), place.name, remedy)
    if not isinstance(value, dict) or (value.get("format"), value.get("version")) != (FORMAT, VERSION):
        raise _damaged(place, "it has another format", remedy)
    try:
        found = tuple(
            TrustedKey(str(entry["name"]), confirm_strong(base64.b64decode(entry["public_key"], validate=True)))
            for entry in value["keys"]
        )
    except (SigningError, ValueError, TypeError, KeyError) as error:
        raise _damaged(place, str(error), remedy) from error
    return found


def trust_key(name: str, public_key: bytes, path: Path | None = None) -> TrustedKey:
    """Add a key to the store.

    Args:
        name: whose it is.
        public_key: 32 bytes.
        path: of the store; the user's when left out.

    Raises:
        SigningError: the name says nothing, or the key is in the store already.
        InputProblemsError, WriteError: the store cannot be read or written.
    """
    plain = " ".join(name.split())
    if not plain or len(plain) > _LONGEST_NAME:
        raise SigningError("A trusted key needs the name of its owner.", "Name the person with --name.")
    keys = trusted_keys(path)
    for other in keys:
        if other.public_key == public_key:
            raise SigningError(f"The key is in the store already, as {other.name!r}.", "Remove it first to rename it.")
    added = TrustedKey(plain, confirm_strong(public_key))
    _write((*keys, added), path or store_path())
    return added


def forget_key(fingerprint: str, path: Path | None = None) -> TrustedKey:
    """Remove a key from the store and return it.

    Args:
        fingerprint: all 64 digits.
        path: of the store; the user's when left out.

    Raises:
        SigningError: no such key is in the store.
        InputProblemsError, WriteError: the store cannot be read or written.
    """
    keys = trusted_keys(path)
    for key in keys:
        if key.fingerprint == fingerprint.strip().lower():
            _write(tuple(other for other in keys if other is not key), path or store_path())
            return key
    raise SigningError(f"No key {fingerprint!r} is in the store.", "phexplore keys list shows the fingerprints.")


def _write(keys: Sequence[TrustedKey], path: Path) -> None:
    entries = [
        {"name": key.name, "fingerprint": key.fingerprint, "public_key": base64.b64encode(key.public_key).decode()}
        for key in keys
    ]
    content = json.dumps({"format": FORMAT, "version": VERSION, "keys": entries}, indent=1, ensure_ascii=False) + "\n"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
        path.chmod(0o600)
    except OSError as error:
        raise WriteError(f"{path} cannot be written: {error.strerror or error}.", "Check the folder.") from error
    write_atomically(path, content.encode())


def _damaged(path: Path, reason: str, remedy: str) -> InputProblemsError:
    return InputProblemsError([Issue((str(path),), f"The store of trusted keys is not used: {reason}.", remedy)])
