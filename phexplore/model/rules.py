"""Decision rules as values: what must hold before somebody may say yes, e.g. "≥ 95 % of places with ≥ 500 people within 5 percentage points"."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from fractions import Fraction

from phexplore.errors import PhexploreError
from phexplore.model.numbers import decimal_text


class RuleError(PhexploreError):
    """A rule that says nothing or contradicts itself."""


class Measure(enum.Enum):
    """What a rule looks at. The value is the word in files."""

    MARGIN = "margin"
    """Margin of error in people: of a scenario analytic, of a run observed."""
    LOSS = "loss"
    """The whole privacy loss: bounded ρ of PHSafe, ρ of TopDown."""
    EPSILON = "epsilon"
    """ε of the whole loss at δ = 1e-10, by the tightest zCDP conversion."""
    PROVEN = "proven epsilon"
    """ε of the whole loss at δ = 1e-10, proven from its discrete Gaussian noise."""
    LARGEST_GROUP = "largest group"
    """Share of areas in which the largest group keeps its share of the people; runs only."""
    COVERAGE = "coverage"
    """Share of numbers within the scenario's margin; runs only."""
    ERROR = "error"
    """A figure of errors such as mae or rmse; runs only."""
    CHECKS = "checks"
    """Number of failed checks; runs only."""

    @property
    def needs_run(self) -> bool:
        """Whether a scenario alone cannot be judged."""
        return self not in {Measure.MARGIN, Measure.LOSS, Measure.EPSILON, Measure.PROVEN}

    @property
    def is_share(self) -> bool:
        """Whether its limit is a share of 1, which people write in percent."""
        return self in {Measure.LARGEST_GROUP, Measure.COVERAGE}


class Bound(enum.Enum):
    """On which side of its limit a rule wants its measure."""

    AT_MOST = "at most"
    AT_LEAST = "at least"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        measure: what is looked at.
        bound: on which side of the limit it is to be.
        limit: in the measure's unit: people, ρ, ε, or a share between 0 and 1.
        place: where: ``PH3/state_A-G``, ``Block_Group/total`` or a level; "" for everywhere, the worst place decides.
        figure: which figure of errors, e.g. ``mae``; used by ERROR alone.
        least_people: areas with fewer people do not count; used by LARGEST_GROUP alone.
        tolerance: how far a share may be off, e.g. 1/20; used by LARGEST_GROUP alone.
    """

    measure: Measure
    bound: Bound
    limit: Fraction
    place: str = ""
    figure: str = ""
    least_people: int = 500
    tolerance: Fraction = Fraction(1, 20)

    def __post_init__(self) -> None:
        """Refuse a rule that says nothing.

        Raises:
            RuleError: the limit is negative, a share above 1, or the figure is missing or out of place.
        """
        if self.limit < 0:
            raise RuleError(f"A limit is 0 or more, got {_shown(self.limit)}.", "Enter a positive number.")
        if self.measure.is_share and self.limit > 1:
            raise RuleError(f"A share lies between 0 and 1, got {_shown(self.limit)}.", "Enter e.g. 95 %.")
        if (self.measure is Measure.ERROR) != bool(self.figure):
            raise RuleError("A rule about errors names one figure, others none.", "Name e.g. mae, rmse or mape.")
        if self.least_people < 0 or not 0 < self.tolerance <= 1:
            raise RuleError("A tolerance lies between 0 and 1, and people are 0 or more.", "Enter e.g. 500 and 5 %.")

    @property
    def title(self) -> str:
        """The rule in words; what a margin counts follows from the scenario that is judged."""
        where = f" of {self.place}" if self.place else ""
        side = "at most" if self.bound is Bound.AT_MOST else "at least"
        limit = _shown(self.limit)
        percent = _shown(self.limit * 100)
        sign = "≤" if self.bound is Bound.AT_MOST else "≥"
        words = {
            Measure.MARGIN: f"margin of error{where} {side} {limit}",
            Measure.LOSS: f"privacy loss {side} {limit}",
            Measure.EPSILON: f"ε {side} {limit}",
            Measure.PROVEN: f"proven ε {side} {limit}",
            Measure.LARGEST_GROUP: (
                f"{sign} {percent} % of {self.place + ' ' if self.place else ''}areas with ≥ {self.least_people} people "
                f"within {_shown(self.tolerance * 100)} percentage points"
            ),
            Measure.COVERAGE: f"coverage of the margin{where} {side} {percent} %",
            Measure.ERROR: f"{self.figure}{where} {side} {limit}",
            Measure.CHECKS: f"failed checks {side} {limit}",
        }
        return words[self.measure]


def _shown(value: Fraction) -> str:
    return decimal_text(value) or f"{value.numerator}/{value.denominator}"


class Outcome(enum.Enum):
    """How something does on a rule."""

    PASS = "pass"  # noqa: S105 - the opposite of fail
    FAIL = "fail"
    TOO_FEW = "too few to judge"
    """The interval over trials or areas contains the limit."""
    NOT_JUDGED = "not judged"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a rule says of a scenario or a run.

    Attributes:
        rule: which one.
        outcome: pass, fail, too few to judge, or not judged.
        value: of the measure at the deciding place; None when not judged.
        distance: room that is left, in the measure's unit: negative when the rule is broken; None when not judged.
        where: the deciding place, "" for the whole.
        reason: why it was not judged, "" when it was.
        low: lower end of the value's interval over trials, None without one.
        high: upper end.
        counted: what a margin counts there, or the symbol of a loss.
    """

    rule: Rule
    outcome: Outcome
    value: float | None = None
    distance: float | None = None
    where: str = ""
    reason: str = ""
    low: float | None = None
    high: float | None = None
    counted: str = "people"


REDISTRICTING = Rule(Measure.LARGEST_GROUP, Bound.AT_LEAST, Fraction(95, 100))
"""The criterion that decided the redistricting data: ≥ 95 % of places with ≥ 500 people within 5 percentage points (TopDown paper, §8.1)."""


def not_judged(rule: Rule, reason: str) -> Verdict:
    """Return the verdict that there is none.

    Args:
        rule: the rule.
        reason: why nothing can be said of it.
    """
    return Verdict(rule, Outcome.NOT_JUDGED, reason=reason)


def judged(
    rule: Rule, value: float | Fraction, where: str = "", *, low: float | None = None, high: float | None = None
) -> Verdict:
    """Return the verdict on a value: pass or fail only where its whole interval is on one side of the limit.

    A value exactly at the limit passes; exact values are compared exactly.

    Args:
        rule: the rule with its limit.
        value: what was measured or forecast, in the unit of the limit.
        where: the place of the value, e.g. a table or a level.
        low: lower end of its confidence interval, None without one.
        high: upper end.
    """
    limit = rule.limit if isinstance(value, Fraction) else float(rule.limit)
    # Of the decimals that are read: 1.1 is 0.9 below 2, the floats next to them are not.
    short = Fraction(str(limit)) - Fraction(str(value)) if math.isfinite(value) else limit - value
    distance = short if rule.bound is Bound.AT_MOST else -short
    outcome = Outcome.PASS if distance >= 0 else Outcome.FAIL
    if low is not None and high is not None:
        first, last = (low, high) if rule.bound is Bound.AT_LEAST else (-high, -low)
        bound = float(rule.limit) if rule.bound is Bound.AT_LEAST else -float(rule.limit)
        if first < bound <= last:
            outcome = Outcome.TOO_FEW
    return Verdict(rule, outcome, float(value), float(distance), where, low=low, high=high)
