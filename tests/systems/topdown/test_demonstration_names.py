"""The demonstration is a fictional state: no name of a real state or county stands in anything shown of it."""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path

import pytest

from phexplore.cli.app import run as command
from phexplore.figures.table import Table
from phexplore.resources import resource
from phexplore.runs.spec import DEMONSTRATION_BLOCKS
from phexplore.systems.run_results import RunRequest
from phexplore.systems.topdown.run_reader import PICTURES, TopDownRunReader

ROOT = Path(__file__).parents[3]


def rows(name):
    with resource(name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def real_names():
    states = {row["name"] for row in rows("tables/states.csv")} - {"Georgia"}
    return states | {row["name"] for row in rows("geography/counties.csv")}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("demonstration") / "run"
    arguments = ["--data", str(resource(DEMONSTRATION_BLOCKS)), "--trials", "1", "--seed", "1", "--out", str(out)]
    assert command(["run", "pl94-2020-persons-us", *arguments]) == 0
    return out


def test_that_fictional_names_are_no_real_ones(real_names):
    fictional = {row["name"] for row in rows("synthetic/fictional_areas.csv")}
    assert len(fictional) == 3
    assert not fictional & real_names
    assert "98" not in {row["fips"] for row in rows("tables/states.csv")}


@pytest.mark.parametrize("tab", sorted(PICTURES))
def test_that_nothing_shown_of_the_demonstration_names_a_real_area(run, real_names, tab):
    for level in ("State", "County", "Tract", "Block_Group", "Block"):
        answer = TopDownRunReader().answer(RunRequest(run, tab, {"level": level}))
        shown = [answer.headline, *answer.tiles, *answer.choosers, answer.reason]
        if (figure := answer.picture) is not None:
            shown += [figure.title, figure.summary, *figure.rows, *(patch.tip for patch in figure.patches)]
            assert isinstance(figure.table, Table)
            shown += [figure.table.headers, *figure.table.rows]
        text = "\n".join(map(str, shown)).replace("Alaska Native", "").replace("Native Hawaiian", "")
        assert {name for name in real_names if name in text} == set()
        assert (
            "Fairland (fictional)" in text or tab not in {"place", "tables"} or level == "Block"
        )  # blocks have codes alone


def test_that_the_map_of_the_demonstration_is_shown_without_asking(run):
    for level, units in (("County", 2), ("Tract", 40), ("Block_Group", 134), ("Block", 4000)):
        figure = TopDownRunReader().answer(RunRequest(run, "map", {"level": level})).picture
        assert len({patch.key for patch in figure.patches}) == units


def test_that_the_fictional_state_is_derived_again_to_the_byte(tmp_path):
    spec = importlib.util.spec_from_file_location("derive", ROOT / "packaging" / "derive_synthetic_tables.py")
    derive = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(derive)
    derive.make_demonstration_blocks(tmp_path)
    for name in ("demo-blocks.csv.gz", "demo-shapes.geojson.gz"):
        assert (tmp_path / name).read_bytes() == resource(f"synthetic/{name}").read_bytes()
