"""Everything the window shows at one moment, computed once per version: one immutable value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Generic, TypeVar

from phexplore.accuracy.privacy_loss import EpsilonFigure
from phexplore.document.soundness import require_figures
from phexplore.errors import PhexploreError
from phexplore.figures.wording import epsilon_words
from phexplore.model.issues import Issue
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario, stated_as
from phexplore.model.workbook import Workbook
from phexplore.systems.protocol import Forecast
from phexplore.systems.registry import check, find_preset, forecast, system_of

View = TypeVar("View")


def _forecast(scenario: Scenario) -> Forecast | None:
    """Return all figures; None while an error of the parameters stands in their way, which the issues name."""
    try:
        return forecast(scenario)
    except PhexploreError:
        if not system_of(scenario).may_be_unfinished:
            raise
        return None


@dataclass(frozen=True)
class Reference:
    """What the current scenario is compared with: parameters of the same system.

    Attributes:
        title: for people.
        scenario: its parameters.
        stated: the same with the conventions of the current scenario, in which all of its figures are.
    """

    title: str
    scenario: Scenario
    stated: Scenario

    @cached_property
    def forecast(self) -> Forecast | None:
        """All figures, None while an error stands in their way."""
        return _forecast(self.stated)

    @property
    def figures(self) -> Any:
        """The system's own figures, None while an error stands in their way."""
        return None if self.forecast is None else self.forecast.detail


@dataclass(frozen=True, slots=True)
class Proven:
    """What the noise of a version proves.

    Attributes:
        figures: ε of the whole, for its neighbours and δ.
        parts: ends of ε of places and attributes, by name.
    """

    figures: tuple[EpsilonFigure, ...]
    parts: Mapping[str, tuple[float, float]]


@dataclass(frozen=True, eq=False)
class ScenarioView:
    """One version of the project with its figures. Compared by identity: there is one per version.

    Attributes:
        workbook: all scenarios.
        scenario: the active one.
        reference: what it is compared with, None for nothing.
    """

    workbook: Workbook
    scenario: Scenario
    reference: Reference | None

    @cached_property
    def forecast(self) -> Forecast | None:
        """All figures, None while an error stands in their way."""
        return _forecast(self.scenario)

    @property
    def figures(self) -> Any:
        """The system's own figures, None while an error stands in their way."""
        return None if self.forecast is None else self.forecast.detail

    @cached_property
    def issues(self) -> tuple[Issue, ...]:
        """What is wrong with the scenario, errors first; found when first asked for, which a drag does once per frame."""
        return tuple(check(self.scenario, None if self.reference is None else self.reference.stated))

    @cached_property
    def proven(self) -> float | None:
        """The proven ε of the headline at the δ of the conventions, None where nothing is; asked for beside the window first."""
        return None if self.forecast is None else self.forecast.proven(self.scenario.conventions.delta)

    def epsilon_words(self, delta: Fraction | None = None) -> str:
        """Return ε of the whole as every view states it, with δ where it is given; "" without one, and where ε is the budget itself."""
        known = self.forecast
        if known is None or known.loss.framework is not PrivacyFramework.ZCDP:
            return ""
        return epsilon_words(self.proven, known.loss.epsilon_at(self.scenario.conventions.delta), delta)

    @cached_property
    def proof(self) -> Proven | None:
        """What the noise proves of ε, paths and parts included; None without figures. Takes some tenths of a second: beside the window."""
        known = self.forecast
        if known is None:
            return None
        return Proven(tuple(each for each in known.stated() if each.low is not None), known.proven_parts())

    @property
    def known_proof(self) -> Proven | None:
        """The proof where it is made, None as long as it is not."""
        return self.__dict__.get("proof")

    @property
    def proven_figures(self) -> tuple[EpsilonFigure, ...]:
        """The proven ε of the whole as far as they are known."""
        return () if self.known_proof is None else self.known_proof.figures

    def proven_part(self, name: str) -> tuple[float, float] | None:
        """Return the ends of the proven ε of a place or attribute; None while it is not known."""
        return None if self.known_proof is None else self.known_proof.parts.get(name)


@dataclass(frozen=True, slots=True)
class Update(Generic[View]):
    """From one moment to the next; `before` is None after another project or a scenario of another system was opened."""

    before: View | None
    after: View


def shown(
    workbook: Workbook,
    before: ScenarioView | None = None,
    *,
    kept: Callable[[str], tuple[str, Scenario] | None] | None = None,
) -> ScenarioView:
    """Return what is to be shown of a workbook.

    Args:
        workbook: the version to show.
        before: what was shown last; its reference is taken over when it is still the one.
        kept: gives title and parameters of what the project keeps to compare with: as last saved, as approved.
    """
    scenario = workbook.scenario
    found_kept = kept(workbook.comparison) if kept is not None else None
    reference = _reference(workbook, before.reference if before is not None else None, found_kept)
    return ScenarioView(workbook, scenario, reference)


def _reference(workbook: Workbook, before: Reference | None, kept: tuple[str, Scenario] | None) -> Reference | None:
    name = workbook.comparison
    if kept is not None:
        title, scenario = kept
    elif name in workbook.names:
        title, scenario = name, workbook.find(name)
    else:
        preset = find_preset(name)
        if preset is None:
            return None
        title, scenario = preset.title, preset.scenario
    if type(scenario.method) is not type(workbook.scenario.method):
        return None
    is_known = before is not None and before.scenario is scenario and before.title == title
    if before is not None and is_known and before.stated.conventions == workbook.scenario.conventions:
        return before
    stated = stated_as(scenario, workbook.scenario)
    try:
        require_figures(stated)
    except PhexploreError:  # a version of a damaged file: there is nothing to compare with
        return None
    return Reference(title, scenario, stated)
