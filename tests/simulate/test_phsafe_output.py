"""Production's output layout, read back line by line."""

import csv
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from phexplore.catalog.tables import tables
from phexplore.noise.entropy import SeededEntropy
from phexplore.simulate.phsafe_count import CountingSpec, tabulate
from phexplore.simulate.phsafe_output import OutputPlaceError, header, output_lines, output_tables, write_output
from phexplore.simulate.phsafe_release import PhsafeReleaser


def read(directory):
    """The rows of all tables: {(table, region type, region, code, cell): (count, distribution, variance)}."""
    found = {}
    for place in sorted(Path(directory).iterdir()):
        (file,) = place.iterdir()
        assert file.suffix == ".csv"
        for row in csv.DictReader(file.read_text(encoding="utf-8").splitlines(), delimiter="|"):
            key = (place.name, row["REGION_TYPE"], row["REGION_ID"], row.get("ITERATION_CODE", "*"))
            key += (int(row[f"{place.name.upper()}_DATA_CELL"]),)
            assert key not in found
            found[key] = (int(row["COUNT"]), row.get("NOISE_DISTRIBUTION"), row.get("VARIANCE"))
    return found


def test_that_exact_tables_have_the_rows_of_production(slow, tmp_path):
    population = slow.untidy_population(2)
    write_output(tabulate([slow.frames(population)], CountingSpec.exact()), tmp_path)
    rows = read(tmp_path)
    assert {key: count for key, (count, *_) in rows.items()} == slow.non_private_counts(population)
    assert any(count == 0 for count, *_ in rows.values()) == any(
        count == 0 for count in slow.non_private_counts(population).values()
    )


def test_that_a_sum_of_zero_over_existing_units_has_a_row(slow):
    """Spark groups records, so the row exists although it is 0; groups without records do not."""
    population = slow.clean_population(1, households=6, states=("44",))
    for unit in population.units:
        unit["FINAL_POP"] = "0"
    lines = list(output_lines(tabulate([slow.frames(population)], CountingSpec.exact()), "PH8_num"))
    assert len(lines) > 1
    assert all(line.endswith("|0") for line in lines[1:])


def test_that_measured_tables_have_every_row_and_nothing_of_production_is_missing(us, slow, tmp_path):
    population = slow.clean_population(3)
    tabulation = tabulate([slow.frames(population)], CountingSpec.measured(us.method))
    write_output(tabulation, tmp_path)
    taus = {str(name): tau for name, tau in us.method.thresholds.items()}
    assert {key: count for key, (count, *_) in read(tmp_path).items()} == slow.private_counts(population, taus)


def test_that_a_release_says_its_noise(us, slow, tmp_path):
    tabulation = tabulate([slow.frames(slow.clean_population(1))], CountingSpec.measured(us.method))
    release = PhsafeReleaser(tabulation, us.method).release(SeededEntropy(1))
    files = write_output(release, tmp_path)
    assert [file.parent.name for file in files] == list(tables())
    assert header("PH8_num", noisy=True).split("|") == (
        ["REGION_ID", "REGION_TYPE", "ITERATION_CODE", "PH8_NUM_DATA_CELL", "COUNT", "NOISE_DISTRIBUTION", "VARIANCE"]
    )
    rows = read(tmp_path)
    assert {key: count for key, (count, *_) in rows.items()} == slow.flat(tabulation, rows_of=release.counts)
    expected = float(Fraction(22**2) / (2 * Fraction("0.141622")))
    assert rows["PH7", "STATE", "01", "A", 2][1:] == ("Discrete Gaussian", repr(expected))
    assert rows["PH8_num", "STATE", "01", "A", 2][2] == repr(2 * expected)
    assert rows["PH8_num", "STATE", "01", "A", 3][2] == repr(expected)


def test_that_columns_are_those_of_production():
    assert header("PH2", noisy=False) == "REGION_ID|REGION_TYPE|PH2_DATA_CELL|COUNT"
    assert header("PH1_denom", noisy=False) == "REGION_ID|REGION_TYPE|ITERATION_CODE|PH1_DENOM_DATA_CELL|COUNT"


def test_that_rows_have_a_fixed_order(slow):
    tabulation = tabulate([slow.frames(slow.clean_population(1))], CountingSpec.exact())
    regions = [line.split("|")[:2] for line in list(output_lines(tabulation, "PH2"))[1:]]
    assert regions == sorted(regions, key=lambda region: (region[1] == "STATE", region[0]))
    assert regions[0] == ["1", "USA"]


def test_that_unpublished_tables_get_no_directory(us, slow, tmp_path):
    budgets = {query: budget if query.table == "PH7" else Fraction(0) for query, budget in us.method.budgets.items()}
    parameters = replace(us.method, budgets=budgets)
    tabulation = tabulate([slow.frames(slow.clean_population(1))], CountingSpec.measured(parameters))
    write_output(tabulation, tmp_path)
    assert sorted(place.name for place in tmp_path.iterdir()) == ["PH7", "PH8_num"]
    assert output_tables(tabulation) == ("PH7", "PH8_num")


def test_that_earlier_contents_of_a_table_are_replaced_and_others_stay(slow, tmp_path):
    for name, file in (("PH2", "part-00000-of-spark.csv"), ("PH2", "_SUCCESS"), ("notes", "kept.txt")):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / file).write_text("old")
    tabulation = tabulate([slow.frames(slow.clean_population(1))], CountingSpec.exact())
    write_output(tabulation, tmp_path)
    write_output(tabulation, tmp_path)
    assert [file.name for file in (tmp_path / "PH2").iterdir()] == ["part-00000.csv"]
    assert (tmp_path / "notes" / "kept.txt").read_text() == "old"
    assert sorted(place.name for place in tmp_path.iterdir()) == sorted([*tables(), "notes"])


def test_that_a_file_in_the_way_is_left_alone(slow, tmp_path):
    tabulation = tabulate([slow.frames(slow.clean_population(1))], CountingSpec.exact())
    (tmp_path / "PH1_num").write_text("mine")
    with pytest.raises(OutputPlaceError, match="PH1_num is a file"):
        write_output(tabulation, tmp_path)
    assert (tmp_path / "PH1_num").read_text() == "mine"
    with pytest.raises(OutputPlaceError, match="cannot be written"):
        write_output(tabulation, tmp_path / "PH1_num" / "below")
    assert [place.name for place in tmp_path.iterdir()] == ["PH1_num"]


def test_that_a_failure_while_writing_keeps_the_earlier_table(slow, tmp_path, monkeypatch):
    tabulation = tabulate([slow.frames(slow.clean_population(1))], CountingSpec.exact())
    write_output(tabulation, tmp_path)
    before = (tmp_path / "PH1_num" / "part-00000.csv").read_text()

    def fails(result, table_id):
        yield "half a table"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("phexplore.simulate.phsafe_output.output_lines", fails)
    with pytest.raises(OutputPlaceError, match="No space left"):
        write_output(tabulation, tmp_path)
    assert (tmp_path / "PH1_num" / "part-00000.csv").read_text() == before
    assert sorted(place.name for place in tmp_path.iterdir()) == sorted(tables())
