"""Detached signatures: who stands for a bundle. Ed25519 (RFC 8032); private keys are read, used and never kept.

A signature covers the manifest, which covers every file, and the name, role and time it is given under. The public key
stands beside it, so that a bundle can be checked alone; whom a public key belongs to, only people know.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from phexplore.decide.sshsig import SshSignature, signed_by_command, ssh_sign
from phexplore.errors import PhexploreError
from phexplore.opening import read_bytes

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_PREFIX = b"phexplore bundle signature 1\x00"
ED25519 = "Ed25519"
_BY_COMMAND = "SSHSIG "
_WHICH_KEY = b"phexplore asks which key this command signs with.\n"
_ALGORITHMS = frozenset({ED25519, f"{_BY_COMMAND}sha256", f"{_BY_COMMAND}sha512"})
_LARGEST_KEY = 2**16
_KEY_BYTES = 32
_PRIME = 2**255 - 19
_ORDER_8 = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
_SMALL_ORDER = frozenset({0, 1, _PRIME - 1, _ORDER_8, _PRIME - _ORDER_8})
"""The y coordinates of the points whose order divides 8: for such a key one signature fits every text (RFC 8032, 8.9)."""
PUBLIC_SUFFIX = ".pub"
"""Added to the name of a private key for the file of its public key."""


class SigningError(PhexploreError):
    """A key that cannot be read, or a signature that cannot be made."""


@dataclass(frozen=True, slots=True)
class Signer:
    """Who signs.

    Attributes:
        name: the person.
        role: in which capacity.
    """

    name: str
    role: str


@dataclass(frozen=True, slots=True)
class Signature:
    """One detached signature.

    Attributes:
        signer: who says to have signed.
        at: when, ISO 8601 in UTC, as the signer's machine had it.
        public_key: 32 bytes.
        value: 64 bytes.
        algorithm: how `value` was made: ``Ed25519``, or ``SSHSIG`` with its hash when a command made it.
        over_manifest: a second signature, of the manifest alone, as OpenSSH checks it; b"" in bundles of version 1.
    """

    signer: Signer
    at: str
    public_key: bytes
    value: bytes
    algorithm: str = ED25519
    over_manifest: bytes = b""

    @property
    def key_id(self) -> str:
        """SHA-256 of the public key: what people compare over the telephone."""
        return key_id_of(self.public_key)

    def encoded(self) -> bytes:
        """Return the one spelling of this signature as a file."""
        content = {
            "algorithm": self.algorithm,
            "at": self.at,
            "key": self.key_id,
            "public_key": base64.b64encode(self.public_key).decode(),
            "role": self.signer.role,
            "signature": base64.b64encode(self.value).decode(),
            "signer": self.signer.name,
        }
        return (json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()

    def is_of(self, manifest: bytes) -> bool:
        """Return whether the holder of the key signed exactly this manifest under this name, role and time."""
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - only signatures pay for it
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415 - as above

        message = _message(manifest, self.signer, self.at, self.public_key)
        try:
            key = Ed25519PublicKey.from_public_bytes(confirm_strong(self.public_key))
            if self.algorithm != ED25519:
                hashed_with = self.algorithm.removeprefix(_BY_COMMAND)
                return SshSignature(self.public_key, hashed_with, self.value).is_of(message)
            key.verify(self.value, message)
        except (InvalidSignature, SigningError, ValueError):
            return False
        return True


def key_id_of(public_key: bytes) -> str:
    """Return 64 hexadecimal digits that name a public key."""
    return hashlib.sha256(public_key).hexdigest()


def confirm_strong(public_key: bytes) -> bytes:
    """Return a public key that can belong to one person alone.

    Raises:
        SigningError: it is not 32 bytes, not in its one spelling, or a point of small order, for which anybody can
            sign.
    """
    y = int.from_bytes(public_key, "little") & (2**255 - 1)
    if len(public_key) != _KEY_BYTES or y >= _PRIME or y in _SMALL_ORDER:
        raise SigningError(
            "The key is weak: anybody can make signatures that fit it.", "Ask its owner for a key made by ssh-keygen."
        )
    return public_key


def _message(manifest: bytes, signer: Signer, at: str, public_key: bytes) -> bytes:
    who = json.dumps([signer.name, signer.role, at, key_id_of(public_key)], ensure_ascii=False).encode()
    return _PREFIX + hashlib.sha256(manifest).digest() + who


def decode_signature(content: bytes) -> Signature | None:
    """Return the signature a file holds, None when it is not the one spelling of any."""
    try:
        value = json.loads(content)
        found = Signature(
            Signer(value["signer"], value["role"]),
            value["at"],
            base64.b64decode(value["public_key"], validate=True),
            base64.b64decode(value["signature"], validate=True),
            value["algorithm"],
        )
        return found if found.algorithm in _ALGORITHMS and found.encoded() == content else None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def sign(manifest: bytes, key: Ed25519PrivateKey, signer: Signer, at: str) -> Signature:
    """Return a signature of a manifest.

    Args:
        manifest: of the bundle.
        key: private key of the signer.
        signer: name and role.
        at: time of the signature, ISO 8601.

    Raises:
        SigningError: the signer has no name.
    """
    if not signer.name.strip():
        raise SigningError("A signature names who signs.", "Give a name, e.g. --signer 'Ada Lovelace, Chair'.")
    public = public_bytes(key)
    value = key.sign(_message(manifest, signer, at, public))
    return Signature(signer, at, public, value, over_manifest=ssh_sign(key, manifest).armoured())


def sign_with(manifest: bytes, command: str, signer: Signer, at: str) -> Signature:
    """Return a signature that a command makes: twice, of the manifest, and of the manifest with name, role and time.

    Args:
        manifest: what is signed.
        command: reads on standard input and writes an SSHSIG on standard output.
        signer: who signs.
        at: when, ISO 8601.

    Raises:
        SigningError: the signer has no name, or the key is weak or changes between the two.
        SshSignatureError: the command makes no signature.
    """
    if not signer.name.strip():
        raise SigningError("A signature names who signs.", "Give a name, e.g. --signer 'Ada Lovelace, Chair'.")
    first = signed_by_command(command, manifest)
    public = confirm_strong(first.public_key)
    second = signed_by_command(command, _message(manifest, signer, at, public))
    if second.public_key != public:
        raise SigningError("The command signs with another key every time.", "Name one key in the command.")
    return Signature(signer, at, public, second.value, f"{_BY_COMMAND}{second.hashed_with}", first.armoured())


def key_of_command(command: str) -> bytes:
    """Return the public key that a command signs with, found by letting it sign a sentence that says so.

    Raises:
        SigningError: the key is weak.
        SshSignatureError: the command makes no signature.
    """
    return confirm_strong(signed_by_command(command, _WHICH_KEY).public_key)


def public_bytes(key: Ed25519PrivateKey) -> bytes:
    """Return the 32 bytes of the public key."""
    return key.public_key().public_bytes_raw()


def load_private_key(path: Path, ask: Callable[[str], bytes | None] = lambda _: None) -> Ed25519PrivateKey:
    """Return the private key of a file: PEM (PKCS #8) or OpenSSH.

    Args:
        path: of the file.
        ask: called with the file's name when the key has a passphrase; None when nobody can answer.

    Raises:
        SigningError: it cannot be read, has a passphrase nobody gave, or is no Ed25519 key.
    """
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - only signatures pay for it
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 - as above
    from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415 - as above
        load_pem_private_key,
        load_ssh_private_key,
    )

    content = _key_bytes(path)
    load = load_ssh_private_key if b"OPENSSH PRIVATE KEY" in content else load_pem_private_key
    password: bytes | None = None
    try:
        try:
            key = load(content, None)
        except TypeError:
            password = ask(path.name)
            if password is None:
                raise SigningError(
                    f"The key {path} has a passphrase.",
                    "Enter it: the window has a field for it, and the command asks for it in a terminal.",
                ) from None
            key = load(content, password)
    except UnsupportedAlgorithm as error:
        raise SigningError(
            f"{path} is protected in a way that needs more than this installation has: {error}.",
            "Sign with a command (ssh-keygen -Y sign), install bcrypt for OpenSSH keys with a passphrase, or use a key in PEM (PKCS #8).",
        ) from error
    except ValueError as error:
        if password:
            raise SigningError(f"The passphrase does not open {path}.", "Type it again.") from error
        remedy = "Make one: openssl genpkey -algorithm ed25519 -out KEY."
        raise SigningError(f"{path} holds no private key that can be read.", remedy) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise SigningError(
            f"{path} holds a {type(key).__name__}, not an Ed25519 key.", "ssh-keygen -t ed25519 makes one."
        )
    return key


def create_key(path: Path, passphrase: bytes = b"") -> bytes:
    """Make a new key pair: the private key as PEM (PKCS #8) that only its owner can read, the public key beside it as ``.pub``.

    Args:
        path: of the private key; nothing that exists is replaced.
        passphrase: protects the private key, b"" for none.

    Returns:
        The 32 bytes of the public key.

    Raises:
        SigningError: one of the files exists, or cannot be written.
    """
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - only signatures pay for it
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 - as above

    key = Ed25519PrivateKey.generate()
    protection: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if passphrase:
        protection = serialization.BestAvailableEncryption(passphrase)
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, protection)
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    beside = path.with_name(path.name + PUBLIC_SUFFIX)
    if beside.exists():
        raise SigningError(f"{beside} exists already.", "Choose another name; a key is never replaced.")
    for target, content, mode in ((path, private, 0o600), (beside, public + b"\n", 0o644)):
        _write_new(target, content, mode)
    return public_bytes(key)


def _write_new(path: Path, content: bytes, mode: int) -> None:
    """Write a file that must not exist; who may read it is settled before anything is in it."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
    except FileExistsError as error:
        raise SigningError(f"{path} exists already.", "Choose another name; a key is never replaced.") from error
    except OSError as error:
        raise SigningError(f"{path} cannot be written: {error.strerror or error}.", "Choose another folder.") from error


def load_public_key(path: Path) -> bytes:
    """Return the 32 bytes of a public key: PEM, OpenSSH (``.pub``), or a signature file of a bundle.

    Raises:
        SigningError: it cannot be read or is no Ed25519 key.
    """
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - only signatures pay for it
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415 - as above
    from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415 - as above
        load_pem_public_key,
        load_ssh_public_key,
    )

    content = _key_bytes(path)
    if (signature := decode_signature(content)) is not None:
        return confirm_strong(signature.public_key)
    try:
        key = load_ssh_public_key(content) if content.startswith(b"ssh-") else load_pem_public_key(content)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise SigningError(f"{path} holds no public key that can be read.", "Give a .pub or .pem file.") from error
    if not isinstance(key, Ed25519PublicKey):
        raise SigningError(f"{path} holds no Ed25519 key.", "Bundles are signed with Ed25519.")
    return confirm_strong(key.public_bytes_raw())


def _key_bytes(path: Path) -> bytes:
    return read_bytes(path, limit=_LARGEST_KEY)
