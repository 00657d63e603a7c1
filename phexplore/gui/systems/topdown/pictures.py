"""The pictures of a TopDown scenario."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from phexplore.figures.figure import Figure
from phexplore.figures.wording import share_percent
from phexplore.gui.editors.live_figure import Picture
from phexplore.gui.systems.topdown.session import TopDownShown
from phexplore.model.scenario import Scenario
from phexplore.model.shares import SHARE_STEP, largest_share
from phexplore.systems.topdown.edits import set_level_share
from phexplore.systems.topdown.figures import level_figure, semantics_figure
from phexplore.systems.topdown.heat import QUANTITIES, heat_figure
from phexplore.systems.topdown.wording import level_title


def _levels(shown: TopDownShown) -> Figure:
    return level_figure(shown.method, None if shown.reference is None else shown.reference.scenario.topdown)


def _semantics(shown: TopDownShown, *, is_plain: bool = False) -> Figure:
    known = shown.whole.known_proof
    before = None if shown.reference is None else shown.reference.figures
    return semantics_figure(shown.figures, before, {} if known is None or is_plain else known.parts, is_plain=is_plain)


def _drag_level(start: Scenario, level: str, percent: float) -> tuple[str, Callable[[Scenario], Scenario]]:
    method = start.topdown
    wanted = round(Fraction(percent) / 100 / SHARE_STEP / 100) * 100 * SHARE_STEP  # to a hundredth of a percent
    share = max(Fraction(0), min(wanted, largest_share(method.level_shares, level, method.locked_levels)))
    label = f"Set the share of {level_title(level)} to {share_percent(share)}"
    return label, lambda scenario: set_level_share(scenario, level, share)


HEAT = Picture(
    "heat",
    "Measurements by level and query",
    "What every measurement costs and buys appears here as soon as a query group is measured: enter a share.",
    heat_figure,
    "Margins by level and query",
    QUANTITIES,
    "What the heat table shows",
)
LEVELS = Picture(
    "levels",
    "Privacy loss by level",
    "How the privacy loss is divided among the levels appears here.",
    _levels,
    "Loss by level",
    drag=_drag_level,
)
SEMANTICS = Picture(
    "semantics",
    "What can be learned",
    "What can be learned about one person appears here.",
    _semantics,
    "What can be learned about one person",
    shares_choice=False,
    plain=partial(_semantics, is_plain=True),
)
