"""One target changes from 20 to 30: what a committee receives states it first, and every difference is proposal − baseline.

Read from the files themselves, against values computed by hand.
"""

from __future__ import annotations

import html
import io
import re
from dataclasses import replace
from fractions import Fraction

import docx
import pytest
from pptx import Presentation
from report_fixtures import NOW

import phexplore as px
from phexplore.decide.committee import committee_matrix
from phexplore.decide.comparing import Compared, compare
from phexplore.decide.comparison_view import view_of
from phexplore.decide.matrix_view import matrix_view
from phexplore.decide.scenario_export import report_bytes
from phexplore.decide.solving import SolveRequest, answer, applied, goals_of, headline, with_targets
from phexplore.figures.table import shown
from phexplore.model.diff import diff, parameters_only
from phexplore.model.keys import parse_query
from phexplore.model.workbook import Workbook
from phexplore.systems.phsafe.changes import change_sentence
from phexplore.systems.phsafe.forecast import forecast

QUERY = parse_query("PH3/state_A-G")
SAID = "1 of 46 targets changed: 20 → 30"


@pytest.fixture
def solved(us):
    book = with_targets(Workbook((us,), us.name), {QUERY: Fraction(30)})
    return answer(SolveRequest(book.scenario, goals_of(book))).solved, book


@pytest.fixture
def proposal(solved):
    found, book = solved
    return replace(applied(book, found).scenario, name="Proposal")


CHANGE = 2 * (0.294657 - 0.662976)
"""Bounded loss that the wish frees, by hand: ρ = (1.645 · 14)² / (2 m²) of 30 and of 20 people, rounded up at 1e-6, doubled."""


def flat(text):
    return re.sub(r"\s+", " ", text)


def pages(form, content):
    """Yield the text of what is seen first, a page or a slide each."""
    if form == "html":
        body = content.decode().partition("<body")[2]
        yield flat(
            html.unescape(re.sub(r"<[^>]+>", " ", re.sub(r"<(style|script).*?</\1>", "", body, flags=re.DOTALL)))
        )
    elif form == "docx":
        found = docx.Document(io.BytesIO(content))
        yield flat(" ".join(each.text for each in found.element.body.iter() if each.tag.endswith("}t") and each.text))
    elif form == "pptx":
        for slide in Presentation(io.BytesIO(content)).slides:
            yield flat(" ".join(shape.text_frame.text for shape in slide.shapes if shape.has_text_frame))
    else:
        pdfium = pytest.importorskip("pypdfium2")
        file = pdfium.PdfDocument(content)
        yield from (flat(page.get_textpage().get_text_range()) for page in file)


@pytest.mark.parametrize("form", ["html", "docx", "pptx", "pdf"])
def test_that_a_changed_target_is_on_the_first_page_and_slides(us, proposal, form):
    if form == "pdf":
        pytest.importorskip("weasyprint")
    found = list(pages(form, report_bytes(proposal, us, form, NOW)))
    assert SAID in found[0][:4000]
    if form == "pptx":
        assert SAID in found[1]
    unchanged = list(pages(form, report_bytes(us, replace(us, name="Same"), form, NOW)))
    assert "targets changed" not in unchanged[0][:4000]


def test_that_every_difference_is_the_proposal_minus_the_baseline(us, proposal, solved):
    after = float(forecast(proposal).headline)
    assert after - 2.514562 == pytest.approx(CHANGE, abs=1e-9)
    # Compare
    found = compare([Compared(us.name, us), Compared("Proposal", proposal)])
    view = view_of(found)
    assert float(view.columns.rows[1][4]) == pytest.approx(CHANGE, abs=1e-9)
    assert view.columns.rows[1][5:7] == (0, 1)
    assert [[float(value) for value in row[1:]] for row in view.margins.rows] == [
        [pytest.approx(20, abs=0.01), pytest.approx(30, abs=0.01)]
    ]
    # compare and diff of the command line and of Python: baseline, then proposal
    table = px.compare(px.Scenario(us), px.Scenario(proposal))
    first, last = table[table.kind == "margin"].iloc[0, 2:]
    assert last - first == pytest.approx(10, abs=0.01)
    changes = parameters_only(diff(us, proposal))
    budget = next(each for each in changes if each.word == "budget")
    assert float(2 * (budget.after - budget.before)) == pytest.approx(CHANGE, abs=1e-9)
    assert "margin 20.0 people → 30.0 people" in change_sentence(budget, forecast(us), forecast(proposal))
    # Solve
    assert f"−{-CHANGE:.6f}" in headline(solved[0], us)
    # the matrix of a committee: the start, then what a member proposes
    matrix = matrix_view(committee_matrix([proposal], us), [proposal])
    (row,) = (row for row in matrix.numbers.rows if row[0].startswith("Margin"))
    assert [shown(value) for value in row[2:4]] == ["20", "30"]
    # page 1 of the report
    page = next(pages("html", report_bytes(proposal, us, "html", NOW)))
    assert f"{-100 * CHANGE / 2.514562:.1f}" in page
    assert "less than S-DHC 2020" in page
    assert "±20.0 before, ±30.0 (+10) now" in page


def test_that_a_matrix_lists_disagreement_first_and_folds_what_no_margin_shows(us, proposal):
    budgets = {
        key: budget + (Fraction(1, 10**12) if key != QUERY and budget else 0)
        for key, budget in proposal.phsafe.budgets.items()
    }
    one = replace(proposal, name="One", method=replace(proposal.phsafe, budgets=budgets))
    both = parse_query("PH2/usa_*")
    agreed = {both: us.phsafe.budgets[both] * 4}
    one, other = (
        replace(each, method=replace(each.phsafe, budgets={**each.phsafe.budgets, **agreed}))
        for each in (one, replace(us, name="Other"))
    )
    view = matrix_view(committee_matrix([one, other], us), [one, other])
    rows = [row for row in view.numbers.rows if row[0].startswith("Margin")]
    assert [shown(value) for value in rows[0][2:5]] == ["20", "30", "·"]
    assert len(rows) == 2
    assert "44 budgets adjusted, margins unchanged" in view.sentence
