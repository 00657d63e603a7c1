from __future__ import annotations

import json
import zipfile

import pytest

from phexplore.data.blocks.cell_lists import write_cells
from phexplore.data.blocks.generator import write_block_file
from phexplore.data.blocks.microdata_writing import write_persons, write_units
from phexplore.data.blocks.source import describe, read_population
from phexplore.model.issues import InputProblemsError
from phexplore.spine.geography_reading import read_geography


def sentences(path, units=None):
    with pytest.raises(InputProblemsError) as caught:
        read_population(path, units)
    return [issue.sentence for issue in caught.value.issues]


@pytest.fixture
def files(tmp_path, synthetic, synthetic_full, units):
    """One file of every kind, under names that say nothing."""
    write_block_file(synthetic, tmp_path / "a")
    write_persons(synthetic_full, tmp_path / "b")
    write_units(units, tmp_path / "c")
    write_cells(synthetic, tmp_path / "d")
    return tmp_path


def test_that_files_are_recognised_by_content(files):
    found = {name: read_population(files / name) for name in "abcd"}
    assert {name: population.schema.id for name, population in found.items()} == {
        "a": "pl94_reduced16",
        "b": "pl94_persons",
        "c": "pl94_units",
        "d": "pl94_reduced16",
    }
    assert found["a"].total == found["b"].total == found["d"].total


def test_that_published_microdata_are_recognised(real_data):
    found = read_population(real_data / "blocks" / "ppmf_perry_al_20210428_eps12-2.csv.gz")
    assert (found.schema.id, found.total) == ("pl94_persons", 10_588)


def test_that_units_are_joined(files, synthetic_full):
    joined = read_population(files / "b", files / "c")
    assert joined.facilities.sum(axis=0).tolist() == synthetic_full.facilities.sum(axis=0).tolist()


def test_that_a_directory_of_persons_and_units_is_one_population(tmp_path, synthetic_full, units):
    write_persons(synthetic_full, tmp_path / "x" / "persons.txt")
    assert read_population(tmp_path / "x").facilities is None
    write_units(units, tmp_path / "x" / "units.txt.gz")
    (tmp_path / "x" / "readme.txt").write_text("nothing", "utf-8")
    assert read_population(tmp_path / "x").housing.sum() == units.total
    write_persons(synthetic_full, tmp_path / "x" / "more.txt")
    assert "recognised were: more.txt, persons.txt, units.txt.gz" in sentences(tmp_path / "x")[0]
    (tmp_path / "y").mkdir()
    assert "recognised were: none" in sentences(tmp_path / "y")[0]


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("a,b,c", "is not a known header"),
        ("RTYPE,MAFID,QAGE", "a file of the S-DHC inputs"),
        (
            "TABBLKST|TABBLKCOU|TABTRACTCE|TABBLKGRPCE|TABBLK|RTYPE|GQTYPE|RELSHIP|QSEX|QAGE|CENHISP|CENRACE",
            "The column 'LIVE_ALONE' is missing",
        ),
        ("TABBLKST|TABBLKCOU|SUPDIST|ENUMDIST|RTYPE|GQTYPE|RELSHIP|QSEX|QAGE|CENHISP|CENRACE", "lacks citizenship"),
        (
            "SCHEMA_TYPE_CODE|TABBLKST|TABBLKCOU|TABTRACTCE|TABBLKGRPCE|TABBLK|RTYPE|GQTYPE|TEN|VACS|HHSIZE",
            "without the columns of 2020",
        ),
        (
            "TABBLKST|TABBLKCOU|TABTRACTCE|TABBLKGRPCE|TABBLK|RTYPE|GQTYPE_PL|CENHISP|CENRACE",
            "The column 'VOTING_AGE' is missing",
        ),
        ("geoid,pop_white", "The column 'pop_hisp' is missing"),
    ],
)
def test_that_other_files_are_refused_with_what_they_are(tmp_path, header, said):
    path = tmp_path / "x.csv"
    path.write_text(header + "\n1\n", "utf-8")
    assert said in sentences(path)[0]


def test_that_archives_and_binaries_are_named(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("x.csv", "geoid")
    (tmp_path / "x.parquet").write_bytes(b"PAR1\x00\x00PAR1")
    (tmp_path / "x.bin").write_bytes(bytes(range(128, 256)))
    assert sentences(tmp_path / "x.zip") == ["The file is a ZIP archive or a workbook."]
    assert sentences(tmp_path / "x.parquet") == ["The file is a Parquet file."]
    assert "not UTF-8 text" in sentences(tmp_path / "x.bin")[0]
    assert "cannot be read" in sentences(tmp_path / "none")[0]


def test_that_units_are_joined_to_persons_without_only(files):
    assert "pl94_reduced16" in sentences(files / "a", files / "c")[0]
    assert "not units" in sentences(files / "b", files / "a")[0]
    assert "directory" in sentences(files, files / "c")[0]


def test_that_a_description_says_what_is_in_the_file(real_data):
    found = describe(read_population(real_data / "blocks" / "pl94_ri_2010_blocks.csv.gz"))
    assert found.levels == {"US": 1, "State": 1, "County": 5, "Tract": 244, "Block_Group": 815, "Block": 25_181}
    assert (found.records, found.populated, found.states) == (1_052_567, 17_644, {"44": 1_052_567})
    assert found.margins["votingage"] == {"17 and under": 223_956, "18 and over": 828_611}
    assert found.places["cousub"] == 39
    assert found.facilities == {}
    assert found.vacant is None


def test_that_a_description_counts_facilities(synthetic_full, units):
    full, housing = describe(synthetic_full), describe(units)
    assert full.facilities["Nursing facilities"] == synthetic_full.facilities[:, 3].sum()
    assert full.occupied == housing.margins["h1"]["Occupied"] == synthetic_full.housing[:, 1].sum()
    assert full.leaf_quantiles[1.0] == synthetic_full.totals().max()
    assert set(full.margins) == {"hhgq", "votingage", "hispanic", "cenrace"}
    assert json.loads(json.dumps(full.json()))["records"] == synthetic_full.total


@pytest.mark.defect("D6")
@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("PLST|RI|040|00|00|000|00|0000001|0400000US44|44", "P.L. 94-171"),
        ("PLST|RI|000|01|0000001|1097379|1043672", "P.L. 94-171"),
        ("PLST,RI,000,01,0000001,1052567,130655", "P.L. 94-171"),
        ("PLST  RI0400000  0000001144", "P.L. 94-171"),
    ],
)
@pytest.mark.parametrize("reader", [read_population, read_geography])
def test_that_public_files_of_other_kinds_are_named_with_what_to_do(tmp_path, reader, line, kind):
    path = tmp_path / "file.txt"
    path.write_text(f"{line}\n440010301001000,1\n")
    with pytest.raises(InputProblemsError) as caught:
        reader(path)
    (issue,) = caught.value.issues
    assert kind in issue.sentence
    assert "archive" in issue.remedy
