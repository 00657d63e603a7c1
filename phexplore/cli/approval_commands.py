"""``phexplore bundle`` and ``verify``: from the project on disk to a signed archive and back."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from phexplore.decide.bundle import BundleError
from phexplore.decide.bundle_jobs import (
    BundleReport,
    KeyFile,
    SigningCommand,
    SignJob,
    WriteJob,
    carry_out,
    owners_of,
    report_headline,
    report_lines,
)
from phexplore.decide.deciding import project_of
from phexplore.decide.signing import Signer, load_private_key
from phexplore.decide.trusted_keys import trusted_keys
from phexplore.decide.verifying import Verification
from phexplore.files.atomic_files import read_text
from phexplore.files.project_file import read_project, single, write_project
from phexplore.model.fingerprint import fingerprint
from phexplore.model.workbook import Workbook
from phexplore.report.terminal import print_json, tell
from phexplore.systems.sources import load_scenario

ARCHIVE_START = b"PK\x03\x04"


def bundle_or_sign(
    text: str,
    out: Path,
    *,
    runs: Sequence[Path],
    keys: Sequence[Path],
    names: Sequence[str],
    commands: Sequence[str],
    expected: Sequence[Path],
    clearance: str,
    keeps_notes: bool,
) -> BundleReport:
    """Make a bundle of a scenario, or add signatures to a bundle, and write it.

    Args:
        text: scenario as on the command line, or a bundle.
        out: bundle to write.
        runs: directories of runs to cite.
        keys: private keys that sign.
        names: "Name, role" of each signature, those of keys first.
        commands: that sign, for cards and agents.
        expected: public keys of those who sign later.
        clearance: number of the review board.
        keeps_notes: whether free text goes into the bundle.

    Raises:
        BundleError: it cannot be made, or was read back otherwise than written.
        PhexploreError: a key, a run or the scenario does not fit.
    """
    stems = [path.stem for path in keys] + [""] * len(commands)
    signers = [_signer(names[place] if place < len(names) else stem) for place, stem in enumerate(stems)]
    by_file = [
        KeyFile(path, signer, _passphrase(path)) for path, signer in zip(keys, signers[: len(keys)], strict=True)
    ]
    by_command = map(SigningCommand, commands, signers[len(keys) :])
    signing: tuple[KeyFile | SigningCommand, ...] = (*by_file, *by_command)
    if _is_archive(Path(text)):
        if not signing:
            raise BundleError(
                f"{text} is a bundle already.", "Add a signature with --sign KEY, or check it: phexplore verify."
            )
        if runs or expected or clearance:
            raise BundleError("Only signatures can be added to a bundle.", "Make a new bundle of the scenario.")
        made = carry_out(SignJob(Path(text), out, signing), lambda *_: None)
    else:
        scenario, source = load_scenario(text), project_of(text)
        if source is not None:
            content = read_project(read_text(source[0]), name=source[0].name)
        else:
            now = datetime.now(UTC).isoformat(timespec="seconds")
            content = single(Workbook((scenario,), scenario.name), f"Bundle {scenario.name}", now)
        project = write_project(content)
        job = WriteJob(project, scenario.name, out, tuple(runs), signing, tuple(expected), clearance, keeps_notes)
        made = carry_out(job, lambda *_: None)
    if not isinstance(made, BundleReport):
        raise TypeError(type(made).__name__)
    return made


def _is_archive(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(ARCHIVE_START)) == ARCHIVE_START


def _signer(text: str) -> Signer:
    name, _, role = text.partition(",")
    return Signer(name.strip(), role.strip())


def _passphrase(path: Path) -> bytes | None:
    """Return the passphrase of a key, None where it has none; it is asked for in a terminal."""
    given: list[bytes] = []

    def ask(name: str) -> bytes | None:
        if not sys.stdin.isatty():
            return None
        from getpass import getpass

        given.append(getpass(f"Passphrase of {name}: ").encode())
        return given[-1]

    load_private_key(path, ask)
    return given[-1] if given else None


def print_report(report: BundleReport) -> None:
    """Print what was found; text of the bundle is shown so that it cannot pass for the program's own lines."""
    tell(report_headline(report)[0])
    for _, sentence in report_lines(report):
        tell(sentence)


def print_verification_json(result: Verification) -> None:
    """Print a verification as JSON."""
    known = owners_of(trusted_keys())
    statement = result.statement if result.is_intact else None
    found = {
        "intact": result.is_intact,
        "status": result.status or None,
        "scenario": None if statement is None else statement.scenario.name,
        "fingerprint": None if statement is None else fingerprint(statement.scenario),
        "signatures": [
            {
                "key": one.signature.key_id,
                "name": one.signature.signer.name,
                "role": one.signature.signer.role,
                "at": one.signature.at,
                "valid": one.is_valid,
                "trusted": one.is_trusted,
                "known_as": known.get(one.signature.public_key),
            }
            for one in result.checked
        ],
        "findings": [{"part": one.part, "sentence": one.sentence} for one in result.findings],
    }
    print_json(found)
