from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from population_files import with_value, write_csv, write_parquet

from phexplore.data.description import describe_data
from phexplore.data.problems import Phase
from phexplore.data.provenance import read_provenance
from phexplore.data.source import Storage, demonstration_directory, find_source
from phexplore.data.synthetic.generator import generate_sdhc
from phexplore.data.validation import check_data, load_data
from phexplore.model.issues import InputProblemsError, Severity


@pytest.fixture
def both(tmp_path):
    """A synthetic population stored both ways."""
    generate_sdhc(200, tmp_path, seed=1, states=["RI"])
    return tmp_path


def test_that_a_directory_and_any_file_in_it_mean_the_population(tmp_path):
    write_csv(tmp_path)
    for path in (tmp_path, tmp_path / "persons.csv", tmp_path / "geo.csv"):
        source = find_source(path)
        assert (source.directory, source.storage, source.remarks) == (tmp_path, Storage.CSV, ())


def test_that_a_missing_path_is_refused():
    with pytest.raises(InputProblemsError, match="no such file or directory"):
        find_source(Path("/nowhere/at/all"))


def test_that_a_directory_without_population_is_refused(tmp_path):
    with pytest.raises(InputProblemsError, match="holds no population"):
        find_source(tmp_path)


def test_that_another_file_is_refused_with_a_way_out(tmp_path):
    (tmp_path / "pums.csv").touch()
    with pytest.raises(InputProblemsError) as caught:
        find_source(tmp_path / "pums.csv")
    assert "convert pums" in caught.value.remedy


def test_that_every_missing_file_is_listed(tmp_path):
    write_csv(tmp_path)
    (tmp_path / "units.csv").unlink()
    (tmp_path / "geo.csv").unlink()
    with pytest.raises(InputProblemsError) as caught:
        find_source(tmp_path)
    assert [issue.path for issue in caught.value.issues] == [("units.csv",), ("geo.csv",)]


def test_that_an_empty_parquet_directory_is_a_missing_file(tmp_path):
    write_parquet(tmp_path)
    (tmp_path / "geo.parquet").unlink()
    (tmp_path / "geo.parquet").mkdir()
    with pytest.raises(InputProblemsError, match="holds no files"):
        find_source(tmp_path)


def test_that_proven_copies_are_read_as_parquet(both):
    source = find_source(both)
    assert (source.storage, source.remarks) == (Storage.PARQUET, ())


def test_that_an_edited_csv_wins_over_the_parquet_beside_it(both):
    path = both / "persons.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    values = lines[1].split(",")
    values[2] = f"{(int(values[2]) + 1) % 10}" if len(values[2]) == 1 else f"{99 - int(values[2]) % 89}"
    lines[1] = ",".join(values)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    source = find_source(both)
    assert source.storage is Storage.CSV
    assert {remark.severity for remark in source.remarks} == {Severity.WARNING}
    assert load_data(both).persons.qage[0] == int(values[2])


def test_that_an_edited_parquet_is_not_taken_for_the_csv(both):
    write_parquet(both)
    assert find_source(both).storage is Storage.CSV


def test_that_a_changed_file_loses_its_mark(tmp_path):
    generate_sdhc(200, tmp_path, seed=1, states=["RI"], storages=[Storage.CSV])
    assert find_source(tmp_path).provenance.synthetic
    path = tmp_path / "persons.csv"
    path.write_bytes(path.read_bytes() + b"3,100000001,30,1,01,36\n")
    source = find_source(tmp_path)
    assert source.provenance is None
    assert ["unknown origin" in remark.sentence for remark in source.remarks] == [True]
    assert not describe_data(tmp_path).is_synthetic


def test_that_a_report_of_bad_values_still_says_which_files_were_read(both):
    path = both / "persons.csv"
    path.write_bytes(path.read_bytes() + b"9,100000001,30,1,01,36\n")
    report = check_data(both)
    assert (report.reached, report.errors, report.warnings) == (Phase.VALUES, 1, 2)
    assert "CSV files were read" in report.issues[-1].sentence


def test_that_parts_in_place_of_a_marked_file_have_no_mark(tmp_path):
    generate_sdhc(200, tmp_path, seed=1, states=["RI"], storages=[Storage.PARQUET])
    (tmp_path / "geo.parquet").rename(tmp_path / "part.parquet")
    (tmp_path / "geo.parquet").mkdir()
    (tmp_path / "part.parquet").rename(tmp_path / "geo.parquet" / "part.parquet")
    assert find_source(tmp_path).provenance is None


def test_that_without_a_mark_the_csv_is_read(tmp_path):
    write_parquet(tmp_path)
    write_csv(tmp_path, with_value("persons", 0, "QAGE", "41"))
    source = find_source(tmp_path)
    assert (source.storage, len(source.remarks)) == (Storage.CSV, 1)
    assert find_source(tmp_path / "persons.parquet").storage is Storage.PARQUET


def test_that_csv_files_from_elsewhere_do_not_hide_a_marked_parquet(tmp_path):
    generate_sdhc(200, tmp_path, seed=1, states=["RI"], storages=[Storage.PARQUET])
    write_csv(tmp_path)
    source = find_source(tmp_path)
    assert (source.storage, len(source.remarks)) == (Storage.PARQUET, 1)


def test_that_a_copied_population_keeps_its_proof(both, tmp_path_factory):
    copy = tmp_path_factory.mktemp("copy") / "population"
    shutil.copytree(both, copy)
    assert find_source(copy).storage is Storage.PARQUET


def test_that_a_second_population_in_the_same_place_replaces_the_first(both):
    generate_sdhc(300, both, seed=2, states=["CT"], storages=[Storage.PARQUET])
    assert not (both / "persons.csv").exists()
    assert len(load_data(both).persons) == 300
    assert read_provenance(both).seed == 2


def test_that_files_of_others_are_never_removed(tmp_path):
    write_csv(tmp_path)
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    generate_sdhc(100, tmp_path, seed=1, states=["RI"], storages=[Storage.PARQUET])
    assert (tmp_path / "persons.csv").exists()
    assert (tmp_path / "notes.txt").exists()


@pytest.mark.parametrize("name", ["demo", "demo-pr"])
def test_that_a_demonstration_is_found_by_name(name):
    source = find_source(Path(name))
    assert source.directory == demonstration_directory(name)
    assert source.provenance.synthetic
