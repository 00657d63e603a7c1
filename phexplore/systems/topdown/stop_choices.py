"""Which figure of a TopDown run may end it early, and how precisely it is to be known: choices, limits, words."""

from __future__ import annotations

from phexplore.model.scenario import Scenario
from phexplore.runs.spec import StopRule
from phexplore.systems.protocol import coverage_words
from phexplore.systems.run_offer import Choices
from phexplore.systems.stop_metrics import COVERAGE, StopMetric, Unit
from phexplore.systems.topdown.wording import level_title, query_title

FEWEST_TRIALS = 5
"""A standard deviation of two trials is no estimate: by chance alone they often agree."""


WATCHABLE = (
    COVERAGE,
    StopMetric("redistricting", "Units of 500+ within 5 points", Unit.SHARE, "1 %", has_query=False),
    StopMetric("mae", "Mean absolute error", Unit.PEOPLE, "0.5"),
    StopMetric("rmse", "Root mean squared error", Unit.PEOPLE, "0.5"),
    StopMetric("me", "Mean error (bias)", Unit.PEOPLE, "0.5"),
    StopMetric("mape", "Mean absolute percent error", Unit.PERCENT, "0.5 %"),
    StopMetric("malpe", "Mean algebraic percent error", Unit.PERCENT, "0.5 %"),
    StopMetric("cv", "Coefficient of variation", Unit.PERCENT, "0.5 %"),
    StopMetric("taes", "Total absolute error of shares", Unit.SHARE, "0.1 %"),
    StopMetric("off-over-5", "Share off by more than 5 %", Unit.SHARE, "1 %"),
    StopMetric("off-over-10", "Share off by more than 10 %", Unit.SHARE, "1 %"),
    StopMetric("abs-max", "Largest error, mean over trials", Unit.PEOPLE, "5"),
)


def watchable(figure: str) -> StopMetric:
    """Return the choice with an id, the coverage for an unknown one."""
    return next((each for each in WATCHABLE if each.id == figure), COVERAGE)


def stop_words(stop: StopRule) -> str:
    """Return a rule in words, e.g. "stops when the mean absolute error of total at County is known to ± 0.5"."""
    if not stop.figure:
        return coverage_words(stop)
    error = float(stop.coverage_error)
    level, *rest = stop.figure.split("/")
    chosen = watchable(rest[-1])
    amount = {Unit.SHARE: f"{error * 100:g} %", Unit.PERCENT: f"{error:g} %", Unit.PEOPLE: f"{error:g}"}[chosen.unit]
    of = f" of {query_title(rest[0])}" if len(rest) > 1 else ""
    return f"stops when {chosen.words[0].lower()}{chosen.words[1:]}{of} at {level_title(level)} has a standard error of at most {amount}"


def metrics() -> tuple[StopMetric, ...]:
    """Return the figures that may end a run."""
    return WATCHABLE


def places(scenario: Scenario) -> tuple[Choices, Choices]:
    """Return the levels and query groups of a scenario that a figure is taken of."""
    method = scenario.topdown
    queries = dict.fromkeys(["total", *(key.query for key in method.query_shares)])
    return (
        tuple((level_title(each), each) for each in method.levels),
        tuple((query_title(each), each) for each in queries if each != "detailed"),
    )
