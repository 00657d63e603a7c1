"""``phexplore publish``: the published tables of a simulated release, and how often their intervals hold the truth.

Args:
    run: its directory.
    trial: zero-based.
    seed: of the draws.
    draws: per average.
    out: directory of the tables.
    entries: coverage by table.
    as_json: for programs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from phexplore.files.atomic_files import write_atomically
from phexplore.metrics.coverage import Coverage
from phexplore.model.rounded import percent
from phexplore.report.terminal import print_json, print_table, say, tell
from phexplore.runs.confidentiality import TREATED_AS_CONFIDENTIAL, is_confidential, refuse_release
from phexplore.runs.release_note import beside
from phexplore.systems.phsafe.published_coverage import comparison_file, coverage_by_room, rooms_of
from phexplore.systems.phsafe.publishing import coverage, publish_trial, published_files, truth_of
from phexplore.systems.phsafe.results import RunResults
from phexplore.systems.phsafe.shared import require_phsafe


def publish_run(
    run: Path, trial: int, seed: int, draws: int, out: Path, tell: Callable[[str], None] = say
) -> list[dict[str, Any]]:
    """Write the published tables of a trial, and of marked data every number beside its truth.

    Args:
        run: directory of the run.
        trial: number of the trial, from 0.
        seed: of the draws.
        draws: per table.
        out: directory that receives the files.
        tell: told of every file, and of what was left out.

    Returns:
        How often intervals hold the truth, by table and by how far the truth lies from a limit; empty without a truth.

    Raises:
        PhexploreError: the run or the trial cannot be read, or the files cannot be written.
    """
    results = RunResults.open(run)
    require_phsafe(results.spec.scenario, "Publishing")
    confidential = is_confidential(results.spec, results.summary)
    refuse_release(run)
    published = publish_trial(results, trial, seed, draws)
    files = published_files(published)
    is_compared = results.has_truth and not confidential
    truth = truth_of(results) if is_compared else {}
    room = rooms_of(results, trial) if is_compared else {}
    if truth:
        files["comparison.csv"] = comparison_file(published, truth, room)
    if confidential:
        tell(f"Comparisons with exact counts were left out. {TREATED_AS_CONFIDENTIAL}")
    for name, content in {**files, **beside(results.spec, files)}.items():
        write_atomically(out / name, content, private=confidential)
        tell(f"Wrote {out / name}")
    classes = coverage_by_room(published, truth, room)
    return [
        {
            **_coverage_json(found),
            "table": table,
            "by_room": [
                {"from_sigma": each.low, "to_sigma": None if math.isinf(each.high) else each.high,
                 **_coverage_json(each.coverage)}
                for each in classes
                if each.table == table
            ],
        }
        for table, found in coverage(published, truth).items()
        if truth
    ]  # fmt: skip


def _coverage_json(found: Coverage) -> dict[str, Any]:
    has = bool(found.errors)
    return {"held": found.held, "of": found.errors, "share": found.share.value if has else None,
            "low": found.share.low if has else None, "high": found.share.high if has else None}  # fmt: skip


def print_coverage(entries: Sequence[dict[str, Any]], *, as_json: bool) -> None:
    """Print how often published intervals held the truncated truth, by table and by room.

    Args:
        entries: as `publish_run` returns them.
        as_json: whether to print JSON.
    """
    if as_json:
        print_json(list(entries))
        return
    rows = []
    for entry in entries:
        rows.append((entry["table"], "all", *_coverage_cells(entry)))
        for part in entry["by_room"]:
            end = "on" if part["to_sigma"] is None else f"to {part['to_sigma']:g}"
            rows.append(("", f"from {part['from_sigma']:g} {end} σ", *_coverage_cells(part)))
    print_table(("table", "room of the truth", "held", "of", "share"), rows, right=(2, 3, 4))
    if entries:
        tell(
            "The room of a number is how many standard deviations the truth lies from a limit such as 0. Close to a limit the "
            "published intervals hold another share than 90 %; averaged over all counts their prior allows they hold 90 %."
        )


def _coverage_cells(entry: dict[str, Any]) -> tuple[str, str, str]:
    return f"{entry['held']:,}", f"{entry['of']:,}", percent(entry["share"])
