"""Settings of group sizes that cannot work, each with its place and remedy."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from phexplore.accounting.group_sizes_noise import noise_of
from phexplore.model.conventions import MarginConvention
from phexplore.model.group_sizes import SIZE_MECHANISMS, GroupSizes, SizeMechanism
from phexplore.model.issues import Issue, Severity
from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.noise.distributions import NoiseOutOfRangeError

MOST_ANSWERS = 200_000_000
"""Answers a run can hold in memory: two arrays of 64-bit integers of each level."""


def check_group_sizes(scenario: Scenario) -> list[Issue]:
    """Return all issues of a scenario of group sizes."""
    method = scenario.group_sizes
    issues = [*_regions(method), *_shares(method), *_tail(method)]
    if not issues:
        issues += _noise(method)
    return [*issues, *_conventions(scenario), *_mechanism(method)]


def _regions(method: GroupSizes) -> Iterator[Issue]:
    if method.regions[0] != 1:
        yield Issue(
            ("levels", method.levels[0]),
            f"The widest level has {method.regions[0]:,} regions; everything is added up in one.",
            "Put a level with one region above it.",
        )
    for upper, lower, above, below in zip(
        method.levels, method.levels[1:], method.regions, method.regions[1:], strict=False
    ):
        if below < above:
            yield Issue(
                ("levels", lower),
                f"{lower} has {below:,} regions, fewer than the {above:,} of {upper} above it.",
                "Order the levels from the widest to the narrowest.",
            )
    if method.largest * sum(method.regions) > MOST_ANSWERS:
        yield Issue(
            ("largest",),
            f"{sum(method.regions):,} regions with {method.largest:,} sizes are more than {MOST_ANSWERS:,} answers.",
            "Choose a smaller largest size; larger groups then count as groups of it.",
        )


def _shares(method: GroupSizes) -> Iterator[Issue]:
    if (total := sum(method.level_shares.values(), Fraction(0))) != 1:
        yield Issue(
            ("levels",),
            f"The shares of the levels add to {exact_text(total)}, not 1.",
            "Change a share so that they do.",
        )
    for level, share in method.level_shares.items():
        if share == 0:
            yield Issue(
                ("levels", level),
                f"{level} has no budget, but every mechanism measures every level.",
                "Give it a share, or take the level out.",
            )


def _noise(method: GroupSizes) -> Iterator[Issue]:
    for level in method.levels:
        try:
            noise_of(method.framework, method.sensitivity, method.budget(level))
        except NoiseOutOfRangeError as error:
            yield Issue(("levels", level), error.sentence, error.remedy)


def _tail(method: GroupSizes) -> Iterator[Issue]:
    if method.tail is not None and method.tail.outliers and method.tail.smallest > method.largest:
        yield Issue(
            ("tail", "smallest"),
            f"The smallest outlier has {method.tail.smallest:,}, more than the largest size {method.largest:,}.",
            "Choose a smaller one, or a larger largest size.",
        )


def _conventions(scenario: Scenario) -> Iterator[Issue]:
    pure = scenario.group_sizes.framework is PrivacyFramework.PURE_DP
    if pure and scenario.conventions.margin is MarginConvention.PAPER:
        yield Issue(
            ("conventions", "margin"),
            "The paper's ⌊1.64 σ⌋ is a margin of Gaussian noise; the scenario uses pure DP.",
            "Choose the normal or the exact convention.",
        )


def _mechanism(method: GroupSizes) -> Iterator[Issue]:
    if not method.mechanism.is_exact:
        yield Issue(
            ("mechanism",),
            "This baseline rounds every value by itself: regions will not add up, nor groups to their total.",
            f"Choose another mechanism for a release, e.g. “{SIZE_MECHANISMS[SizeMechanism.CUMULATIVE_TREE]}”.",
            Severity.WARNING,
        )
    if method.mechanism is SizeMechanism.CHAIN:
        yield Issue(
            ("mechanism",),
            "The paper's chain is more accurate because its noise costs more than declared; with noise that keeps the budget "
            f"it is less accurate than “{SIZE_MECHANISMS[SizeMechanism.CUMULATIVE_TREE]}” at most settings.",
            "Compare both in a run; the other keeps the same budget.",
            Severity.WARNING,
        )
