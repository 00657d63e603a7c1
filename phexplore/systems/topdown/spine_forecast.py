"""Predicted margins of a scenario on a spine: every query at every level, and for areas off the spine, beside the standard spine.

Margins are those of the scenario's conventions (z times the standard deviation): least squares adds many noises, so their sum is
close to a normal one. What the prediction does not see is in `UNSEEN`.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phexplore.accuracy.margins import normal_factor
from phexplore.errors import PhexploreError
from phexplore.model.numbers import exact_text
from phexplore.spine.allocation import Allocation, allocation_of, bypassed_units, moved_budget
from phexplore.spine.area_variance import added_variances, area_variances
from phexplore.spine.building import Spine, build_spine
from phexplore.spine.description import STANDARD, class_entities, default_classes
from phexplore.spine.settings import CLASS_TITLES, settings_for, with_levels
from phexplore.spine.top_down import predict_top_down
from phexplore.spine.variance import UNSEEN, UNSEEN_TOP_DOWN, Kinds, Prediction, predict
from phexplore.workload.queries import MarginalQuery, parse_query, total_query

if TYPE_CHECKING:
    from phexplore.model.conventions import Conventions
    from phexplore.model.topdown import TopDown
    from phexplore.spine.geography import Geography
    from phexplore.workload.schema import Schema

Floats = NDArray[np.float64]

QUANTILES = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)


class Fit(enum.Enum):
    """How the measurements become estimates."""

    AT_ONCE = "at-once"
    """All by one generalised least squares: the best a linear estimate can be."""
    TOP_DOWN = "top-down"
    """Level by level, every parent fixed before its children, as TopDown does."""


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Variances of one kind of answer over many units or areas.

    Attributes:
        variance: people², one per unit or area; infinite where nothing determines the count.
        z: factor from a standard deviation to a margin.
    """

    variance: Floats
    z: Fraction

    @property
    def margins(self) -> Floats:
        """Margins in people, ``float64[units]`` or areas."""
        return float(self.z) * np.sqrt(self.variance)

    def json(self) -> dict[str, Any]:
        """Return figures as JSON values; None where a figure is infinite."""
        margins = self.margins
        if not len(margins):
            return {"units": 0, "sigma": None, "moe": None}
        quantiles = np.quantile(margins, QUANTILES, method="inverted_cdf").tolist()
        return {
            "units": len(margins),
            "sigma": {"mean": _finite(float(np.sqrt(self.variance).mean()))},
            "moe": {
                "mean": _finite(float(margins.mean())),
                "max": _finite(float(margins.max())),
                "quantiles": {str(q): _finite(value) for q, value in zip(QUANTILES, quantiles, strict=True)},
            },
        }


@dataclass(frozen=True, slots=True, eq=False)
class SpineForecast:
    """A scenario's predicted variances on one spine.

    Attributes:
        spine: the spine.
        allocation: of the scenario's budgets.
        prediction: covariances of all units.
        kinds: the queries, each with its kinds of answers.
        on_spine: ``float64[representatives, answers]``.
        z: factor from a standard deviation to a margin.
        fit: how the measurements become estimates.
    """

    spine: Spine
    allocation: Allocation
    prediction: Prediction
    kinds: tuple[Kinds, ...]
    on_spine: Floats
    z: Fraction
    fit: Fit

    def levels(self) -> tuple[str, ...]:
        """Return the names of the levels."""
        return tuple(level.name for level in self.allocation.tree.levels)

    def at_level(self, level: str) -> Floats:
        """Return variances of every unit of a level, ``float64[units, answers]``, answers of all queries in order."""
        return self.prediction.at_level(self.levels().index(level), self.on_spine)

    def of_class(self, name: str) -> Floats:
        """Return exact variances of the areas of a class, ``float64[areas, answers]``."""
        return area_variances(self.prediction, class_entities(self.spine, name), self.kinds)

    def added_of_class(self, name: str) -> Floats:
        """Return what adding the variances of the units that make up each area would give, ``float64[areas]``."""
        return added_variances(self.prediction, class_entities(self.spine, name), self.kinds)


class Predicted(NamedTuple):
    """What the predictions of all queries share: the budgets of a spine's units, and the covariances they give."""

    allocation: Allocation
    prediction: Prediction


def predicted(spine: Spine, method: TopDown, onto: Schema | None, fit: Fit) -> Predicted:
    """Return what predictions of any query share; arguments as in `forecast_spine`.

    Raises:
        PhexploreError: the scenario does not fit the spine, or cannot be predicted.
    """
    allocation = allocation_of(spine, method)
    return Predicted(allocation, (predict if fit is Fit.AT_ONCE else predict_top_down)(allocation.tree, method, onto))


def forecast_spine(
    spine: Spine,
    method: TopDown,
    conventions: Conventions,
    *,
    queries: Sequence[str] | None = None,
    onto: Schema | None = None,
    fit: Fit = Fit.AT_ONCE,
    known: Predicted | None = None,
) -> SpineForecast:
    """Return predicted variances of a scenario on a spine.

    Args:
        spine: the spine.
        method: the parameters.
        conventions: for margins.
        queries: names; without it the total and everything measured.
        onto: a smaller schema of the data.
        fit: how the measurements become estimates.
        known: what `predicted` gave of the same arguments.

    Raises:
        PhexploreError: the scenario does not fit the spine, or cannot be predicted.
    """
    allocation, prediction = known or predicted(spine, method, onto, fit)
    schema = prediction.shape.measured.schema
    asked: list[MarginalQuery] = [total_query(schema), *prediction.shape.measured.queries]
    if queries is not None:
        asked = [parse_query(schema, name) for name in queries]
    kinds = tuple(prediction.kinds(query) for query in dict.fromkeys(asked))
    z = normal_factor(conventions.confidence, conventions.z)
    return SpineForecast(spine, allocation, prediction, kinds, prediction.variances(kinds), z, fit)


@dataclass(frozen=True, slots=True, eq=False)
class SpineComparison:
    """One scenario on a spine and on the standard one.

    Attributes:
        this: on the spine.
        standard: on the standard spine; None where the scenario does not fit it.
        reason: why there is none, else "".
        classes: of areas that are shown.
        pooled: what the pooled estimator comes near to on the spine, beside a fit level by level; None where nobody asked.
    """

    this: SpineForecast
    standard: SpineForecast | None
    reason: str
    classes: tuple[str, ...]
    pooled: SpineForecast | None = None

    def json(self) -> dict[str, Any]:
        """Return the figures as JSON values."""
        return {
            "provenance": self.this.spine.geography.provenance.json(),
            "levels": [_level_json(self.this, level, self.pooled) for level in self.this.levels()],
            "entities": [self._class_json(name) for name in self.classes],
            "bypassed": {
                "rule": self.this.allocation.rule,
                "units": bypassed_units(self.this.allocation.bypassed),
                "budget_moved": exact_text(moved_budget(self.this.allocation.bypassed)),
            },
            "unspent": {
                "this": _unspent(self.this),
                "standard": _unspent(self.standard) if self.standard is not None else None,
            },
            "standard_missing": self.reason or None,
            "fit": self.this.fit.value,
            "unseen": UNSEEN if self.this.fit is Fit.AT_ONCE else UNSEEN_TOP_DOWN,
            "remarks": [*self.this.spine.remarks, *self.this.prediction.remarks],
        }

    def _class_json(self, name: str) -> dict[str, Any]:
        this = self.this.of_class(name)
        added = self.this.added_of_class(name)
        before = self.standard.of_class(name) if self.standard is not None else None
        queries = []
        for query, columns in _columns(self.this.kinds):
            answers = []
            for column, (answer, alike) in zip(
                columns, zip(query.answers.tolist(), query.alike.tolist(), strict=True), strict=True
            ):
                answers.append(
                    {
                        "answer": list(query.query.answer_labels(answer)),
                        "alike": alike,
                        "this": Spread(this[:, column], self.this.z).json(),
                        "standard": Spread(before[:, column], self.this.z).json() if before is not None else None,
                        "added": Spread(added[:, column], self.this.z).json(),
                    }
                )
            queries.append({"query": query.query.name, "answers": answers})
        return {"class": name, "title": CLASS_TITLES.get(name, name), "entities": len(this), "queries": queries}


def forecast_on_blocks(
    geography: Geography, method: TopDown, conventions: Conventions, *, queries: Sequence[str] | None = None
) -> SpineComparison:
    """Return a scenario's predictions on the spine that it chooses, over these blocks, and on the standard one.

    Estimates are fitted level by level, as TopDown fits; where parts of several states keep their totals together they cannot be
    predicted so, and all measurements are fitted at once.

    Args:
        geography: blocks and areas.
        method: the parameters.
        conventions: what margins mean.
        queries: names of query groups, None for the usual.

    Raises:
        PhexploreError: the spine cannot be built, or the scenario does not fit it or cannot be predicted.
    """
    spine = build_spine(geography, settings_for(method))
    try:
        return compare_with_standard(spine, method, conventions, queries=queries, fit=Fit.TOP_DOWN)
    except PhexploreError:
        return compare_with_standard(spine, method, conventions, queries=queries, fit=Fit.AT_ONCE)


def compare_with_standard(
    spine: Spine,
    method: TopDown,
    conventions: Conventions,
    *,
    queries: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    fit: Fit = Fit.AT_ONCE,
    with_pooled: bool = False,
) -> SpineComparison:
    """Return a scenario's predictions on a spine and on the standard one.

    Args:
        spine: the spine.
        method: the parameters.
        conventions: for margins.
        queries: names; without it the total and everything measured.
        classes: of areas; without it all that the blocks have codes of.
        fit: how the measurements become estimates.
        with_pooled: whether a fit level by level gets what the pooled estimator comes near to beside it.

    Raises:
        PhexploreError: the scenario does not fit the spine, or cannot be predicted.
    """
    this = forecast_spine(spine, method, conventions, queries=queries, fit=fit)
    names = tuple(classes) if classes is not None else default_classes(spine)
    for name in names:
        class_entities(spine, name)
    standard, reason = None, ""
    try:
        plain = build_spine(spine.geography, with_levels(STANDARD, method))
        standard = forecast_spine(plain, method, conventions, queries=queries, fit=fit)
    except PhexploreError as error:
        reason = f"The standard spine is not shown: {error.sentence}"
    # The two must list the same answers in the same order.
    if standard is not None and [k.query for k in standard.kinds] != [k.query for k in this.kinds]:
        wanted = [kinds.query.name for kinds in this.kinds]
        standard = forecast_spine(standard.spine, method, conventions, queries=wanted, fit=fit)
    pooled = None
    if with_pooled and fit is Fit.TOP_DOWN:
        asked = [kinds.query.name for kinds in this.kinds]
        pooled = forecast_spine(spine, method, conventions, queries=asked, fit=Fit.AT_ONCE)
    return SpineComparison(this, standard, reason, names, pooled)


def _same_for(this: Floats, pooled: Floats) -> float | None:
    """Return with which part of ρ the pooled estimator has the mean variance of the other; None where that says nothing.

    All variances fall as one over ρ, so their ratio is that part.
    """
    mean = float(this.mean())
    return float(pooled.mean()) / mean if np.isfinite(mean) and mean > 0 else None


def _level_json(forecast: SpineForecast, level: str, pooled: SpineForecast | None) -> dict[str, Any]:
    table, other = forecast.at_level(level), None if pooled is None else pooled.at_level(level)
    queries = []
    for query, columns in _columns(forecast.kinds):
        answers = [
            {
                "answer": list(query.query.answer_labels(answer)),
                "alike": alike,
                **Spread(table[:, column], forecast.z).json(),
                **({} if other is None else {"pooled_rho": _same_for(table[:, column], other[:, column])}),
            }
            for column, answer, alike in zip(columns, query.answers.tolist(), query.alike.tolist(), strict=True)
        ]
        queries.append({"query": query.query.name, "answers": answers})
    return {"level": level, "units": len(table), "queries": queries}


def _columns(kinds: Sequence[Kinds]) -> list[tuple[Kinds, range]]:
    found, column = [], 0
    for each in kinds:
        found.append((each, range(column, column + len(each.answers))))
        column += len(each.answers)
    return found


def _unspent(forecast: SpineForecast) -> list[dict[str, str]]:
    return [{"level": level, "share": exact_text(share)} for level, share in forecast.allocation.unspent if share > 0]


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
