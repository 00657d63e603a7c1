"""A file says what it has no place for: exactly what an import of it does not give back."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore import load
from phexplore.cli.app import run
from phexplore.decide.scenario_export import export_files
from phexplore.errors import ExportError, PhexploreError
from phexplore.model.comment import Comment
from phexplore.model.conventions import Conventions
from phexplore.model.fields import declared_fields
from phexplore.systems.parameter_files import parameters_in
from phexplore.systems.registry import formats_of, preset, presets, system_of, systems

_NOW = "2026-07-01T12:00:00+00:00"
_NOTHING = ("parameters that can be imported",)
_PRESETS = list(presets())


def _edited(scenario):
    """Return a scenario that has something in every part which anybody can fill."""
    comments = tuple(Comment(f"{number}; see the MOE memo", "Ann", _NOW) for number in range(3))
    method, more = scenario.method, {}
    if hasattr(method, "locks"):
        more = {"locks": frozenset(list(method.budgets)[:2]), "reader": "cef"}
    if hasattr(method, "locked_levels"):
        more = {"locked_levels": frozenset(method.levels[:1])}
    if hasattr(method, "spine"):
        more["spine"] = replace(method.spine, kind="aian")
    conventions = Conventions(delta=Fraction(1, 10**9))
    note = "two lines:\nthe second"
    return replace(
        scenario,
        name="Ballot A-G",
        note=note,
        comments=comments,
        conventions=conventions,
        method=replace(method, **more),
    )


def _formats(system):
    own = [system.handover.format] if system.handover else []
    return [*own, *(form.id for form in formats_of(system).values() if not form.is_report)]


_CASES = [
    (id_, form, edit)
    for id_ in _PRESETS
    for form in _formats(system_of(presets()[id_].scenario))
    for edit in (lambda scenario: scenario, _edited)
]


def _backs(system, path):
    if path.suffix == ".csv" and system.read_table:
        return [system.read_table(path, each.scenario) for each in system.presets().values()]
    return [parameters_in(systems(), path)[0]]


def _says_spines(scenario, folder):
    try:
        export_files(scenario, "das-ini", folder / "tried")
    except ExportError as error:
        return "would change spine" not in error.sentence
    return True


@pytest.mark.parametrize(("id_", "form", "edit"), _CASES)
def test_that_what_a_round_trip_loses_is_what_is_said(id_, form, edit, tmp_path) -> None:
    scenario = edit(preset(id_).scenario)
    system = system_of(scenario)
    if form == "das-ini" and edit is _edited and not _says_spines(scenario, tmp_path):
        return  # what production cannot say is refused, not left out
    made = export_files(scenario, form, tmp_path)
    if made.left_out == _NOTHING:
        assert form in {"deployments-registry", "csv", "group-sizes-csv", "subspace-csv"}
        with pytest.raises(PhexploreError):
            _backs(system, made.files[0])
        return
    lost = set()
    for back in _backs(system, made.files[0]):
        for mine, its in ((scenario, back), (scenario.method, back.method)):
            for part in declared_fields(type(mine)):
                value, other = getattr(mine, part.name), getattr(its, part.name)
                if part.name in {"method", "source_text"} or value == other:
                    continue
                if part.kind.keys is None:
                    lost.add("3 comments" if part.name == "comments" else part.phrase)
                else:
                    missing = [
                        key for key in value if key not in other or (hasattr(value, "get") and other[key] != value[key])
                    ]
                    lost |= {f"{len(missing)} {part.word}" + ("" if len(missing) == 1 else "s")} if missing else set()
    assert set(made.left_out) == lost
    assert len(made.left_out) == len(lost)


def test_that_the_shipped_targets_and_what_people_wrote_are_named(tmp_path) -> None:
    us = _edited(preset("sdhc-2020-us").scenario)
    assert export_files(us, "phsafe-config", tmp_path).left_out == (
        "the name",
        "the conventions",
        "the note",
        "the preset it started from",
        "3 comments",
        "46 targets",
        "2 locks",
    )
    assert export_files(us, "xlsx", tmp_path).left_out == ("3 comments", "2 locks")
    sizes = _edited(preset("group-sizes-census-2010").scenario)
    assert export_files(sizes, "group-sizes-json", tmp_path).left_out == ()


def test_that_a_copy_of_an_imported_file_has_its_layout(tmp_path) -> None:
    path = export_files(preset("sdhc-2020-us").scenario, "phsafe-config", tmp_path).files[0]
    back = parameters_in(systems(), path)[0]
    assert export_files(back, "phsafe-config", tmp_path / "config.json").left_out == ()
    assert export_files(back, "xlsx", tmp_path / "table.xlsx").left_out == ("the layout of the imported file",)


def test_that_the_command_line_says_it_for_people_and_programs(tmp_path, capsys) -> None:
    asked = ["export", "sdhc-2020-us", "--format", "phsafe-config", "--out", str(tmp_path / "config.json"), "--json"]
    assert run(asked) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["left_out"] == ["the name", "the preset it started from", "46 targets"]
    assert "config.json cannot contain: the name, the preset it started from, 46 targets." in said.err


def test_that_python_says_it_in_its_log(tmp_path, caplog) -> None:
    assert load("sdhc-2020-us").export("phsafe-config", tmp_path / "config.json") == [tmp_path / "config.json"]
    assert [record.name for record in caplog.records] == ["phexplore"]
    assert "config.json cannot contain: the name, the preset it started from, 46 targets" in caplog.text
