"""The pictures of an S-DHC scenario."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from phexplore.catalog.tables import counted_in
from phexplore.figures.figure import Figure
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.editors.live_figure import Picture
from phexplore.model.keys import QueryKey
from phexplore.model.scenario import Scenario
from phexplore.systems.phsafe.budget_edits import edit_margin
from phexplore.systems.phsafe.epsilon_curves import TEACHING as CURVE_TEACHING
from phexplore.systems.phsafe.epsilon_curves import epsilon_figure
from phexplore.systems.phsafe.margin_figure import TEACHING as MARGIN_TEACHING
from phexplore.systems.phsafe.margin_figure import margins_figure
from phexplore.systems.phsafe.share_figure import shares_figure


def _margins(shown: ScenarioView) -> Figure:
    method, reference = shown.scenario.phsafe, shown.reference
    before = reference.figures if reference is not None else None
    return margins_figure(shown.figures, method.targets, before, method.locks)


def _drag_margin(_start: Scenario, query: QueryKey, people: float) -> tuple[str, Callable[[Scenario], Scenario]]:
    label = f"Set the margin of {query.title} to {people} {counted_in(query.table)}"
    return label, lambda scenario: edit_margin(scenario, query, Fraction(people))


MARGINS = Picture(
    "margins", "Margins of error", MARGIN_TEACHING, _margins, "How wide is every margin?", drag=_drag_margin
)
SHARES = Picture(
    "shares",
    "Privacy loss by table",
    "Where the privacy loss goes appears here as soon as a level has a budget above 0: enter one in the table.",
    lambda shown: shares_figure(shown.figures),
    "Where does the privacy go?",
)
CURVE = Picture(
    "curve",
    "Privacy curve",
    CURVE_TEACHING,
    lambda shown: epsilon_figure(shown.figures),
    shares_choice=False,
    is_expert=True,
)
