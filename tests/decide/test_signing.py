from __future__ import annotations

import subprocess
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    SSHCertificateBuilder,
    SSHCertificateType,
)
from signed_bundles import KEYS, PEOPLE

from phexplore.decide.signing import (
    Signer,
    SigningError,
    decode_signature,
    load_private_key,
    load_public_key,
    public_bytes,
    sign,
)
from phexplore.errors import PhexploreError

MANIFEST = b"what is signed"
AT = "2026-07-01T12:00:00+00:00"


def private_file(folder, key=KEYS[0], form=PrivateFormat.PKCS8, encryption=None):
    path = folder / "key"
    path.write_bytes(key.private_bytes(Encoding.PEM, form, encryption or NoEncryption()))
    return path


def test_that_a_signature_fits_its_manifest_name_role_and_time_only():
    found = sign(MANIFEST, KEYS[0], PEOPLE[0], AT)
    assert found.is_of(MANIFEST)
    assert not found.is_of(MANIFEST + b" ")
    again = decode_signature(found.encoded())
    assert again == replace(found, over_manifest=b"")
    for old, new in ((b"Ada", b"Eva"), (b"Chair", b"Clerk"), (b"2026-07-01", b"2026-07-02")):
        assert not decode_signature(found.encoded().replace(old, new)).is_of(MANIFEST)


def test_that_no_flipped_bit_of_a_signature_file_passes():
    content = sign(MANIFEST, KEYS[0], PEOPLE[0], AT).encoded()
    for place in range(8 * len(content)):
        changed = bytearray(content)
        changed[place // 8] ^= 1 << place % 8
        found = decode_signature(bytes(changed))
        assert found is None or not found.is_of(MANIFEST)


@pytest.mark.parametrize("form", [PrivateFormat.PKCS8, PrivateFormat.OpenSSH])
def test_that_keys_of_common_programs_are_read(tmp_path, form):
    assert public_bytes(load_private_key(private_file(tmp_path, form=form))) == public_bytes(KEYS[0])
    for name, encoding, shape in (
        ("a.pem", Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        ("a.pub", Encoding.OpenSSH, PublicFormat.OpenSSH),
    ):
        path = tmp_path / name
        path.write_bytes(KEYS[0].public_key().public_bytes(encoding, shape))
        assert load_public_key(path) == public_bytes(KEYS[0])


def test_that_a_key_made_by_openssl_signs(tmp_path):
    path = tmp_path / "key"
    made = subprocess.run(
        ["openssl", "genpkey", "-algorithm", "ed25519", "-out", path], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("openssl with Ed25519 is not installed")
    assert sign(MANIFEST, load_private_key(path), PEOPLE[0], AT).is_of(MANIFEST)


def test_that_a_passphrase_is_asked_for_and_never_guessed(tmp_path):
    path = private_file(tmp_path, encryption=BestAvailableEncryption(b"secret"))
    with pytest.raises(SigningError, match="has a passphrase"):
        load_private_key(path)
    assert public_bytes(load_private_key(path, lambda _: b"secret")) == public_bytes(KEYS[0])
    with pytest.raises(SigningError, match="The passphrase does not open"):
        load_private_key(path, lambda _: b"wrong")


def test_that_other_files_are_no_keys(tmp_path):
    path = tmp_path / "x"
    for content in (b"", b"nothing", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", bytes(2**17)):
        path.write_bytes(content)
        with pytest.raises(PhexploreError):
            load_private_key(path)
        with pytest.raises(PhexploreError):
            load_public_key(path)
    with pytest.raises(PhexploreError, match="cannot be read"):
        load_private_key(tmp_path / "absent")
    with pytest.raises(SigningError, match="not an Ed25519 key"):
        load_private_key(private_file(tmp_path, generate_private_key(SECP256R1())))


def test_that_nobody_cannot_sign():
    with pytest.raises(SigningError, match="name of its signer"):
        sign(MANIFEST, KEYS[0], Signer(" ", ""), AT)


def test_that_a_protected_openssh_key_leads_to_a_command_where_it_cannot_be_read(tmp_path, monkeypatch):
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization

    def refuse(_content, password):
        raise TypeError if password is None else UnsupportedAlgorithm("Need bcrypt module")

    monkeypatch.setattr(serialization, "load_ssh_private_key", refuse)
    path = tmp_path / "x"
    path.write_bytes(b"-----BEGIN OPENSSH PRIVATE KEY-----")
    with pytest.raises(SigningError) as caught:
        load_private_key(path, lambda _: b"secret")
    assert caught.value.remedy.startswith("Sign with a command")


@pytest.mark.defect("minor")
def test_that_a_certificate_of_openssh_counts_while_it_is_valid_alone(tmp_path):
    begins, ends = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 6, 30, 12, tzinfo=UTC)
    builder = SSHCertificateBuilder().public_key(KEYS[0].public_key()).serial(1).type(SSHCertificateType.USER)
    builder = builder.key_id(b"ada").valid_for_all_principals()
    limited = builder.valid_after(int(begins.timestamp())).valid_before(int(ends.timestamp()))
    path, forever = tmp_path / "ada-cert.pub", tmp_path / "forever-cert.pub"
    path.write_bytes(limited.sign(KEYS[1]).public_bytes())
    forever.write_bytes(builder.valid_after(0).valid_before(2**64 - 1).sign(KEYS[1]).public_bytes())
    assert load_public_key(path, datetime(2026, 3, 1, tzinfo=UTC)) == public_bytes(KEYS[0])
    assert load_public_key(forever) == public_bytes(KEYS[0])
    for now, date in ((ends, "30 Jun 2026, 12:00 UTC"), (datetime(2025, 12, 31, tzinfo=UTC), "1 Jan 2026, 00:00 UTC")):
        with pytest.raises(SigningError, match=date):
            load_public_key(path, now)
