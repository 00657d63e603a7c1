"""A small signed bundle for tests."""

from __future__ import annotations

from datetime import UTC, datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from phexplore.decide.bundle import BundleRequest, make_bundle, signed
from phexplore.decide.signing import Signer, public_bytes
from phexplore.model.approval import Decision, Status
from phexplore.model.fingerprint import fingerprint

NOW = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
KEYS = [Ed25519PrivateKey.from_private_bytes(bytes([n]) * 32) for n in (1, 2, 3)]
PEOPLE = [Signer("Ada Lovelace", "Chair"), Signer("Grace Hopper", "Operator"), Signer("Mallory", "")]


def approval(scenario):
    at = NOW.isoformat(timespec="seconds")
    return Decision(Status.APPROVED, fingerprint(scenario), scenario.name, "Ada Lovelace", "Chair", at, "as voted")


def request(scenario, **changes):
    given = {
        "decisions": (approval(scenario),),
        "signers": tuple(map(public_bytes, KEYS[:2])),
        "has_pdf": False,
        **changes,
    }
    return BundleRequest(scenario, NOW, **given)


def signed_bundle(scenario, **changes):
    made = make_bundle(request(scenario, **changes))
    for key, person in zip(KEYS[:2], PEOPLE, strict=False):
        made = signed(made, key, person, NOW)
    return made
