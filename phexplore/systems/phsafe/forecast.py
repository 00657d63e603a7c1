"""Everything that can be said about a PHSafe scenario before any run: margins and privacy loss.

Args:
    scenario: the parameters.
    selection: published numbers to add.
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache

from phexplore.accounting.composition import Part
from phexplore.accounting.zcdp import bounded, epsilon
from phexplore.accuracy.margins import Margins, margins_of, margins_of_sum
from phexplore.accuracy.privacy_loss import HEADLINE_DELTA, EpsilonFigure, PrivacyLoss
from phexplore.accuracy.proven_loss import ReleaseNoise
from phexplore.catalog.tables import TableProduct, sensitivity, tables
from phexplore.errors import UnknownNameError
from phexplore.model.conventions import Conventions, Conversion, Neighbours
from phexplore.model.keys import PopulationGroupLevel, QueryKey, TableId
from phexplore.model.numbers import Budget, Unlimited, total_budget
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.noise.distributions import DiscreteGaussian, Noise, noise_for
from phexplore.systems.protocol import Entry

MOST_NUMBERS = 2000
"""More numbers in one sum would keep the window waiting."""


@dataclass(frozen=True, slots=True)
class QueryForecast:
    """What is known about one measured query: a table at a population-group level.

    Attributes:
        query: which one.
        threshold: τ in people per household, None for tables that count units.
        sensitivity: Δ in people (2τ + 2) or units (2).
        budget: ρ unbounded, or ε under pure DP; 0 = not published.
        bounded_budget: twice the budget.
        noise: distribution of one basis cell, None when not published.
        sigma: scale of the noise in people: σ of the discrete Gaussian, standard deviation of the geometric.
        margins: of one basis cell, None when not published.
        derived: sums, totals and copies, where it is published.
    """

    query: QueryKey
    threshold: int | None
    sensitivity: int
    budget: Budget
    bounded_budget: Budget
    noise: Noise | None
    sigma: float | None
    margins: Margins | None
    derived: tuple[DerivedForecast, ...] = field(default=(), compare=False, repr=False)


class DerivedKind(enum.Enum):
    """How a derived number comes about. The value is the word in JSON."""

    TOTAL = "total"
    """The total of a table: the sum of all its basis cells."""
    SUM = "sum"
    """A subtotal: the sum of some basis cells."""
    COPY = "copy"
    """The same noisy number under another name (PH5_num from PH4, renters of PH8_num from PH7)."""


@dataclass(frozen=True, slots=True)
class DerivedForecast:
    """A published number that is computed from basis cells.

    Attributes:
        table: the table it is published in.
        level: population-group level.
        cell: data-cell code in that table.
        label: what the cell counts.
        kind: sum, total or copy.
        source: the measured table it comes from.
        source_cells: codes of the basis cells added, in the measured table.
        margins: of the number.
    """

    table: TableId
    level: PopulationGroupLevel
    cell: int
    label: str
    kind: DerivedKind
    source: TableId
    source_cells: tuple[int, ...]
    margins: Margins


_ROUNDED_VARIANCE = Fraction(3, 2)
_APART = 10**6
"""Losses that differ by one part in so many are told apart."""


def noise_of_release(answers: Iterable[tuple[int, Noise]]) -> ReleaseNoise:
    """Return one answer per published query when a record is added or removed, two when one is replaced.

    All of Δ falls on one cell: proven to be the worst split where `is_worst_in_one_cell`, elsewhere in doubt. Empty under pure DP and
    where a query has no noise.

    Args:
        answers: sensitivity and noise of each query.
    """
    once, twice = [], []
    for reach, noise in answers:
        if not isinstance(noise, DiscreteGaussian):
            return {}
        part, both = _parts(reach, noise.sigma2.numerator, noise.sigma2.denominator)
        once.append(part)
        twice.append(both)
    return {Neighbours.UNBOUNDED: tuple(once), Neighbours.BOUNDED: tuple(twice)}


@lru_cache(maxsize=512)
def _parts(reach: int, numerator: int, denominator: int) -> tuple[Part, Part]:
    """Return an answer once and twice, given its variance in whole numbers: an edit changes one of fifty."""
    variance = Fraction(numerator, denominator)
    doubt = Fraction(0) if is_worst_in_one_cell(reach, variance) else 2 * _ROUNDED_VARIANCE
    part = Part(variance, reach, 1, doubt)
    return part, part._replace(copies=2)


def is_worst_in_one_cell(sensitivity: int, variance: Fraction) -> bool:
    """Return whether changing one cell by the whole sensitivity is proven worse than changing several.

    Rounding a continuous Gaussian of variance σ² − r² by discrete noise of r² = 3/2 gives the discrete Gaussian of σ² but for a
    factor of e^±1e-12, and adding such noise gives the reverse: at any split the loss lies between those of Gaussians of σ² ∓ r². A
    split other than one cell has a squared norm of (Δ − 1)² + 1 at most.

    Args:
        sensitivity: Δ, by which the cells of a query change in sum.
        variance: σ² of each cell's noise.
    """
    if sensitivity == 1:
        return True
    split = (sensitivity - 1) ** 2 + 1
    # Whole numbers: 46 queries are asked for in every frame. Further apart than the factor of 1e-12 can bridge.
    twice, rounded = 2 * variance.numerator, int(2 * _ROUNDED_VARIANCE) * variance.denominator
    return split * (twice + rounded) * (_APART + 1) < sensitivity**2 * (twice - rounded) * _APART


@dataclass(frozen=True)
class Forecast:
    """All analytic figures of a scenario.

    Attributes:
        conventions: what the figures mean.
        privacy: loss of the whole.
        queries: one entry per measured query, in the order of Table 10, unpublished ones included.
    """

    conventions: Conventions
    privacy: PrivacyLoss
    queries: tuple[QueryForecast, ...]

    @cached_property
    def derived(self) -> tuple[DerivedForecast, ...]:
        """Sums, totals and copies of published queries."""
        return tuple(each for entry in self.queries for each in entry.derived)

    def share(self, budget: Budget) -> Fraction | None:
        """Return a budget as a share of the scenario's total, exact; None when that total is 0 or unlimited."""
        total = self.privacy.total
        if isinstance(budget, Unlimited) or isinstance(total, Unlimited) or total == 0:
            return None
        return budget / total

    def query(self, key: QueryKey) -> QueryForecast:
        """Return the entry of this query.

        Raises:
            KeyError: it is not measured.
        """
        return self.by_query[key]

    @cached_property
    def by_query(self) -> Mapping[QueryKey, QueryForecast]:
        """The entries by their query."""
        return {entry.query: entry for entry in self.queries}

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Tables at population-group levels, in the form all systems share."""
        return tuple(
            Entry(each.query, each.query.level.text, each.query.table, each.budget, each.margins, name_first=True)
            for each in self.queries
        )

    @cached_property
    def noise(self) -> ReleaseNoise:
        """The answers of the published queries, as `noise_of_release` says."""
        return noise_of_release((each.sensitivity, each.noise) for each in self.queries if each.noise is not None)

    @property
    def headline(self) -> Budget:
        """The total under the scenario's neighbours."""
        if self.conventions.neighbours is Neighbours.BOUNDED:
            return self.privacy.bounded_total
        return self.privacy.total


def forecast(scenario: Scenario) -> Forecast:
    """Return all analytic figures. Unchanged queries come from a cache keyed by value, so an edit costs one query.

    The figures of the scenarios last asked for are kept: table, tiles, issues and pictures ask for the same one.
    """
    figures = known_forecast(scenario)
    if figures is None:
        figures = _computed(scenario)
        _RECENT.append((scenario, figures))
    return figures


def known_forecast(scenario: Scenario) -> Forecast | None:
    """Return the figures of one of the scenarios last asked for, None for another one."""
    return next((figures for asked, figures in tuple(_RECENT) if asked is scenario), None)


_RECENT: deque[tuple[Scenario, Forecast]] = deque(maxlen=6)


def _computed(scenario: Scenario) -> Forecast:
    method, conventions = scenario.phsafe, scenario.conventions
    total = total_budget(list(method.budgets.values()))
    known = _known_figures(method.framework, conventions)
    queries = tuple(known.of(key, method.thresholds.get(key.table), budget) for key, budget in method.budgets.items())
    return Forecast(conventions, _privacy_loss(method.framework, total, conventions), queries)


class _KnownFigures:
    """The figures of queries already seen under one framework and one set of conventions.

    The key holds whole numbers: hashing a fraction costs a modular power, too much 46 times per frame.
    """

    def __init__(self, framework: PrivacyFramework, conventions: Conventions) -> None:
        self._framework = framework
        self._conventions = conventions
        self._figures: dict[tuple[QueryKey, int | None, int, int], QueryForecast] = {}

    def of(self, key: QueryKey, threshold: int | None, budget: Budget) -> QueryForecast:
        """Return the figures of a query, computed once."""
        ratio = (-1, 1) if isinstance(budget, Unlimited) else (budget.numerator, budget.denominator)
        place = (key, threshold, *ratio)
        if (figures := self._figures.get(place)) is None:
            if len(self._figures) >= _MOST_FIGURES:
                self._figures.clear()
            figures = self._figures[place] = self._computed(key, threshold, budget)
        return figures

    def _computed(self, key: QueryKey, threshold: int | None, budget: Budget) -> QueryForecast:
        if (product := tables().get(key.table)) is None:  # a file may name any
            raise UnknownNameError("table", key.table, [each for each, known in tables().items() if known.measured])
        reach = sensitivity(product, threshold)
        twice = budget if isinstance(budget, Unlimited) else bounded(budget)
        if budget == 0:
            return QueryForecast(key, threshold, reach, budget, twice, None, None, None)
        noise = noise_for(self._framework, sensitivity=reach, budget=budget)
        margins = margins_of(noise, 1, self._conventions.confidence, self._conventions.z)
        derived: list[DerivedForecast] = []
        for product in tables().values():
            if key.table in {product.id, product.derived_from}:
                derived += _derived_cells(product, key, noise, self._conventions)
        sigma = noise.reported_variance() ** 0.5
        return QueryForecast(key, threshold, reach, budget, twice, noise, sigma, margins, tuple(derived))


_MOST_FIGURES = 4096


@lru_cache(maxsize=16)
def _known_figures(framework: PrivacyFramework, conventions: Conventions) -> _KnownFigures:
    return _KnownFigures(framework, conventions)


def _derived_cells(
    product: TableProduct, key: QueryKey, noise: Noise, conventions: Conventions
) -> list[DerivedForecast]:
    """Return the cells of `product` that are sums or copies of basis cells measured for `key`."""
    measured = tables()[key.table]
    everything = {cell.code for cell in measured.basis_cells}
    found = []
    for cell in product.cells:
        if cell.copy_of is not None:  # the same count repeated by non-private output only
            continue
        codes = measured_codes(product, cell.code)
        if product.id == key.table and len(codes) == 1:
            continue
        kind = DerivedKind.TOTAL if set(codes) == everything and len(codes) > 1 else DerivedKind.SUM
        if len(codes) == 1:
            kind = DerivedKind.COPY
        margins = margins_of(noise, len(codes), conventions.confidence, conventions.z)
        found.append(DerivedForecast(product.id, key.level, cell.code, cell.label, kind, key.table, codes, margins))
    return found


@lru_cache(maxsize=512)
def measured_codes(product: TableProduct, code: int) -> tuple[int, ...]:
    """Return the basis cells of the measured table whose noisy counts add up to this cell.

    Args:
        product: a measured or a derived table.
        code: a data cell of it.

    Raises:
        UnknownNameError: the table has no such cell.
    """
    cell = product.cell(code)
    basis = cell.sum_of or ((code,) if cell.copy_of is None else (cell.copy_of,))
    if product.measured:
        return basis
    return tuple(source for part in basis for source in product.cell(part).sources)


@lru_cache(maxsize=256)
def _privacy_loss(framework: PrivacyFramework, total: Budget, conventions: Conventions) -> PrivacyLoss:
    if isinstance(total, Unlimited):
        return PrivacyLoss(framework, total, total, ())
    twice = bounded(total)
    if total == 0:
        return PrivacyLoss(framework, total, twice, ())
    sides = {Neighbours.BOUNDED: twice, Neighbours.UNBOUNDED: total}
    if framework is PrivacyFramework.PURE_DP:
        figures = tuple(
            EpsilonFigure(None, neighbours, None, Fraction(0), float(value)) for neighbours, value in sides.items()
        )
        return PrivacyLoss(framework, total, twice, figures)
    deltas = sorted({HEADLINE_DELTA, conventions.delta})
    figures = tuple(
        EpsilonFigure(conversion, neighbours, rho, delta, epsilon(rho, delta, conversion))
        for delta in deltas
        for neighbours, rho in sides.items()
        for conversion in Conversion
    )
    return PrivacyLoss(framework, total, twice, figures)


@dataclass(frozen=True, slots=True)
class SelectedNumber:
    """One published number a user picked for a sum.

    Attributes:
        table: where it is published, derived tables included.
        region: REGION_ID, "1" for the nation, else the state's code.
        level: its population-group level.
        iteration_code: "*", "A" … "I".
        cell: data-cell code.
    """

    table: TableId
    region: str
    level: PopulationGroupLevel
    iteration_code: str
    cell: int


@dataclass(frozen=True, slots=True)
class SelectionMargin:
    """The noise margin of a sum of published numbers.

    Attributes:
        margins: of the sum; `exact` is None when a measurement enters more than once.
        measurements: how many different noisy measurements are in the sum.
        repeated: how many of them enter more than once (their noise adds, it does not average out).
    """

    margins: Margins
    measurements: int
    repeated: int


def selection_margin(scenario: Scenario, selection: list[SelectedNumber]) -> SelectionMargin:
    """Return the noise margin of the sum of any published numbers, shared measurements counted once as one noise.

    Args:
        scenario: that publishes the numbers.
        selection: at least one number.

    Raises:
        ValueError: the selection is empty, or holds a number that is not published.
    """
    if not selection:
        raise ValueError("choose at least one number")
    weights: dict[tuple[TableId, str, PopulationGroupLevel, str, int], int] = {}
    for number in selection:
        product = tables()[number.table]
        source = product.derived_from or product.id
        for code in measured_codes(product, number.cell):
            variable = (source, number.region, number.level, number.iteration_code, code)
            weights[variable] = weights.get(variable, 0) + 1
    noises = {variable: _noise_of(scenario, QueryKey(variable[0], variable[2])) for variable in weights}
    repeated = sum(weight > 1 for weight in weights.values())
    if not repeated:
        return SelectionMargin(margins_of_sum(list(noises.values()), scenario.conventions), len(weights), 0)
    flat = [noises[variable] for variable, weight in weights.items() for _ in range(weight * weight)]
    summed = margins_of_sum(flat, scenario.conventions)
    return SelectionMargin(Margins(None, summed.normal, summed.paper), len(weights), repeated)


@dataclass(frozen=True, slots=True)
class Pick:
    """What is added to a sum at once.

    Attributes:
        table: where the numbers are published.
        level: its population-group level.
        regions: REGION_IDs.
        groups: iteration codes.
        cells: data-cell codes.
    """

    table: TableId
    level: PopulationGroupLevel
    regions: tuple[str, ...]
    groups: tuple[str, ...]
    cells: tuple[int, ...]

    @property
    def numbers(self) -> list[SelectedNumber]:
        """Every number of the pick."""
        return [
            SelectedNumber(self.table, region, self.level, group, cell)
            for region in self.regions
            for group in self.groups
            for cell in self.cells
        ]

    @property
    def text(self) -> str:
        """The pick in words."""
        parts = (
            (len(self.regions), "area"),
            (len(self.groups), "group"),
            (len(self.cells), "cell"),
        )
        words = " × ".join(f"{count} {word}" + ("" if count == 1 else "s") for count, word in parts)
        return f"{self.table}, {self.level.title}: {words}"


def sum_of(scenario: Scenario, picks: Sequence[Pick]) -> SelectionMargin | str:
    """Return the margin of the sum of all picks, or why there is none.

    Args:
        scenario: that publishes the numbers.
        picks: what is added.
    """
    numbers = [number for pick in picks for number in pick.numbers]
    if not numbers:
        return "Choose areas, groups and cells, then add them to the sum."
    if len(numbers) > MOST_NUMBERS:
        return f"The sum has {len(numbers):,} numbers; up to {MOST_NUMBERS:,} are added."
    published = set(scenario.phsafe.published)
    for pick in picks:
        source = tables()[pick.table].derived_from or pick.table
        if QueryKey(source, pick.level) not in published:
            return f"{pick.table} at {pick.level.title} is not published."
    return selection_margin(scenario, numbers)


def _noise_of(scenario: Scenario, key: QueryKey) -> Noise:
    method = scenario.phsafe
    budget = method.budgets[key]
    if budget == 0:
        raise ValueError(f"{key.title} is not published")
    threshold = method.thresholds.get(key.table)
    reach = sensitivity(tables()[key.table], threshold)
    return noise_for(method.framework, sensitivity=reach, budget=budget)
