"""Explain a number of a TopDown forecast: its formula, the formula with the numbers filled in, the result, its source."""

from __future__ import annotations

from fractions import Fraction

from phexplore.accounting.zcdp import epsilon
from phexplore.accuracy.explanation import Explanation
from phexplore.accuracy.margins import NINETY_PERCENT, normal_factor
from phexplore.figures.wording import to_digits, to_places
from phexplore.model.conventions import Conventions, Conversion, MarginConvention
from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.rounded import epsilon_bound, rounded_up
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.systems.topdown.forecast import (
    JointRelease,
    LevelQueryForecast,
    SemanticLoss,
    TopDownForecast,
    query_of,
)
from phexplore.systems.topdown.wording import plural
from phexplore.workload.schema import load_schema

_NOT_PUBLISHED = "Post-processing changes it again before publication; a run measures by how much."


def explain_budget(method: TopDown, key: LevelQuery) -> Explanation:
    """Explain the budget of one query group at one level.

    Args:
        method: the parameters.
        key: level and query group.
    """
    symbol = method.framework.symbol
    level, query = method.level_shares[key.level], method.query_shares[key]
    return Explanation(
        f"{symbol} of {key.query} at {key.level}",
        f"{symbol} = total × share of the level × share of the query",
        f"{exact_text(method.total)} × {exact_text(level)} × {exact_text(query)} = {exact_text(method.budget(key))}",
        to_digits(method.budget(key)),
        "The query group is measured once in every unit of the level. The units hold different people, so what one of "
        "them spends costs the others nothing.",
        "TopDown paper, section 5 (parallel composition within a level, sequential between levels)",
    )


def explain_level(method: TopDown, level: str) -> Explanation:
    """Explain the budget of a whole level.

    Args:
        method: the parameters.
        level: of the tree.
    """
    symbol, share = method.framework.symbol, method.level_shares[level]
    queries = len(method.queries_at(level))
    return Explanation(
        f"{symbol} of {level}",
        f"{symbol} = total × share of the level",
        f"{exact_text(method.total)} × {exact_text(share)} = {exact_text(method.total * share)}",
        to_digits(method.total * share),
        f"It is divided among the {queries} query groups measured at {level}.",
        "TopDown paper, section 5",
    )


def explain_variance(entry: LevelQueryForecast, framework: PrivacyFramework) -> Explanation:
    """Explain the scale of the noise of one answer.

    Args:
        entry: forecast of one query group at one level.
        framework: zCDP or pure DP.

    Raises:
        ValueError: the query has no budget.
    """
    sigma = _sigma(entry)
    title = f"Noise of {entry.key.query} at {entry.key.level}"
    if framework is PrivacyFramework.PURE_DP or entry.sigma2 is None:
        return Explanation(
            title,
            "scale b = Δ₁ / ε = 2 / ε,  variance = 2 e^(−1/b) / (1 − e^(−1/b))²",
            f"b = 2 / {exact_text(entry.budget)}",
            f"standard deviation {to_places(sigma)}",
            "Two-sided geometric noise with this scale is added to every answer in every unit.",
            "2010 demonstration products (2019): geometric mechanism; replacing a record moves two answers by one",
        )
    return Explanation(
        title,
        "σ² = Δ² / (2ρ) = 1 / ρ,  Δ² = 2",
        f"σ² = 1 / ({exact_text(entry.budget)}) = {float(entry.sigma2):,.4g}",
        f"σ = {to_places(sigma)}",
        "Replacing one record moves two answers of the group by one each. Exact discrete Gaussian noise of this "
        f"scale is added to each of the {entry.cells:,} answers in every unit.",
        "TopDown paper, section 5; production configuration (ρ is stated for bounded neighbors)",
    )


def explain_answer_margin(
    entry: LevelQueryForecast, framework: PrivacyFramework, conventions: Conventions, convention: MarginConvention
) -> Explanation:
    """Explain one of the three margins of one answer.

    Args:
        entry: forecast of one query group at one level.
        framework: zCDP or pure DP.
        conventions: what margins mean.
        convention: which margin is explained.

    Raises:
        ValueError: the query has no budget.
    """
    sigma, margins = _sigma(entry), entry.margins
    if margins is None:
        raise ValueError(f"{entry.key.text} has no budget")
    percent = f"{float(conventions.confidence * 100):g} %"
    title = f"Margin of error of {entry.key.query} at {entry.key.level}, {percent}"
    meaning = f"{share_words(conventions.confidence)} {margins.by(convention):,.4g} of the true count. {_NOT_PUBLISHED}"
    match convention:
        case MarginConvention.EXACT:
            formula, filled = (
                "smallest whole m with P(|noise| ≤ m) ≥ confidence",
                f"σ = {to_places(sigma)}, confidence {percent}",
            )
            result, source = f"{margins.exact:,}", "Exact distribution of the noise the program draws"
        case MarginConvention.PAPER:
            formula, filled = "⌊1.64 σ⌋", f"⌊1.64 × {to_places(sigma)}⌋"
            result = f"{margins.paper:,}" if margins.paper is not None else "not defined here"
            source = "The convention of the PHSafe paper, §7.1, applied to TopDown"
        case MarginConvention.NORMAL if framework is PrivacyFramework.PURE_DP:
            formula, filled = (
                "b ln(2 / ((1 − c)(1 + e^(1/b))))",
                f"standard deviation {to_places(sigma)}, c = {percent}",
            )
            result, source = to_places(margins.normal), "Quantile of the two-sided geometric noise"
        case MarginConvention.NORMAL:
            z = normal_factor(conventions.confidence, conventions.z)
            origin = "as in 2020" if conventions.confidence == NINETY_PERCENT else "normal quantile"
            formula, filled = "z σ", f"{float(z):g} × {to_places(sigma)}   (z {origin})"
            result, source = to_places(margins.normal), "Normal approximation of the discrete Gaussian"
    return Explanation(title, formula, filled, result, meaning, source)


def explain_topdown_total(figures: TopDownForecast, method: TopDown) -> Explanation:
    """Explain the headline privacy loss.

    Args:
        figures: forecast of the parameters.
        method: the parameters.
    """
    symbol, record = figures.framework.symbol, load_schema(method.schema).record
    return Explanation(
        f"Bounded {symbol}",
        f"{symbol} = sum over levels and query groups",
        f"{len(figures.entries)} query groups at {len(method.levels)} levels; all shares add to 1: {exact_text(figures.total)}",
        to_digits(figures.total, 7),
        f"Neighbours replace the record of one {record} by another: the number of {plural(record)} is known, so the bounded "
        "figure is the one that counts.",
        "TopDown paper, section 5; production certificates",
    )


def _semantic_result(loss: SemanticLoss, proven: tuple[float, float] | None) -> str:
    return f"ε = {epsilon_bound(loss.epsilon)}" + ("" if proven is None else f", proven ε ≤ {rounded_up(proven[1], 4)}")


def explain_attribute(loss: SemanticLoss, method: TopDown, proven: tuple[float, float] | None = None) -> Explanation:
    """Explain the loss that protects a single attribute.

    Args:
        loss: what is lost about one attribute or place.
        method: the parameters.
        proven: ends of the proven ε, None where it is not known.
    """
    schema = load_schema(method.schema)
    counted = [
        key
        for key in method.query_shares
        if (query := query_of(method.schema, key.query)).schema == schema and query.distinguishes(loss.name)
    ]
    return Explanation(
        f"Loss of {loss.name} alone",
        "sum over the queries that tell two of its levels apart, converted to ε",
        f"{len(counted)} of {len(method.query_shares)} measurements count: ρ = {_short(loss.rho)}",
        _semantic_result(loss, proven),
        f"An attacker who knows everything about a person but {loss.name} learns at most this much about it.",
        "Production certificates, per-attribute semantics, printed there to the nearest hundredth and here rounded up; δ = 10⁻¹⁰",
    )


def explain_block_within(loss: SemanticLoss, method: TopDown, proven: tuple[float, float] | None = None) -> Explanation:
    """Explain the loss that hides the block of a person whose wider unit is known.

    Args:
        loss: what is lost about one attribute or place.
        method: the parameters.
        proven: ends of the proven ε, None where it is not known.
    """
    below = method.levels[method.levels.index(loss.name) + 1 :]
    return Explanation(
        f"Block within {loss.name}",
        f"total × (shares of the levels below {loss.name}), converted to ε",
        f"{' + '.join(below)}: ρ = {_short(loss.rho)}",
        _semantic_result(loss, proven),
        f"An attacker who knows in which {loss.name} a person lives learns at most this much about the block.",
        "Production certificates, block-within-X semantics, printed there to the nearest hundredth and here rounded up; δ = 10⁻¹⁰",
    )


def explain_joint(joint: JointRelease, total: Fraction, delta: Fraction) -> Explanation:
    """Explain persons and units as one release.

    Args:
        joint: two releases together.
        total: ρ of the part itself, exact.
        delta: of the conversion to ε, exact.
    """
    alone = epsilon(total, delta, Conversion.ZCDP_OPTIMAL_ALPHA)
    return Explanation(
        "Persons and units as one release",
        "ρ adds; ε is converted from the sum",
        f"{_short(total)} + {_short(joint.rho - total)} = {_short(joint.rho)}",
        f"ε = {rounded_up(joint.epsilon, 3)}",
        f"Converted one by one and added they would make {rounded_up(joint.sum_of_epsilons, 3)}, which is often quoted; this part "
        f"alone is {rounded_up(alone, 3)}.",
        "zCDP composes in ρ (Bun and Steinke 2016, Lemma 1.7); δ = 10⁻¹⁰",
    )


def share_words(confidence: Fraction) -> str:
    """Return a confidence in natural frequencies, up to the number, e.g. "Of ten noisy answers, about nine lie within"."""
    words = {
        Fraction(9, 10): "Of ten noisy answers, about nine lie within",
        Fraction(19, 20): "Of twenty noisy answers, about nineteen lie within",
        Fraction(99, 100): "Of a hundred noisy answers, about ninety-nine lie within",
    }
    return words.get(confidence, f"About {float(confidence * 100):g} % of the noisy answers lie within")


def _short(value: Fraction) -> str:
    return to_digits(value)


def _sigma(entry: LevelQueryForecast) -> float:
    if entry.sigma is None:
        raise ValueError(f"{entry.key.text} has no budget")
    return entry.sigma
