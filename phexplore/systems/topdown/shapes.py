"""Outlines of blocks from a GeoJSON file, for maps: nothing is projected but the widths of a degree."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phexplore.data.archives import read_whole
from phexplore.model.issues import InputProblemsError, Issue

MOST_BYTES = 400_000_000
_PLANE = 2
_MOST_DEGREES = 360.0
_CODES = ("geoid", "GEOID", "geoid10", "GEOID10", "GEOID20", "geoid20", "block", "BLOCK")
_REMEDY = "Give a GeoJSON FeatureCollection of polygons whose features have a property geoid with the block's code."


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """One feature.

    Attributes:
        code: of the block.
        rings: outlines and holes, ``float32[points, 2]`` each, longitude and latitude.
    """

    code: str
    rings: tuple[NDArray[np.float32], ...]


def read_outlines(path: Path) -> tuple[Outline, ...]:
    """Return the polygons of a GeoJSON file, also gzipped.

    Raises:
        InputProblemsError: it cannot be read, is no GeoJSON, or its features have no code or no polygon.
    """
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
    return Outline(code, tuple(ring.astype(np.float32) for ring in rings))


def _on_earth(ring: NDArray[np.float64]) -> bool:
    return bool(np.all(np.abs(ring) <= _MOST_DEGREES))  # not a number is not


def _refused(path: Path, sentence: str, remedy: str) -> InputProblemsError:
    return InputProblemsError([Issue((path.name,), sentence, remedy)])
