"""What an automatic search found so far, read from its file of probes; and its results as scenarios. No Qt."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from phexplore.figures.axis import Axis, whole_text
from phexplore.figures.figure import Figure
from phexplore.figures.marks import Dot, Mark, Role, Rule
from phexplore.figures.table import Table
from phexplore.files.atomic_files import read_text
from phexplore.model.numbers import parse_exact
from phexplore.model.rounded import Toward, percent
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import TopDown
from phexplore.systems.topdown.tuning import Probe, starting_strategies, with_level_budgets

OWN = ""
"""The scenario's own division of levels, instead of a published starting strategy."""


@dataclass(frozen=True, slots=True)
class FoundBudgets:
    """Budgets per level that met the criterion.

    Attributes:
        strategy: which division of levels they were found with.
        budgets: ρ per level.
        total: their sum.
        smaller: another setting that met the criterion on the way with a smaller total, None when there was none.
        smaller_total: its sum.
        settings: how many were simulated or taken over.
    """

    strategy: str
    budgets: Mapping[str, Fraction]
    total: Fraction
    smaller: Mapping[str, Fraction] | None
    smaller_total: Fraction | None
    settings: int


def strategy_words(name: str) -> str:
    """Return a starting strategy in words."""
    return "The scenario's own queries" if name == OWN else name[0].upper() + name[1:]


def strategies(method: TopDown) -> tuple[str, ...]:
    """Return the six published starting strategies and the scenario's own division."""
    return (*starting_strategies(method), OWN)


def read_probes(path: Path) -> tuple[Probe, ...]:
    """Return the probes stored so far; a last line still being written is left out."""
    if not path.exists():
        return ()
    found = []
    for line in read_text(path).split("\n")[1:-1]:
        try:
            value = json.loads(line)
            budgets = tuple(
                (level, None if text is None else parse_exact(text)) for level, text in value["budgets"].items()
            )
            found.append(Probe(budgets, float(value["value"]), bool(value["meets"])))
        except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError):
            break
    return tuple(found)


def read_result(strategy: str, printed: str) -> FoundBudgets:
    """Read what ``phexplore tune --json`` printed.

    Args:
        strategy: id of the division it was found with.
        printed: JSON text.

    Raises:
        ValueError, KeyError: it is something else.
    """
    value: dict[str, Any] = json.loads(printed)
    smaller = value["smaller"][0] if value["smaller"] else None
    return FoundBudgets(
        strategy,
        {level: Fraction(text) for level, text in value["budgets"].items()},
        Fraction(value["total"]),
        None if smaller is None else {level: Fraction(text) for level, text in smaller["budgets"].items()},
        None if smaller is None else Fraction(smaller["total"]),
        int(value["probes"]),
    )


def as_scenario(scenario: Scenario, found: FoundBudgets, *, smaller: bool = False) -> Scenario:
    """Return the scenario with budgets that were found, and the division of levels they were found with.

    Levels that the data of the search do not have keep the budget they have.

    Args:
        scenario: to change.
        found: the budgets.
        smaller: whether the smaller set that was found besides is taken.
    """
    method = scenario.topdown
    if found.strategy != OWN:
        method = starting_strategies(method)[found.strategy]
    budgets = found.smaller if smaller and found.smaller is not None else found.budgets
    kept = {level: method.total * share for level, share in method.level_shares.items()}
    tuned = with_level_budgets(method, {level: budgets.get(level, kept[level]) for level in method.levels})
    kind = "tuned, smaller" if smaller else "tuned"
    return replace(scenario, name=f"{scenario.name}, {kind}: {strategy_words(found.strategy)}", method=tuned)


def budget_words(budget: Fraction | None) -> str:
    """Return a budget of a probe, ∞ for a level without noise."""
    return "∞" if budget is None else f"{float(budget):.4g}"


def probe_numbers(probes: Sequence[Probe]) -> Table:
    """Return all probes as a table."""
    levels = tuple(level for level, _ in probes[0].budgets) if probes else ()
    rows = tuple(
        (number, *(budget_words(budget) for _, budget in probe.budgets), probe.total, probe.value,
         "yes" if probe.meets else "no")
        for number, probe in enumerate(probes, start=1)
    )  # fmt: skip
    return Table(("Setting", *(f"ρ {level}" for level in levels), "ρ in all", "Share of areas", "Meets"), rows)


def probe_figure(probes: Sequence[Probe], limit: float) -> Figure:
    """Return a search: the share of areas that met the criterion, setting by setting; keys are their numbers from 0.

    Args:
        probes: settings in order, at least one.
        limit: of the criterion, 0 to 1.
    """
    lowest = 100 * min(limit, *(probe.value for probe in probes))
    marks = tuple(
        Mark(
            number,
            (Dot(number + 1, 100 * probe.value, Role.MET if probe.meets else Role.MISSED, is_hollow=not probe.meets),),
            tip=probe_words(probe),
        )
        for number, probe in enumerate(probes)
    )
    return Figure(
        "search",
        f"{len(probes)} settings simulated, {sum(probe.meets for probe in probes)} meet the criterion",
        f"Enough areas are as near as you asked on the dashed line ({percent(limit)}) and above it: filled dots. Hollow ones miss it.",
        Axis("simulated setting", domain=(0.3, max(len(probes), 10) + 0.7), text=whole_text),
        Axis("areas that are near enough, percent", domain=(max(0.0, lowest - 8), 104.0)),
        marks,
        probe_numbers(probes),
        under=(Rule(y=100 * limit, width=1.2),),  # words of its own would stand under dots
    )


def probe_words(probe: Probe) -> str:
    """Return one probe in words."""
    settings = ", ".join(f"{level} {budget_words(budget)}" for level, budget in probe.budgets)
    total = "" if probe.total is None else f", {float(probe.total):.4g} in all"
    return f"{percent(probe.value, toward=Toward.DOWN)} of areas, {'meets' if probe.meets else 'misses'}: ρ {settings}{total}"


_FAR_BELOW = Fraction(1, 4)
"""A found total below this part of the scenario's own needs a word of explanation."""


def result_words(found: FoundBudgets, own_total: Fraction, data: str) -> str:
    """Return a result in a few sentences.

    Args:
        found: the result.
        own_total: ρ of the scenario that the search started from.
        data: what the search was made on.
    """
    text = f"{strategy_words(found.strategy)}: ρ {float(found.total):.6g} meets the criterion after {found.settings} settings."
    if found.smaller_total is not None:
        less = 1 - float(found.smaller_total / found.total)
        text += f" A smaller ρ of {float(found.smaller_total):.6g} met the same criterion on the way ({percent(less, toward=Toward.DOWN)} less)."
    if found.total < _FAR_BELOW * own_total:
        text += (
            f" That is far below the scenario's ρ of {float(own_total):.4g}, and no proof that less is enough: the criterion was"
            f" judged on the areas of {data} alone, and asks nothing of other tables and places."
        )
    return text
