"""Signatures in the form of OpenSSH (PROTOCOL.sshsig): ``ssh-keygen -Y verify`` checks them on every machine, cards and agents make them.

Ed25519 only. A signature names what it is for: ``phexplore-bundle``; one made for another purpose is none here.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import shlex
import struct
import subprocess
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from phexplore.errors import PhexploreError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

NAMESPACE = "phexplore-bundle"
"""What the signature is for; the argument of ``-n``."""
_MAGIC, _VERSION = b"SSHSIG", struct.pack(">I", 1)
_KEY_TYPE = b"ssh-ed25519"
_HASHES = {"sha512": hashlib.sha512, "sha256": hashlib.sha256}
_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_LINE = 70
_KEY_BYTES, _VALUE_BYTES = 32, 64
_LONGEST = 4096
_PATIENCE_S = 300
"""How long a command may take: somebody has to find the card, touch it and enter a number."""


class SshSignatureError(PhexploreError):
    """Something that is no signature of this form, or a command that makes none."""


@dataclass(frozen=True, slots=True)
class SshSignature:
    """A signature in the form of OpenSSH.

    Attributes:
        public_key: 32 bytes.
        hashed_with: ``sha512`` or ``sha256``.
        value: 64 bytes.
    """

    public_key: bytes
    hashed_with: str
    value: bytes

    def is_of(self, message: bytes) -> bool:
        """Return whether the holder of the key signed this message for `NAMESPACE`."""
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - only signatures pay for it
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415 - as above

        try:
            Ed25519PublicKey.from_public_bytes(self.public_key).verify(self.value, _signed(message, self.hashed_with))
        except (InvalidSignature, ValueError):
            return False
        return True

    def armoured(self) -> bytes:
        """Return the one spelling of this signature as a file."""
        fields = (
            _string(_KEY_TYPE) + _string(self.public_key),
            NAMESPACE.encode(),
            b"",
            self.hashed_with.encode(),
            _string(_KEY_TYPE) + _string(self.value),
        )
        blob = _MAGIC + _VERSION + b"".join(map(_string, fields))
        lines = textwrap.wrap(base64.b64encode(blob).decode(), _LINE)
        return ("\n".join((_BEGIN, *lines, _END)) + "\n").encode()


def ssh_sign(key: Ed25519PrivateKey, message: bytes) -> SshSignature:
    """Return the signature of a message by a private key.

    Args:
        key: private key.
        message: what is signed.
    """
    return SshSignature(key.public_key().public_bytes_raw(), "sha512", key.sign(_signed(message, "sha512")))


def read_ssh_signature(content: bytes) -> SshSignature:
    """Return the signature that a file holds.

    Raises:
        SshSignatureError: it holds none, or one by another kind of key or for another purpose.
    """
    text = content[: _LONGEST + 1].decode("latin-1").strip()
    if len(content) > _LONGEST or not text.startswith(_BEGIN) or not text.endswith(_END):
        raise SshSignatureError("This is no signature in the form of OpenSSH.", "ssh-keygen -Y sign makes them.")
    try:
        blob = base64.b64decode("".join(text[len(_BEGIN) : -len(_END)].split()), validate=True)
        if not blob.startswith(_MAGIC + _VERSION):
            raise SshSignatureError("The signature has another version.", "Use ssh-keygen of OpenSSH 8.1 or later.")
        key, namespace, _, hashed_with, value = _fields(blob[len(_MAGIC + _VERSION) :], 5)
        (key_type, public_key), (value_type, raw) = _fields(key, 2), _fields(value, 2)
    except (binascii.Error, struct.error, ValueError) as error:
        raise SshSignatureError("The signature is damaged.", "Sign again.") from error
    if namespace.decode("latin-1") != NAMESPACE:
        raise SshSignatureError(f"The signature was made for {namespace[:40]!r}.", f"Sign with -n {NAMESPACE}.")
    if key_type != _KEY_TYPE or value_type != _KEY_TYPE or (len(public_key), len(raw)) != (_KEY_BYTES, _VALUE_BYTES):
        raise SshSignatureError("The signature is not by an Ed25519 key.", "ssh-keygen -t ed25519 makes one.")
    if (name := hashed_with.decode("latin-1")) not in _HASHES:
        raise SshSignatureError(f"The signature hashes with {name[:20]!r}.", "Sign with sha512.")
    return SshSignature(public_key, name, raw)


def signed_by_command(command: str, message: bytes) -> SshSignature:
    """Let a command sign a message: it reads the message on standard input and writes the signature on standard output.

    Args:
        command: program and arguments, e.g. ``ssh-keygen -Y sign -f key.pub -n phexplore-bundle``; no shell takes part.
        message: what is signed.

    Raises:
        SshSignatureError: the command cannot be run, fails, or writes no signature of this message.
    """
    remedy = f"Try it by hand: {command} < FILE; it has to write a signature made with -n {NAMESPACE}."
    try:
        arguments = shlex.split(command)
        done = subprocess.run(arguments, input=message, stdout=subprocess.PIPE, timeout=_PATIENCE_S, check=False)  # noqa: S603 - the command its user typed
    except (OSError, ValueError, IndexError, subprocess.TimeoutExpired) as error:
        raise SshSignatureError(f"The command that signs could not be run: {error}.", remedy) from error
    if done.returncode != 0:
        raise SshSignatureError(f"The command that signs ended with status {done.returncode}.", remedy)
    found = read_ssh_signature(done.stdout)
    if not found.is_of(message):
        raise SshSignatureError("The command signed something else.", remedy)
    return found


def _signed(message: bytes, hashed_with: str) -> bytes:
    digest = _HASHES[hashed_with](message).digest()
    return _MAGIC + b"".join(map(_string, (NAMESPACE.encode(), b"", hashed_with.encode(), digest)))


def _string(content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + content


def _fields(blob: bytes, count: int) -> list[bytes]:
    """Return the length-prefixed fields of a blob, all of it.

    Raises:
        ValueError, struct.error: it does not consist of so many fields.
    """
    found, position = [], 0
    for _ in range(count):
        (length,) = struct.unpack_from(">I", blob, position)
        position += 4
        if position + length > len(blob):
            raise ValueError("a field is longer than the whole")
        found.append(blob[position : position + length])
        position += length
    if position != len(blob):
        raise ValueError("there is more than the fields")
    return found
