"""What the inspector says about a level of group sizes. No Qt."""

from __future__ import annotations

from phexplore.figures.wording import people, share_percent
from phexplore.gui.binding.inspection import NO_FIGURES, Inspection
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.systems.group_sizes.wording import SIZE_EXPLANATIONS, reach_sentence
from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.systems.group_sizes.figures import SIZE_MECHANISMS


def inspect(shown: ScenarioView, selected: str | None) -> Inspection:
    """Return title and explained numbers of a level, of the whole release when none is selected."""
    method, figures = shown.scenario.group_sizes, shown.figures
    mechanism = (SIZE_MECHANISMS[method.mechanism], SIZE_EXPLANATIONS[method.mechanism])
    if figures is None:
        return Inspection(shown.scenario.name, parts=(NO_FIGURES, mechanism), issues=shown.issues)
    level = next((level for level in figures.levels if level.level == selected), None)
    if level is None:
        epsilons = "\n".join(f"ε = {figure.value:.4g} at δ = {exact_text(figure.delta)}" for figure in figures.epsilons)
        parts = (
            mechanism,
            ("Sensitivity", reach_sentence(method.mechanism.is_cumulative, method.largest_quantity)),
            ("As (ε, δ)", epsilons),
            ("Protected", "\n".join(figures.protected)),
            ("Not protected", "\n".join(figures.not_protected)),
        )
        return Inspection(shown.scenario.name, parts=parts, issues=shown.issues)
    symbol, convention = method.framework.symbol, shown.scenario.conventions.margin
    rule = f"{symbol} of the level = {exact_text(method.total)} × {share_percent(level.share)} = {exact_text(level.budget)}"
    scale = (
        f"double-geometric noise with scale {level.noise.sensitivity} / {exact_text(level.budget)}"
        if method.framework is PrivacyFramework.PURE_DP
        else f"discrete Gaussian noise with σ² = {level.noise.sensitivity} / (2 · {exact_text(level.budget)})"
    )
    told = (
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
    )
    issues = tuple(issue for issue in shown.issues if selected in issue.path)
    return Inspection(level.level, parts=told, issues=issues)
