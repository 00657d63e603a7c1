"""The bundle of a decision: one deterministic archive with everything somebody needs to run, check and defend it.

Contents: the parameters as production reads them, the scenario, its forecast, the decisions, the runs they rest on, the
project with its whole edit log, the certificate, a manifest with the check sum of every file, detached signatures, and
the same sums in the form other programs read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phexplore import __version__
from phexplore.catalog.names import Naming, called
from phexplore.decide.archive import is_safe_name, pack, unpack
from phexplore.decide.certificate import CertificateFacts, certificate
from phexplore.decide.citing import RunEvidence
from phexplore.decide.signing import Signature, Signer, key_id_of, public_bytes, sign, sign_with
from phexplore.errors import PhexploreError
from phexplore.files.approval_json import encode_decisions
from phexplore.files.atomic_files import write_atomically
from phexplore.files.project_file import LoggedStep, ProjectContent, single, write_project
from phexplore.files.scenario_json import decode_scenario, encode_scenario
from phexplore.model.approval import Decision, status_of
from phexplore.model.fingerprint import fingerprint
from phexplore.model.issues import has_errors
from phexplore.model.scenario import Scenario
from phexplore.model.workbook import Workbook
from phexplore.systems.registry import check, handover, system_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FORMAT = "phexplore bundle"
VERSION = 7
"""Since version 2 every signature stands beside it in the form of OpenSSH; since 3 the certificate's tables say what is proven, and it
has lines to sign on paper; 4 are those that take along the user's files that production cannot have; since 5 these stand in
bundles of any kind, and the certificate marks no margin that is within its target as it is; since 6 it says no loss smaller than it is,
and names conversions in words; since 7 its PDF is tagged as ISO 14289-1 asks."""
_VERSION_OF_TAGS = 7
MANIFEST, SUMS = "manifest.json", "SHA256SUMS"
SCENARIO, FORECAST, DECISIONS, PROJECT, LOG = (
    "scenario.json", "forecast.json", "decisions.json", "log/project.phx", "log/steps.txt",
)  # fmt: skip
CERTIFICATE_HTML, CERTIFICATE_PDF = "certificate.html", "certificate.pdf"
PARAMETERS, RUNS, SIGNATURES = "parameters/", "runs/", "signatures/"


class BundleError(PhexploreError):
    """A bundle that cannot be made."""


@dataclass(frozen=True, slots=True)
class BundleRequest:
    """What goes into a bundle.

    Attributes:
        scenario: the parameters decided about.
        content: the project with its edit log; None for a scenario without one.
        decisions: all of the project's.
        runs: what is cited.
        now: when the bundle is made, with its zone.
        signers: public keys that are expected to sign, 32 bytes each.
        clearance: number of the review board.
        keeps_notes: whether free text of scenarios and decisions goes in.
        has_pdf: whether the certificate is made as PDF too.
    """

    scenario: Scenario
    now: datetime
    content: ProjectContent | None = None
    decisions: tuple[Decision, ...] = ()
    runs: tuple[RunEvidence, ...] = ()
    signers: tuple[bytes, ...] = ()
    clearance: str = ""
    keeps_notes: bool = True
    has_pdf: bool = True


@dataclass(frozen=True, slots=True)
class Bundle:
    """The files of a bundle before they are packed.

    Attributes:
        files: everything but signatures and sums, by name.
        signatures: in the order they were given.
        notes: what whoever made it should know.
    """

    files: Mapping[str, bytes]
    signatures: tuple[Signature, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def manifest(self) -> bytes:
        """The bytes that signatures cover."""
        return self.files[MANIFEST]

    def packed(self) -> bytes:
        """Return the archive."""
        files = {**self.files, **{signature_name(s): s.encoded() for s in self.signatures}}
        files |= {ssh_signature_name(s): s.over_manifest for s in self.signatures if s.over_manifest}
        return pack({**files, SUMS: sums(files)})


def signature_name(signature: Signature) -> str:
    """Return the name of a signature's file: one per key."""
    return f"{SIGNATURES}{signature.key_id[:16]}.json"


def ssh_signature_name(signature: Signature) -> str:
    """Return the name of the file with the same signature in the form of OpenSSH."""
    return f"{SIGNATURES}{signature.key_id[:16]}.sig"


def sums(files: Mapping[str, bytes]) -> bytes:
    """Return check sums in the form ``sha256sum -c`` reads."""
    lines = [f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files) if name != SUMS]
    return "".join(lines).encode()


def make_bundle(request: BundleRequest) -> Bundle:
    """Bring the files of a bundle together.

    Raises:
        BundleError: the scenario has errors, or a decision's run is not among those cited.
        PhexploreError: the production files cannot say exactly what was chosen.
    """
    if errors := [issue for issue in check(request.scenario) if has_errors([issue])]:
        raise BundleError(f"{errors[0].place}: {errors[0].sentence}", errors[0].remedy)
    request = request if request.keeps_notes else _without_notes(request)
    scenario, own = request.scenario, fingerprint(request.scenario)
    decisions = tuple(decision for decision in request.decisions if decision.fingerprint == own)
    _confirm_cited(decisions, request.runs)
    status = status_of(request.decisions, own)
    parameters, root, notes = handover(scenario).files(scenario)
    content = request.content or replace(
        single(Workbook((scenario,), scenario.name), f"Bundle {scenario.name}", _at(request.now)),
        decisions=request.decisions,
    )
    files: dict[str, bytes] = {
        SCENARIO: one_spelling(encode_scenario(scenario)),
        FORECAST: one_spelling(system_of(scenario).forecast_json(scenario, None)),
        DECISIONS: one_spelling(encode_decisions(decisions)),
        PROJECT: write_project(content),
        LOG: steps_text(content.steps),
    }
    files |= {f"{PARAMETERS}{name}": text.encode() for name, text in parameters.items()}
    for run in request.runs:
        folder = f"{RUNS}{run.cited.name}/"
        files |= {
            f"{folder}run.json": one_spelling(dict(run.facts)),
            f"{folder}summary.json": run.summary,
            f"{folder}manifest.json": run.manifest,
        }
    keys = tuple(key_id_of(key) for key in request.signers)
    facts = CertificateFacts(
        scenario,
        status,
        decisions,
        request.runs,
        parameters,
        root,
        keys,
        request.clearance,
        request.now,
        VERSION,
    )
    notes += _certificate_files(facts, files, has_pdf=request.has_pdf)
    notes += [f"{run.cited.name}: {run.content()['remark']}" for run in request.runs if "left_out" in run.content()]
    if wrong := [name for name in files if not is_safe_name(name)]:
        raise BundleError(
            f"The file name {wrong[0]!r} cannot go into a bundle.", "Rename the file and import it again."
        )
    files[MANIFEST] = manifest_bytes(
        {
            "format": FORMAT,
            "version": facts.version,
            "program": __version__,
            "made": _at(request.now),
            "scenario": scenario.name,
            "fingerprint": own,
            "status": status.value,
            "clearance": request.clearance,
            "root": f"{PARAMETERS}{root}",
            "signers": list(keys),
            "notes": notes,
            "files": {
                name: {"sha256": hashlib.sha256(files[name]).hexdigest(), "bytes": len(files[name])}
                for name in sorted(files)
            },
        }
    )
    return Bundle(files, notes=tuple(notes))


def manifest_bytes(content: Mapping[str, Any]) -> bytes:
    """Return a manifest as bytes; it ends with its own check sum, so that a changed one accuses itself."""
    bare = {name: value for name, value in content.items() if name != "self"}
    return one_spelling({**bare, "self": hashlib.sha256(one_spelling(bare)).hexdigest()})


def signed(bundle: Bundle, key: Ed25519PrivateKey, signer: Signer, now: datetime) -> Bundle:
    """Return the bundle with one more signature; a second one of the same key replaces the first.

    Args:
        bundle: to sign.
        key: private key of the signer.
        signer: name and role.
        now: time of the signature, with offset.

    Raises:
        BundleError: the bundle names who signs, and this key is not among them.
        SigningError: the signer has no name.
    """
    _confirm_expected(bundle, public_bytes(key), signer)
    return _with(bundle, sign(bundle.manifest, key, signer, _at(now)))


def signed_with(bundle: Bundle, command: str, signer: Signer, now: datetime) -> Bundle:
    """Return the bundle with one more signature, made by a command: `signing.sign_with`.

    Args:
        bundle: to sign.
        command: as on a command line; it reads the message and writes the signature.
        signer: name and role.
        now: time of the signature, with offset.

    Raises:
        BundleError: the bundle names who signs, and this key is not among them, or it is of a version that knows no
            such signatures.
        SigningError, SshSignatureError: the command makes no signature.
    """
    if json.loads(bundle.manifest)["version"] == 1:
        raise BundleError(
            "The bundle is of version 1, which knows signatures by key files only.",
            "Sign with --sign, or make it again.",
        )
    signature = sign_with(bundle.manifest, command, signer, _at(now))
    _confirm_expected(bundle, signature.public_key, signer)
    return _with(bundle, signature)


def _confirm_expected(bundle: Bundle, public_key: bytes, signer: Signer) -> None:
    expected = json.loads(bundle.manifest)["signers"]
    if expected and key_id_of(public_key) not in expected:
        raise BundleError(
            f"The bundle names the keys that sign it, and this key of {signer.name} is not among them.",
            "Have it written again with this public key among those who sign later.",
        )


def _with(bundle: Bundle, signature: Signature) -> Bundle:
    if json.loads(bundle.manifest)["version"] == 1:
        signature = replace(signature, over_manifest=b"")
    others = tuple(other for other in bundle.signatures if other.key_id != signature.key_id)
    return replace(bundle, signatures=(*others, signature))


def write_bundle(bundle: Bundle, out: Path) -> None:
    """Write a bundle, read it back, and compare: it counts only then.

    Args:
        bundle: to write.
        out: of the archive, replaced as a whole.

    Raises:
        WriteError: it cannot be written.
        BundleError: what was read is not what was written, or does not say what was decided.
    """
    content = bundle.packed()
    write_atomically(out, content)
    back = out.read_bytes()
    found = unpack(back)
    remedy = "The disk or the program is at fault. Write it again, elsewhere; do not hand this one over."
    if back != content or found.problems:
        raise BundleError(f"{out} was read back otherwise than it was written.", remedy)
    scenario = decode_scenario(json.loads(found.files[SCENARIO]), SCENARIO)
    if fingerprint(scenario) != json.loads(bundle.manifest)["fingerprint"]:
        raise BundleError(f"{out} does not hold the parameters that were decided about.", remedy)


def _certificate_files(facts: CertificateFacts, files: dict[str, bytes], *, has_pdf: bool) -> list[str]:
    """Add the certificate; return why there is no PDF, if there is none."""
    from phexplore.report.pdf import PdfUnavailableError  # noqa: PLC0415 - brings the template engine

    files[CERTIFICATE_HTML] = certificate_html(facts)
    if not has_pdf:
        return []
    try:
        files[CERTIFICATE_PDF] = certificate_pdf(files, facts.now, facts.version)
    except PdfUnavailableError as error:
        return [f"{error.sentence} The certificate is in the bundle as HTML."]
    return []


def certificate_html(facts: CertificateFacts) -> bytes:
    """Return the certificate as HTML, with production's codes whatever this process calls things."""
    from phexplore.report.html import document_html  # noqa: PLC0415 - brings the template engine

    with called(Naming.CODES):
        return document_html(certificate(facts))


def certificate_pdf(files: Mapping[str, bytes], now: datetime, version: int) -> bytes:
    """Return the certificate of a bundle as PDF, with the data inside.

    Args:
        files: of the bundle; the certificate as HTML is among them.
        now: when the bundle was made.
        version: of the bundle.

    Raises:
        PdfUnavailableError: the libraries that lay it out are not installed.
    """
    from phexplore.report.pdf import Attached, pdf_from_html  # noqa: PLC0415 - brings the template engine

    attached = [
        Attached(name.rpartition("/")[2], files[name], text)
        for name, text in (
            (SCENARIO, "The parameters, exact"),
            (FORECAST, "Every analytic figure"),
            (DECISIONS, "Who decided what, and when"),
        )
    ]
    return pdf_from_html(
        files[CERTIFICATE_HTML], now, attached, is_report=False, mends_tags=version >= _VERSION_OF_TAGS
    )


def _confirm_cited(decisions: Sequence[Decision], runs: Sequence[RunEvidence]) -> None:
    present = {run.cited.identity for run in runs}
    for decision in decisions:
        for cited in decision.runs:
            if cited.identity not in present:
                raise BundleError(
                    f"The decision of {decision.who} rests on the run {cited.name}, which is not cited here.",
                    "Cite it, too: tick it under Runs, on the command line name its directory with --runs.",
                )


def _without_notes(request: BundleRequest) -> BundleRequest:
    content = request.content
    if content is not None:
        steps = tuple(replace(step, workbook=_bare_workbook(step.workbook)) for step in content.steps)
        content = replace(content, steps=steps, decisions=_bare(content.decisions))
    scenario = _silent(request.scenario)
    return replace(request, scenario=scenario, content=content, decisions=_bare(request.decisions))


def _bare_workbook(workbook: Workbook) -> Workbook:
    return replace(workbook, scenarios=tuple(map(_silent, workbook.scenarios)))


def _silent(scenario: Scenario) -> Scenario:
    return replace(scenario, note="", comments=())


def _bare(decisions: Sequence[Decision]) -> tuple[Decision, ...]:
    return tuple(replace(decision, note="") for decision in decisions)


def steps_text(steps: Sequence[LoggedStep]) -> bytes:
    """Return the edit log for people: time and label, one line per step."""
    return "".join(f"{step.at or '-'}\t{' '.join(step.label.split())}\n" for step in steps).encode()


def _at(now: datetime) -> str:
    return now.astimezone(UTC).isoformat(timespec="seconds")


def one_spelling(value: Any) -> bytes:
    """Return the only way in which the files of a bundle spell a JSON value."""
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()
