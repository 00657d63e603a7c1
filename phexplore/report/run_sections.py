"""What the report of every run says: how the noise was drawn, what was checked, what was run, and whether it is complete."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from phexplore.model.fingerprint import fingerprint
from phexplore.report.document import Document, Part, Tile, colophon
from phexplore.report.provenance import Section
from phexplore.runs.events import PHASE_WORDS
from phexplore.runs.spec import RunMode, RunSpec
from phexplore.runs.states import RunState


def run_document_of(
    spec: RunSpec,
    now: datetime,
    subtitle: str,
    tiles: Sequence[Tile],
    parts: Sequence[Part],
    *,
    trials: int,
    warning: str = "",
    keywords: tuple[str, ...],
) -> Document:
    """Return the report of a run under the name of its scenario; its first page says in three sentences what was found.

    Args:
        spec: of the run.
        now: printed in it, with its zone.
        subtitle: what kind of run it was.
        tiles: headline figures.
        parts: chapters; what the one with pictures found is said on the first page, of none what its first picture shows.
        trials: how many are there.
        warning: what every reader must know first, "" for nothing.
        keywords: of the document.
    """
    return Document(
        title=f"{spec.scenario.name}, {spec.provenance.words}",
        origin=spec.provenance,
        subtitle=subtitle,
        colophon=colophon(now, f"run {spec.identity}"),
        tiles=tuple(tiles),
        parts=_with_first_page(spec, trials, parts),
        made=now.isoformat(timespec="seconds"),
        warning=warning,
        keywords=keywords,
    )


def _with_first_page(spec: RunSpec, trials: int, parts: Sequence[Part]) -> tuple[Part, ...]:
    """Return the parts behind a first page: what was run, what the first picture found, and what the counts are fit for."""
    drawn = next((part for part in parts if part.charts), Part("", ""))
    charts, findings = drawn.charts[:1], drawn.findings
    rest = (replace(part, charts=part.charts[1:], findings=()) if part is drawn else part for part in parts)
    asked = "" if trials == spec.trials else f", of {spec.trials:,} requested,"
    none = "no count has an error" if trials else "nothing yet, no release is finished"
    none = "the records are treated as confidential, so no statistic is released" if spec.salt else none
    found = next(iter((*findings, *(chart.finding for chart in charts), none))).replace("\n", " ").rstrip(".")
    found = found.removeprefix(f"{spec.provenance.title}: ")  # the sentence before says so
    sentences = (
        f"What was {'requested' if spec.salt else 'run'}: {trials:,} simulated release{'' if trials == 1 else 's'}{asked} of exactly these parameters, on {spec.provenance.words}.",
        f"What was found: {found}.",
        f"What it is fit for: {noise_caution(spec)}",
    )
    said = tuple(part for part in rest if not part.is_bare)
    return (Part("summary", "In short", sentences, charts=tuple(charts)), *said)


def unfinished_warning(state: RunState, trials: int) -> tuple[str, ...]:
    """Return the sentence that a run is not complete, none for one that is.

    Args:
        state: of the run.
        trials: how many are there.
    """
    if state is RunState.COMPLETE:
        return ()
    return (f"The run is not complete ({state.value}): {trials} of its trials are here.",)


def noise_caution(spec: RunSpec) -> str:
    """Return where the noise came from, and what the counts are therefore not fit for."""
    if spec.mode is not RunMode.PRIVATE:
        return "No noise was added: these counts protect nobody and must not leave as a release."
    if spec.seed is not None:
        return f"The noise was drawn from {_seed_words(spec)}, so anyone who has the seed can draw it again: not fit for a release."
    return "The noise came from the operating system and cannot be drawn again."


def _seed_words(spec: RunSpec) -> str:
    """Return the seed; on confidential records only the run contains it, because the seed reveals the noise."""
    return "a seed that only the run contains" if spec.salt else f"the seed {spec.seed}"


def check_entries(checks: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return each check of a summary with its outcome in words."""
    return tuple((_check_name(name), _outcome(value)) for name, value in checks.items())


def _check_name(name: str) -> str:
    """Return a check in words, its tables by the codes that names are known for: ``PH5_num equals PH4``."""
    return re.sub(r"_(?!num|denom)", " ", re.sub(r"ph(?=\d)", "PH", name))


def _outcome(value: Any) -> str:
    match value:
        case True:
            return "passed"
        case False:
            return "failed"
        case int():
            return f"{value:,} failures"
        case dict():
            return "; ".join(f"{name}: {text}" for name, text in check_entries(value))
        case _:
            return str(value)


def seconds_section(summary: Mapping[str, Any], title: str = "Seconds per phase") -> tuple[Section, ...]:
    """Return the time each phase took, nothing where the summary does not say.

    Args:
        summary: of the run.
        title: of the section.
    """
    seconds: Mapping[str, float] = summary.get("seconds") or {}
    return (
        (Section(title, tuple((PHASE_WORDS.get(name, name), f"{value:.2f}") for name, value in seconds.items())),)
        if seconds
        else ()
    )


def specification_section(spec: RunSpec, trials: int, *further: tuple[str, str]) -> Section:
    """Return the facts that reproduce a run; for confidential records, none that confirms a guess of them.

    Args:
        spec: of the run.
        trials: how many are there.
        further: what only runs of this system say.
    """
    data = (("Data", f"{spec.data.path}, {spec.data.size_bytes:,} bytes"), ("Data (SHA-256)", spec.data.sha256))
    entries = (
        ("Identity of the run (SHA-256)", spec.identity),
        ("Parameters (SHA-256)", fingerprint(spec.scenario)),
        *(() if spec.salt else data),
        ("Provenance", f"{spec.provenance.kind.value}: {spec.provenance.source}"),
        *further,
        ("Trials", f"{'' if spec.salt else f'{trials} here, '}{spec.trials} requested"),
        ("Noise", "entropy of the operating system" if spec.seed is None else f"drawn from {_seed_words(spec)}"),
        ("Program of the run", f"phexplore {spec.code_version}"),
    )
    return Section("Specification", entries)
