"""``phexplore approve``, ``bundle`` and ``verify``: from the project on disk to a signed archive and back."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from phexplore.decide.agreement import Statement
from phexplore.decide.bundle import Bundle, BundleError, BundleRequest, make_bundle, signed, signed_with, write_bundle
from phexplore.decide.citing import evidence
from phexplore.decide.deciding import project_of
from phexplore.decide.signing import Signer, key_of_command, load_private_key, load_public_key, public_bytes
from phexplore.decide.trusted_keys import trusted_keys
from phexplore.decide.verifying import CheckedSignature, Verification, opened, read_bundle
from phexplore.files.atomic_files import read_text
from phexplore.files.project_file import read_project
from phexplore.model.fingerprint import fingerprint
from phexplore.model.moments import zoned_text
from phexplore.report.terminal import print_json, print_table, say, tell
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
) -> Bundle:
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
    private = [load_private_key(key, _ask) for key in keys]
    now = datetime.now(UTC)
    if _is_archive(Path(text)):
        if not keys and not commands:
            raise BundleError(
                f"{text} is a bundle already.", "Add a signature with --sign KEY, or check it: phexplore verify."
            )
        if runs or expected or clearance:
            raise BundleError("Nothing but signatures can be added to a bundle.", "Make a new one of the scenario.")
        bundle = opened(read_bundle(Path(text)), _say_statement)
    else:
        publics = [public_bytes(key) for key in private] + [load_public_key(path) for path in expected]
        publics += map(key_of_command, commands)
        bundle = make_bundle(
            _request(text, runs, tuple(dict.fromkeys(publics)), clearance, now, keeps_notes=keeps_notes)
        )
        bundle = replace(opened(bundle.packed(), _say_statement), notes=bundle.notes) if keys or commands else bundle
    for place, (key, path) in enumerate(zip(private, keys, strict=True)):
        bundle = signed(bundle, key, _signer(names[place] if place < len(names) else path.stem), now)
    for place, command in enumerate(commands, start=len(keys)):
        bundle = signed_with(bundle, command, _signer(names[place] if place < len(names) else ""), now)
    write_bundle(bundle, out)
    return bundle


def _is_archive(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(ARCHIVE_START)) == ARCHIVE_START


def _say_statement(statement: Statement) -> None:
    say("Signed is, recomputed from the parameters:")
    for name, text in statement.lines():
        say(f"  {name}: {text}")


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


def print_verification(result: Verification, *, as_json: bool) -> None:
    """Print what was found; text of the bundle is shown so that it cannot pass for the program's own lines.

    Args:
        result: of the check.
        as_json: whether to print JSON.
    """
    known = {key.public_key: key.name for key in trusted_keys()}
    if as_json:
        print_json(verification_json(result, known))
        return
    for finding in result.findings:
        tell(f"{finding.part}: {finding.sentence}")
    if result.is_intact and result.statement is not None:
        tell("Intact: every part is as handed over, and all parts agree.")
        for name, text in result.statement.lines():
            tell(f"{name}: {text}")
        for note in result.statement.notes:
            tell(f"Note: {note}")
        if result.statement.uncompared:
            tell(f"Note: {result.statement.uncompared}")
    if result.checked:
        # Where other parts were altered, a signature still fits the list of files: that is all it is worth then.
        but = "" if result.is_intact else "; it fits the manifest, but the bundle is not intact"
        print_table(
            ("signed by", "role", "at", "key", "which is"),
            [(c.signature.signer.name, c.signature.signer.role, zoned_text(c.signature.at), c.signature.key_id,
              key_standing(c, known) + (but if c.is_valid else "")) for c in result.checked],
        )  # fmt: skip
        if any(one.is_valid and not one.is_trusted and one.signature.public_key not in known for one in result.checked):
            say(
                "A name in a signature is what its signer wrote. Check with the signer, by telephone, that the key is theirs; then "
                "name it with --trust, or keep it: phexplore keys add."
            )
    elif result.is_intact:
        tell("Unsigned.")


def key_standing(checked: CheckedSignature, known: Mapping[bytes, str]) -> str:
    """Return what the checker knows of the key of a signature, in words.

    Args:
        checked: a signature that was checked.
        known: name of each key in the store.
    """
    if not checked.is_valid:
        return "not valid"
    name = known.get(checked.signature.public_key)
    words = "trusted" if checked.is_trusted else "an unknown key" if name is None else "known"
    return f"{words}: {name}" if name is not None else words


def verification_json(result: Verification, known: Mapping[bytes, str]) -> dict[str, Any]:
    """Return a verification as JSON.

    Args:
        result: what was found.
        known: names of the keys in the user's store.
    """
    statement = result.statement if result.is_intact else None
    return {
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
