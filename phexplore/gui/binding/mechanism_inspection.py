"""What the inspector says about a level of group sizes or a release under exact sums. No Qt."""

from __future__ import annotations

from collections.abc import Sequence

from phexplore.figures.wording import people, share_percent
from phexplore.gui.binding.mechanism_words import MECHANISM_EXPLANATIONS, SIZE_EXPLANATIONS, reach_sentence
from phexplore.gui.binding.shown import Shown
from phexplore.model.issues import Issue
from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.systems.group_sizes.figures import SIZE_MECHANISMS

_NO_FIGURES = ("Errors", "The figures appear when the errors of the scenario are cured; see the issues.")


def explain_sizes(shown: Shown, selected: str | None) -> tuple[str, Sequence[tuple[str, str]]]:
    """Return title and explained numbers of a level, of the whole release when none is selected."""
    method, figures = shown.scenario.group_sizes, shown.group_sizes
    mechanism = (SIZE_MECHANISMS[method.mechanism], SIZE_EXPLANATIONS[method.mechanism])
    if figures is None:
        return shown.scenario.name, (_NO_FIGURES, mechanism)
    level = next((level for level in figures.levels if level.level == selected), None)
    if level is None:
        epsilons = "\n".join(f"ε = {figure.value:.4g} at δ = {exact_text(figure.delta)}" for figure in figures.epsilons)
        return shown.scenario.name, (
            mechanism,
            ("Sensitivity", reach_sentence(method.mechanism.is_cumulative, method.largest_quantity)),
            ("As (ε, δ)", epsilons),
            ("Protected", "\n".join(figures.protected)),
            ("Not protected", "\n".join(figures.not_protected)),
        )
    symbol, convention = method.framework.symbol, shown.scenario.conventions.margin
    rule = f"{symbol} of the level = {exact_text(method.total)} × {share_percent(level.share)} = {exact_text(level.budget)}"
    scale = (
        f"double-geometric noise with scale {level.noise.sensitivity} / {exact_text(level.budget)}"
        if method.framework is PrivacyFramework.PURE_DP
        else f"discrete Gaussian noise with σ² = {level.noise.sensitivity} / (2 · {exact_text(level.budget)})"
    )
    parts = [
        ("Budget", rule),
        (
            "Noise",
            f"{scale}: σ = {level.sigma:,.4g} of one answer; {level.answers:,} answers in {level.regions:,} regions.",
        ),
        (
            "Margins before sums are made to hold",
            (
                f"±{people(level.answer_margins.by(convention))} of a measured answer, ±{people(level.size_margins.by(convention))} of the "
                "number of groups of one size."
            ),
        ),
        ("Exact quantile", f"±{level.size_margins.exact} groups of one size; normal ±{level.size_margins.normal:.2f}."),
    ]
    issues = [issue for issue in shown.issues if selected in issue.path]
    return level.level, (*parts, *_issues(issues))


def explain_releases(shown: Shown, selected: str | None) -> tuple[str, Sequence[tuple[str, str]]]:
    """Return title and explained numbers of a release, of the first when none is selected."""
    method, figures = shown.scenario.subspace, shown.subspace
    if figures is None:
        return shown.scenario.name, (_NO_FIGURES, *_issues(shown.issues))
    release = next((each for each in figures.releases if each.plan.name == selected), None)
    release = release or (figures.releases[0] if figures.releases else None)
    if release is None:
        return shown.scenario.name, _issues(shown.issues)
    plan, convention = release.plan, shown.scenario.conventions.margin
    space = plan.space
    budget = f"ε = {exact_text(plan.epsilon)}" + (f", δ = {exact_text(plan.delta)}" if plan.delta else "")
    margins = [kind.margins.by(convention) for kind in release.classes]
    near = release.approximation
    factor = near.words if near.factor is None else f"at most {near.factor:.4g} times {near.words.removeprefix('of ')}"
    parts = [
        ("Mechanism", f"{plan.release.mechanism.title}. {MECHANISM_EXPLANATIONS[plan.release.mechanism]}"),
        ("Budget", f"{budget}, a share of {share_percent(plan.release.share)}."),
        ("Sensitivity", "\n".join(release.explanation)),
        (
            "Exact sums",
            f"{space.rank:,} independent of {space.size:,} answers; {space.size - space.rank:,} dimensions carry noise.",
        ),
        (
            "Expected error",
            (
                f"{people(release.squared_error)} people² over all answers; margins from ±{people(min(margins))} to "
                f"±{people(max(margins))} people."
            ),
        ),
        ("How far from the best", factor),
        ("Protected", "\n".join(figures.protected)),
        ("Not protected", "\n".join(figures.not_protected)),
    ]
    issues = [issue for issue in shown.issues if plan.name in issue.path]
    title = plan.name if len(method.releases) > 1 else shown.scenario.name
    return title, (*parts, *_issues(issues))


def _issues(issues: Sequence[Issue]) -> tuple[tuple[str, str], ...]:
    if not issues:
        return ()
    return (("Issues", "\n".join(f"{issue.sentence} {issue.remedy}" for issue in issues)),)


def level_of(issue: Issue, scenario: Scenario) -> str | None:
    """Return the level or release an issue speaks of, None for the whole scenario."""
    names = (
        scenario.group_sizes.levels
        if issue.path[:1] == ("levels",)
        else tuple(scenario.subspace.releases)
        if issue.path[:1] == ("releases",)
        else ()
    )
    return next((part for part in issue.path[1:] if part in names), None)
