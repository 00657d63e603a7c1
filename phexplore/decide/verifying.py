"""Whether a bundle is what was handed over, whether its parts agree, and who signed it; if not, exactly what is wrong.

What this proves and what not is in ``docs/trust_of_bundles.md``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from phexplore.decide.agreement import Alteration, Statement, disagreements
from phexplore.decide.archive import LARGEST_ARCHIVE, ArchiveError, Unpacked, unpack
from phexplore.decide.bundle import (
    FORMAT,
    MANIFEST,
    SIGNATURES,
    SUMS,
    VERSION,
    Bundle,
    BundleError,
    manifest_bytes,
    signature_name,
    ssh_signature_name,
    sums,
)
from phexplore.decide.signing import Signature, decode_signature, load_public_key
from phexplore.decide.sshsig import SshSignatureError, read_ssh_signature
from phexplore.decide.trusted_keys import trusted_keys
from phexplore.errors import PhexploreError, visible
from phexplore.model.issues import Issue, Severity
from phexplore.model.scenario import Scenario
from phexplore.opening import read_bytes

ARCHIVE = "the archive"


@dataclass(frozen=True, slots=True)
class CheckedSignature:
    """A signature of a bundle and what is known of it.

    Attributes:
        signature: as it stands in the bundle. The name in it is what the signer wrote.
        is_valid: whether the holder of the key signed exactly this bundle.
        is_trusted: whether it is valid and the checker trusts the key.
    """

    signature: Signature
    is_valid: bool
    is_trusted: bool = False


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of checking a bundle.

    Attributes:
        alterations: everything that is not as handed over or does not agree; empty = intact.
        manifest: its content, empty when it cannot be read. It is the maker's word.
        checked: all signatures that can be read, valid or not.
        awaited: key ids that are expected to sign and have not.
        statement: what the bundle states, recomputed; None unless all check sums fit and the parameters can be read.
        shortfall: why the signatures do not suffice for the checker, "" when they do.
    """

    alterations: tuple[Alteration, ...]
    manifest: Mapping[str, Any]
    checked: tuple[CheckedSignature, ...] = ()
    awaited: tuple[str, ...] = ()
    statement: Statement | None = None
    shortfall: str = ""

    @property
    def is_intact(self) -> bool:
        """Whether every part is as handed over and all parts agree."""
        return not self.alterations

    @property
    def is_accepted(self) -> bool:
        """Whether it is intact, everybody expected has signed, and the checker's demands are met."""
        return self.is_intact and not self.awaited and not self.shortfall

    @property
    def status(self) -> str:
        """How far the parameters have come, recomputed; "" for a bundle that is not intact."""
        return self.statement.status if self.statement is not None and self.is_intact else ""

    @property
    def scenario(self) -> Scenario | None:
        """The parameters, None when they cannot be read."""
        return self.statement.scenario if self.statement is not None else None

    @property
    def signatures(self) -> tuple[Signature, ...]:
        """The valid signatures."""
        return tuple(one.signature for one in self.checked if one.is_valid)

    @property
    def findings(self) -> tuple[Alteration, ...]:
        """Everything that keeps the bundle from being accepted."""
        found = [Alteration(SIGNATURES, f"Not signed yet by the key {key}.") for key in self.awaited]
        if self.shortfall:
            found.append(Alteration(SIGNATURES, self.shortfall))
        return (*self.alterations, *found)


def read_bundle(path: Path) -> bytes:
    """Return the bytes of a bundle.

    Raises:
        InputProblemsError: it cannot be read, is no file, or is too large for any bundle.
    """
    return read_bytes(path, limit=LARGEST_ARCHIVE + 2**20)


def verify(content: bytes, trusted: Collection[bytes] = (), required: int = 0) -> Verification:
    """Check a bundle: every byte, sum and signature; then make every part again from the parameters and compare.

    Args:
        content: the whole file.
        trusted: public keys that the checker trusts.
        required: valid signatures by different trusted keys that the checker demands.

    Returns:
        What was altered, and what the bundle states. A file that is no archive at all is one alteration.
    """
    try:
        found = unpack(content)
    except ArchiveError as error:
        return Verification((Alteration(ARCHIVE, error.sentence),), {}, shortfall=_shortfall((), required))
    alterations = [Alteration(ARCHIVE, f"{problem}.") for problem in found.problems]
    manifest, problems = _read_manifest(found.files.get(MANIFEST))
    alterations += problems
    alterations += _file_alterations(found, manifest)
    checked, wrong = _signatures(found, manifest, trusted)
    alterations += wrong
    alterations += _altered_sums(found, {alteration.part for alteration in alterations}, is_vouched=bool(manifest))
    accused = {alteration.part for alteration in alterations}
    alterations += [
        Alteration(ARCHIVE, f"The check sum in the header of {name!r} was changed.")
        for name in sorted(found.unsure - accused)
    ]
    statement = None
    if not alterations:
        covered = {name: data for name, data in found.files.items() if name != SUMS and not name.startswith(SIGNATURES)}
        statement, disagreeing = disagreements(covered, manifest)
        alterations += disagreeing
    present = {one.signature.key_id for one in checked if one.is_valid}
    awaited = tuple(key for key in manifest.get("signers", ()) if key not in present)
    return Verification(tuple(alterations), manifest, checked, awaited, statement, _shortfall(checked, required))


def _shortfall(checked: tuple[CheckedSignature, ...], required: int) -> str:
    """Return why the signatures do not suffice, "" when they do: different trusted keys are counted."""
    count = len({one.signature.public_key for one in checked if one.is_trusted})
    if count >= required:
        return ""
    return (
        f"{count} of the {required} signatures by trusted keys that are required {'is' if count == 1 else 'are'} there."
    )


def _read_manifest(content: bytes | None) -> tuple[Mapping[str, Any], list[Alteration]]:
    if content is None:
        return {}, [Alteration(MANIFEST, "The file is missing.")]
    try:
        value = json.loads(content)
        files = value["files"]
        stated = {str(name): (str(entry["sha256"]), int(entry["bytes"])) for name, entry in files.items()}
        well_formed = (
            value["format"] == FORMAT and type(value["version"]) is int and value["version"] > 0 and bool(stated)
        )
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
    found: Unpacked, manifest: Mapping[str, Any], trusted: Collection[bytes]
) -> tuple[tuple[CheckedSignature, ...], list[Alteration]]:
    checked: list[CheckedSignature] = []
    wrong: list[Alteration] = []
    expected = tuple(manifest.get("signers", ()))
    has_pairs = manifest.get("version", 1) > 1
    own_form, openssh = ".json", ".sig"
    for name in sorted(found.files):
        if not name.startswith(SIGNATURES) or (name.endswith(openssh) and (has_pairs or not manifest)):
            continue
        signature = decode_signature(found.files[name])
        if signature is None:
            wrong.append(Alteration(name, "The file was altered: it is no signature any more."))
            continue
        is_valid = bool(manifest) and signature.is_of(found.files.get(MANIFEST, b""))
        if name != signature_name(signature):
            wrong.append(Alteration(name, "The file was added: its name is not that of its key."))
            is_valid = False
        elif manifest and not is_valid:
            who = f"{signature.signer.name} ({signature.key_id})"
            wrong.append(Alteration(name, f"The signature of {who} does not fit this manifest, name, role and time."))
        elif expected and signature.key_id not in expected:
            wrong.append(
                Alteration(name, f"Wrong signer: {signature.signer.name} signed with {signature.key_id}, a key the "
                           "manifest does not name.")
            )  # fmt: skip
            is_valid = False
        if has_pairs:
            beside = found.files.get(ssh_signature_name(signature), b"")
            if reason := _ssh_problem(beside, signature, found.files.get(MANIFEST, b"")):
                wrong.append(Alteration(ssh_signature_name(signature), reason))
                is_valid = False
            signature = replace(signature, over_manifest=beside)
        checked.append(CheckedSignature(signature, is_valid, is_valid and signature.public_key in trusted))
    if has_pairs:
        wrong += [
            Alteration(name, "The file was added: no signature belongs to it.")
            for name in sorted(found.files)
            if name.startswith(SIGNATURES) and name.endswith(openssh)
            if name.removesuffix(openssh) + own_form not in found.files
        ]
    return tuple(checked), wrong


def _ssh_problem(content: bytes, signature: Signature, manifest: bytes) -> str:
    """Return why the form of OpenSSH beside a signature is not the same key's signature of the manifest, "" when it is."""
    if not content:
        return "The file is missing."
    try:
        beside = read_ssh_signature(content)
    except SshSignatureError:
        return "The file was altered: it is no signature in the form of OpenSSH any more."
    if beside.armoured() != content or beside.public_key != signature.public_key or not beside.is_of(manifest):
        return "The file was altered: it is not this key's signature of the manifest."
    return ""


def _altered_sums(found: Unpacked, accused: Collection[str], *, is_vouched: bool) -> Iterator[Alteration]:
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


def opened(content: bytes, show: Callable[[Statement], object] = lambda _: None) -> Bundle:
    """Return an intact bundle whose parts agree, to sign it.

    Args:
        content: the whole file.
        show: takes what the bundle states, recomputed, before anybody signs it.

    Raises:
        BundleError: it was altered, or its parts do not agree.
    """
    result = verify(content)
    if not result.is_intact:
        first = result.alterations[0]
        raise BundleError(f"{first.part}: {first.sentence}", "Do not sign this bundle; ask for it again.")
    if result.statement is not None:
        if result.statement.uncompared:
            raise BundleError(
                result.statement.uncompared, "Sign on a computer that can print it, or a bundle without PDF."
            )
        show(result.statement)
    files = {
        name: data for name, data in unpack(content).files.items() if name != SUMS and not name.startswith(SIGNATURES)
    }
    return Bundle(files, result.signatures, tuple(result.manifest["notes"]))


def verify_file(path: Path, trust: Sequence[Path], required: int | None) -> Verification:
    """Check a bundle on disk.

    Args:
        path: of the bundle.
        trust: files of public keys whose signatures count.
        required: how many of them have to be there, by different keys: 1 when left out, or none when no key is named
            either. Without `trust` the keys of the user's store count, as in the window.

    Raises:
        PhexploreError: a key, the store or the bundle cannot be read.
    """
    trusted = {load_public_key(key) for key in trust} or {key.public_key for key in trusted_keys()}
    demanded = (1 if trust else 0) if required is None else required
    return verify(read_bundle(path), trusted, demanded)


def bundle_parameters(path: Path) -> tuple[Scenario, tuple[Issue, ...]]:
    """Return the parameters of a bundle, and how far they have come; e.g. to compare with what was approved elsewhere.

    Raises:
        PhexploreError: it cannot be read, or it was altered, so nothing of it is used.
    """
    found = verify(read_bundle(path))
    if found.scenario is None or not found.is_intact:
        first = found.alterations[0]
        sentence = f"{path.name} is not intact, so nothing of it is used. {visible(f'{first.part}: {first.sentence}')}"
        raise PhexploreError(sentence, "Ask for the bundle again.")
    signed = ", ".join(f"{visible(one.signer.name)} (key {one.key_id})" for one in found.signatures) or "nobody"
    note = f"The bundle is intact, {found.status}, signed by {signed}."
    return found.scenario, (Issue((path.name,), note, "", Severity.WARNING),)
