"""Exact tables of a population, without noise, and beside them what they are."""

from __future__ import annotations

from pathlib import Path

from phexplore.data.chunks import UnsortedError, iter_chunks, record_problems
from phexplore.data.problems import Phase
from phexplore.data.validation import load_data
from phexplore.model.issues import InputProblemsError
from phexplore.model.scenario import Scenario
from phexplore.report.terminal import say
from phexplore.runs.confidentiality import answer_about_records
from phexplore.runs.spec import describe_data
from phexplore.runs.writing import write_json
from phexplore.simulate.phsafe_count import CountingSpec, UnclassifiableRecordError, tabulate
from phexplore.simulate.phsafe_output import write_output
from phexplore.simulate.tabulation import Tabulation

ABOUT_FILE = "about.json"
"""Beside the tables: what they are, and what was said about their data."""


def tabulate_to(data: Path, out: Path, scenario: Scenario | None, states: tuple[str, ...] | None) -> tuple[Path, ...]:
    """Count a population and write one directory per table; return the files.

    Args:
        data: directory of the population, or ``demo``.
        out: directory for the tables.
        scenario: count what its private run measures, at its τ and states; None: production's non-private tables.
        states: restrict to these, all present when None and there is no scenario.

    Raises:
        InputProblemsError: the data did not pass validation, or a private count meets records that fit no cell.
    """
    described = describe_data(data)
    answer = answer_about_records(described)
    if answer.confidential:
        say(answer.sentence)
    spec = CountingSpec.measured(scenario.phsafe) if scenario is not None else CountingSpec.exact(states)
    wanted = scenario.phsafe.states if scenario is not None else states
    try:
        counted = _tabulated(data, wanted, spec)
    except UnclassifiableRecordError as error:
        if problems := record_problems(data, wanted):
            raise InputProblemsError(problems) from error
        raise
    files = write_output(counted, out, private=answer.confidential)
    about = {
        "about": "Exact counts, not protected by any noise.",
        "data": {"path": described.path, "sha256": described.sha256},
        "confidentiality": answer.json(),
    }
    write_json(out / ABOUT_FILE, about, private=answer.confidential)
    return files


def _tabulated(data: Path, states: tuple[str, ...] | None, spec: CountingSpec) -> Tabulation:
    # Records that fit no cell are no obstacle here: exact output counts them as production does, and a private count
    # refuses them itself, where they matter.
    try:
        return tabulate(iter_chunks(data, states=states, up_to=Phase.KEYS), spec)
    except UnsortedError:
        return tabulate([load_data(data, states, up_to=Phase.KEYS)], spec)
