"""What the window studies of an S-DHC scenario on pages of their own: thresholds, and a release as it would be published."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from phexplore.catalog.expected_counts import AVERAGES
from phexplore.model.scenario import Scenario
from phexplore.runs.confidentiality import refuse_confidential
from phexplore.systems.experiments import Studied
from phexplore.systems.phsafe.published_figure import cell_words, coverage_bars, published_figure, read_release
from phexplore.systems.phsafe.published_run import publish_run
from phexplore.systems.phsafe.threshold_figure import threshold_figure
from phexplore.systems.phsafe.truncation import printed_study, study_request
from phexplore.systems.phsafe.truncation_sources import study_of


def studies() -> Mapping[str, Callable[..., Studied]]:
    """Return what can be studied, by name."""
    return {"truncation": truncation, "published": published}


def truncation(
    scenario: Scenario,
    *,
    query: str,
    sizes: str | Path | None = None,
    run: str | Path | None = None,
    state: str = "",
    part: object = "",
    share: object = "",
    keep_margin: bool = False,
) -> Studied:
    """Study the thresholds of one query; arguments as in `truncation.study_request`.

    Raises:
        PhexploreError: something of it cannot be read or studied, or the households are confidential.
    """
    request = study_request(
        scenario,
        query,
        sizes=None if sizes is None else Path(sizes),
        run=None if run is None else Path(run),
        state=state,
        part=str(part),
        share=str(share),
        keep_margin=keep_margin,
    )
    if run is not None:
        refuse_confidential(Path(run))
    found = study_of(request)
    return Studied(
        printed_study(found, request.present), (threshold_figure(found, request.query.title, request.present),)
    )


def published(scenario: Scenario, *, run: str | Path, trial: int = 0, seed: int = 777, draws: int = 10_000) -> Studied:
    """Study the tables that would be published of a run, beside its truth where that may be shown.

    Args:
        scenario: of the system; the run has its own.
        run: directory of the run.
        trial: from 0.
        seed: of the draws behind intervals.
        draws: per average.

    Raises:
        PhexploreError: the run or the trial cannot be read.
    """
    del scenario
    with TemporaryDirectory() as folder:
        entries = publish_run(Path(run), trial, seed, draws, Path(folder), tell=_quietly)
        found = read_release((Path(folder), json.dumps(entries)))
    pictures = [coverage_bars(found.coverage)]
    for (table, cell), rows in found.numbers.items():
        unit = "people per household" if table in AVERAGES else "people"
        figure = published_figure(f"{table}, {cell_words(table, cell)}", unit, rows)
        pictures.append(replace(figure, id=f"published-{table}-{cell}"))
    return Studied(entries, tuple(pictures))


def _quietly(*_: Any) -> None:
    pass
