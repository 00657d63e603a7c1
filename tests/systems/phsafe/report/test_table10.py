from __future__ import annotations

import csv
import io
import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from phexplore.files.spreadsheet import csv_bytes, safe_text
from phexplore.model.numbers import parse_budget
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.phsafe.table10 import (
    PAPER_HEADERS,
    is_row_met,
    percent_text,
    plain_decimal,
    table10_csv,
    table10_rows,
)

SHARED = Path(__file__).parents[5] / "shared"
PAPER = SHARED / "papers" / "000_c11081212d346ddd.txt"
PRESETS = SHARED / "presets" / "phsafe.json"


def lines_of(content):
    return list(csv.reader(io.StringIO(content.decode("ascii"), newline=""), strict=True))


def published_rows():
    """Table 10 as the paper prints it, parsed from its text: the table and its threshold stand in the first line only."""
    if not PAPER.exists():
        pytest.skip("the PHSafe paper is not beside the checkout")
    rows, table, threshold = [], "", ""
    for line in PAPER.read_text(encoding="utf-8").splitlines():
        if found := re.fullmatch(r"(?:(PH\w+) (\d+|NA) )?(\(\w+, [\w-]+\)) (\d+) ([\d.]+) ([\d.]+)", line.strip()):
            table, threshold = found[1] or table, found[2] or threshold
            rows.append((table, threshold, found[3], found[4], Fraction(found[5]), Fraction(found[6])))
    return rows


def test_that_the_csv_reproduces_all_46_rows_of_the_paper_in_their_order(us):
    header, *lines = lines_of(table10_csv(us, forecast(us)))
    ours = [(*line[:4], Fraction(line[4]), Fraction(line[5])) for line in lines]
    assert tuple(header[:6]) == PAPER_HEADERS
    assert len(ours) == 46
    assert ours == published_rows()


def test_that_the_csv_shows_the_checked_margins_of_every_row(us):
    if not PRESETS.exists():
        pytest.skip("the checked figures are not beside the checkout")
    checked = json.loads(PRESETS.read_text(encoding="utf-8"))["derived_us"]
    levels = {
        "(Nation, Unattributed)": "usa_*",
        "(Nation, A-G)": "usa_A-G",
        "(Nation, H-I)": "usa_H,I",
        "(State, Unattributed)": "state_*",
        "(State, A-G)": "state_A-G",
        "(State, H-I)": "state_H,I",
    }
    header, *lines = lines_of(table10_csv(us, forecast(us)))
    assert header[6:10] == [
        "MOE exact (90 %)",
        "MOE normal (90 %, z = 1.645)",
        "MOE paper (floor of 1.64 sigma)",
        "Noise scale sigma (people)",
    ]
    for line in lines:
        figures = checked[line[0]][levels[line[2]]]
        assert int(line[6]) == figures["moe_exact_discrete_gaussian"]
        assert float(line[7]) == pytest.approx(figures["moe_1_645"], abs=1e-6)
        assert int(line[8]) == figures["moe_1_64_floor"]
        assert float(line[9]) == pytest.approx(figures["sigma"], abs=1e-6)


def test_that_shares_add_to_one_hundred_percent(us):
    _, *lines = lines_of(table10_csv(us, forecast(us)))
    # 46 figures rounded at 1e-4: at most 46 half steps off.
    assert sum(Fraction(line[10]) for line in lines) == pytest.approx(100, abs=46 * 0.5e-4)


def test_that_unpublished_levels_have_a_row_without_figures(puerto_rico):
    _, *lines = lines_of(table10_csv(puerto_rico, forecast(puerto_rico)))
    nation = [line for line in lines if line[2].startswith("(Nation")]
    assert len(lines) == 46
    assert len(nation) == 23
    assert all(line[3:10] == ["", "0", "0", "", "", "", ""] for line in nation)


def test_that_no_number_is_in_e_notation_and_no_budget_is_rounded(scenario):
    _, *lines = lines_of(table10_csv(scenario, forecast(scenario)))
    assert [parse_budget(line[4]) for line in lines] == [
        row.budget for row in table10_rows(scenario, forecast(scenario))
    ]
    for line in lines:
        assert not any(re.search(r"\d[eE][+-]?\d", cell) for cell in line[3:11])


def test_that_the_csv_is_the_same_bytes_twice_and_ends_lines_as_rfc_4180_says(scenario):
    first, second = (table10_csv(scenario, forecast(scenario)) for _ in range(2))
    assert first == second
    assert first.count(b"\r\n") == first.count(b"\n") == 47


def test_that_a_query_keeps_its_target_to_the_nearest_person(us):
    rows = table10_rows(us, forecast(us))
    assert [is_row_met(row, us.conventions) for row in rows] == [True] * 46
    # 500.04 people for a target of 500: the published budgets were rounded.
    assert float(rows[0].margins.normal) > rows[0].target


@pytest.mark.parametrize("text", ["=1+1", "+1", "-SUM(A1)", "@x", "\tx", "\r=x", "\n=x"])
def test_that_a_text_cell_is_never_a_formula(text):
    assert safe_text(text).startswith("'")
    ((cell,),) = csv.reader(io.StringIO(csv_bytes([[text]]).decode(), newline=""))
    assert cell == f"'{text}"


@pytest.mark.parametrize("text", ["-12", "0.25", "-0.5", "Total", "1/3"])
def test_that_numbers_and_plain_text_stay_as_they_are(text):
    assert csv_bytes([[text]]) == f"{text}\r\n".encode()


def test_that_percentages_are_rounded_from_the_exact_share():
    assert percent_text(Fraction(662976, 1257281)) == "52.7309"
    assert percent_text(Fraction(1, 3), 1) == "33.3"


def test_that_decimals_have_no_exponent():
    assert plain_decimal(1e-9, 6) == "0.000000"
    assert plain_decimal(1e22, 0) == "1" + "0" * 22
