"""The published tuning procedure: how much budget each level needs, found level by level, then raised together.

Source: TopDown paper, section 8.1. First every level alone is fitted by binary search, the others without noise. Then the first two levels get
what they need alone, the rest stays without noise, and their budgets grow in proportion until the criterion holds; then one level
more, and so on down. Every probe is a simulated run; all of them are kept, so that an interrupted search goes on where it
stopped and whoever doubts a step can look at it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from phexplore.errors import PhexploreError
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.systems.topdown.forecast import query_of

STEP = Fraction(5, 4)
"""Budgets are searched on a grid of this ratio: finer than the noise of one simulated run can tell."""

MOST_STEPS = 64
"""From the start up or down: a factor of more than a million either way."""


class TuningError(PhexploreError):
    """A search that cannot succeed."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One simulated setting.

    Attributes:
        budgets: ρ per level, None = without noise, in the order of the levels.
        value: of the criterion: the share of areas that meet it, at the worst place.
        meets: whether that is enough.
    """

    budgets: tuple[tuple[str, Fraction | None], ...]
    value: float
    meets: bool

    @property
    def total(self) -> Fraction | None:
        """Sum of the budgets; None while a level is without noise."""
        if any(budget is None for _, budget in self.budgets):
            return None
        return sum((budget for _, budget in self.budgets if budget is not None), Fraction(0))


Evaluator = Callable[[Mapping[str, Fraction | None]], tuple[float, bool]]
"""Simulates budgets per level (None = without noise) and returns the criterion's value and whether it is enough."""


@dataclass(frozen=True, slots=True)
class TuningResult:
    """What a search found.

    Attributes:
        alone: ρ each level needs with the others without noise.
        budgets: ρ per level that together meet the criterion.
        total: their sum.
        probes: every setting that was simulated, in order.
        smaller: probes with all levels noisy that met the criterion with a smaller total than the procedure's, best first.
    """

    alone: Mapping[str, Fraction]
    budgets: Mapping[str, Fraction]
    total: Fraction
    probes: tuple[Probe, ...]
    smaller: tuple[Probe, ...]


@dataclass(slots=True)
class Tuner:
    """Runs the procedure. Give the probes of an earlier, interrupted search to go on with it.

    Attributes:
        levels: widest first.
        evaluate: simulates a setting; it may raise to pause.
        start: ρ every level's search begins with.
        on_probe: called after every new probe, to store it.
    """

    levels: Sequence[str]
    evaluate: Evaluator
    start: Fraction = Fraction(1, 10)
    on_probe: Callable[[Probe], None] = lambda _: None
    known: dict[tuple[tuple[str, Fraction | None], ...], Probe] = field(default_factory=dict)
    order: list[Probe] = field(default_factory=list)

    def resume(self, probes: Sequence[Probe]) -> None:
        """Take over the probes of an earlier search: none of them is simulated again."""
        self.known |= {probe.budgets: probe for probe in probes}

    def run(self) -> TuningResult:
        """Return what the procedure finds.

        Raises:
            TuningError: the criterion is not met even without noise, or no budget on the grid meets it.
        """
        nothing: dict[str, Fraction | None] = dict.fromkeys(self.levels)
        if not self._meets(nothing):
            raise TuningError(
                "The criterion is not met even without any noise.",
                "Loosen the criterion, or look at the post-processing.",
            )
        alone = {level: self._fitted(level) for level in self.levels}
        budgets: dict[str, Fraction] = {}
        for number, level in enumerate(self.levels):
            budgets[level] = alone[level]
            if number:  # the first level alone was just fitted
                budgets = self._raised(budgets)
        total = sum(budgets.values(), Fraction(0))
        smaller = sorted(
            (p for p in self.order if p.meets and p.total is not None and p.total < total),
            key=lambda p: p.total or total,
        )
        return TuningResult(alone, budgets, total, tuple(self.order), tuple(smaller))

    def probe(self, budgets: Mapping[str, Fraction | None]) -> Probe:
        """Return a setting's probe, simulated once."""
        key = tuple((level, budgets[level]) for level in self.levels)
        if (found := self.known.get(key)) is None:
            value, meets = self.evaluate(dict(key))
            found = self.known[key] = Probe(key, value, meets)
            self.on_probe(found)
        if found not in self.order:
            self.order.append(found)
        return found

    def _meets(self, budgets: Mapping[str, Fraction | None]) -> bool:
        return self.probe(budgets).meets

    def _fitted(self, level: str) -> Fraction:
        """Return the smallest budget on the grid with which a level alone meets the criterion."""

        def meets(exponent: int) -> bool:
            alone: dict[str, Fraction | None] = dict.fromkeys(self.levels)
            return self._meets({**alone, level: self.start * STEP**exponent})

        return self.start * STEP ** _smallest(meets, level)

    def _raised(self, budgets: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """Return the budgets times the smallest factor from 1 on with which they meet the criterion together."""

        def meets(exponent: int) -> bool:
            others: dict[str, Fraction | None] = dict.fromkeys(self.levels)
            return self._meets({**others, **{level: budget * STEP**exponent for level, budget in budgets.items()}})

        factor = STEP ** max(0, 0 if meets(0) else _smallest(meets, "the levels so far", low=0))
        return {level: budget * factor for level, budget in budgets.items()}


def _smallest(meets: Callable[[int], bool], what: str, low: int | None = None) -> int:
    """Return the smallest exponent that meets the criterion, by doubling steps and then halving; `low` fails already."""
    jump = 1
    high = 0 if low is None else low + 1
    if low is None and meets(0):
        while meets(high - jump):
            high, jump = high - jump, 2 * jump
            if high < -MOST_STEPS:
                return high
        low = high - jump
    else:
        low = 0 if low is None else low
        while not meets(high := low + jump):
            low, jump = high, 2 * jump
            if high > MOST_STEPS:
                raise TuningError(f"No budget of {what} meets the criterion.", "Loosen the criterion.")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if meets(middle) else (middle, high)
    return high


def starting_strategies(method: TopDown, collapsed: Sequence[str] = ()) -> dict[str, TopDown]:
    """Return six strategies: two query sets crossed with three rules of dividing a level's budget (TopDown paper, §8.1).

    Args:
        method: gives levels and the full query set.
        collapsed: the smaller query set; the detailed query and the two largest others when empty.

    Raises:
        TuningError: a query of the smaller set is not measured.
    """
    cells = {key: query_of(method.schema, key.query).answers for key in method.query_shares}
    small = set(collapsed) or set(
        sorted({key.query: n for key, n in cells.items()}, key=lambda q: -_size(method, q))[:3]
    )
    if unknown := sorted(small - {key.query for key in cells}):
        raise TuningError(f"{unknown[0]!r} is not measured by the scenario.", "Choose from its queries.")
    rules: dict[str, Callable[[int], Fraction]] = {
        "square": lambda n: Fraction(n**2),
        "inverse square": lambda n: Fraction(1, n**2),
        "uniform": lambda _: Fraction(1),
    }
    found: dict[str, TopDown] = {}
    for set_name, wanted in (("as published", None), ("collapsed", small)):
        for rule_name, weight in rules.items():
            shares: dict[LevelQuery, Fraction] = {}
            for level in method.levels:
                asked = [k for k in cells if k.level == level and (wanted is None or k.query in wanted)]
                whole = sum((weight(cells[key]) for key in asked), Fraction(0))
                shares |= {key: weight(cells[key]) / whole for key in asked}
            found[f"{set_name}, {rule_name}"] = replace(method, query_shares=shares, passes={})
    return found


def _size(method: TopDown, query: str) -> int:
    return query_of(method.schema, query).answers


def with_level_budgets(method: TopDown, budgets: Mapping[str, Fraction]) -> TopDown:
    """Return the method with these ρ per level and its own division over queries, exact.

    Args:
        method: the parameters.
        budgets: absolute, exact.

    Raises:
        TuningError: a level has no budget, or nothing has.
    """
    if set(budgets) != set(method.levels) or not sum(budgets.values(), Fraction(0)):
        raise TuningError("Every level needs a budget.", f"Levels are {', '.join(method.levels)}.")
    total = sum(budgets.values(), Fraction(0))
    return replace(method, total=total, level_shares={level: budgets[level] / total for level in method.levels})
