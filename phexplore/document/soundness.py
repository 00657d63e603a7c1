"""What every version of a project must allow before it becomes one: its figures can be computed and its numbers written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from phexplore.errors import PhexploreError
from phexplore.files.project_file import LoggedStep, ProjectContent
from phexplore.files.scenario_json import encode_scenario
from phexplore.model.diff import apply, diff
from phexplore.model.edits import EditRefusedError
from phexplore.model.issues import InputProblemsError, Issue, Severity
from phexplore.model.scenario import Scenario
from phexplore.model.workbook import Workbook
from phexplore.noise.distributions import NoiseOutOfRangeError
from phexplore.systems.registry import presets, system_of

FAILURES = (PhexploreError, ValueError, ArithmeticError)
"""What numbers that mean nothing lead to: a refusal with its reason, or a figure that no float holds."""


def refusal(error: Exception) -> PhexploreError:
    """Return a failure of figures as a refusal that a person can read."""
    if isinstance(error, PhexploreError):
        return error
    if isinstance(error, ArithmeticError):
        return EditRefusedError(
            "The figures cannot be computed: a number is too large or too close to 0.",
            "Enter a number of the size of those around it.",
        )
    return EditRefusedError(str(error))


def require_sound(after: Workbook, before: Workbook | None = None) -> None:
    """Pass a version whose figures can be computed.

    The figures are remembered where the screen asks for them next, so that an edit is evaluated once.

    Args:
        after: the version.
        before: one that has passed; what both share is not computed again. None for nothing.

    Raises:
        PhexploreError: the figures of a scenario cannot be computed; it says why and what to do.
    """
    passed = set() if before is None else {id(scenario) for scenario in before.scenarios}
    for scenario in after.scenarios:
        if id(scenario) not in passed:
            require_figures(scenario)


def require_figures(scenario: Scenario) -> None:
    """Pass a scenario whose figures can be computed.

    Parameters of some systems may be inconsistent while they are edited: then they have no figures, and issues that say
    what to do.

    Raises:
        PhexploreError: they cannot, whatever else is edited.
    """
    system = system_of(scenario)
    try:
        system.forecast(scenario)
    except FAILURES as error:
        can_be_shown = system.may_be_unfinished and isinstance(error, PhexploreError)
        if not can_be_shown or isinstance(error, NoiseOutOfRangeError):
            raise refusal(error) from error


def is_ordinary(scenario: Scenario) -> bool:
    """Return whether the figures of a scenario certainly can be computed: its numbers are far from where they cannot.

    Opening a project asks this of the scenarios that are not shown; only those that are not ordinary are computed then.
    """
    conventions = scenario.conventions
    return (
        Fraction(1, 100) <= conventions.confidence <= 1 - Fraction(1, 10**6)
        and Fraction(1, 100) <= conventions.z <= 100
        and Fraction(1, 10**30) <= conventions.delta <= Fraction(1, 2)
        and system_of(scenario).is_ordinary(scenario)
    )


def sound_content(content: ProjectContent, name: str) -> ProjectContent:
    """Return what a file holds with every parameter left out whose figures cannot be computed.

    Such a parameter keeps the last value the log has for it; what was left out is named in `issues`, the log stays whole.

    Args:
        content: of the file.
        name: of the file.

    Raises:
        InputProblemsError: a scenario has no sound version, and there is no other scenario.
    """
    issues: list[Issue] = []
    scenarios: list[Scenario] = []
    shown = content.workbook.scenario
    for scenario in content.workbook.scenarios:
        try:
            if scenario is shown or not is_ordinary(scenario):
                require_figures(scenario)
        except PhexploreError as error:
            known = _earlier(content, scenario)
            found, left_out = _mended(scenario, known, error, name)
            issues += left_out
            scenarios += [] if found is None else [found]
        else:
            scenarios.append(scenario)
    if not issues:
        return content
    if not scenarios:
        raise InputProblemsError(issues)
    names = [scenario.name for scenario in scenarios]
    before = content.workbook
    workbook = replace(
        before,
        scenarios=tuple(scenarios),
        active=before.active if before.active in names else names[0],
        comparison="" if before.comparison in before.names and before.comparison not in names else before.comparison,
    )
    step = LoggedStep("Leave out what cannot be computed", "", workbook)
    steps = (*content.steps, step)
    return replace(content, steps=steps, cursor=len(steps) - 1, issues=(*content.issues, *issues))


def _earlier(content: ProjectContent, scenario: Scenario) -> Iterable[Scenario]:
    """Yield what the log has of a scenario, newest first, and at last the preset it started from."""
    for step in reversed(content.steps):
        if scenario.name in step.workbook.names:
            yield step.workbook.find(scenario.name)
    if (preset := presets().get(scenario.baseline)) is not None:
        yield preset.scenario


def _mended(
    scenario: Scenario, earlier: Iterable[Scenario], error: PhexploreError, name: str
) -> tuple[Scenario | None, Sequence[Issue]]:
    """Return the scenario with the parameters that can be computed, the others as they were, and what was left out."""
    for known in earlier:
        if type(known.method) is not type(scenario.method):
            continue
        with suppress(PhexploreError):
            require_figures(known)
            return _as_far_as_sound(known, scenario, name)
    sentence = f"The figures of {scenario.name!r} cannot be computed. {error.sentence}"
    return None, (
        Issue((name, scenario.name), sentence, "Open an earlier copy of the file, or correct the value in it."),
    )


def _as_far_as_sound(known: Scenario, wanted: Scenario, name: str) -> tuple[Scenario, Sequence[Issue]]:
    issues: list[Issue] = []
    for change in diff(known, wanted):
        try:
            edited = apply((change,), known)
            require_figures(edited)
            encode_scenario(edited)
        except FAILURES as error:
            sentence = f"{change.path} of {wanted.name!r} was left as it was. {refusal(error).sentence}"
            remedy = "Everything else was kept; the value in the file is named in its log."
            issues.append(Issue((name, wanted.name, change.path), sentence, remedy, Severity.WARNING))
        else:
            known = edited
    return known, issues
