"""A small signed bundle for tests."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from origins import SYNTHETIC

from phexplore.decide.archive import pack
from phexplore.decide.bundle import MANIFEST, SUMS, BundleRequest, make_bundle, one_spelling, signed, sums
from phexplore.decide.citing import RunEvidence
from phexplore.decide.signing import Signer, key_id_of, public_bytes
from phexplore.files.project_file import single
from phexplore.model.approval import CitedRun, Decision, Status
from phexplore.model.fingerprint import fingerprint
from phexplore.model.workbook import Workbook
from phexplore.systems.registry import preset

NOW = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
KEYS = [Ed25519PrivateKey.from_private_bytes(bytes([n]) * 32) for n in (1, 2, 3)]
PEOPLE = [Signer("Ada Lovelace", "Chair"), Signer("Grace Hopper", "Operator"), Signer("Mallory", "")]
KEY_IDS = tuple(key_id_of(public_bytes(key)) for key in KEYS)


def approval(scenario):
    at = NOW.isoformat(timespec="seconds")
    return Decision(Status.APPROVED, fingerprint(scenario), scenario.name, "Ada Lovelace", "Chair", at, "as voted")


def request(scenario, decisions=None, **changes):
    at = NOW.isoformat(timespec="seconds")
    decided = (approval(scenario),) if decisions is None else decisions
    content = replace(
        single(Workbook((scenario,), scenario.name), f"Start from {scenario.name}", at), decisions=decided
    )
    return BundleRequest(scenario, NOW, **{"content": content, "signers": KEY_IDS[:2], **changes})


def signed_bundle(scenario, **changes):
    made = make_bundle(request(scenario, **changes))
    for key, person in zip(KEYS[:2], PEOPLE, strict=False):
        made = signed(made, key, person, NOW)
    return made


def resealed(files, manifest, signatures=None):
    """Return the archive of these files under a manifest and sums that fit them, as any forger can make it."""
    listed = {name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
              for name, data in sorted(files.items()) if name not in {MANIFEST, SUMS}}  # fmt: skip
    made = {**files, MANIFEST: one_spelling({**manifest, "files": listed}), **(signatures or {})}
    return pack({**made, SUMS: sums(made)})


def evidence(scenario, number):
    """Return what is cited of a run that was never made, with files that belong together."""
    facts = {
        "name": f"run-{number}", "identity": hashlib.sha256(bytes([number])).hexdigest(), "fingerprint": fingerprint(scenario),
        "trials": 3, "seed": number, "mode": "private", "reproducible": True, "program": "0.1.0",
        "data": {"sha256": "ab" * 32, "bytes": 12, "provenance": SYNTHETIC.json()},
    }  # fmt: skip
    keys = ("identity", "fingerprint", "mode", "seed", "reproducible", "trials")
    summary = one_spelling(
        {key: facts[key] for key in keys}
        | {"provenance": SYNTHETIC.json(), "synthetic_data": True, "checks": {"rows": True}}
    )
    entry = {"sha256": hashlib.sha256(summary).hexdigest(), "bytes": len(summary)}
    manifest = one_spelling({"version": 1, "identity": facts["identity"], "files": {"summary.json": entry}})
    return RunEvidence(CitedRun(facts["name"], facts["identity"], 3), facts, summary, manifest)


@cache
def bundle_of(name, number=1, status=Status.APPROVED):
    scenario = preset(name).scenario
    run = evidence(scenario, number)
    decision = replace(approval(scenario), status=status, who=f"Member {number}", runs=(run.cited,))
    return signed_bundle(scenario, decisions=(decision,), runs=(run,), clearance=f"CB-{number}")
