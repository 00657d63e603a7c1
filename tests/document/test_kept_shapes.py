"""Shapes are copied beside the project file, and found there wherever both are taken."""

import shutil
from pathlib import Path

from phexplore.document.kept_shapes import LARGEST_KEPT, keep_shapes, kept_shapes, shapes_folder
from phexplore.systems.topdown.shapes import read_outlines


def test_that_a_copy_goes_with_the_project(real_data, tmp_path):
    home, away = tmp_path / "home", tmp_path / "away"
    home.mkdir()
    shapes = Path(shutil.copy(real_data / "published" / "tiger" / "tl_2023_44_tract.zip", tmp_path))
    assert kept_shapes(home / "a.phx") is None
    assert keep_shapes(home / "a.phx", shapes) == kept_shapes(home / "a.phx") != shapes
    home.rename(away)
    shapes.unlink()
    assert len(read_outlines(kept_shapes(away / "a.phx"))) == 250


def test_that_shapefiles_bring_their_companions_and_replace_what_was_kept(real_data, tmp_path):
    source = tmp_path / "source"
    shutil.unpack_archive(real_data / "published" / "tiger" / "tl_2023_44_tract.zip", source)
    other = tmp_path / "other.geojson"
    other.write_text("{}")
    keep_shapes(tmp_path / "a.phx", other)
    found = keep_shapes(tmp_path / "a.phx", source / "tl_2023_44_tract.shp")
    assert found == kept_shapes(tmp_path / "a.phx")
    assert {each.suffix for each in shapes_folder(tmp_path / "a.phx").iterdir()} >= {".shp", ".dbf", ".prj"}
    assert not (shapes_folder(tmp_path / "a.phx") / "other.geojson").exists()
    assert len(read_outlines(found)) == 250
    assert keep_shapes(tmp_path / "a.phx", found) == found


def test_that_large_files_and_folders_without_rights_leave_shapes_where_they_are(tmp_path):
    large = tmp_path / "large.gpkg"
    with large.open("wb") as file:
        file.truncate(LARGEST_KEPT + 1)
    assert keep_shapes(tmp_path / "a.phx", large) is None
    assert kept_shapes(tmp_path / "a.phx") is None
    assert keep_shapes(tmp_path / "missing" / "a.phx", tmp_path / "none.gpkg") is None


def test_that_links_beside_a_project_are_not_followed(tmp_path):
    folder = shapes_folder(tmp_path / "a.phx")
    folder.mkdir()
    (folder / "shapes.gpkg").symlink_to("/etc/hostname")
    assert kept_shapes(tmp_path / "a.phx") is None
