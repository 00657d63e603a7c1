"""Commands about populations: synth, data check, data describe, data convert."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from phexplore.catalog.states import parse_states
from phexplore.files.output_folder import writes_into_out
from phexplore.model.issues import InputProblemsError, Issue, Severity
from phexplore.report.terminal import print_json, say, say_if_confidential, say_issues, tell
from phexplore.systems.arguments import JSON


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    synth = typer.Typer(help="Make a synthetic population.", no_args_is_help=True)
    synth.command("sdhc")(synth_sdhc)
    synth.command("pl94")(synth_pl94)
    synth.command("demonstration-2010")(synth_demonstration)
    app.add_typer(synth, name="synth")
    convert = typer.Typer(help="Turn other records into a population.", no_args_is_help=True)
    convert.command("pums")(convert_pums)
    convert.callback()(_convert)
    data = typer.Typer(help="Check, describe and convert populations.", no_args_is_help=True)
    data.command("check")(check)
    data.command("describe")(describe)
    data.add_typer(convert, name="convert")
    app.add_typer(data, name="data")


def _convert() -> None:
    """Turn other records into a population."""


@writes_into_out("synth sdhc")
def synth_sdhc(
    persons: int = typer.Option(..., "--persons", min=1, help="How many, group quarters included."),
    seed: int = typer.Option(..., "--seed", min=0, help="Any whole number of 0 or more; equal seeds make equal files."),
    out: Path = typer.Option(..., "--out", help="Directory; it may exist."),
    states: str = typer.Option("", "--states", help="States by code or abbreviation, e.g. 44,09. Without it: all 51."),
    puerto_rico: bool = typer.Option(False, "--pr", help="Puerto Rico instead."),
) -> None:
    """Make persons, units and geography that match real 2010 figures per state, as CSV and Parquet.

    Example: phexplore synth sdhc --persons 100000 --states 44,09 --seed 1 --out population
    """
    from phexplore.data.synthetic.generator import generate_sdhc

    chosen = parse_states(states)
    if chosen and puerto_rico:
        raise typer.BadParameter("Puerto Rico has a run of its own; give --states or --pr.")
    mark = generate_sdhc(persons, out, seed=seed, states=chosen, puerto_rico=puerto_rico, progress=None)
    say(mark.statement)
    for name, file in mark.files.items():
        say(f"Wrote {out / name} ({file.rows:,} rows)")


def synth_pl94(
    blocks: int = typer.Option(..., "--blocks", min=1, help="How many census blocks."),
    seed: int = typer.Option(..., "--seed", min=0, help="Any whole number of 0 or more; equal seeds make equal files."),
    out: Path = typer.Option(
        ..., "--out", help="File (.csv or .csv.gz), replaced if it exists; a folder for a nation."
    ),
    nation: bool = typer.Option(
        False, "--nation", help="All 51 states, a file each: the spine of 2020 in full is --blocks 5892698."
    ),
    pr: bool = typer.Option(False, "--pr", help="Puerto Rico beside a nation of so many blocks, instead of it."),
    state: str = typer.Option("", "--state", help="One state of two digits; 44 without it."),
    states: str = typer.Option(
        "", "--states", help="States, e.g. 04,35,40, with codes of towns, places and tribal areas."
    ),
    tribal: float = typer.Option(0.0, "--tribal", min=0, max=1, help="Share of the block groups in tribal areas."),
) -> None:
    """Make a block file with 16 person cells per block, as sparse and skewed as real ones.

    Example: phexplore synth pl94 --blocks 25000 --seed 1 --out blocks.csv.gz

    Example: phexplore synth pl94 --blocks 9000 --states 04,35,40 --tribal 0.1 --seed 1 --out states.csv.gz

    Example: phexplore synth pl94 --nation --blocks 25000 --seed 1 --out nation
    """
    from phexplore.data.blocks.generator import synthesize_blocks, synthesize_states, write_block_file

    if nation or pr:
        if state or states or tribal:
            raise typer.BadParameter(
                "A nation has all of its states and tribal parts: leave out --state, --states, --tribal."
            )
        _write_nation(blocks, seed, out, puerto_rico=pr)
        return
    if state and states:
        raise typer.BadParameter("Give --state or --states.")
    if states or tribal:
        chosen = parse_states(states) or (state or "44",)
        population = synthesize_states(blocks, seed, chosen, tribal=tribal)
    else:
        population = synthesize_blocks(blocks, seed, state or "44")
    write_block_file(population, out)
    say(f"Wrote {out} ({population.blocks:,} blocks, {population.total:,} persons; no count describes a real place)")


def _write_nation(blocks: int, seed: int, out: Path, *, puerto_rico: bool) -> None:
    from phexplore.data.blocks.generator import write_block_file
    from phexplore.data.blocks.nation_generator import synthesize_nation
    from phexplore.errors import PhexploreError

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise PhexploreError(f"{out} is there already, and is no empty folder.", "Name another folder.")
    out.mkdir(parents=True, exist_ok=True)
    persons = made = 0
    for population in synthesize_nation(blocks, seed, puerto_rico=puerto_rico):
        write_block_file(population, out / f"{population.states[0]}.csv.gz")
        persons, made = persons + population.total, made + population.blocks
    say(
        f"Wrote {out} ({made:,} blocks, {persons:,} persons; totals of 2020 shared out over the states by population; "
        "no count describes a real place)"
    )


def synth_demonstration(
    blocks: int = typer.Option(..., "--blocks", min=1, help="How many census blocks."),
    seed: int = typer.Option(..., "--seed", min=0, help="Any whole number of 0 or more; equal seeds make equal files."),
    out: Path = typer.Option(..., "--out", help="File (.txt or .txt.gz); replaced if it exists."),
    states: str = typer.Option("44", "--states", help="One or several states, e.g. 44,09."),
) -> None:
    """Make persons in the layout of the 2010 demonstration data: 17 columns, single years of age, citizenship.

    Example: phexplore synth demonstration-2010 --blocks 400 --seed 1 --out persons.txt.gz
    """
    from phexplore.data.blocks.age_microdata_writing import write_persons_with_ages
    from phexplore.data.blocks.ages import with_ages
    from phexplore.data.blocks.expansion import expand
    from phexplore.data.blocks.generator import synthesize_states
    from phexplore.data.blocks.marks import MARK_LINE

    made = with_ages(expand(synthesize_states(blocks, seed, parse_states(states) or ("44",)), seed), seed)
    records = write_persons_with_ages(made, out, [MARK_LINE])
    say(f"Wrote {out} ({records:,} persons in {made.blocks:,} blocks; no record describes anybody)")


@writes_into_out("data convert pums")
def convert_pums(
    file: Path = typer.Argument(help="ACS PUMS person records (.csv or .csv.gz) with SERIALNO."),
    out: Path = typer.Option(..., "--out", help="Directory; it may exist."),
    seed: int = typer.Option(0, "--seed", min=0, help="Of the imputations."),
    weighted: bool = typer.Option(False, "--weighted", help="Repeat every household by its weight (PWGTP)."),
    state: str = typer.Option("", "--state", help="Only this state of a file with several."),
) -> None:
    """Turn ACS PUMS person records into a population and say what had to be imputed.

    Example: phexplore data convert pums pums_ri.csv.gz --out population
    """
    from phexplore.data.pums import convert_pums as convert

    conversion = convert(file, out, seed=seed, weighted=weighted, state=state or None)
    say(conversion.statement)
    for sentence in conversion.imputed:
        say(f"- {sentence}")


def check(
    path: Path = typer.Argument(help="Directory of a population, or demo."),
    states: str = typer.Option("", "--states", help="The state filter of the run, e.g. 44,09."),
    as_json: bool = JSON,
) -> None:
    """List everything that is wrong with a population, with file, line and column.

    Example: phexplore data check population
    """
    from phexplore.published.door import is_block_data

    if is_block_data(path):
        _check_blocks(path, as_json=as_json)
        return
    from phexplore.data.validation import check_data

    found = check_data(path, parse_states(states))
    if as_json:
        print_json(
            {
                "errors": found.errors,
                "warnings": found.warnings,
                "reached": found.reached.name.lower(),
                "counts": asdict(found.counts) if found.counts is not None else None,
                "issues": [_issue_json(issue) for issue in found.issues],
                "note": found.note,
            }
        )
    else:
        for issue in found.issues:
            tell(f"{issue.place}: {issue.severity.value}: {issue.sentence} {issue.remedy}")
        if found.counts is not None:
            counts = asdict(found.counts)
            tell(", ".join(f"{_plain(value)} {name.replace('_', ' ')}" for name, value in counts.items()) + ".")
        tell(f"{found.errors:,} errors, {found.warnings:,} warnings.")
        say(found.note)
    if found.errors:
        raise typer.Exit(2)


def _issue_json(issue: Issue) -> dict[str, Any]:
    return {
        "severity": issue.severity.value,
        "path": list(issue.path),
        "line": issue.line or None,
        "column": issue.column or None,
        "sentence": issue.sentence,
        "remedy": issue.remedy,
        "error": issue.severity is Severity.ERROR,
    }


def describe(
    paths: list[Path] = typer.Argument(help="Directory of a population, demo, or published files, zipped or not."),
    as_json: bool = JSON,
) -> None:
    """Say what a population or a published file is: rows, areas, levels, household sizes, where it comes from.

    Example: phexplore data describe demo
    """
    from phexplore.data.blocks.marks import mark_of_output
    from phexplore.model.provenance import together
    from phexplore.published.door import read_files
    from phexplore.published.origins import provenance_of

    path = paths[0]
    if len(paths) == 1 and (mark := mark_of_output(path)) is not None:
        _show({"kind": "simulated", "file": path.name, **mark}, as_json=as_json)
        return
    if (described := read_files(*paths).described) is not None:
        say_if_confidential(path)
        provenance = together(provenance_of(each) for each in paths)
        _show({**described, "provenance": provenance.json()}, as_json=as_json)
        return
    from phexplore.data.description import describe_data
    from phexplore.data.source import find_source
    from phexplore.model.provenance import ProvenanceKind
    from phexplore.runs.confidentiality import TREATED_AS_CONFIDENTIAL

    say_issues(find_source(path).remarks)
    found = describe_data(path)
    if found.origin.kind is ProvenanceKind.REAL:
        say(TREATED_AS_CONFIDENTIAL)
    _show({"kind": "population", **found.json()}, as_json=as_json)


def _show(content: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(content)
        return
    for key, value in content.items():
        tell(f"{key.replace('_', ' ')}: {_plain(value)}")


def _check_blocks(path: Path, *, as_json: bool) -> None:
    """Read block data, which checks everything; its problems are raised all at once."""
    from phexplore.published.door import read_population

    try:
        population = read_population(path)
    except InputProblemsError as error:
        if not as_json:
            raise
        print_json({"errors": len(error.issues), "warnings": 0, "issues": [_issue_json(i) for i in error.issues]})
        raise typer.Exit(2) from error
    if as_json:
        print_json({"errors": 0, "warnings": 0, "issues": [], "blocks": population.blocks, "records": population.total})
    else:
        tell(f"{population.blocks:,} blocks, {population.total:,} records. 0 errors.")


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_plain(part)}" for key, part in value.items())
    if isinstance(value, tuple | list):
        return " ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
