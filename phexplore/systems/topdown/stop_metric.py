"""A figure of a TopDown run that is watched while trials arrive: it ends the run once its mean is precise enough."""

from __future__ import annotations

from dataclasses import dataclass

from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.metrics.topdown.figures import error_figures
from phexplore.metrics.topdown.redistricting import LEAST_PEOPLE, group_shares, redistricting_criterion
from phexplore.simulate.topdown.driver import World
from phexplore.simulate.topdown.histograms import Histograms
from phexplore.systems.topdown.summary import criterion_query
from phexplore.workload.queries import MarginalQuery, parse_query

FIGURES = ("me", "mae", "rmse", "malpe", "mape", "cv", "taes", "off-over-5", "off-over-10", "abs-max")
"""Error figures that can be watched, by the ids of `metrics.errors.KNOWN`."""

CRITERION = "redistricting"
"""The share of units with at least 500 people whose largest group keeps its share within 5 points."""


@dataclass(frozen=True, slots=True)
class WatchedFigure:
    """One number per trial.

    Attributes:
        level: number of the level, 0 for the root.
        query: whose errors are measured, or whose answers are the criterion's groups.
        figure: an id of `FIGURES`, or `CRITERION`.
    """

    level: int
    query: MarginalQuery
    figure: str

    def value(self, world: World, estimate: Histograms) -> float:
        """Return the figure of one trial.

        Args:
            world: exact counts of every level.
            estimate: of this figure's level.
        """
        truth, found = (
            histograms.answers(self.query.cell_map(), self.query.answers)
            for histograms in (world.truth[self.level], estimate)
        )
        if self.figure == CRITERION:
            return redistricting_criterion(group_shares(truth, found)).coverage.share.value
        return float(error_figures(truth, found).by_id()[self.figure][0])


def parse_watched(text: str, world: World) -> WatchedFigure:
    """Read ``LEVEL/QUERY/FIGURE``, e.g. ``County/total/mae``, or ``LEVEL/redistricting``.

    Args:
        text: as the command line takes it.
        world: exact counts and bounds of every level.

    Raises:
        UnknownNameError: no such level, query or figure.
        PhexploreError: the text has another shape, or the schema has no groups for the criterion.
    """
    names = [level.name for level in world.design.levels]
    parts = [part.strip() for part in text.split("/")]
    if not (len(parts) == 3 or (len(parts) == 2 and parts[1] == CRITERION)):
        raise PhexploreError(
            f"A watched figure is LEVEL/QUERY/FIGURE or LEVEL/{CRITERION}, got {text!r}.",
            "Write e.g. County/total/mae=0.5 or Block_Group/redistricting=0.01.",
        )
    if parts[0] not in names:
        raise UnknownNameError("level of the run", parts[0], names)
    schema = world.design.schema
    if len(parts) == 2:
        groups = criterion_query(schema)
        if groups is None:
            raise PhexploreError(
                f"The schema {schema.id} has no groups for the redistricting criterion ({LEAST_PEOPLE} people).",
                f"Watch an error figure, e.g. {parts[0]}/total/mae.",
            )
        return WatchedFigure(names.index(parts[0]), groups, CRITERION)
    if parts[2] not in FIGURES:
        raise UnknownNameError("figure", parts[2], list(FIGURES))
    return WatchedFigure(names.index(parts[0]), parse_query(schema, parts[1]), parts[2])
