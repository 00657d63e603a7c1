"""What the program asks of a system: a frozen value with the functions that only this system can answer.

Everything outside ``systems`` (rules, comparison, trade-off, certificates, commands, window) reads a `Forecast` or calls a
member of `System`; nobody asks which system a scenario holds.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phexplore.accounting.composition import Part as NoisePart
from phexplore.accuracy.privacy_loss import HEADLINE_DELTA, EpsilonFigure
from phexplore.accuracy.proven_loss import ReleaseNoise, proven_bound, proven_figures
from phexplore.catalog.presets import Preset
from phexplore.errors import PhexploreError
from phexplore.lazy import lazy
from phexplore.model.conventions import Conversion, Neighbours
from phexplore.model.fields import Declared
from phexplore.model.issues import Issue
from phexplore.model.numbers import Budget
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.report.export_formats import ExportFormat, formats_by_id, parameters_json
from phexplore.systems.run_offer import RunOffer
from phexplore.systems.scenario_reports import PLAIN_REPORTS

if TYPE_CHECKING:
    import typer

    from phexplore.accuracy.budget_model import BudgetModel
    from phexplore.accuracy.margins import Margins
    from phexplore.accuracy.solving_separable import SolvedGoals
    from phexplore.figures.figure import Figure
    from phexplore.model.goals import Key
    from phexplore.report.document import Part
    from phexplore.report.run_report import RunReport
    from phexplore.runs.simulation import Maker
    from phexplore.runs.spec import RunSpec, StopRule
    from phexplore.systems.experiments import Experiment, Studied
    from phexplore.systems.meeting import MeetingParameter
    from phexplore.systems.result_tabs import Results


SolveEstimates = Callable[..., "tuple[SolvedGoals, Mapping[Key, float]]"]
"""Solves a scenario for goals, with block data or None and ``spend``; returns the solution and margins in people."""


class UnsupportedError(PhexploreError):
    """Something was asked that this system does not offer."""


@dataclass(frozen=True, slots=True)
class Loss:
    """The privacy loss of a whole scenario, as people are told it.

    Attributes:
        framework: zCDP (the total is ρ) or pure DP (it is ε, at `delta` when that is above 0).
        total: exact, under `neighbours`; unlimited where something is published without noise.
        neighbours: which data sets the total compares.
        delta: of an (ε, δ) budget, 0 otherwise.
        stated: ε at δ = 1e-10 of a loss that is given as (ε, δ), None of any other.
    """

    framework: PrivacyFramework
    total: Budget
    neighbours: Neighbours
    delta: Fraction = Fraction(0)
    stated: float | None = None

    @property
    def bound(self) -> Fraction | None:
        """The total as a number, None when there is no bound."""
        return self.total if isinstance(self.total, Fraction) else None

    def epsilon_at(self, delta: Fraction) -> float | None:
        """Return ε by the tightest conversion of zCDP; under pure DP the total itself; None without a bound, or of nothing.

        A loss given as (ε, δ) bounds ε from its own δ on, and by `stated` from 1e-10 on; nothing is known below both.

        Args:
            delta: at which ε is asked for.
        """
        if not self.bound:
            return None
        if self.framework is PrivacyFramework.PURE_DP:
            if delta >= self.delta:
                return float(self.bound)
            return self.stated if delta >= HEADLINE_DELTA else None
        from phexplore.accounting.zcdp import epsilon  # noqa: PLC0415 - loads numpy; the window starts without

        return epsilon(self.bound, delta, Conversion.ZCDP_OPTIMAL_ALPHA)

    @property
    def epsilon(self) -> float | None:
        """ε at δ = 1e-10 by the tightest conversion of zCDP; under pure DP the total itself; None without a bound."""
        if self.bound is None or self.stated is not None:
            return self.stated
        return self.epsilon_at(HEADLINE_DELTA) or 0.0


@dataclass(frozen=True, slots=True)
class Entry:
    """One measured query at one place.

    Attributes:
        key: as the system's own edits take it.
        level: geographic or population-group level, "" where a system has none.
        name: table, query, release or what a size is called.
        budget: its part of the loss before neighbours are chosen, exact; None for another answer of the entry before.
        margins: of one answer, None when it is not published.
        name_first: whether the place is written ``name/level``, as in ``PH3/state_A-G``.
    """

    key: Hashable
    level: str
    name: str
    budget: Budget | None
    margins: Margins | None
    name_first: bool = False

    @property
    def place(self) -> str:
        """How rules and comparisons name it: ``PH3/state_A-G``, ``Block/total``."""
        parts = (self.name, self.level) if self.name_first else (self.level, self.name)
        return "/".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Forecast:
    """What is known of a scenario before any run, in the form all systems share.

    Attributes:
        loss: of the whole.
        entries: in the order people see them.
        protected: what the loss protects, in sentences.
        not_protected: what is published exactly, in sentences.
        detail: the system's own figures, for its own pages and reports.
        epsilons: of the whole, by named conversions.
        noise: the discrete Gaussian answers it is made of, from which ε is proven; empty for another mechanism.
        halves: what one record of a pair moves on every possible path, where units of a geography give budgets away; made when asked.
        proven_parts: ends of the proven ε of places and attributes that are hidden better than the whole, by name; made when asked.
    """

    loss: Loss
    entries: tuple[Entry, ...]
    protected: tuple[str, ...]
    not_protected: tuple[str, ...]
    detail: Any
    epsilons: tuple[EpsilonFigure, ...] = ()
    noise: ReleaseNoise = field(default_factory=dict)
    halves: Callable[[], Sequence[tuple[NoisePart, ...]]] = tuple
    proven_parts: Callable[[], Mapping[str, tuple[float, float]]] = dict

    def proven(self, delta: Fraction = HEADLINE_DELTA) -> float | None:
        """Return the proven ε of the headline, a bound: the largest over all paths where units gave budgets away.

        None where the release is not made of discrete Gaussian noise.
        """
        parts = self.noise.get(self.loss.neighbours)
        return proven_bound(parts, self.halves(), delta) if parts else None

    def stated(self) -> tuple[EpsilonFigure, ...]:
        """Return ε by the named conversions and proven; takes some hundredths of a second, which no edit waits for."""
        return proven_figures(self.epsilons, self.noise, self.halves())


@dataclass(frozen=True, slots=True)
class PlaceName:
    """What people call a place of figures, such as ``PH3/state_A-G`` or ``Block/total``.

    Attributes:
        group: it stands under, e.g. a table or level.
        name: within the group.
        title: of its own.
    """

    group: str
    name: str
    title: str


def plain_place(place: str) -> PlaceName:
    """Return a place by its own words; "" is everything."""
    group, _, name = place.partition("/")
    return PlaceName(group, name or group, f"{group}: {name}" if name else place or "all")


@dataclass(frozen=True, slots=True)
class ParameterFile:
    """A kind of file that parameters of a system are read from.

    Attributes:
        suffix: of its name in lower case, with its dot; "" for every other one.
        read: the scenario of a file and what is worth knowing about it; raises `InputProblemsError` with all that is wrong.
        recognises: whether a file of this suffix is one of these.
    """

    suffix: str
    read: Callable[[Path], tuple[Scenario, tuple[Issue, ...]]]
    recognises: Callable[[Path], bool] = lambda _: True


@dataclass(frozen=True, slots=True)
class Handover:
    """The files production reads, and what a certificate says of them.

    Attributes:
        format: as ``phexplore export --format`` takes it.
        title: of the files, for people.
        file_name: proposed in dialogs, of the first file.
        product: what is certified, in words.
        files: texts by name, the name of the first, and notes; raises `ExportError` where they could not say what was chosen.
        write: writes these files to a path; returns the files and notes.
        loss_detail: the neighbours of the headline, in words.
        privacy: the part of the certificate about the loss.
        budgets: the part about budgets and noise.
        configuration: the part with the complete configuration, from the root's name and all texts.
    """

    format: str
    title: str
    file_name: str
    product: Callable[[Scenario], str]
    write: Callable[[Scenario, Path], tuple[list[Path], list[str]]]
    files: Callable[[Scenario], tuple[dict[str, str], str, list[str]]]
    loss_detail: Callable[[Scenario], str]
    privacy: Callable[[Scenario], Part]
    budgets: Callable[[Scenario], Part]
    configuration: Callable[[str, Mapping[str, str]], Part]


def coverage_words(stop: StopRule) -> str:
    """Return when a run ends that watches the coverage of its margins."""
    return f"stops at a standard error of {float(stop.coverage_error) * 100:g} %"


_PLAIN_JSON = lazy("phexplore.systems.plain", "forecast_json")
_PLAIN_TEXT = lazy("phexplore.systems.plain", "print_forecast")
_PLAIN_FIGURES = lazy("phexplore.systems.plain", "scenario_figures")


def _plain_formats() -> Mapping[str, ExportFormat]:
    return formats_by_id(parameters_json("json", "parameters.json"), *PLAIN_REPORTS)


@dataclass(frozen=True, slots=True)
class System:
    """One way to protect a release.

    Attributes:
        id: the word in files and settings.
        title: for people.
        summary: what it is for, in a sentence.
        parameters: the class of its parameters.
        presets: published parameters by id.
        check: what needs attention, in any order.
        absurd_values: what is legal and hardly meant, beside a reference of the same system.
        loss: privacy loss alone, where that is cheaper than the forecast.
        forecast: all figures in the shared form.
        forecast_json: the figures as the command-line contract states them, on some blocks where a system takes them.
        print_forecast: the same as text for people.
        simulate: makes the simulation of a run.
        figures: the pictures of the parameters, beside what they are compared with or None, those most asked for first.
        formats: what parameters and their figures are written in, by id; production's own files are the hand-over's.
        report: what the results of a run are written from, from its directory, the time printed, and ``choices`` for its pictures
            where somebody chose.
        results: what the window shows of its runs.
        has_geography: whether it works on blocks of a geography, with spines and areas.
        may_be_unfinished: whether parameters may contradict each other while they are edited; issues say so, figures wait.
        run_options: what a run can be asked beyond its scenario: flags of the command line, rows of the form, part of ``spec.json``.
        complete_run: adds to a new run what its options name, e.g. the run whose answers it reads.
        is_ordinary: whether figures certainly can be computed, told without computing them; conventions are asked elsewhere.
        stop_words: when a run ends early, in words.
        own_data: data that came with these parameters, None when a user has to name some.
        files: what its parameters are read from, beside the JSON of this program.
        read_table: lays a table of some parameters over a scenario; None for a system without such tables.
        commands: adds the system's own commands to the program; where a command takes a SCENARIO, the program loads it:
            ``context.obj(text)``.
        experiments: of the papers about it, which one click reproduces.
        studies: what the window studies of a scenario on pages of their own, by name: called with the scenario and what is asked.
        meeting: what a meeting may move; None for the positive exact numbers that the parameters declare.
        place_name: what the places of its figures are called.
        budgets: the scenario as a budget model; None for a system whose budgets are not traded query by query.
        solve_estimates: like `solving_estimates.solve_estimates` of TopDown, budgets for margins of what is published after least
            squares; None for a system whose queries count by themselves.
        handover: None for a system without production files.
        room: makes what is its own in the window, from the system and what the window offers; None for a room that any system gets.
        runs: what the form that starts a run offers.
        manual: the page of the manual about it.
        counted: what the published numbers of a scenario count, or the answers of one query (None for all), e.g. households.
    """

    id: str
    title: str
    summary: str
    parameters: type[Any]
    check: Callable[[Scenario], Iterable[Issue]]
    forecast: Callable[[Scenario], Forecast]
    simulate: Maker
    report: Callable[..., RunReport]
    results: Results
    loss: Callable[[Scenario], Loss] | None = None
    forecast_json: Callable[[Scenario, Path | None], dict[str, Any]] = _PLAIN_JSON
    print_forecast: Callable[[Scenario, Path | None], None] = _PLAIN_TEXT
    figures: Callable[[Scenario, Scenario | None], tuple[Figure, ...]] = _PLAIN_FIGURES
    formats: Mapping[str, ExportFormat] = field(default_factory=_plain_formats)
    absurd_values: Callable[[Scenario, Scenario | None], Iterable[Issue]] = lambda _, __: ()
    has_geography: bool = False
    may_be_unfinished: bool = False
    run_options: type[Declared] | None = None
    complete_run: Callable[[RunSpec], RunSpec] = lambda spec: spec
    is_ordinary: Callable[[Scenario], bool] = lambda _: False
    stop_words: Callable[[StopRule], str] = coverage_words
    own_data: Callable[[Scenario], Path | None] = lambda _: None
    presets: Callable[[], Mapping[str, Preset]] = dict
    files: tuple[ParameterFile, ...] = ()
    read_table: Callable[[Path, Scenario], Scenario] | None = None
    commands: Callable[[typer.Typer], None] | None = None
    experiments: Callable[[], tuple[Experiment, ...]] = tuple
    studies: Callable[[], Mapping[str, Callable[..., Studied]]] = dict
    meeting: Callable[[Scenario], tuple[MeetingParameter, ...]] | None = None
    place_name: Callable[[str], PlaceName] = plain_place
    budgets: Callable[[Scenario], BudgetModel] | None = None
    solve_estimates: SolveEstimates | None = None
    handover: Handover | None = None
    room: Callable[..., Any] | None = None
    runs: RunOffer = field(default_factory=RunOffer)
    manual: str = "docs/start.md"
    counted: Callable[[Scenario, Any], str] = lambda _, __: "people"
