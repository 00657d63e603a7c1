"""A small signed bundle for tests."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from phexplore.decide.archive import pack
from phexplore.decide.bundle import MANIFEST, SUMS, BundleRequest, make_bundle, one_spelling, signed, sums
from phexplore.decide.signing import Signer, key_id_of, public_bytes
from phexplore.files.project_file import single
from phexplore.model.approval import Decision, Status
from phexplore.model.fingerprint import fingerprint
from phexplore.model.workbook import Workbook

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
