"""The margin that was predicted for an area before a run, over the blocks of the run. No Qt."""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path

from phexplore.errors import PhexploreError
from phexplore.spine.geography_reading import read_geography
from phexplore.spine.settings import BLOCK_GROUP, settings_for
from phexplore.systems.topdown.open_run import TopDownRun
from phexplore.systems.topdown.run_choice import TopDownChoice
from phexplore.systems.topdown.spine_contents import Work, area_margins
from phexplore.systems.topdown.spine_observed import ObservedErrors
from phexplore.systems.topdown.spine_study import SpineStudy
from phexplore.systems.topdown.spine_views import MarginsContent, SpineRequest, SpineStyle, SpineTab

_CLASSES = {"County": "county", "Tract": "tract", "Block_Group": BLOCK_GROUP}


def predicted_margin(run: TopDownRun, choice: TopDownChoice) -> float | None:
    """Return the predicted margin of one answer in people, None where nothing can be predicted for the area.

    Args:
        run: with its blocks.
        choice: area or unit, and query.
    """
    kind = choice.area or _CLASSES.get(choice.level, "")
    method, path = run.spec.scenario.topdown, Path(run.spec.data.path)
    # Counts that are kept from an earlier release have the margins of that release, which this scenario does not say.
    if not kind or not run.areas or run.schema.is_chained:
        return None
    try:
        study, settings = _study(path), settings_for(method)
        look = SpineStyle(SpineTab.MARGINS, name=kind, query=choice.query)
        request = SpineRequest(path, method, run.spec.scenario.conventions, settings, "", look)
        content = area_margins(Work(study, settings, request, look), ObservedErrors())
    except (PhexploreError, OSError):
        return None
    if not isinstance(content, MarginsContent) or choice.unit not in content.names:
        return None
    margin = float(content.this[content.names.index(choice.unit)])
    return margin if math.isfinite(margin) else None


@lru_cache(maxsize=1)
def _study(path: Path) -> SpineStudy:
    return SpineStudy(read_geography(path))
