from __future__ import annotations

import os
import shutil
import stat
import zipfile
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from phexplore.decide.bundle_jobs import (
    KeyFile,
    KeyJob,
    SigningCommand,
    SignJob,
    VerifyJob,
    WriteJob,
    carry_out,
    report_lines,
)
from phexplore.decide.signing import Signer, SigningError, load_private_key, load_public_key, public_bytes
from phexplore.decide.trusted_keys import TrustedKey
from phexplore.errors import PhexploreError
from phexplore.files.project_file import single, write_project
from phexplore.model.workbook import Workbook

NOW = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)


def _project(scenario):
    return write_project(single(Workbook((scenario,), scenario.name), "Start", NOW.isoformat()))


def _carry_out(order):
    steps = []
    return carry_out(order, lambda *step: steps.append(step), NOW), steps


def _key(folder, name, passphrase=b""):
    return carry_out(KeyJob(folder / name, passphrase), lambda *_step: None)


def test_that_a_new_key_pair_can_be_read_back_and_belongs_together(tmp_path) -> None:
    made = _key(tmp_path, "ada.key")
    assert public_bytes(load_private_key(made.path)) == load_public_key(made.public)
    assert made.public.name == "ada.key.pub"


def test_that_a_protected_key_needs_its_passphrase(tmp_path) -> None:
    made = _key(tmp_path, "ada.key", b"correct horse")
    with pytest.raises(SigningError, match="has a passphrase"):
        load_private_key(made.path)
    with pytest.raises(SigningError, match="passphrase does not open"):
        load_private_key(made.path, lambda _name: b"wrong")
    assert public_bytes(load_private_key(made.path, lambda _name: b"correct horse")) == load_public_key(made.public)


@pytest.mark.skipif(os.name != "posix", reason="files have owners and groups on POSIX only")
def test_that_nobody_but_the_owner_reads_a_new_private_key(tmp_path) -> None:
    assert stat.S_IMODE(_key(tmp_path, "ada.key").path.stat().st_mode) == 0o600


@pytest.mark.parametrize("present", ["ada.key", "ada.key.pub"])
def test_that_a_key_is_never_replaced(tmp_path, present) -> None:
    (tmp_path / present).write_text("mine")
    with pytest.raises(SigningError, match="exists already"):
        _key(tmp_path, "ada.key")
    assert (tmp_path / present).read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1


def test_that_a_bundle_is_written_in_steps_and_passes_its_check(us, tmp_path) -> None:
    ada, grace = _key(tmp_path, "ada.key"), _key(tmp_path, "grace.key", b"secret")
    out = tmp_path / "decision.zip"
    order = WriteJob(
        _project(replace(us, name="Vote")),
        "Vote",
        out,
        keys=(KeyFile(ada.path, Signer("Ada", "Chair")), KeyFile(grace.path, Signer("Grace", "Operator"), b"secret")),
        clearance="CB-1",
    )
    report, steps = _carry_out(order)
    assert [number for number, _, _ in steps] == [1, 2, 3, 4, 5, 6]
    assert report.is_intact
    assert {each.name for each in report.signatures} == {"Ada", "Grace"}
    assert report.awaited == ()
    owners = (("Ada", ada), ("Grace", grace))
    trusted = tuple(TrustedKey(name, load_public_key(made.public)) for name, made in owners)
    checked, _ = _carry_out(VerifyJob(out, trusted, 2))
    assert checked.signatures == report.signatures
    assert checked.shortfall == ""
    assert {each.owner for each in checked.signatures} == {"Ada", "Grace"}
    unknown, _ = _carry_out(VerifyJob(out, (), 1))
    assert {each.owner for each in unknown.signatures} == {""}
    assert unknown.shortfall
    assert checked.sha256 == report.sha256


def test_that_private_keys_and_passphrases_are_not_in_the_bundle(us, tmp_path) -> None:
    made = _key(tmp_path, "ada.key", b"correct horse")
    out = tmp_path / "decision.zip"
    keys = (KeyFile(made.path, Signer("Ada", "Chair"), b"correct horse"),)
    order = WriteJob(_project(us), us.name, out, keys=keys)
    _carry_out(order)
    raw = load_private_key(made.path, lambda _name: b"correct horse").private_bytes_raw()
    with zipfile.ZipFile(out) as archive:
        parts = [archive.read(name) for name in archive.namelist()]
    secrets = (raw, raw.hex().encode(), b"correct horse", made.path.read_bytes())
    assert not any(secret in part for secret in secrets for part in parts)
    assert "correct horse" not in repr(order)


def test_that_somebody_expected_signs_later(us, tmp_path) -> None:
    ada, grace = _key(tmp_path, "ada.key"), _key(tmp_path, "grace.key")
    first, second = tmp_path / "first.zip", tmp_path / "second.zip"
    keys = (KeyFile(ada.path, Signer("Ada", "Chair")),)
    report, _ = _carry_out(WriteJob(_project(us), us.name, first, keys=keys, expected=(grace.public,)))
    assert report.awaited == ((grace.key_id, "grace.key.pub"),)
    assert ("warning", "Not signed yet: grace.key.pub") in report_lines(report, has_codes=False)
    stranger, _ = _carry_out(VerifyJob(first))
    assert ("warning", "Not signed yet: an unknown key") in report_lines(stranger, has_codes=False)
    report, steps = _carry_out(SignJob(first, second, (KeyFile(grace.path, Signer("Grace", "")),)))
    assert report.awaited == ()
    assert len(report.signatures) == 2
    assert len(steps) == 4


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed (openssh-client)")
def test_that_a_command_signs_now_where_somebody_else_signs_later(us, tmp_path) -> None:
    ada, grace = _key(tmp_path, "ada.key"), _key(tmp_path, "grace.key")
    key = load_private_key(ada.path)
    ada.path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    keys = (SigningCommand(f"ssh-keygen -Y sign -f {ada.path} -n phexplore-bundle", Signer("Ada", "Chair")),)
    order = WriteJob(_project(us), us.name, tmp_path / "first.zip", keys=keys, expected=(grace.public,))
    report, _ = _carry_out(order)
    assert report.awaited == ((grace.key_id, "grace.key.pub"),)
    assert [each.key_id for each in report.signatures] == [ada.key_id]


def test_that_a_stranger_cannot_sign_a_bundle_that_names_its_signers(us, tmp_path) -> None:
    ada, mallory = _key(tmp_path, "ada.key"), _key(tmp_path, "mallory.key")
    first, second = tmp_path / "first.zip", tmp_path / "second.zip"
    _carry_out(WriteJob(_project(us), us.name, first, keys=(KeyFile(ada.path, Signer("Ada", "Chair")),)))
    with pytest.raises(PhexploreError, match="this key of Mallory is not among them"):
        _carry_out(SignJob(first, second, (KeyFile(mallory.path, Signer("Mallory", "")),)))
    assert not second.exists()


def test_that_an_altered_bundle_is_reported_and_not_signed(us, tmp_path) -> None:
    ada = _key(tmp_path, "ada.key")
    out = tmp_path / "decision.zip"
    _carry_out(WriteJob(_project(us), us.name, out))
    content = bytearray(out.read_bytes())
    place = content.index(b'"thresholds"')
    content[place + 3] ^= 1
    out.write_bytes(content)
    report, _ = _carry_out(VerifyJob(out))
    assert not report.is_intact
    assert [part for part, _ in report.alterations] == ["log/project.phx"]
    with pytest.raises(PhexploreError, match="altered"):
        _carry_out(SignJob(out, tmp_path / "signed.zip", (KeyFile(ada.path, Signer("Ada", "")),)))


def test_that_a_refused_job_leaves_no_bundle(us, tmp_path) -> None:
    out = tmp_path / "decision.zip"
    with pytest.raises(PhexploreError):
        _carry_out(WriteJob(_project(us), us.name, out, runs=(tmp_path / "no-run",)))
    with pytest.raises(PhexploreError, match="Nobody signs"):
        _carry_out(SignJob(out, out, ()))
    assert not out.exists()
