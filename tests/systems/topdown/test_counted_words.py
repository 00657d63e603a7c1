"""What counts housing units never says people: sentences, axes, tables and refusals of a unit schema."""

from __future__ import annotations

import io
from dataclasses import fields, replace
from datetime import UTC, datetime
from fractions import Fraction

import openpyxl
import pytest

from phexplore.accuracy.solving_conflict import InfeasibleError
from phexplore.accuracy.solving_separable import solve
from phexplore.model.edits import EditRefusedError
from phexplore.model.goals import Cap, CapOn, Goals
from phexplore.model.topdown import LevelQuery
from phexplore.spine.settings import SpineSettings
from phexplore.systems.registry import budgets_of, preset
from phexplore.systems.topdown.budget_model import TopDownBudgets
from phexplore.systems.topdown.share_edits import share_for_margin
from phexplore.systems.topdown.solving_spine import on_spine
from phexplore.systems.topdown.spine_pictures import map_words, margin_rows
from phexplore.systems.topdown.spine_reader import SpineReader
from phexplore.systems.topdown.spine_tree import ROOT, SpineTree
from phexplore.systems.topdown.spine_views import MapColour, SpineMap, SpineRequest, SpineStyle, SpineTab
from phexplore.systems.topdown.uniform_spine import uniform_spine
from phexplore.systems.topdown.wording import counted
from phexplore.systems.topdown.workbook import topdown_xlsx

SCENARIO = preset("pl94-2020-units-us").scenario
COUNTED = "housing units"
TRACT = LevelQuery("Tract", "detailed")


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """Ask about two tracts of a county in Rhode Island, whose blocks lie in two places."""
    path = tmp_path_factory.mktemp("blocks") / "small.csv"
    codes = [f"44007{tract:06d}{1000 + block}" for tract in (100, 200) for block in range(12)]
    rows = [f"{code},{59000 if int(code[-4:]) % 2 else 14140}" for code in codes]
    path.write_text("\n".join(["geoid,place", *rows]) + "\n", "utf-8")
    reader = SpineReader()

    def answer(tab, **look):
        style = SpineStyle(tab, **look)
        request = SpineRequest(path, SCENARIO.topdown, SCENARIO.conventions, SpineSettings(), "standard spine", style)
        return reader.answer(request, lambda _progress: None).content

    return answer


def confirm(words):
    assert COUNTED in words
    assert "people" not in words


@pytest.mark.parametrize(
    "look", [{"tab": SpineTab.MARGINS, "name": "place"}, {"tab": SpineTab.LEVELS, "query": "detailed"}]
)
def test_that_margins_of_areas_and_levels_are_in_what_is_counted(ask, look):
    content = ask(**look)
    confirm(content.finding)
    figure = margin_rows(content, "this spine", "standard spine")
    parts = [str(getattr(figure, each.name)) for each in fields(figure)]
    assert sum(f", {COUNTED}" in part for part in parts) >= 2  # axis and table
    assert not any("people" in part for part in parts)


def test_that_a_unit_of_the_spine_has_its_margin_in_what_is_counted(ask):
    content = ask(SpineTab.TREE)  # whose totals are exact: let them not be
    levels = tuple(replace(level, variance=level.variance + 4) for level in content.levels)
    tree = SpineTree(replace(content, levels=levels))
    confirm(tree.sentence(ROOT))
    confirm(tree.path_numbers(ROOT).headers[-1])


def test_that_a_map_of_margins_has_the_unit_of_the_scenario(ask):
    empty = SpineMap("Tract", MapColour.MARGIN, "", None, (), ask(SpineTab.LEVELS).this[:0], 0, "", None, unit=COUNTED)
    assert map_words(empty)[0] == COUNTED


def test_that_a_record_of_either_kind_has_its_plural():
    assert counted("dhc_units") == "housing units or group-quarters facilities"


def test_that_an_impossible_margin_is_refused_in_what_is_counted():
    method = SCENARIO.topdown
    for margin in (Fraction(0), Fraction(1, 10**9)):
        with pytest.raises(EditRefusedError) as caught:
            share_for_margin(method, TRACT, margin, SCENARIO.conventions)
        confirm(caught.value.sentence)


def test_that_the_noise_in_a_workbook_is_in_what_is_counted():
    sheet = openpyxl.load_workbook(io.BytesIO(topdown_xlsx(SCENARIO, datetime(2026, 1, 2, tzinfo=UTC))))["Budgets"]
    assert f"Noise scale ({COUNTED})" in {cell.value for row in sheet.iter_rows() for cell in row}


@pytest.mark.parametrize("is_on_spine", [False, True])
def test_that_targets_in_conflict_are_in_what_is_counted(is_on_spine):
    goals = Goals(margins={TRACT: Fraction(2)}, caps=(Cap(CapOn.BOUNDED, Fraction(1, 10**4)),))
    joint = on_spine(TopDownBudgets(SCENARIO), uniform_spine(SCENARIO.topdown)) if is_on_spine else None
    with pytest.raises(InfeasibleError) as caught:
        solve(budgets_of(SCENARIO), goals, joint=joint)
    confirm(" ".join((caught.value.sentence, *(way.text for way in caught.value.relaxations))))
