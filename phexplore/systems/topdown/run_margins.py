"""What every run notes about its noise: the scenario's margin of every answer, and what pooling uses."""

from __future__ import annotations

from phexplore.accuracy.margins import margins_of
from phexplore.model.conventions import Conventions
from phexplore.model.rounded import percent
from phexplore.simulate.topdown.design import Design


def margins_by_level(conventions: Conventions, design: Design) -> tuple[tuple[int, ...], ...]:
    """Return the margin of an answer of each measured query per level, whole people; 0 where none is asked.

    Args:
        conventions: of the scenario.
        design: what is measured.
    """
    return tuple(
        tuple(
            0
            if each is None
            else int(margins_of(each, 1, conventions.confidence, conventions.z).by(conventions.margin))
            for each in level.measuring.noises
        )
        for level in design.levels
    )


def pooled_remark(design: Design, lowest: int, weight: float) -> str:
    """Return what is said of a run with the pooled estimator.

    Args:
        design: what is measured.
        lowest: number of the lowest level that is pooled.
        weight: share of the leaves in what is known of the cells above them.
    """
    leaves = len(design.levels) - 1
    return (
        "Pooled estimator: the noisy answers of every unit together with those of the units inside it; not the Bureau's method. "
        f"Those of {design.levels[leaves].name} are {'pooled too' if lowest == leaves else 'not pooled'}: they make up "
        f"{percent(weight)} of what is known of the cells above them."
    )
