"""Shapes and tables of published files have the figures that were counted from them by other means (NOTES.md of the samples)."""

import zipfile

import numpy as np
import pytest

from phexplore.errors import PhexploreError
from phexplore.published.door import describe, recognise, values_of
from phexplore.published.shapes import outlines


@pytest.mark.parametrize(
    ("sample", "areas", "points", "several", "water", "land"),
    [
        ("tl_2010_51013_tabblock10.zip", {"Block": 2_188}, 82_632, 7, 4, 67_273_573),
        ("tl_2023_44_tract.zip", {"Tract": 250}, 83_925, 6, 3, 2_677_763_372),
        ("made_from_tl_2010_51013_tabblock10.gpkg", {"Block": 40}, 1_207, 0, 0, 718_754),
    ],
)
def test_that_shapes_have_their_known_figures(real_data, sample, areas, points, several, water, land):
    found = describe(recognise(real_data / "published" / "tiger" / sample))
    assert found.levels == areas
    assert found.more["points"] == points
    assert found.more["several_parts"] == several
    assert found.more["water_only"] == water
    assert found.more["land_square_metres"] == land


def test_that_a_geopackage_holds_the_shapes_of_the_shapefile_it_was_made_of(real_data):
    samples = real_data / "published" / "tiger"
    whole = {each.code: each for each in outlines(recognise(samples / "tl_2010_51013_tabblock10.zip"))}
    for each in outlines(recognise(samples / "made_from_tl_2010_51013_tabblock10.gpkg")):
        assert [len(ring) for ring in each.rings] == [len(ring) for ring in whole[each.code].rings]
        assert np.array_equal(np.concatenate(each.rings), np.concatenate(whole[each.code].rings))


def test_that_shapes_carry_names(real_data):
    found = {
        each.code: each.name for each in outlines(recognise(real_data / "published" / "tiger" / "tl_2023_44_tract.zip"))
    }
    assert found["44007000101"] == "Census Tract 1.01"


def test_that_a_geopackage_in_an_archive_is_read_where_it_lies(real_data, tmp_path):
    sample = real_data / "published" / "tiger" / "made_from_tl_2010_51013_tabblock10.gpkg"
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(sample, "shapes/a.gpkg")
    assert len(outlines(recognise(tmp_path / "a.zip"))) == 40


def test_that_a_shapefile_without_its_table_is_refused(real_data, tmp_path):
    with zipfile.ZipFile(real_data / "published" / "tiger" / "tl_2023_44_tract.zip") as archive:
        archive.extract("tl_2023_44_tract.shp", tmp_path)
    with pytest.raises(PhexploreError) as refused:
        outlines(recognise(tmp_path))
    assert "tl_2023_44_tract.dbf" in str(refused.value)


def test_that_tables_of_the_s_dhc_are_read_in_each_of_their_forms(real_data):
    samples = real_data / "published" / "sdhc"
    written = values_of(recognise(samples / "phsafe_output_test2"))
    assert len(written.columns) == 244
    assert set(written.levels.tolist()) == {"US", "State"}
    for name in ("DECENNIALSDHC2020.PH1-Data.csv", "api_sdhc_PH1.json"):
        table = values_of(recognise(samples / "made" / name))
        assert table.names.tolist() == ["Rhode Island", "Puerto Rico"]
        assert table.published[:, table.columns.index("PH1_001N")].tolist() == [2.39, 2.6]
