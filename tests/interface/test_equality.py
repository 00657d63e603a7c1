"""Every number that a command prints with --json is the number that Python gives."""

from __future__ import annotations

import copy
import json
from fractions import Fraction

import pytest

import phexplore as px
from phexplore.cli.app import run as command
from phexplore.model.numbers import exact_text

SDHC, PERSONS = "sdhc-2020-us", "pl94-2020-persons-us"


@pytest.fixture
def printed(capsys):
    """What a command prints with --json."""

    def call(*arguments):
        status = command([*map(str, arguments), "--json"])
        said = capsys.readouterr()
        assert status == 0, said.err
        return json.loads(said.out)

    return call


@pytest.fixture(scope="module")
def blocks(tmp_path_factory):
    return px.synth("pl94", 300, tmp_path_factory.mktemp("blocks") / "blocks.csv", seed=1)


@pytest.mark.parametrize(
    ("preset", "targets", "caps", "spend"),
    [
        (SDHC, {}, {}, False),
        (SDHC, {"PH3/state_A-G": 25, "PH2/usa_*": 400}, {"rho": 3}, True),
        (PERSONS, {"County/total": 4, "Block/total": 60}, {}, False),
    ],
)
def test_solving(preset, targets, caps, spend, printed, tmp_path) -> None:
    path, extra = tmp_path / "t.json", []
    if targets:
        path.write_text(json.dumps({"targets": {place: str(value) for place, value in targets.items()}}))
        extra = ["--targets", path]
    for on, limit in caps.items():
        extra += [f"--cap-{on}", limit]
    found = printed("solve", preset, *extra, *(["--spend"] if spend else []))
    solved = px.solve(preset, targets or None, caps=caps or None, spend=spend)
    own = json.loads(json.dumps(solved.forecast().json()))
    assert [cell["rho"] for cell in found["cells"]] == [cell["rho"] for cell in own["cells"]]
    assert [cell["moe"] for cell in found["cells"]] == [cell["moe"] for cell in own["cells"]]
    assert found["privacy"] == own["privacy"]


def test_comparing(printed, tmp_path) -> None:
    first = px.load(SDHC)
    other = first.set({"budget PH3/state_A-G": "0.02", "threshold PH2": 8})
    path = other.save(tmp_path / "other.phx")
    rules = tmp_path / "rules.json"
    rules.write_text('{"rules": [{"measure": "epsilon", "at_most": "16.9"}]}')
    found = printed("compare", SDHC, path, "--rules", rules)
    frame = px.compare(SDHC, path, rules=rules)
    names = [column["name"] for column in found["columns"]]
    assert list(frame.columns)[2:] == names

    def rows(kind):
        return frame[frame.kind == kind][names].to_numpy().tolist()

    assert rows("total") == [[Fraction(column["total"]) for column in found["columns"]]]
    assert rows("parameter") == [row["values"] for row in found["parameters"]]
    assert rows("margin") == [row["values"] for row in found["effects"]]
    assert rows("rule") == [[each["outcome"] for each in row["verdicts"]] for row in found["rules"]]


@pytest.mark.parametrize("preset", [SDHC, PERSONS])
def test_trading_off(preset, printed) -> None:
    found = printed("frontier", preset)["points"]
    frame = px.frontier(preset)
    assert [exact_text(total) for total in frame.exact] == [each["total"] for each in found]
    assert frame.epsilon.tolist() == [each["epsilon"] for each in found]
    assert frame.weighted_margin.tolist() == [each["weighted_margin"] for each in found]


def test_spines(blocks, printed, tmp_path) -> None:
    path = tmp_path / "a.spine"
    built = printed("spine", "build", blocks, "--preset", "pl94-2020", "--out", path)
    spine = px.Spine.build(blocks, "pl94-2020")
    assert json.loads(json.dumps(spine.describe())) == built == printed("spine", "describe", path)
    for fit in ("at-once", "top-down"):
        stated = printed("spine", "variance", path, PERSONS, "--queries", "total,hispanic", "--fit", fit)
        frame = spine.margins(PERSONS, queries=["total", "hispanic"], fit=fit)
        answers = [
            (level["level"], query["query"], answer)
            for level in stated["levels"]
            for query in level["queries"]
            for answer in query["answers"]
        ]
        assert [(row.level, row.query) for row in frame.itertuples()] == [each[:2] for each in answers]
        assert frame.moe_mean.tolist() == [answer["moe"]["mean"] for _, _, answer in answers]


def test_measurements_and_published_confidence(blocks, printed, tmp_path) -> None:
    run = px.run(PERSONS, blocks, out=tmp_path / "r", seed=1, keep_measurements="nmf", progress=False)
    kept = px.measurements(run.directory, "Tract")
    stated = printed("measurements", "describe", run.directory)
    tract = next(each for each in stated["products"][0]["levels"] if each["level"] == "Tract")
    assert (len(kept), int((kept.value < 0).sum())) == (tract["answers"], tract["negative"])


@pytest.mark.parametrize(
    ("preset", "study", "arguments", "asked"),
    [
        (SDHC, "truncation", ["truncation", SDHC, "--query", "PH3/state_A-G", "--state", "44"],
         {"query": "PH3/state_A-G", "state": "44"}),
        ("counties-invariant-2010", "bases", ["subspace", "bases", "--cells", "20"], {"cells": 20}),
        (PERSONS, "confidence", ["published", "confidence"], {}),
    ],
)  # fmt: skip
def test_studies(preset, study, arguments, asked, printed) -> None:
    found = px.load(preset).study(study, **asked)
    assert json.loads(json.dumps(found.found)) == printed(*arguments)
    assert found.figures


def test_published_files(real_data, printed) -> None:
    files = sorted((real_data / "published").rglob("*"))
    checked = set()
    for path in files:
        if path.is_dir() or path.suffix in {".md", ".txt"}:
            continue
        try:
            data = px.read(path)
        except px.PhexploreError:
            continue
        if data.kind in checked or data.kind == "sdhc":
            continue
        checked.add(data.kind)
        assert json.loads(json.dumps(data.describe())) == printed("data", "describe", path), path
        if path.name.startswith("header_only"):
            checked.remove(data.kind)
            with pytest.raises(px.PhexploreError):
                data.errors()
        elif data.kind == "nhgis-demonstration":
            with pytest.raises(px.PhexploreError):
                data.to_frame("nothing")
            study = data.errors()
            assert json.loads(json.dumps(study.found)) == printed("published", "errors", path)
            assert study.table().shape[0] == len(study.found["levels"])
        if data.kind == "amc-replicates":
            assert json.loads(json.dumps(data.confidence().found)) == printed("published", "confidence", path)
    assert {"nhgis-demonstration"} <= checked


def test_that_a_scenario_takes_no_assignment() -> None:
    scenario = px.load("sdhc-2020-us")
    other = px.load("sdhc-2020-pr")
    for change in (lambda: setattr(scenario, "value", other.value), lambda: delattr(scenario, "value")):
        with pytest.raises(px.PhexploreError, match="never changes") as caught:
            change()
        assert isinstance(caught.value, AttributeError)
        assert "set(" in caught.value.remedy
    assert scenario == px.load("sdhc-2020-us")
    assert copy.copy(scenario) == scenario
