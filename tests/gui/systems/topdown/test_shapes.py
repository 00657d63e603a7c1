"""Outlines of blocks: whatever a file holds, outlines or a sentence."""

from __future__ import annotations

import gzip
import json
import os

import numpy as np
import pytest

from phexplore.model.issues import InputProblemsError
from phexplore.systems.topdown.shapes import read_outlines

RING = [[-71.5, 41.5], [-71.4, 41.5], [-71.4, 41.6]]


def written(path, **changes):
    feature = {"properties": {"geoid": "44"}, "geometry": {"type": "Polygon", "coordinates": [RING]}, **changes}
    path.write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    return path


def test_that_a_polygon_has_its_code_and_ring(tmp_path) -> None:
    (outline,) = read_outlines(written(tmp_path / "s.geojson"))
    assert outline.code == "44"
    across, upward = outline.rings[0].T
    assert np.allclose(across, [point[0] for point in RING])
    assert np.allclose(np.degrees(np.arcsin(np.radians(upward))), [point[1] for point in RING], atol=1e-5)


@pytest.mark.defect("F9")
@pytest.mark.parametrize(
    "changes",
    [
        {"geometry": []},
        {"geometry": [1]},
        {"geometry": {"type": "Polygon", "coordinates": 7}},
        {"geometry": {"type": "Polygon", "coordinates": [[[[1]]]]}},
        {"geometry": {"type": "Polygon", "coordinates": [[[1e300, 0], [0, 0], [1, 1]]]}},
        {"geometry": {"type": "Polygon", "coordinates": [[[10**400, 0], [0, 0], [1, 1]]]}},
        {"geometry": {"type": "Polygon", "coordinates": [[[float("nan"), 0], [0, 0], [1, 1]]]}},
        {"geometry": {"type": "Polygon", "coordinates": [[["a", "b"]]]}},
        {"properties": [1]},
        {"properties": {"geoid": {"a": 1}}},
        {"properties": "x"},
    ],
)
def test_that_a_feature_of_other_types_is_named(tmp_path, changes) -> None:
    with pytest.raises(InputProblemsError, match=r"s\.geojson"):
        read_outlines(written(tmp_path / "s.geojson", **changes))


@pytest.mark.defect("F9")
def test_that_depth_is_a_sentence(tmp_path) -> None:
    (tmp_path / "s.geojson").write_text("[" * 100_000)
    with pytest.raises(InputProblemsError, match="no JSON"):
        read_outlines(tmp_path / "s.geojson")


@pytest.mark.defect("F13")
@pytest.mark.parametrize("name", ["s.geojson", "s.geojson.gz"])
def test_that_a_pipe_is_refused_without_waiting(tmp_path, name) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(InputProblemsError, match="pipe"):
        read_outlines(tmp_path / name)


@pytest.mark.defect("F9")
def test_that_gzip_that_grows_or_is_damaged_is_a_sentence(tmp_path) -> None:
    path = tmp_path / "s.geojson.gz"
    path.write_bytes(gzip.compress(bytes(40_000_000)))
    with pytest.raises(InputProblemsError, match="unpacked"):
        read_outlines(path)
    path.write_bytes(path.read_bytes()[:20] + b"\xff" * 40)
    with pytest.raises(InputProblemsError, match="cannot be read"):
        read_outlines(path)
