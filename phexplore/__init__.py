"""phexplore: tune, forecast, simulate and hand over disclosure-avoidance parameters.

In Python::

    import phexplore as px

    scenario = px.load("sdhc-2020-us").set("budget PH3/state_A-G", "0.02")
    scenario.forecast().to_frame()

Every number is the one that the window and the commands show; `docs/python.md` has a page of every name.
"""

import sys
from importlib import import_module
from typing import Any

sys.set_int_max_str_digits(50_000)
"""Exact numbers are bounded where they are read (`model.numbers`); what is computed from them has more digits than Python shows."""

__version__ = "0.1.0"

__all__ = [
    "Forecast",
    "PhexploreError",
    "Run",
    "Scenario",
    "Spine",
    "approve",
    "compare",
    "epsilon",
    "forecast",
    "frontier",
    "load",
    "measurements",
    "open_run",
    "presets",
    "read",
    "run",
    "solve",
    "sweep",
    "synth",
    "verify",
]

_HOMES = {
    "errors": ("PhexploreError",),
    "decide.verifying": ("Verification",),
    "interface.data": ("Data", "Spine", "measurements", "read", "synth"),
    "interface.decisions": ("approve", "compare", "frontier", "solve", "verify"),
    "interface.runs": ("Run", "open_run", "run"),
    "interface.scenarios": ("Forecast", "Scenario", "epsilon", "forecast", "load", "presets"),
    "interface.studies": ("Study",),
    "interface.sweeps": ("sweep",),
    "model.issues": ("Issue",),
}
"""The names of `__all__`, and the types of what they return."""
_HOME = {name: f"{__name__}.{module}" for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: importing the package costs a command nothing.

    Raises:
        AttributeError: there is no such name.
    """
    if name == "errors":
        return import_module(f"{__name__}.errors")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return [*_HOME, "__version__", "errors"]
