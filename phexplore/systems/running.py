"""One way to run a scenario to its end: what the command line and Python do; the window follows its own process instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from phexplore.errors import CancelledError, PhexploreError, UnknownNameError
from phexplore.model.data_kinds import DataKind
from phexplore.model.fields import Declared, declared_fields
from phexplore.model.issues import has_errors
from phexplore.model.kinds import RunDirectory
from phexplore.model.paths import typed
from phexplore.model.scenario import Scenario
from phexplore.runs.events import INTERRUPTED_REMEDY, Event, Failed, FinalEvent, Finished, Outcome
from phexplore.runs.run_settings import RunSettings
from phexplore.runs.spec import RunSpec, data_of
from phexplore.systems.registry import check, system_of


class DataProblemsError(PhexploreError):
    """The data of a run hold problems.

    Attributes:
        listed: all of them, a line each.
    """

    def __init__(self, sentence: str, listed: str) -> None:
        """Keep the list.

        Args:
            sentence: how many there are.
            listed: all of them, a line each.
        """
        super().__init__(sentence, "Correct the data.")
        self.listed = listed


def simulate(
    scenario: Scenario,
    data: Path,
    out: Path,
    settings: RunSettings,
    show: Callable[[Event], None],
    say: Callable[[str], object],
    options: Declared | None = None,
    *,
    is_compared: bool = False,
) -> dict[str, Any] | None:
    """Run a scenario in a worker process and return what of its summary may leave; a directory with the same run is resumed.

    Args:
        scenario: to run.
        data: input.
        out: directory of the run.
        settings: trials, seed, release, where the run is computed and when it ends.
        show: is given every event of the worker.
        say: is given what a person should know before it starts.
        options: of the system.
        is_compared: whether the run is wanted for its errors alone, which never leave a run on confidential records.

    Raises:
        DataProblemsError: the data hold problems.
        PhexploreError: the scenario or the data are not fit, or the run failed or was interrupted.
        CancelledError: it was cancelled; finished trials are kept.
    """
    from phexplore.data.source import find_source  # noqa: PLC0415 - loads readers; a command line without a run does not
    from phexplore.runs import confidentiality as guard  # noqa: PLC0415 - as above
    from phexplore.runs.launch import run_worker  # noqa: PLC0415 - as above
    from phexplore.runs.states import RunState  # noqa: PLC0415 - as above
    from phexplore.runs.store import prepare_directory, state_of  # noqa: PLC0415 - as above

    refuse_errors(scenario)
    if scenario.method.data_kind is DataKind.POPULATION:
        for issue in find_source(data).remarks:
            say(f"{issue.place}: {issue.severity.value}: {issue.sentence} {issue.remedy}")
    spec = RunSpec(
        scenario,
        data_of(scenario, data),
        settings.trials,
        settings.seed,
        settings.mode,
        settings.workers,
        stop=settings.stop,
        options=options,
    )
    spec = system_of(scenario).complete_run(spec)
    if (warning := guard.warning_about(scenario, spec.data)) is not None:
        if is_compared:
            raise PhexploreError(guard.COMPARED, "Use synthetic or published data, or run and look at one scenario.")
        say(warning.sentence)
    directory = prepare_directory(out, replace(spec, salt=guard.salt_for(warning)), replace=True)
    if warning is not None and state_of(directory) is not RunState.COMPLETE:
        guard.record_override(directory, warning, guard.person_here())
    confirm_finished(run_worker(directory, show, place=replace(settings.where, workers=settings.workers)))
    return guard.summary_to_leave(directory)


def data_read_with(options: Declared | None) -> Path | None:
    """Return the data of the answers that options name: of the run that kept them, or the published answers themselves.

    Args:
        options: of the system, None for a system without any.

    Raises:
        RunUnreadableError: there is no such run.
    """
    from phexplore.runs.store import SPEC_FILE, load_spec  # noqa: PLC0415 - as above

    parts = () if options is None else declared_fields(type(options))
    named = (str(getattr(options, part.name)) for part in parts if isinstance(part.kind, RunDirectory))
    path = next((Path(text) for text in named if text), None)
    return load_spec(path).data.place if path is not None and (path / SPEC_FILE).exists() else path


def confirm_finished(final: FinalEvent) -> None:
    """Pass a run that ended as it should.

    Raises:
        DataProblemsError: its data hold problems.
        PhexploreError: it failed or was interrupted.
        CancelledError: it was cancelled; finished trials are kept.
    """
    match final:
        case Failed(sentence, details=listed, problems=problems) if problems:
            raise DataProblemsError(sentence, listed)
        case Failed(sentence, remedy):
            raise PhexploreError(sentence, remedy)
        case Finished(Outcome.CANCELLED):
            raise CancelledError("The run was cancelled; finished trials are kept.")
        case Finished(Outcome.INTERRUPTED):
            raise PhexploreError(
                "The run was interrupted: its worker process was ended from outside.", INTERRUPTED_REMEDY
            )


def own_data(scenario: Scenario) -> Path:
    """Return the data that came with the parameters.

    Raises:
        PhexploreError: none did.
    """
    if (found := system_of(scenario).own_data(scenario)) is not None:
        return found
    raise PhexploreError("These parameters came without data.", "Name the data to run on.")


def refuse_errors(scenario: Scenario) -> None:
    """Refuse a scenario that is incomplete.

    Raises:
        PhexploreError: naming the first error and how many there are.
    """
    errors = [issue for issue in check(scenario) if has_errors([issue])]
    if errors:
        more = f" ({len(errors) - 1} more: phexplore check)" if len(errors) > 1 else ""
        raise PhexploreError(f"{errors[0].place}: {errors[0].sentence}{more}", errors[0].remedy)


def run_options_of(scenario: Scenario, given: Mapping[str, Any]) -> Declared | None:
    """Return the options of a scenario's system by the names of their fields.

    Args:
        scenario: to run.
        given: values by name; what is left out has its default.

    Raises:
        UnknownNameError: it has no such option.
        PhexploreError: a value is none of its kind.
    """
    declared = system_of(scenario).run_options
    known = {field.name: field for field in declared_fields(declared)} if declared is not None else {}
    for name in given:
        if name not in known:
            raise UnknownNameError("option", name, [field.name for field in known.values() if field.option])
    if declared is None:
        return None
    try:
        return declared(**{name: typed(known[name].kind, value) for name, value in given.items()})
    except (ValueError, TypeError) as error:
        raise PhexploreError(f"The options do not fit: {error}.", "Give other values.") from error


def run_quietly(
    data: Path | None, settings: RunSettings, options: Declared | None = None
) -> Callable[[Scenario, Path, Callable[[Event], None]], dict[str, Any] | None]:
    """Return what runs scenarios, each in a directory of its own, says nothing, and gives its events away.

    Args:
        data: input of all; None for what came with each scenario.
        settings: of every run.
        options: of the system.
    """

    def run(scenario: Scenario, directory: Path, show: Callable[[Event], None]) -> dict[str, Any] | None:
        path = own_data(scenario) if data is None else data
        return simulate(scenario, path, directory, settings, show, lambda _: None, options, is_compared=True)

    return run
