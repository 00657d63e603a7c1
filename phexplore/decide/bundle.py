"""The bundle of a decision, format version 1: one deterministic archive of values with the signatures over them.

Contents: the parameters (also as production reads them), their forecast, the decisions, the project with its edit log, the
summaries of cited runs, a manifest with the SHA-256 of every file, and signatures. Nothing in a bundle is rendered: whoever
verifies it recomputes the values and renders the certificate from them.
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
from phexplore.decide.archive import is_safe_name, pack
from phexplore.decide.citing import RunEvidence
from phexplore.decide.signing import Signature, Signer, sign
from phexplore.errors import PhexploreError
from phexplore.figures.wording import counted
from phexplore.files.approval_json import encode_decisions
from phexplore.files.atomic_files import write_atomically
from phexplore.files.project_file import LoggedStep, ProjectContent, single, write_project
from phexplore.files.scenario_json import encode_scenario
from phexplore.model.approval import Decision, Status, status_of
from phexplore.model.fingerprint import fingerprint
from phexplore.model.issues import has_errors
from phexplore.model.moments import zoned_text
from phexplore.model.numbers import exact_text
from phexplore.model.scenario import Scenario
from phexplore.model.workbook import Workbook
from phexplore.systems.registry import check, handover, loss_of, system_of
from phexplore.text.quoted import quote

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FORMAT, VERSION = "phexplore bundle", 1
MANIFEST, SUMS = "manifest.json", "SHA256SUMS"
SCENARIO, FORECAST, DECISIONS, PROJECT, LOG = (
    "scenario.json", "forecast.json", "decisions.json", "log/project.phx", "log/steps.txt",
)  # fmt: skip
PARAMETERS, RUNS, SIGNATURES = "parameters/", "runs/", "signatures/"
_PROSE = frozenset({"errata", "note"})
"""Keys of the forecast whose sentences explain values; a bundle contains values."""
FINGERPRINT_STATED, RUN_STATED, TOTAL_STATED = "Parameters", "Run", "Total "
"""Names of lines of a statement: the fingerprint, a cited run, and the start of that of the privacy loss."""


class BundleError(PhexploreError):
    """A bundle that cannot be made."""


@dataclass(frozen=True, slots=True)
class BundleRequest:
    """Everything that the contents of a bundle are computed from.

    Attributes:
        scenario: the parameters decided about.
        now: when the bundle is made, with its zone.
        content: the project with its edit log and decisions; None for a scenario without one.
        runs: cited runs.
        signers: SHA-256 of the public keys that are expected to sign.
        clearance: number of the review board.
        keeps_notes: whether free text of scenarios and decisions is included.
    """

    scenario: Scenario
    now: datetime
    content: ProjectContent | None = None
    runs: tuple[RunEvidence, ...] = ()
    signers: tuple[str, ...] = ()
    clearance: str = ""
    keeps_notes: bool = True

    def __post_init__(self) -> None:
        """Keep the number as it was typed."""
        quote(self.clearance)


@dataclass(frozen=True, slots=True)
class Statement:
    """The statement that a bundle makes, computed from its inputs, which a signer signs and the certificate presents.

    Attributes:
        scenario: the parameters.
        status: the status that the decisions give them.
        decisions: about exactly these parameters, oldest first.
        runs: the runs they rest on.
        parameters: the production files by name.
        root: the file that production is started with.
        signers: SHA-256 of the public keys that are expected to sign.
        clearance: number of the review board, "" when there is none.
        made: when the bundle was made.
        notes: notes for whoever hands the parameters over.
        files: contents of the bundle by name, without manifest, signatures and sums.
    """

    scenario: Scenario
    status: Status
    decisions: tuple[Decision, ...]
    runs: tuple[RunEvidence, ...]
    parameters: Mapping[str, str]
    root: str
    signers: tuple[str, ...]
    clearance: str
    made: datetime
    notes: tuple[str, ...]
    files: Mapping[str, bytes]

    def lines(self) -> list[tuple[str, str]]:
        """Return name and text of everything that is stated; text of people is as they wrote it."""
        loss = loss_of(self.scenario)
        found = [
            ("Scenario", self.scenario.name),
            ("Status", self.status.value),
            (f"{TOTAL_STATED}{loss.framework.symbol}", exact_text(loss.total)),
            (FINGERPRINT_STATED, fingerprint(self.scenario)),
            ("Made", zoned_text(self.made)),
        ]
        if self.clearance:
            found.append(("Clearance", self.clearance))
        for one in self.decisions:
            note = f": {one.note}" if one.note else ""
            found.append(("Decision", f"{one.status.value} by {one.who}, {one.role}, {zoned_text(one.at)}{note}"))
        for run in self.runs:
            trials = counted(run.cited.trials, "trial")
            found.append((RUN_STATED, f"{run.cited.name}, {trials}, {run.provenance.words}"))
        return found


@dataclass(frozen=True, slots=True)
class Bundle:
    """The files of a bundle before they are packed.

    Attributes:
        files: everything but signatures and sums, by name.
        signatures: in the order they were given.
    """

    files: Mapping[str, bytes]
    signatures: tuple[Signature, ...] = ()

    @property
    def manifest(self) -> bytes:
        """The bytes that signatures cover."""
        return self.files[MANIFEST]

    def packed(self) -> bytes:
        """Return the archive."""
        files = dict(self.files)
        for signature in self.signatures:
            own, openssh = signature_names(signature)
            files |= {own: signature.encoded(), openssh: signature.over_manifest}
        return pack({**files, SUMS: sums(files)})


def signature_names(signature: Signature) -> tuple[str, str]:
    """Return the names of the two files of a signature: the signed name, role and time; the manifest signed for OpenSSH."""
    stem = f"{SIGNATURES}{signature.key_id[:16]}"
    return f"{stem}.json", f"{stem}.sig"


def sums(files: Mapping[str, bytes]) -> bytes:
    """Return SHA-256 sums in the form that ``sha256sum -c`` reads."""
    lines = [f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files) if name != SUMS]
    return "".join(lines).encode()


def stated(request: BundleRequest) -> Statement:
    """Compute the contents of a bundle.

    Raises:
        PhexploreError: the production files cannot contain exactly what was chosen.
    """
    scenario, own = request.scenario, fingerprint(request.scenario)
    content = request.content or single(
        Workbook((scenario,), scenario.name), f"Bundle {scenario.name}", _at(request.now)
    )
    decisions = tuple(decision for decision in content.decisions if decision.fingerprint == own)
    parameters, root, notes = handover(scenario).files(scenario)
    files: dict[str, bytes] = {
        SCENARIO: one_spelling(encode_scenario(scenario)),
        FORECAST: one_spelling(_without_prose(system_of(scenario).forecast_json(scenario, None))),
        DECISIONS: one_spelling(encode_decisions(decisions)),
        PROJECT: write_project(content),
        LOG: steps_text(content.steps),
    }
    files |= {f"{PARAMETERS}{name}": text.encode() for name, text in parameters.items()}
    for run in request.runs:
        files |= {f"{RUNS}{run.cited.name}/{name}": data for name, data in run.files().items()}
    notes += [f"{run.cited.name}: {run.content()['remark']}" for run in request.runs if "left_out" in run.content()]
    return Statement(
        scenario,
        status_of(decisions, own),
        decisions,
        request.runs,
        parameters,
        root,
        request.signers,
        request.clearance,
        request.now,
        tuple(notes),
        files,
    )


def _without_prose(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_prose(inner) for key, inner in value.items() if key not in _PROSE}
    return list(map(_without_prose, value)) if isinstance(value, list | tuple) else value


def make_bundle(request: BundleRequest) -> Bundle:
    """Return the bundle of a request.

    Raises:
        BundleError: the scenario has errors, or a decision's run is not among those cited.
        PhexploreError: the production files cannot contain exactly what was chosen.
    """
    if errors := [issue for issue in check(request.scenario) if has_errors([issue])]:
        raise BundleError(f"{errors[0].place}: {errors[0].sentence}", errors[0].remedy)
    statement = stated(request if request.keeps_notes else _without_notes(request))
    if missing := uncited(statement):
        raise BundleError(
            missing[0], "Cite it, too: select it under Runs; on the command line, name its directory with --runs."
        )
    if wrong := [name for name in statement.files if not is_safe_name(name)]:
        raise BundleError(
            f"The file name {wrong[0]!r} cannot be included in a bundle.", "Rename the file and import it again."
        )
    return Bundle({**statement.files, MANIFEST: one_spelling(manifest_of(statement, statement.files))})


def manifest_of(statement: Statement, files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the content of the manifest.

    Args:
        statement: of the bundle.
        files: that it lists.
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "program": __version__,
        "made": _at(statement.made),
        "scenario": statement.scenario.name,
        "fingerprint": fingerprint(statement.scenario),
        "status": statement.status.value,
        "clearance": statement.clearance,
        "root": f"{PARAMETERS}{statement.root}",
        "signers": list(statement.signers),
        "files": {
            name: {"sha256": hashlib.sha256(files[name]).hexdigest(), "bytes": len(files[name])}
            for name in sorted(files)
        },
    }


def uncited(statement: Statement) -> list[str]:
    """Return a sentence for every run that a decision rests on and that is not among the cited runs."""
    present = {(run.cited.identity, run.cited.trials) for run in statement.runs}
    return [
        f"The decision of {decision.who} rests on the run {cited.name}, which is not in the bundle."
        for decision in statement.decisions
        for cited in decision.runs
        if (cited.identity, cited.trials) not in present
    ]


def signed(bundle: Bundle, key: Ed25519PrivateKey | str, signer: Signer, now: datetime) -> Bundle:
    """Return the bundle with one more signature; a second one of the same key replaces the first.

    Args:
        bundle: to sign.
        key: private key of the signer, or a command that signs: it reads the message and writes the signature.
        signer: name and role.
        now: time of the signature, with offset.

    Raises:
        BundleError: the bundle lists its signers, and this key is not among them.
        SigningError, SshSignatureError: the signer has no name, or the command makes no signature.
    """
    made = sign(bundle.manifest, key, signer, _at(now))
    expected = json.loads(bundle.manifest)["signers"]
    if expected and made.key_id not in expected:
        raise BundleError(
            f"The bundle lists the keys that sign it, and this key of {signer.name} is not among them.",
            "Write the bundle again, with this public key among those who sign later.",
        )
    others = tuple(other for other in bundle.signatures if other.key_id != made.key_id)
    return replace(bundle, signatures=(*others, made))


def write_bundle(bundle: Bundle, out: Path) -> None:
    """Write a bundle, read it back, and compare.

    Args:
        bundle: to write.
        out: of the archive, replaced as a whole.

    Raises:
        WriteError: it cannot be written.
        BundleError: the file does not contain what was written.
    """
    content = bundle.packed()
    write_atomically(out, content)
    if out.read_bytes() != content:
        raise BundleError(
            f"{out} was read back otherwise than it was written.",
            "The disk is at fault. Write the bundle again, elsewhere; do not hand this one over.",
        )


def _without_notes(request: BundleRequest) -> BundleRequest:
    content = request.content
    if content is not None:
        steps = tuple(replace(step, workbook=_bare_workbook(step.workbook)) for step in content.steps)
        content = replace(content, steps=steps, decisions=_bare(content.decisions))
    return replace(request, scenario=_silent(request.scenario), content=content)


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
    """Return the only way in which a bundle spells a JSON value."""
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()
