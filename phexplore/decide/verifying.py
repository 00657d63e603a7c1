"""Whether a bundle is what was handed over, and if not, exactly what was altered."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from phexplore.decide.archive import LARGEST_ARCHIVE, ArchiveError, Unpacked, unpack
from phexplore.decide.bundle import (
    FORMAT,
    MANIFEST,
    PARAMETERS,
    SCENARIO,
    SIGNATURES,
    SUMS,
    VERSION,
    Bundle,
    BundleError,
    manifest_bytes,
    production_files,
    signature_name,
    sums,
)
from phexplore.decide.signing import Signature, decode_signature
from phexplore.errors import PhexploreError
from phexplore.files.scenario_json import decode_scenario
from phexplore.model.fingerprint import fingerprint
from phexplore.model.scenario import Scenario

ARCHIVE = "the archive"


@dataclass(frozen=True, slots=True)
class Alteration:
    """One thing that is not as it was handed over.

    Attributes:
        part: name of the file in the bundle, or ``the archive``.
        sentence: what is wrong with it.
    """

    part: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of checking a bundle.

    Attributes:
        alterations: everything that is wrong; empty = intact.
        manifest: its content, empty when it cannot be read.
        signatures: those that are valid.
        awaited: key ids that are expected to sign and have not.
        scenario: the parameters; None when they cannot be read.
    """

    alterations: tuple[Alteration, ...]
    manifest: Mapping[str, Any]
    signatures: tuple[Signature, ...]
    awaited: tuple[str, ...]
    scenario: Scenario | None

    @property
    def is_intact(self) -> bool:
        """Whether nothing was altered."""
        return not self.alterations


def read_bundle(path: Path) -> bytes:
    """Return the bytes of a bundle.

    Raises:
        ArchiveError: it cannot be read or is too large for any bundle.
    """
    try:
        if path.stat().st_size > LARGEST_ARCHIVE + 2**20:
            raise ArchiveError(f"{path} is too large for a bundle.", "Choose the file phexplore bundle has written.")
        return path.read_bytes()
    except OSError as error:
        raise ArchiveError(f"{path} cannot be read: {error.strerror or error}.", "Check the name.") from error


def verify(content: bytes, trusted: Collection[bytes] | None = None) -> Verification:
    """Check a bundle: rebuild it from its parts, compare every byte, check every sum and signature.

    Args:
        content: the whole file.
        trusted: public keys whose signatures count; None accepts any key that the manifest names.

    Returns:
        What was altered, and what the bundle says. A file that is no archive at all is one alteration.
    """
    try:
        found = unpack(content)
    except ArchiveError as error:
        return Verification((Alteration(ARCHIVE, error.sentence),), {}, (), (), None)
    alterations = [Alteration(ARCHIVE, f"{problem}.") for problem in found.problems]
    manifest, problems = _read_manifest(found.files.get(MANIFEST))
    alterations += problems
    alterations += _file_alterations(found, manifest)
    signatures, awaited, wrong = _signatures(found, manifest, trusted)
    alterations += wrong
    alterations += _sum_alterations(found, {alteration.part for alteration in alterations}, is_vouched=bool(manifest))
    accused = {alteration.part for alteration in alterations}
    alterations += [
        Alteration(ARCHIVE, f"The check sum in the header of {name!r} was changed.")
        for name in sorted(found.unsure - accused)
    ]
    scenario = None
    if not alterations:
        scenario, wrong = _meaning(found.files, manifest)
        alterations += wrong
    return Verification(tuple(alterations), manifest, signatures, awaited, scenario)


def _read_manifest(content: bytes | None) -> tuple[Mapping[str, Any], list[Alteration]]:
    if content is None:
        return {}, [Alteration(MANIFEST, "The file is missing.")]
    try:
        value = json.loads(content)
        files = value["files"]
        stated = {str(name): (str(entry["sha256"]), int(entry["bytes"])) for name, entry in files.items()}
        well_formed = value["format"] == FORMAT and isinstance(value["version"], int) and bool(stated)
        well_formed &= all(isinstance(key, str) for key in value["signers"]) and isinstance(value["fingerprint"], str)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}, [Alteration(MANIFEST, "The file was altered: it is no manifest any more.")]
    if not well_formed or manifest_bytes(value) != content:
        return {}, [Alteration(MANIFEST, "The file was altered: its own check sum does not fit.")]
    if value["version"] > VERSION:
        sentence = f"The bundle has version {value['version']}; this program reads up to {VERSION}."
        return value, [Alteration(MANIFEST, sentence)]
    return value, []


def _file_alterations(found: Unpacked, manifest: Mapping[str, Any]) -> Iterator[Alteration]:
    """Yield the files that are missing, added or changed against the manifest."""
    if not manifest:
        return
    stated = manifest["files"]
    for name in sorted(stated):
        content = found.files.get(name)
        if content is None:
            yield Alteration(name, "The file is missing.")
        elif len(content) != stated[name]["bytes"]:
            yield Alteration(name, f"The file was altered: it has {len(content)} bytes, not {stated[name]['bytes']}.")
        elif hashlib.sha256(content).hexdigest() != stated[name]["sha256"]:
            yield Alteration(name, "The file was altered: its check sum does not fit.")
    for name in sorted(found.files):
        if name not in stated and name not in {MANIFEST, SUMS} and not name.startswith(SIGNATURES):
            yield Alteration(name, "The file was added.")


def _signatures(
    found: Unpacked, manifest: Mapping[str, Any], trusted: Collection[bytes] | None
) -> tuple[tuple[Signature, ...], tuple[str, ...], list[Alteration]]:
    valid: list[Signature] = []
    wrong: list[Alteration] = []
    expected = tuple(manifest.get("signers", ()))
    for name in sorted(found.files):
        if not name.startswith(SIGNATURES):
            continue
        signature = decode_signature(found.files[name])
        if signature is None:
            wrong.append(Alteration(name, "The file was altered: it is no signature any more."))
        elif name != signature_name(signature):
            wrong.append(Alteration(name, "The file was added: its name is not that of its key."))
        elif manifest and not signature.is_of(found.files.get(MANIFEST, b"")):
            who = f"{signature.signer.name} ({signature.key_id[:16]}…)"
            wrong.append(Alteration(name, f"The signature of {who} does not fit this manifest, name, role and time."))
        elif expected and signature.key_id not in expected:
            wrong.append(
                Alteration(name, f"Wrong signer: {signature.signer.name} signed with {signature.key_id[:16]}…, a key "
                           "the manifest does not name.")
            )  # fmt: skip
        elif trusted is not None and signature.public_key not in trusted:
            sentence = f"Wrong signer: the key {signature.key_id[:16]}… of {signature.signer.name} is not trusted."
            wrong.append(Alteration(name, sentence))
        elif manifest:
            valid.append(signature)
    present = {signature.key_id for signature in valid}
    return tuple(valid), tuple(key for key in expected if key not in present), wrong


def _sum_alterations(found: Unpacked, accused: Collection[str], *, is_vouched: bool) -> Iterator[Alteration]:
    """Yield what the list of sums says that nothing else has said; `is_vouched`: a manifest has judged the files."""
    content = found.files.get(SUMS)
    if content is None:
        yield Alteration(SUMS, "The file is missing.")
        return
    files = {name: data for name, data in found.files.items() if name != SUMS}
    if content == sums(files):
        return
    stated, actual = _lines(content), _lines(sums(files))
    for name in sorted(set(stated) - set(actual) - set(accused)):
        if name.startswith(SIGNATURES) and name.isprintable():
            yield Alteration(name, "The file is missing.")
        else:
            yield Alteration(SUMS, f"The file was altered: it lists {name[:80]!r}, which is not in the bundle.")
    for name in sorted(set(actual) - set(stated) - set(accused)):
        if name.startswith(SIGNATURES):
            yield Alteration(name, "The file was added after the sums were made.")
        else:
            yield Alteration(SUMS, f"The file was altered: it does not list {name!r}.")
    differing = [name for name in sorted(set(actual) & set(stated) - set(accused)) if actual[name] != stated[name]]
    yield from (_differing_sum(name, is_vouched=is_vouched) for name in differing)
    if not accused and stated == actual:
        yield Alteration(SUMS, "The file was altered: its lines are not in their form or order.")


def _differing_sum(name: str, *, is_vouched: bool) -> Alteration:
    if not is_vouched:
        return Alteration(name, "The file was altered: it does not fit its sum.")
    # The file fits the manifest or its own signature, so the sum is what changed.
    return Alteration(SUMS, f"The file was altered: its sum of {name!r} does not fit.")


def _lines(content: bytes) -> dict[str, str]:
    lines = (line.partition("  ") for line in content.decode("latin-1").split("\n") if line)
    return {name: digest for digest, _, name in lines}


def _meaning(files: Mapping[str, bytes], manifest: Mapping[str, Any]) -> tuple[Scenario | None, list[Alteration]]:
    """Compare what the parts say with each other: sums prove that they are unchanged, not that they agree."""
    try:
        scenario = decode_scenario(json.loads(files[SCENARIO]), SCENARIO)
        parameters, _, _ = production_files(scenario)
    except (PhexploreError, ValueError, KeyError, RecursionError) as error:
        return None, [Alteration(SCENARIO, f"The parameters cannot be read: {error}")]
    wrong = []
    if fingerprint(scenario) != manifest["fingerprint"]:
        wrong.append(Alteration(SCENARIO, "The parameters do not have the fingerprint of the manifest."))
    stated = {name.removeprefix(PARAMETERS): data for name, data in files.items() if name.startswith(PARAMETERS)}
    wrong += [
        Alteration(f"{PARAMETERS}{name}", "The file does not say what the scenario of the bundle says.")
        for name in sorted({*parameters, *stated})
        if stated.get(name) != parameters.get(name, "").encode()
    ]
    return scenario, wrong


def opened(content: bytes) -> Bundle:
    """Return an intact bundle, to sign it.

    Raises:
        BundleError: it was altered.
    """
    result = verify(content)
    if not result.is_intact:
        first = result.alterations[0]
        raise BundleError(f"{first.part}: {first.sentence}", "Do not sign an altered bundle; ask for it again.")
    files = {
        name: data for name, data in unpack(content).files.items() if name != SUMS and not name.startswith(SIGNATURES)
    }
    return Bundle(files, result.signatures, tuple(result.manifest["notes"]))


def alteration_lines(alterations: Sequence[Alteration]) -> list[str]:
    """Return alterations as lines for people."""
    return [f"{alteration.part}: {alteration.sentence}" for alteration in alterations]
