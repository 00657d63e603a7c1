"""Whether the parts of a bundle agree: each is made again from the parameters and compared by the values of its format.

Check sums prove that parts are unchanged since somebody summed them up, not that they belong together. Nothing a bundle says about
itself is believed here: not its status, its forecast, its certificate, nor what its manifest lists.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from phexplore.decide.bundle import (
    CERTIFICATE_HTML,
    CERTIFICATE_PDF,
    DECISIONS,
    FORECAST,
    LOG,
    MANIFEST,
    PARAMETERS,
    PROJECT,
    RUNS,
    SCENARIO,
    certificate_html,
    certificate_pdf,
    one_spelling,
    steps_text,
)
from phexplore.decide.bundle_values import forecast_differences, is_contained
from phexplore.decide.certificate import CertificateFacts
from phexplore.decide.certificate_reading import certificate_differences
from phexplore.decide.citing import RunEvidence
from phexplore.errors import PhexploreError
from phexplore.files.approval_json import decode_decisions, encode_decisions
from phexplore.files.project_file import ProjectContent, read_project
from phexplore.files.scenario_json import OWN_FILES, decode_scenario, encode_scenario
from phexplore.model.approval import CitedRun, Decision, status_of
from phexplore.model.fingerprint import fingerprint
from phexplore.model.moments import zoned_text
from phexplore.model.numbers import scientific_text
from phexplore.model.scenario import Scenario
from phexplore.runs.store import SHARED_SUMMARY_FILE, SUMMARY_FILE
from phexplore.systems.registry import handover, system_of

_VERSION_OF_OWN_FILES = 4
"""Until then no bundle took along the user's own files, this one is of those that did, and later ones are of both."""
_VERSION_OF_WHOLE_DELTA = 5
"""Since then every certificate prints all digits of δ: fewer say that less can go wrong than may."""
_MANIFEST_KEYS = frozenset(
    [
        "format",
        "version",
        "program",
        "made",
        "scenario",
        "fingerprint",
        "status",
        "clearance",
        "root",
        "signers",
        "notes",
        "files",
        "self",
    ]
)
_KEY_ID = re.compile(r"[0-9a-f]{64}")
_RUN_FILES = ("run.json", "summary.json", "manifest.json")
_UNREADABLE = (PhexploreError, ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError)
_MOST_DISAGREEMENTS = 50
_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)
_PRODUCER = re.compile(rb'pdf:Producer="([^"]{1,80})"')
_LARGEST_STREAM = 2**20
FINGERPRINT_STATED = "Parameters"
"""What a stated fingerprint is called."""
RUN_STATED = "Run"
"""What a cited run is called; its directory, trials and data follow, with a comma between."""
TOTAL_STATED = "Total "
"""How a stated privacy loss begins; its symbol follows."""


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
class Statement:
    """What a bundle states, read from its parts and recomputed: what somebody signs.

    Attributes:
        scenario: the parameters.
        status: how far they have come, by the decisions.
        decisions: about exactly these parameters, oldest first.
        runs: what they rest on.
        clearance: number of the review board.
        made: when the bundle says it was made, ISO 8601.
        budget: symbol and exact total of the privacy loss.
        notes: what this release says about handing the parameters over.
        uncompared: why the certificate as PDF could not be compared here, "" when it was or there is none. Nobody signs then.
    """

    scenario: Scenario
    status: str
    decisions: tuple[Decision, ...]
    runs: tuple[RunEvidence, ...]
    clearance: str
    made: str
    budget: tuple[str, str]
    notes: tuple[str, ...]
    uncompared: str = ""

    def lines(self) -> list[tuple[str, str]]:
        """Return name and text of everything that is stated, for people; texts are as they stand in the files."""
        found = [
            ("Scenario", self.scenario.name),
            ("Status", self.status),
            (f"{TOTAL_STATED}{self.budget[0]}", self.budget[1]),
            (FINGERPRINT_STATED, fingerprint(self.scenario)),
            ("Made", zoned_text(self.made)),
        ]
        if self.clearance:
            found.append(("Clearance", self.clearance))
        found += [
            (
                "Decision",
                f"{one.status.value} by {one.who}, {one.role}, {zoned_text(one.at)}"
                + (f": {one.note}" if one.note else ""),
            )
            for one in self.decisions
        ]
        found += [
            (
                RUN_STATED,
                f"{run.cited.name}, {run.cited.trials} trials, data {'synthetic' if run.is_synthetic else 'not marked synthetic'}",
            )
            for run in self.runs
        ]
        return found


def disagreements(
    files: Mapping[str, bytes], manifest: Mapping[str, Any]
) -> tuple[Statement | None, tuple[Alteration, ...]]:
    """Make every part of a bundle again from its parameters and compare.

    Args:
        files: of the bundle, those its manifest lists; sums and spelling of the manifest are checked already.
        manifest: its content.

    Returns:
        What the bundle states, None when its parameters cannot be read; and what does not agree.
    """
    try:
        scenario = _scenario(files)
        parameters, root, notes = handover(scenario).files(scenario)
        forecast = system_of(scenario).forecast_json(scenario, None)
    except _UNREADABLE as error:
        return None, (Alteration(SCENARIO, f"The parameters cannot be read: {_reason(error)}."),)
    own = fingerprint(scenario)
    found: list[Alteration] = []
    stated = {name.removeprefix(PARAMETERS): data for name, data in files.items() if name.startswith(PARAMETERS)}
    found += [
        Alteration(f"{PARAMETERS}{name}", "The file does not say what the scenario of the bundle says.")
        for name in sorted({*parameters, *stated})
        if name not in parameters or stated.get(name) != parameters[name].encode()
    ]
    found += _forecast_alterations(files, forecast, manifest["version"])
    decisions, wrong = _decisions(files, own)
    found += wrong
    found += _project_alterations(files, scenario, decisions)
    runs, wrong = _runs(files, own, decisions)
    found += wrong
    status = status_of(decisions, own)
    found += _manifest_alterations(manifest, files, scenario, f"{PARAMETERS}{root}", status.value)
    is_own = any(name.startswith(f"{OWN_FILES}/") and name.endswith(".toml") for name in parameters)
    if manifest["version"] <= _VERSION_OF_OWN_FILES and is_own is not (manifest["version"] == _VERSION_OF_OWN_FILES):
        found.append(Alteration(MANIFEST, "The manifest states another version than bundles of such parameters have."))
    made = _moment(manifest)
    privacy = forecast["privacy"]
    symbol, key = ("ρ", "rho") if privacy["rho"] is not None else ("ε", "pure_epsilon")
    clearance = str(manifest.get("clearance", ""))
    statement = Statement(
        scenario,
        status.value,
        decisions,
        runs,
        clearance,
        str(manifest.get("made", "")),
        (symbol, str(privacy.get(f"bounded_{key}") or privacy[key])),
        tuple(notes),
    )
    if made is not None and not any(one.part.startswith((DECISIONS, RUNS)) for one in found):
        facts = CertificateFacts(
            scenario,
            status,
            decisions,
            runs,
            parameters,
            root,
            tuple(map(str, manifest["signers"])),
            clearance,
            made,
            manifest["version"],
        )
        found += _certificate_alterations(files, facts, str(manifest.get("program", "")))
        if CERTIFICATE_PDF in files and not found:
            is_contradiction, reason = _compare_pdf(files, made, manifest["version"])
            statement = replace(statement, uncompared=reason)
            if is_contradiction:
                found.append(
                    Alteration(
                        CERTIFICATE_PDF,
                        "It is not what is printed of the certificate here; other fonts can be a reason.",
                    )
                )
    return statement, tuple(found[:_MOST_DISAGREEMENTS])


def _reason(error: BaseException) -> str:
    text = error.sentence if isinstance(error, PhexploreError) else str(error)
    return (text or type(error).__name__).rstrip(".")[:300]


def _json_of(files: Mapping[str, bytes], name: str) -> Any:
    """Return the value of a file in its one spelling: no key twice, nothing beside it.

    Raises:
        ValueError, RecursionError: it is not spelled so.
    """
    value = json.loads(files[name])
    if one_spelling(value) != files[name]:
        raise ValueError("it is not spelled as bundles are")
    return value


def _scenario(files: Mapping[str, bytes]) -> Scenario:
    value = _json_of(files, SCENARIO)
    scenario = decode_scenario(value, SCENARIO)
    if not is_contained(value, json.loads(one_spelling(encode_scenario(scenario)))):
        raise ValueError("they say more than parameters do")
    return scenario


def _forecast_alterations(
    files: Mapping[str, bytes], forecast: Mapping[str, Any], version: int
) -> Iterator[Alteration]:
    try:
        stated = _json_of(files, FORECAST)
    except _UNREADABLE as error:
        yield Alteration(FORECAST, f"The forecast cannot be read: {_reason(error)}.")
        return
    wrong = list(dict.fromkeys(forecast_differences(stated, json.loads(one_spelling(dict(forecast))), version)))
    if wrong:
        more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        yield Alteration(FORECAST, f"The forecast is not that of the parameters: {', '.join(wrong[:3])}{more}.")


def _decisions(files: Mapping[str, bytes], own: str) -> tuple[tuple[Decision, ...], list[Alteration]]:
    try:
        value = _json_of(files, DECISIONS)
        decisions = decode_decisions(value, DECISIONS)
        is_plain = is_contained(value, json.loads(one_spelling(encode_decisions(decisions))))
    except _UNREADABLE as error:
        return (), [Alteration(DECISIONS, f"The decisions cannot be read: {_reason(error)}.")]
    if not is_plain:
        return decisions, [Alteration(DECISIONS, "The file says more than decisions do.")]
    if any(decision.fingerprint != own for decision in decisions):
        return decisions, [Alteration(DECISIONS, "A decision is about other parameters than these.")]
    return decisions, []


def _project_alterations(
    files: Mapping[str, bytes], scenario: Scenario, decisions: Sequence[Decision]
) -> Iterator[Alteration]:
    try:
        content = read_project(files[PROJECT].decode("utf-8"), name=PROJECT)
        steps = steps_text(content.steps)
    except _UNREADABLE as error:
        yield Alteration(PROJECT, f"The project cannot be read: {_reason(error)}.")
        return
    if content.issues:
        yield Alteration(PROJECT, f"The project is damaged: {content.issues[0].sentence}")
    if not _holds(content, scenario):
        yield Alteration(PROJECT, "The project does not hold the parameters of the bundle.")
    own = fingerprint(scenario)
    if tuple(one for one in content.decisions if one.fingerprint == own) != tuple(decisions):
        yield Alteration(PROJECT, "The decisions of the project about these parameters are not those of the bundle.")
    if files[LOG] != steps:
        yield Alteration(LOG, "The log does not list the steps of the project.")


def _holds(content: ProjectContent, scenario: Scenario) -> bool:
    wanted = encode_scenario(scenario)
    return any(encode_scenario(other) == wanted for other in content.workbook.scenarios)


def _runs(
    files: Mapping[str, bytes], own: str, decisions: Sequence[Decision]
) -> tuple[tuple[RunEvidence, ...], list[Alteration]]:
    """Return the runs in the order of the certificate, and what does not fit between their files and the decisions."""
    names = list(dict.fromkeys(name.split("/")[1] for name in files if name.startswith(RUNS)))
    runs: list[RunEvidence] = []
    found: list[Alteration] = []
    for name in names:
        folder = f"{RUNS}{name}/"
        try:
            run = _run(files, name)
            reason = _run_problem(run, own)
        except _UNREADABLE as error:
            found.append(Alteration(folder, f"The run cannot be read: {_reason(error)}."))
            continue
        runs.append(run)
        if reason:
            found.append(Alteration(folder, reason))
    cited = {(run.cited.identity, run.cited.trials) for run in runs}
    found += [
        Alteration(
            DECISIONS, f"The decision of {decision.who} rests on the run {one.name}, which is not in the bundle."
        )
        for decision in decisions
        for one in decision.runs
        if (one.identity, one.trials) not in cited
    ]
    return tuple(runs), found


def _run(files: Mapping[str, bytes], name: str) -> RunEvidence:
    folder = f"{RUNS}{name}/"
    facts = _json_of(files, f"{folder}run.json")
    data = facts["data"]
    seed, trials = facts["seed"], facts["trials"]
    texts = (facts["name"], facts["identity"], facts["fingerprint"], facts["mode"], facts["program"], data["sha256"])
    if not all(isinstance(text, str) for text in texts) or facts["name"] != name:
        raise ValueError("it names itself otherwise")
    if type(trials) is not int or not (seed is None or type(seed) is int) or type(data["synthetic"]) is not bool:
        raise ValueError("its facts are of the wrong kind")
    cited = CitedRun(name, facts["identity"], trials)
    return RunEvidence(cited, facts, files[f"{folder}summary.json"], files[f"{folder}manifest.json"])


def _run_problem(run: RunEvidence, own: str) -> str:
    """Return why the files of a run do not belong together, "" when they do."""
    if run.facts["fingerprint"] != own:
        return "The run simulated other parameters."
    sums = json.loads(run.manifest)
    closed_with = [sums["files"].get(name) for name in (SUMMARY_FILE, SHARED_SUMMARY_FILE)]
    if sums["identity"] != run.cited.identity:
        return "The check sums are those of another run."
    if {"sha256": hashlib.sha256(run.summary).hexdigest(), "bytes": len(run.summary)} not in closed_with:
        return "The summary is not the one that the run closed with."
    summary = run.content()
    stated = {**run.facts, "synthetic_data": run.is_synthetic}
    keys = ("identity", "fingerprint", "mode", "seed", "reproducible", "trials", "synthetic_data")
    wrong = [key for key in keys if summary[key] != stated[key]]
    return f"The summary says otherwise what the run did: {', '.join(wrong)}." if wrong else ""


def _manifest_alterations(
    manifest: Mapping[str, Any], files: Mapping[str, bytes], scenario: Scenario, root: str, status: str
) -> Iterator[Alteration]:
    made = {"scenario": scenario.name, "fingerprint": fingerprint(scenario), "status": status, "root": root}
    words = {
        "scenario": "The manifest names another scenario.",
        "fingerprint": "The parameters do not have the fingerprint of the manifest.",
        "status": f"The manifest calls the parameters {str(manifest.get('status'))[:40]!r}; by the decisions they are {status}.",
        "root": "The manifest names another file to start production with.",
    }
    yield from (Alteration(MANIFEST, words[key]) for key in made if manifest.get(key) != made[key])
    if manifest.keys() != _MANIFEST_KEYS:
        yield Alteration(MANIFEST, "The manifest does not hold exactly what manifests of its version hold.")
    signers = manifest.get("signers", [])
    if len(set(signers)) != len(signers) or not all(_KEY_ID.fullmatch(key) for key in signers):
        yield Alteration(MANIFEST, "The keys expected to sign are not named as keys are.")
    notes = manifest.get("notes")
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        yield Alteration(MANIFEST, "The notes are no list of sentences.")
    if _moment(manifest) is None or not all(isinstance(manifest.get(key), str) for key in ("clearance", "program")):
        yield Alteration(MANIFEST, "The manifest does not say when and by what the bundle was made.")
    fixed = {SCENARIO, FORECAST, DECISIONS, PROJECT, LOG, CERTIFICATE_HTML, CERTIFICATE_PDF, MANIFEST}
    for name in sorted(files):
        if name in fixed or name.startswith(PARAMETERS):
            continue
        parts = name.split("/")
        if len(parts) != 3 or f"{parts[0]}/" != RUNS or parts[2] not in _RUN_FILES:
            yield Alteration(name, "No bundle holds such a file.")


def _moment(manifest: Mapping[str, Any]) -> datetime | None:
    try:
        moment = datetime.fromisoformat(manifest["made"])
    except (TypeError, ValueError, KeyError):
        return None
    return moment if moment.tzinfo is not None and moment.isoformat(timespec="seconds") == manifest["made"] else None


def _certificate_alterations(files: Mapping[str, bytes], facts: CertificateFacts, program: str) -> Iterator[Alteration]:
    html, made, delta = files[CERTIFICATE_HTML], certificate_html(facts), facts.scenario.conventions.delta
    names = (facts.scenario.name, facts.clearance)
    wrong = list(certificate_differences(html, made, program=program, names=names))
    if wrong and facts.version < _VERSION_OF_WHOLE_DELTA:
        # Earlier releases printed one digit of δ in certificates; their forecasts state all of it.
        former = made.replace(scientific_text(delta).encode(), f"{float(delta):.0e}".encode())
        if not any(certificate_differences(html, former, program=program, names=names)):
            return
    for sentence in wrong:
        yield Alteration(CERTIFICATE_HTML, sentence)


def _compare_pdf(files: Mapping[str, bytes], now: datetime, version: int) -> tuple[bool, str]:
    """Print the certificate again: whether the PDF of the bundle contradicts it, and why it cannot be compared, "" when it can."""
    from phexplore.report.pdf import PdfUnavailableError  # noqa: PLC0415 - brings the template engine

    stated = files[CERTIFICATE_PDF]
    try:
        made = certificate_pdf(files, now, version)
    except PdfUnavailableError as error:
        return False, f"{CERTIFICATE_PDF} was not compared; read {CERTIFICATE_HTML}. {error.sentence}"
    if stated == made or _producers(stated) == _producers(made):
        return stated != made, ""
    return (
        False,
        f"{CERTIFICATE_PDF} was printed by another program than this computer has, and not compared; read {CERTIFICATE_HTML}.",
    )


def _producers(pdf: bytes) -> set[bytes]:
    """Return the programs that a PDF says to come from."""
    found: set[bytes] = set()
    for stream in _STREAM.findall(pdf):
        try:
            text = zlib.decompressobj().decompress(stream, _LARGEST_STREAM)
        except zlib.error:
            text = stream
        found |= set(_PRODUCER.findall(text))
    return found
