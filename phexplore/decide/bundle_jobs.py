"""Jobs that write, sign and check bundles and report their progress, for the command line and the process of the window.

Private keys are read here, used and forgotten; a job names their files, and only signatures are returned.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from phexplore.decide.bundle import (
    FINGERPRINT_STATED,
    RUN_STATED,
    TOTAL_STATED,
    Bundle,
    BundleError,
    BundleRequest,
    make_bundle,
    signed,
    write_bundle,
)
from phexplore.decide.certificate import confirm_certificate_name, write_certificate
from phexplore.decide.citing import evidence
from phexplore.decide.scenario_export import Exported, ExportJob, write_export
from phexplore.decide.signing import (
    PUBLIC_SUFFIX,
    Signer,
    create_key,
    key_id_of,
    load_private_key,
    load_public_key,
    public_key_of,
)
from phexplore.decide.trusted_keys import TrustedKey, trusted_keys
from phexplore.decide.verifying import Verification, opened, read_bundle, verify
from phexplore.figures.wording import bound_text
from phexplore.files.project_file import read_project
from phexplore.model.moments import minute_text
from phexplore.model.numbers import parse_exact
from phexplore.report.export_formats import Tell
from phexplore.text.escapes import visible

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


@dataclass(frozen=True, slots=True)
class Began:
    """A step began: its number, how many there are, what it does."""

    number: int
    steps: int
    sentence: str


@dataclass(frozen=True, slots=True)
class KeyFile:
    """A private key to sign with.

    Attributes:
        path: of the file.
        signer: whose signature it makes.
        passphrase: of the key, None when it has none; it is not shown.
    """

    path: Path
    signer: Signer
    passphrase: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class SigningCommand:
    """A command that signs, for cards and agents: `signing.sign`.

    Attributes:
        command: program and arguments.
        signer: whose signature it makes.
    """

    command: str
    signer: Signer


_Key = tuple[Signer, "Ed25519PrivateKey | str"]


@dataclass(frozen=True, slots=True)
class WriteJob:
    """A new bundle.

    Attributes:
        project: the bytes of the project file: scenarios, log and decisions.
        scenario: name of the one decided about.
        out: the file to write.
        runs: directories of the runs that are cited.
        keys: who signs now.
        expected: public keys of people who sign later.
        clearance: number of the review board.
        keeps_notes: whether free text goes in.
    """

    project: bytes
    scenario: str
    out: Path
    runs: tuple[Path, ...] = ()
    keys: tuple[KeyFile | SigningCommand, ...] = ()
    expected: tuple[Path, ...] = ()
    clearance: str = ""
    keeps_notes: bool = True


@dataclass(frozen=True, slots=True)
class SignJob:
    """More signatures for a bundle that exists.

    Attributes:
        bundle: the file.
        out: the file to write.
        keys: who signs.
        sha256: of the bundle as it was shown to them, "" when it was not shown.
    """

    bundle: Path
    out: Path
    keys: tuple[KeyFile | SigningCommand, ...]
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class VerifyJob:
    """A bundle to check.

    Attributes:
        bundle: the file.
        trusted: keys of the checker's store.
        required: signatures by different ones of them that have to be there.
        certificate: file to render the certificate to, if the bundle is intact; None for none.
    """

    bundle: Path
    trusted: tuple[TrustedKey, ...] = ()
    required: int = 0
    certificate: Path | None = None


@dataclass(frozen=True, slots=True)
class KeyJob:
    """A new key pair; the passphrase is not shown."""

    path: Path
    passphrase: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class KeyMade:
    """A new key pair: its private file, its public file, and what names it."""

    path: Path
    public: Path
    key_id: str


@dataclass(frozen=True, slots=True)
class Signed:
    """A valid signature as people read it.

    Attributes:
        name: what the signer wrote.
        role: what the signer wrote.
        at: as the signer's machine had it.
        key_id: the whole fingerprint.
        owner: whose key it is by the checker's own store, or who signs with it here, "" for an unknown key.
    """

    name: str
    role: str
    at: str
    key_id: str
    owner: str = ""


@dataclass(frozen=True, slots=True)
class BundleReport:
    """What a bundle is, after every part of it was made again and compared.

    Attributes:
        path: of the file.
        sha256: of the whole file.
        alterations: part and sentence of everything that is wrong; empty = intact.
        stated: name and text of everything the bundle states, recomputed; empty when it cannot be read.
        signatures: the valid ones.
        awaited: key ids that are expected to sign and have not, with whose they are as `Signed.owner` has it.
        notes: what whoever hands the parameters over should know.
        shortfall: why the signatures do not suffice for the checker, "" when they do.
        misdated: sentences about dates in the future.
        is_made_here: whether owners are who signed just now; no store of keys was asked.
        certificate: the file that the certificate was rendered to, None for none.
    """

    path: Path
    sha256: str
    alterations: tuple[tuple[str, str], ...]
    stated: tuple[tuple[str, str], ...] = ()
    signatures: tuple[Signed, ...] = ()
    awaited: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    shortfall: str = ""
    misdated: tuple[str, ...] = ()
    is_made_here: bool = False
    certificate: Path | None = None

    @property
    def is_intact(self) -> bool:
        """Whether nothing was altered."""
        return not self.alterations


_NAMED_BY_ITSELF = (
    "A name in a signature is what its signer wrote. Check with the signer, by telephone, that this key is theirs, then add "
    "it to the keys you trust."
)


def report_headline(report: BundleReport) -> tuple[str, str]:
    """Return the finding and its look."""
    if not report.is_intact:
        count = len(report.alterations)
        return f"Not intact: {count} finding" + ("" if count == 1 else "s"), "refused"
    if report.shortfall or report.misdated:
        reason = "not signed by enough keys you trust" if report.shortfall else "dated in the future"
        return f"Intact, but {reason}", "refused"
    if report.awaited:
        count = len(report.awaited)
        return f"Intact, {count} signature" + ("" if count == 1 else "s") + " still to come", "attention"
    if not report.signatures:
        return "Intact, unsigned", "attention"
    unknown = sum(not one.owner for one in report.signatures)
    if unknown:
        return "Intact, signed by " + ("an unknown key" if unknown == 1 else f"{unknown} unknown keys"), "muted"
    count = len(report.signatures)
    keys = "key" if count == 1 else "keys"
    return f"Intact and signed by {count} {keys} " + ("used here" if report.is_made_here else "you trust"), "good"


def report_lines(report: BundleReport, *, has_codes: bool = True) -> list[tuple[str, str]]:
    """Return symbol and sentence of everything there is to say, what is wrong first; text of the bundle cannot pass for ours.

    Args:
        report: what was found.
        has_codes: name keys and the file by their sums, and totals by their ratio, too.
    """
    said = [("error", visible(f"{part}: {sentence}")) for part, sentence in report.alterations]
    said += [("error", visible(sentence)) for sentence in filter(None, (report.shortfall, *report.misdated))]
    if report.is_intact:
        said.append(("tick", "Every part is unmodified and agrees with what is recomputed from the parameters."))
        said += [
            ("info", visible(f"{name}: {_for_reading(name, text, has_codes=has_codes)}"))
            for name, text in report.stated
            if has_codes or name != FINGERPRINT_STATED
        ]
    for one in report.signatures:
        who = visible(f"{one.name}, {one.role}" if one.role else one.name)
        when = visible(f"{minute_text(one.at)} UTC")
        if not report.is_intact:
            said.append(("info", f"The signature of {who}, {when}, fits the manifest; the bundle is not intact"))
        elif one.owner:
            key = f", key {one.key_id}" if has_codes else ""
            said.append(("tick", f"Signed with the key of {visible(one.owner)}, as {who}, {when}{key}"))
        else:
            key = f" {one.key_id}" if has_codes else ""
            said.append(("info", f"Signed by an unknown key{key}, which gives the name {who}, {when}"))
    for key, owner in report.awaited:
        who = visible(owner) or "an unknown key"
        said.append(("warning", f"Not signed yet: {who}" + (f", {key}" if has_codes else "")))
    if any(not one.owner for one in report.signatures):
        said.append(("info", _NAMED_BY_ITSELF))
    said += [("info", visible(note)) for note in report.notes]
    if report.certificate is not None:
        said.append(("tick", visible(f"Certificate rendered from the recomputed values: {report.certificate}")))
    if has_codes:
        said.append(("info", f"SHA-256 of the file {report.sha256}"))
    return said


def _for_reading(name: str, text: str, *, has_codes: bool) -> str:
    """Return what a bundle states, a total that is a ratio as a decimal, never less than it is, beside it where all is named."""
    if name == RUN_STATED and not has_codes:
        return ", ".join(text.rsplit(", ", 2)[1:])  # from behind: the name before may hold anything
    if not name.startswith(TOTAL_STATED) or "/" not in text:
        return text
    decimal = bound_text(parse_exact(text))
    return f"{decimal}, exactly {text}" if has_codes else decimal


BundleJob = WriteJob | SignJob | VerifyJob | KeyJob | ExportJob
_WRITE_STEPS = 6


def carry_out(job: BundleJob, tell: Tell, now: datetime | None = None) -> BundleReport | KeyMade | Exported:
    """Do a job and return what came of it.

    Args:
        job: what to do.
        tell: called when a step begins.
        now: the time of bundle and signatures, with its zone; the present by default.

    Raises:
        PhexploreError: it cannot be done; no file was left behind that looks as if it had been.
    """
    at = now or datetime.now(UTC)
    match job:
        case WriteJob():
            return _write(job, tell, at)
        case SignJob():
            return _countersign(job, tell, at)
        case VerifyJob():
            tell(1, 1, "Recomputing every part of the bundle and comparing")
            owners = owners_of(job.trusted)
            return _check(job.bundle, owners, job.required, job.certificate, owners)[1]
        case ExportJob():
            return write_export(job, tell)
        case KeyJob():
            tell(1, 1, "Making a key pair")
            public = create_key(job.path, job.passphrase)
            beside = job.path.with_name(job.path.name + PUBLIC_SUFFIX)
            return KeyMade(job.path, beside, key_id_of(public))


def _write(job: WriteJob, tell: Tell, now: datetime) -> BundleReport:
    tell(1, _WRITE_STEPS, "Reading the project and the keys")
    content = read_project(job.project.decode("utf-8"), name="project")
    scenario = content.workbook.find(job.scenario)
    keys = [_read(key) for key in job.keys]
    later = [TrustedKey(path.name, load_public_key(path)) for path in job.expected]
    publics = [public_key_of(key) for _, key in keys] + [key.public_key for key in later]
    signers = tuple(dict.fromkeys(map(key_id_of, publics)))
    tell(2, _WRITE_STEPS, "Checking that the cited runs are complete, unaltered and of these parameters")
    cited = evidence(job.runs, scenario)
    tell(3, _WRITE_STEPS, "Computing parameters and forecast")
    request = BundleRequest(scenario, now, content, cited, signers, job.clearance, job.keeps_notes)
    bundle = make_bundle(request)
    tell(4, _WRITE_STEPS, "Checking the bundle, then signing")
    return _signed_and_written(opened(bundle.packed()), keys, job.out, now, tell, 5, _WRITE_STEPS, later)


def _countersign(job: SignJob, tell: Tell, now: datetime) -> BundleReport:
    if not job.keys:
        raise BundleError("Nobody signs.", "Add a key.")
    tell(1, 4, "Checking the bundle before it is signed")
    content = read_bundle(job.bundle)
    if job.sha256 and hashlib.sha256(content).hexdigest() != job.sha256:
        raise BundleError(f"{job.bundle} has changed since it was checked.", "Check it again, then sign.")
    bundle = opened(content)
    tell(2, 4, "Signing")
    return _signed_and_written(bundle, [_read(key) for key in job.keys], job.out, now, tell, 3, 4)


def _signed_and_written(
    bundle: Bundle,
    keys: list[_Key],
    out: Path,
    now: datetime,
    tell: Tell,
    number: int,
    steps: int,
    later: Sequence[TrustedKey] = (),
) -> BundleReport:
    """Sign, write, read back, compare, make every part again: a bundle counts only then."""
    own = [*later]
    for signer, key in keys:
        bundle = signed(bundle, key, signer, now)
        own.append(TrustedKey(signer.name, bundle.signatures[-1].public_key))
    tell(number, steps, "Writing, reading back and comparing")
    write_bundle(bundle, out)
    tell(number + 1, steps, "Recomputing every part of the bundle and comparing")
    content = read_bundle(out)
    report = replace(report_of(out, content, verify(content, owners_of(own)), owners_of(own)), is_made_here=True)
    if report.alterations:
        part, sentence = report.alterations[0]
        raise BundleError(f"{out} fails its own check. {part}: {sentence}", "Do not hand it over.")
    return report


def verify_file(
    path: Path, trust: Sequence[Path] = (), required: int | None = None, certificate: Path | None = None
) -> tuple[Verification, BundleReport]:
    """Check a bundle on disk; return the result, and the same for people.

    Args:
        path: of the bundle.
        trust: files of public keys whose signatures count; without them the keys of the user's store do, as in the window.
        required: how many of them have to be there, by different keys: 1 when left out, or none when no key is named either.
        certificate: file to render the certificate to (``.html`` or ``.pdf``), if the bundle is intact; None for none.

    Raises:
        PhexploreError: a key, the store or the bundle cannot be read, or the certificate cannot be written.
    """
    named = {load_public_key(key): key.name for key in trust}
    known = owners_of(trusted_keys())
    demanded = (1 if trust else 0) if required is None else required
    return _check(path, named or known, demanded, certificate, named | known)


def _check(
    path: Path, trusted: Collection[bytes], required: int, certificate: Path | None, owners: Mapping[bytes, str]
) -> tuple[Verification, BundleReport]:
    if certificate is not None:
        confirm_certificate_name(certificate)
    content = read_bundle(path)
    found = verify(content, trusted, required)
    report = report_of(path, content, found, owners)
    if certificate is not None and found.is_intact and found.statement is not None:
        write_certificate(found.statement, found.signatures, certificate)
        report = replace(report, certificate=certificate)
    return found, report


def owners_of(keys: Iterable[TrustedKey]) -> dict[bytes, str]:
    """Return whose each public key is."""
    return {key.public_key: key.name for key in keys}


def report_of(path: Path, content: bytes, found: Verification, owners: Mapping[bytes, str]) -> BundleReport:
    """Return the result of a check for people.

    Args:
        path: of the bundle.
        content: the whole file.
        found: the result.
        owners: whose each public key is, as far as the checker knows.
    """
    named = {key_id_of(public): name for public, name in owners.items()}
    statement = found.statement
    return BundleReport(
        path,
        hashlib.sha256(content).hexdigest(),
        tuple((alteration.part, alteration.sentence) for alteration in found.alterations),
        tuple(statement.lines()) if statement is not None else (),
        tuple(
            Signed(s.signer.name, s.signer.role, s.at, s.key_id, owners.get(s.public_key, "")) for s in found.signatures
        ),
        tuple((key, named.get(key, "")) for key in found.awaited),
        statement.notes if statement is not None else (),
        found.shortfall,
        tuple(each.sentence for each in found.misdated),
    )


def _read(key: KeyFile | SigningCommand) -> _Key:
    if isinstance(key, SigningCommand):
        return key.signer, key.command
    return key.signer, load_private_key(key.path, lambda _name: key.passphrase)
