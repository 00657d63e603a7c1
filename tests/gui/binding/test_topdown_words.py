"""Headline, changes and inspection of TopDown in words."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore.accounting.zcdp import epsilon
from phexplore.document.project import Project
from phexplore.figures.tile import Tone
from phexplore.figures.wording import share_percent, significant
from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.session import Session
from phexplore.gui.systems.topdown.session import topdown_session
from phexplore.gui.systems.topdown.summary import (
    change_lines,
    inspect,
    issues_of,
    place_of,
    share_of_all,
    subtitle,
    topdown_epsilon_tile,
    topdown_loss_tile,
    topdown_margin_tile,
    topics,
)
from phexplore.gui.systems.topdown.total_bar import TotalBar
from phexplore.model.conventions import Conversion
from phexplore.model.diff import diff, parameters_only
from phexplore.model.edits import set_field, set_item
from phexplore.model.rounded import epsilon_bound
from phexplore.model.topdown import LevelQuery
from phexplore.model.workbook import Workbook
from phexplore.systems.registry import preset
from phexplore.systems.topdown.edits import set_level_share, set_query_share
from phexplore.systems.topdown.wording import place_title, query_sentence

KEY = LevelQuery("Block_Group", "total")


@pytest.fixture
def session(qapp):
    scenario = replace(preset("pl94-2020-persons-us").scenario, name="Proposal")
    return topdown_session(Session(Project.new(Workbook((scenario,), "Proposal", "pl94-2020-persons-us"))))


@pytest.mark.defect("S5")
def test_that_the_tiles_show_the_certificate(session):
    assert topdown_epsilon_tile(session.shown).value == "17.15"
    assert "17.44 with" in topdown_epsilon_tile(session.shown).change
    assert topdown_loss_tile(session.shown).change == "as in the reference"
    margin = topdown_margin_tile(session.shown)
    assert (margin.caption, margin.value) == ("Margin of a total, the spine's block group", "±2.88")
    assert "tabulated units" in margin.exact


def test_that_the_field_of_epsilon_is_rounded_up(qtbot, session):
    session.edit("Raise", lambda s: set_field(s, "total", Fraction("3.869511")))  # ε is 21.89112904
    bar = TotalBar(session)
    qtbot.addWidget(bar)
    bar.show()
    assert bar.epsilon.line.text() == "21.8912"


def test_that_both_parts_together_are_converted_at_the_same_delta(session):
    delta = Fraction(1, 10**6)
    session.edit("δ", lambda s: replace(s, conventions=replace(s.conventions, delta=delta)))
    tile, joint = topdown_epsilon_tile(session.shown), session.shown.joint
    both = epsilon(joint.rho, delta, Conversion.ZCDP_OPTIMAL_ALPHA)
    assert tile.beside == "at δ = 10⁻⁶, rounded up"
    assert tile.change == f"{epsilon_bound(both)} with {joint.partner}"
    assert both < joint.epsilon - 3


def test_that_a_larger_total_asks_for_attention(session):
    session.edit("Raise", lambda s: set_field(s, "total", Fraction(3)))
    tile = topdown_loss_tile(session.shown)
    assert tile.tone is Tone.ATTENTION
    assert tile.change.startswith("+0.443774")
    assert topdown_margin_tile(session.shown).tone is Tone.GOOD


def test_that_pure_dp_needs_no_conversion(session):
    session.whole.edit_workbook(
        "Other", lambda _book: Workbook((preset("ddp-2019-persons-us").scenario,), "2010 DDP persons", "")
    )
    assert topdown_epsilon_tile(session.shown).beside == "pure DP"
    assert topdown_loss_tile(session.shown).value == "4.000000"


def test_that_a_moved_column_is_one_sentence(session):
    session.edit("County", lambda s: set_level_share(s, "County", Fraction(1, 5)))
    session.edit("Total", lambda s: set_query_share(s, KEY, Fraction(1, 2)))
    session.edit("Rule", lambda s: set_item(s, "constraints", "US", ()))
    lines = change_lines(session.shown)
    assert [line.text for line in lines] == [
        "Constraints at US: total dropped",
        "County: share 10.91 % → 20.00 %; 5 other levels moved",
        lines[2].text,
    ]
    assert lines[2].text.startswith("Total at Block group: share 41.60 % → 50.00 %; margin ±2.88 → ±")
    assert (lines[0].area, lines[2].key) == (Area.LEVELS, KEY)
    differing = len(parameters_only(diff(session.shown.reference.scenario, session.shown.scenario)))
    assert sum(line.count for line in lines) == differing > 12, "six shares that moved are not one parameter"


def test_that_without_reference_nothing_is_said_to_have_changed(session):
    session.whole.edit_workbook("None", lambda b: replace(b, comparison=""))
    assert change_lines(session.shown) == ()


def test_that_a_query_is_explained_by_margin_noise_and_budget(session):
    names = [topic.name for topic in topics(session.shown, KEY)]
    assert names == ["Margin, normal", "Margin, paper", "Margin, exact", "Noise σ", "Budget ρ"]
    assert [line.is_chosen for line in inspect(session.shown, KEY, session.project).margins] == [False, True, False]
    assert share_of_all(session.shown, KEY) == "12.7 % of the whole ρ"


def test_that_the_whole_is_explained_with_all_semantics(session):
    names = [topic.name for topic in topics(session.shown, None)]
    assert names[0] == "Privacy loss"
    assert "With the other part of the release" in names
    assert [name for name in names if name.startswith("Block within")][-1] == "Block within us"
    assert [name for name in names if name.endswith(" alone")] == [
        "hhgq alone", "votingage alone", "hispanic alone", "cenrace alone",
    ]  # fmt: skip
    assert "6 levels, 65 measurements" in subtitle(session.shown, None)


def test_that_the_history_of_a_share_holds_its_steps_only(session):
    session.edit("Raise the total", lambda s: set_field(s, "total", Fraction(3)))
    session.edit("Set County", lambda s: set_level_share(s, "County", Fraction(1, 5)))
    project = session.whole.project
    found = inspect(session.shown, "County", project).history
    assert [(step.label, step.value, step.is_current) for step in found] == [
        ("Set County", "20.00 %", True),
        (found[1].label, "10.91 %", False),
    ]
    assert next(step.label for step in inspect(session.shown, None, project).history) == "Raise the total"


def test_that_issues_lead_to_their_place(session):
    session.edit("Drop", lambda s: set_item(s, "invariants", "State", ()))
    issue = session.shown.issues[0]
    assert place_of(issue, session.shown.method) == "US"
    assert issues_of(session.shown, None) == session.shown.issues


def test_that_small_numbers_never_read_zero():
    assert share_percent(Fraction(5, 4097) / 100) == "0.0012 %"
    assert share_percent(Fraction(1, 10**8)) == "< 0.0001 %"
    assert significant(Fraction(1, 10**4)) == "0.0001000"
    assert place_title(KEY) == "total at Block group"
    assert query_sentence("pl94_persons", "total") == "All people of a unit, one answer."
