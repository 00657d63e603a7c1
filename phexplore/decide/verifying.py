"""Whether a bundle is unmodified, whether its parts agree with what is recomputed from its inputs, and who signed it.

The program relies on no statement of a bundle about itself. Inputs are the scenario, the project, the files of cited runs, and the
time, clearance and expected signers in the manifest. Everything else is recomputed from them and compared byte by byte. Only the
floating-point numbers of the forecast may differ, within `RELATIVE_TOLERANCE`. ``docs/trust_of_bundles.md`` states what this proves
and what it does not.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from phexplore.decide.archive import LARGEST_ARCHIVE, ArchiveError, unpack
from phexplore.decide.bundle import (
    DECISIONS,
    FORECAST,
    FORMAT,
    MANIFEST,
    PROJECT,
    RUNS,
    SCENARIO,
    SIGNATURES,
    SUMS,
    VERSION,
    Bundle,
    BundleError,
    BundleRequest,
    Statement,
    manifest_of,
    one_spelling,
    signature_names,
    stated,
    sums,
    uncited,
)
from phexplore.decide.citing import RunEvidence, cited_in_bundle
from phexplore.decide.signing import Signature, decode_signature
from phexplore.decide.sshsig import SshSignatureError, read_ssh_signature
from phexplore.errors import PhexploreError
from phexplore.files.project_file import ProjectContent, read_project
from phexplore.files.scenario_json import decode_scenario, encode_scenario
from phexplore.model.approval import Decision, contradiction, is_in_future
from phexplore.model.fingerprint import fingerprint
from phexplore.model.issues import Issue, Severity
from phexplore.model.moments import is_utc_text, zoned_text
from phexplore.model.scenario import Scenario
from phexplore.opening import read_bytes
from phexplore.text.escapes import visible

ARCHIVE = "the archive"
RELATIVE_TOLERANCE = 1e-9
"""Floating-point numbers differ in their last digits between computers; everything exact is text and compared as such."""
_RENDERED = frozenset({".html", ".htm", ".xhtml", ".pdf", ".svg", ".docx", ".pptx"})
_KEY_ID = re.compile(r"[0-9a-f]{64}")
_PROGRAM = re.compile(r"[0-9][0-9a-z.+]{0,40}")
_STATED_KEYS = ("made", "scenario", "fingerprint", "status", "clearance", "root", "signers")
_NUMBERS = (PhexploreError, ValueError, ArithmeticError)
"""Errors of numbers that exceed a float; any other exception in a computation is an error of the program."""
_UNREADABLE = (PhexploreError, ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError)
_MOST_FINDINGS = 50
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Alteration:
    """One thing that is not as it was handed over.

    Attributes:
        part: name of the file in the bundle, or ``the archive``.
        sentence: what is wrong with it.
    """

    part: str
    sentence: str


class _DisagreementError(Exception):
    """The inputs of a bundle cannot be read, so nothing can be recomputed."""

    def __init__(self, part: str, error: BaseException) -> None:
        text = error.sentence if isinstance(error, PhexploreError) else str(error)
        reason = (text or type(error).__name__).rstrip(".")[:300]
        self.alteration = Alteration(part, f"The bundle cannot be recomputed from this part: {reason}.")


@dataclass(frozen=True, slots=True)
class CheckedSignature:
    """A signature of a bundle and what is known of it.

    Attributes:
        signature: from the bundle. The name in it is what the signer wrote.
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
        statement: what the bundle states, recomputed; None where it cannot be recomputed.
        shortfall: why the signatures do not suffice for the checker, "" when they do.
        misdated: dates that lie in the future: a clock was wrong.
    """

    alterations: tuple[Alteration, ...]
    manifest: Mapping[str, Any]
    checked: tuple[CheckedSignature, ...] = ()
    awaited: tuple[str, ...] = ()
    statement: Statement | None = None
    shortfall: str = ""
    misdated: tuple[Alteration, ...] = ()

    @property
    def is_intact(self) -> bool:
        """Whether every part is unmodified and agrees with what is recomputed."""
        return not self.alterations

    @property
    def is_accepted(self) -> bool:
        """Whether nothing is found: it is intact, everybody expected has signed, and the checker's demands are met."""
        return not self.findings

    @property
    def status(self) -> str:
        """How far the parameters have come, recomputed; "" for a bundle that is not intact."""
        return self.statement.status.value if self.statement is not None and self.is_intact else ""

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
        return (*self.alterations, *found, *self.misdated)


def read_bundle(path: Path) -> bytes:
    """Return the bytes of a bundle.

    Raises:
        InputProblemsError: it cannot be read, is no file, or is too large for any bundle.
    """
    return read_bytes(path, limit=LARGEST_ARCHIVE + 2**20)


def verify(
    content: bytes, trusted: Collection[bytes] = (), required: int = 0, now: datetime | None = None
) -> Verification:
    """Check a bundle: archive, manifest, sums and signatures; then recompute its values from its inputs and compare.

    Args:
        content: the whole file.
        trusted: public keys that the checker trusts.
        required: valid signatures by different trusted keys that the checker demands.
        now: the time by which dates lie in the future; the present by default.

    Returns:
        Everything that was found, and the statement of the bundle.
    """
    refused = partial(Verification, manifest={}, shortfall=_shortfall((), required))
    try:
        found = unpack(content)
    except ArchiveError as error:
        return refused((Alteration(ARCHIVE, error.sentence),))
    files, archive = found.files, (Alteration(ARCHIVE, found.problem),) if found.problem else ()
    if found.altered:
        sentence = "The file was altered after the bundle was written."
        return refused(tuple(Alteration(name, sentence) for name in found.altered))
    try:
        manifest = _manifest(files)
    except BundleError as error:
        return refused((*archive, Alteration(MANIFEST, error.sentence)))
    alterations = [*_file_alterations(files, manifest)]
    checked, wrong = _signatures(files, manifest, trusted)
    alterations += wrong
    if SUMS not in files:
        alterations.append(Alteration(SUMS, "The file is missing."))
    elif not alterations and files[SUMS] != sums(files):
        alterations.append(Alteration(SUMS, "The file was altered: it does not list the SHA-256 of every file."))
    statement = None
    if not alterations:
        try:
            statement, made = _recomputed(files, manifest)
            alterations += _disagreements(files, manifest, statement, made)
        except _DisagreementError as error:
            alterations.append(error.alteration)
    present = {one.signature.key_id for one in checked if one.is_valid}
    return Verification(
        (*archive, *alterations[:_MOST_FINDINGS]),
        manifest,
        checked,
        tuple(key for key in manifest["signers"] if key not in present),
        statement,
        _shortfall(checked, required),
        () if statement is None else tuple(_misdated(statement, checked, now or datetime.now(UTC))),
    )


def _shortfall(checked: tuple[CheckedSignature, ...], required: int) -> str:
    """Return why the signatures do not suffice, "" when they do: different trusted keys are counted."""
    count = len({one.signature.public_key for one in checked if one.is_trusted})
    if count >= required:
        return ""
    signatures = "1 signature" if required == 1 else f"{required} signatures"
    return f"You require {signatures} by keys you trust; the bundle has {count}."


def _manifest(files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the content of the manifest.

    Raises:
        BundleError: it is missing, has another form, or belongs to another version of the format.
    """
    if MANIFEST not in files:
        raise BundleError("The file is missing.", "")
    try:
        value: dict[str, Any] = json.loads(files[MANIFEST])
        if value["format"] == FORMAT and value["version"] != VERSION:
            sentence = (
                f"The bundle has format version {value['version']!r:.20}; this program reads version {VERSION} only."
            )
            raise BundleError(sentence, "")
        listed = {name: (str(entry["sha256"]), int(entry["bytes"])) for name, entry in value["files"].items()}
        well_formed = (
            (value["format"], type(value["version"])) == (FORMAT, int)
            and value.keys() == {"format", "version", "program", "files", *_STATED_KEYS}
            and value["files"] == {name: {"sha256": digest, "bytes": size} for name, (digest, size) in listed.items()}
            and is_utc_text(value["made"])
            and isinstance(value["clearance"], str)
            and _PROGRAM.fullmatch(value["program"])
            and all(_KEY_ID.fullmatch(key) for key in value["signers"])
            and len(set(value["signers"])) == len(value["signers"])
            and one_spelling(value) == files[MANIFEST]
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        well_formed = False
    if not well_formed:
        raise BundleError(f"The file is not the manifest of a bundle of format version {VERSION}.", "")
    return value


def _file_alterations(files: Mapping[str, bytes], manifest: Mapping[str, Any]) -> Iterator[Alteration]:
    """Yield the files that are missing, added or changed against the manifest."""
    listed = manifest["files"]
    for name in sorted({*listed, *files}):
        if name not in files:
            yield Alteration(name, "The file is missing.")
        elif name in listed:
            data = files[name]
            if listed[name] != {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}:
                yield Alteration(name, "The file was altered: its SHA-256 is not the one in the manifest.")
        elif name not in {MANIFEST, SUMS} and not name.startswith(SIGNATURES):
            yield Alteration(name, "The file was added: the manifest does not list it.")


def _signatures(
    files: Mapping[str, bytes], manifest: Mapping[str, Any], trusted: Collection[bytes]
) -> tuple[tuple[CheckedSignature, ...], list[Alteration]]:
    checked: list[CheckedSignature] = []
    wrong: list[Alteration] = []
    expected, belonging = manifest["signers"], set()
    names = sorted(name for name in files if name.startswith(SIGNATURES))
    for name in (each for each in names if each.endswith(".json")):
        signature = decode_signature(files[name])
        if signature is None:
            wrong.append(Alteration(name, "The file was altered: it is not a signature."))
            belonging |= {name, name.removesuffix(".json") + ".sig"}
            continue
        own, openssh = signature_names(signature)
        belonging |= {name, openssh}
        who = f"{signature.signer.name} ({signature.key_id})"
        reasons = {}
        if name != own:
            reasons[name] = "The file was added: its name is not that of its key."
        elif not signature.is_of(files[MANIFEST]):
            reasons[name] = f"The signature of {who} does not fit this manifest, name, role and time."
        elif not is_utc_text(signature.at):
            reasons[name] = f"The signature of {who} has no date and time in UTC."
        elif expected and signature.key_id not in expected:
            reasons[name] = f"The key of {who} is not among those that the manifest expects to sign."
        if reason := _openssh_problem(files.get(openssh, b""), signature, files[MANIFEST]):
            reasons[openssh] = reason
        wrong += [Alteration(part, reason) for part, reason in reasons.items()]
        signature = replace(signature, over_manifest=files.get(openssh, b""))
        checked.append(CheckedSignature(signature, not reasons, not reasons and signature.public_key in trusted))
    wrong += [
        Alteration(name, "The file was added: no signature belongs to it.") for name in names if name not in belonging
    ]
    return tuple(checked), wrong


def _openssh_problem(content: bytes, signature: Signature, manifest: bytes) -> str:
    """Return why the form for OpenSSH is not the same key's signature of the manifest, "" when it is."""
    if not content:
        return "The file is missing."
    try:
        found = read_ssh_signature(content)
    except SshSignatureError:
        return "The file was altered: it is not a signature in the form of OpenSSH."
    if found.armoured() != content or found.public_key != signature.public_key or not found.is_of(manifest):
        return "The file was altered: it is not this key's signature of the manifest."
    return ""


def _recomputed(files: Mapping[str, bytes], manifest: Mapping[str, Any]) -> tuple[Statement, ProjectContent]:
    """Compute the contents of a bundle from its inputs; return them with the project.

    Raises:
        _DisagreementError: an input cannot be read.
    """
    scenario = _read(SCENARIO, lambda: decode_scenario(json.loads(files[SCENARIO]), SCENARIO))
    content = _read(PROJECT, lambda: read_project(files[PROJECT].decode(), name=PROJECT))
    own = fingerprint(scenario)
    folders: dict[str, dict[str, bytes]] = {}
    for name in (each for each in files if each.startswith(RUNS)):
        folder, is_inside, rest = name.removeprefix(RUNS).partition("/")
        if is_inside:  # a file beside the folders of runs belongs to none
            folders.setdefault(folder, {})[rest] = files[name]
    runs: list[RunEvidence] = [
        _read(f"{RUNS}{name}/", partial(_run, name, inside, own)) for name, inside in folders.items()
    ]
    made = datetime.fromisoformat(manifest["made"])
    request = BundleRequest(scenario, made, content, tuple(runs), tuple(manifest["signers"]), manifest["clearance"])
    return _read(SCENARIO, lambda: stated(request), _NUMBERS), content


def _run(name: str, files: Mapping[str, bytes], parameters: str) -> RunEvidence:
    """Return a cited run.

    Raises:
        ValueError: a file is not in the canonical form of JSON, so it could be read in two ways.
    """
    if wrong := [each for each, data in files.items() if one_spelling(json.loads(data)) != data]:
        raise ValueError(f"{wrong[0]} is not in the canonical form of JSON")
    return cited_in_bundle(name, files, parameters)


def _read(part: str, read: Callable[[], _Value], refusals: tuple[type[Exception], ...] = _UNREADABLE) -> _Value:
    try:
        return read()
    except refusals as error:
        raise _DisagreementError(part, error) from error


def _disagreements(
    files: Mapping[str, bytes], manifest: Mapping[str, Any], statement: Statement, content: ProjectContent
) -> Iterator[Alteration]:
    """Yield the parts that are not the recomputed ones."""
    if content.issues:
        yield Alteration(PROJECT, f"The project is damaged: {content.issues[0].sentence}")
    wanted = encode_scenario(statement.scenario)
    if not any(encode_scenario(other) == wanted for other in content.workbook.scenarios):
        yield Alteration(PROJECT, "The project does not contain the parameters of the bundle.")
    for name in sorted(manifest["files"].keys() | statement.files.keys()):
        if name not in manifest["files"]:
            yield Alteration(name, "The file is missing.")
        elif name not in statement.files:
            rendered = "Remove the rendered page: render the certificate with verify --certificate." if (
                Path(name).suffix.lower() in _RENDERED
            ) else ""  # fmt: skip
            yield Alteration(name, f"A bundle of these parameters does not contain this file. {rendered}".rstrip())
        elif places := _differences(name, files[name], statement.files[name]):
            more = f" and {len(places) - 3} more" if len(places) > 3 else ""
            where = f": {', '.join(places[:3])}{more}" if places[0] else ""
            yield Alteration(name, f"The file is not the one that is recomputed from the parameters{where}.")
    made = manifest_of(statement, {})
    for key in _STATED_KEYS:
        if manifest[key] != made[key]:
            sentence = (
                f"The manifest states {key} {str(manifest[key])[:80]!r}; recomputed from the bundle: {made[key]!r}."
            )
            yield Alteration(MANIFEST, sentence)
    found = [*uncited(statement), contradiction(content.decisions)]
    yield from (Alteration(DECISIONS, sentence) for sentence in found if sentence)


def _differences(name: str, content: bytes, made: bytes) -> list[str]:
    """Return the places at which a file differs from the recomputed one; "" is the whole.

    Files are compared byte by byte, the forecast value by value. It has to have the one spelling of JSON, so that no key is duplicated.
    """
    if content == made:
        return []
    try:
        value = json.loads(content)
        places = list(_places(value, json.loads(made), ""))
        is_exact = name == FORECAST and one_spelling(value) == content
    except (ValueError, RecursionError):
        return [""]
    return places if places or is_exact else [""]


def _places(value: Any, made: Any, place: str) -> Iterator[str]:
    if type(value) is not type(made):
        yield place
    elif isinstance(value, dict | list):
        # A list as an object whose keys are numbers.
        one, other = (each if isinstance(each, dict) else dict(enumerate(each)) for each in (value, made))
        for key in {**one, **other}:
            inner = f"{place}.{key}".lstrip(".")
            if key in one and key in other:
                yield from _places(one[key], other[key], inner)
            else:
                yield inner
    elif isinstance(value, float):
        if not math.isclose(value, made, rel_tol=RELATIVE_TOLERANCE, abs_tol=0.0):
            yield place
    elif value != made:
        yield place


def _misdated(statement: Statement, checked: Sequence[CheckedSignature], now: datetime) -> Iterator[Alteration]:
    """Yield dates after this computer's clock, decisions dated after the bundle, and signatures dated before it."""
    clock = f"which is after this computer's clock ({zoned_text(now.astimezone(UTC))}). One of the two clocks is wrong"
    made = f"the bundle was made at {zoned_text(statement.made)}. One of the two clocks was wrong"
    last: Sequence[Decision] = statement.decisions[-1:]
    for part, what, at in (
        *((DECISIONS, f"The decision of {one.who}", one.at) for one in last),
        (MANIFEST, "The bundle", statement.made.isoformat()),
        *((SIGNATURES, f"The signature of {one.signature.signer.name}", one.signature.at) for one in checked),
    ):
        if is_in_future(at, now):
            yield Alteration(part, f"{what} is dated {zoned_text(at)}, {clock}.")
        elif (part == DECISIONS and is_in_future(at, statement.made)) or (
            part == SIGNATURES and is_in_future(statement.made.isoformat(), datetime.fromisoformat(at))
        ):
            yield Alteration(part, f"{what} is dated {zoned_text(at)}, but {made}.")


def opened(content: bytes) -> Bundle:
    """Return an intact bundle whose parts agree, to sign it.

    Raises:
        BundleError: it was altered, or its parts do not agree.
    """
    result = verify(content)
    if result.statement is None or not result.is_intact:
        first = result.alterations[0]
        raise BundleError(f"{first.part}: {first.sentence}", "Do not sign this bundle; ask for it again.")
    files = {name: data for name, data in unpack(content).files.items() if name in result.manifest["files"]}
    return Bundle({**files, MANIFEST: unpack(content).files[MANIFEST]}, result.signatures)


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
