"""Outlines of areas for maps, with true areas: from shapefiles, GeoPackages (zipped or not) and GeoJSON."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phexplore.catalog.names import learn_areas
from phexplore.data.archives import read_whole
from phexplore.figures.map import area_true
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.published.door import recognise
from phexplore.published.shapes import Outline, outlines

MOST_BYTES = 400_000_000
_PLANE = 2
_COUNTY, _SUBDIVISION = 5, 10
_MOST_DEGREES = 360.0
_CODES = ("geoid", "GEOID", "geoid10", "GEOID10", "GEOID20", "geoid20", "block", "BLOCK")
_NAMES = ("NAMELSAD", "NAME", "name", "BASENAME")
SHAPE_KINDS = frozenset({"tiger-shapes", "geopackage"})
_REMEDY = (
    "Give a shapefile or GeoPackage of the Census Bureau, or a GeoJSON FeatureCollection of polygons whose features have a property "
    "geoid with the code of the area."
)


def read_outlines(path: Path) -> tuple[Outline, ...]:
    """Return the polygons of a file, on a map with true areas (`phexplore.figures.map.area_true`).

    Args:
        path: shapefile (.shp beside its .dbf, or the ZIP of them), GeoPackage, or GeoJSON, also gzipped.

    Raises:
        InputProblemsError: it cannot be read, or its features have no code or no polygon.
    """
    found = recognise(path)
    if found is not None and found.kind not in SHAPE_KINDS:
        raise found.refused("it holds no shapes.", _REMEDY)
    read = _geojson(path) if found is None else outlines(found)
    for kind, length in (("county", _COUNTY), ("cousub", _SUBDIVISION)):
        learn_areas(kind, {each.code: each.name for each in read if len(each.code) == length})
    return tuple(replace(each, rings=tuple(map(area_true, each.rings))) for each in read)


def _geojson(path: Path) -> tuple[Outline, ...]:
    try:
        content = json.loads(read_whole(path, MOST_BYTES))
    except (ValueError, RecursionError) as error:
        raise _refused(path, f"It is no JSON ({error}).", _REMEDY) from error
    features = content.get("features") if isinstance(content, dict) else None
    if not isinstance(features, list) or not features:
        raise _refused(path, "It holds no features.", _REMEDY)
    issues: list[Issue] = []
    found = []
    for number, feature in enumerate(features, start=1):
        outline = _outline(feature)
        if isinstance(outline, Outline):
            found.append(outline)
        else:
            issues.append(Issue((path.name, f"feature {number}"), outline, _REMEDY))
    if issues:
        raise InputProblemsError(issues[:1000])
    return tuple(found)


def _outline(feature: Any) -> Outline | str:
    if not isinstance(feature, dict):
        return "It is no feature."
    properties = feature.get("properties") or {}
    geometry = feature.get("geometry") or {}
    if not isinstance(properties, dict) or not isinstance(geometry, dict):
        return "Its properties or its geometry are no object."
    name = next((str(value) for key in _NAMES if (value := properties.get(key))), "")
    named = (*(properties.get(name) for name in _CODES), feature.get("id"))
    code = next((str(value) for value in named if value and isinstance(value, str | int)), "")
    if not code:
        return "It has no code."
    coordinates = geometry.get("coordinates")
    kinds: dict[str, Any] = {"Polygon": [coordinates], "MultiPolygon": coordinates}
    polygons = kinds.get(str(geometry.get("type")))
    if not polygons or coordinates is None:
        return f"Its geometry is {geometry.get('type')!r}, not a polygon."
    try:
        rings = tuple(np.array(ring, np.float64)[:, :2] for polygon in polygons for ring in polygon)
    except (TypeError, ValueError, IndexError, OverflowError):
        rings = ()
    if not rings or not all(ring.ndim == _PLANE and ring.shape[1] == _PLANE and _on_earth(ring) for ring in rings):
        return "Its coordinates are not pairs of degrees of longitude and latitude."
    return Outline(code, tuple(ring.astype(np.float32) for ring in rings), name)


def _on_earth(ring: NDArray[np.float64]) -> bool:
    return bool(np.all(np.abs(ring) <= _MOST_DEGREES))  # not a number is not


def _refused(path: Path, sentence: str, remedy: str) -> InputProblemsError:
    return InputProblemsError([Issue((path.name,), sentence, remedy)])
