"""The margins that were predicted for an area before a run, over the blocks and in the schema of the run. No Qt."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from phexplore.errors import PhexploreError
from phexplore.runs.spec import RunMode
from phexplore.spine.area_variance import area_variances
from phexplore.spine.description import class_entities
from phexplore.spine.geography import EntitySet, quarters_of
from phexplore.spine.geography_reading import read_geography
from phexplore.spine.settings import BLOCK_GROUP, settings_for
from phexplore.spine.variance import Kinds
from phexplore.systems.topdown.facilities import read_facilities
from phexplore.systems.topdown.open_run import TopDownRun
from phexplore.systems.topdown.run_choice import TopDownChoice
from phexplore.systems.topdown.run_options import Mechanism, topdown_options
from phexplore.systems.topdown.spine_forecast import Fit
from phexplore.systems.topdown.spine_study import SpineStudy
from phexplore.workload.queries import MarginalQuery

_CLASSES = {"County": "county", "Tract": "tract", "Block_Group": BLOCK_GROUP}
_MOST_ANSWERS = 400
"""Answers of a query whose margins are predicted one by one."""


def predicted_margins(run: TopDownRun, choice: TopDownChoice, query: MarginalQuery) -> NDArray[np.float64] | None:
    """Return the predicted margin of each answer, ``float64[answers]`` in people; None where none can be predicted for the area.

    Args:
        run: with its blocks.
        choice: area or unit.
        query: of the run's schema.
    """
    kind = choice.area or _CLASSES.get(choice.level, "")
    method, options = run.spec.scenario.topdown, topdown_options(run.spec)
    # Counts that are kept from an earlier release have the margins of that release, which this scenario does not say.
    if not kind or not run.areas or run.schema.is_chained or query.answers > _MOST_ANSWERS:
        return None
    if run.spec.mode is not RunMode.PRIVATE or options.mechanism is not Mechanism.TOP_DOWN:
        return None
    try:
        forecast = _study(run).forecast(
            settings_for(method),
            method,
            run.spec.scenario.conventions,
            query="total",
            fit=Fit.AT_ONCE if options.is_pooled else Fit.TOP_DOWN,
            onto=run.schema.id,
        )
        own = _only(class_entities(forecast.spine, kind), choice.unit)
        if not own.areas:
            return None
        each = Kinds(query, np.arange(query.answers), np.ones(query.answers, np.int64))
        (variances,) = area_variances(forecast.prediction, own, (each,))
    except (PhexploreError, OSError):
        return None
    margins: NDArray[np.float64] = float(forecast.z) * np.sqrt(variances)
    return margins if np.isfinite(margins).all() else None


def _only(entities: EntitySet, code: str) -> EntitySet:
    """Return the area of this code alone, none where there is no such area."""
    found = np.flatnonzero(entities.codes == code)
    blocks = [entities.blocks[entities.starts[place] : entities.starts[place + 1]] for place in found.tolist()]
    starts = np.cumsum([0, *map(len, blocks)])
    return EntitySet(entities.name, entities.codes[found], starts, np.concatenate([np.empty(0, np.int64), *blocks]))


def _study(run: TopDownRun) -> SpineStudy:
    return _studied(run.directory, run.spec.identity, run.spec.data.place, is_of_people=run.schema.record == "person")


@lru_cache(maxsize=1)
def _studied(directory: Path, _identity: str, path: Path, *, is_of_people: bool) -> SpineStudy:
    """Return the blocks of a run under study; data that were expanded know where group quarters are, as their spine does."""
    geography = read_geography(path)
    facilities = read_facilities(directory, geography.geoids) if is_of_people and geography.quarters is None else None
    if facilities is not None:
        geography = replace(geography, quarters=quarters_of(facilities))
    return SpineStudy(geography)
