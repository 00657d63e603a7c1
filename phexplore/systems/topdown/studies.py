"""What the window studies of a TopDown scenario on a page of its own: the search for budgets on simulated runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from phexplore.errors import UnknownNameError
from phexplore.model.scenario import Scenario
from phexplore.systems.experiments import Studied
from phexplore.systems.topdown.run_options import Estimator
from phexplore.systems.topdown.tune_answers import probe_figure
from phexplore.systems.topdown.tuning_probes import criterion_of, printed_tuning, tune


def studies() -> Mapping[str, Callable[..., Studied]]:
    """Return what can be studied, by name."""
    return {"tune": search}


def search(  # noqa: PLR0913 - what a search is asked
    scenario: Scenario,
    *,
    data: str | Path,
    judge: str,
    out: str | Path,
    strategy: str = "",
    seed: int = 1,
    trials: int = 1,
    at_least: object = 95,
    within: object = 5,
    people: int = 500,
    estimator: str = "top-down",
) -> Studied:
    """Find the budget of every level on simulated runs; arguments as ``phexplore tune`` takes them.

    Raises:
        PhexploreError: the scenario or the data are not fit, or the criterion cannot be met.
    """
    known = [each.value for each in Estimator]
    if estimator not in known:
        raise UnknownNameError("estimator", estimator, known)
    rule = criterion_of(str(at_least), str(within), people)
    is_pooled = Estimator(estimator) is Estimator.POOLED
    found = tune(
        scenario, Path(data), judge, Path(out), strategy, seed, trials, rule, is_pooled=is_pooled, tell=_quietly
    )
    pictures = () if found.answer.confidential else (probe_figure(found.result.probes, float(rule.limit)),)
    return Studied(printed_tuning(found), pictures)


def _quietly(*_: Any) -> None:
    pass
