"""The spine a run was made on, as a picture of its results: built again from the data of the run."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from phexplore.figures.figure import Figure, nothing
from phexplore.runs.spec import RunSpec
from phexplore.runs.store import load_spec
from phexplore.spine.geography_reading import read_geography
from phexplore.spine.settings import settings_for
from phexplore.systems.topdown.open_run import TopDownRun
from phexplore.systems.topdown.run_choice import TopDownChoice
from phexplore.systems.topdown.spine_contents import Work, tree_content
from phexplore.systems.topdown.spine_study import SpineStudy, possible
from phexplore.systems.topdown.spine_tree import SpineTree, tree_figure
from phexplore.systems.topdown.spine_views import SpineRequest, SpineStyle, TreeContent
from phexplore.workload.schema import load_schema


def spine_figure(run: TopDownRun, _choice: TopDownChoice) -> Figure:
    """Return the tree of a run's spine with its bypassed units, or why it cannot be drawn.

    Args:
        run: the one looked at.
    """
    path = run.spec.data.place
    if not path.exists():
        return nothing("spine", f"The data of the run are no longer at {path}: its spine cannot be built again.")
    content, reason = _tree(run.directory, run.spec.identity, path, path.stat().st_mtime_ns)
    return nothing("spine", reason) if content is None else replace(tree_figure(SpineTree(content)), id="spine")


@lru_cache(maxsize=2)
def _tree(directory: Path, _identity: str, path: Path, _stamp: int) -> tuple[TreeContent | None, str]:
    """Return the tree of a run's spine, or why there is none; read again when the run or its data are others."""
    spec = load_spec(directory)
    # Totals of a scenario that keeps the counts of an earlier release have the margins of that release.
    has_margins = not load_schema(spec.scenario.topdown.schema).is_chained
    return possible(lambda: tree_content(_work(spec, path), has_margins=has_margins))


def _work(spec: RunSpec, path: Path) -> Work:
    method, look = spec.scenario.topdown, SpineStyle()
    settings = settings_for(method)
    request = SpineRequest(path, method, spec.scenario.conventions, settings, "", look)
    return Work(SpineStudy(read_geography(path)), settings, request, look)
