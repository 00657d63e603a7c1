"""Settings of TopDown that cannot work, each with its place and remedy."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from phexplore.errors import PhexploreError
from phexplore.model.issues import Issue, Severity
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import TopDown
from phexplore.spine.settings import settings_for
from phexplore.systems.topdown.forecast import query_of
from phexplore.systems.topdown.rules import rule_issues
from phexplore.workload.schema import load_schema


def check_scenario(scenario: Scenario) -> list[Issue]:
    """Return all issues of a scenario of this system."""
    return check_topdown(scenario.topdown)


def check_topdown(method: TopDown) -> list[Issue]:
    """Return all issues of TopDown parameters."""
    try:
        schema = load_schema(method.schema)
    except PhexploreError as error:
        return [Issue(("schema",), error.sentence, error.remedy)]
    issues = [*_names(method), *_shares(method)]
    if not issues:
        issues += [*_detailed(method), *_passes(method), *rule_issues(method), *_spine(method)]
    if schema.analytic_only:
        issues.append(
            Issue(("schema",), schema.analytic_only, "Its forecast is complete; choose another schema to simulate.",
                  Severity.WARNING)
        )  # fmt: skip
    return issues


def _names(method: TopDown) -> Iterator[Issue]:
    if not method.levels:
        yield Issue(("levels",), "There is no geographic level.", "Start from a preset.")
    for level in method.levels:
        if level not in method.level_shares:
            yield Issue(("levels", level), f"{level} has no share.", "Give it one, 0 is allowed.")
        if not method.queries_at(level):
            yield Issue(("queries", level), f"No query is measured at {level}.", "Measure at least `detailed`.")
    for key in method.query_shares:
        if key.level not in method.levels:
            yield Issue(("queries", key.text), f"{key.level} is not a level.", "Remove its queries.")
            continue
        try:
            query_of(method.schema, key.query)
        except PhexploreError as error:
            yield Issue(("queries", key.text), error.sentence, error.remedy)


def _shares(method: TopDown) -> Iterator[Issue]:
    if (total := sum(method.level_shares.values(), Fraction(0))) != 1:
        yield Issue(
            ("levels",), f"The level shares add to {total}, not 1.", "Change a share: the unlocked rest follows."
        )
    for level in method.levels:
        column = sum((share for key, share in method.query_shares.items() if key.level == level), Fraction(0))
        if column != 1:
            yield Issue(
                ("queries", level),
                f"The query shares of {level} add to {column}, not 1.",
                "Change a share: the unlocked rest follows.",
            )


def _detailed(method: TopDown) -> Iterator[Issue]:
    for level in method.levels:
        if method.level_shares[level] == 0:
            yield Issue(
                ("levels", level),
                f"{level} has no budget: its units are estimated from their parents and children alone.",
                "Give it a share, or take the level out of the spine.",
                Severity.WARNING,
            )
            continue
        measured = {key.query for key, share in method.query_shares.items() if key.level == level and share > 0}
        if not any(query_of(method.schema, name).name == "detailed" for name in measured):
            yield Issue(
                ("queries", level),
                f"The detailed query is not measured at {level}: many histograms fit equally well.",
                "Measure `detailed` with a share above 0.",
            )


def _passes(method: TopDown) -> Iterator[Issue]:
    """A pass whose answers constrain the next one must have been measured (TDA paper, equation 7.5)."""
    for level, passes in method.passes.items():
        if level not in method.levels:
            continue
        measured = {
            query_of(method.schema, key.query)
            for key, share in method.query_shares.items()
            if key.level == level and share > 0
        }
        for number, inner in enumerate(names for outer in passes.least_squares[:1] for names in outer[:-1]):
            unmeasured = [name for name in inner if query_of(method.schema, name) not in measured]
            if unmeasured and len(unmeasured) == len(inner):
                yield Issue(
                    ("passes", level),
                    f"Pass {number + 1} at {level} is constrained to {', '.join(unmeasured)}, which is not measured there.",
                    "Measure it at this level, or take it out of the pass.",
                )


_OF_PRIMS = ("US", "Nation", "State", "County", "Prim", "Tract_Subset_Group", "Tract_Subset", "Block_Group", "Block")
_OF_TRACTS = ("US", "Nation", "State", "County", "Tract_Group", "Tract", "Block_Group", "Block")
_OF_DISTRICTS = ("US", "Nation", "State", "County", "Supdist", "Enumdist")
"""Levels that spines have, widest first; districts are those of 1940, whose geocodes have no blocks."""


def _spine(method: TopDown) -> Iterator[Issue]:
    """Yield why the parameters cannot be used on the spine they choose."""
    try:
        settings = settings_for(method)
    except PhexploreError as error:
        yield Issue(("spine",), error.sentence, error.remedy)
        return
    levels: tuple[str, ...] = _OF_PRIMS if settings.kind == "prim" else _OF_TRACTS
    if settings.kind == "standard" and "Enumdist" in method.levels:
        levels = _OF_DISTRICTS
    lost = [level for level in method.levels if level not in levels and method.level_shares.get(level, 0) > 0]
    if lost:
        yield Issue(
            ("spine",),
            f"This spine has no level {', '.join(lost)}, which has a share of the budget.",
            "Choose the spine that the levels were made for, or start from a preset with this spine's levels.",
        )
    elif settings.tract_groups == "none" and method.level_shares.get("Tract_Group", 0) > 0:
        yield Issue(
            ("spine",),
            "The level Tract_Group has a share of the budget, and this spine makes no groups of tracts.",
            "Choose a rule for groups of tracts, or give the level the share 0.",
        )
