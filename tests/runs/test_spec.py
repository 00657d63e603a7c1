from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from phexplore.data.provenance import PopulationMark, mark_file, write_provenance
from phexplore.model.conventions import Conventions
from phexplore.model.issues import InputProblemsError
from phexplore.model.keys import parse_query
from phexplore.model.scenario import Scenario
from phexplore.resources import resource
from phexplore.runs.spec import (
    DEMONSTRATION_BLOCKS,
    RunDataError,
    RunMode,
    RunSpec,
    RunSpecError,
    StopRule,
    data_of,
    decode_spec,
    describe_blocks,
    describe_data,
    encode_spec,
)
from phexplore.systems.registry import preset

Make = Callable[..., RunSpec]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"seed": None},
        {"mode": RunMode.NO_NOISE},
        {"mode": RunMode.NON_PRIVATE, "workers": 4},
        {"stop": StopRule(Fraction(1, 1000), 20), "trials": 10**6},
    ],
)
def test_that_a_specification_survives_its_file(make_spec: Make, changes: dict[str, object]) -> None:
    spec = make_spec(**changes)
    content = json.loads(json.dumps(encode_spec(spec)))
    assert decode_spec(content) == spec
    assert decode_spec(content).identity == spec.identity


def test_that_the_production_parameters_survive_the_file(make_spec: Make, us: Scenario) -> None:
    spec = make_spec(scenario=us)
    assert decode_spec(json.loads(json.dumps(encode_spec(spec)))).scenario.method.budgets == us.method.budgets


def test_that_whatever_decides_the_result_decides_the_identity(make_spec: Make, scenario: Scenario) -> None:
    query = parse_query("PH1_num/usa_*")
    richer = replace(scenario, method=replace(scenario.method, budgets={query: Fraction(1, 9)}))
    surer = replace(scenario, conventions=Conventions(confidence=Fraction(95, 100)))
    specs = [
        make_spec(),
        make_spec(trials=11),
        make_spec(seed=8),
        make_spec(seed=None),
        make_spec(mode=RunMode.NO_NOISE),
        make_spec(stop=StopRule(Fraction(1, 100))),
        make_spec(code_version="0.0.1"),
        make_spec(scenario=richer),
        make_spec(scenario=surer),
        make_spec(data=replace(make_spec().data, sha256="0" * 64)),
    ]
    assert len({spec.identity for spec in specs}) == len(specs)


def test_that_what_changes_no_number_changes_no_identity(make_spec: Make, scenario: Scenario) -> None:
    same = [
        make_spec(workers=5),
        make_spec(scenario=replace(scenario, name="another", note="text")),
        make_spec(data=replace(make_spec().data, path="/elsewhere")),
    ]
    assert {spec.identity for spec in same} == {make_spec().identity}


@pytest.mark.parametrize(
    "change",
    [
        {"trials": 99},
        {"seed": 8},
        {"mode": "no-noise"},
        {"code_version": "9"},
        {"stop": {"coverage_error": "0.1", "minimum_trials": 2}},
    ],
)
def test_that_an_altered_specification_is_refused(make_spec: Make, change: dict[str, object]) -> None:
    content = json.loads(json.dumps(encode_spec(make_spec()))) | change
    with pytest.raises(RunSpecError, match="altered"):
        decode_spec(content)


def test_that_an_altered_budget_is_refused(make_spec: Make) -> None:
    content = json.loads(json.dumps(encode_spec(make_spec())))
    content["scenario"]["method"]["budgets"]["PH1_num/usa_*"] = "0.2"
    with pytest.raises(RunSpecError, match="altered"):
        decode_spec(content)


@pytest.mark.parametrize("content", [{}, [], {"version": 1}, {"version": "x"}, None])
def test_that_something_else_is_no_specification(content: object) -> None:
    with pytest.raises(RunSpecError, match="not a run specification"):
        decode_spec(content)


def test_that_a_later_format_is_named(make_spec: Make) -> None:
    with pytest.raises(RunSpecError, match="newer version"):
        decode_spec(encode_spec(make_spec()) | {"version": 99})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"trials": 0}, "at least 1 trial, got 0"),
        ({"workers": 0}, "at least 1 worker, got 0"),
        ({"seed": -1}, "got -1"),
        ({"seed": 2**63}, "got 9223372036854775808"),
    ],
)
def test_that_impossible_values_are_refused(make_spec: Make, changes: dict[str, int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make_spec(**changes)


def test_that_a_stop_rule_has_limits() -> None:
    for error in (Fraction(0), Fraction(1)):
        with pytest.raises(ValueError, match=f"got {error}"):
            StopRule(error)
    with pytest.raises(ValueError, match="got 1"):
        StopRule(Fraction(1, 10), minimum_trials=1)


def test_that_only_noise_of_the_operating_system_is_fit_for_release(make_spec: Make) -> None:
    assert not make_spec().is_releasable
    assert make_spec(seed=None).is_releasable
    assert not make_spec(seed=None).is_reproducible
    exact = make_spec(seed=None, mode=RunMode.NO_NOISE)
    assert exact.is_reproducible
    assert not exact.is_releasable


def test_that_more_trials_extend_a_run_and_fewer_do_not(make_spec: Make) -> None:
    assert make_spec(trials=20).extends(make_spec())
    assert make_spec(trials=20, stop=StopRule(Fraction(1, 100))).extends(make_spec())
    assert not make_spec(trials=9).extends(make_spec())
    assert not make_spec(trials=20, seed=8).extends(make_spec())


class TestData:
    def test_that_the_hash_follows_the_content_and_not_the_place(self, data: Path, tmp_path: Path) -> None:
        first = describe_data(data)
        moved = data.rename(tmp_path / "moved")
        assert describe_data(moved).sha256 == first.sha256
        (moved / "persons.csv").write_text("changed\n")
        assert describe_data(moved).sha256 != first.sha256

    def test_that_contents_cannot_trade_places(self, data: Path) -> None:
        first = describe_data(data)
        (data / "persons.csv").write_text("units\n")
        (data / "units.csv").write_text("persons\n")
        assert describe_data(data).sha256 != first.sha256

    def test_that_files_the_readers_pass_over_do_not_count(self, data: Path) -> None:
        first = describe_data(data)
        (data / "notes.txt").write_text("remember the milk\n")
        assert describe_data(data) == first

    def test_that_progress_ends_at_the_size(self, data: Path) -> None:
        seen: list[tuple[int, int]] = []
        found = describe_data(data, on_progress=lambda done, total: seen.append((done, total)))
        assert seen[-1] == (found.size_bytes, found.size_bytes)

    def test_that_changed_data_is_refused(self, data: Path) -> None:
        source = describe_data(data)
        source.verify()
        (data / "geo.csv").write_text("other\n")
        with pytest.raises(RunDataError, match="has changed"):
            source.verify()

    def test_that_missing_data_is_refused(self, data: Path) -> None:
        source = describe_data(data)
        (data / "geo.csv").unlink()
        with pytest.raises(InputProblemsError, match=r"geo\.csv is missing"):
            source.verify()

    def test_that_only_a_mark_of_these_very_files_makes_data_synthetic(self, data: Path) -> None:
        assert not describe_data(data).provenance.is_synthetic
        marks = {f"{name}.csv": mark_file(data / f"{name}.csv", 1) for name in ("persons", "units", "geo")}
        mark = PopulationMark("synthetic-population", "test", True, 1, ("44",), (), (), "made up", {}, marks)
        write_provenance(data, mark)
        assert describe_data(data).provenance.is_synthetic
        (data / "persons.csv").write_text("confidential\n")
        assert not describe_data(data).provenance.is_synthetic


@pytest.mark.parametrize("name", ["pl94-2020-persons-us", "group-sizes-census-2010", "counties-invariant-2010"])
def test_that_every_method_has_shipped_data(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shipped = data_of(preset(name).scenario, Path("demo"))
    assert Path(shipped.path).is_file()
    (tmp_path / "demo").write_text("a file of the user goes first")
    assert data_of(preset(name).scenario, Path("demo")).path == str(tmp_path / "demo")


def test_that_the_demonstration_of_a_run_is_found_where_the_program_is_now(tmp_path) -> None:
    here = resource(DEMONSTRATION_BLOCKS)
    made = describe_blocks(here)
    moved = replace(made, path=str(tmp_path / "phexplore-1" / "resources" / DEMONSTRATION_BLOCKS))
    assert moved.place == here
    moved.verify()
    other = replace(moved, size_bytes=made.size_bytes + 1)  # of a version with other blocks
    assert other.place == Path(other.path)
    own = replace(made, path=str(tmp_path / "blocks.csv.gz"))
    assert own.place == Path(own.path)
