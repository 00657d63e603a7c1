"""What marks data as synthetic, and what never does: every kind that ``synth`` writes, read back; and files that only look like one."""

from __future__ import annotations

import gzip
import json
import shutil
import zipfile
from pathlib import Path

import pytest
import typer.main

from phexplore.cli.app import DONE, program, run
from phexplore.data.blocks.generator import synthesize_blocks, write_block_file
from phexplore.data.blocks.microdata_writing import metadata_lines
from phexplore.model.provenance import UNMARKED, ProvenanceKind
from phexplore.published.origins import provenance_of
from phexplore.runs.spec import data_of
from phexplore.systems.registry import preset

MADE = {
    "sdhc": [("--persons", "500", "--states", "44")],
    "pl94": [
        ("--blocks", "30"),
        ("--blocks", "40", "--states", "44,09", "--tribal", "0.1"),
        ("--blocks", "2000", "--nation"),
    ],
    "demonstration-2010": [("--blocks", "20")],
}
"""Arguments of every subcommand of ``synth``."""
PPMF = "EPNUM,RTYPE,GQTYPE,GQTYPE_PL,VOTING_AGE,CENHISP,CENRACE,TABBLKST,TABBLKCOU,TABTRACTCE,TABBLK,TABBLKGRPCE\n"
RECORD = "0,3,000,0,1,1,01,44,007,000101,1000,1\n"


def test_that_every_subcommand_of_synth_is_here():
    group = typer.main.get_command(program()).commands["synth"]
    assert set(group.commands) == set(MADE)


def kind_of(path, capsys):
    capsys.readouterr()
    assert run(["data", "describe", str(path), "--json"]) == DONE
    return json.loads(capsys.readouterr().out)["provenance"]["kind"]


@pytest.mark.parametrize(("command", "given"), [(name, each) for name, several in MADE.items() for each in several])
def test_that_what_synth_writes_is_known_again_copied_renamed_and_packed(command, given, tmp_path, capsys):
    made = tmp_path / "made"
    assert run(["synth", command, *given, "--seed", "1", "--out", str(made)]) == DONE
    if made.is_dir():
        moved = Path(shutil.copytree(made, tmp_path / "real people"))
        assert kind_of(moved, capsys) == "synthetic"
        files = [path for path in moved.iterdir() if path.suffix != ".json"]
    else:
        files = [Path(shutil.copy(made, tmp_path / "census.txt"))]
        packed, archive = tmp_path / "records.gz", tmp_path / "archive.zip"
        packed.write_bytes(gzip.compress(made.read_bytes()))
        with zipfile.ZipFile(archive, "w") as file:
            file.write(made, "inside.csv")
        assert provenance_of(packed).is_synthetic
        assert provenance_of(archive).is_synthetic or data_is_refused(archive)
    for path in files:
        assert kind_of(path, capsys) == "synthetic", path.name


def data_is_refused(path):
    return run(["data", "describe", str(path), "--json"]) != DONE


@pytest.fixture
def unmarked(tmp_path):
    path = tmp_path / "blocks.csv"
    write_block_file(synthesize_blocks(20, 1), path)
    rows = [line.rpartition(",")[0] for line in path.read_text().splitlines()]
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize(
    "name", ["demo-blocks.csv", "synthetic.csv", "provenance-synthetic/published.csv", "demo/blocks.csv"]
)
def test_that_no_name_is_a_mark(name, unmarked, tmp_path):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    assert provenance_of(unmarked.rename(tmp_path / name)) == UNMARKED


@pytest.mark.parametrize(
    "line",
    [
        "# Provenance: published",
        "# Provenance: imputed",
        "# Provenance: real",
        "# Provenance: synthetic\n# Provenance: real",
        "# Provenance: Synthetic",
        "# provenance: synthetic",
        "# Provenance:synthetic",
        "# synthetic",
        "# Scenario: x, Provenance: synthetic",
        "# Synthetic data. No count describes a real person or place.",
    ],
)
def test_that_no_other_line_in_front_of_a_header_frees_data(line, unmarked, tmp_path):
    unmarked.write_text(f"{line}\n{unmarked.read_text()}")
    assert provenance_of(unmarked) == UNMARKED
    microdata = tmp_path / "persons.csv"
    microdata.write_text(f"{line}\n{PPMF}{RECORD}")
    outweighs = any(word in line for word in ("imputed", "real", "Provenance: Synthetic"))
    assert provenance_of(microdata).kind is (
        ProvenanceKind.REAL if outweighs and "real person" not in line else ProvenanceKind.PUBLISHED
    )


@pytest.mark.parametrize("value", ["published", "Synthetic", "synthetic ", "imputed", ""])
def test_that_no_other_word_in_the_column_frees_data(value, unmarked):
    header, *rows = unmarked.read_text().splitlines()
    unmarked.write_text("\n".join([f"{header},provenance", *(f"{row},{value}" for row in rows)]) + "\n")
    assert provenance_of(unmarked) == UNMARKED


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x85", "\u2028"])
def test_that_a_name_of_a_scenario_begins_no_line_of_its_own(end):
    lines = metadata_lines([("Scenario", f"x{end}# Provenance: synthetic"), ("Provenance", "real")])
    assert [line for line in lines.decode().splitlines() if line.startswith("# Provenance")] == ["# Provenance: real"]


def test_that_the_mark_of_a_population_speaks_for_no_other_records(tmp_path):
    assert (
        run(["synth", "sdhc", "--persons", "500", "--states", "44", "--seed", "1", "--out", str(tmp_path / "p")])
        == DONE
    )
    scenario = preset("sdhc-2020-us").scenario
    assert data_of(scenario, tmp_path / "p").provenance.is_synthetic
    for path in (tmp_path / "p").glob("*.parquet"):
        path.unlink()
    persons = tmp_path / "p" / "persons.csv"
    persons.write_text(persons.read_text().replace("3,100000001,", "3,100000001,", 1) + "")
    lines = persons.read_text().splitlines(keepends=True)
    persons.write_text("".join([*lines[:-1], lines[-2]]))
    assert not data_of(scenario, tmp_path / "p").provenance.is_synthetic
