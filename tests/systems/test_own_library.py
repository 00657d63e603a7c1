"""The user's library: seen everywhere, marked, never believed, and carried by projects, bundles and runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from phexplore.library import LibraryError
from phexplore.resources import resource

PERSONS = "pl94-2020-persons-us"
TOWN = "town_persons"


def _schema(name: str, labels: str = '"0 to 17", "18 and over"') -> str:
    return f"""id = "{name}"
title = "Persons of one town"
record = "person"
aliases = []
source = "made by this test"
catalogue = ["total", "age", "tenure", "detailed"]

[[attributes]]
name = "age"
title = "Age"
labels = [{labels}]

[[attributes]]
name = "tenure"
title = "Tenure"
labels = ["owner", "renter", "none"]
"""


SPINE = """id = "towns"
title = "Towns kept together"

[settings]
kind = "optimised"
targets = ["block_group"]
"""

TABLE = """id = "T1"
title = "People of voting age"
universe = "Total population"
schema = "pl94_reduced16"
source = "made by this test"

[[cells]]
code = "T0010001"
label = "18 and over"
depth = 0
where = { votingage = "1" }
"""

MEASURE = """
import json, sys
import phexplore as px
scenario = px.load(sys.argv[1])
print(json.dumps([scenario.fingerprint, [issue.sentence for issue in scenario.check()], scenario.forecast().json()["cells"]]))
"""


def _python(library: Path, code: str, *arguments: object) -> str:
    """Return what a fresh interpreter prints, with that library."""
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, "PHEXPLORE_LIBRARY": str(library)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _command(library: Path, *arguments: object) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "phexplore", *map(str, arguments)],
        env={**os.environ, "PHEXPLORE_LIBRARY": str(library)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def _town_scenario() -> dict[str, object]:
    from phexplore.files.scenario_json import encode_scenario
    from phexplore.systems.registry import preset

    value = encode_scenario(preset(PERSONS).scenario)
    queries = {"total": "1/2", "age": "1/4", "detailed": "1/4"}
    levels = {"State": "1/2", "County": "1/2"}
    value["name"], value["baseline"] = "One town", ""
    method = value["method"]
    method |= {
        "schema": TOWN,
        "levels": [{"level": level, "share": share, "queries": dict(queries)} for level, share in levels.items()],
        "passes": {
            level: {"least_squares": [[["total", "age", "detailed"]]], "rounder": [[["total"]]]} for level in levels
        },
        "invariants": {},
        "constraints": {},
    }
    return value


@pytest.fixture
def library(tmp_path) -> Path:
    """A library with one file of every kind, and a broken one of every kind."""
    folder = tmp_path / "library"
    for kind in ("presets", "spines", "tables", "schemas", "rules"):
        (folder / kind).mkdir(parents=True)
    (folder / "schemas" / f"{TOWN}.toml").write_text(_schema(TOWN))
    (folder / "presets" / "town.json").write_text(json.dumps(_town_scenario()))
    (folder / "spines" / "towns.toml").write_text(SPINE)
    (folder / "tables" / "T1.toml").write_text(TABLE)
    (folder / "tables" / "my_counties.csv").write_bytes(resource("tables/illinois_counties_2010.csv").read_bytes())
    (folder / "rules" / "ours.json").write_text('{"rules": [{"measure": "epsilon", "at_most": "20"}]}')
    (folder / "presets" / "broken.json").write_text("{")
    (folder / "presets" / f"{PERSONS}.json").write_text(json.dumps(_town_scenario()))
    (folder / "schemas" / "other.toml").write_text(_schema("another"))
    (folder / "schemas" / "pl94_persons.toml").write_text(_schema("pl94_persons"))
    (folder / "spines" / "odd.toml").write_text(SPINE.replace('"towns"', '"odd"').replace('"optimised"', "7"))
    (folder / "tables" / "T2.toml").write_text(TABLE.replace('"1"', '"7"').replace('"T1"', '"T2"'))
    (folder / "rules" / "none.json").write_text('{"rules": []}')
    (folder / "rules" / "a b.json").write_text('{"rules": []}')
    return folder


def test_that_every_kind_is_listed_and_what_is_broken_is_named_and_left_out(library) -> None:
    status, out, _ = _command(library, "library", "--json")
    found = json.loads(out)
    assert status == 0
    assert {(each["kind"], each["name"]) for each in found["files"]} == {
        ("presets", "town"), ("spines", "towns"), ("tables", "T1"), ("tables", "my_counties"), ("schemas", TOWN),
        ("rules", "ours"),
    }  # fmt: skip
    assert {Path(each["file"]).name for each in found["problems"]} == {
        "broken.json", f"{PERSONS}.json", "other.toml", "pl94_persons.toml", "odd.toml", "T2.toml", "none.json", "a b.json",
    }  # fmt: skip
    assert all(each["sentence"] for each in found["problems"])


def test_that_presets_of_the_user_are_marked_among_the_others(library) -> None:
    status, out, _ = _command(library, "presets", "--json")
    found = {each["id"]: each["library"] for each in json.loads(out)}
    assert (status, found["town"], found[PERSONS], "broken" in found) == (0, True, False, False)
    code = """
import phexplore as px
f, begun = px.presets(), px.load("schema:town_persons")
print(list(f.id[f.library]), begun.check(), {str(entry) for entry in begun.forecast().to_frame().exact})
"""
    assert _python(library, code).strip() == f"['schema:{TOWN}', 'town'] [] {{'1/24'}}"


def test_that_a_broken_preset_says_why_when_it_is_asked_for(library) -> None:
    status, _, error = _command(library, "check", "broken")
    assert status == 2
    assert "broken.json" in error


def test_that_a_spine_of_the_user_is_built(library, tmp_path) -> None:
    code = """
import sys
import phexplore as px
blocks = px.synth("pl94", 300, sys.argv[1], seed=1)
print(px.Spine.build(blocks, "towns").value.settings.targets)
"""
    assert _python(library, code, tmp_path / "blocks.csv").strip() == "('block_group',)"


def test_that_a_table_of_the_user_is_filled_in(library, tmp_path) -> None:
    code = """
import numpy as np
from phexplore.data.blocks.generator import synthesize_blocks
from phexplore.data.blocks.published_tables import published_tables, tabulate
blocks = synthesize_blocks(50, 1, "44")
table = next(table for table in published_tables("pl94_reduced16") if table.id == "T1")
(counties,) = tabulate(blocks, table, ["State"])
print(int(counties.counts.sum()) == int(blocks.counts[blocks.cells >= 8].sum()))
"""
    assert _python(library, code).strip() == "True"


def test_that_rules_of_the_user_judge(library) -> None:
    status, out, _ = _command(library, "compare", "sdhc-2020-us", "sdhc-2020-pr", "--rules", "ours", "--json")
    assert status == 0
    assert [each["outcome"] for each in json.loads(out)["rules"][0]["verdicts"]] == ["pass", "pass"]


@pytest.mark.parametrize("form", ["project", "spec"])
def test_that_what_a_scenario_names_travels_with_it(library, tmp_path, form) -> None:
    here = json.loads(_python(library, MEASURE, "town"))
    path = tmp_path / "town.phx"
    code = "import sys, phexplore as px; px.load('town').save(sys.argv[1])"
    if form == "spec":
        path = tmp_path / "town.json"
        code = """
import json, sys
from phexplore.files.scenario_json import encode_scenario
from phexplore.systems.registry import preset
open(sys.argv[1], "w").write(json.dumps(encode_scenario(preset("town").scenario)))
"""
    _python(library, code, path)
    assert here[1] == []
    assert json.loads(_python(tmp_path / "nothing", MEASURE, path)) == here


def test_that_another_content_is_another_fingerprint_and_a_clash_is_refused(library, tmp_path) -> None:
    path = tmp_path / "town.phx"
    _python(library, "import sys, phexplore as px; px.load('town').save(sys.argv[1])", path)
    before = _python(library, "import phexplore as px; print(px.load('town').fingerprint)")
    (library / "schemas" / f"{TOWN}.toml").write_text(_schema(TOWN, '"0 to 15", "16 and over"'))
    assert _python(library, "import phexplore as px; print(px.load('town').fingerprint)") != before
    status, _, error = _command(library, "check", path)
    assert status == 2
    assert TOWN in error


def test_that_counts_of_the_user_travel(library, tmp_path) -> None:
    code = """
import json, sys
import phexplore as px
from dataclasses import replace
from phexplore.interface.scenarios import Scenario
value = px.load("counties-invariant-2010").value
own = Scenario(replace(value, method=replace(value.method, table="my_counties"), baseline=""))
own.save(sys.argv[1])
"""
    path = tmp_path / "counties.phx"
    _python(library, code, path)
    run = "import sys, phexplore as px; r = px.run(sys.argv[1], out=sys.argv[2], seed=1, progress=False); print(r.is_complete)"
    assert _python(tmp_path / "nothing", run, path, tmp_path / "run").strip() == "True"


def test_that_a_hostile_folder_is_read_in_time_and_takes_nothing_from_outside(tmp_path) -> None:
    folder, outside = tmp_path / "library", tmp_path / "outside.csv"
    for kind in ("presets", "tables", "schemas"):
        (folder / kind).mkdir(parents=True)
    outside.write_text("count\n1\n")
    (folder / "tables" / "link.csv").symlink_to(outside)
    (folder / "schemas" / "dots.toml").write_text(".".join("a" * 50_000) + " = 1")
    (folder / "schemas" / "deep.toml").write_text("a = " + "[" * 100_000)
    (folder / "tables" / "huge.toml").write_text("a = [" + "1," * 1_000_000 + "]")
    (folder / "tables" / "long.toml").write_text("x" * (5 << 20))
    os.mkfifo(folder / "tables" / "fifo.toml")
    (folder / "presets" / "latin.json").write_bytes(b'{"name": "\xff"}')
    (folder / "presets" / "a\nb.json").write_text("{}")
    own = json.loads(json.dumps(_town_scenario()))
    for name in ("A.json", "a.json", "PL94-2020-persons-us.json", "quote'\".json"):
        (folder / "presets" / name).write_text(json.dumps(own))
    status, out, error = _command(folder, "library", "--json")
    found = json.loads(out)
    assert (status, error) == (0, "")
    assert [each["name"] for each in found["files"]] == ["A"]
    assert len(found["problems"]) == 11
    linked = next(each["sentence"] for each in found["problems"] if each["file"].endswith("link.csv"))
    assert "link" in linked


@pytest.mark.parametrize("text", ["x" * (1 << 19), ".".join("a" * 1000) + " = 1"])
def test_that_a_project_brings_no_definition_that_takes_long(text) -> None:
    from phexplore.library import bring

    with pytest.raises(LibraryError):
        bring({"tables/own.toml": text})


@pytest.mark.parametrize(
    "place",
    [
        "schemas/pl94_persons.toml",
        "schemas/../x.toml",
        "code/x.py",
        "schemas/x.py",
        "tables/.toml",
        "presets/x.phx",
        "x",
    ],
)
def test_that_a_project_brings_nothing_else(place) -> None:
    from phexplore.library import bring, own_files

    with pytest.raises(LibraryError):
        bring({place: "id = 1"})
    assert not own_files("schemas")
