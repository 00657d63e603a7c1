"""``phexplore approve``, ``bundle`` and ``verify``: from the project on disk to a signed archive and back."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from phexplore.cli.printing import print_json, print_table, say, tell
from phexplore.cli.source import load_scenario
from phexplore.decide.approving import decision_about
from phexplore.decide.bundle import Bundle, BundleError, BundleRequest, make_bundle, signed, write_bundle
from phexplore.decide.citing import evidence
from phexplore.decide.signing import Signer, load_private_key, load_public_key, public_bytes
from phexplore.decide.verifying import Verification, alteration_lines, opened, read_bundle, verify
from phexplore.errors import UnknownNameError
from phexplore.files.project_file import ProjectContent, read_project, single, write_project
from phexplore.files.whole import read_text, write_whole
from phexplore.model.approval import Decision, DecisionError, Status, decided, status_of
from phexplore.model.fingerprint import fingerprint
from phexplore.model.scenario import Scenario
from phexplore.model.workbook import Workbook

ARCHIVE_START = b"PK\x03\x04"


def parse_status(text: str) -> Status:
    """Return the status of this word.

    Raises:
        UnknownNameError: no decision leads to it.
    """
    known = {status.value: status for status in Status if status is not Status.DRAFT}
    if (found := known.get(text.lower())) is None:
        raise UnknownNameError("status", text, list(known))
    return found


def project_of(text: str) -> tuple[Path, str] | None:
    """Return the project file that SCENARIO names and the scenario's name in it, None for anything else."""
    path, name = Path(text), ""
    if not path.exists() and "#" in text:
        before, _, name = text.rpartition("#")
        path = Path(before)
    return (path, name) if path.is_file() and path.suffix == ".phx" else None


def decide(
    text: str, status: Status, *, who: str, role: str, note: str, runs: Sequence[Path], out: Path | None
) -> tuple[Decision, Path]:
    """Record a decision about a scenario and return it with the project it is in.

    Raises:
        DecisionError: it does not follow, or there is no project to keep it in.
        PhexploreError: a run does not fit, or the project is open elsewhere.
    """
    scenario = load_scenario(text)
    made = decision_about(scenario, status, who=who, role=role, now=datetime.now(UTC), note=note, runs=runs)
    source = project_of(text)
    if source is None:
        if out is None:
            raise DecisionError(
                f"{text} is no project, so there is nothing to keep the decision in.",
                "Name a project with --out FILE.phx.",
            )
        content = single(Workbook((scenario,), scenario.name), f"Start from {text}", made.at)
        return made, _save(content, made, out)
    path, _ = source
    if out is None:
        from phexplore.document.project import Project

        project = Project.open(path)
        try:
            if project.recovered:
                raise DecisionError(
                    f"{path.name} has {project.recovered} edits that were never saved.", "Open it in the window first."
                )
            project.decide(made)
        finally:
            project.close()
        return made, path
    return made, _save(read_project(read_text(path), name=path.name), made, out)


def _save(content: ProjectContent, decision: Decision, out: Path) -> Path:
    from dataclasses import replace

    write_whole(out, write_project(replace(content, decisions=decided(content.decisions, decision))))
    return out


def bundle_or_sign(
    text: str,
    out: Path,
    *,
    runs: Sequence[Path],
    keys: Sequence[Path],
    names: Sequence[str],
    expected: Sequence[Path],
    clearance: str,
    keeps_notes: bool,
) -> Bundle:
    """Make a bundle of a scenario, or add signatures to a bundle, and write it.

    Raises:
        BundleError: it cannot be made, or was read back otherwise than written.
        PhexploreError: a key, a run or the scenario does not fit.
    """
    private = [load_private_key(key, _ask) for key in keys]
    now = datetime.now(UTC)
    if Path(text).is_file() and Path(text).read_bytes()[:4] == ARCHIVE_START:
        if not keys:
            raise BundleError(
                f"{text} is a bundle already.", "Add a signature with --sign KEY, or check it: phexplore verify."
            )
        if runs or expected or clearance:
            raise BundleError("Nothing but signatures can be added to a bundle.", "Make a new one of the scenario.")
        bundle = opened(read_bundle(Path(text)))
    else:
        publics = [public_bytes(key) for key in private] + [load_public_key(path) for path in expected]
        bundle = make_bundle(
            _request(text, runs, tuple(dict.fromkeys(publics)), clearance, now, keeps_notes=keeps_notes)
        )
    for place, (key, path) in enumerate(zip(private, keys, strict=True)):
        bundle = signed(bundle, key, _signer(names[place] if place < len(names) else path.stem), now)
    write_bundle(bundle, out)
    return bundle


def _request(
    text: str, runs: Sequence[Path], signers: tuple[bytes, ...], clearance: str, now: datetime, *, keeps_notes: bool
) -> BundleRequest:
    scenario = load_scenario(text)
    source = project_of(text)
    content = None if source is None else read_project(read_text(source[0]), name=source[0].name)
    return BundleRequest(
        scenario,
        now,
        content,
        () if content is None else content.decisions,
        evidence(runs, scenario),
        signers,
        clearance,
        keeps_notes,
    )


def _signer(text: str) -> Signer:
    name, _, role = text.partition(",")
    return Signer(name.strip(), role.strip())


def _ask(name: str) -> bytes | None:
    if not sys.stdin.isatty():
        return None
    from getpass import getpass

    return getpass(f"Passphrase of {name}: ").encode()


def verify_file(path: Path, trust: Sequence[Path]) -> Verification:
    """Check a bundle on disk.

    Raises:
        PhexploreError: a trusted key cannot be read, or the file is too large for any bundle.
    """
    trusted = {load_public_key(key) for key in trust} if trust else None
    return verify(read_bundle(path), trusted)


def print_verification(result: Verification, *, with_trust: bool, as_json: bool) -> None:
    """Print what was found."""
    if as_json:
        print_json(verification_json(result))
        return
    for line in alteration_lines(result.alterations):
        tell(line)
    if result.is_intact:
        manifest = result.manifest
        tell(f"Intact: {manifest['scenario']}, {manifest['status']}, made {manifest['made']}")
        tell(f"Parameters {manifest['fingerprint']}")
        for note in manifest["notes"]:
            tell(f"Note: {note}")
    if result.signatures:
        rows = [(s.signer.name, s.signer.role, s.at, s.key_id[:16]) for s in result.signatures]
        print_table(("signed by", "role", "at", "key"), rows)
        if not with_trust:
            say("Whom a key belongs to, nobody but you can know: give the keys you trust with --trust.")
    elif result.is_intact:
        tell("Unsigned.")
    for key in result.awaited:
        tell(f"Not signed yet by the key {key}")


def verification_json(result: Verification) -> dict[str, Any]:
    """Return a verification as JSON."""
    return {
        "intact": result.is_intact,
        "alterations": [{"part": a.part, "sentence": a.sentence} for a in result.alterations],
        "status": result.manifest.get("status"),
        "scenario": result.manifest.get("scenario"),
        "fingerprint": result.manifest.get("fingerprint"),
        "signatures": [
            {"signer": s.signer.name, "role": s.signer.role, "at": s.at, "key": s.key_id} for s in result.signatures
        ],
        "awaited": list(result.awaited),
    }


def status_line(scenario: Scenario, decisions: Sequence[Decision]) -> str:
    """Return how far a scenario has come."""
    return f"{scenario.name}: {status_of(decisions, fingerprint(scenario)).value}"
