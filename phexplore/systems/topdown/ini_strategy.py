"""What an ``.ini`` leaves to Python code: which queries are asked, with which shares, in which passes.

Production names a *strategy* and a *query ordering* that live in its source. The published ones are known by name; any other
travels as a table beside the ``.ini``, named in a section ``[phexplore]`` that production ignores.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType

from phexplore.model.issues import Issue
from phexplore.model.numbers import exact_text, parse_exact
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.topdown import LevelQuery, Passes, TopDown
from phexplore.resources import resource
from phexplore.systems.topdown.presets import topdown_presets

SECTION = "phexplore"
TABLE_KEY = "strategy_table"
ABSOLUTE_SCHEMAS = frozenset({"dhc_persons", "dhc_households"})
"""The DHC code takes an absolute ρ per level and query from its strategy; total and level shares follow from their sums."""

COLUMNS = ("level", "query", "share_of_level", "budget", "variance", "least_squares_passes", "rounder_passes")


@dataclass(frozen=True, slots=True)
class NamedStrategies:
    """The published strategies and orderings.

    Attributes:
        strategies: id of the preset with its shares, by name.
        orderings: id of the preset with its passes, by name.
        detailed_only: name of the strategy that asks for the detailed cells alone, at any levels.
    """

    strategies: Mapping[str, str]
    orderings: Mapping[str, str]
    detailed_only: str

    def ordering_of(self, preset_id: str) -> str | None:
        """Return the name of a preset's ordering."""
        return next((name for name, known in self.orderings.items() if known == preset_id), None)


@lru_cache(maxsize=1)
def named_strategies() -> NamedStrategies:
    """Return the names production gives its strategies and orderings."""
    content = json.loads(resource("presets/das_names.json").read_text(encoding="utf-8"))
    return NamedStrategies(
        MappingProxyType(content["strategies"]), MappingProxyType(content["orderings"]), content["detailed_only"]
    )


def known_shares(name: str, levels: Sequence[str]) -> Mapping[LevelQuery, Fraction] | None:
    """Return the query shares of a published strategy at these levels, None when it is unknown or lacks a level.

    Args:
        name: of the strategy.
        levels: widest first.
    """
    names = named_strategies()
    if name == names.detailed_only:
        return {LevelQuery(level, "detailed"): Fraction(1) for level in levels}
    if (preset_id := names.strategies.get(name)) is None:
        return None
    shares = topdown_presets()[preset_id].scenario.topdown.query_shares
    if not set(levels) <= {key.level for key in shares}:
        return None
    return {key: share for level in levels for key, share in shares.items() if key.level == level}


def known_budgets(name: str, levels: Sequence[str]) -> Mapping[LevelQuery, Fraction] | None:
    """Return the absolute budgets of a published DHC strategy, None for any other.

    Args:
        name: of the strategy.
        levels: widest first.
    """
    preset_id = named_strategies().strategies.get(name)
    if preset_id is None or (method := topdown_presets()[preset_id].scenario.topdown).schema not in ABSOLUTE_SCHEMAS:
        return None
    if not set(levels) <= set(method.levels):
        return None
    return {key: method.budget(key) for level in levels for key in method.query_shares if key.level == level}


def known_passes(name: str, levels: Sequence[str]) -> Mapping[str, Passes] | None:
    """Return the passes of a published ordering at these levels, None when it is unknown.

    Args:
        name: of the strategy.
        levels: widest first.
    """
    names = named_strategies()
    if (preset_id := names.orderings.get(name)) is None:
        return None
    passes = topdown_presets()[preset_id].scenario.topdown.passes
    if name == names.ordering_of("pl94-2020-units-us"):
        one = next(iter(passes.values()))
        return dict.fromkeys(levels, one)
    return {level: passes[level] for level in levels if level in passes}


@dataclass(frozen=True, slots=True)
class StrategyTable:
    """The content of a table of shares.

    Attributes:
        shares: of the level, per query asked.
        budgets: absolute budget per query asked.
        passes: per level.
    """

    shares: Mapping[LevelQuery, Fraction]
    budgets: Mapping[LevelQuery, Fraction]
    passes: Mapping[str, Passes]


def write_table(method: TopDown) -> str:
    """Return the table of a method: every query with its exact share, its budget, its variance and its passes."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    for level in method.levels:
        passes = method.passes.get(level, Passes((), ()))
        least, rounder = _places(passes.least_squares), _places(passes.rounder)
        asked = method.queries_at(level)
        for query in (*asked, *(name for name in {**least, **rounder} if name not in asked)):
            key = LevelQuery(level, query)
            row = [level, query, "", "", ""]
            if key in method.query_shares:
                budget = method.budget(key)
                row[2:] = [str(method.query_shares[key]), str(budget), _variance(method.framework, budget)]
            writer.writerow([*row, " ".join(least.get(query, ())), " ".join(rounder.get(query, ()))])
    return buffer.getvalue()


def _variance(framework: PrivacyFramework, budget: Fraction) -> str:
    # σ² = 1/ρ (a replaced record moves two answers by one each); pure DP has a scale instead, which says 2/ε.
    if not budget:
        return ""
    return exact_text(1 / budget) if framework is PrivacyFramework.ZCDP else ""


def _places(passes: tuple[tuple[tuple[str, ...], ...], ...]) -> dict[str, tuple[str, ...]]:
    """Return, per query, where it stands: ``outer.inner`` and its position among its pass's queries."""
    found: dict[str, tuple[str, ...]] = {}
    for outer, inner_passes in enumerate(passes):
        for inner, names in enumerate(inner_passes):
            for position, name in enumerate(names):
                found[name] = (*found.get(name, ()), f"{outer}.{inner}.{position}")
    return found


def read_table(text: str, name: str) -> tuple[StrategyTable | None, list[Issue]]:
    """Read a table of shares; the problems have the line they stand on.

    Args:
        text: content of the file.
        name: of the strategy.
    """
    reader = csv.reader(io.StringIO(text.lstrip("\ufeff"), newline=""))
    rows = _Rows(name)
    try:
        header = [cell.strip().lower() for cell in next(reader, [])]
        if tuple(header) != COLUMNS:
            sentence = f"The first line is not {','.join(COLUMNS)}."
            return None, [Issue((name,), sentence, "Export the table again.", line=1)]
        for cells in reader:
            if any(cell.strip() for cell in cells):
                rows.add([cell.strip() for cell in cells], reader.line_num)
    except csv.Error as error:
        line = max(reader.line_num, 1)
        return None, [Issue((name,), f"The line is not CSV: {error}.", "Export the table again.", line=line)]
    return rows.table(), rows.issues


@dataclass(slots=True)
class _Rows:
    """Collects the lines of a table."""

    name: str
    shares: dict[LevelQuery, Fraction] = field(default_factory=dict)
    budgets: dict[LevelQuery, Fraction] = field(default_factory=dict)
    least: dict[str, list[tuple[tuple[int, int, int], str]]] = field(default_factory=dict)
    rounder: dict[str, list[tuple[tuple[int, int, int], str]]] = field(default_factory=dict)
    issues: list[Issue] = field(default_factory=list)

    def add(self, cells: Sequence[str], line: int) -> None:
        if len(cells) != len(COLUMNS):
            self._report(line, f"The line has {len(cells)} cells, not {len(COLUMNS)}.")
            return
        level, query, share, budget, _, least, rounder = cells
        key = LevelQuery(level, query)
        if key in self.shares:
            self._report(line, f"{key.text} stands twice.")
        try:
            if share:
                self.shares[key], self.budgets[key] = parse_exact(share), parse_exact(budget)
                if not 0 <= self.shares[key] <= 1 or self.budgets[key] < 0:
                    self._report(line, f"A share lies between 0 and 1, got {share} with a budget of {budget}.")
            for target, text in ((self.least, least), (self.rounder, rounder)):
                target.setdefault(level, []).extend((place, query) for place in _parsed_places(text))
        except ValueError as error:
            self._report(line, f"{error}.")

    def _report(self, line: int, sentence: str) -> None:
        self.issues.append(Issue((self.name,), sentence, "Correct the table, or export it again.", line=line))

    def table(self) -> StrategyTable | None:
        if self.issues:
            return None
        levels = {key.level for key in self.shares}
        passes = {level: Passes(_nested(self.least.get(level, [])), _nested(self.rounder.get(level, [])))
                  for level in levels if self.least.get(level) or self.rounder.get(level)}  # fmt: skip
        return StrategyTable(self.shares, self.budgets, passes)


def _parsed_places(text: str) -> Iterator[tuple[int, int, int]]:
    for word in text.split():
        parts = word.split(".")
        if len(parts) != 3 or not all(part.isdigit() and len(part) < 6 for part in parts):
            raise ValueError(f"a place among the passes is written like 0.1.2, got {word!r}")
        yield int(parts[0]), int(parts[1]), int(parts[2])


def _nested(placed: Iterable[tuple[tuple[int, int, int], str]]) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """Return the passes again; gaps in the numbering close."""
    outer: dict[int, dict[int, list[str]]] = {}
    for (first, second, _), query in sorted(placed):
        outer.setdefault(first, {}).setdefault(second, []).append(query)
    return tuple(tuple(tuple(names) for _, names in sorted(inner.items())) for _, inner in sorted(outer.items()))
