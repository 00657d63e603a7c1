"""What the explorer of spines is told: known answers on Rhode Island, small and broken files, budgets that move."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from phexplore.catalog.names import Naming, called
from phexplore.data.blocks.generator import synthesize_states, write_block_file
from phexplore.errors import PhexploreError
from phexplore.model.phsafe import PrivacyFramework
from phexplore.spine.building import build_spine
from phexplore.spine.geography_reading import read_geography
from phexplore.spine.settings import SpineSettings, changed_choice, settings_of, spine_preset
from phexplore.spine.spine_file import write_spine
from phexplore.systems.registry import preset
from phexplore.systems.topdown.edits import set_level_share
from phexplore.systems.topdown.spine_forecast import Fit
from phexplore.systems.topdown.spine_pictures import figure_of, map_picture, margin_rows
from phexplore.systems.topdown.spine_reader import SpineReader
from phexplore.systems.topdown.spine_tree import ROOT, SpineTree, Unit, tree_figure
from phexplore.systems.topdown.spine_views import (
    BlocksRefused,
    BypassContent,
    Impossible,
    MapColour,
    SpineMap,
    SpineRequest,
    SpineStyle,
    SpineTab,
)

SCENARIO = preset("pl94-2020-persons-us").scenario
STANDARD = SpineSettings()


def asked(path, method=SCENARIO.topdown, tab=SpineTab.DISTANCE, other=STANDARD, **look):
    return SpineRequest(path, method, SCENARIO.conventions, other, "standard spine", SpineStyle(tab, **look))


def with_spine(method=SCENARIO.topdown, **changes):
    return replace(method, spine=changed_choice(method.spine, replace(settings_of(method.spine), **changes)))


@pytest.fixture(scope="module")
def reader():
    return SpineReader()


@pytest.fixture(scope="module")
def ask(reader):
    def answer(path, *args, **kwargs):
        return reader.answer(asked(path, *args, **kwargs), lambda _progress: None)

    return answer


@pytest.fixture(scope="module")
def rhode_island(real_data):
    return real_data / "blocks" / "pl94_ri_2010_blocks.csv.gz"


@pytest.fixture
def small(tmp_path):
    """Two counties, places that cut tracts; 07 is no code of a place's length but of the block's county."""
    path = tmp_path / "small.csv"
    rows = ["geoid,place,cousub"]
    for county in (1, 3):
        for tract in (100, 200):
            rows += [
                f"06{county:03d}{tract:06d}{1000 + block:04d},{(f'{block % 3:05d}' if block % 3 else '')},{county:05d}"
                for block in range(40)
            ]
    path.write_text("\n".join(rows) + "\n", "utf-8")
    return path


def test_that_targeting_places_of_rhode_island_is_found_and_said(ask, rhode_island):
    found = ask(rhode_island, with_spine(targets=("place", "aiannh", "gq")), name="place")
    assert found.finding == "Targeting places brings the mean off-spine distance of 36 places from 24.17 to 6.11 units."
    assert found.content.this.mean() == pytest.approx(6.11, abs=0.005)
    assert found.content.other.mean() == pytest.approx(24.17, abs=0.005)
    assert found.blocks.blocks == 25_181


def test_that_the_spine_of_2020_leaves_towns_and_places_with_the_reason(ask, rhode_island):
    found = ask(rhode_island, name="place")
    assert found.finding == "The mean off-spine distance of 36 places rises from 24.17 to 25.92 units."
    assert "targets county subdivisions, not places" in found.reason
    assert "from 7.03 to 6.15 units" in found.reason
    assert "Every tract lies in one of these areas" in found.reason
    towns = ask(rhode_island, name="place_mcd")
    assert towns.content.this.mean() == pytest.approx(6.15, abs=0.005)


def test_that_predicted_margins_of_places_fall_when_they_are_targeted(ask, rhode_island):
    found = ask(rhode_island, with_spine(targets=("place", "aiannh", "gq")), tab=SpineTab.MARGINS, name="place").content
    assert found.this.mean() < found.other.mean() / 10
    assert "nonnegativity" in found.unseen
    at_once = ask(
        rhode_island, with_spine(targets=("place", "aiannh", "gq")), tab=SpineTab.MARGINS, name="place", fit=Fit.AT_ONCE
    )
    assert (at_once.content.this <= found.this * (1 + 1e-9)).all()


def test_that_the_map_of_providence_lies_on_its_blocks(ask, rhode_island, real_data):
    shapes = str(real_data / "blocks" / "providence_ri_2010_blocks.geojson.gz")
    for colour in MapColour:
        found = ask(rhode_island, tab=SpineTab.MAP, shapes=shapes, colour=colour).content
        assert isinstance(found, SpineMap)
        assert np.isfinite(found.values).all()
        assert found.found > 100
    again = ask(rhode_island, tab=SpineTab.MAP, shapes=shapes, known_shapes=shapes).content
    assert again.rings is None
    assert len(again.units) == len(found.rings)


@pytest.mark.parametrize("tab", [tab for tab in SpineTab if tab is not SpineTab.MAP])
def test_that_every_picture_is_made_of_small_blocks(ask, small, tab):
    found = ask(small, tab=tab)
    assert not isinstance(found.content, Impossible)
    assert found.look.name == "place"
    assert not found.problem


def test_that_a_budget_that_moves_builds_no_spine_and_moves_the_margins(reader, small):
    told = []
    first = reader.answer(asked(small, tab=SpineTab.MARGINS), told.append)
    assert [each.step for each in told] == [1, 2, 3]
    told.clear()
    moved = set_level_share(SCENARIO, "Block", Fraction(1, 2)).topdown
    second = reader.answer(asked(small, moved, tab=SpineTab.MARGINS), told.append)
    assert not told
    assert (second.content.other < first.content.other).all()  # places of the standard spine are added up from blocks


@pytest.mark.parametrize("rule", ["single-child", "pure-dp", "sum-of-squares", "none"])
def test_that_every_rule_of_bypassing_keeps_its_budget(ask, small, rule):
    for framework in PrivacyFramework:
        method = replace(with_spine(bypass=rule), framework=framework)
        found = ask(small, method, tab=SpineTab.BYPASSED).content
        assert isinstance(found, BypassContent)
        assert found.carried + sum(share for _, share in found.unspent) == 1
        assert len(found.listed) == found.count
        assert sum(each.share for each in found.listed) == found.moved
        assert (found.count == 0) == (rule == "none") or rule == "single-child"


def test_that_an_area_is_made_up_of_as_many_units_as_its_distance(ask, small):
    distance = ask(small).content
    area = str(distance.codes[0])
    # Without bypassing the tree of the budgets is the tree of the distances.
    tree = ask(small, with_spine(bypass="none"), tab=SpineTab.TREE, name="place", area=area).content
    assert tree.parts == distance.this[0]
    assert sum(int(np.abs(level.sign).sum()) for level in tree.levels) == tree.parts
    members = np.zeros(160, int)
    for level in tree.levels:
        members += np.repeat(level.sign, np.diff(level.first_block))
    assert set(members.tolist()) == {0, 1}
    assert not ask(small, tab=SpineTab.TREE, area="nowhere").content.area


@pytest.mark.parametrize("name", ["standard", "aian", "pl94-2020", "pl94-2020-units", "dhc-2020"])
def test_that_every_preset_is_explored_and_a_misfit_is_said(ask, small, name):
    wanted = spine_preset(name).settings
    method = replace(SCENARIO.topdown, spine=changed_choice(SCENARIO.topdown.spine, wanted))
    found = ask(small, method)
    assert (name == "dhc-2020") == bool(found.problem)
    if found.problem:
        assert "Tract is not a level of both" in found.problem
        assert isinstance(ask(small, method, tab=SpineTab.BYPASSED).content, Impossible)
        assert ask(small, method, tab=SpineTab.TREE).content.shares == ()


def test_that_the_scenario_of_the_dhc_is_explored_on_its_own_spine(ask, small):
    method = preset("dhc-2020-persons-us").scenario.topdown
    found = ask(small, method, tab=SpineTab.BYPASSED)
    assert not found.problem
    assert [name for name, _ in found.levels][-5:] == [
        "Prim",
        "Tract_Subset_Group",
        "Tract_Subset",
        "Block_Group",
        "Block",
    ]


def test_that_counts_kept_from_redistricting_are_never_shown_as_exact(ask, small):
    method = preset("dhc-2020-persons-us").scenario.topdown
    for tab in (SpineTab.LEVELS, SpineTab.MARGINS):
        found = ask(small, method, tab=tab, name="place", query="total", fit=Fit.TOP_DOWN).content
        assert not found.this.any()
        rows = margin_rows(found, "this spine", "standard spine")
        assert "±0" not in rows.title
        assert "exact" not in rows.title
        assert "kept from the redistricting release" in rows.title
        assert all(row.value is None and row.text == "as in the redistricting release" for row in rows.marks)
        assert all(row[1:4] == (None, None, None) for row in rows.table.rows)
        own = ask(small, method, tab=tab, name="place", query="hispanic * sex", fit=Fit.TOP_DOWN).content
        assert own.this.all()
        assert "redistricting" not in own.finding
    tree = SpineTree(ask(small, method, tab=SpineTab.TREE).content)
    assert tree.margin(Unit(0, 0)) is None
    assert "kept from the redistricting release" in tree.sentence(Unit(0, 0))


def test_that_the_scenario_of_2019_has_its_groups_of_tracts(ask, small):
    method = preset("ddp-2019-persons-us").scenario.topdown
    found = ask(small, method, tab=SpineTab.LEVELS)
    assert not found.problem
    assert "Tract_Group" in found.content.names


def test_that_one_block_is_enough(ask, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("geoid,place\n060010001001000,\n", "utf-8")
    for tab in SpineTab:
        found = ask(path, tab=tab)
        assert found.blocks.blocks == 1
    assert ask(path, tab=SpineTab.BYPASSED).content.count == 4
    assert "no codes of areas" in ask(path).finding


def test_that_puerto_rico_is_explored_below_the_state(ask, tmp_path):
    path = tmp_path / "pr.csv"
    rows = [f"72{county:03d}000100{1000 + block:04d},{block % 2:05d}" for county in (1, 3) for block in range(20)]
    path.write_text("geoid,place\n" + "\n".join(rows) + "\n", "utf-8")
    found = ask(path, preset("pl94-2020-persons-pr").scenario.topdown, tab=SpineTab.BYPASSED)
    assert not found.problem
    assert found.content.carried == 1
    assert next(each.targeted for each in found.blocks.classes if each.name == "place")


def test_that_a_broken_file_is_refused_line_by_line(ask, tmp_path):
    path = tmp_path / "broken.csv"
    path.write_text("geoid,place\n060010001001000,\n06001000100100,\n060010001001000,00001\n", "utf-8")
    found = ask(path)
    assert isinstance(found, BlocksRefused)
    assert [issue.line for issue in found.issues] == [3, 4]
    assert isinstance(ask(tmp_path / "absent.csv"), BlocksRefused)


def test_that_a_file_that_changed_is_read_again(ask, tmp_path):
    path = tmp_path / "changing.csv"
    path.write_text("geoid\n060010001001000\n", "utf-8")
    assert ask(path).blocks.blocks == 1
    path.write_text("geoid\n060010001001000\n060010001001001\n", "utf-8")
    assert ask(path).blocks.blocks == 2


def test_that_areas_the_blocks_do_not_have_are_refused(ask, small):
    with pytest.raises(PhexploreError, match="zcta"):
        ask(small, with_spine(targets=("zcta",)))
    with pytest.raises(PhexploreError):
        ask(small, replace(SCENARIO.topdown, spine=replace(SCENARIO.topdown.spine, kind="unknown")))


def test_that_the_blocks_of_a_spine_that_was_built_are_taken(ask, small, tmp_path):
    path = tmp_path / "built.spine"
    write_spine(build_spine(read_geography(small), STANDARD), path)
    found = ask(path)
    assert found.blocks.blocks == 160
    assert (found.content.this == ask(small).content.this).all()
    path.write_bytes(b"PK\x03\x04 no spine")
    assert isinstance(ask(path), BlocksRefused)


def test_that_a_town_is_found_by_its_name_with_its_row_and_its_place_on_the_map(ask, rhode_island, real_data) -> None:
    answer = ask(rhode_island, tab=SpineTab.MARGINS, area="barrington")
    assert (answer.look.name, answer.look.area, answer.problem) == ("cousub", "4400105140", "")
    figure = figure_of(answer.content, "standard spine")
    assert figure.marks[0].key == "4400105140"
    assert figure.title.startswith("Barrington town (4400105140): margin ±")
    assert figure.table.rows[0][0] == "Barrington town (4400105140)"
    assert answer.area_name == "Barrington town"
    assert {"Barrington town", "Providence city"} <= set(answer.blocks.names)
    shapes = str(real_data / "blocks" / "providence_ri_2010_blocks.geojson.gz")
    on_map = ask(rhode_island, tab=SpineTab.MAP, area="Providence city", shapes=shapes)
    city = map_picture(on_map.content, on_map.content.rings, "standard spine")
    assert city.title.startswith("Providence city (4459000): margin ±")
    assert city.outlined == set(on_map.content.marked) & set(on_map.content.units)
    assert len(city.outlined) > 100  # the block groups of the whole city, not the largest alone
    assert f"Outlined: the {len(on_map.content.marked):,} block groups it lies in" in city.summary
    missing = ask(rhode_island, tab=SpineTab.MARGINS, area="Atlantis")
    assert "Atlantis" in missing.problem
    assert missing.look.area == ""


def test_that_a_town_is_named_where_its_distance_its_units_and_its_place_on_the_map_are_told(
    ask, rhode_island, real_data
) -> None:
    with called(Naming.NAMES):
        far = ask(rhode_island, area="barrington").content
        figure = figure_of(far, "standard spine")
        assert figure.title == "Barrington town: 4 units added or subtracted (4 on standard spine)"
        assert ("Barrington town", 4, 4) in figure.table.rows
        tree = ask(rhode_island, tab=SpineTab.TREE, area="barrington").content
        figure = tree_figure(SpineTree(tree))
        assert figure.title == "Barrington town is made up of 4 units of this spine"
        assert "The spine has 6 counties" in figure.summary
        assert "Margins of units are for the scenario's own cells" in figure.summary
        shapes = str(real_data / "blocks" / "providence_ri_2010_blocks.geojson.gz")
        content = ask(rhode_island, tab=SpineTab.MAP, shapes=shapes).content
        tips = {patch.tip for patch in map_picture(content, content.rings).patches}
        assert "Block group 1 of tract 1.01, Providence County, RI: 20 blocks" in tips
        assert not [tip for tip in tips if "0441000" in tip]
    assert tree_figure(SpineTree(tree)).title.startswith("County subdivision 4400105140 is made up of 4 units")


def test_that_areas_of_one_name_are_told_apart_by_their_codes(ask, tmp_path) -> None:
    path = tmp_path / "two.csv"
    rows = [f"06001000100100{n},06{n % 3:05d},{'Salem' if n % 3 else 'Hope'}" for n in range(9)]
    path.write_text("\n".join(["geoid,place,place_name", *rows]) + "\n", "utf-8")
    assert ask(path, name="place").content.titles == {
        "0600000": "Hope",
        "0600001": "Salem (0600001)",
        "0600002": "Salem (0600002)",
    }


def test_that_margins_that_cannot_be_predicted_say_why_in_the_tree(ask, tmp_path) -> None:
    path = tmp_path / "states.csv.gz"
    write_block_file(synthesize_states(900, 1, ("04", "35", "40"), tribal=0.1), path)
    tree = SpineTree(ask(path, tab=SpineTab.TREE).content)
    assert tree.sentence(ROOT).startswith("US: ")
    assert "cross state lines" in tree.sentence(ROOT)
    table = tree.path_numbers(ROOT)
    margins = {row: table.details.get((row, len(table.headers) - 1)) for row in range(len(table.rows))}
    assert all(table.rows[row][-1] is None and "at once" in reason for row, reason in margins.items())
