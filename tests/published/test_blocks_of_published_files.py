"""Published files read as blocks have the figures that were counted from them by other means (NOTES.md of the samples)."""

import csv
import shutil
import zipfile

import numpy as np
import pytest

from phexplore.data.blocks.aggregation import add_answers
from phexplore.data.blocks.reading import GROUPS
from phexplore.errors import PhexploreError
from phexplore.published.cells import QUARTERS_RULE, RACES
from phexplore.published.door import read_population, recognise, values_of
from phexplore.workload.queries import parse_query


def answers(population, query):
    parsed = parse_query(population.schema, query)
    return add_answers(population, parsed, np.zeros(population.blocks, np.int64), 1)[0].tolist()


@pytest.fixture(scope="module", params=["ri2018_2020Style.pl", "ri2018_2020Style.pl.zip"])
def rhode_island_2018(request, real_data):
    return read_population(real_data / "published" / "pl94" / request.param)


def test_that_the_legacy_set_has_its_known_figures(rhode_island_2018):
    found = rhode_island_2018
    assert (found.blocks, found.total, int((found.totals() > 0).sum())) == (569, 29_225, 354)
    assert answers(found, "votingage") == [29_225 - 22_713, 22_713]
    assert answers(found, "hispanic")[1] == 16_747
    assert sum(answers(found, "hhgq")[1:]) == 995
    assert found.housing.sum(axis=0).tolist() == [1_314, 10_111]
    table = np.array(answers(found, "votingage * hispanic * cenrace")).reshape(2, 2, RACES)
    groups = [table[:, 1].sum(), *table[:, 0, :6].sum(axis=0), table[:, 0, 6:].sum()]
    assert groups == [16_747, 3_935, 5_205, 27, 1_428, 0, 227, 1_656]
    assert [table[1, 1].sum(), *table[1, 0, :6], table[1, 0, 6:].sum()] == [
        12_587,
        3_561,
        4_206,
        3,
        1_173,
        0,
        48,
        1_135,
    ]


def test_that_it_knows_its_areas_and_says_its_rule(rhode_island_2018):
    assert {"place", "cousub", "sldu", "sldl", "cd", "school_dist", "vtd"} <= set(rhode_island_2018.places)
    assert set(rhode_island_2018.places["sldu"].tolist()) <= {f"44{code:03d}" for code in range(1, 39)}
    assert QUARTERS_RULE in rhode_island_2018.remarks


def test_that_values_of_every_level_add_up(real_data):
    table = values_of(recognise(real_data / "published" / "pl94" / "ri2018_2020Style.pl.zip"))
    for level, areas in {"Tract": 7, "Block_Group": 28, "Block": 569}.items():
        rows = table.at(level)
        assert len(rows.codes) == areas
        assert rows.published[:, table.columns.index("total")].sum() == 29_225
    tract = table.at("Tract")
    assert dict(zip(tract.codes.tolist(), tract.published[:, 0].tolist(), strict=True))["44007000400"] == 3_433


@pytest.mark.parametrize("made", ["20200527", "20210428_12-2"])
def test_that_nhgis_blocks_are_the_histogram_they_were_made_of(made, real_data):
    folder = real_data / "published" / "nhgis" / "made"
    found = read_population(folder / f"nhgis_ppdd_{made}_block_RI.csv")
    with np.load(folder / "truth_and_dp_histograms.npz") as truth:
        assert found.geoids.tolist() == truth["geoid"].tolist()
        whole = truth["sf"].reshape(-1, 8, 252)
    dense = found.dense(0, found.blocks).reshape(-1, 8, 252)
    assert np.array_equal(dense.sum(axis=1), whole.sum(axis=1))
    assert np.array_equal(dense.sum(axis=2), whole.sum(axis=2))


def test_that_published_and_true_values_of_nhgis_stand_side_by_side(real_data):
    folder = real_data / "published" / "nhgis" / "made"
    found = {}
    for name in ("block_RI", "blck_grp", "tract", "county", "state"):
        table = values_of(recognise(folder / f"nhgis_ppdd_20200527_{name}.csv"))
        found[str(table.levels[0])] = float(
            np.abs(table.published - table.true)[:, table.columns.index("total")].mean()
        )
    assert found == {"Block": 1.25, "Block_Group": 1.0, "Tract": pytest.approx(2 / 3), "County": 1.0, "State": 0.0}


def test_that_cells_of_nhgis_are_those_of_a_plain_reading(real_data):
    path = real_data / "published" / "nhgis" / "made" / "nhgis_ppdd_20200527_tract.csv"
    table = values_of(recognise(path), form="cells16")
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["gisjoin"]]
    for at, row in enumerate(rows):
        white = table.columns.index("adult_white")
        assert table.true[at, white] == int(row["H75005_sf"])
        assert table.published[at, white] == int(row["H75005_dp"])
        minors = table.columns.index("minor_hisp")
        assert table.true[at, minors] == int(row["H73002_sf"]) - int(row["H75002_sf"])


def test_that_real_files_of_nhgis_are_read_with_their_traps(real_data, tmp_path):
    """Line 2 of commas only or with descriptions, Latin-1 names, counties and places in one file."""
    header = (real_data / "published" / "nhgis" / "header_only_nhgis_ppdd_20200723_county_KY.csv").read_text().strip()
    names = header.split(",")
    wanted = {"H72001_dp": 7, "H72001_sf": 9, "H7V001_dp": 7, "H7V001_sf": 9}
    numbers = [str(wanted.get(name, 0)) for name in names[3:]]
    described = ["GIS Join Match Code", "Area Name", "State", *('"Total, ""dp"""' for _ in numbers)]
    lines = [header, "," * (len(names) - 1), ",".join(described)]
    lines += [
        ",".join([code, name, "6", *numbers]) for code, name in (("G0600010", "Alameda"), ("G06036568", "La Cañada"))
    ]
    path = tmp_path / "nhgis_ppdd_20200527_CA.csv"
    path.write_bytes("\r\n".join(lines).encode("latin-1"))
    table = values_of(recognise(path))
    assert table.levels.tolist() == ["County", "place"]
    assert table.codes.tolist() == ["06001", "0636568"]
    assert table.names.tolist() == ["Alameda", "La Cañada"]
    assert (table.published - table.true)[:, table.columns.index("total")].tolist() == [-2, -2]


def long_form(wide, long, encoding="utf-8"):
    """Write a wide extract as the first extracts were: one line per area and value, the names of both sides."""
    with wide.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["gisjoin"]]
    lines = [name.removesuffix("_dp") for name in rows[0] if name.endswith("_dp")]
    written = ["gisjoin,name_dp,var_code,dp,name_sf,sf"] + [
        f"{row['gisjoin']},{row['name']},{line},{row[f'{line}_dp']},{row['name']},{row[f'{line}_sf']}"
        for line in lines
        for row in rows
    ]
    long.write_bytes("\r\n".join(written).encode(encoding))
    return rows


@pytest.mark.parametrize("made", ["20200527_block_RI", "20200527_tract", "20210428_12-2_block_RI"])
def test_that_the_long_form_holds_what_the_wide_one_does(made, real_data, tmp_path):
    wide = real_data / "published" / "nhgis" / "made" / f"nhgis_ppdd_{made}.csv"
    path = tmp_path / f"nhgis_ppdd_{made}.csv"
    long_form(wide, path)
    for form in ("summary", "cells16"):
        ours, theirs = (values_of(recognise(each), form=form) for each in (path, wide))
        assert ours.codes.tolist() == theirs.codes.tolist()
        assert ours.names.tolist() == theirs.names.tolist()
        assert np.array_equal(ours.published, theirs.published)
        assert np.array_equal(ours.true, theirs.true)
    if "block" in made:
        ours, theirs = read_population(path), read_population(wide)
        assert np.array_equal(ours.dense(0, ours.blocks), theirs.dense(0, theirs.blocks))


def test_that_the_long_form_may_be_latin_1_and_is_refused_where_a_value_is_missing(real_data, tmp_path):
    wide = real_data / "published" / "nhgis" / "made" / "nhgis_ppdd_20200527_county.csv"
    text = wide.read_text(encoding="utf-8")
    with wide.open(encoding="utf-8", newline="") as file:
        name = next(row["name"] for row in csv.DictReader(file) if row["gisjoin"])
    changed, path = tmp_path / "changed.csv", tmp_path / "nhgis_ppdd_20200527_county.csv"
    changed.write_text(text.replace(name, "Cañada"), encoding="utf-8")
    long_form(changed, path, "latin-1")
    assert values_of(recognise(path)).names[0] == "Cañada"
    lines = path.read_bytes().split(b"\r\n")
    path.write_bytes(b"\r\n".join([*lines, lines[5]]))
    with pytest.raises(PhexploreError, match="has it 2 times"):
        values_of(recognise(path))
    path.write_bytes(b"\r\n".join([*lines, lines[5].replace(lines[5][:8], b"G4400050")]))
    with pytest.raises(PhexploreError, match="lacks it"):
        values_of(recognise(path))


def test_that_microdata_of_2020_keep_their_areas_and_join_units(real_data):
    found = read_population(real_data / "published" / "ppmf" / "made" / "2020_ppmf_bystate.zip")
    assert (found.blocks, found.total) == (16, 1_059)
    assert found.housing.sum() == 424
    assert found.places["place"][0] == "4459000"
    assert found.places["cousub"][0] == "4400759000"
    assert found.places["zcta"][0] == "02903"
    assert set(found.places["aiannh"].tolist()) <= {"", *(f"{code:04d}" for code in range(9999))}


def test_that_2010_sets_without_quarters_are_expanded_and_say_so(real_data):
    folder = real_data / "published" / "pl94" / "made_ri2010.pl"
    found, other = read_population(folder), read_population(folder, seed=5)
    assert (found.blocks, found.total) == (16, 1_059)
    assert any("seed 0" in remark for remark in found.remarks)
    assert answers(found, "votingage * hispanic * cenrace") == answers(other, "votingage * hispanic * cenrace")


def block_file(path, geoids):
    columns = [f"{kind}_{group}" for kind in ("pop", "vap") for group in GROUPS]
    path.write_text(
        "\n".join([",".join(["geoid", *columns]), *(f"{code},{','.join('2' * 8 + '1' * 8)}" for code in geoids)])
    )


def layout_of(year, real_data):
    path = real_data / "published" / "pl94" / f"layout_geo_{year}_fixed.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return {
            row["col_names"]: (int(row["begin"]), int(float(row["end"]))) for row in csv.DictReader(file) if row["end"]
        }


def test_that_a_set_of_2000_holds_what_the_same_set_of_2010_does(real_data, tmp_path):
    """The made set of 2010 in the columns of 2000: uPL, other places in the header, no housing, no group quarters."""
    source = real_data / "published" / "pl94" / "made_ri2010.pl"
    before, after = layout_of(2010, real_data), layout_of(2000, real_data)
    lines = []
    for line in (source / "rigeo2010.pl").read_text(encoding="latin-1").splitlines():
        written = [" "] * 400
        for name, (first, last) in after.items():
            own = before.get({"ZCTA5": "ZCTA5", "PUMA5": "PUMA"}.get(name, name))
            text = line[own[0] : own[1]].strip() if own else ""
            text = "uPL" if name == "FILEID" else text[: last - first]
            written[first : first + len(text)] = text
        lines.append("".join(written))
    (tmp_path / "rigeo.upl").write_text("\n".join(lines) + "\n", encoding="latin-1")
    for number, fields in ((1, 149), (2, 149)):
        text = (source / f"ri0000{number}2010.pl").read_text(encoding="latin-1")
        rows = [",".join(["uPL   ", *row.split(",")[1:fields]]) for row in text.splitlines()]
        (tmp_path / f"ri0000{number}.upl").write_text("\r\n".join(rows) + "\r\n", encoding="latin-1")
    found, known = recognise(tmp_path), read_population(source)
    assert found.kind == "pl94-legacy"
    ours = read_population(tmp_path)
    assert ours.geoids.tolist() == known.geoids.tolist()
    assert np.array_equal(ours.dense(0, ours.blocks), known.dense(0, known.blocks))
    assert ours.housing is None or not np.array_equal(ours.housing, known.housing)
    assert (
        values_of(found).at("Tract").published.tolist() == values_of(recognise(source)).at("Tract").published.tolist()
    )


@pytest.mark.parametrize("tract", ["TABTRACTCE,TABBLKGRPCE", "TABTRACT,TABBLKGRP"])
def test_that_voting_age_of_vintages_of_2020_is_0_and_1(tract, real_data, tmp_path):
    with (real_data / "published" / "ppmf" / "made" / "2020_ppmf_person_44.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        rows = list(csv.DictReader(file))
    own = ["TABBLK", "RTYPE", "GQTYPE_PL", "VOTING_AGE", "CENHISP", "CENRACE"]
    for vintage, less in (("20200917", 1), ("20210428", 0)):
        lines = [f"VINTAGE,TABBLKST,TABBLKCOU,{tract},{','.join(own)}"]
        for row in rows:
            changed = {**row, "VOTING_AGE": str(int(row["VOTING_AGE"]) - less)}
            codes = [vintage, row["TABBLKST"], row["TABBLKCOU"], row["TABTRACTCE"], row["TABBLKGRPCE"]]
            lines.append(",".join([*codes, *(changed[name] for name in own)]))
        path = tmp_path / f"ppmf_{vintage}P.csv"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        found = read_population(path)
        grown = sum(row["VOTING_AGE"] == "2" for row in rows)
        assert answers(found, "votingage") == [len(rows) - grown, grown]


def test_that_block_assignments_are_joined_to_the_blocks_beside_them(real_data, tmp_path):
    archive = real_data / "published" / "baf" / "BlockAssign_ST44_RI.zip"
    with zipfile.ZipFile(archive) as packed:
        lines = packed.read("BlockAssign_ST44_RI_INCPLACE_CDP.txt").decode().split()
    place_of = dict(line.split("|") for line in lines[1:])
    shutil.copy(archive, tmp_path)
    block_file(tmp_path / "blocks.csv", list(place_of)[:3000])
    found = read_population(tmp_path)
    assert found.blocks == 3000
    expected = [f"44{place_of[code]}" if place_of[code] else "" for code in found.geoids.tolist()]
    assert found.places["place"].tolist() == expected
    assert any("100.0 %" in remark for remark in found.remarks)


@pytest.mark.parametrize("blocks", ["blocks/pl94_ri_2010_blocks.csv.gz", "published/pl94/ri2018_2020Style.pl.zip"])
def test_that_assignments_of_another_census_are_refused_with_the_share(blocks, real_data, tmp_path):
    shutil.copy(real_data / blocks, tmp_path)
    shutil.copy(real_data / "published" / "baf" / "BlockAssign_ST44_RI.zip", tmp_path)
    with pytest.raises(PhexploreError) as refused:
        read_population(tmp_path)
    assert ("20,710" if "2010" in blocks else "483 of the 569") in str(refused.value)
