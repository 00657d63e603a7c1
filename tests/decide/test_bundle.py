from __future__ import annotations

import hashlib
import json
import subprocess
from dataclasses import replace
from fractions import Fraction

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from signed_bundles import KEYS, NOW, PEOPLE, approval, request, signed_bundle

from phexplore.decide.archive import unpack
from phexplore.decide.bundle import (
    LOG,
    MANIFEST,
    PROJECT,
    SUMS,
    BundleError,
    make_bundle,
    signed,
    write_bundle,
)
from phexplore.files.project_file import LoggedStep, ProjectContent, read_project
from phexplore.model.approval import CitedRun
from phexplore.model.edits import set_field
from phexplore.model.keys import parse_query
from phexplore.model.workbook import Workbook
from phexplore.systems.phsafe.config_file import write_config
from phexplore.systems.phsafe.edits import set_budget, set_threshold

CHILDREN = parse_query("PH3/state_A-G")


def content_of(scenario, *edits):
    steps = [LoggedStep("Start", "2026-06-30T08:00:00+00:00", Workbook((scenario,), scenario.name))]
    for label, edit in edits:
        scenario = edit(scenario)
        steps.append(LoggedStep(label, "2026-06-30T09:00:00+00:00", Workbook((scenario,), scenario.name)))
    return scenario, ProjectContent(tuple(steps), len(steps) - 1)


def test_that_the_same_request_gives_the_same_bytes(us):
    assert signed_bundle(us).packed() == signed_bundle(us).packed()


def test_that_a_bundle_holds_what_production_reads_unchanged(us):
    files = make_bundle(request(us)).files
    assert files["parameters/config.json"] == write_config(us).encode()
    manifest = json.loads(files[MANIFEST])
    assert manifest["fingerprint"] == "b449af605a2d91dceaab60de61e487ac3475206f60a63bd99f824f2d2550f0af"
    for name, stated in manifest["files"].items():
        assert stated == {"sha256": hashlib.sha256(files[name]).hexdigest(), "bytes": len(files[name])}
    assert set(manifest["files"]) == set(files) - {MANIFEST}


def test_that_no_private_key_is_in_a_bundle(us):
    content = signed_bundle(us).packed()
    for key in KEYS:
        raw = key.private_bytes_raw()
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        assert raw not in content
        assert raw.hex().encode() not in content
        assert pem.splitlines()[1] not in content


def test_that_sha256sum_reads_the_sums(us, tmp_path):
    for name, data in unpack(signed_bundle(us).packed()).files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    done = subprocess.run(["sha256sum", "--strict", "-c", SUMS], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0


def test_that_the_edit_log_can_be_replayed_from_the_bundle(us):
    edited, content = content_of(us, ("Set τ", lambda s: set_threshold(s, "PH2", 8)))
    files = make_bundle(request(edited, content=content)).files
    again = read_project(files[PROJECT].decode(), name="p")
    assert again.steps == content.steps
    assert files[LOG].decode().splitlines()[1] == "2026-06-30T09:00:00+00:00\tSet τ"


def test_that_notes_can_be_left_out_everywhere(us):
    private_words = "between us"
    edited, content = content_of(
        set_field(us, "note", private_words), ("Note", lambda s: set_field(s, "note", private_words + " two"))
    )
    decision = replace(approval(edited), note=private_words)
    content = replace(content, decisions=(decision,))
    given = request(edited, content=content, keeps_notes=False)
    assert not any(private_words.encode() in data for data in make_bundle(given).files.values())
    kept = make_bundle(replace(given, keeps_notes=True)).files
    assert sum(private_words.encode() in data for data in kept.values()) >= 3


def test_that_parameters_with_errors_or_without_an_exact_spelling_are_not_bundled(us):
    with pytest.raises(BundleError):
        make_bundle(request(replace(us, method=replace(us.phsafe, states=()))))
    with pytest.raises(Exception, match="no finite decimal"):
        make_bundle(request(set_budget(us, CHILDREN, Fraction(1, 3))))


def test_that_a_decision_without_its_run_is_not_bundled(us):
    decision = replace(approval(us), runs=(CitedRun("first", "a" * 64, 5),))
    with pytest.raises(BundleError, match="rests on the run first"):
        make_bundle(request(us, decisions=(decision,)))


def test_that_only_named_keys_sign(us):
    with pytest.raises(BundleError, match=f"this key of {PEOPLE[2].name} is not among them"):
        signed(make_bundle(request(us)), KEYS[2], PEOPLE[2], NOW)


def test_that_a_bundle_that_the_disk_spoils_does_not_count(us, tmp_path, monkeypatch):
    from phexplore.decide import bundle as module

    made = signed_bundle(us)
    write_bundle(made, tmp_path / "good.zip")

    def spoil(path, content):
        path.write_bytes(content[:-1] + b"\1")

    monkeypatch.setattr(module, "write_atomically", spoil)
    with pytest.raises(BundleError, match="read back otherwise"):
        write_bundle(made, tmp_path / "bad.zip")
