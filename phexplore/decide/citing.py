"""Runs that a decision rests on: complete, intact, and of exactly the parameters decided about."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from phexplore.errors import PhexploreError
from phexplore.model.approval import CitedRun
from phexplore.model.fields import read
from phexplore.model.fingerprint import fingerprint
from phexplore.model.issues import InputProblemsError
from phexplore.model.provenance import Provenance
from phexplore.model.scenario import Scenario
from phexplore.opening import read_bytes
from phexplore.runs.confidentiality import is_confidential, spec_to_leave
from phexplore.runs.disclosure import shared_summary
from phexplore.runs.spec import RunSpec
from phexplore.runs.states import RunState
from phexplore.runs.store import (
    MANIFEST_FILE,
    SHARED_SUMMARY_FILE,
    SUMMARY_FILE,
    load_spec,
    load_summary,
    state_of,
    verify_run,
)

_PLAIN = re.compile(r"[^A-Za-z0-9_.-]+")
_FACTS, _SUMMARY, _MANIFEST = "run.json", "summary.json", "manifest.json"
"""Names of the files of a run in a bundle."""


class CitationError(PhexploreError):
    """A run that a decision cannot rest on."""


@dataclass(frozen=True, slots=True)
class RunEvidence:
    """The evidence of a run in a bundle.

    Attributes:
        cited: name, identity and number of trials.
        facts: the content of ``run.json`` in the bundle, without the path of the data. For a run on confidential records, the seed
            and every entry that confirms a guess of the data are null.
        summary: the bytes of its ``summary.json``, of a run on confidential records those of ``summary-shared.json``.
        manifest: the bytes of its ``manifest.json``: checksums of every file of the run, on confidential records that of the summary.
    """

    cited: CitedRun
    facts: Mapping[str, Any]
    summary: bytes
    manifest: bytes

    @property
    def provenance(self) -> Provenance:
        """The origin of its data.

        Raises:
            ValueError: it is none that is known.
        """
        return read(Provenance, self.facts["data"]["provenance"])

    def files(self) -> dict[str, bytes]:
        """Return what a bundle contains of the run, by name."""
        facts = json.dumps(dict(self.facts), indent=1, ensure_ascii=False) + "\n"
        return {_FACTS: facts.encode(), _SUMMARY: self.summary, _MANIFEST: self.manifest}

    def content(self) -> dict[str, Any]:
        """Return the summary as JSON.

        Raises:
            CitationError: it is no JSON object.
        """
        try:
            value = json.loads(self.summary)
        except (ValueError, RecursionError) as error:
            raise CitationError(f"The summary of {self.cited.name} is no JSON.", "Start the run again.") from error
        if not isinstance(value, dict):
            raise CitationError(f"The summary of {self.cited.name} holds no object.", "Start the run again.")
        return value


_FACT_KEYS = frozenset({"name", "identity", "fingerprint", "trials", "seed", "mode", "reproducible", "program", "data"})
_DATA_KEYS = frozenset({"sha256", "bytes", "provenance"})
"""Keys of ``run.json`` in a bundle."""
_STATED = ((str, int), (type(None), type(None)))
"""What ``run.json`` says of data: their check sum and size, or of confidential data neither."""


def _facts(spec: RunSpec, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "identity": spec.identity,
        "fingerprint": fingerprint(spec.scenario),
        "trials": spec.trials,
        "seed": None if spec.salt else spec.seed,
        "mode": spec.mode.value,
        "reproducible": spec.is_reproducible,
        "program": spec.code_version,
        "data": {
            "sha256": None if spec.salt else spec.data.sha256,
            "bytes": None if spec.salt else spec.data.size_bytes,
            "provenance": spec.provenance.json(),
        },
    }


def evidence_of(directory: Path, scenario: Scenario) -> RunEvidence:
    """Return what is cited of a run.

    Args:
        directory: of the run.
        scenario: that is decided about.

    Raises:
        CitationError: the run is not complete, was altered, or simulated other parameters.
        PhexploreError: it cannot be read.
    """
    spec = load_spec(directory)
    name = _PLAIN.sub("-", directory.resolve().name).strip("-.") or "run"
    if (own := fingerprint(spec.scenario)) != (wanted := fingerprint(scenario)):
        raise CitationError(
            f"The run {directory} simulated other parameters: fingerprint {own[:12]}…, not {wanted[:12]}….",
            "Simulate the scenario as it is now, then cite that run.",
        )
    if state_of(directory) is not RunState.COMPLETE:
        raise CitationError(f"The run {directory} is not complete.", "Resume it, then cite it.")
    if issues := verify_run(directory):
        raise CitationError(f"{issues[0].place}: {issues[0].sentence}", "A run that was altered proves nothing.")
    return RunEvidence(
        CitedRun(name, spec.identity, spec.trials), _facts(spec, name), *_summary_to_show(directory, spec)
    )


def _summary_to_show(directory: Path, spec: RunSpec) -> tuple[bytes, bytes]:
    """Return the bytes of the summary and of the manifest that others may read.

    Raises:
        CitationError: only one with exact counts of records that are treated as confidential is there.
    """
    manifest = read_bytes(directory / MANIFEST_FILE)
    if not is_confidential(spec, load_summary(directory)):
        return read_bytes(directory / SUMMARY_FILE), manifest
    spec_to_leave(directory)
    with suppress(InputProblemsError, ValueError):
        content = read_bytes(directory / SHARED_SUMMARY_FILE)
        if json.loads(content) == shared_summary(load_summary(directory) or {}):
            sums = json.loads(manifest)
            shared = {SHARED_SUMMARY_FILE: sums["files"][SHARED_SUMMARY_FILE]}
            return content, (json.dumps({**sums, "files": shared}, indent=1, ensure_ascii=False) + "\n").encode()
    raise CitationError(
        f"The summary of {directory} contains exact counts or errors of records that are treated as confidential.",
        "Simulate again with this version, which writes a summary without them, or on synthetic data.",
    )


def evidence(directories: Sequence[Path], scenario: Scenario) -> tuple[RunEvidence, ...]:
    """Return what is cited of several runs; equal names get a number.

    Args:
        directories: of the runs.
        scenario: that is decided about.

    Raises:
        CitationError: as `evidence_of`, or a run is cited twice.
    """
    found: list[RunEvidence] = []
    for directory in directories:
        one = evidence_of(directory, scenario)
        if any(other.cited.identity == one.cited.identity for other in found):
            raise CitationError(f"The run {directory} is cited twice.", "Name it once.")
        name, number = one.cited.name, 2
        while any(other.cited.name == name for other in found):
            name, number = f"{one.cited.name}-{number}", number + 1
        cited = CitedRun(name, one.cited.identity, one.cited.trials)
        found.append(replace(one, cited=cited, facts={**one.facts, "name": name}))
    return tuple(found)


def cited_in_bundle(name: str, files: Mapping[str, bytes], parameters: str) -> RunEvidence:
    """Return a run from the files that a bundle contains of it.

    Args:
        name: of the run.
        files: contents by name, without the folder of the run.
        parameters: fingerprint of the parameters decided about.

    Raises:
        CitationError: a file is missing, or the files do not agree.
        ValueError, TypeError, KeyError, AttributeError: a file has another form.
    """
    if missing := [each for each in (_FACTS, _SUMMARY, _MANIFEST) if each not in files]:
        raise CitationError(f"Its file {missing[0]} is missing.", "Ask for the bundle again.")
    facts = json.loads(files[_FACTS])
    data = facts["data"]
    seed, trials = facts["seed"], facts["trials"]
    texts = (facts["name"], facts["identity"], facts["fingerprint"], facts["mode"], facts["program"])
    well_formed = all(isinstance(text, str) for text in texts) and facts["name"] == name and type(trials) is int
    well_formed &= (seed is None or type(seed) is int) and (type(data["sha256"]), type(data["bytes"])) in _STATED
    well_formed &= (facts.keys(), data.keys()) == (_FACT_KEYS, _DATA_KEYS)
    run = RunEvidence(CitedRun(name, facts["identity"], trials), facts, files[_SUMMARY], files[_MANIFEST])
    if not well_formed or run.files()[_FACTS] != files[_FACTS]:
        raise ValueError("run.json does not have the form of this version")
    sums = json.loads(run.manifest)
    closed_with = [sums["files"].get(each) for each in (SUMMARY_FILE, SHARED_SUMMARY_FILE)]
    entry = {"sha256": hashlib.sha256(run.summary).hexdigest(), "bytes": len(run.summary)}
    summary, stated = (
        run.content(),
        {**facts, "provenance": run.provenance.json(), "synthetic_data": run.provenance.is_synthetic},
    )
    keys = ("identity", "fingerprint", "mode", "seed", "reproducible", "trials", "provenance", "synthetic_data")
    wrong = [key for key in keys if summary[key] != stated[key]]
    for is_wrong, sentence in (
        (facts["fingerprint"] != parameters, "The run simulated other parameters."),
        (sums["identity"] != run.cited.identity, "The manifest of the run is that of another run."),
        (entry not in closed_with, "The summary is not the one that the run ended with."),
        (bool(wrong), f"The summary and run.json differ in {', '.join(wrong)}."),
    ):
        if is_wrong:
            raise CitationError(sentence, "Ask for the bundle again.")
    return run
