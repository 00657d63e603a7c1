"""Detached signatures: who answers for a bundle. Ed25519 (RFC 8032) in the form of OpenSSH; private keys are never stored.

A signature covers the manifest, which covers every file, and the name, role and time that the signer gives. The signature
contains the public key, so that a bundle can be checked alone; only people know whose key it is.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from phexplore.decide.sshsig import SshSignature, signed_by_command, ssh_sign
from phexplore.errors import PhexploreError
from phexplore.model.moments import zoned_text
from phexplore.opening import read_bytes
from phexplore.text.quoted import quote

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_PREFIX = b"phexplore bundle signature 1\x00"
_ALGORITHM = "SSHSIG "
_WHICH_KEY = b"phexplore asks which key this command signs with.\n"
_HASHES = frozenset({"sha256", "sha512"})
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

    def __post_init__(self) -> None:
        """Keep the texts as they were typed."""
        quote(self.name, self.role)


@dataclass(frozen=True, slots=True)
class Signature:
    """One detached signature.

    Attributes:
        signer: who says to have signed.
        at: when, ISO 8601 in UTC, as the signer's machine had it.
        public_key: 32 bytes.
        value: 64 bytes: the signature of the manifest with name, role and time.
        hashed_with: ``sha512`` or ``sha256``: the hash that `value` was made with.
        over_manifest: a second signature, of the manifest alone, as a file that ``ssh-keygen -Y verify`` checks.
    """

    signer: Signer
    at: str
    public_key: bytes
    value: bytes
    hashed_with: str
    over_manifest: bytes = b""

    @property
    def key_id(self) -> str:
        """SHA-256 of the public key: what people compare over the telephone."""
        return key_id_of(self.public_key)

    def encoded(self) -> bytes:
        """Return the one spelling of this signature as a file."""
        content = {
            "algorithm": f"{_ALGORITHM}{self.hashed_with}",
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
        try:
            confirm_strong(self.public_key)
        except SigningError:
            return False
        message = _message(manifest, self.signer, self.at, self.public_key)
        return SshSignature(self.public_key, self.hashed_with, self.value).is_of(message)


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
    """Return the signature that a file contains, None when it is not the one spelling of any."""
    try:
        value = json.loads(content)
        found = Signature(
            Signer(value["signer"], value["role"]),
            value["at"],
            base64.b64decode(value["public_key"], validate=True),
            base64.b64decode(value["signature"], validate=True),
            value["algorithm"].removeprefix(_ALGORITHM),
        )
        return found if found.hashed_with in _HASHES and found.encoded() == content else None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def sign(manifest: bytes, key: Ed25519PrivateKey | str, signer: Signer, at: str) -> Signature:
    """Return a signature: of the manifest, and of the manifest with name, role and time.

    Args:
        manifest: of the bundle.
        key: private key, or a command that reads on standard input and writes an SSHSIG on standard output.
        signer: name and role.
        at: time of the signature, ISO 8601.

    Raises:
        SigningError: the signer has no name, or the key is weak or changes between the two.
        SshSignatureError: the command makes no signature.
    """
    if not signer.name.strip():
        raise SigningError("A signature requires the name of its signer.", "Add --signer 'Ada Lovelace, Chair'.")
    make = partial(signed_by_command, key) if isinstance(key, str) else partial(ssh_sign, key)
    first = make(manifest)
    public = confirm_strong(first.public_key)
    second = make(_message(manifest, signer, at, public))
    if second.public_key != public:
        raise SigningError("The command signs with a different key each time.", "Name one key in the command.")
    return Signature(signer, at, public, second.value, second.hashed_with, first.armoured())


def public_key_of(key: Ed25519PrivateKey | str) -> bytes:
    """Return the public key of a private key, or of a command that signs, found by letting it sign a sentence that says so.

    Raises:
        SigningError: the key is weak.
        SshSignatureError: the command makes no signature.
    """
    return confirm_strong(signed_by_command(key, _WHICH_KEY).public_key) if isinstance(key, str) else public_bytes(key)


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


def load_public_key(path: Path, now: datetime | None = None) -> bytes:
    """Return the 32 bytes of a public key: PEM, OpenSSH (``.pub``), or a signature file of a bundle.

    A certificate of OpenSSH (``-cert.pub``) counts while it is valid. The signature of its authority is not looked at: whoever
    names the file trusts the key in it.

    Args:
        path: of the file.
        now: the time at which a certificate has to be valid; the present by default.

    Raises:
        SigningError: it cannot be read, is no Ed25519 key, or is a certificate that is not valid now.
    """
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - only signatures pay for it
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415 - as above
    from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415 - as above
        SSHCertificate,
        load_pem_public_key,
        load_ssh_public_identity,
    )

    content = _key_bytes(path)
    if (signature := decode_signature(content)) is not None:
        return confirm_strong(signature.public_key)
    try:
        key = load_ssh_public_identity(content) if content.startswith(b"ssh-") else load_pem_public_key(content)
        if isinstance(key, SSHCertificate):
            _confirm_valid(path, key.valid_after, key.valid_before, now or datetime.now(UTC))
            key = key.public_key()
    except (ValueError, UnsupportedAlgorithm) as error:
        raise SigningError(f"{path} contains no public key that can be read.", "Name a .pub or .pem file.") from error
    if not isinstance(key, Ed25519PublicKey):
        raise SigningError(f"{path} contains no Ed25519 key.", "Bundles are signed with Ed25519.")
    return confirm_strong(key.public_bytes_raw())


def _confirm_valid(path: Path, first: int, last: int, now: datetime) -> None:
    """Refuse a certificate outside its time, in seconds since 1970; its end can lie beyond every calendar.

    Raises:
        SigningError: it has expired, or is not valid yet.
    """
    if first <= now.timestamp() < last:
        return
    expired = last <= now.timestamp()
    when = _day_of(last if expired else first)
    raise SigningError(
        f"The certificate {path} {'expired on' if expired else 'is not valid before'} {when}.",
        "Ask the owner of the key for a current certificate, or for the plain public key.",
    )


def _day_of(seconds: int) -> str:
    try:
        return zoned_text(datetime.fromtimestamp(seconds, UTC))
    except (ValueError, OverflowError, OSError):
        return f"{seconds} seconds after 1970"


def _key_bytes(path: Path) -> bytes:
    return read_bytes(path, limit=_LARGEST_KEY)
