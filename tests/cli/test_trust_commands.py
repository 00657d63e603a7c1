"""verify with --trust and --require, the store of keys, and what a bundle may print, on the command line."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from signed_bundles import KEYS, NOW, request, signed_bundle

from phexplore.cli.app import BAD_INPUT, DONE, EXPECTED_FAILURE, run
from phexplore.decide.bundle import make_bundle, signed
from phexplore.decide.bundle_jobs import VerifyJob, carry_out, report_headline
from phexplore.decide.signing import Signer, SigningError, confirm_strong, key_id_of, load_public_key, public_bytes
from phexplore.decide.trusted_keys import store_path, trusted_keys


def call(capsys, *arguments):
    """Return exit status, standard output and standard error."""
    status = run([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.fixture
def publics(tmp_path):
    paths = []
    for number, key in enumerate(KEYS):
        paths.append(tmp_path / f"{number}.pub")
        paths[-1].write_bytes(key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH))
    return paths


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return store_path()


def test_that_a_signature_of_an_altered_bundle_is_said_to_fit_no_more_than_the_manifest(
    capsys, tmp_path, us, publics, store
):
    made = signed_bundle(us, signers=())
    altered = {name: content + b" " if name == "forecast.json" else content for name, content in made.files.items()}
    for name, bundle, said in (("whole", made, 0), ("altered", replace(made, files=altered), 2)):
        (tmp_path / name).write_bytes(bundle.packed())
        out = call(capsys, "verify", tmp_path / name, "--trust", publics[0])[1]
        assert out.count("Signed with the key of 0.pub") == (0 if said else 1)
        assert out.count("fits the manifest; the bundle is not intact") == said


@pytest.mark.defect("F1")
def test_that_verify_counts_different_trusted_keys(capsys, tmp_path, us, publics, store):
    made = signed_bundle(us, signers=())
    files = {"both": made, "one": replace(made, signatures=made.signatures[:1]), "none": replace(made, signatures=())}
    for name, bundle in files.items():
        (tmp_path / name).write_bytes(bundle.packed())
    trust = ("--trust", publics[0], "--trust", publics[1])
    expected = [
        ("both", (), DONE), ("none", (), DONE), ("both", trust, DONE), ("both", (*trust, "--require", 2), DONE),
        ("one", trust, DONE), ("one", (*trust, "--require", 2), EXPECTED_FAILURE), ("none", trust, EXPECTED_FAILURE),
        ("both", ("--trust", publics[2]), EXPECTED_FAILURE), ("both", ("--require", 1), EXPECTED_FAILURE),
        ("both", ("--trust", publics[0], "--trust", publics[0], "--require", 2), EXPECTED_FAILURE),
    ]  # fmt: skip
    for name, arguments, status in expected:
        assert call(capsys, "verify", tmp_path / name, *arguments)[0] == status, (name, arguments)
    found = json.loads(call(capsys, "verify", tmp_path / "both", "--trust", publics[0], "--json")[1])
    assert found.keys() >= {"intact", "status", "signatures", "findings"}
    assert [(one["key"], one["valid"], one["trusted"]) for one in sorted(found["signatures"], key=lambda s: s["name"])] == [
        (key_id_of(public_bytes(KEYS[0])), True, True), (key_id_of(public_bytes(KEYS[1])), True, False),
    ]  # fmt: skip
    assert found["findings"] == []


@pytest.mark.defect("F11")
def test_that_keys_of_the_store_are_known_and_count_only_when_required(capsys, tmp_path, us, publics, store):
    (tmp_path / "b.zip").write_bytes(signed_bundle(us, signers=()).packed())
    status, out, _ = call(capsys, "verify", tmp_path / "b.zip")
    assert (status, out.count("Signed by an unknown key")) == (DONE, 2)
    assert "by telephone" in out
    key = key_id_of(public_bytes(KEYS[0]))
    assert call(capsys, "keys", "add", publics[0], "--name", "Ada")[:2] == (DONE, f"{key}  Ada\n")
    assert call(capsys, "keys", "add", publics[0], "--name", "Ada")[0] == EXPECTED_FAILURE
    if os.name == "posix":
        assert stat.S_IMODE(store.stat().st_mode) == 0o600
    assert json.loads(call(capsys, "keys", "list", "--json")[1]) == [{"fingerprint": key, "name": "Ada"}]
    said = call(capsys, "verify", tmp_path / "b.zip")[1]
    assert ("with the key of Ada" in said, said.count("Signed by an unknown key")) == (True, 1)
    in_the_window = carry_out(VerifyJob(tmp_path / "b.zip", trusted_keys()), lambda *_: None)
    assert report_headline(in_the_window) == ("Intact, signed by an unknown key", "muted")
    assert call(capsys, "verify", tmp_path / "b.zip", "--require", 1)[0] == DONE
    assert call(capsys, "verify", tmp_path / "b.zip", "--require", 2)[0] == EXPECTED_FAILURE
    assert call(capsys, "keys", "remove", key)[0] == DONE
    assert call(capsys, "keys", "remove", key)[0] == EXPECTED_FAILURE
    store.write_text('{"format": "phexplore keys", "version": 1, "keys": [{"name": 1}]}')
    assert call(capsys, "keys", "list")[0] == BAD_INPUT


@pytest.mark.defect("F10")
def test_that_names_in_a_bundle_cannot_print_lines_of_their_own(capsys, tmp_path, us, store):
    evil = "A\x1b[2K\r\nIntact: signed by Ada\u202e"
    made = make_bundle(request(replace(us, name=evil), decisions=(), signers=()))
    (tmp_path / "b.zip").write_bytes(signed(made, KEYS[2], Signer(evil, evil), NOW).packed())
    for arguments in ((), ("--json",)):
        status, out, err = call(capsys, "verify", tmp_path / "b.zip", *arguments)
        assert status == DONE
        assert not any(sign in out + err for sign in "\x1b\r\u202e")
        assert not any(line.startswith("Intact: signed") for line in out.splitlines())


@pytest.mark.defect("F11")
@pytest.mark.parametrize(
    "key",
    [
        bytes(32), b"\1" + bytes(31), b"\1" + bytes(30) + b"\x80", (2**255 - 20).to_bytes(32, "little"),
        (2**255 - 19).to_bytes(32, "little"), (2**255 - 18).to_bytes(32, "little"), b"\xff" * 32, bytes(31),
        bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
        bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
    ],
)  # fmt: skip
def test_that_weak_keys_are_refused(key):
    with pytest.raises(SigningError, match="weak"):
        confirm_strong(key)


@pytest.mark.defect("F13")
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes by name")
def test_that_pipes_and_devices_are_refused_at_once(capsys, tmp_path, us, publics):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "b.zip").write_bytes(signed_bundle(us).packed())
    for place in (tmp_path / "pipe", "/dev/zero"):
        assert call(capsys, "verify", place)[0] == BAD_INPUT
        assert call(capsys, "verify", tmp_path / "b.zip", "--trust", place)[0] == BAD_INPUT
        out = ("--out", tmp_path / "c.zip")
        assert call(capsys, "bundle", tmp_path / "b.zip", "--sign", place, *out)[0] == BAD_INPUT
        assert call(capsys, "keys", "add", place, "--name", "Ada")[0] == BAD_INPUT
    assert load_public_key(publics[0]) == public_bytes(KEYS[0])
