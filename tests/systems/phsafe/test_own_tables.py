"""Tables of the S-DHC of the user's own: counted right, protected as the proofs ask, and refused where production cannot have them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from dataclasses import fields
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import phexplore as px
from phexplore.catalog import tables as catalog
from phexplore.data.population import SdhcPersons, SdhcUnits
from phexplore.decide.bundle import make_bundle
from phexplore.errors import ExportError
from phexplore.files.scenario_json import encode_scenario
from phexplore.library import refused, reread
from phexplore.systems.phsafe.edits import add_table
from tests.signed_bundles import request, resealed

SENIORS = """id = "Seniors"
title = "Population of 65 and over by tenure"
universe = "Population in households of 65 years and over"
source = "made by this test"
truncated = true
iterations = ["*", "A-G"]
race_of = "person"

[private]
counts = "persons"
person = { RTYPE = "3", QAGE = "65-" }

[non_private]
counts = "persons"
person = { RTYPE = "3", QAGE = "65-" }

[[cells]]
code = 1
label = "Total"
depth = 0
sum_of = [2, 3]

[[cells]]
code = 2
label = "Owners"
depth = 1
basis = true
unit = { TEN = "1-2" }

[[cells]]
code = 3
label = "Renters"
depth = 1
basis = true
unit = { TEN = "3-4" }
"""
RENTED = """id = "Rented"
title = "Rented homes"
universe = "Occupied housing units"
source = "made by this test"
truncated = false
iterations = ["*"]
race_of = "nobody"

[private]
counts = "units"
unit = { RTYPE = "2", HHT = "1-", TEN = "3-4" }

[non_private]
counts = "units"
unit = { RTYPE = "2", HHT = "1-", TEN = "3-4" }

[[cells]]
code = 1
label = "Total"
depth = 0
basis = true
"""
BUDGETS = {
    "budget Seniors/usa_*": "0.01", "budget Seniors/state_A-G": "0.002", "threshold Seniors": 2, "budget Rented/usa_*": "0.5",
}  # fmt: skip


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A library of tables; whoever writes into it looks for files again."""
    folder = tmp_path / "library" / "tables"
    folder.mkdir(parents=True)
    (folder / "Seniors.toml").write_text(SENIORS)
    (folder / "Rented.toml").write_text(RENTED)
    monkeypatch.setenv("PHEXPLORE_LIBRARY", str(folder.parent))
    reread()
    yield folder
    monkeypatch.undo()
    reread()


def _rows(run: px.Run, table: str) -> pd.DataFrame:
    (path,) = Path(run.directory, "release", table).glob("*.csv")
    return pd.read_csv(path, sep="|", dtype={"REGION_ID": str, "ITERATION_CODE": str})


@pytest.mark.usefixtures("library")
def test_that_they_are_counted_as_a_plain_count_says(tmp_path) -> None:
    scenario = px.load("sdhc-2020-us").set(BUDGETS)
    run = px.run(scenario, "demo", out=tmp_path / "r", release="non-private", progress=False)
    data = px.read("demo")
    persons, units, geo = (data.to_frame(part).astype("int64", errors="ignore") for part in ("persons", "units", "geo"))
    for frame in (persons, units, geo):
        frame.columns = frame.columns.str.upper()
    homes = units.merge(geo[["MAFID", "TABBLKST"]], on="MAFID")
    joined = persons.merge(homes, on="MAFID", suffixes=("", "_UNIT")).astype(
        {"QAGE": int, "TEN": int, "CENRACE": int, "RTYPE": int}
    )
    old = joined[(joined.RTYPE == 3) & (joined.QAGE >= 65)]
    found = _rows(run, "Seniors")
    nation = found[(found.REGION_TYPE == "USA") & (found.ITERATION_CODE == "*")].set_index("SENIORS_DATA_CELL").COUNT
    assert nation.to_dict() == {1: len(old), 2: int(old.TEN.isin([1, 2]).sum()), 3: int(old.TEN.isin([3, 4]).sum())}
    white = old[old.CENRACE == 1]
    state = white.TABBLKST.astype(int).mode()[0]
    here = (
        found[(f"{state:02d}" == found.REGION_ID) & (found.ITERATION_CODE == "A")].set_index("SENIORS_DATA_CELL").COUNT
    )
    assert here[1] == (white.TABBLKST.astype(int) == state).sum()
    homes = homes.astype({"TEN": int, "HHT": int, "RTYPE": int})
    rented = ((homes.RTYPE == 2) & (homes.HHT >= 1) & homes.TEN.isin([3, 4])).sum()
    assert _rows(run, "Rented").set_index("REGION_TYPE").COUNT["USA"] == rented


@pytest.mark.usefixtures("library")
def test_that_noise_is_calibrated_to_the_proven_sensitivity_and_other_tables_stay_as_they_were(tmp_path) -> None:
    plain = px.load("sdhc-2020-us")
    scenario = plain.set(BUDGETS)
    assert scenario.check() == []
    assert scenario.rho - plain.rho == 2 * (Fraction("0.512"))
    figures = {entry.query.text: entry for entry in scenario.forecast().value.detail.queries}
    assert figures["Seniors/usa_*"].sensitivity == 2 * 2 + 2
    assert figures["Rented/usa_*"].sensitivity == 2
    one = px.run(scenario, "demo", out=tmp_path / "own", seed=3, progress=False)
    other = px.run(plain, "demo", out=tmp_path / "plain", seed=3, progress=False)
    assert all(one.summary()["checks"].values())
    assert _rows(one, "PH3").equals(_rows(other, "PH3"))
    alone = px.run(scenario.set({"budget Seniors/usa_*": 0}), "demo", out=tmp_path / "alone", seed=3, progress=False)
    assert _rows(one, "Rented").equals(_rows(alone, "Rented"))
    assert {"Seniors", "Rented"} <= {path.name for path in (one.directory / "release").iterdir()}
    for picture in one.pictures:
        assert len(one.errors(by=picture).columns), picture
    assert one.errors("usa_*", "Seniors", by="observed").Table.tolist() == ["Seniors"]
    with pytest.raises(px.PhexploreError):
        one.errors("usa_*", by="truncation", query="Nobody")


@pytest.mark.usefixtures("library")
def test_that_what_production_cannot_hold_says_so_and_the_rest_keeps_it(tmp_path) -> None:
    scenario = px.load("sdhc-2020-us").set(BUDGETS)
    for form in ("phsafe-config", "xlsx"):
        with pytest.raises(ExportError):
            scenario.export(form, tmp_path / form)
    assert "Seniors" in scenario.export("csv", tmp_path / "m.csv")[0].read_text()
    assert set(encode_scenario(scenario.value)["library"]) == {"tables/Seniors.toml", "tables/Rented.toml"}
    assert "library" not in encode_scenario(px.load("sdhc-2020-us").value)
    assert px.load(scenario.save(tmp_path / "own.phx")) == scenario
    differences = px.compare("sdhc-2020-us", scenario)
    assert "Seniors/usa_*" in set(differences.place[differences.kind == "margin"])
    assert px.compare(scenario, "sdhc-2020-us").kind.tolist() == differences.kind.tolist()
    solved = px.solve(scenario, {"Seniors/usa_*": 100})
    assert px.forecast(solved).to_frame().set_index(["query", "level"]).moe_normal["Seniors", "usa_*"] <= 100


VERIFY = """
import json, sys
import phexplore as px
from pathlib import Path
found = {}
for path in map(Path, sys.argv[1:]):
    result = px.verify(path)
    found[path.stem] = [result.is_intact, result.status, sorted({each.part for each in result.findings})]
if found[path.stem][0]:
    scenario = px.load(path)
    found["opened"] = [scenario.fingerprint, str(scenario.rho), scenario.warnings[0].path[0]]
print(json.dumps(found))
"""


@pytest.mark.usefixtures("library")
def test_that_a_bundle_takes_them_along_to_who_has_no_library_and_shows_every_change(tmp_path) -> None:
    scenario = px.load("sdhc-2020-us").set(BUDGETS)
    made = make_bundle(request(scenario.value, signers=()))
    own = {name: data.decode() for name, data in made.files.items() if name.startswith("parameters/library/")}
    assert own == {"parameters/library/tables/Rented.toml": RENTED, "parameters/library/tables/Seniors.toml": SENIORS}
    stated = json.loads(made.files["parameters/parameters.json"])
    assert stated["privacy_budget"]["Seniors"] == {"usa_A-G": 0.0, "usa_*": 0.01, "state_A-G": 0.002, "state_*": 0.0}
    assert stated["tau"]["Seniors"] == 2
    assert "Rented" not in stated["tau"]

    def altered(**changes: tuple[str, str, str]) -> bytes:
        files, manifest = dict(made.files), json.loads(made.manifest)
        for name, before, after in changes.values():
            assert before.encode() in files[name]
            files[name] = files[name].replace(before.encode(), after.encode())
        return resealed(files, manifest)

    seniors = "parameters/library/tables/Seniors.toml"
    bundles = {
        "definition": altered(definition=(seniors, '"65-"', '"66-"')),
        "whole": made.packed(),
        "both": altered(a=(seniors, '"65-"', '"66-"'), b=("scenario.json", '\\"65-\\"', '\\"66-\\"')),
    }
    for name, content in bundles.items():
        (tmp_path / f"{name}.zip").write_bytes(content)
    env, found = {**os.environ, "PHEXPLORE_LIBRARY": str(tmp_path / "nothing")}, {}
    for chosen in (["definition", "whole"], ["both"]):  # what a bundle brought stays in its process
        files = [str(tmp_path / f"{name}.zip") for name in chosen]
        command = [sys.executable, "-c", VERIFY, *files]
        found |= json.loads(subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout)
    assert found["whole"] == [True, "approved", []]
    assert found["opened"] == [scenario.fingerprint, str(scenario.rho), "whole.zip"]
    assert found["definition"][2] == [seniors]
    assert {"manifest.json", "decisions.json", "forecast.json", "log/project.phx"} & set(found["both"][2])


@pytest.mark.usefixtures("library")
def test_that_an_edit_adds_one_and_an_unknown_one_is_an_issue() -> None:
    plain = px.load("sdhc-2020-us")
    added = px.load("sdhc-2020-us").value
    for name in ("Seniors", "Rented"):
        added = add_table(added, catalog.TableId(name))
    assert added.phsafe.thresholds["Seniors"] == max(plain.value.phsafe.thresholds.values())
    assert "Rented" not in added.phsafe.thresholds
    assert sum(query.table == "Seniors" for query in added.phsafe.budgets) == 4
    assert [issue.path for issue in plain.set("budget Nobody/usa_*", "0.1").check()] == [("budgets", "Nobody/usa_*")]
    assert [issue.path for issue in plain.set("budget Seniors/usa_*", "0.1").check()] == [("thresholds", "Seniors")]


def test_that_production_stays_what_it_is(library) -> None:
    before = px.load("sdhc-2020-us").fingerprint
    assert list(catalog.tables())[:11] == list(catalog.production_tables())
    assert len(catalog.queries()) == 46
    for path in library.iterdir():
        path.unlink()
    reread()
    assert set(catalog.tables()) == set(catalog.production_tables())
    assert px.load("sdhc-2020-us").fingerprint == before


@pytest.mark.parametrize(
    ("of", "by"),
    [
        ("truncated = true", "truncated = false"),
        ("truncated = true", "truncated = 1"),
        ('unit = { TEN = "3-4" }', 'unit = { TEN = "2-4" }'),
        ('unit = { TEN = "3-4" }', 'person = { QAGE = "70-" }'),
        ('unit = { TEN = "3-4" }', 'unit = { SEX = "1" }'),
        ('counts = "persons"', 'counts = "units"'),
        ("[private]\n", '[private]\nweight = "FINAL_POP"\n'),
        ('race_of = "person"', 'race_of = "person"\nderived_from = "PH3"'),
        ('iterations = ["*", "A-G"]', "iterations = []"),
        ('iterations = ["*", "A-G"]', 'iterations = ["*", "*"]'),
        ('label = "Owners"', 'label = "Own\\ners"'),
        ("code = 2", "code = 2.5"),
        ("code = 2", "code = 100000"),
        ("sum_of = [2, 3]", "sum_of = [2, 4]"),
        ("basis = true", "basis = 1"),
        ('id = "Seniors"', 'id = "Elders"'),
        ('QAGE = "65-"', 'QAGE = "65-900"'),
    ],
)  # fmt: skip
def test_that_a_table_the_proofs_do_not_cover_is_left_out(library, of, by) -> None:
    name = f"T{zlib.crc32(f'{of}{by}'.encode())}"  # a table that was read stays as it was in this process
    content = SENIORS.replace("Seniors", name)
    assert of.replace("Seniors", name) in content
    (library / f"{name}.toml").write_text(content.replace(of.replace("Seniors", name), by))
    reread()
    assert name not in catalog.tables()
    assert any(refusal.name == f"{name}.toml" for refusal in refused("tables"))
    assert "Seniors" in catalog.tables()


def test_that_names_and_columns_are_those_of_the_data() -> None:
    small = np.dtype(np.uint8)
    for known, frame in ((catalog._PERSON_COLUMNS, SdhcPersons), (catalog._UNIT_COLUMNS, SdhcUnits)):
        names = {each.name.upper() for each in fields(frame) if frame.DTYPES[each.name] == small}
        assert known <= names


@pytest.mark.parametrize("name", ["PH9", "ph3", "Ph3x", "PH1"])
def test_that_names_of_production_are_not_taken(library, name) -> None:
    (library / f"{name}.toml").write_text(SENIORS.replace("Seniors", name))
    reread()
    assert set(catalog.tables()) - set(catalog.production_tables()) == {"Seniors", "Rented"}
    assert any(refusal.name == f"{name}.toml" for refusal in refused("tables"))
