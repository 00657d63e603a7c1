from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import pytest
from extreme_numbers import extreme_numbers

from phexplore.document import soundness
from phexplore.document.project import Project
from phexplore.document.soundness import is_ordinary, require_figures
from phexplore.errors import PhexploreError
from phexplore.files.journal import journal_path
from phexplore.files.project_file import LoggedStep, ProjectContent, write_project
from phexplore.model.conventions import MarginConvention
from phexplore.model.edits import set_field
from phexplore.model.goal_edits import with_cap, with_floors, with_margins
from phexplore.model.goals import Cap, CapOn, Goals
from phexplore.model.issues import InputProblemsError
from phexplore.model.keys import parse_query
from phexplore.model.numbers import parse_budget, parse_exact
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.topdown import LevelQuery
from phexplore.model.workbook import Workbook, activate, add_scenario, set_goals
from phexplore.systems.group_sizes.edits import set_size_levels, set_size_share
from phexplore.systems.phsafe.budget_edits import Keep, edit_margin, edit_threshold
from phexplore.systems.phsafe.edits import set_budget, set_target, set_threshold
from phexplore.systems.registry import check, preset
from phexplore.systems.subspace.edits import set_release_share
from phexplore.systems.topdown.edits import add_query, set_level_share, set_query_share

QUERY = parse_query("PH3/state_A-G")
OTHER = parse_query("PH2/usa_*")


@pytest.fixture
def opened():
    """Open projects, and close them when the test ends."""
    projects: list[Project] = []

    def take(made: Project) -> Project:
        projects.append(made)
        return made

    yield take
    for project in projects:
        project.close()


def _exact(text: str) -> Fraction:
    return parse_exact(text)


def _whole(text: str) -> int:
    value = parse_exact(text)
    if value.denominator != 1:
        raise ValueError(f"a whole number, got {text}")
    return value.numerator


def _convention(field: str) -> Callable:
    return lambda s, text: set_field(s, "conventions", replace(s.conventions, **{field: _exact(text)}))


CONVENTIONS = {name: _convention(name) for name in ("z", "confidence", "rounding_step", "delta")}
FIELDS = {
    "sdhc-2020-us": {
        "budget": lambda s, text: set_budget(s, QUERY, parse_budget(text)),
        "target": lambda s, text: set_target(s, QUERY, _exact(text)),
        "margin": lambda s, text: edit_margin(s, QUERY, _exact(text)),
        "threshold": lambda s, text: set_threshold(s, QUERY.table, _whole(text)),
        "threshold, margins kept": lambda s, text: edit_threshold(s, QUERY.table, _whole(text), Keep.MARGINS),
        **CONVENTIONS,
    },
    "pl94-2020-persons-us": {
        "total": lambda s, text: set_field(s, "total", _exact(text)),
        "level share": lambda s, text: set_level_share(s, "State", _exact(text)),
        "query share": lambda s, text: set_query_share(s, LevelQuery("State", "total"), _exact(text)),
        "new query": lambda s, text: add_query(s, LevelQuery("State", "hispanic"), _exact(text)),
        **CONVENTIONS,
    },
    "group-sizes-census-2010": {
        "total": lambda s, text: set_field(s, "total", _exact(text)),
        "share": lambda s, text: set_size_share(s, s.group_sizes.levels[1], _exact(text)),
        "largest size": lambda s, text: set_field(s, "largest", _whole(text)),
        "largest quantity": lambda s, text: set_field(s, "largest_quantity", _whole(text)),
        "regions": lambda s, text: set_size_levels(
            s, s.group_sizes.levels, (*s.group_sizes.regions[:-1], _whole(text))
        ),
        **CONVENTIONS,
    },
    "counties-invariant-2010": {
        "epsilon": lambda s, text: set_field(s, "epsilon", _exact(text)),
        "delta": lambda s, text: set_field(s, "delta", _exact(text)),
        "share": lambda s, text: set_release_share(s, next(iter(s.subspace.releases)), _exact(text)),
        **CONVENTIONS,
    },
}
SYSTEMS = [(name, field) for name, fields in FIELDS.items() for field in fields]


@pytest.fixture
def workbook(us):
    return Workbook((us,), us.name, "sdhc-2020-us")


def _state(project: Project) -> tuple:
    journal = journal_path(project.path).read_bytes() if project.path else b""
    return project.workbook, project.labels, project.cursor, journal


def _written_around_the_edits(path, *workbooks) -> None:
    """Write a project as an earlier version of the program could: with steps that have no figures."""
    steps = tuple(LoggedStep(f"Step {number}", "", each) for number, each in enumerate(workbooks))
    path.write_bytes(write_project(ProjectContent(steps, len(steps) - 1)))


def _with_budget(workbook, query, budget):
    scenario = workbook.scenarios[0]
    method = replace(scenario.method, budgets={**scenario.method.budgets, query: budget})
    return replace(workbook, scenarios=(replace(scenario, method=method), *workbook.scenarios[1:]))


@pytest.mark.defect("F4")
@pytest.mark.parametrize(
    "edit",
    [
        lambda s: edit_margin(s, QUERY, Fraction(1, 10**15)),
        lambda s: edit_margin(s, QUERY, Fraction(1, 10**4000)),
        lambda s: set_field(s, "conventions", replace(s.conventions, confidence=1 - Fraction(1, 10**19))),
        lambda s: set_field(s, "conventions", replace(s.conventions, z=Fraction(10**400))),
        lambda s: set_budget(s, QUERY, Fraction(10**40)),
    ],
)
def test_that_a_refused_edit_leaves_version_history_journal_and_file(tmp_path, opened, workbook, edit):
    project = opened(Project.new(workbook))
    project.save(tmp_path / "a.phx")
    project.edit("Good", lambda s: edit_margin(s, QUERY, Fraction(25)))
    before, file = _state(project), (tmp_path / "a.phx").read_bytes()
    with pytest.raises(PhexploreError) as refused:
        project.edit("Bad", edit)
    assert refused.value.sentence.strip()
    assert _state(project) == before
    assert (tmp_path / "a.phx").read_bytes() == file
    project.undo()
    project.redo()
    project.save()
    project.close()
    assert opened(Project.open(tmp_path / "a.phx")).workbook == before[0]


@pytest.mark.defect("F4")
def test_that_a_project_begins_with_parameters_that_have_figures(opened, workbook):
    with pytest.raises(PhexploreError, match="out of range"):
        Project.new(_with_budget(workbook, QUERY, Fraction(10**40)))


@pytest.mark.defect("F4")
def test_that_an_imported_scenario_without_figures_is_refused(opened, workbook, us):
    project = opened(Project.new(workbook))
    bad = _with_budget(workbook, QUERY, Fraction(10**40)).scenario
    with pytest.raises(PhexploreError, match="out of range"):
        project.edit_workbook("Import", lambda book: add_scenario(book, bad))
    assert project.workbook == workbook


@pytest.mark.defect("F4")
def test_that_a_file_with_such_a_value_opens_with_the_place_named_and_the_rest_kept(tmp_path, opened, workbook):
    bad = _with_budget(workbook, QUERY, Fraction(65 * 10**31))
    later = _with_budget(bad, OTHER, Fraction(1, 100))
    path = tmp_path / "a.phx"
    _written_around_the_edits(path, workbook, bad, later)
    project = opened(Project.open(path))
    assert project.scenario.method.budgets[QUERY] == workbook.scenario.method.budgets[QUERY]
    assert project.scenario.method.budgets[OTHER] == Fraction(1, 100)
    assert [issue.path[-1] for issue in project.issues] == ["budget PH3/state_A-G"]
    assert not project.is_clean
    assert project.labels[:3] == ("Step 0", "Step 1", "Step 2")
    project.undo()  # the two steps without figures are passed over
    assert project.workbook == workbook
    with pytest.raises(PhexploreError, match="out of range"):
        project.go_to(1)
    assert project.cursor == 0
    project.redo()
    project.save()
    project.close()
    again = opened(Project.open(path))
    assert (again.issues, again.scenario.method.budgets[OTHER]) == ((), Fraction(1, 100))


@pytest.mark.defect("F4")
def test_that_a_damaged_scenario_does_not_take_the_others_with_it(tmp_path, opened, workbook, us):
    stranger = replace(_with_budget(workbook, QUERY, Fraction(10**40)).scenario, name="Bad", baseline="")
    both = activate(add_scenario(workbook, stranger), "Bad")
    _written_around_the_edits(tmp_path / "a.phx", both)
    project = opened(Project.open(tmp_path / "a.phx"))
    assert project.workbook.names == (us.name,)
    assert "'Bad'" in project.issues[0].sentence
    _written_around_the_edits(tmp_path / "b.phx", Workbook((stranger,), "Bad"))
    with pytest.raises(InputProblemsError, match="'Bad' cannot be computed"):
        opened(Project.open(tmp_path / "b.phx"))


@pytest.mark.defect("F4")
@pytest.mark.parametrize(("name", "field"), SYSTEMS)
@pytest.mark.parametrize("variant", ["as it is", "exact margins", "other privacy definition"])
def test_that_every_extreme_number_is_refused_or_can_be_kept(tmp_path, opened, name, field, variant):
    project = opened(
        Project.new(Workbook((_variant(preset(name).scenario, variant),), preset(name).scenario.name, name))
    )
    project.save(tmp_path / "a.phx")
    for number in extreme_numbers(12, seed=len(name + field + variant)):
        before = _state(project)
        refused = None
        try:
            changed = project.edit("Edit", lambda s, text=number: FIELDS[name][field](s, text))
        except (PhexploreError, ValueError) as error:  # a ValueError is what a field says of a text it cannot read
            refused = error
        if refused is not None:
            assert str(refused).strip()
            assert _state(project) == before
        elif changed:
            assert all(issue.sentence for issue in check(project.scenario))
            project.save()
            reread = json.loads((tmp_path / "a.phx").read_bytes())
            assert reread["cursor"] == project.cursor
            project.undo()
    project.save()
    kept = project.workbook, project.labels
    project.close()
    again = opened(Project.open(tmp_path / "a.phx"))
    assert (again.workbook, again.labels, again.issues) == (*kept, ())
    for step in again.steps:
        require_figures(step.value.scenario)


def _variant(scenario, variant):
    match variant:
        case "exact margins":
            return set_field(scenario, "conventions", replace(scenario.conventions, margin=MarginConvention.EXACT))
        case "other privacy definition" if hasattr(scenario.method, "framework"):
            other = next(each for each in PrivacyFramework if each is not scenario.method.framework)
            return replace(scenario, method=replace(scenario.method, framework=other))
        case _:
            return scenario


@pytest.mark.defect("F4")
def test_that_goals_take_extreme_numbers_or_refuse_them(tmp_path, opened, workbook):
    project = opened(Project.new(workbook))
    edits = (
        lambda goals, text: with_margins(goals, {QUERY: _exact(text)}),
        lambda goals, text: with_floors(goals, {QUERY: _exact(text)}),
        lambda goals, text: with_cap(goals, Cap(CapOn.UNBOUNDED, _exact(text))),
        lambda goals, text: with_cap(goals, Cap(CapOn.EPSILON, _exact(text))),
    )
    for edit in edits:
        for number in extreme_numbers(20):
            with suppress(PhexploreError, ValueError):
                goals = edit(Goals(), number)
                project.edit_workbook("Ask", lambda book, asked=goals: set_goals(book, "phsafe", asked))
    project.save(tmp_path / "a.phx")
    kept = project.workbook
    project.close()
    assert opened(Project.open(tmp_path / "a.phx")).workbook == kept


@pytest.mark.defect("F9")
def test_that_a_budget_of_a_table_that_is_none_is_left_out_with_its_name(tmp_path, opened, workbook):
    project = Project.new(workbook)
    project.save(tmp_path / "a.phx")
    project.close()
    content = json.loads((tmp_path / "a.phx").read_bytes())
    text = json.dumps(content).replace("PH1_denom/", "PH0_denom/")
    (tmp_path / "a.phx").write_text(text)
    project = opened(Project.open(tmp_path / "a.phx"))
    assert any("PH0_denom" in issue.sentence for issue in project.issues)
    assert set(project.scenario.method.budgets) < set(workbook.scenario.method.budgets)


@pytest.mark.parametrize("framework", PrivacyFramework)
@pytest.mark.parametrize("power", [-19, 19])
@pytest.mark.parametrize("people", [1, 10_000])
@pytest.mark.parametrize(
    "conventions",
    [
        {"confidence": Fraction(1, 100), "z": Fraction(1, 100), "delta": Fraction(1, 2)},
        {"confidence": 1 - Fraction(1, 10**6), "z": Fraction(100), "delta": Fraction(1, 10**30)},
    ],
)
def test_that_all_figures_of_ordinary_parameters_can_be_computed(us, framework, power, people, conventions):
    budget = Fraction(3**70, 2**110) * Fraction(2) ** power if power < 0 else Fraction(2) ** (power - 1)
    method = replace(
        us.phsafe,
        budgets=dict.fromkeys(us.phsafe.budgets, budget),
        thresholds=dict.fromkeys(us.phsafe.thresholds, people),
        framework=framework,
    )
    scenario = replace(us, method=method, conventions=replace(us.conventions, **conventions))
    assert is_ordinary(scenario)
    require_figures(scenario)


@pytest.mark.parametrize(
    "unusual",
    [
        lambda s: set_budget(s, QUERY, Fraction(10**12)),
        lambda s: set_budget(s, QUERY, Fraction(1, 10**12)),
        lambda s: set_threshold(s, QUERY.table, 10_001),
        lambda s: set_field(s, "conventions", replace(s.conventions, confidence=1 - Fraction(1, 10**12))),
        lambda s: set_field(s, "conventions", replace(s.conventions, z=Fraction(10**60))),
        lambda s: replace(s, method=replace(s.phsafe, budgets={QUERY: Fraction(1)})),
        lambda s: replace(s, method=replace(s.phsafe, thresholds={})),
    ],
)
def test_that_unusual_parameters_are_computed_before_they_are_believed(us, unusual):
    assert is_ordinary(us)
    assert not is_ordinary(unusual(us))


def test_that_opening_computes_only_what_is_shown_or_unusual(tmp_path, opened, us, monkeypatch):
    scenarios = [replace(us, name=f"Scenario {number}") for number in range(5)]
    scenarios[3] = set_budget(scenarios[3], QUERY, Fraction(10**12))
    path = tmp_path / "a.phx"
    _written_around_the_edits(path, Workbook(tuple(scenarios), "Scenario 1"))
    computed = []
    monkeypatch.setattr(soundness, "require_figures", lambda scenario: computed.append(scenario.name))
    opened(Project.open(path))
    assert computed == ["Scenario 1", "Scenario 3"]
