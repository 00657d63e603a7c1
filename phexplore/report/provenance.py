"""What every document says about its numbers: identity, privacy loss, conventions, formulas, errata and sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from phexplore.accuracy.margins import normal_factor
from phexplore.accuracy.privacy_loss import EpsilonFigure
from phexplore.figures.wording import conversion_title
from phexplore.model.conventions import Conventions, Conversion, MarginConvention, Neighbours, Proof
from phexplore.model.numbers import Rounding, exact_text, scientific_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.rounded import rounded_up


@dataclass(frozen=True, slots=True)
class Section:
    """Named sentences under one heading.

    Attributes:
        title: the heading.
        entries: pairs of a name and what is said of it.
    """

    title: str
    entries: tuple[tuple[str, str], ...]


NEIGHBOURS = {
    Neighbours.BOUNDED: "bounded: one person's record is changed, the total population is known",
    Neighbours.UNBOUNDED: "unbounded: one person's record is added or removed",
}

MARGIN_CONVENTIONS = {
    MarginConvention.PAPER: "paper: ⌊1.64 σ⌋, as printed in the PHSafe paper, 90 % only",
    MarginConvention.NORMAL: "normal: z σ",
    MarginConvention.EXACT: "exact: the smallest whole m with P(|noise| ≤ m) at least the confidence",
}

CONVERSIONS: Mapping[Conversion | Proof, str] = {
    Conversion.BUN_STEINKE: "ε = ρ + 2 √(ρ ln 1/δ) (Bun and Steinke 2016)",
    Conversion.ZCDP_OPTIMAL_ALPHA: "tightest bound for every ρ-zCDP mechanism, by the best Rényi order α "
    "(Canonne, Kamath and Steinke 2020)",
    Conversion.GAUSSIAN_CONTINUOUS: "exact curve of one continuous Gaussian of the same ρ: an approximation of the "
    "discrete noise, for information, never the headline (Balle and Wang 2018)",
    Proof.DISCRETE_GAUSSIAN: "proven from the noise of every answer, not from ρ: the high end of a certified bracket, "
    "rounded up (docs/proven_epsilon.md)",
}


def epsilon_name(figure: EpsilonFigure) -> str:
    """Return which ε it is, e.g. ``ε, bounded (zCDP, optimal α)``."""
    conversion = "pure DP" if figure.conversion is None else conversion_title(figure.conversion)
    return f"ε, {figure.neighbours.value} ({conversion})"


def epsilon_text(figure: EpsilonFigure) -> str:
    """Return its value, never less than it is, with δ and the ρ it was computed from."""
    value = rounded_up(figure.value, 6)
    if figure.rho is None:
        return value
    if figure.low is not None:
        moved = (
            ""
            if figure.bypass_high is None
            else f", at most {rounded_up(figure.bypass_high, 6)} where units gave budgets away"
        )
        return f"at most {rounded_up(figure.value, 6)} at δ = {scientific_text(figure.delta)}, proven{moved}"
    return f"{value} at δ = {scientific_text(figure.delta)}, from ρ = {exact_text(figure.rho)}"


def conventions_section(conventions: Conventions, framework: PrivacyFramework) -> Section:
    """Return what the shown numbers mean.

    Args:
        conventions: of the scenario.
        framework: zCDP adds δ and the conversions.
    """
    factor = normal_factor(conventions.confidence, conventions.z)
    direction = {Rounding.UP: "upward, so that the margin is kept", Rounding.NEAREST: "to the nearest, as in 2020"}
    entries = [
        ("Neighbouring data sets of the headline", NEIGHBOURS[conventions.neighbours]),
        ("Margin of error", MARGIN_CONVENTIONS[conventions.margin]),
        ("Confidence", f"{exact_text(conventions.confidence * 100)} %"),
        ("z of the normal convention", exact_text(factor)),
        ("Solved budgets", f"multiples of {exact_text(conventions.rounding_step)}, {direction[conventions.rounding]}"),
    ]
    if framework is PrivacyFramework.ZCDP:
        entries.append(("δ of the headline ε", scientific_text(conventions.delta)))
        entries += [(f"ε by {conversion_title(conversion)}", text) for conversion, text in CONVERSIONS.items()]
    return Section("Conventions", tuple(entries))
