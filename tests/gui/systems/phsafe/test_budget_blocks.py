from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import pytest

from phexplore.gui.binding.scenario_view import shown
from phexplore.gui.systems.phsafe.budget_table import COLUMNS, CONVENTION_COLUMNS, Column, budget_table
from phexplore.gui.tables import blocks
from phexplore.gui.tables.blocks import PasteRefusedError, read_block
from phexplore.model.edits import set_item
from phexplore.model.keys import TableId, parse_query
from phexplore.model.workbook import Workbook
from phexplore.systems.phsafe.budget_edits import edit_margin
from phexplore.systems.phsafe.edits import set_budget, set_target, set_threshold
from phexplore.systems.phsafe.forecast import forecast

VISIBLE = [column for column in COLUMNS if column not in CONVENTION_COLUMNS]


def _table(scenario):
    return budget_table(shown(Workbook((scenario,), scenario.name, "sdhc-2020-us")))


def _rows(scenario):
    return _table(scenario).rows


def _columns(table, keys):
    return [table.columns[table.number(key)] for key in keys]


def block_text(scenario, keys):
    table = _table(scenario)
    return blocks.block_text(table, table.rows, _columns(table, keys), headers=True)


def plan_paste(pasted, scenario, **place):
    """Return how many cells a block changes, the name of the step and its edit."""
    table = _table(scenario)
    entries = read_block(pasted, table, table.rows, _columns(table, VISIBLE), **place)
    label, edit = table.plan(entries) if entries else ("", lambda before: before)
    return SimpleNamespace(count=len(entries), label=label, edit=edit)


def _place(rows, query, column):
    return {"row": [row.key for row in rows].index(query), "column": VISIBLE.index(column)}


def test_that_a_whole_table_copied_with_headers_pastes_back_into_another_scenario(us, query) -> None:
    edited = set_item(set_budget(us, query, Fraction(1, 3)), "locks", parse_query("PH2/usa_*"), value=True)
    edited = set_threshold(edit_margin(edited, parse_query("PH7/usa_*"), Fraction(450)), TableId("PH4"), 12)
    copied = block_text(edited, VISIBLE)
    plan = plan_paste(copied, us, row=0, column=0)
    assert plan.edit(us).method == edited.method


def test_that_pasting_what_is_there_changes_nothing(us) -> None:
    copied = block_text(us, VISIBLE)
    assert plan_paste(copied, us, row=0, column=0).count == 0


def test_that_headers_decide_whatever_the_order(us, query) -> None:
    pasted = "ρ\tLevel\tTable\n1/4\tstate_A-G\tph3\n"
    after = plan_paste(pasted, us, row=40, column=3).edit(us)
    assert after == set_budget(us, query, Fraction(1, 4))


def test_that_a_block_without_headers_goes_down_and_right(us, query) -> None:
    rows = _rows(us)
    plan = plan_paste("0.1\n0,2\n", us, **_place(rows, query, Column.BUDGET))
    after = plan.edit(us)
    following = rows[[row.key for row in rows].index(query) + 1].key
    assert after.method.budgets[query] == Fraction(1, 10)
    assert after.method.budgets[following] == Fraction(1, 5)
    assert plan.label == f"Paste 2 values: {query.title}, {following.title}"


def test_that_one_value_fills_the_selected_rows(us, query) -> None:
    rows = _rows(us)
    plan = plan_paste("300", us, **_place(rows, query, Column.MARGIN), selected=3)
    after = plan.edit(us)
    margins = {entry.query: entry.margins.normal for entry in forecast(after).queries}
    assert sum(299.9 < margin <= 300 for margin in margins.values()) == 3
    assert after.method.targets == us.method.targets


def test_that_a_bad_cell_is_named_and_nothing_is_pasted(us, query) -> None:
    rows = _rows(us)
    plan = plan_paste("0.1\nabc\n", us, **_place(rows, query, Column.BUDGET))
    with pytest.raises(PasteRefusedError, match=r"Nothing was pasted. 'abc' for ρ of PH3 \(State, H-I\)"):
        plan.edit(us)


def test_that_a_locked_row_refuses_the_whole_block(us, query) -> None:
    locked = set_item(us, "locks", query, value=True)
    rows = _rows(locked)
    plan = plan_paste("0.1\n0.2\n", locked, **_place(rows, query, Column.BUDGET))
    with pytest.raises(PasteRefusedError, match="locked"):
        plan.edit(locked)


def test_that_budgets_of_one_row_must_agree(us, query) -> None:
    rows = _rows(us)
    with pytest.raises(PasteRefusedError, match="not twice"):
        plan_paste("0.1\t0.3\n", us, **_place(rows, query, Column.BUDGET))
    after = plan_paste("0.1\t0.2\n", us, **_place(rows, query, Column.BUDGET)).edit(us)
    assert after.method.budgets[query] == Fraction(1, 10)


def test_that_a_computed_column_refuses_a_block_without_headers(us, query) -> None:
    rows = _rows(us)
    with pytest.raises(PasteRefusedError, match="computed"):
        plan_paste("99 %", us, **_place(rows, query, Column.SHARE))


@pytest.mark.parametrize(
    ("pasted", "row", "column", "reason"),
    [
        ("1\n2\n3", 45, 7, "more than there are from the current row"),
        ("1\t2\t3", 0, len(VISIBLE) - 1, "more than there are from the current column"),
        ("", 0, 0, "nothing to paste"),
        ("Table\tLevel\tρ\nPH9\tusa_*\t1", 0, 0, "PH9"),
        ("Table\tLevel\tτ\nPH3\tusa_*\t5\nPH3\tstate_*\t7", 0, 0, "one threshold"),
        ("Table\tρ\nPH3\t1\t2", 0, 0, "more cells than there are headers"),
    ],
)
def test_that_a_block_that_does_not_fit_is_refused(us, pasted, row, column, reason) -> None:
    with pytest.raises(PasteRefusedError, match=reason):
        plan_paste(pasted, us, row=row, column=column)


def test_that_blank_cells_change_nothing(us, query) -> None:
    rows = _rows(us)
    plan = plan_paste("\t0.1\n", us, **_place(rows, query, Column.MARGIN))
    after = plan.edit(us)
    assert after.method.targets == us.method.targets
    assert after.method.budgets[query] == Fraction(1, 10)


def test_that_excel_line_ends_are_read(us, query) -> None:
    rows = _rows(us)
    plan = plan_paste("0.1\r\n0.2\r\n", us, **_place(rows, query, Column.BUDGET))
    assert plan.count == 2


def test_that_a_target_beside_a_budget_is_set_without_solving(us, query) -> None:
    pasted = "Table\tLevel\tTarget\tρ\nPH3\tState, A-G\t33\t0.1"
    after = plan_paste(pasted, us, row=0, column=0).edit(us)
    assert after.method.budgets[query] == Fraction(1, 10)
    assert after.method.targets[query] == 33


@pytest.mark.defect("M1")
def test_that_an_edited_target_moves_no_budget(us, query) -> None:
    copied = block_text(us, [Column.TARGET, Column.MARGIN, Column.BUDGET, Column.BOUNDED])
    lines = copied.split("\n")
    at = next(n for n, line in enumerate(lines) if line.startswith("PH3\tState, A-G"))
    cells = lines[at].split("\t")
    cells[2] = "25"
    lines[at] = "\t".join(cells)
    after = plan_paste("\n".join(lines), us, row=0, column=0).edit(us)
    assert after == set_target(us, query, Fraction(25))


def test_that_a_margin_alone_is_solved(us, query) -> None:
    rows = _rows(us)
    after = plan_paste("25", us, **_place(rows, query, Column.MARGIN)).edit(us)
    assert after == edit_margin(us, query, Fraction(25))
