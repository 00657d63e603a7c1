"""Files that the window alone reads, and those that a command finds again where it wrote them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

from phexplore.files.atomic_files import read_text
from phexplore.files.output_folder import MARK_FILE, output_folder
from phexplore.gui.binding import settings
from phexplore.systems.experiments import RESULT_FILE, read_pictures
from phexplore.systems.group_sizes.experiment import DRAWS_FILE, taken_over
from phexplore.systems.registry import systems
from phexplore.systems.subspace.text import matrix_rows
from phexplore.systems.topdown.shapes import read_outlines
from phexplore.systems.topdown.tune_answers import read_probes

Add = Callable[[str, str, str, Callable[[Path], str]], None]
SQUARE = [[[-71.5, 41.5], [-71.4, 41.5], [-71.4, 41.6], [-71.5, 41.5]]]
SHAPES = {
    "type": "FeatureCollection",
    "features": [
        {"type": "Feature", "properties": {"geoid": "440010301001000"}, "geometry": {"type": "Polygon", "coordinates": SQUARE}},
        {"type": "Feature", "id": "440010301001001", "geometry": {"type": "MultiPolygon", "coordinates": [SQUARE, SQUARE]}},
    ],
}  # fmt: skip
TABLE_7 = systems()["group-sizes"].experiments()[0]
FOUND = {
    "data": [{"id": "census", "groups": 5, "levels": [{"level": "Nation", "regions": 1}], "differences": ["Other data."]}],
    "trials": 1,
    "rows": [
        {
            "data": "census", "epsilon": "1", "variant": "chain", "label": "chain", "spends": "1053", "keeps_budget": False,
            "l1": [{"level": "Nation", "mean": 1.5, "sd": None}], "violations": {"mean": 0, "sd": None},
            "seconds": {"mean": 0.1, "sd": None}, "published": None,
        }
    ],
    "scaling": [{"largest": 10, "groups": 5, "seconds": {"tree": 0.1, "chain": 0.2}}, {"largest": 99, "groups": 5, "seconds": {"tree": 0.4}}],
}  # fmt: skip
HEADER = {"program": "1", "seed": 1, "data": []}
DRAW = {"subject": "a", "epsilon": "1/2", "variant": "tree", "trial": 0, "l1": [3, 4], "violations": 0, "seconds": 0.5}


def _nothing(_found: object) -> str:
    return ""


def _settings(folder: Path) -> str:
    kept = settings.Settings(folder / "settings.json")
    for setting in vars(settings).values():
        if isinstance(setting, settings.Setting):
            kept.read(setting)
    kept.recent_files()
    kept.data_of(Path("/a.phx"))
    return ""


def _matrix(folder: Path) -> str:
    try:
        matrix_rows(read_text(folder / "m.csv"), 4)
    except ValueError as error:  # said by the editor beside the name of the file
        return f"m.csv: {error}"
    return ""


def _draws(folder: Path) -> str:
    taken_over(folder / DRAWS_FILE, HEADER)
    return ""


def _mark(folder: Path) -> str:
    with output_folder(folder, "tabulate"):
        pass
    return ""


def add_window_files(home: Path, add: Add) -> None:
    """Write every sample below `home`."""

    def place(kind: str, name: str, content: str) -> Path:
        folder = home / kind
        folder.mkdir(parents=True)
        (folder / name).write_text(content, encoding="utf-8")
        return folder / name

    place("shapes", "s.geojson", json.dumps(SHAPES))
    add("shapes", "json", "s.geojson", lambda f: _nothing(read_outlines(f / "s.geojson")))
    packed = place("shapes-gzip", "s.geojson.gz", "")
    packed.write_bytes(gzip.compress(json.dumps(SHAPES, indent=1).encode(), mtime=0))
    add("shapes-gzip", "gzip", "s.geojson.gz", lambda f: _nothing(read_outlines(f / "s.geojson.gz")))
    lines = [{"asked": {}}, {"budgets": {"State": "1/3", "US": None}, "value": 0.9, "meets": True}]
    place("window-probes", "p.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    add("window-probes", "json", "p.jsonl", lambda f: _nothing(read_probes(f / "p.jsonl")))
    place("experiment", RESULT_FILE, json.dumps(FOUND))
    add("experiment", "json", RESULT_FILE, lambda f: _nothing(read_pictures(TABLE_7, f)))
    place("draws", DRAWS_FILE, f"{json.dumps(HEADER)}\n{json.dumps(DRAW)}\n{json.dumps({**DRAW, 'trial': 1})}\n")
    add("draws", "json", DRAWS_FILE, _draws)
    place("matrix", "m.csv", "1,0,1/3,0\n0,1,0.5,-2\n")
    add("matrix", "csv", "m.csv", _matrix)
    path = place("settings", "settings.json", "")
    kept = settings.Settings(path)
    for setting in vars(settings).values():
        if isinstance(setting, settings.Setting):
            kept.keep(setting, setting.default)
    kept.remember_file(path)
    kept.keep_data(Path("/a.phx"), {"blocks": "/b.csv"})
    add("settings", "json", "settings.json", _settings)
    folder = home / "mark"
    with output_folder(folder, "tabulate"):
        folder.mkdir()
        (folder / "t.csv").write_text("1\n", encoding="utf-8")
    add("mark", "json", MARK_FILE, _mark)
