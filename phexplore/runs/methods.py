"""Which simulation runs which method: one line per method."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from phexplore.model.group_sizes import GroupSizes
from phexplore.model.phsafe import PhSafe
from phexplore.model.subspace import Subspace
from phexplore.model.topdown import TopDown
from phexplore.runs.place import Place
from phexplore.runs.simulation import Maker, Simulation
from phexplore.runs.spec import RunSpec


def _phsafe(spec: RunSpec, directory: Path, place: Place) -> Simulation:  # noqa: ARG001 - computed here
    from phexplore.runs.phsafe import make_simulation  # noqa: PLC0415 - brings numpy, numba and pyarrow

    return make_simulation(spec, directory)


def _topdown(spec: RunSpec, directory: Path, place: Place) -> Simulation:
    from phexplore.runs.topdown import make_simulation  # noqa: PLC0415 - brings numpy, numba and pyarrow

    return make_simulation(spec, directory, place)


def _subspace(spec: RunSpec, directory: Path, place: Place) -> Simulation:  # noqa: ARG001 - computed here
    from phexplore.runs.subspace import make_simulation  # noqa: PLC0415 - brings numpy, numba and pyarrow

    return make_simulation(spec, directory)


def _group_sizes(spec: RunSpec, directory: Path, place: Place) -> Simulation:  # noqa: ARG001 - computed here
    from phexplore.runs.group_sizes import make_simulation  # noqa: PLC0415 - brings numpy, numba and pyarrow

    return make_simulation(spec, directory)


SIMULATIONS: Mapping[type[object], Maker] = MappingProxyType(
    {PhSafe: _phsafe, TopDown: _topdown, Subspace: _subspace, GroupSizes: _group_sizes}
)
"""The simulation of each method."""
