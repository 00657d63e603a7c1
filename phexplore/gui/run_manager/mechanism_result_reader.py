"""Answers requests about runs of group sizes and of releases under exact sums; a few runs stay open."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

from phexplore.gui.binding.tiles import TileContent
from phexplore.gui.run_manager.mechanism_results import MechanismAnswer, MechanismRequest
from phexplore.gui.systems.group_sizes.result_reader import SizeRun, answer_sizes
from phexplore.gui.systems.subspace.result_reader import ReleaseRun, answer_releases
from phexplore.model.group_sizes import GroupSizes
from phexplore.runs.store import TRUTH_FILE, load_spec, state_of

KEPT_RUNS = 2


class MechanismResultReader:
    """Keeps what was read of the last runs."""

    def __init__(self) -> None:
        self._runs: OrderedDict[Path, SizeRun | ReleaseRun] = OrderedDict()

    def answer(self, request: MechanismRequest) -> MechanismAnswer:
        """Return what is asked, as far as it is there.

        Raises:
            PhexploreError: the run cannot be read.
        """
        spec = load_spec(request.directory)
        if not (request.directory / TRUTH_FILE).exists():
            nothing = TileContent("Last run", "–", "", "The data is being read.")
            return MechanismAnswer(request, request, state_of(request.directory), 0, (nothing,) * 4, nothing, (), None)
        found = self._runs.get(request.directory)
        if found is None or found.spec.identity != spec.identity:
            is_sizes = isinstance(spec.scenario.method, GroupSizes)
            found = SizeRun(request.directory) if is_sizes else ReleaseRun(request.directory)
        self._runs[request.directory] = found
        self._runs.move_to_end(request.directory)
        while len(self._runs) > KEPT_RUNS:
            self._runs.popitem(last=False)
        return answer_sizes(found, request) if isinstance(found, SizeRun) else answer_releases(found, request)
