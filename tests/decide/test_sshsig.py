"""Signatures that OpenSSH checks and makes, with the real ssh-keygen (Debian: openssh-client); skipped where it is absent."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from signed_bundles import KEY_IDS, KEYS, NOW, PEOPLE, request, signed_bundle

from phexplore.decide.archive import pack, unpack
from phexplore.decide.bundle import (
    MANIFEST,
    SUMS,
    make_bundle,
    signature_names,
    signed,
    sums,
)
from phexplore.decide.signing import load_private_key, load_public_key, public_bytes
from phexplore.decide.sshsig import NAMESPACE, SshSignatureError, read_ssh_signature, signed_by_command, ssh_sign
from phexplore.decide.verifying import verify

KEYGEN = shutil.which("ssh-keygen")
needs_keygen = pytest.mark.skipif(KEYGEN is None, reason="ssh-keygen is not installed (openssh-client)")


@pytest.fixture
def key_file(tmp_path):
    path = tmp_path / "ada"
    path.write_bytes(KEYS[0].private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    path.chmod(0o600)
    public = KEYS[0].public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    path.with_suffix(".pub").write_bytes(public + b" ada\n")
    return path


def command(key_file, namespace=NAMESPACE, *more):
    return " ".join((str(KEYGEN), "-Y", "sign", "-f", str(key_file), "-n", namespace, *more))


@needs_keygen
def test_that_ssh_keygen_checks_the_signatures_of_a_bundle(us, tmp_path, key_file):
    made = signed_bundle(us)
    files = unpack(made.packed()).files
    (tmp_path / "ada.sig").write_bytes(files[signature_names(made.signatures[0])[1]])
    (tmp_path / "allowed").write_text(f"ada {key_file.with_suffix('.pub').read_text()}")
    arguments = [KEYGEN, "-Y", "verify", "-f", "allowed", "-I", "ada", "-n", NAMESPACE, "-s", "ada.sig"]
    good = subprocess.run(arguments, input=files[MANIFEST], cwd=tmp_path, capture_output=True, check=False)
    assert good.returncode == 0, good.stderr
    bad = subprocess.run(arguments, input=files[MANIFEST] + b" ", cwd=tmp_path, capture_output=True, check=False)
    assert bad.returncode != 0


@needs_keygen
@pytest.mark.parametrize("hashed_with", ["sha512", "sha256"])
def test_that_a_command_signs_and_the_bundle_verifies_with_that_key(us, key_file, hashed_with):
    signs = command(key_file, NAMESPACE, "-O", f"hashalg={hashed_with}")
    made = signed(make_bundle(request(us, signers=KEY_IDS[:1])), signs, PEOPLE[0], NOW)
    result = verify(made.packed(), {load_public_key(key_file.with_suffix(".pub"))}, 1)
    assert result.is_accepted
    assert made.signatures[0].hashed_with == hashed_with
    renamed = replace(made, signatures=(replace(made.signatures[0], signer=PEOPLE[2]),))
    assert not verify(renamed.packed()).is_intact


@needs_keygen
@pytest.mark.parametrize(
    ("signs", "words"),
    [
        ("{0} -n file", "was made for"),
        ("false", "ended with status 1"),
        ("absent-program x", "could not be run"),
        ("cat", "no signature"),
    ],
)
def test_that_a_command_that_signs_otherwise_is_refused(key_file, signs, words):
    line = signs.replace("{0} -n file", command(key_file, "file"))
    with pytest.raises(SshSignatureError, match=words):
        signed_by_command(line, b"text")


@needs_keygen
def test_that_keys_of_openssh_are_read(key_file):
    assert public_bytes(load_private_key(key_file)) == load_public_key(key_file.with_suffix(".pub"))


def test_that_the_form_of_openssh_reads_back_and_knows_its_message():
    made = ssh_sign(KEYS[0], b"text")
    again = read_ssh_signature(made.armoured())
    assert again == made
    assert again.is_of(b"text")
    assert not again.is_of(b"other")
    for place in range(0, 300, 7):
        damaged = bytearray(made.armoured())
        damaged[place] ^= 1
        try:
            found = read_ssh_signature(bytes(damaged))
        except SshSignatureError:
            continue
        assert found == made or not found.is_of(b"text")


def test_that_the_form_of_openssh_cannot_be_missing_swapped_or_added(us):
    made = signed_bundle(us)
    files = unpack(made.packed()).files
    first, second = (signature_names(each)[1] for each in made.signatures)
    other = "signatures/0123456789abcdef.sig"
    for changed in (
        {name: data for name, data in files.items() if name != first},
        {**files, first: files[second]},
        {**files, other: files[second]},
        {**files, first: ssh_sign(KEYS[2], files[MANIFEST]).armoured()},
        {**files, first: files[first] + b"\n"},
    ):
        changed.pop(SUMS)
        result = verify(pack({**changed, SUMS: sums(changed)}))
        assert {one.part for one in result.alterations} in ({first}, {other})
