"""What a document is made from: frozen values, the time included. Exporters look at nothing else.

Args:
    scenario: the parameters.
    now: time printed, with its zone.
    compared_with: set beside it, None for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from phexplore import __version__
from phexplore.model.fingerprint import fingerprint
from phexplore.model.scenario import Scenario, stated_as
from phexplore.systems.phsafe.forecast import Forecast, forecast


@dataclass(frozen=True, slots=True)
class Comparison:
    """The figures a document sets beside its own.

    Attributes:
        scenario: the other one.
        forecast: its figures.
    """

    scenario: Scenario
    forecast: Forecast

    @property
    def name(self) -> str:
        """What people call the other scenario."""
        return self.scenario.name


@dataclass(frozen=True, slots=True)
class ScenarioSnapshot:
    """A scenario with its figures at one moment: the whole input of an export.

    Attributes:
        scenario: the parameters.
        forecast: all analytic figures of exactly these parameters.
        now: time printed in the document, with its zone.
        comparison: figures to set beside, None for none.
        version: of the program.
    """

    scenario: Scenario
    forecast: Forecast
    now: datetime
    comparison: Comparison | None = None
    version: str = __version__

    def __post_init__(self) -> None:
        """Refuse a time without a zone: a document must say which clock it means."""
        if self.now.tzinfo is None:
            raise ValueError(f"the time of a document needs a zone, got {self.now.isoformat()}")

    @property
    def fingerprint(self) -> str:
        """Identity of the parameters, 64 hexadecimal digits."""
        return fingerprint(self.scenario)


def scenario_snapshot(scenario: Scenario, now: datetime, compared_with: Scenario | None = None) -> ScenarioSnapshot:
    """Return the snapshot of a scenario, its forecast computed here, optionally beside another scenario's.

    Args:
        scenario: to forecast.
        now: time that the document states.
        compared_with: None for no comparison.
    """
    comparison = None
    if compared_with is not None:
        comparison = Comparison(compared_with, forecast(stated_as(compared_with, scenario)))
    return ScenarioSnapshot(scenario, forecast(scenario), now, comparison)
