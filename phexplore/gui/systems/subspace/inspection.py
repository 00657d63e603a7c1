"""What the inspector says about a release under exact sums. No Qt."""

from __future__ import annotations

from phexplore.figures.wording import people, share_percent
from phexplore.gui.binding.inspection import NO_FIGURES, Inspection
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.systems.subspace.wording import MECHANISM_EXPLANATIONS
from phexplore.model.numbers import exact_text


def inspect(shown: ScenarioView, selected: str | None) -> Inspection:
    """Return title and explained numbers of a release, of the first when none is selected."""
    method, figures = shown.scenario.subspace, shown.figures
    if figures is None:
        return Inspection(shown.scenario.name, parts=(NO_FIGURES,), issues=shown.issues)
    release = next((each for each in figures.releases if each.plan.name == selected), None)
    release = release or (figures.releases[0] if figures.releases else None)
    if release is None:
        return Inspection(shown.scenario.name, issues=shown.issues)
    plan, convention = release.plan, shown.scenario.conventions.margin
    space = plan.space
    budget = f"ε = {exact_text(plan.epsilon)}" + (f", δ = {exact_text(plan.delta)}" if plan.delta else "")
    margins = [kind.margins.by(convention) for kind in release.classes]
    near = release.approximation
    factor = near.words if near.factor is None else f"at most {near.factor:.4g} times {near.words.removeprefix('of ')}"
    parts = (
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
    )
    issues = tuple(issue for issue in shown.issues if plan.name in issue.path)
    title = plan.name if len(method.releases) > 1 else shown.scenario.name
    return Inspection(title, parts=parts, issues=issues)
