"""Post-processing kept measurements again with other passes, invariants or constraints. It spends nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from phexplore.data.digest import digest_blocks
from phexplore.model.fields import Declared
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import TopDown
from phexplore.published.measurements import looks_like_measurements
from phexplore.runs.spec import RunData, RunMode, RunSpec, RunSpecError
from phexplore.runs.store import MANIFEST_FILE, SPEC_FILE, load_spec
from phexplore.systems.topdown.run_options import Mechanism, TopDownOptions, topdown_options
from phexplore.workload.queries import parse_query
from phexplore.workload.schema import load_schema


def reprocess_measurements(
    scenario: Scenario, run: Path, data: RunData, *, trials: int, options: TopDownOptions
) -> RunSpec:
    """Return the specification that post-processes what a run measured.

    Passes, invariants and constraints are the scenario's; schema, levels, budgets and framework those of the measuring run, because
    they are what the noise came from.

    Args:
        scenario: how to post-process.
        run: the directory of a complete run that kept its measurements.
        data: has to be the data that were measured: invariants and errors come from it.
        trials: at most as many as were measured.
        options: further wishes; expansion and mechanism are those of the run.

    Raises:
        RunSpecError: the run kept nothing, has other data, fewer trials or another method.
        RunUnreadableError: the directory holds no run.
    """
    from phexplore.systems.topdown.measurements import kept_content  # noqa: PLC0415 - as above
    from phexplore.systems.topdown.published_writing import published_directory  # noqa: PLC0415 - as above

    measured = load_spec(run)
    before, after = measured.scenario.method, scenario.method
    if not isinstance(before, TopDown) or not isinstance(after, TopDown):
        raise RunSpecError("Only measurements of TopDown runs are post-processed again.", "Choose another run.")
    held = topdown_options(measured)
    if load_schema(before.schema).is_chained:
        raise RunSpecError(
            f"{run} keeps its noisy answers in the published layout, trial by trial.",
            f"Name the folder of one trial: {published_directory(run, 0)}.",
        )
    if not held.keep_measurements or not (run / MANIFEST_FILE).exists():
        raise RunSpecError(
            f"{run} is not a complete run that kept its measurements.",
            "Run it to its end with --keep-measurements, then name it here.",
        )
    if data.sha256 != measured.data.sha256:
        raise RunSpecError(
            f"{run} measured other data than {data.path}.", f"Give the data it was made for: {measured.data.path}."
        )
    if trials > measured.trials:
        raise RunSpecError(
            f"{run} measured {measured.trials} trials, {trials} are asked for.", "Ask for as many, or measure more."
        )
    if held.mechanism is not Mechanism.TOP_DOWN:
        raise RunSpecError(f"{run} measured block by block.", "Measure top-down with --keep-measurements.")
    method = replace(
        before,
        passes=after.passes,
        invariants=after.invariants,
        constraints=after.constraints,
        locked_levels=frozenset(),
    )
    return RunSpec(
        replace(scenario, method=method),
        data,
        trials,
        measured.seed,
        RunMode(measured.mode.value),
        options=replace(
            options,
            expand=held.expand,
            mechanism=held.mechanism,
            measurements=str(run.absolute()),
            measured_identity=measured.identity,
            measured_content=kept_content(run),
        ),
    )


def complete_run(spec: RunSpec) -> RunSpec:
    """Return a new run with what the run has whose measurements it names; any other run as it is.

    Raises:
        RunSpecError: that run kept nothing, has other data, fewer trials or another method.
        RunUnreadableError: there is no run.
        InputProblemsError: published answers do not fit the scenario.
    """
    options = topdown_options(spec)
    if options.redistricting:
        from phexplore.systems.topdown.chained_release import with_release  # noqa: PLC0415 - loads the solver; most runs read no other run

        spec = with_release(spec)
        options = topdown_options(spec)
    if options.measured_content or options.measured_identity:
        return spec
    if not options.measurements and looks_like_measurements(Path(spec.data.path)):
        options = replace(options, measurements=spec.data.path)
    if not options.measurements:
        return spec
    run = Path(options.measurements)
    if not (run / SPEC_FILE).exists():
        return _published_run(spec, run, options)
    found = reprocess_measurements(spec.scenario, run, spec.data, trials=spec.trials, options=options)
    return replace(found, workers=spec.workers)


def _published_run(spec: RunSpec, path: Path, options: TopDownOptions) -> RunSpec:
    """Return a run that estimates from published noise: one trial, because the noise was drawn once.

    Raises:
        RunSpecError: more trials are asked for, or noise is to be left out.
        InputProblemsError: the scenario does not fit what was published.
    """
    from phexplore.systems.topdown.published_noise import PublishedNoise  # noqa: PLC0415 - as above

    if spec.trials != 1 or spec.mode is not RunMode.PRIVATE:
        raise RunSpecError(
            "Published noise was drawn once: every further trial would be the same.", "Ask for one trial."
        )
    PublishedNoise(path, spec.scenario.topdown)
    content = digest_blocks(path).sha256
    return replace(spec, options=replace(options, measurements=str(path.absolute()), measured_content=content))


def can_be_read(scenario: Scenario, spec: RunSpec) -> bool:
    """Return whether a complete run kept what this scenario can post-process again.

    Args:
        scenario: whose passes and constraints are used.
        spec: of the complete run.
    """
    options = topdown_options(spec)
    fits = isinstance(spec.scenario.method, TopDown) and spec.scenario.topdown.schema == scenario.topdown.schema
    is_kept = bool(options.keep_measurements) and not load_schema(scenario.topdown.schema).is_chained
    return fits and is_kept and options.mechanism is Mechanism.TOP_DOWN


def burden(scenario: Scenario, options: Declared | None) -> str:
    """Return what a run writes beside its counts where that is much, "" where it is not.

    Args:
        scenario: what it simulates.
        options: of the run.
    """
    method = scenario.topdown
    schema = load_schema(method.schema)
    if not isinstance(options, TopDownOptions) or not options.keep_measurements or not schema.is_chained:
        return ""
    most = max(sum(parse_query(schema, name).answers for name in method.queries_at(level)) for level in method.levels)
    return (
        f"Each trial writes up to {most:,} noisy answers of every block and of every unit above it, a byte or so each: "
        "gigabytes, and minutes, already for the 4,000 blocks of the demonstration."
    )


def refusal(scenario: Scenario) -> str:
    """Return why a schema cannot be simulated yet, "" where it can."""
    limit = load_schema(scenario.topdown.schema).analytic_only
    return f"This schema cannot be simulated yet. {limit} Its forecast is complete." if limit else ""
