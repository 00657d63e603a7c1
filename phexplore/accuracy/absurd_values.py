"""Values that are legal and hardly meant: warnings for a committee, where a slip of the decimal point would stand."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from phexplore.accounting.zcdp import epsilon
from phexplore.accuracy.forecast import QueryForecast, forecast
from phexplore.accuracy.topdown_forecast import forecast_topdown
from phexplore.model.conventions import Conventions, Conversion
from phexplore.model.group_sizes import GroupSizes
from phexplore.model.issues import Issue, Severity
from phexplore.model.numbers import Budget, Unlimited, exact_text
from phexplore.model.phsafe import PhSafe, PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.model.subspace import Subspace
from phexplore.model.topdown import TopDown

MOST_EPSILON = 50.0
"""Above it an attacker's odds may change by more than e^50. The largest production release of 2020 has ε below 40."""
FAR = 10
"""A budget or margin this many times the reference's, or its tenth, looks like a slip: production's proposals moved by less."""
LEAST_MARGIN = 1
"""A margin below one person publishes the count itself, or nearly so."""
_REMEDY = "Look for a slip of the decimal point; leave it if it is meant."


def headline_epsilon(scenario: Scenario) -> float | None:
    """Return ε of a scenario by zCDP's tightest conversion at its δ; None for an unlimited or missing budget.

    Under pure DP and for subspace releases it is the budget itself.
    """
    delta = scenario.conventions.delta
    match scenario.method:
        case PhSafe() as method:
            figures = forecast(scenario)
            return _epsilon(method.framework, figures.headline, delta)
        case TopDown() | GroupSizes() as method:
            return _epsilon(method.framework, method.total, delta)
        case Subspace() as method:
            return float(method.epsilon)


def _epsilon(framework: PrivacyFramework, budget: Budget, delta: Fraction) -> float | None:
    if isinstance(budget, Unlimited) or budget == 0:
        return None
    if framework is PrivacyFramework.PURE_DP:
        return float(budget)
    return epsilon(budget, delta, Conversion.ZCDP_OPTIMAL_ALPHA)


def absurd_epsilon(scenario: Scenario) -> str:
    """Return what is to be said of a privacy loss that protects hardly anybody, "" for one that does."""
    value = headline_epsilon(scenario)
    return f"ε is {value:,.0f}, above {MOST_EPSILON:.0f}" if value is not None and value > MOST_EPSILON else ""


def absurd_query(entry: QueryForecast, before: QueryForecast | None, conventions: Conventions) -> str:
    """Return what is to be said of the budget and margin of a PHSafe query, "" when they look meant.

    Args:
        entry: of the scenario.
        before: of the reference, None without a comparable one.
        conventions: decide which margin counts.
    """
    if entry.margins is None or isinstance(entry.budget, Unlimited):
        return ""
    margin = entry.margins.by(conventions.margin)
    if margin < LEAST_MARGIN:
        return f"its margin is {margin:.2g} people, below one person"
    if before is None or before.margins is None or isinstance(before.budget, Unlimited):
        return ""
    if (entry.budget, entry.threshold) == (before.budget, before.threshold):  # what no edit touched is the same object
        return ""
    if ratio := _far(entry.budget, before.budget):
        return f"its budget is {ratio} that of the reference"
    ratio = _far(margin, before.margins.by(conventions.margin))
    return f"its margin is {ratio} that of the reference" if ratio else ""


def _far(now: Fraction | float, then: Fraction | float) -> str:
    """Return how many times a number is another, "" when they are less than a factor of `FAR` apart."""
    if now <= 0 or then <= 0:
        return ""
    if now >= FAR * then:
        return f"{float(now / then):,.0f} times"
    return f"1/{float(then / now):,.0f} of" if then >= FAR * now else ""


def absurd_values(scenario: Scenario, reference: Scenario | None) -> Iterator[Issue]:
    """Yield a warning for every value that is hardly meant.

    Args:
        scenario: with figures.
        reference: what it is compared with, None for nothing.
    """
    if said := absurd_epsilon(scenario):
        yield _warning(("total",), f"The privacy loss is hardly any protection: {said}.")
    if reference is not None and type(reference.method) is not type(scenario.method):
        reference = None
    match scenario.method:
        case PhSafe() as method:
            yield from _phsafe(scenario, method, reference)
        case TopDown() as method:
            yield from _topdown(scenario, method, reference)
        case GroupSizes() as method:
            other = None if reference is None else reference.group_sizes
            if other is not None and other.framework is method.framework:
                yield from _total(method.total, other.total)
        case Subspace() as method:
            if reference is not None:
                yield from _total(method.epsilon, reference.subspace.epsilon)


def _phsafe(scenario: Scenario, method: PhSafe, reference: Scenario | None) -> Iterator[Issue]:
    known: dict[object, QueryForecast] = {}
    if reference is not None and reference.phsafe.framework is method.framework:
        known = {entry.query: entry for entry in forecast(reference).queries}
    for entry in forecast(scenario).queries:
        if said := absurd_query(entry, known.get(entry.query), scenario.conventions):
            yield _warning(("budgets", entry.query.text), f"{entry.query.title} looks like a slip: {said}.")
    for query, target in method.targets.items():
        if target.numerator < LEAST_MARGIN * target.denominator:  # whole numbers: an edit asks this of every target
            said = f"The target of {query.title} is {exact_text(target)} people, below one person."
            yield _warning(("targets", query.text), said)


def _topdown(scenario: Scenario, method: TopDown, reference: Scenario | None) -> Iterator[Issue]:
    figures = forecast_topdown(method, scenario.conventions)
    convention = scenario.conventions.margin
    narrow = [e for e in figures.entries if e.margins is not None and e.margins.by(convention) < LEAST_MARGIN]
    for level in dict.fromkeys(entry.key.level for entry in narrow):
        names = [entry.key.query for entry in narrow if entry.key.level == level]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield _warning(("queries", level), f"Margins at {level} are below one person: {names[0]}{more}.")
    if reference is None or reference.topdown.framework is not method.framework:
        return
    if total := tuple(_total(method.total, reference.topdown.total)):
        yield from total  # every query is far then: said once
        return
    known = {entry.key: entry for entry in forecast_topdown(reference.topdown, reference.conventions).entries}
    for entry in figures.entries:
        before = known.get(entry.key)
        ratio = "" if before is None else _far(entry.budget, before.budget)
        if ratio:
            said = f"The budget of {entry.key.text} looks like a slip: it is {ratio} that of the reference."
            yield _warning(("queries", entry.key.text), said)


def _total(now: Fraction, then: Fraction) -> Iterator[Issue]:
    if ratio := _far(now, then):
        yield _warning(("total",), f"The total budget looks like a slip: it is {ratio} that of the reference.")


def _warning(path: tuple[str, ...], sentence: str) -> Issue:
    return Issue(path, sentence, _REMEDY, Severity.WARNING)
