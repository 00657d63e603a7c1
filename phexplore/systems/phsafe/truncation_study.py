"""What a truncation threshold costs and saves: people cut away against noise, per τ, before any run.

Truncation keeps at most τ of the people that a table counts in a household (children only, in tables of children), whichever a hash
puts first. For a count whose share of the truncated people is π, the expected loss is π Σ h(s) max(0, s − τ) over households with s
counted people; which of them go is as good as random, so the loss of the whole table (π = 1) is exact, and so is the mean over the
numbers of an area (π = one by their number; of Hispanic origin at most so much, as its two groups do not hold everybody). The noise
of a cell has σ = (2τ + 2)/√(2ρ): it grows with τ while the loss shrinks.
The two are never mixed: the root mean square is beside them, not instead of them.

The loss adds up over the households of an area, the noise does not. So the best τ grows with the area, and one τ for the nation and
all states is a compromise: `best_where` says in areas of which size a threshold is the best.

Args:
    sizes: households by size.
    part: of the households, exact.
    entries: of the summary.
    table: its id.
    text: of the file.
    name: of the file.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from phexplore.accuracy.margins import margin_by, margins_of, unrounded_budget
from phexplore.errors import PhexploreError
from phexplore.model.conventions import Conventions
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.numbers import exact_text, round_exact
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.rounded import percent
from phexplore.noise.distributions import noise_for

_WHOLE = re.compile(r"[0-9]{1,15}")
MOST_SIZES = 1000


class StudyError(PhexploreError):
    """Household sizes that a study cannot be made of."""


@dataclass(frozen=True, slots=True)
class HouseholdSizes:
    """How many households have how many of the people that a table truncates.

    Attributes:
        counts: households by size; size 0 allowed and without effect.
        of: where they come from, in words.
        is_open: the largest size stands for itself and all above, so that the loss is a lower bound.
        part: of these households that is meant, exact: an average area has a part of a large household, too.
    """

    counts: Mapping[int, int]
    of: str = ""
    is_open: bool = False
    part: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        """Refuse what is no distribution.

        Raises:
            StudyError: negative, or nobody lives anywhere.
        """
        if any(size < 0 or count < 0 for size, count in self.counts.items()):
            raise StudyError("Sizes and numbers of households are 0 or more.", "Correct the distribution.")
        if not self._whole_people or self.part <= 0:
            raise StudyError("The distribution holds nobody.", "Give at least one household with people.")
        object.__setattr__(self, "counts", MappingProxyType(dict(sorted(self.counts.items()))))

    @property
    def households(self) -> int:
        """Households with at least one person, rounded."""
        return round(self.part * self._whole_households)

    @property
    def people(self) -> int:
        """People in all, rounded."""
        return round(self.part * self._whole_people)

    @property
    def _whole_households(self) -> int:
        return sum(count for size, count in self.counts.items() if size)

    @property
    def _whole_people(self) -> int:
        return sum(size * count for size, count in self.counts.items())

    @property
    def largest(self) -> int:
        """The largest size that occurs."""
        return max(size for size, count in self.counts.items() if count)

    def cut(self, threshold: int) -> Fraction:
        """Return how many people a threshold cuts away, exact."""
        return self.part * sum(count * max(0, size - threshold) for size, count in self.counts.items())

    def share_cut(self, threshold: int) -> float:
        """Return the share of the people that a threshold cuts away."""
        return float(self.cut(threshold) / (self.part * self._whole_people))

    def share_of_households_cut(self, threshold: int) -> float:
        """Return the share of the households that lose somebody."""
        return sum(count for size, count in self.counts.items() if size > threshold) / self._whole_households


@dataclass(frozen=True, slots=True)
class ThresholdPoint:
    """One threshold.

    Attributes:
        threshold: τ.
        budget: of one query, exact: the same everywhere, or what keeps the margin.
        bias: expected error by truncation, ≤ 0, in people.
        deviation: standard deviation of the noise, in people.
        margin: noise margin in people, by the conventions.
        rmse: √(bias² + deviation²).
        people_cut: share of the people that are cut away.
        households_cut: share of the households that lose somebody.
    """

    threshold: int
    budget: Fraction
    bias: float
    deviation: float
    margin: float
    rmse: float
    people_cut: float
    households_cut: float


@dataclass(frozen=True, slots=True)
class TruncationStudy:
    """All thresholds of one question.

    Attributes:
        sizes: of the households.
        share: of the truncated people that the number counts.
        cells: basis cells added in the number.
        points: by threshold, from 1.
        best: the threshold with the smallest root mean square error; where the budget follows the margin, the smallest
            budget among those whose bias is at most the margin is in `cheapest`.
        cheapest: the threshold with the smallest budget whose bias stays within the margin; None when budgets are equal.
    """

    sizes: HouseholdSizes
    share: Fraction
    cells: int
    points: tuple[ThresholdPoint, ...]
    best: int
    cheapest: int | None

    def point(self, threshold: int) -> ThresholdPoint:
        """Return one threshold.

        Raises:
            KeyError: it was not studied.
        """
        for point in self.points:
            if point.threshold == threshold:
                return point
        raise KeyError(threshold)


def best_where(found: TruncationStudy, threshold: int) -> tuple[float, float] | None:
    """Return the households of an area, from and to, for which a threshold has the smallest root mean square error.

    Areas have the distribution of the study's households and its budget; f times as many households lose f times as many people,
    and f² (b(τ)² − b(τ')²) ≤ σ(τ')² − σ(τ)² has to hold for every other τ'.

    Args:
        found: a study at one budget.
        threshold: one that was studied.

    Returns:
        The smallest and the largest number of households (infinite for no limit); None when another is better everywhere.

    Raises:
        KeyError: it was not studied.
    """
    own = found.point(threshold)
    low, high = 0.0, math.inf
    for other in found.points:
        loss = own.bias**2 - other.bias**2
        noise = other.deviation**2 - own.deviation**2
        if loss > 0:
            high = min(high, noise / loss)
        elif loss < 0:
            low = max(low, noise / loss)
        elif noise < 0:
            return None
    if high < low or high < 0:
        return None
    return math.sqrt(low) * found.sizes.households, math.sqrt(high) * found.sizes.households


def judged(found: TruncationStudy, threshold: int) -> str:
    """Return in words how far a threshold is from the best one, and why.

    Args:
        found: a study.
        threshold: one that was studied, e.g. the scenario's.

    Raises:
        KeyError: it was not studied.
    """
    own, best = found.point(threshold), found.point(found.best)
    if own == best:
        return f"τ = {threshold} has the smallest RMSE of this number: {own.rmse:,.1f} people."
    text = (
        f"τ = {threshold} has an RMSE of {own.rmse:,.1f} people (τ = {best.threshold}: {best.rmse:,.1f}). It cuts "
        f"{percent(own.people_cut, places=3)} of the counted people, {-own.bias:,.1f} in this number; the noise has σ {own.deviation:,.1f}."
    )
    if found.cheapest is not None:
        return text
    text += (
        f" What is cut adds up over the {found.sizes.households:,} households of an area, the noise does not; one τ serves the nation "
        "and every state."
    )
    where = best_where(found, threshold)
    if where is None:
        return f"{text} At this budget another τ is better in areas of any size."
    low, high = (f"{limit:,.0f}" for limit in where)
    if math.isinf(where[1]):
        return f"{text} τ = {threshold} is the best in areas of more than {low} such households."
    return f"{text} τ = {threshold} is the best in areas of {low} to {high} such households."


def study(
    sizes: HouseholdSizes,
    framework: PrivacyFramework,
    conventions: Conventions,
    *,
    budget: Fraction | None = None,
    margin: Fraction | None = None,
    share: Fraction = Fraction(1),
    cells: int = 1,
    thresholds: Iterable[int] = (),
) -> TruncationStudy:
    """Return bias and noise of a number for every threshold.

    Args:
        sizes: of the households the number is counted over (one region, one iteration).
        framework: decides the noise.
        conventions: margins and rounding.
        budget: of the query, the same for every τ; or
        margin: of one basis cell, in people, that the budget keeps for every τ.
        share: of the truncated people that the number counts, in [0, 1].
        cells: basis cells added in the number, at least 1.
        thresholds: which to study; from 1 to one above the largest household (at most 30) when empty.

    Raises:
        StudyError: not exactly one of budget and margin, or a value out of range.
    """
    if (budget is None) == (margin is None):
        raise StudyError("A study keeps either the budget or the margin.", "Give one of them.")
    if not 0 <= share <= 1 or cells < 1 or (budget is not None and budget <= 0):
        raise StudyError("A share lies between 0 and 1, cells are 1 or more, a budget more than 0.", "Correct it.")
    wanted = sorted(set(thresholds)) or list(range(1, min(sizes.largest + 1, 30) + 1))
    if wanted[0] < 1:
        raise StudyError(f"A threshold keeps at least 1 person, got {wanted[0]}.", "Study thresholds from 1.")
    points = tuple(_point(sizes, framework, conventions, budget, margin, share, cells, tau) for tau in wanted)
    best = min(points, key=lambda point: (point.rmse, point.threshold)).threshold
    kept = [] if margin is None else [point for point in points if -point.bias <= margin]
    cheapest = min(kept, key=lambda point: (point.budget, point.threshold)).threshold if kept else None
    return TruncationStudy(sizes, share, cells, points, best, cheapest)


def _point(
    sizes: HouseholdSizes,
    framework: PrivacyFramework,
    conventions: Conventions,
    budget: Fraction | None,
    margin: Fraction | None,
    share: Fraction,
    cells: int,
    threshold: int,
) -> ThresholdPoint:
    reach = 2 * threshold + 2
    spent = budget
    if spent is None:
        needed = unrounded_budget(margin or Fraction(1), reach, framework, conventions)
        spent = max(round_exact(needed, conventions.rounding_step, conventions.rounding), conventions.rounding_step)
    noise = noise_for(framework, sensitivity=reach, budget=spent)
    margin_of_number = (
        margin_by(noise, conventions)
        if cells == 1
        else margins_of(noise, cells, conventions.confidence, conventions.z).by(conventions.margin)
    )
    deviation = math.sqrt(cells * noise.reported_variance())
    bias = -float(share * sizes.cut(threshold))
    return ThresholdPoint(
        threshold,
        spent,
        bias + 0.0,
        deviation,
        margin_of_number,
        math.hypot(bias, deviation),
        sizes.share_cut(threshold),
        sizes.share_of_households_cut(threshold),
    )


def scaled(sizes: HouseholdSizes, part: Fraction) -> HouseholdSizes:
    """Return the sizes of a smaller place with the same distribution."""
    return replace(sizes, part=sizes.part * part, of=f"{exact_text(part)} of the households: {sizes.of}")


def sizes_of_run(entries: Sequence[Mapping[str, object]], table: str) -> HouseholdSizes:
    """Return the household sizes of a table from the ``truncation`` part of a run's summary.

    Raises:
        StudyError: the run counted none for this table.
    """
    for entry in entries:
        if entry.get("table") == table and isinstance(sizes := entry.get("sizes"), list):
            return HouseholdSizes(
                {int(e["size"]): int(e["households"]) for e in sizes}, f"the data of the run, {table}"
            )
    raise StudyError(f"The run has no household sizes of {table}.", "Choose a truncated table, or give a file.")


def read_sizes(text: str, name: str = "sizes.csv") -> HouseholdSizes:
    """Read household sizes from CSV with the columns size and households; ``7+`` is an open last size.

    Raises:
        InputProblemsError: every problem with its line.
    """
    rows = csv.reader(io.StringIO(text.lstrip("\ufeff"), newline=""))
    try:
        return _sizes_from(rows, name)
    except csv.Error as error:
        issue = Issue((name,), f"The line is not CSV: {error}.", "Correct it.", line=max(rows.line_num, 1))
        raise InputProblemsError([issue]) from error


def _sizes_from(rows: Any, name: str) -> HouseholdSizes:
    header = [cell.strip().casefold() for cell in next(rows, [])]
    if "size" not in header or "households" not in header:
        issue = Issue((name,), "The first line does not name size and households.", "Write them.", line=1)
        raise InputProblemsError([issue])
    places = header.index("size"), header.index("households")
    counts: dict[int, int] = {}
    issues: list[Issue] = []
    is_open = False
    for row in rows:
        if not any(cell.strip() for cell in row):
            continue
        try:
            size, households = (row[place].strip() for place in places)
        except IndexError:
            issues.append(
                Issue((name,), "The line has too few cells.", "Fill size and households.", line=rows.line_num)
            )
            continue
        plain = size.removesuffix("+")
        if not (_WHOLE.fullmatch(plain) and _WHOLE.fullmatch(households)) or int(plain) > MOST_SIZES:
            issues.append(
                Issue((name,), f"{size[:40]!r}, {households[:40]!r} are not whole numbers of 0 or more.",
                      f"Write sizes up to {MOST_SIZES}, e.g. 3 or 7+.", line=rows.line_num)
            )  # fmt: skip
        elif int(plain) in counts:
            issues.append(Issue((name,), f"The size {size} stands twice.", "Join the lines.", line=rows.line_num))
        else:
            counts[int(plain)] = int(households)
            is_open = is_open or size.endswith("+")
    if issues:
        raise InputProblemsError(issues)
    return HouseholdSizes(counts, name, is_open)
