"""Explain a number: its formula, the formula with the numbers filled in, the result and where it comes from.

Args:
    entry: a query or a derived number.
    framework: zCDP or pure DP.
    conventions: of the scenario.
    convention: of the margin.
    margin: in people.
"""

from __future__ import annotations

from phexplore.accuracy.explanation import Explanation
from phexplore.accuracy.margins import NINETY_PERCENT, normal_factor
from phexplore.accuracy.privacy_loss import EpsilonFigure
from phexplore.catalog.tables import counted_in
from phexplore.figures.wording import budget_text, people, to_digits, to_places
from phexplore.model.conventions import Conventions, Conversion, MarginConvention, Neighbours, Proof
from phexplore.model.numbers import Unlimited, exact_text, scientific_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.rounded import rounded_down, rounded_up
from phexplore.systems.phsafe.forecast import DerivedForecast, Forecast, QueryForecast


def explain_sensitivity(entry: QueryForecast) -> Explanation:
    """Explain Δ of a query."""
    if entry.threshold is None:
        return Explanation(
            f"Sensitivity of {entry.query.table}",
            "Δ = 2",
            "Δ = 2",
            f"2 {counted_in(entry.query.table)}",
            "Adding or removing one person's records changes at most two rows of the unit table.",
            "PHSafe paper, Theorem 2",
        )
    return Explanation(
        f"Sensitivity of {entry.query.table}",
        "Δ = 2τ + 2",
        f"Δ = 2 × {entry.threshold} + 2",
        f"{entry.sensitivity} people",
        f"With at most {entry.threshold} people counted per household, one person's records move a count by at most "
        f"{entry.sensitivity}.",
        "PHSafe paper, Lemma 6 and Theorem 1",
    )


def explain_sigma(entry: QueryForecast, framework: PrivacyFramework) -> Explanation:
    """Explain the scale of the noise of a published query.

    Args:
        entry: of the forecast.
        framework: zCDP or pure DP.

    Raises:
        ValueError: the query is not published.
    """
    sigma, budget = _published(entry)
    if framework is PrivacyFramework.PURE_DP:
        return Explanation(
            f"Noise of {entry.query.title}",
            "b = Δ / ε,  variance = 2 e^(−1/b) / (1 − e^(−1/b))²",
            f"b = {entry.sensitivity} / {budget}",
            f"standard deviation {to_places(sigma)}",
            "Two-sided geometric noise with this scale is added to every basis cell.",
            "PHSafe 3.0.0, pure-DP mode",
        )
    return Explanation(
        f"σ of {entry.query.title}",
        "σ² = Δ² / (2ρ)",
        f"σ² = {entry.sensitivity}² / (2 × {budget}) = {to_places(sigma * sigma)}",
        f"σ = {to_places(sigma)} {counted_in(entry.query.table)}",
        "Exact discrete Gaussian noise with this scale is added to every basis cell.",
        "PHSafe paper, Algorithm 5 and Lemma 3",
    )


def explain_margin(
    entry: QueryForecast, framework: PrivacyFramework, conventions: Conventions, convention: MarginConvention
) -> Explanation:
    """Explain one of the three margins of a published query.

    Args:
        entry: of the forecast.
        framework: zCDP or pure DP.
        conventions: of the scenario.
        convention: which of the three margins.

    Raises:
        ValueError: the query is not published.
    """
    sigma, _ = _published(entry)
    margins = entry.margins
    if margins is None:
        raise ValueError(f"{entry.query.title} is not published")
    unit = counted_in(entry.query.table)
    percent = f"{float(conventions.confidence * 100):g} %"
    title = f"Margin of error of {entry.query.title}, {percent}"
    meaning = frequency_sentence(margins.by(convention), conventions, unit)
    match convention:
        case MarginConvention.EXACT:
            return Explanation(
                title,
                "smallest whole m with P(|noise| ≤ m) ≥ confidence",
                f"σ = {to_places(sigma)}, confidence {percent}",
                f"{margins.exact:,} {unit}",
                meaning,
                "Exact distribution of the noise the program draws",
            )
        case MarginConvention.PAPER:
            result = f"{margins.paper:,} {unit}" if margins.paper is not None else "not defined here"
            return Explanation(
                title,
                "⌊1.64 σ⌋",
                f"⌊1.64 × {to_places(sigma)}⌋",
                result,
                meaning + " The paper prints 1.64; the published budgets were computed with 1.645.",
                "PHSafe paper, §7.1 and Corollary 2; see the errata in the report",
            )
        case MarginConvention.NORMAL if framework is PrivacyFramework.PURE_DP:
            return Explanation(
                title,
                "b ln(2 / ((1 − c)(1 + e^(1/b))))",
                f"standard deviation {to_places(sigma)}, c = {percent}",
                f"{to_places(margins.normal)} {unit}",
                meaning,
                "Accuracy report of PHSafe 3.0.0",
            )
        case MarginConvention.NORMAL:
            z = normal_factor(conventions.confidence, conventions.z)
            origin = "as in 2020" if conventions.confidence == NINETY_PERCENT else "normal quantile"
            return Explanation(
                title,
                "z σ",
                f"{float(z):g} × {to_places(sigma)}   (z {origin})",
                f"{to_places(margins.normal)} {unit}",
                meaning,
                "The published Table 10 follows from z = 1.645",
            )


def explain_derived(entry: DerivedForecast, conventions: Conventions) -> Explanation:
    """Explain the margin of a sum, total or copy.

    Args:
        entry: of the forecast.
        conventions: of the scenario.
    """
    cells = " + ".join(f"c{code}" for code in entry.source_cells)
    count = len(entry.source_cells)
    margin = entry.margins.by(conventions.margin)
    return Explanation(
        f"{entry.table} cell {entry.cell} ({entry.label}), {entry.level.title}",
        f"{cells} of {entry.source}; variances add",
        f"{count} independent noises, σ of the sum = √{count} σ" if count > 1 else "the same noisy number",
        f"{to_places(margin)} {counted_in(entry.table)}",
        frequency_sentence(margin, conventions, counted_in(entry.table)),
        "PHSafe paper, §6.4.1; noise of different cells is independent",
    )


def explain_epsilon(figure: EpsilonFigure) -> Explanation:
    """Explain one ε."""
    whose = {
        Neighbours.BOUNDED: "neighbours replace one person's record (bounded)",
        Neighbours.UNBOUNDED: "neighbours add or remove one person's record (unbounded)",
    }[figure.neighbours]
    if figure.conversion is None or figure.rho is None:
        return Explanation(
            "ε of pure differential privacy",
            "ε = sum of all budgets" + (" × 2" if figure.neighbours is Neighbours.BOUNDED else ""),
            f"ε = {to_digits(figure.value)}",
            to_digits(figure.value),
            f"For {whose}.",
            "Basic composition",
        )
    formula, source = {
        Conversion.BUN_STEINKE: ("ε = ρ + 2 √(ρ ln(1/δ))", "Bun and Steinke 2016, Proposition 1.3"),
        Conversion.ZCDP_OPTIMAL_ALPHA: (
            "smallest ε with  min over α > 1 of  exp((α−1)(αρ−ε)) (1−1/α)^α / (α−1)  ≤ δ",
            "Canonne, Kamath and Steinke 2020, Proposition 7: the conversion of the production certificates",
        ),
        Conversion.GAUSSIAN_CONTINUOUS: (
            "Φ(√(ρ/2) − ε/√(2ρ)) − e^ε Φ(−√(ρ/2) − ε/√(2ρ)) = δ",
            "Exact curve of one continuous Gaussian: an approximation for discrete noise, for information only",
        ),
        Proof.DISCRETE_GAUSSIAN: (
            "E (1 − e^(ε − L))₊ = δ, L the privacy loss of all answers",
            "Certified from the noise of every answer, not from ρ: docs/proven_epsilon.md",
        ),
    }[figure.conversion]
    result, moved = f"ε = {rounded_up(figure.value, 4)} (rounded up)", ""
    if figure.low is not None:
        result = f"{rounded_down(figure.low, 6)} ≤ ε ≤ {rounded_up(figure.value, 6)}"
    if figure.bypass_high is not None:
        result += f"; at most {rounded_up(figure.bypass_high, 6)} on any path"
        moved = (
            " The bracket is of the nominal path. A unit with an only child may hold its budget, too: over all pairs of paths that "
            "this makes possible ε is at most the last number."
        )
    return Explanation(
        f"ε at δ = {scientific_text(figure.delta)}",
        formula,
        f"ρ = {exact_text(figure.rho)}, δ = {scientific_text(figure.delta)}",
        result,
        f"For {whose}.{moved}",
        source,
    )


def explain_total(figures: Forecast) -> Explanation:
    """Explain the headline privacy loss."""
    privacy, symbol = figures.privacy, figures.privacy.framework.symbol
    published = [entry for entry in figures.queries if entry.budget != 0]
    filled = f"{len(published)} queries have no finite total"
    if not isinstance(privacy.total, Unlimited):
        total = exact_text(privacy.total)
        filled = f"{len(published)} queries add to {total};  2 × {total}"
    return Explanation(
        f"Bounded {symbol}",
        f"{symbol} = sum over the measured queries;  bounded {symbol} = 2 {symbol}",
        filled,
        budget_text(privacy.bounded_total),
        "The committee was shown the bounded figure, because the nation's total population is published without noise.",
        "PHSafe paper, Table 10 and its caption",
    )


def frequency_sentence(margin: float, conventions: Conventions, unit: str) -> str:
    """Return the margin in natural frequencies, e.g. "Of ten published counts, about nine lie within 68 people …".

    Args:
        margin: of one number.
        conventions: with the confidence.
        unit: what the number counts, e.g. people or families.
    """
    share = conventions.confidence
    words = {
        (9, 10): "Of ten published counts, about nine lie",
        (19, 20): "Of twenty published counts, about nineteen lie",
        (99, 100): "Of a hundred published counts, about ninety-nine lie",
    }
    start = words.get(
        (share.numerator, share.denominator), f"About {float(share * 100):g} % of the published counts lie"
    )
    return f"{start} within {people(margin)} {unit} of the count they protect (noise alone, truncation not included)."


def _published(entry: QueryForecast) -> tuple[float, str]:
    if entry.sigma is None:
        raise ValueError(f"{entry.query.title} is not published")
    budget = "∞" if isinstance(entry.budget, Unlimited) else exact_text(entry.budget)
    return entry.sigma, budget
