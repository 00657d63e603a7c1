"""A value of a confidential record is in nothing that a command writes or prints, whatever is wrong with the record."""

from __future__ import annotations

import gzip
import stat
import tempfile

import pytest
from population_files import ALONE, LAYOUT, tiny_population, with_value, write_csv, write_parquet

from phexplore.cli.app import DONE, run
from phexplore.data.blocks.layouts import DHC_PERSONS, DHC_UNITS, PL94_PERSONS, PL94_UNITS
from phexplore.data.blocks.reading import COUNT_COLUMNS, TOTALS

MARKER = "Qz7Marker"
NUMBER = "731957313"
"""A legal MAFID that occurs nowhere else."""


@pytest.fixture
def watched(tmp_path, monkeypatch, capfd):
    """Run a command; return its status and whether a text is in anything it wrote, also in temporary files, or printed."""
    for name in ("TMPDIR", "HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setattr(tempfile, "tempdir", None)
    data = tmp_path / "data"

    def call(*arguments):
        status = run([str(argument) for argument in arguments])
        printed = "".join(capfd.readouterr())
        written = [path for path in tmp_path.rglob("*") if path.is_file() and data not in path.parents]
        return status, printed, {path: path.read_bytes() for path in written}

    return call


def assert_silent(told, *texts):
    status, printed, written = told
    for text in texts:
        assert text not in printed
        assert [path.name for path, content in written.items() if text.encode() in content] == []
    assert [path.name for path in written if stat.S_IMODE(path.stat().st_mode) & 0o077] == []
    return status, printed


COLUMNS = [(frame, column.name) for frame, columns in LAYOUT.items() for column in columns]


@pytest.mark.defect("T5")
@pytest.mark.parametrize(("frame", "column"), COLUMNS)
def test_that_an_illegal_value_of_any_column_is_not_told(tmp_path, watched, frame, column):
    for kind, write in (("csv", write_csv), ("parquet", write_parquet)):
        data = tmp_path / "data" / kind
        if kind == "csv" or column not in {"MAFID", "QAGE", "FINAL_POP", "NPF"}:
            write(data, with_value(frame, 1, column, MARKER))
            for arguments in (("data", "describe", data), ("tabulate", data, "--out", tmp_path / "tables")):
                status, printed = assert_silent(watched(*arguments), MARKER)
                assert status != DONE
                assert column in printed


@pytest.mark.defect("T5")
@pytest.mark.parametrize("frame", list(LAYOUT))
def test_that_a_run_tells_no_illegal_value(tmp_path, watched, frame):
    population = tiny_population()
    for row, column in enumerate(LAYOUT[frame]):
        rows = population[frame]
        rows.append(list(rows[row % 5]))
        with_value(frame, len(rows) - 1, column.name, f"{MARKER}{column.name}", population)
    data = write_csv(tmp_path / "data", population)
    status, printed = assert_silent(watched("run", "sdhc-2020-us", "--data", data, "--out", tmp_path / "run"), MARKER)
    assert status != DONE
    assert f"{frame}.csv:" in printed
    assert (tmp_path / "run" / "events.jsonl").is_file()


CONTRADICTIONS = {
    "household type": ("units", "HHT2", "00"),
    "couple": ("units", "HHT2", "01"),
    "tenure": ("units", "TEN", "0"),
    "race": ("units", "HHRACE", "00"),
    "own child": ("persons", "RELSHIP", "25"),
    "quarters": ("persons", "RELSHIP", "37"),
    "units and geography": ("units", "RTYPE", "4"),
    "persons": ("units", "FINAL_POP", "97317"),
    "missing unit": ("geo", "MAFID", "812345678"),
}


@pytest.mark.defect("T5")
@pytest.mark.parametrize("kind", CONTRADICTIONS)
def test_that_a_contradictory_record_is_told_by_its_line_alone(tmp_path, watched, kind):
    frame, column, value = CONTRADICTIONS[kind]
    population = tiny_population()
    for rows in population.values():
        for each in rows:
            each[1] = each[1].replace(ALONE, NUMBER)
        rows.sort(key=lambda each: each[1])
    place = [each[1] == NUMBER for each in population[frame]].index(True)
    data = write_csv(tmp_path / "data", with_value(frame, place, column, value, population))
    _, printed = assert_silent(watched("data", "check", data), NUMBER, "97317", "812345678")
    # A household without a householder is told on the line of its unit, the fifth of the tiny population.
    assert ("units.csv:6:" if kind == "own child" else f"{frame}.csv:{place + 2}:") in printed
    assert_silent(watched("data", "describe", data, "--json"), NUMBER, "97317", "812345678")
    assert_silent(watched("tabulate", data, "--out", tmp_path / "tables"), NUMBER, "812345678")
    assert_silent(watched("run", "sdhc-2020-us", "--data", data, "--out", tmp_path / "run"), NUMBER, "812345678")


BLOCKS = ("geoid", *COUNT_COLUMNS, *TOTALS)
BLOCK = ("440010301001000", *("2" for _ in COUNT_COLUMNS), "16", "16")
LAYOUTS = {layout.title: layout for layout in (PL94_PERSONS, PL94_UNITS, DHC_PERSONS, DHC_UNITS)}


@pytest.mark.defect("T5")
@pytest.mark.parametrize("column", BLOCKS)
@pytest.mark.parametrize("value", [MARKER, "7319573"])
def test_that_no_value_of_a_block_file_is_told(tmp_path, watched, column, value):
    data = tmp_path / "data" / "blocks.csv"
    data.parent.mkdir()
    line = [value if name == column else text for name, text in zip(BLOCKS, BLOCK, strict=True)]
    data.write_text("\n".join([",".join(BLOCKS), ",".join(line)]) + "\n")
    status, printed = assert_silent(watched("data", "describe", data), value)
    assert status != DONE
    assert "blocks.csv:2:" in printed


@pytest.mark.defect("T5")
@pytest.mark.parametrize(("title", "column"), [(title, name) for title in LAYOUTS for name in LAYOUTS[title].needed])
def test_that_no_value_of_block_records_is_told(tmp_path, watched, title, column):
    layout = LAYOUTS[title]
    data = tmp_path / "data" / "records.csv.gz"
    data.parent.mkdir()
    line = [MARKER if name == column else "1" for name in layout.columns]
    data.write_bytes(gzip.compress(("\n".join(["|".join(layout.columns), "|".join(line)]) + "\n").encode()))
    assert assert_silent(watched("data", "describe", data), MARKER)[0] != DONE


@pytest.mark.defect("T5")
@pytest.mark.parametrize("preset", ["pl94-2020-persons-us", "group-sizes-census-2010"])
def test_that_a_run_on_blocks_or_groups_tells_no_value(tmp_path, watched, preset):
    data = tmp_path / "data" / "records.csv"
    data.parent.mkdir()
    if preset.startswith("pl94"):
        lines = ["|".join(PL94_PERSONS.columns)]
        lines += ["|".join(MARKER if a == b else "1" for a in PL94_PERSONS.columns) for b in PL94_PERSONS.needed]
    else:
        columns = ("user", "unit", "region", "quantity")
        lines = [",".join(columns), *(",".join(MARKER if a == b else "1" for a in columns) for b in columns)]
    data.write_text("\n".join(lines) + "\n")
    assert assert_silent(watched("run", preset, "--data", data, "--out", tmp_path / "run"), MARKER)[0] != DONE
