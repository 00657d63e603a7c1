"""Whole files of every kind the program reads, small, and the readers that meet them."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from attack.run_samples import add_runs
from attack.window_samples import add_window_files
from cryptography.hazmat.primitives import serialization
from data.regions.test_counties import AUTAUGA, BALDWIN, HEADER
from data.regions.test_group_records import RUNNING_EXAMPLE
from data.test_pums import COLUMNS as PUMS_COLUMNS
from data.test_pums import FAMILY, QUARTERS, SAME_SEX
from ini_chains import DEMONSTRATION, write_chain
from population_files import write_csv, write_parquet
from report.run_builder import made_run
from signed_bundles import KEYS, signed_bundle

from phexplore.catalog.tables import queries
from phexplore.cli.exporting import export_scenario
from phexplore.data.blocks.cell_lists import write_cells
from phexplore.data.blocks.expansion import expand
from phexplore.data.blocks.generator import synthesize_blocks, write_block_file
from phexplore.data.blocks.microdata_writing import write_persons, write_units
from phexplore.data.blocks.population import from_dense
from phexplore.data.blocks.source import read_population
from phexplore.data.pums_reading import read_pums
from phexplore.data.regions.counties import read_counties_2010
from phexplore.data.regions.group_size_reading import read_group_sizes
from phexplore.data.source import find_source
from phexplore.data.validation import check_data
from phexplore.decide.signing import create_key, load_private_key, load_public_key, public_bytes
from phexplore.decide.trusted_keys import trust_key, trusted_keys
from phexplore.decide.verifying import read_bundle, verify
from phexplore.document.project import Project
from phexplore.errors import PhexploreError
from phexplore.files.atomic_files import read_text
from phexplore.files.goals_file import read_goals
from phexplore.files.journal import journal_path
from phexplore.files.rules_json import read_rules
from phexplore.gui.main.importing import read_parameters
from phexplore.model.approval import Decision, Status
from phexplore.model.edits import set_field
from phexplore.model.fingerprint import fingerprint
from phexplore.model.group_sizes import GroupSizes, equal_shares
from phexplore.model.workbook import Workbook, add_scenario
from phexplore.opening import read_bytes
from phexplore.resources import resource
from phexplore.simulate.subspace.cell_counts import read_cell_counts
from phexplore.spine.building import build_spine
from phexplore.spine.geography_reading import read_geography
from phexplore.spine.settings import spine_preset
from phexplore.spine.spine_file import read_spine, write_spine
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.phsafe.snapshot import scenario_snapshot
from phexplore.systems.phsafe.table10 import table10_csv
from phexplore.systems.phsafe.table10_xlsx import table10_xlsx
from phexplore.systems.phsafe.truncation_study import read_sizes
from phexplore.systems.registry import preset
from phexplore.systems.sources import load_scenario
from phexplore.systems.topdown.tuning_probes import read_probes
from phexplore.workload.schema import load_schema

NOW = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
US = preset("sdhc-2020-us").scenario
OLD = "H1940020000000100000000000010000000100000000000000000044001000" + "0" * 63 + "0034012" + "0" * 28
OLD_PERSON = "P19400200000001" + "0" * 57 + "1030" + "0" * 8 + "1" + "0" * 188


@dataclass(frozen=True)
class Sample:
    """Files that belong together; each of the targets is mutated in turn, the others stay whole.

    Attributes:
        kind: name for the counts.
        family: which mutations make sense: text, json, zip, gzip, parquet, bytes.
        targets: paths below the folder.
        read: given the folder; raises PhexploreError or returns a sentence about problems, "" for a successful read.
        structured: whether a refusal has to name the file itself.
    """

    kind: str
    family: str
    folder: Path
    targets: tuple[str, ...]
    read: Callable[[Path], str]
    names_file: bool = True


def _project(folder: Path) -> str:
    path = folder / "a.phx"
    try:
        project = Project.open(path)
    except PhexploreError as error:
        try:
            saved = Project.salvage(path)
        except PhexploreError:
            raise error from None
        saved.close()
        raise
    words = " ".join(f"{issue.place}: {issue.sentence}" for issue in project.issues)
    project.save()
    project.close()
    return words


def _scenario(name: str) -> Callable[[Path], str]:
    def read(folder: Path) -> str:
        load_scenario(str(folder / name))
        return ""

    return read


def _parameters(name: str) -> Callable[[Path], str]:
    def read(folder: Path) -> str:
        read_parameters(folder / name, US)
        return ""

    return read


def _bundle(folder: Path) -> str:
    found = verify(read_bundle(folder / "a.bundle"))
    return (
        ""
        if found.is_intact
        else "a.bundle: " + " ".join(f"{each.part}: {each.sentence}" for each in found.alterations)
    )


def _population(folder: Path) -> str:
    return " ".join(f"{issue.place}: {issue.sentence}" for issue in check_data(folder).issues)


def _simple(read: Callable[[Path], Any], name: str) -> Callable[[Path], str]:
    def found(folder: Path) -> str:
        read(folder / name)
        return ""

    return found


def make_samples(home: Path, *, for_commands: bool = False) -> list[Sample]:
    """Write every sample below `home`; for command lines, only those that a command is given."""
    made: list[Sample] = []

    def place(kind: str) -> Path:
        folder = home / kind
        folder.mkdir(parents=True)
        return folder

    def add(kind: str, family: str, targets: str | tuple[str, ...], read: Callable[[Path], str]) -> None:
        names = (targets,) if isinstance(targets, str) else targets
        assert all((home / kind / name).is_file() for name in names), (kind, names)
        made.append(Sample(kind, family, home / kind, names, read))

    def projects() -> None:
        for kind, id_ in (("project", "sdhc-2020-us"), ("project-topdown", "pl94-2020-persons-us")):
            scenario = preset(id_).scenario
            project = Project.new(Workbook((scenario,), scenario.name, id_))
            if kind == "project":
                for value in (1, 2, 3):
                    project.edit(f"Set to {value}", lambda s, v=value: set_budget(s, queries()[0], Fraction(v, 7)))
            project.edit("Note", lambda s: set_field(s, "note", "ρ ≤ 1/3\n„quoted”"))
            project.commit("Add", add_scenario(project.workbook, replace(US, name="Second")))
            path = place(kind) / "a.phx"
            project.save(path)
            mark = fingerprint(project.scenario)
            project.decide(Decision(Status.RECOMMENDED, mark, "a", "Ada", "chair", NOW.isoformat(), "fine"))
            project.close()
            (path.parent / "a.phx.previous").unlink()
            add(kind, "json", "a.phx", _project)
        folder = place("journal")
        path = folder / "a.phx"
        path.write_bytes((home / "project" / "a.phx").read_bytes())
        project = Project.open(path)
        for value in (1, 2, 3):
            project.edit(f"Set to {value}", lambda s, v=value: set_budget(s, queries()[0], Fraction(v, 9)))
        project.undo()
        content = journal_path(path).read_bytes()
        project.close()
        journal_path(path).write_bytes(content)
        add("journal", "text", "a.phx.journal", _project)

    def parameters() -> None:
        for kind, id_ in (("config-us", "sdhc-2020-us"), ("config-pr", "sdhc-2020-pr")):
            export_scenario(preset(id_).scenario, "phsafe-config", place(kind) / "config.json")
            add(kind, "json", "config.json", _scenario("config.json"))
        for kind, id_, form in (
            ("subspace", "counties-invariant-2010", "subspace-json"),
            ("group-sizes", "group-sizes-census-2010", "group-sizes-json"),
        ):
            export_scenario(preset(id_).scenario, form, place(kind) / "s.json")
            add(kind, "json", "s.json", _scenario("s.json"))
        folder = place("ini")
        write_chain(folder)
        add("ini", "ini", ("all.ini", "persons/persons.ini", "persons/US.ini"), _scenario("persons/US.ini"))
        (place("ini-demonstration") / "d.ini").write_text(DEMONSTRATION, encoding="utf-8")
        add("ini-demonstration", "ini", "d.ini", _scenario("d.ini"))
        folder = place("ini-handover")
        export_scenario(preset("pl94-2020-persons-us").scenario, "das-ini", folder)
        files = tuple(sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()))
        root = next(name for name in files if name.endswith(".ini"))
        add("ini-handover", "ini", files, _scenario(root))
        table = table10_csv(US, forecast(US))
        (place("table-csv") / "t.csv").write_bytes(table if isinstance(table, bytes) else table.encode())
        add("table-csv", "csv", "t.csv", _parameters("t.csv"))
        workbook = table10_xlsx(scenario_snapshot(US, NOW))
        for kind, read in (("table-xlsx", _parameters("t.xlsx")), ("workbook-xlsx", _scenario("t.xlsx"))):
            (place(kind) / "t.xlsx").write_bytes(workbook)
            add(kind, "zip", "t.xlsx", read)
        export_scenario(preset("pl94-2020-persons-us").scenario, "xlsx", place("workbook-topdown") / "t.xlsx")
        add("workbook-topdown", "zip", "t.xlsx", _scenario("t.xlsx"))
        goals = [["table", "level", "MOE"], ["PH3", "state_A-G", "68"], ["PH1_num", "usa_*", "12.5"]]
        _write_rows(place("goals-csv") / "g.csv", goals)
        add("goals-csv", "csv", "g.csv", lambda f: _nothing(read_goals(read_bytes(f / "g.csv"), "g.csv")))
        (place("goals-json") / "g.json").write_text(GOALS, encoding="utf-8")
        add("goals-json", "json", "g.json", lambda f: _nothing(read_goals(read_bytes(f / "g.json"), "g.json")))
        (place("rules") / "r.json").write_text(RULES, encoding="utf-8")
        add("rules", "json", "r.json", lambda f: _nothing(read_rules(read_text(f / "r.json"), "r.json")))
        _write_rows(place("sizes") / "s.csv", [["size", "households"], ["1", "100"], ["2", "210"], ["7+", "8"]])
        add("sizes", "csv", "s.csv", lambda f: _nothing(read_sizes(read_text(f / "s.csv"), "s.csv")))
        asked = {"scenario": "a"}
        lines = [{"asked": asked}, {"budgets": {"State": "1/3", "US": None}, "value": 0.9, "meets": True}]
        (place("probes") / "p.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        add("probes", "json", "p.jsonl", lambda f: _nothing(read_probes(f / "p.jsonl", asked)))

    def blocks() -> None:
        reduced = synthesize_blocks(2_000, 7)
        full = expand(reduced, 3)
        few = full.part(0, 5)
        units = from_dense(
            load_schema("pl94_units"), full.geoids, full.housing, facilities=full.facilities, housing=full.housing
        )
        write_block_file(reduced.part(0, 12), place("blocks") / "b.csv")
        write_cells(reduced.part(0, 12), place("cells") / "b.csv")
        write_persons(few, place("persons") / "b.csv", [("Classification", "Simulated")])
        write_units(units.part(0, 5), place("units") / "b.csv")
        (place("census-1940") / "b.csv").write_text(f"{OLD}\n{OLD_PERSON}\n{OLD_PERSON}\n", "ascii")
        for kind in ("blocks", "cells", "persons", "units", "census-1940"):
            add(kind, "csv", "b.csv", _simple(read_population, "b.csv"))
        (place("blocks-gzip") / "b.csv.gz").write_bytes(gzip.compress((home / "blocks/b.csv").read_bytes(), mtime=0))
        add("blocks-gzip", "gzip", "b.csv.gz", _simple(read_population, "b.csv.gz"))
        folder = place("persons-and-units")
        for kind in ("persons", "units"):
            (folder / f"{kind}.csv").write_bytes((home / kind / "b.csv").read_bytes())
        add("persons-and-units", "csv", ("persons.csv", "units.csv"), lambda f: _nothing(read_population(f)))
        (place("geography") / "b.csv").write_bytes((home / "blocks/b.csv").read_bytes())
        add("geography", "csv", "b.csv", _simple(read_geography, "b.csv"))
        spine = build_spine(read_geography(home / "geography/b.csv"), spine_preset("pl94-2020").settings)
        write_spine(spine, place("spine") / "s.spine")
        add("spine", "zip", "s.spine", _simple(read_spine, "s.spine"))

    def populations() -> None:
        names = ("persons", "units", "geo")
        write_csv(place("population-csv"))
        add("population-csv", "csv", tuple(f"{name}.csv" for name in names), _population)
        write_parquet(place("population-parquet"))
        add("population-parquet", "parquet", tuple(f"{name}.parquet" for name in names), _population)
        write_parquet(place("population-integers"), integers=True)
        add("population-integers", "parquet", tuple(f"{name}.parquet" for name in names), _population)
        demo = resource("synthetic/demo-pr")
        folder = place("provenance")
        write_csv(folder)
        (folder / "provenance.json").write_bytes((demo / "provenance.json").read_bytes())
        add("provenance", "json", "provenance.json", lambda f: _nothing(find_source(f)))
        _write_rows(place("pums") / "p.csv", [PUMS_COLUMNS, *FAMILY, *SAME_SEX, *QUARTERS])
        add("pums", "csv", "p.csv", _simple(read_pums, "p.csv"))
        sizes = preset("group-sizes-census-2010").scenario.method
        lines = resource("tables/household_sizes_2010.csv").read_text(encoding="utf-8").splitlines()
        (place("household-sizes") / "h.csv").write_text("\n".join(lines[:40]) + "\n", encoding="utf-8")
        add("household-sizes", "csv", "h.csv", lambda f: _nothing(read_group_sizes(f / "h.csv", sizes)))
        (place("group-records") / "records.csv").write_text(RUNNING_EXAMPLE, encoding="utf-8")
        small = GroupSizes(("US", "State"), (1, 2), Fraction(1), equal_shares(("US", "State")), 4)
        add("group-records", "csv", "records.csv", lambda f: _nothing(read_group_sizes(f / "records.csv", small)))
        rows = [["region", "size", "count"], ["GA", "1", "2"], ["GA", "3", "1"], ["NY", "1", "4"]]
        _write_rows(place("size-counts") / "s.csv", rows)
        add("size-counts", "csv", "s.csv", lambda f: _nothing(read_group_sizes(f / "s.csv", small)))
        (place("counties") / "c.csv").write_text(f"{HEADER}\n{AUTAUGA}\n{BALDWIN}\n", encoding="utf-8")
        add("counties", "csv", "c.csv", _simple(read_counties_2010, "c.csv"))
        counties = preset("counties-invariant-2010").scenario.method
        table = resource("tables/illinois_counties_2010.csv").read_bytes()
        (place("cell-counts") / "c.csv").write_bytes(table)
        add("cell-counts", "csv", "c.csv", lambda f: _nothing(read_cell_counts(f / "c.csv", counties)))

    def decisions() -> None:
        (place("bundle") / "a.bundle").write_bytes(signed_bundle(US).packed())
        add("bundle", "zip", "a.bundle", _bundle)
        folder = place("key")
        create_key(folder / "k.pem")
        add("key", "text", "k.pem", lambda f: _nothing(load_private_key(f / "k.pem")))
        public = next(path for path in folder.iterdir() if path.name != "k.pem")
        folder = place("public-key")
        (folder / "k.pub").write_bytes(public.read_bytes())
        add("public-key", "text", "k.pub", lambda f: _nothing(load_public_key(f / "k.pub")))
        folder = place("key-openssh")
        key = KEYS[0] if isinstance(KEYS, list | tuple) else next(iter(KEYS.values()))
        form = (serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption())
        (folder / "id_ed25519").write_bytes(key.private_bytes(*form))
        add("key-openssh", "text", "id_ed25519", lambda f: _nothing(load_private_key(f / "id_ed25519")))
        form = (serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
        (place("public-openssh") / "id.pub").write_bytes(key.public_key().public_bytes(*form) + b" ada@example\n")
        add("public-openssh", "text", "id.pub", lambda f: _nothing(load_public_key(f / "id.pub")))
        folder = place("trusted-keys")
        trust_key("Ada", public_bytes(key), folder / "trusted.json")
        add("trusted-keys", "json", "trusted.json", lambda f: _nothing(trusted_keys(f / "trusted.json")))

    for part in (projects, parameters, blocks, populations, decisions):
        part()
    if for_commands:
        made_run(home / "run-phsafe", US, trials=2)
    else:
        add_runs(home, add)
        add_window_files(home, add)
    return made


def _nothing(_found: object) -> str:
    return ""


def _write_rows(path: Path, rows: list[list[str]]) -> None:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    path.write_text(buffer.getvalue(), encoding="utf-8")


GOALS = (
    """{"targets": {"*/state": 200, "*/state_A-G": "68", "PH3": {"state_A-G": 20.5}}, "floors": {"PH2": "1/1000"}}"""
)
RULES = """{"rules": [{"measure": "largest group", "at_least": "95 %", "place": "Block", "least_people": 400}]}"""
