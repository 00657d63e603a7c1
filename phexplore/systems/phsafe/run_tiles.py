"""The figures above the results, worded: coverage, truncation bias, worst number, trials. Pure functions.

Args:
    run: figures of the run.
    other: of the run it is compared with, None for none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from phexplore.figures.tile import TileContent, Tone
from phexplore.figures.wording import people, signed_people
from phexplore.metrics.coverage import Coverage
from phexplore.model.rounded import Toward, percent
from phexplore.runs.spec import MODE_WORDS, RunMode, RunSpec
from phexplore.runs.states import RunState
from phexplore.systems.phsafe.truncation_figures import bias_words

SUSPICIOUS = 4.0
"""A coverage further from the exact one than this many standard errors is not chance: 1 in 16,000."""
_ROUNDED = 1e-9
"""What sums of floats differ in."""


@dataclass(frozen=True, slots=True)
class RunHeadline:
    """What a run found, in three figures.

    Attributes:
        spec: what the run does.
        state: where it is in its life.
        trials: readable trials.
        confidence: aimed at.
        coverage: of the scenario's margin over all directly measured numbers; None without noise or trials.
        coverage_error: standard error of the mean over trials; infinite with one trial.
        expected: exact coverage, averaged over the same numbers: whole people make it differ from the confidence. None as `coverage`.
        bias: mean truncation bias over all directly measured numbers, people; None before the count.
        biased: how many of them are biased, and how many there are.
        worst: mean error of the worst number; None without trials.
        worst_words: which one.
        worst_unit: what it counts.
    """

    spec: RunSpec
    state: RunState
    trials: int
    confidence: Fraction
    coverage: Coverage | None = None
    coverage_error: float = math.inf
    expected: float | None = None
    bias: float | None = None
    biased: tuple[int, int] = (0, 0)
    worst: float | None = None
    worst_words: str = ""
    worst_unit: str = "people"


def coverage_tile(run: RunHeadline, other: RunHeadline | None = None) -> TileContent:
    """Return how often the margins held, with the Monte-Carlo error, against the confidence.

    Args:
        run: the run.
        other: to compare it with, None for none.
    """
    aimed = f"aimed at {float(run.confidence) * 100:g} %"
    if run.spec.mode is not RunMode.PRIVATE:
        return TileContent("Coverage of the margins", "–", MODE_WORDS[run.spec.mode], "There is no noise in this run.")
    if run.coverage is None:
        return TileContent("Coverage of the margins", "–", aimed, "No trial yet.")
    value = f"{run.coverage.share.value * 100:.2f} %"  # as many decimals as its standard error and its forecast
    error = monte_carlo_error(run)
    beside = f"{_standard_error(error)}, {aimed}" if math.isfinite(error) else aimed
    off = 0.0 if run.expected is None else abs(run.coverage.share.value - run.expected)
    unusual = off > SUSPICIOUS * error + _ROUNDED
    forecast = "" if run.expected is None else f" ({percent(run.expected, places=2)})"
    change = f"further off the forecast{forecast} than chance explains"
    if not unusual:
        change = f"as forecast{forecast}, within the Monte-Carlo error"
    if other is not None and other.coverage is not None:
        points = (run.coverage.share.value - other.coverage.share.value) * 100
        change = f"{_signed_points(points)} against the other run"
    return TileContent("Coverage of the margins", value, beside, change, Tone.ATTENTION if unusual else Tone.NEUTRAL)


def _standard_error(error: float) -> str:
    return f"standard error {percent(error, places=2, toward=Toward.UP)}"


def monte_carlo_error(run: RunHeadline) -> float:
    """Return the standard error of the coverage: the larger of that between trials and that of independent numbers."""
    if run.coverage is None:
        return math.inf
    independent = run.coverage.standard_error
    return max(run.coverage_error, independent) if math.isfinite(run.coverage_error) else independent


def bias_tile(run: RunHeadline, other: RunHeadline | None = None) -> TileContent:
    """Return what truncation takes from a number on average.

    Args:
        run: the run.
        other: to compare it with, None for none.
    """
    if run.spec.mode is RunMode.NON_PRIVATE:
        return TileContent("Truncation bias", "none", "", "Nothing is truncated in this run.")
    if run.bias is None:
        return TileContent("Truncation bias", "–", "people", "The data is not counted yet.")
    biased, numbers = run.biased
    beside = "people per number, on average"
    change = f"{biased:,} of {numbers:,} measured numbers are affected"
    if other is not None and other.bias is not None:
        change = _against(run.bias - other.bias)
    return TileContent("Truncation bias", bias_words(run.bias), beside, change)


def worst_tile(run: RunHeadline, other: RunHeadline | None = None) -> TileContent:
    """Return the number that is furthest off.

    Args:
        run: the run.
        other: to compare it with, None for none.
    """
    if run.worst is None:
        return TileContent("Worst number", "–", "", "No trial yet.")
    change = run.worst_words
    if other is not None and other.worst is not None:
        change = _against(run.worst - other.worst)
    return TileContent("Worst number", people(run.worst), f"{run.worst_unit} off, on average", change)


def trials_tile(run: RunHeadline) -> TileContent:
    """Return how much the figures rest on."""
    kind = run.spec.provenance.words if run.spec.data.is_open else "confidential data: simulation only"
    state = run.state.value if run.state.is_final else "in progress"
    if run.state.is_final and run.state is not RunState.COMPLETE:
        state += "; finished trials are shown"
    return TileContent("Trials", f"{run.trials:,}", f"of {run.spec.trials:,}", f"{state}; {kind}")


def headline_tile(run: RunHeadline) -> TileContent:
    """Return the tile of the last run for the head of the window."""
    if run.coverage is None:
        return TileContent("Last run", "–", MODE_WORDS[run.spec.mode], "")
    error = monte_carlo_error(run)
    beside = _standard_error(error) if math.isfinite(error) else ""
    bias = "" if run.bias is None else f"bias {bias_words(run.bias)} people (truncation)"
    return TileContent("Last run: coverage", f"{run.coverage.share.value * 100:.2f} %", beside, bias)


def _against(difference: float) -> str:
    words = signed_people(difference)
    return "as in the other run" if words == "0" else f"{words} against the other run"


def _signed_points(points: float) -> str:
    return ("+" if points > 0 else "−" if points < 0 else "") + f"{abs(points):.2f} points"
