"""What the form that starts a run offers for one system: data, releases, figures that may end it, and the words for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from phexplore.model.fields import Declared
from phexplore.model.scenario import Scenario
from phexplore.runs.spec import DEMONSTRATION, RunMode, RunSpec
from phexplore.systems.stop_metrics import COVERAGE, StopMetric

Choices = tuple[tuple[str, str], ...]
"""Words and value of every entry of a chooser."""


def _releases() -> Mapping[RunMode, str]:
    return {
        RunMode.PRIVATE: "Every trial is checked: what must be exact is compared to the last unit.",
        RunMode.NO_NOISE: "One trial without noise: what comes out must equal what went in.",
    }


def _shipped() -> Mapping[str, str]:
    return {DEMONSTRATION: "The data that came with the program"}


@dataclass(frozen=True, slots=True)
class RunOffer:
    """What a run of a system can be.

    Attributes:
        title: of the form.
        shipped: data that came with the program: what they are, by their name.
        data: which files are read.
        kinds: of files, as dialogs filter them; "" for a folder.
        releases: what can be released, with a sentence about such a run.
        trials: proposed.
        workers: proposed.
        fewest: trials before which no run ends early.
        metrics: figures that may end a run.
        places: levels and query groups of a scenario that such a figure is taken of.
        refusal: why a scenario without errors cannot be simulated yet, "" where it can.
        can_be_read: whether a new run of a scenario can read the answers that a complete run kept.
        reading: what a run is that reads another one's answers.
        burden: what a run of a scenario with these options writes beside its counts where that is much, "" where it is not.
        shares_noise: whether runs of two scenarios draw common random numbers by the same seed.
    """

    title: str = "Start a run"
    shipped: Mapping[str, str] = field(default_factory=_shipped)
    data: str = "a file of counts"
    kinds: str = "Counts (*.csv *.csv.gz);;All files (*)"
    releases: Mapping[RunMode, str] = field(default_factory=_releases)
    trials: int = 10
    workers: int = 1
    fewest: int = 2
    metrics: Callable[[], tuple[StopMetric, ...]] = lambda: (COVERAGE,)
    places: Callable[[Scenario], tuple[Choices, Choices]] = lambda _: ((), ())
    refusal: Callable[[Scenario], str] = lambda _: ""
    can_be_read: Callable[[Scenario, RunSpec], bool] = lambda _, __: False
    reading: str = ""
    burden: Callable[[Scenario, Declared | None], str] = lambda _, __: ""
    shares_noise: bool = False
