"""What the inspector says about a level of group sizes. No Qt."""

from __future__ import annotations

from collections.abc import Sequence

from phexplore.figures.wording import people, share_percent
from phexplore.gui.binding.inspector_parts import NO_FIGURES, issue_parts
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.systems.group_sizes.wording import SIZE_EXPLANATIONS, reach_sentence
from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.systems.group_sizes.figures import SIZE_MECHANISMS


def explain_sizes(shown: ScenarioView, selected: str | None) -> tuple[str, Sequence[tuple[str, str]]]:
    """Return title and explained numbers of a level, of the whole release when none is selected."""
    method, figures = shown.scenario.group_sizes, shown.figures
    mechanism = (SIZE_MECHANISMS[method.mechanism], SIZE_EXPLANATIONS[method.mechanism])
    if figures is None:
        return shown.scenario.name, (NO_FIGURES, mechanism)
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
    return level.level, (*parts, *issue_parts(issues))
