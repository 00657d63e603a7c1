"""Comments: kept by files, undo, merging, comparison, matrix, report and bundle; they change no number."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from phexplore.decide.bundle import _bare_workbook
from phexplore.decide.comments import HEADERS, comments_table, said_of
from phexplore.decide.committee import committee_matrix, consensus
from phexplore.decide.comparing import Compared, compare
from phexplore.decide.comparison_view import view_of
from phexplore.decide.matrix_view import matrix_view
from phexplore.document.project import Project
from phexplore.files.project_file import read_project
from phexplore.files.scenario_json import encode_scenario
from phexplore.model.comment import LONGEST_COMMENT, Comment
from phexplore.model.comments import CommentRefusedError, add_comment, all_reasons, comments_on, new_comments, place_of
from phexplore.model.fingerprint import fingerprint
from phexplore.model.workbook import Workbook
from phexplore.systems.phsafe.budget_edits import edit_margin
from phexplore.systems.registry import presets, system_of

START = presets()["sdhc-2020-us"].scenario
QUERY = next(query for query in START.phsafe.budgets if query.text == "PH3/usa_A-G")
WHY = Comment("Schools need it", "Anna Member", "2026-11-23T06:00:00+00:00", QUERY.text)


def member(name, margin, comment):
    edited = edit_margin(replace(START, name=name), QUERY, margin)
    return add_comment(edited, comment)


def test_that_a_comment_changes_no_number_and_no_file_without_one() -> None:
    commented = add_comment(START, WHY)
    assert fingerprint(commented) == fingerprint(START)
    assert "comments" not in encode_scenario(START)
    assert comments_on(commented, place_of(QUERY)) == (WHY,)
    assert comments_on(commented, "") == ()
    assert said_of(WHY) == "Anna Member, 23 Nov 2026, 06:00: Schools need it"


@pytest.mark.parametrize("empty", [Comment("  ", "Anna"), Comment("Why", " ")])
def test_that_a_comment_has_a_text_and_an_author(empty) -> None:
    with pytest.raises(CommentRefusedError):
        add_comment(START, empty)
    with pytest.raises(ValueError, match="at most"):
        Comment("x" * (LONGEST_COMMENT + 1), "Anna")


def test_that_files_history_and_undo_keep_comments(tmp_path) -> None:
    project = Project.new(Workbook((START,), START.name))
    project.edit("Comment by Anna Member", lambda scenario: add_comment(scenario, WHY))
    project.save(tmp_path / "a.phx")
    before, after = (step.value for step in project.steps)
    assert new_comments(before, after) == (WHY,)
    again = read_project((tmp_path / "a.phx").read_text(encoding="utf-8"), name="a.phx")
    assert again.issues == ()
    assert again.workbook.scenario.comments == (WHY,)
    project.undo()
    assert project.scenario.comments == ()
    project.close()


def test_that_merging_keeps_all_reasons_and_the_matrix_shows_them_at_their_number() -> None:
    other = Comment("Too much noise for towns", "Ben Member", "", QUERY.text)
    anna, ben = member("Anna", 25, WHY), replace(member("Ben", 30, other), note="For the Senate")
    matrix = committee_matrix((anna, ben), START)
    (row,) = (row for row in matrix.rows if row.kind == "budget")
    assert row.reasons == ("Anna Member: Schools need it", "Ben Member: Too much noise for towns")
    shown = matrix_view(matrix).numbers
    assert any("Schools need it" in str(cell) for cell in shown.column("Reasons"))
    full = committee_matrix((member("Anna", 25, replace(WHY, text="Schools need it.")), ben), START)
    assert "Anna Member: Schools need it; Ben Member: Too" in matrix_view(full).numbers.column("Reasons")[0]
    draft = consensus(matrix, (anna, ben))
    assert draft.comments == (WHY, other, Comment("For the Senate", "Ben"))
    assert all_reasons((anna, anna)) == (WHY,)


def test_that_comparisons_reports_and_bundles_have_them_and_free_text_can_be_left_out() -> None:
    commented = add_comment(START, WHY)
    found = compare([Compared("A", commented), Compared("B", member("B", 25, Comment("Why not", "Ben")))], ())
    assert len(view_of(found).comments.rows) == 2
    table = comments_table([commented], ["A"])
    assert table.headers == ("Of", *HEADERS)
    assert table.rows[0][2:] == ("Schools need it", "Anna Member", "23 Nov 2026, 06:00")
    html = system_of(START).formats["html"].write(commented, None, datetime(2026, 11, 23, tzinfo=UTC)).decode()
    assert "Schools need it" in html
    assert "What people said" not in (
        system_of(START).formats["html"].write(START, None, datetime(2026, 11, 23, tzinfo=UTC)).decode()
    )
    assert json.loads(json.dumps(encode_scenario(commented)))["comments"][0]["text"] == "Schools need it"


def test_that_a_bundle_without_free_text_has_no_comment() -> None:
    book = _bare_workbook(Workbook((replace(add_comment(START, WHY), note="free"),), START.name))
    assert (book.scenario.comments, book.scenario.note) == ((), "")


def test_that_no_comment_reads_as_that_of_another_person() -> None:
    forged = Comment("I agree\nAnna Member: so do I", "Ben\nAnna Member", "", QUERY.text)
    assert said_of(forged) == "Ben\\nAnna Member: I agree\n    Anna Member: so do I"
    (row,) = committee_matrix([member("Ben", 30, forged)], START).rows
    assert row.reasons == ("Ben Anna Member: I agree Anna Member: so do I",)
