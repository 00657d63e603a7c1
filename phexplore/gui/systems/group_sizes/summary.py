"""What is said of group sizes: the figures of the headline, the inspector, and sentences about mechanisms. No Qt."""

from __future__ import annotations

from phexplore.figures.tile import TileContent, Tone
from phexplore.figures.wording import conversion_title, margin_word, people, power_text, share_percent, to_places
from phexplore.gui.binding.inspection import NO_FIGURES, Inspection
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.binding.tiles import UNKNOWN, loss_tile
from phexplore.model.group_sizes import SIZE_MECHANISMS, SizeMechanism
from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.rounded import epsilon_bound, percent
from phexplore.noise.draws import NoisyAnswer

SIZE_EXPLANATIONS = {
    SizeMechanism.RELAXED: "Noisy numbers of groups of each size; the quadratic program without whole numbers, every value rounded "
    "by itself. Regions need not add up: a run counts the sums that break.",
    SizeMechanism.TREE: "Noisy numbers of groups of each size; the nearest consistent whole numbers, found exactly.",
    SizeMechanism.CUMULATIVE_RELAXED: "Noisy numbers of groups of at most each size; the quadratic program without whole numbers, "
    "rounded. Regions need not add up: a run counts the sums that break.",
    SizeMechanism.CUMULATIVE_TREE: "Noisy numbers of groups of at most each size, made rising region by region, then the nearest "
    "consistent whole numbers. The most accurate consistent one at most settings.",
    SizeMechanism.CHAIN: "Noisy numbers of groups of at most each size, added up along one chain through all regions; the nearest "
    "consistent whole numbers, found exactly. The paper puts noise for one change on the chain, where one individual changes as many "
    "places as a level has regions; the noise here is on the regions' own counts and keeps the budget.",
    SizeMechanism.TOPDOWN: "Noisy numbers of groups of each size; estimated and rounded level by level from the top.",
}

_FOR_EXPERTS = frozenset({"Sensitivity", "As (ε, δ)", "Noise", "Exact quantile"})


def reach_sentence(cumulative: bool, quantity: int) -> str:
    """Return where the sensitivity of group sizes comes from."""
    if cumulative:
        how = (
            "moves the group from one size to the next and changes one number of groups of at most a size by 1"
            if quantity == 1
            else f"can move the group by {quantity:,} sizes and change as many numbers of groups of at most a size by 1"
        )
        return f"Sensitivity {quantity:,}: an individual more {how}."
    return "Sensitivity 2: an individual more takes the group out of one size and puts it into another; both counts change by 1."


def size_tiles(shown: ScenarioView) -> tuple[TileContent, ...]:
    """Return budget, margin at the lowest level, and whether sums hold."""
    method, figures = shown.scenario.group_sizes, shown.figures
    loss = loss_tile(
        shown,
        lambda version: (version.scenario.group_sizes.framework, version.scenario.group_sizes.total),
        caption=f"Privacy loss {method.framework.symbol}",
        beside=f"over {len(method.levels)} level" + ("" if len(method.levels) == 1 else "s"),
        alone="one individual more or less",
    )
    lowest = figures.levels[-1] if figures is not None and figures.levels else None
    if lowest is None:
        margin = TileContent("Margin of one size", UNKNOWN, "", "see the issues", Tone.REFUSED)
    else:
        conventions = shown.scenario.conventions
        rule = f"{percent(conventions.confidence, places=None)}, {margin_word(conventions.margin)}, before sums are made to hold"
        margin = TileContent(
            f"Margin of one size, {lowest.level}",
            f"±{people(lowest.size_margins.by(conventions.margin))}",
            "groups",
            rule,
        )
    holds = method.mechanism.is_exact
    sums = TileContent(
        "Regions add up",
        "always" if holds else "not always",
        "",
        "whole numbers of 0 or more, total exact" if holds else "a baseline: broken sums are counted in a run",
        Tone.NEUTRAL if holds else Tone.ATTENTION,
    )
    return loss, margin, sums


def inspect(shown: ScenarioView, selected: str | None) -> Inspection:
    """Return title and explained numbers of a level, of the whole release when none is selected."""
    method, figures = shown.scenario.group_sizes, shown.figures
    mechanism = (SIZE_MECHANISMS[method.mechanism], SIZE_EXPLANATIONS[method.mechanism])
    if figures is None:
        return Inspection(shown.scenario.name, parts=(NO_FIGURES, mechanism), issues=shown.issues)
    level = next((level for level in figures.levels if level.level == selected), None)
    if level is None:
        epsilons = "\n".join(
            f"ε = {epsilon_bound(figure.value)} at δ = {power_text(figure.delta)}"
            + (f", {conversion_title(figure.conversion)}" if figure.conversion else "")
            for figure in (*shown.proven_figures, *figures.epsilons)
        )
        parts = (
            mechanism,
            ("Sensitivity", reach_sentence(method.mechanism.is_cumulative, method.largest_quantity)),
            ("As (ε, δ)", epsilons),
            ("Protected", "\n".join(figures.protected)),
            ("Not protected", "\n".join(figures.not_protected)),
        )
        return Inspection(shown.scenario.name, parts=parts, for_experts=_FOR_EXPERTS, issues=shown.issues)
    symbol, convention = method.framework.symbol, shown.scenario.conventions.margin
    rule = f"{symbol} of the level = {exact_text(method.total)} × {share_percent(level.share)} = {exact_text(level.budget)}"
    scale = (
        f"double-geometric noise with scale {level.noise.sensitivity} / {exact_text(level.budget)}"
        if method.framework is PrivacyFramework.PURE_DP
        else f"discrete Gaussian noise with σ² = {level.noise.sensitivity} / (2 · {exact_text(level.budget)})"
    )
    answer, size = (people(each.by(convention)) for each in (level.answer_margins, level.size_margins))
    told = (
        ("Budget", rule),
        (
            "Noise",
            f"{scale}: σ = {level.sigma:,.4g} of one answer; {level.answers:,} answers in {level.regions:,} regions.",
        ),
        (
            "Margins before sums are made to hold",
            f"±{answer} of a measured answer, ±{size} of the number of groups of one size.",
        ),
        (
            "Exact quantile",
            f"±{level.size_margins.exact} groups of one size; normal ±{to_places(level.size_margins.normal)}.",
        ),
    )
    issues = tuple(issue for issue in shown.issues if selected in issue.path)
    drawn = NoisyAnswer(
        f"groups of one size, {level.level}",
        (level.noise.noise,) * (2 if method.mechanism.is_cumulative else 1),
        level.size_margins.by(convention),
        shown.scenario.conventions.confidence,
        "is measured, before sums are made to hold, as",
    )
    return Inspection(level.level, parts=told, for_experts=_FOR_EXPERTS, issues=issues, answer=drawn)
