"""Microdata of the DHC are read as they are written: in production's layouts, and in the published form of 2020."""

from __future__ import annotations

import csv
import zipfile

import numpy as np
import pytest

from phexplore.data.blocks.dhc_microdata_writing import write_dhc_persons, write_dhc_units
from phexplore.data.blocks.expansion import expand
from phexplore.data.blocks.generator import synthesize_blocks
from phexplore.data.blocks.households import with_households
from phexplore.data.blocks.source import describe
from phexplore.model.issues import InputProblemsError
from phexplore.published.door import read_files, read_population
from phexplore.simulate.topdown.histograms import histograms_of
from phexplore.systems.topdown.chained_release import redistricting_of

MAJOR = {"1": "1", "2": "2", "3": "3", "4": "4", "5": "5", "6": "6", "7": "7", "8": "7", "9": "7"}


@pytest.fixture(scope="module")
def both():
    return with_households(expand(synthesize_blocks(80, 5), 2), 2)


@pytest.fixture(scope="module")
def folder(both, tmp_path_factory):
    place = tmp_path_factory.mktemp("microdata")
    write_dhc_persons(both.persons, place / "persons.txt", [("Classification", "made")])
    write_dhc_units(both.households, place / "units.txt.gz")
    return place


@pytest.fixture(scope="module")
def published(folder, real_data, tmp_path_factory):
    """The records in the published form: 78 and 87 columns, commas, areas, redistricting codes beside."""
    place = tmp_path_factory.mktemp("ppmf")
    with (real_data / "published" / "ppmf" / "layout_ppmf_2020.csv").open() as file:
        layout = list(csv.DictReader(file))
    write_dhc_units(read_population(folder / "units.txt.gz"), place / "units.txt")
    with zipfile.ZipFile(place / "2020_ppmf_bystate.zip", "w") as archive:
        for kind, source in (("person", folder / "persons.txt"), ("unit", place / "units.txt")):
            names = [row["name"] for row in layout if row["file"] == kind]
            with source.open() as file:
                rows = list(csv.DictReader((line for line in file if line[0] != "#"), delimiter="|"))
            lines = [names]
            for row in rows:
                row |= {"COUSUBFP": "59000", "PLACEFP": "99999", "GQTYPE_PL": MAJOR.get(row["GQTYPE"][0], "0")}
                row["HH_STATUS"] = "0" if row["RTYPE"] == "4" else "1" if row.get("TEN", "0") != "0" else "2"
                row["VOTING_AGE"] = "2" if int(row.get("QAGE", 0)) >= 18 else "1"
                lines.append([row.get(name, "") for name in names])
            text = "".join(",".join(line) + "\r\n" for line in lines)
            archive.writestr(f"2020_ppmf_bystate/2020_ppmf_{kind}_44.csv", text)
    return place / "2020_ppmf_bystate.zip"


def same(one, other):
    """Return whether two populations count the same in every block that either of them has."""
    blocks = [dict(zip(each.geoids.tolist(), each.totals().tolist(), strict=True)) for each in (one, other)]
    filled = [{block: count for block, count in each.items() if count} for each in blocks]
    return filled[0] == filled[1] and (one.cells == other.cells).all() and (one.counts == other.counts).all()


def test_persons_come_back(both, folder):
    found = read_population(folder / "persons.txt")
    assert found.schema.id == "dhc_persons"
    assert same(found, both.persons)


def test_units_come_back_with_their_unit_histogram(both, folder):
    found = read_population(folder / "units.txt.gz")
    assert same(found, both.households)
    at = np.searchsorted(both.households.geoids, found.geoids)
    assert (found.facilities == both.households.facilities[at]).all()
    assert found.facilities.sum() == both.households.facilities.sum()
    assert describe(found).facilities["Vacant, seasonal use"] == both.households.facilities[:, 8].sum()


def test_a_folder_of_both_has_the_facilities_of_its_units(both, folder):
    found = read_population(folder, wanted="dhc_persons")
    at = np.searchsorted(both.households.geoids, found.geoids)
    assert (found.facilities[:, 1:] == both.households.facilities[at, 11:]).all()
    assert (found.facilities[:, 0] == both.households.facilities[at, :11].sum(axis=1)).all()
    assert same(read_population(folder, wanted="dhc_households"), both.households)
    assert describe(found).facilities["Group quarters 501"] == both.households.facilities[:, 26].sum()


@pytest.mark.parametrize(
    ("wanted", "made"), [("dhc_persons", "persons"), ("dhc_households", "households"), ("", ""), ("pl94_units", "")]
)
def test_the_published_form_is_read_as_what_is_wanted(both, published, wanted, made):
    found = read_population(published, wanted=wanted)
    if made:
        assert same(found, getattr(both, made))
        assert set(found.places["cousub"].tolist()) == {f"{geoid[:5]}59000" for geoid in found.geoids.tolist()}
    else:
        source = both.households if wanted else both.persons
        kept = redistricting_of(source)
        assert found.schema == kept.schema
        assert same(found, kept)
    assert histograms_of(found).total == found.total


def test_what_it_is_is_described(folder, published):
    assert read_files(folder / "persons.txt").described["schema"] == "dhc_persons"
    assert read_files(folder / "units.txt.gz").described["schema"] == "dhc_households"
    assert read_files(published).described["kind"] == "ppmf-persons"


@pytest.mark.parametrize(
    ("kind", "column", "text", "said"),
    [
        ("persons", "RELSHIP", "37", "RELSHIP does not fit the GQTYPE"),
        ("persons", "QAGE", "116", "QAGE is not a code from 000 to 115"),
        ("persons", "RTYPE", "5", "does not fit the rest"),
        ("persons", "LIVE_ALONE", "0", "LIVE_ALONE does not fit"),
        ("units", "HHSIZE", "0", "HHSIZE is above 0 in households"),
        ("units", "HHT", "", "HHT is not"),
        ("units", "TEN", "0", "here several are, or none"),
        ("units", "PAOC", "9", "PAOC is not"),
    ],
)
def test_a_record_that_contradicts_itself_is_named(folder, tmp_path, both, kind, column, text, said):
    path = tmp_path / "x.txt"
    write_dhc_persons(both.persons, path) if kind == "persons" else write_dhc_units(both.households, path)
    lines = path.read_text().splitlines()
    names = lines[0].split("|")
    place = next(i for i, line in enumerate(lines) if i and line.split("|")[names.index("RTYPE")] in "23")
    fields = lines[place].split("|")
    fields[names.index(column)] = text
    lines[place] = "|".join(fields)
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(InputProblemsError) as refused:
        read_population(path)
    (issue,) = refused.value.issues
    assert said in issue.sentence
    assert issue.line == place + 1


def test_an_age_that_the_schema_rules_out_is_named(both, tmp_path):
    write_dhc_persons(both.persons, tmp_path / "x.txt")
    lines = (tmp_path / "x.txt").read_text().splitlines()
    place = next(i for i, line in enumerate(lines) if line.split("|")[10] == "20")
    fields = lines[place].split("|")
    fields[12] = "9"
    (tmp_path / "x.txt").write_text("\n".join([*lines[:place], "|".join(fields), *lines[place + 1 :]]) + "\n")
    with pytest.raises(InputProblemsError, match="breaks a rule"):
        read_population(tmp_path / "x.txt")
