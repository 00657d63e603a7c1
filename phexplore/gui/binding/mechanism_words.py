"""Words and sentences about group sizes and subspace releases: what changed, what a mechanism does. No Qt."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from phexplore.figures.wording import capital, share_percent
from phexplore.gui.binding.shown import Shown
from phexplore.model.diff import Change, diff, parameters_only
from phexplore.model.group_sizes import SizeMechanism
from phexplore.model.numbers import exact_text
from phexplore.model.subspace import Axis, Basis, Calibration, Mechanism
from phexplore.systems.group_sizes.figures import SIZE_MECHANISMS

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


def change_texts(shown: Shown) -> tuple[str, ...]:
    """Return every parameter that differs from the reference as a sentence; empty without one."""
    if shown.reference is None:
        return ()
    return tuple(_sentence(change) for change in parameters_only(diff(shown.reference.scenario, shown.scenario)))


def _sentence(change: Change) -> str:
    key = str(change.key or "")
    match change.word:
        case "level share":
            return f"Share of {key}: {_share(change.before)} → {_share(change.after)}"
        case "level lock":
            return f"Share of {key} " + ("locked" if change.after else "unlocked")
        case "release":
            return f"Release {key}: {_word(change.before)} → {_word(change.after)}"
        case _:
            name = capital(change.word) + (f" of {key}" if key else "")
            return f"{name}: {_word(change.before)} → {_word(change.after)}"


def _share(value: Any) -> str:
    return share_percent(value) if isinstance(value, Fraction) else "none"


def _word(value: Any) -> str:
    match value:
        case None | "":
            return "none"
        case Fraction():
            return exact_text(value)
        case Axis():
            return f"{value.name} {value.size:,}"
        case SizeMechanism():
            return SIZE_MECHANISMS[value]
        case tuple() | list():
            return ", ".join(map(_word, value))
        case _:
            return str(getattr(value, "value", value))


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
