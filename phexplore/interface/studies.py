"""Studies in Python: the experiments of the papers and the studios of the window, as numbers and pictures."""

from __future__ import annotations

import inspect
import json
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from phexplore.entry import program_command
from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.interface.arguments import argument_of, confirm, typed_class
from phexplore.interface.frames import Pictured
from phexplore.systems.registry import system_of

if TYPE_CHECKING:
    from os import PathLike

    from phexplore.figures.figure import Figure
    from phexplore.model.scenario import Scenario
    from phexplore.systems.experiments import Experiment

_OUT = "out"


@typed_class
class Study(Pictured):
    """What was found once: an experiment, a studio, or published figures beside others.

    Attributes:
        found: what the command prints with ``--json``.

    Example:
        >>> import phexplore as px
        >>> px.load("counties-invariant-2010").study("bases", cells=12)
        <Study with bases>
    """

    def __init__(self, found: Any, figures: tuple[Figure, ...]) -> None:
        """Keep what was found.

        Args:
            found: JSON values.
            figures: its pictures.
        """
        self.found, self._figures = found, figures

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The pictures, those most asked for first."""
        return self._figures

    def __repr__(self) -> str:
        """Return the pictures' ids."""
        return f"<Study with {', '.join(figure.id for figure in self._figures[:6])}>"


def study_names(scenario: Scenario) -> dict[str, tuple[str, ...]]:
    """Return what can be studied of a scenario, and what each study asks."""
    system = system_of(scenario)
    found = {each.id: tuple(asked.key for asked in each.parameters) for each in system.experiments()}
    for name, function in system.studies().items():
        found[name] = tuple(name for name in list(inspect.signature(function).parameters)[1:] if name != _OUT)
    return found


def study(scenario: Scenario, name: str, out: str | PathLike[str] | None, asked: Mapping[str, Any]) -> Study:
    """Return what a study finds; arguments as in `Scenario.study`."""
    known = study_names(scenario)
    if name not in known:
        raise UnknownNameError("study", name, list(known))
    for each in asked:
        if each not in known[name]:
            raise UnknownNameError(f"question of {name}", each, list(known[name]))
    system = system_of(scenario)
    function = system.studies().get(name)
    with ExitStack() as stack:
        place = Path(stack.enter_context(TemporaryDirectory()) if out is None else out)
        if function is not None:
            given = dict(asked)
            needed = inspect.signature(function).parameters
            if _OUT in needed:
                given[_OUT] = place / name if out is None else place
            for each, parameter in list(needed.items())[1:]:
                if parameter.default is parameter.empty and each not in given:
                    raise PhexploreError(f"The study {name!r} needs {each}.", f"Give {each}=….")
            with argument_of(f"A question of the study {name!r}"):
                confirm(inspect.signature(function), (scenario,), given)
            return Study(*function(scenario, **given))
        return _experiment(next(each for each in system.experiments() if each.id == name), place, asked)


def _experiment(experiment: Experiment, folder: Path, asked: Mapping[str, Any]) -> Study:
    """Run an experiment as the window does: its command in a process of its own, its pictures from what that prints."""
    given = {each.key: str(asked.get(each.key, each.default)) for each in experiment.parameters}
    command = program_command(*experiment.command(folder, given))
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)  # noqa: S603 - this program
    if done.returncode:
        said = done.stderr.strip() or f"The experiment ended with {done.returncode}."
        raise PhexploreError(said, "Correct what it was asked, then run it again.")
    try:
        found = json.loads(done.stdout)
    except ValueError as error:
        raise PhexploreError(f"The experiment printed no figures: {error}.", "Run it again.") from error
    return Study(found, tuple(picture.content for picture in experiment.pictures(found, folder)))
