"""Exact tables of a population, without noise."""

from __future__ import annotations

from pathlib import Path

from phexplore.data.chunks import UnsortedError, iter_chunks
from phexplore.data.problems import Phase
from phexplore.data.validation import load_data
from phexplore.model.scenario import Scenario
from phexplore.simulate.phsafe_count import CountingSpec, tabulate
from phexplore.simulate.phsafe_output import write_output


def tabulate_to(data: Path, out: Path, scenario: Scenario | None, states: tuple[str, ...]) -> tuple[Path, ...]:
    """Count a population and write one directory per table; return the files.

    Args:
        data: directory of the population, or ``demo``.
        out: directory for the tables.
        scenario: count what its private run measures, at its τ and states; None: production's non-private tables.
        states: restrict to these, all present when empty and there is no scenario.

    Raises:
        InputProblemsError: the data did not pass validation.
        UnclassifiableRecordError: a private count meets a record that fits no cell.
    """
    spec = CountingSpec.measured(scenario.phsafe) if scenario is not None else CountingSpec.exact(states or None)
    wanted = scenario.phsafe.states if scenario is not None else states or None
    # Records that fit no cell are no obstacle here: exact output counts them as production does, and a private count
    # refuses them itself, where they matter.
    try:
        counted = tabulate(iter_chunks(data, states=wanted, up_to=Phase.KEYS), spec)
    except UnsortedError:
        counted = tabulate([load_data(data, wanted, up_to=Phase.KEYS)], spec)
    return write_output(counted, out)
