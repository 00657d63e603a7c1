"""The same converted ε with narrower margins: what the slack of a conversion of zCDP buys, in people."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import median

from phexplore.accounting.zcdp import epsilon
from phexplore.accuracy.proven_loss import noise_factor
from phexplore.model.conventions import Conversion, Neighbours
from phexplore.model.numbers import Unlimited, scientific_text
from phexplore.model.rounded import rounded_up
from phexplore.model.scenario import Scenario
from phexplore.systems.protocol import Forecast, UnsupportedError
from phexplore.systems.registry import budgets_of, forecast

_LEAST = Fraction(1, 10**6)
"""Of ε: how much less is aimed at, where rounding a budget took a little more than it gave."""
_MOST_TRIES = 30


@dataclass(frozen=True, slots=True)
class LessNoise:
    """A scenario with less noise whose proven ε is within the converted ε of another one.

    Attributes:
        scenario: with all budgets larger by one factor, as far as none is locked.
        factor: by which variances are divided.
        converted: ε of the first scenario by a conversion of its ρ, published or not.
        proven: ε of the new one, high end, on any path that units with an only child may make of its spine.
        neighbours: of both.
        delta: of both.
        margins: median margin of the measured queries before and after, in people.
    """

    scenario: Scenario
    factor: Fraction
    converted: float
    proven: float
    neighbours: Neighbours
    delta: Fraction
    margins: tuple[float, float]

    @property
    def variance_saved(self) -> float:
        """By how much every variance falls, as a share of itself."""
        return float(1 - 1 / self.factor)

    @property
    def sentence(self) -> str:
        """What it is and buys."""
        before, after = self.margins
        return (
            f"{100 * self.variance_saved:.2f} % less variance, {100 * (1 - float(self.factor) ** -0.5):.2f} % narrower margins "
            f"(median margin ± {before:,.2f} before, ± {after:,.2f} now). Its proven ε ≤ {rounded_up(self.proven, 6)} stays within the "
            f"converted ε {rounded_up(self.converted, 6)} of the scenario it was made from, at δ = {scientific_text(self.delta)}. Its ρ is larger."
        )


def less_noise(scenario: Scenario, conversion: Conversion = Conversion.ZCDP_OPTIMAL_ALPHA) -> LessNoise:
    """Return the scenario that spends as much proven ε as a conversion of ρ states for this one.

    Args:
        scenario: with discrete Gaussian noise.
        conversion: of its ρ to ε.

    Raises:
        UnsupportedError: its noise is of another kind, or a budget is locked.
        EditRefusedError: its budgets cannot be changed.
    """
    model, known, delta = budgets_of(scenario), forecast(scenario), scenario.conventions.delta
    side, total = known.loss.neighbours, known.loss.bound
    parts = known.noise.get(side)
    if not parts or not total:
        raise UnsupportedError(
            f"{scenario.name!r} is not made of discrete Gaussian noise, so no slack of its ε is known.",
            "Choose a scenario under zCDP with a finite budget.",
        )
    if model.locks:
        raise UnsupportedError(
            f"{len(model.locks)} budgets of {scenario.name!r} are locked; all of them have to grow together.",
            "Unlock them first.",
        )
    converted = epsilon(total, delta, conversion)
    aim = Fraction(converted)
    for _ in range(_MOST_TRIES):
        factor = noise_factor(parts, aim, delta)[0] if aim > 0 else Fraction(0)
        if not factor:
            break
        budgets = {
            key: budget * factor
            for key, budget in model.budgets.items()
            if not isinstance(budget, Unlimited) and budget
        }
        made = replace(
            model.with_traded(budgets), name=f"Same converted ε ({rounded_up(converted, 2)}), narrower margins"
        )
        after = forecast(made)
        # The files of production round, and paths differ: what they hold is evaluated, not what was aimed at.
        high = after.proven(delta)
        if high is not None and high <= converted:
            result = LessNoise(made, factor, converted, high, side, delta, (_median(known), _median(after)))
            return replace(result, scenario=replace(made, note=result.sentence))
        aim -= max(Fraction(high or 0) - Fraction(converted), _LEAST)
    raise UnsupportedError(
        f"No larger budgets of {scenario.name!r} were found that keep its ε.", "Its ε has no slack to speak of."
    )


def _median(known: Forecast) -> float:
    return median(entry.margins.normal for entry in known.entries if entry.margins is not None)
