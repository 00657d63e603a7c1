"""Numbers and choices as the window words them: pure functions, exact numbers never pass through a float."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from phexplore.model.conventions import Conventions, Conversion, MarginConvention, Neighbours, Proof
from phexplore.model.numbers import Budget, Rounding, Unlimited, exact_text, parse_exact
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.rounded import ABSENT, Toward, epsilon_bound, fixed, rounded_up

BUDGET_PLACES = 6
"""Decimals of budgets: production's are multiples of a millionth."""

_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]+)?")


def budget_text(budget: Budget, *, places: int = BUDGET_PLACES) -> str:
    """Return a budget for reading: six decimals, more when it needs them, … where it goes on, – for not published.

    Args:
        budget: exact, or unlimited.
        places: decimals.
    """
    if isinstance(budget, Unlimited):
        return "∞"
    if budget == 0:
        return ABSENT
    if 10**places % budget.denominator == 0:
        return fixed(budget, places)
    exact = exact_text(budget)
    if "/" not in exact and len(exact) <= places + 6:
        return exact
    if budget < Fraction(1, 10 ** (places - 2)):
        return f"{_scientific(budget)}…"
    return f"{fixed(budget, places, Toward.DOWN)}…"


_LARGE = 1_000_000


def short_budget(budget: Budget) -> str:
    """Return a budget for a narrow column: as `budget_text`, a large one with fewer digits and never less than it is.

    Args:
        budget: exact, or unlimited.
    """
    if isinstance(budget, Unlimited) or budget < 100:
        return budget_text(budget)
    if budget < _LARGE:
        return rounded_up(budget, 2 if budget < 1000 else 0)
    exponent = len(str(int(budget))) - 1
    return f"{rounded_up(budget / 10**exponent, 2)}e{exponent}"


def bound_text(budget: Budget) -> str:
    """Return a whole privacy loss for reading: as `budget_text` where that has all its digits, else rounded up; 0 where nothing is.

    Args:
        budget: exact, or unlimited.
    """
    text = "0" if budget == 0 else budget_text(budget)
    if isinstance(budget, Unlimited) or not text.endswith("…") or "e" in text:
        return text
    return rounded_up(budget, BUDGET_PLACES)


def _scientific(value: Fraction) -> str:
    """Return a small positive number as 2.1648e-05, from its exact digits."""
    exponent = math.floor(math.log10(value.numerator) - math.log10(value.denominator))
    while value >= Fraction(10) ** (exponent + 1):
        exponent += 1
    while value < Fraction(10) ** exponent:
        exponent -= 1
    mantissa = fixed(value / Fraction(10) ** exponent, 4)
    return f"{mantissa}e{exponent:+03d}".replace("+", "")


def signed_budget(change: Fraction, *, places: int = BUDGET_PLACES) -> str:
    """Return a difference of budgets with its sign; a difference too small to see keeps its sign before 0.

    Args:
        change: ρ, ε or a share of them.
        places: digits behind the point.
    """
    if change == 0:
        return "0"
    text = fixed(abs(change), places if abs(change) < 100 else min(places, 2 if abs(change) < 1000 else 0))
    if not text.strip("0."):
        text = _scientific(abs(change))
    return ("+" if change > 0 else "−") + text


def to_places(value: float, places: int = 2) -> str:
    """Return a number with so many decimals, thousands separated; what is not 0 never reads 0, but as 0.0013 or 1.3e-06.

    Args:
        value: finite.
        places: decimals of a number that is seen with them.
    """
    text = f"{value:,.{places}f}"
    return (f"{value:.2g}" if value and not text.strip("-0.") else text).replace("-", "−", value < 0)


def to_digits(value: float | Fraction, most: int = 6) -> str:
    """Return a number with so many significant digits; a larger one whole, with thousands separated and never as 1e+12.

    Args:
        value: finite.
        most: digits.
    """
    text = f"{float(value):.{most}g}"
    return f"{float(value):,.0f}" if "e+" in text else text


def people(value: float | Fraction) -> str:
    """Return a number of people: whole from 100 up, two decimals at most below; what is not 0 never reads 0."""
    number = float(value)
    if math.isnan(number):
        return ABSENT
    if math.isinf(number):
        return "∞"
    if abs(number) >= 100 or number == round(number):
        return f"{round(number):,}".replace("-", "−")
    return to_places(number, 1 if abs(number) >= 10 else 2)


def with_interval(value: float, reach: float, *, is_signed: bool = False) -> str:
    """Return a number and the ends of its Monte Carlo interval with the same decimals, e.g. ``2.50, 1.50 to 3.50``.

    What is smaller than the digits that show the interval reads 0: the residue of floats is no finding.

    Args:
        value: in people, finite.
        reach: half the length of its interval, in people, finite.
        is_signed: whether the number is a difference, with its sign.
    """
    places = min(2, max(len(people(each).partition(".")[2]) for each in (value, reach)))
    is_seen = not reach or round(reach, places) > 0

    def words(number: float) -> str:
        text = f"{abs(number):,.{places}f}" if is_seen and reach else to_places(abs(number), places)
        sign = "" if not text.strip("0.") else "−" if number < 0 else "+" if is_signed else ""
        return sign + text

    return f"{words(value)}, {words(value - reach)} to {words(value + reach)}"


def shown_change(before: float, after: float, words: Callable[[float], str] = people) -> int:
    """Return how a number changes in the digits that are shown: −1 smaller, 0 the same, 1 larger.

    Args:
        before: the number of the baseline.
        after: the number that is compared with it.
        words: how both are shown.
    """
    return 0 if words(before) == words(after) else 1 if after > before else -1


def mean_text(mean: float) -> str:
    """Return a mean of whole numbers: with two decimals of any size, so that the count it is of and the error add up to it."""
    return f"{mean:,.{0 if mean == round(mean) else 2}f}".replace("-", "−")


def with_unit(number: float | Fraction, unit: str) -> str:
    """Return a number of what is counted, e.g. ``12.4 people``; one of them is ``1 person``.

    Args:
        number: of people, or what else is counted.
        unit: what is counted, in the plural.
    """
    text = people(number)
    return f"{text} {one_of(unit) if text == '1' else unit}"


def one_of(units: str) -> str:
    """Return one of what is counted: ``person`` of ``people``, ``unit or facility`` of ``units or facilities``."""
    return " or ".join(
        "person" if each == "people" else f"{each[:-3]}y" if each.endswith("ies") else each.removesuffix("s")
        for each in units.split(" or ")
    )


def margin_text(margin: float, target: Fraction | None = None) -> str:
    """Return a margin as `people`; one that misses its target has the decimals that show it wider.

    Args:
        margin: in people.
        target: that it misses; None where it keeps its target, or has none.
    """
    text = people(margin)
    if target is None or not math.isfinite(margin):
        return text
    places = 1
    while places < 12 and Fraction(ungrouped(text)) <= target:
        text, places = fixed(Fraction(margin), places), places + 1
    return text


def target_text(target: Fraction | None) -> str:
    """Return a target in people, exact, with thousands separated where it is whole; "" for none."""
    return "" if target is None else f"{target.numerator:,}" if target.denominator == 1 else exact_text(target)


def changed_targets(before: Mapping[Any, Fraction], after: Mapping[Any, Fraction]) -> str:
    """Return how many targets differ from the baseline's, e.g. ``1 of 46 targets changed: 20 → 30``; "" for none.

    Parameters without any target, such as those of a production file, are not compared.

    Args:
        before: targets of the baseline in people, by query.
        after: present targets.
    """
    if not before or not after:
        return ""
    pairs = [(before.get(key), after.get(key)) for key in {**before, **after} if before.get(key) != after.get(key)]
    if not pairs:
        return ""

    def size(pair: tuple[Fraction | None, Fraction | None]) -> float:
        return math.inf if pair[0] is None or pair[1] is None else float(abs(pair[1] - pair[0]) / pair[0])

    old, new = max(pairs, key=size)
    changed = f"{len(pairs)} of {len({**before, **after})} targets changed"
    largest = ": " if len(pairs) == 1 else ", largest change "
    return f"{changed}{largest}{target_text(old) or 'none'} → {target_text(new) or 'none'}"


def signed_people(change: float) -> str:
    """Return a difference in people with its sign, "0" when nothing would be seen."""
    if round(abs(change), 2) == 0:
        return "0"
    text = people(abs(change))
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return ("+" if change > 0 else "−") + text


def parse_people(text: str) -> Fraction:
    """Read a number of people exactly, with thousands separated as the program prints them.

    ``1,500`` is fifteen hundred people, as in every table; ``0,25`` and ``12,5`` are decimals.

    Raises:
        ValueError: not a number, or a share: 50 % is not half a person.
    """
    if "%" in text:
        raise ValueError(f"{text.strip()!r} is a share; a number is needed, e.g. 50")
    return parse_exact(ungrouped(text))


def ungrouped(text: str) -> str:
    """Return a printed number without the separators of its thousands; any other text as it is."""
    return text.strip().replace(",", "") if _GROUPED.fullmatch(text.strip()) else text


def first_few(names: Sequence[str], most: int = 3) -> str:
    """Return the first names as a list, and how many more there are.

    Args:
        names: in their order.
        most: so many are named.
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def sentence(text: str) -> str:
    """Return the text as a sentence: capital first, full stop last."""
    body = text.strip()
    if not body:
        return ""
    return capital(body) + ("" if body[-1] in ".!?" else ".")


def framework_title(framework: PrivacyFramework) -> str:
    """Return the name of a privacy definition."""
    return {
        PrivacyFramework.ZCDP: "Zero-concentrated (zCDP)",
        PrivacyFramework.PURE_DP: "Pure differential privacy",
    }[framework]


def neighbours_title(neighbours: Neighbours) -> str:
    """Return whose difference is hidden."""
    return {
        Neighbours.BOUNDED: "Bounded: one person's record replaced",
        Neighbours.UNBOUNDED: "Unbounded: added or removed",
    }[neighbours]


def margin_title(convention: MarginConvention, conventions: Conventions) -> str:
    """Return the name of a margin convention with its constant.

    Args:
        convention: which one.
        conventions: of the scenario, for its z.
    """
    return {
        MarginConvention.PAPER: "Paper: ⌊1.64 σ⌋, 90 % only",
        MarginConvention.NORMAL: f"Normal: z σ, z = {exact_text(conventions.z)} at 90 %",
        MarginConvention.EXACT: "Exact: quantile of the discrete noise",
    }[convention]


def margin_word(convention: MarginConvention) -> str:
    """Return the short name of a margin convention."""
    return {
        MarginConvention.PAPER: "paper",
        MarginConvention.NORMAL: "normal",
        MarginConvention.EXACT: "exact",
    }[convention]


def rounding_title(rounding: Rounding) -> str:
    """Return the name of a rounding direction."""
    return {Rounding.UP: "Upward: margins are kept", Rounding.NEAREST: "To the nearest: as in 2020"}[rounding]


def conversion_title(conversion: Conversion | Proof) -> str:
    """Return the name of a conversion from ρ and δ to ε."""
    return {
        Conversion.BUN_STEINKE: "ρ + 2√(ρ ln 1/δ)",
        Conversion.ZCDP_OPTIMAL_ALPHA: "zCDP, optimal α",
        Conversion.GAUSSIAN_CONTINUOUS: "Gaussian, continuous approximation",
        Proof.DISCRETE_GAUSSIAN: "discrete Gaussian, proven",
    }[conversion]


CONVERTED = "converted from ρ"
"""Whose ε it is that the tightest conversion gives every mechanism of that ρ, wherever the proven one leads."""


def epsilon_words(proven: float | None, converted: float | None, delta: Fraction | None = None) -> str:
    """Return ε of a whole release: what is proven leads, what ρ alone converts to is named beside it; "" without either.

    Args:
        proven: bound, None where nothing is proven.
        converted: from ρ, None where there is none.
        delta: of both, None where it stands elsewhere.
    """
    at = "" if delta is None else f" at δ = {power_text(delta)}"
    if proven is None:
        return "" if converted is None else f"ε {epsilon_bound(converted)}{at}, {CONVERTED}"
    beside = "" if converted is None else f"; {epsilon_bound(converted)} {CONVERTED}"
    return f"proven ε ≤ {rounded_up(proven, 3)}{at}{beside}"


def power_text(value: Fraction) -> str:
    """Return 1/10ⁿ as 10⁻ⁿ, anything else exactly."""
    text = str(value.denominator)
    if value.numerator == 1 and text.strip("0") == "1" and len(text) > 1:
        return "10⁻" + str(len(text) - 1).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return exact_text(value)


def share_percent(share: Fraction) -> str:
    """Return a share in percent with two decimals, more where it would read 0."""
    if share == 0:
        return "0 %"
    text = fixed(share * 100, 2)
    if not text.strip("0.−"):
        return f"{fixed(share * 100, 4)} %" if share >= Fraction(1, 10**6) else "< 0.0001 %"
    return f"{text} %"


def significant(value: Fraction, digits: int = 4) -> str:
    """Return a positive number with some significant digits, without an exponent down to a millionth.

    Args:
        value: above 0.
        digits: significant digits.
    """
    number = float(value)
    if number == 0:
        return "0"
    if number < 1e-6:
        return f"{number:.{digits - 1}e}"
    places = 0
    while places < 12 and number * 10**places < 10 ** (digits - 1):
        places += 1
    return fixed(value, places)


STROKE = "A stroke is the reference."
"""What a stroke across a bar or a row is, in the summary of its figure."""


def capital(text: str) -> str:
    """Return the text with a capital first letter; a letter alone and a Greek one are symbols, and stay."""
    return text[:1].upper() + text[1:] if text[:1].isascii() and len(text) > 1 else text


def letter(number: int) -> str:
    """Return the letter of the column or group of a number from 0 on: A to Z, then A2 and so on."""
    rounds, place = divmod(number, 26)
    return chr(ord("A") + place) + (str(rounds + 1) if rounds else "")


def counted(count: int, noun: str) -> str:
    """Return a number of things, e.g. ``1 error`` or ``2 errors``.

    Args:
        count: how many there are.
        noun: what they are called, in the singular.
    """
    return f"{count} {noun}" + ("" if count == 1 else "s")


def people_text(value: float | None, places: int = 0) -> str:
    """Return a figure with thousands separated, a dash for none or one that is not a number.

    Args:
        value: in people.
        places: digits behind the point.
    """
    if value is None or math.isnan(value):
        return "–"
    return "∞" if math.isinf(value) else f"{value:,.{places}f}".replace("-", "−")
