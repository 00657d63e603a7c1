"""What is said of releases under exact sums: the figures of the headline, the inspector, and sentences about mechanisms. No Qt."""

from __future__ import annotations

import math

from phexplore.figures.tile import TileContent, Tone
from phexplore.figures.wording import capital, people, power_text, sentence, share_percent
from phexplore.gui.binding.inspection import NO_FIGURES, Inspection
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.binding.tiles import UNKNOWN, loss_tile
from phexplore.model.numbers import exact_text
from phexplore.model.subspace import Basis, Calibration, Mechanism

BASES = {Basis.HELMERT: "Helmert: each cell against those before it", Basis.HALVES: "Halves, halved again"}


CALIBRATIONS = {
    Calibration.EXACT: "Exact: the smallest σ that keeps (ε, δ)",
    Calibration.PAPER: "The paper's constant (refused where it breaks δ)",
}


MECHANISM_EXPLANATIONS = {
    Mechanism.PROJECTED_LAPLACE: "Independent Laplace noise on every answer, projected onto what the exact sums leave free "
    "(Corollary 3.8). Pure: no δ.",
    Mechanism.EXTENDED_LAPLACE: "Laplace noise on the coordinates of a basis of what the exact sums leave free (Corollary 3.9). Pure, "
    "and its error depends on the basis.",
    Mechanism.PROJECTED_GAUSSIAN: "Independent Gaussian noise at the query's own sensitivity, projected (Corollary 3.5). Needs δ.",
    Mechanism.EXTENDED_GAUSSIAN: "Gaussian noise at the sensitivity that is left beside the exact sums (Algorithm 1): never worse than "
    "projecting. Needs δ.",
    Mechanism.CORRELATED_GAUSSIAN: "Gaussian noise shaped to the query, near the least squared error (Theorem 3.11). Needs δ; up to 200 "
    "answers.",
    Mechanism.K_NORM: "Noise that falls with the norm made from the differences of records (§3.4), drawn exactly for one grand total. "
    "Pure, and numbers stay whole.",
}


def subspace_tiles(shown: ScenarioView) -> tuple[TileContent, ...]:
    """Return ε and δ, what is published exactly, and the expected error of an answer."""
    method, figures = shown.scenario.subspace, shown.figures
    loss = loss_tile(
        shown,
        lambda version: ("", version.scenario.subspace.epsilon),
        caption="Privacy loss ε",
        beside=f"δ = {power_text(method.delta)}" if method.delta else "pure, no δ",
        alone="one record replaced",
    )
    if figures is None:
        missing = TileContent("Published exactly", UNKNOWN, "", "see the issues", Tone.REFUSED)
        return loss, missing, TileContent("Expected error", UNKNOWN, "", "see the issues", Tone.REFUSED)
    seen = figures.disclosure
    exact = TileContent(
        "Published exactly",
        UNKNOWN if seen.rank is None else f"{seen.rank:,}",
        f"of {seen.cells:,} dimensions",
        "not protected by any ε: see the overview"
        if not seen.determined
        else f"{seen.determined:,} cells follow from them",
        Tone.ATTENTION if seen.determined else Tone.NEUTRAL,
    )
    return loss, exact, _error_tile(shown)


def _error_tile(shown: ScenarioView) -> TileContent:
    figures = shown.figures
    if figures is None or not figures.releases:
        return TileContent("Expected error", UNKNOWN)
    first = figures.releases[0]
    error = math.sqrt(first.squared_error / first.plan.space.size)
    change, tone = first.plan.release.mechanism.title, Tone.NEUTRAL
    before = None if shown.reference is None else shown.reference.figures
    if before is not None and before.releases:
        other = before.releases[0]
        if other.plan.space.size == first.plan.space.size:
            was = math.sqrt(other.squared_error / other.plan.space.size)
            if abs(error - was) < 0.0005 * max(was, 1e-12):
                change = "as in the reference"
            else:
                change = f"{'+' if error > was else '−'}{people(abs(error - was))} against the reference"
                tone = Tone.ATTENTION if error > was else Tone.GOOD
    name = "" if len(shown.scenario.subspace.releases) == 1 else f", {first.plan.name}"
    return TileContent(
        f"Expected error of an answer{name}", f"{people(error)}", "people, root mean square", change, tone
    )


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
    error, least, most = map(people, (release.squared_error, min(margins), max(margins)))
    span = f"every margin is ±{most}" if least == most else f"margins from ±{least} to ±{most}"
    free = space.size - space.rank
    near = release.approximation
    factor = near.words if near.factor is None else f"at most {near.factor:.4g} times {near.words.removeprefix('of ')}"
    parts = (
        ("Mechanism", f"{capital(plan.release.mechanism.title)}. {MECHANISM_EXPLANATIONS[plan.release.mechanism]}"),
        ("Budget", f"{budget}, a share of {share_percent(plan.release.share)}."),
        ("Sensitivity", "\n".join(release.explanation)),
        ("Exact sums", f"{space.rank:,} independent of {space.size:,} answers; {free:,} dimensions carry noise."),
        ("Expected error", f"{error} people² over all answers; {span} people."),
        ("How far from the best", sentence(factor)),
        ("Protected", "\n".join(figures.protected)),
        ("Not protected", "\n".join(figures.not_protected)),
    )
    issues = tuple(issue for issue in shown.issues if plan.name in issue.path)
    title = plan.name if len(method.releases) > 1 else shown.scenario.name
    return Inspection(title, parts=parts, for_experts=frozenset({"Sensitivity", "Expected error"}), issues=issues)
