"""Commands about group sizes: the paper's experiment, and groups shaped like its taxi data."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import typer

from phexplore.errors import CancelledError
from phexplore.files.output_folder import writes_into_out
from phexplore.model.numbers import parse_exact
from phexplore.report.terminal import print_json, print_table, say, tell
from phexplore.systems.arguments import JSON

SEED = typer.Option(1, "--seed", min=0, help="Any whole number of 0 or more; equal seeds make equal figures.")

CENSUS_DIFFERENCES = (
    (
        "The paper has 3,144 counties, 52 states and territories, 117,630,445 groups and 305,276,358 individuals; here are the "
        "3,107 of 3,143 counties whose household sizes are known, in 51 states, without Puerto Rico."
    ),
    "The number and range of the paper's outliers are not in the text at hand: 50 per state between 10 and N here.",
)
TAXI_DIFFERENCES = (
    (
        "The paper has the taxi trips of New York City in 2014, 24,489,743 pickups; here are drawn sizes and zones of the same number "
        "of taxis, with about the same mean. Errors can be compared between mechanisms, not with the paper's."
    ),
)
_SCALING_SIZES = (10, 30, 100, 300, 1000, 3000)


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    group = typer.Typer(help="The paper on hierarchical group sizes, reproduced.", no_args_is_help=True)
    group.command("experiment")(experiment)
    group.command("taxis")(taxis)
    app.add_typer(group, name="group-sizes")


def taxis(
    out: Path = typer.Option(..., "--out", help="File (.csv); replaced if it exists."),
    seed: int = SEED,
    groups: int = typer.Option(13_282, "--groups", min=1, help="How many taxis."),
) -> None:
    """Make groups shaped like the paper's taxi data: a city, 6 boroughs, 263 zones, sizes in the thousands.

    Example: phexplore group-sizes taxis --seed 1 --out taxis.csv
    """
    from phexplore.data.regions.taxi_shaped import taxi_shaped, write_size_counts

    table = taxi_shaped(seed, groups)
    write_size_counts(table, out)
    say(f"Wrote {out} ({table.groups:,} groups, {table.individuals:,} individuals; no group is a real one)")


@writes_into_out("group-sizes experiment", resumed={"experiment.json", "draws.jsonl"})
def experiment(
    out: Path = typer.Option(..., "--out", help="Directory; an experiment that was stopped goes on in it."),
    trials: int = typer.Option(30, "--trials", min=1, help="Releases of each mechanism at each ε."),
    epsilons: str = typer.Option("0.1,0.5,1", "--epsilons", help="Budgets, with commas between."),
    data: str = typer.Option("census", "--data", help="census, taxi, or both: census,taxi."),
    largest: int = typer.Option(1000, "--largest", min=8, help="Largest size N of the census data."),
    mechanisms: str = typer.Option("", "--mechanisms", help="Rows to draw, with commas between. Without it: all."),
    scaling: bool = typer.Option(False, "--scaling", help="Run time against the number of sizes as well (Figure 7)."),
    seed: int = SEED,
    workers: int = typer.Option(1, "--workers", min=1, help="Releases computed at the same time."),
    as_json: bool = JSON,
) -> None:
    """Repeat the paper's experiment: errors per level, violations and run time of every mechanism, beside Table 7.

    Thirty releases at three budgets take a quarter of an hour of processor time for the census data, most of it for the
    relaxed cumulative program.

    Example: phexplore group-sizes experiment --out experiment --workers 2
    """
    from phexplore.files.atomic_files import write_atomically
    from phexplore.report.document_files import document_bytes
    from phexplore.runs.writing import write_json
    from phexplore.systems.experiments import write_pictures
    from phexplore.systems.group_sizes.experiment import RESULT_FILE, Draw, Plan, measure_scaling, run_experiment
    from phexplore.systems.group_sizes.experiment_pictures import TABLE_7
    from phexplore.systems.group_sizes.experiment_report import experiment_csv, experiment_document

    plan = Plan(_budgets(epsilons), trials, seed, _variants(mechanisms), workers)
    subjects = [_subject(name.strip(), largest, seed) for name in data.split(",") if name.strip()]
    if not subjects:
        raise typer.BadParameter("--data names census, taxi, or both.")

    def follow(done: int, total: int, last: Draw) -> None:
        if done == total or last.trial == trials - 1:
            say(f"{done:,} of {total:,}: {last.subject}, ε = {last.epsilon}, {last.variant}")

    try:
        content = run_experiment(subjects, plan, out, follow)
    except KeyboardInterrupt as error:
        raise CancelledError("Finished draws are kept; the same command goes on from there.") from error
    if scaling:
        content["scaling"] = measure_scaling(_taxi_table(seed), _SCALING_SIZES, Fraction(1, 10), seed, say)
        write_json(out / RESULT_FILE, content)
    write_atomically(out / "table-7.csv", experiment_csv(content))
    now = datetime.now(UTC)
    write_atomically(out / "report.html", document_bytes(experiment_document(content, now), "html", now))
    write_pictures(TABLE_7, content, out)
    if as_json:
        print_json(content)
    else:
        _print(content)
        say(f"Wrote {out / 'report.html'}, {out / 'table-7.csv'} and {out / RESULT_FILE}.")


def _budgets(text: str) -> tuple[Fraction, ...]:
    try:
        found = tuple(sorted({parse_exact(part) for part in text.split(",") if part.strip()}))
    except ValueError as error:
        raise typer.BadParameter(f"--epsilons: {error}") from error
    if not found or found[0] <= 0:
        raise typer.BadParameter(f"--epsilons are positive numbers with commas between, got {text!r}.")
    return found


def _variants(text: str) -> Any:
    from phexplore.errors import UnknownNameError
    from phexplore.systems.group_sizes.experiment import VARIANTS

    known = {variant.id: variant for variant in VARIANTS}
    names = [name.strip() for name in text.split(",") if name.strip()] or list(known)
    for name in names:
        if name not in known:
            raise UnknownNameError("mechanism", name, list(known))
    return tuple(known[name] for name in dict.fromkeys(names))


def _subject(name: str, largest: int, seed: int) -> Any:
    from phexplore.data.regions.group_size_reading import shipped_group_sizes
    from phexplore.data.regions.household_sizes import group_sizes_of, read_household_sizes, with_heavy_tail
    from phexplore.errors import UnknownNameError
    from phexplore.model.group_sizes import HeavyTail
    from phexplore.systems.group_sizes.experiment import Subject
    from phexplore.systems.group_sizes.presets import group_sizes_presets

    match name:
        case "census":
            households = group_sizes_of(read_household_sizes(shipped_group_sizes()))
            tail = group_sizes_presets()["group-sizes-census-2010"].scenario.group_sizes.tail or HeavyTail()
            return Subject("census", with_heavy_tail(households, largest, tail), CENSUS_DIFFERENCES)
        case "taxi":
            return Subject("taxi", _taxi_table(seed), TAXI_DIFFERENCES)
        case _:
            raise UnknownNameError("data set", name, ["census", "taxi"])


def _taxi_table(seed: int) -> Any:
    from phexplore.data.regions.taxi_shaped import taxi_shaped

    return taxi_shaped(seed)


def _print(content: dict[str, Any]) -> None:
    rows = []
    for row in content["rows"]:
        printed = row["published"]
        cells = [row["data"], row["epsilon"], row["label"]]
        for place, level in enumerate(row["l1"]):
            spread = "" if level["sd"] is None else f" (SD {level['sd']:.2f})"
            cells += [f"{level['mean']:,.2f}{spread}", "-" if printed is None else f"{printed['l1'][place]:.1f}"]
        cells += [f"{row['violations']['mean']:,.0f}", "-" if printed is None else f"{printed['violations']:,}"]
        rows.append((*cells, f"{row['seconds']['mean']:.2f}", "yes" if row["keeps_budget"] else f"no: {row['spends']}"))
    levels = [text for number in (1, 2, 3) for text in (f"level {number}", "paper")]
    header = ("data", "ε", "mechanism", *levels, "violations", "paper", "seconds", "keeps ε")
    tell("L1 errors in thousands of groups, mean (standard deviation, SD); paper: Table 7")
    print_table(header, rows, right=range(3, 12))
