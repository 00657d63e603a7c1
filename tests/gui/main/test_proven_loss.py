"""The proven ε in the window: it comes after the edit's own frame, never stands beside another version, and can be spent."""

from __future__ import annotations

from phexplore.gui.decision.decision_summary import decision_summary
from phexplore.gui.dialogs.proven_curve import ProvenCurve
from phexplore.model.workbook import add_scenario
from phexplore.systems.registry import forecast, preset
from phexplore.systems.report_opening import opening


def _add(window, name):
    window.session.edit_workbook("Add", lambda book: add_scenario(book, preset(name).scenario))


def test_that_the_bound_follows_the_scenario(window, qtbot):
    tile = window.headline.tiles[0]
    for name, words in (("pl94-2020-persons-us", "proven ε ≤ 16.468"), ("sdhc-2020-us", "proven ε ≤ 16.308")):
        _add(window, name)
        qtbot.waitUntil(lambda words=words: words in tile.accessibleDescription() + tile.accessibleName())
    _add(window, "ddp-2019-persons-us")
    qtbot.waitUntil(lambda: "proven" not in tile.accessibleDescription() + tile.accessibleName())


def test_that_paths_and_parts_follow_once_nothing_is_edited(window, qtbot):
    _add(window, "pl94-2020-persons-us")
    tile, room = window.headline.tiles[0], window.room
    with qtbot.waitSignal(window.session.proved, timeout=20_000):
        pass
    proof = window.session.shown.known_proof
    assert [figure.bypass_high > figure.value > figure.low for figure in proof.figures] == [True]
    said = tile.accessibleDescription() + tile.accessibleName()
    assert "proven ε ≤ 16.468" in said
    assert "any path" not in said
    explained = {topic.name: topic.explanation.result for topic in room.inspect().topics}
    assert "16.467" in explained["ε, discrete Gaussian, proven"]
    assert "≤ 6.93" in explained["hhgq alone"]


def test_that_one_click_adds_a_scenario_and_changes_nothing_else(window):
    _add(window, "pl94-2020-persons-us")
    book, before = window.session.project.workbook, window.session.scenario
    window.actions_table["decide.less-noise"].trigger()
    grown = window.session.project.workbook
    assert (grown.scenario, grown.comparison, grown.scenarios[:-1]) == (before, book.comparison, book.scenarios)
    added = grown.scenarios[-1]
    assert forecast(added).proven() <= forecast(before).loss.epsilon
    assert added.name.startswith("Same converted ε (")
    assert "published" not in added.note
    window.session.undo()
    assert window.session.project.workbook == book


def test_that_a_scenario_without_slack_is_refused_and_stays(window):
    _add(window, "ddp-2019-persons-us")
    before = window.session.project.workbook
    window.actions_table["decide.less-noise"].trigger()
    assert window.session.project.workbook is before


def test_that_the_curve_follows_the_scenario(window, qtbot):
    _add(window, "pl94-2020-units-us")
    dialog = ProvenCurve(window, window.session, lambda: None)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: "2.3633" in dialog.figure.title)
    _add(window, "pl94-2020-persons-us")
    qtbot.waitUntil(lambda: "16.4652" in dialog.figure.title)
    dialog.close()
    for _ in range(2):
        window.actions_table["decide.proven"].trigger()
    assert sum(curve.isVisible() for curve in window.findChildren(ProvenCurve)) == 1


def test_that_every_view_leads_with_the_proven_epsilon_and_names_the_other(window, qtbot):
    _add(window, "sdhc-2020-us")
    session, tile = window.session, window.headline.tiles[0]
    qtbot.waitUntil(lambda: "proven ε ≤ 16.308" in tile.accessibleDescription() + tile.accessibleName())
    words = "proven ε ≤ 16.308 at δ = 10⁻¹⁰; 16.99 converted from ρ"
    assert words in decision_summary(session.shown, window.room.decision_part(), [])[0].lines[1]
    assert any(words in sentence for sentence in opening(session.scenario, None, ()).paragraphs)
