"""What people call a parameter: one name in comparisons, in the committee's matrix and in sweeps."""

from __future__ import annotations

from phexplore.systems.protocol import System

_KINDS = {"level share": "share", "query share": "share"} | {
    kind: kind for kind in ("budget", "target", "margin", "threshold")
}
_TITLES = {"total": "total privacy loss", "epsilon": "ε of the scenario", "delta": "δ of the scenario"}


def parameter_words(system: System, path: str) -> str:
    """Return what a parameter is called: ``budget of PH3 (State, by race)`` for ``budget PH3/state_A-G``.

    Args:
        system: names its places.
        path: of the parameter.
    """
    for kind, called in _KINDS.items():
        if path.startswith(f"{kind} "):
            name = path.removeprefix(f"{kind} ")
            return f"{called} of {system.place_name(name).title if '/' in name else name}"
    return _TITLES.get(path, path)
