from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from statistics import median

import pytest
from PySide6.QtWidgets import QFileDialog

from phexplore.decide.committee import KEPT, committee_matrix, consensus, read_proposals, with_proposals
from phexplore.decide.matrix_view import matrix_view
from phexplore.document.project import Project
from phexplore.figures import wording
from phexplore.figures.table import Look
from phexplore.gui.decision.committee_page import CommitteePage
from phexplore.gui.dialogs.messages import Message
from phexplore.gui.main.decision_area import read_proposal
from phexplore.model.comment import Comment
from phexplore.model.keys import TableId, parse_query
from phexplore.model.workbook import Workbook, add_scenario
from phexplore.systems.phsafe.budget_edits import edit_margin, edit_threshold
from phexplore.systems.phsafe.config_file import write_config
from phexplore.systems.phsafe.edits import set_budget, set_target, set_threshold
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.registry import preset
from phexplore.systems.topdown.edits import set_level_share

NAMES = ("Ada", "Grace", "Alan")


@pytest.fixture
def proposals(us, query):
    """Three members: they differ on one target, agree on a threshold."""
    found = []
    for name, people in zip(NAMES, (22, 25, 40), strict=True):
        wider = set_target(edit_margin(us, query, Fraction(people)), query, Fraction(people))
        found.append(replace(edit_threshold(wider, TableId("PH4"), 12), name=name))
    return found


@pytest.fixture
def files(proposals, tmp_path):
    """The same as files: a project, a project and a production config.json."""
    paths = []
    for proposal in proposals[:2]:
        project = Project.new(Workbook((proposal,), proposal.name))
        project.save(tmp_path / f"{proposal.name}.phx")
        project.close()
        paths.append(tmp_path / f"{proposal.name}.phx")
    (tmp_path / "Alan.json").write_text(write_config(proposals[2]))
    return [*paths, tmp_path / "Alan.json"]


@pytest.fixture
def page(qtbot, session, tmp_path):
    found = CommitteePage(session, read_proposal, lambda: tmp_path)
    qtbot.addWidget(found)
    found.show()
    yield found
    found.stop()


def _cells(view, name):
    (row,) = [row for row in view.numbers.rows if row[0] == name]
    return dict(zip(view.numbers.headers, row, strict=True))


def test_that_the_matrix_shows_smallest_middle_largest_and_who_left_it_alone(us, query, proposals) -> None:
    untouched = replace(us, name="Edsger")
    view = matrix_view(committee_matrix([*proposals, untouched], us))
    found = _cells(view, f"Target of {query.title}")
    assert (found["Baseline"], found["Min"], found["Max"]) == (20, 20, 40)
    assert (found["Ada"], found["Edsger"], found["Unchanged"]) == (22, "·", "1 of 4")
    assert found["Agreement"] == "50 %"
    place = [row[0] for row in view.numbers.rows].index(f"Target of {query.title}")
    looks = [view.numbers.looks.get((place, column)) for column in range(len(view.numbers.headers))]
    assert looks[1] is Look.ATTENTION
    assert looks[3:7] == [Look.BOLD, Look.BOLD, Look.BOLD, Look.MUTED]


def test_that_agreement_on_a_moved_number_is_said(us, proposals) -> None:
    view = matrix_view(committee_matrix(proposals, us))
    assert _cells(view, "Threshold of PH4")["Agreement"] == "100 %"
    assert view.title.startswith("3 members moved 3 numbers; they differ on 2, most on Budget of PH3 (State, A-G)")


def test_that_one_member_alone_agrees_with_nobody(us, proposals) -> None:
    view = matrix_view(committee_matrix(proposals[:1], us))
    assert _cells(view, "Threshold of PH4")["Agreement"] is None
    assert "nobody to agree with" in view.numbers.details[0, 1]
    assert not any("agree" in mark.text for mark in view.picture.marks)


def test_that_the_picture_says_what_its_bars_and_dots_are(us, proposals) -> None:
    picture = matrix_view(committee_matrix(proposals, us), proposals).picture
    assert picture.summary.startswith("Each line extends from the smallest to the largest proposal")


def test_that_budgets_are_shown_as_the_margins_that_they_give(us, query, proposals) -> None:
    view = matrix_view(committee_matrix(proposals, us), proposals)
    found = _cells(view, f"Margin of {query.title}")
    assert (found["Baseline"], found["Min"], found["Median"], found["Max"]) == (20, 22, 25, 40)
    assert not [row for row in view.numbers.rows if str(row[0]).startswith("Budget")]
    empty = [place for place, row in enumerate(view.numbers.rows) if not row[-1]]
    assert all(view.numbers.details[place, len(view.numbers.headers) - 1] for place in empty)


@pytest.mark.parametrize("budget", [Fraction(1, 10**70), Fraction(1, 10**30), Fraction(10**30)])
def test_that_a_member_without_a_possible_margin_is_shown_beside_the_others(us, query, budget) -> None:
    persons = preset("pl94-2020-persons-us").scenario
    extreme = replace(persons, method=replace(persons.topdown, total=budget))
    for start, member in ((us, set_budget(us, query, budget)), (persons, extreme)):
        members = [replace(member, name="Ada"), replace(start, name="Grace")]
        view = matrix_view(committee_matrix(members, start), members)
        said = " ".join(str(cell) for row in view.numbers.rows for cell in row).split()
        assert view.numbers.rows
        assert not {"inf", "nan"} & set(said)


def test_that_a_comment_on_what_nobody_moved_has_a_row(us, proposals) -> None:
    place = parse_query("PH2/usa_*")
    said = Comment("keep it", "Ada", about=place.text)
    view = matrix_view(committee_matrix([replace(proposals[0], comments=(said,)), *proposals[1:]], us))
    assert _cells(view, place.title)["Reasons"] == "Ada: keep it"


def test_that_the_picture_measures_in_multiples_of_the_start(us, query, proposals) -> None:
    view = matrix_view(committee_matrix(proposals, us))
    (mark,) = [row for row in view.picture.marks if row.name == f"Target of {query.title}"]
    assert mark.dots == pytest.approx([1.1, 1.25, 2.0])
    assert (mark.low, mark.value, mark.high) == pytest.approx((1.1, 1.25, 2.0))


def test_that_members_who_moved_nothing_are_said_to(us) -> None:
    view = matrix_view(committee_matrix([replace(us, name="Ada")], us))
    assert view.title == "1 member changes nothing"
    assert view.numbers.rows == ()


def test_that_files_of_all_kinds_become_proposals(us, files, proposals) -> None:
    found, problems = read_proposals(files, us, read_proposal)
    assert [each.name for each in found] == list(NAMES)
    assert [each.phsafe.budgets for each in found] == [each.phsafe.budgets for each in proposals]
    assert problems == ()


def test_that_the_name_of_a_file_turns_no_line(us, files, tmp_path) -> None:
    files[0].rename(tmp_path / "Ada\u202eexe\n.phx")
    ((ada,), _) = read_proposals([tmp_path / "Ada\u202eexe\n.phx"], replace(us, name="Ada"), read_proposal)
    assert ada.name == "Ada\\u202eexe\\n"


def test_that_a_member_has_the_name_of_the_proposal_and_of_the_file_where_that_tells_nobody_apart(us, tmp_path) -> None:
    paths = []
    published = preset("sdhc-2020-pr").scenario.name  # what is moved must not be called production
    for file, name in (("a", "Proposal of Ada"), ("b", "Draft"), ("c", "Draft"), ("d", us.name), ("e", published)):
        project = Project.new(Workbook((replace(us, name=name),), name))
        project.save(tmp_path / f"{file}.phx")
        project.close()
        paths.append(tmp_path / f"{file}.phx")
    found, _ = read_proposals(paths, us, read_proposal)
    assert [each.name for each in found] == ["Proposal of Ada", "b", "c", "d", "e"]


def test_that_every_problem_of_every_file_is_kept_with_its_file_and_line(us, files, tmp_path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text('{\n "privacy_budgets": nonsense\n}\n')
    worse = tmp_path / "missing.phx"
    found, problems = read_proposals([bad, files[0], worse], us, read_proposal)
    assert len(found) == 1
    assert {issue.path[0] for issue in problems} == {"bad.json", "missing.phx"}
    assert any("2" in issue.place for issue in problems if issue.path[0] == "bad.json")


def test_that_a_proposal_of_another_system_is_a_problem(us, files, tmp_path) -> None:
    """It was imported without a word and stood in no matrix: "Import 2 proposals", and "One proposal"."""
    other = preset("pl94-2020-persons-us").scenario
    project = Project.new(Workbook((other,), other.name))
    project.save(tmp_path / "redistricting.phx")
    project.close()
    found, (problem,) = read_proposals([files[0], tmp_path / "redistricting.phx"], us, read_proposal)
    assert len(found) == 1
    assert problem.path == ("redistricting.phx",)
    assert "TopDown" in problem.sentence


def test_that_a_damaged_project_is_named_once(us, files) -> None:
    files[0].write_text(files[0].read_text()[:2000])
    _, (problem,) = read_proposals([files[0]], us, read_proposal)
    assert problem.path == (files[0].name,)
    assert "Ask for the project again" in problem.remedy


def test_that_importing_is_one_step_and_leaves_the_active_scenario(us, proposals) -> None:
    book = with_proposals(Workbook((replace(us, name="Chair"),), "Chair"), [*proposals, proposals[0]])
    assert book.active == "Chair"
    assert book.names == ("Chair", "Ada", "Grace", "Alan", "Ada 2")


def test_that_a_draft_has_the_middle_of_every_member(qtbot, page, session, files, query) -> None:
    page.import_files(files)
    qtbot.waitUntil(lambda: len(page.members) == 3)
    assert session.project.labels[-1] == "Import 3 proposals"
    assert session.scenario.name == "Proposal"
    page.make_draft()
    assert session.scenario.name == "Consensus draft"
    assert session.scenario.phsafe.budgets[query] == median(each.phsafe.budgets[query] for each in page.members)
    assert session.scenario.phsafe.thresholds["PH4"] == 12
    session.undo()
    assert session.scenario.name == "Proposal"


def test_that_a_member_of_another_system_is_not_offered(page, session) -> None:
    from phexplore.model.workbook import activate, add_scenario

    persons = preset("pl94-2020-persons-us").scenario
    session.edit_workbook("Add", lambda book: activate(add_scenario(book, persons), "Proposal"))
    page.refresh()
    assert [page.list.item(row).text() for row in range(page.list.count())] == ["Proposal"]


def test_that_shares_of_topdown_members_are_laid_beside_each_other() -> None:
    persons = preset("pl94-2020-persons-us").scenario
    members = [
        replace(set_level_share(persons, "County", Fraction(part, 100)), name=str(part)) for part in (15, 20, 30)
    ]
    view = matrix_view(committee_matrix(members, persons))
    found = _cells(view, "Share of County")
    assert (found["Min"], found["Median"], found["Max"]) == (Fraction(3, 20), Fraction(1, 5), Fraction(3, 10))
    county = next(mark for mark in view.picture.marks if mark.name == "Share of County")
    assert county.is_warned
    assert "Amber: the smallest is less than 80 % of the largest" in view.picture.summary
    assert county.text == "15.00 % – 30.00 %"
    assert county.tip.endswith("15: 15.00 %\n20: 20.00 %\n30: 30.00 %")


def test_that_what_nobody_changed_is_no_proposal_yet(qtbot, page) -> None:
    qtbot.waitUntil(lambda: page.title.text() == "No proposals yet")
    assert "Import the members' files" in page.sentence.text()


def test_that_an_empty_committee_teaches(qtbot, page) -> None:
    page.tick()
    assert "Import the members' files" in page.sentence.text()
    assert not page.draft.isEnabled()


@pytest.mark.defect("M5")
def test_that_the_headline_counts_who_moved_and_not_what_a_file_cannot_hold(us, query, tmp_path) -> None:
    proposal = set_threshold(set_budget(us, query, Fraction(1, 2)), TableId("PH4"), 12)
    (tmp_path / "Alan.json").write_text(write_config(proposal))
    ((alan,), _) = read_proposals([tmp_path / "Alan.json"], us, read_proposal)
    view = matrix_view(committee_matrix([replace(us, name="Chair"), alan], us))
    assert view.title.startswith("1 of 2 members moved 2 numbers; they differ on 2, most on")
    assert matrix_view(committee_matrix([alan], us)).title == "One proposal, 2 changes"


@pytest.mark.defect("M5")
def test_that_the_scenario_being_edited_keeps_its_tick_when_files_are_imported(qtbot, page, session, files) -> None:
    session.edit("Cut", lambda each: edit_threshold(each, TableId("PH4"), 14))
    page.import_files(files)
    qtbot.waitUntil(lambda: len(page.members) > 1)
    assert [each.name for each in page.members] == ["Proposal", *NAMES]


def test_that_a_scenario_nobody_edited_is_no_proposal_beside_imported_ones(qtbot, page, session, files, query) -> None:
    page.import_files(files)
    qtbot.waitUntil(lambda: len(page.members) > 1)
    assert [each.name for each in page.members] == [*NAMES]
    qtbot.waitUntil(lambda: page.title.text().startswith("3 members moved"))
    session.edit("Cut", lambda each: edit_threshold(each, TableId("PH4"), 14))
    qtbot.waitUntil(lambda: [each.name for each in page.members] == ["Proposal", *NAMES])
    session.undo()
    qtbot.waitUntil(lambda: [each.name for each in page.members] == [*NAMES])
    page.make_draft()
    assert session.scenario.phsafe.budgets[query] == median(each.phsafe.budgets[query] for each in page.members)


def test_that_nothing_is_imported_where_a_member_cannot_be_read(qtbot, page, session, files, tmp_path) -> None:
    (tmp_path / "Edsger.json").write_text("{")
    page.import_files([*files, tmp_path / "Edsger.json"])
    qtbot.waitUntil(lambda: page.findChild(Message) is not None)
    assert "Nothing was loaded or changed" in page.findChild(Message).sentence.text()
    page.add.click()
    dialog = page.findChild(QFileDialog)
    assert Path(dialog.directory().absolutePath()) == tmp_path, "whoever mends the choice looks in the same folder"
    dialog.close()
    assert session.project.workbook.names == ("Proposal",)
    page.findChild(Message).close()


def test_that_the_focus_stays_where_files_are_imported_from(qtbot, page, files) -> None:
    page.add.setFocus()
    page.import_files(files)
    qtbot.waitUntil(lambda: len(page.members) > 1)
    assert page.window().focusWidget() is page.add
    page.draft.setFocus()
    page.draft.click()
    qtbot.waitUntil(lambda: page.list.count() == len(page.members) + 2)
    assert page.window().focusWidget() is page.draft


def test_that_a_double_click_makes_one_draft(qtbot, page, session, files) -> None:
    page.import_files(files)
    qtbot.waitUntil(lambda: len(page.members) > 1)
    page.draft.click()
    page.draft.click()
    assert session.project.workbook.names == ("Proposal", *NAMES, "Consensus draft")
    assert session.project.labels[-2:] == ("Import 3 proposals", "Consensus draft of Ada, Grace, Alan")


def test_that_a_reason_is_read_whole_above_the_matrix(qtbot, page, session, us, proposals, query, tmp_path) -> None:
    said = Comment("Schools plan by it, and a wider margin would hide a class. " * 3 + "So.", "Ada", "", query.text)
    project = Project.new(Workbook((replace(proposals[0], comments=(said,)),), "Ada"))
    project.save(tmp_path / "Ada.phx")
    project.close()
    page.import_files([tmp_path / "Ada.phx"])
    qtbot.waitUntil(lambda: f"Ada: {said.text}" in page.reasons.text())
    other = next(place for place, row in enumerate(page.table.numbers.rows) if not row[-1])
    page.table.selectRow(other)
    assert page.reasons.text().endswith(" – nobody gave a reason")
    with qtbot.waitSignal(page._work.finished):
        page.follow()
    assert page.reasons.text().endswith(" – nobody gave a reason"), "of the row that stays chosen"
    page.tick()
    assert not page.reasons.isVisible()


def test_that_values_kept_in_a_meeting_are_no_member(qtbot, page, session, files) -> None:
    page.import_files(files)
    qtbot.waitUntil(lambda: len(page.members) > 1)
    kept = replace(session.scenario, name=f"{KEPT}1", note="for the vote")
    session.edit_workbook("Keep", lambda book: add_scenario(book, edit_threshold(kept, TableId("PH4"), 14)))
    qtbot.waitUntil(lambda: page.list.count() == len(NAMES) + 2)
    assert [each.name for each in page.members] == [*NAMES]


def test_that_whoever_ticks_a_scenario_by_hand_keeps_the_tick(qtbot, page, files) -> None:
    page.tick("Proposal")
    page.import_files(files)
    qtbot.waitUntil(lambda: len(page.members) > 1)
    assert [each.name for each in page.members] == ["Proposal", *NAMES]


def test_that_the_middle_is_what_the_draft_gives_where_thresholds_move_margins_too(us) -> None:
    query = parse_query("PH4/usa_*")
    wider = edit_threshold(edit_margin(us, query, Fraction(600)), TableId("PH4"), 12)
    members = [replace(us, name="Ada"), replace(wider, name="Grace"),
               replace(edit_threshold(us, TableId("PH4"), 12), name="Alan")]  # fmt: skip
    matrix = committee_matrix(members, us)
    found = _cells(matrix_view(matrix, members), f"Margin of {query.title}")
    assert [found[name] for name in ("Baseline", "Ada", "Grace", "Alan", "Median")] == [500, "·", 709, 591, 591]
    draft = next(each for each in forecast(consensus(matrix, members)).queries if each.query == query)
    assert wording.people(draft.margins.normal) == "591"


def test_that_a_system_without_queries_to_trade_says_where_its_proposals_are_compared(page, session):
    sizes = replace(preset("group-sizes-census-2010").scenario, name="Sizes")
    session.edit_workbook("Sizes", lambda book: add_scenario(book, sizes))
    page.refresh()
    page.tick("Sizes")
    assert "The tab Compare" in page.title.text() + page.sentence.text()


@pytest.mark.parametrize(
    ("name", "total"), [("counties-invariant-2010", "epsilon"), ("group-sizes-census-2010", "total")]
)
def test_that_several_proposals_of_a_system_without_queries_to_trade_are_ticked(page, session, name, total):
    start = preset(name).scenario
    dearer = replace(start.method, **{total: getattr(start.method, total) * 2})
    proposals = [replace(start, name="Start"), *(replace(start, name=each, method=dearer) for each in NAMES)]
    session.install(Project.new(Workbook(tuple(proposals), "Start")))
    page.refresh()
    assert [each.name for each in page.members] == list(NAMES)
    assert page.overlay.isEnabled()
