from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phexplore.errors import nearest
from phexplore.report.terminal import print_json
from phexplore.text.escapes import visible


@pytest.mark.defect("F10")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Zoë, 90\u202f% – ε", "Zoë, 90\u202f% – ε"),
        ("A\x1b[2K\rIntact", r"A\x1b[2K\rIntact"),
        ("two\nlines\u2028", r"two\nlines\u2028"),
        ("\u202eadA", r"\u202eadA"),
        ("\x9b2K", r"\x9b2K"),
        ("\ud800", r"\ud800"),
    ],
)
def test_that_text_of_a_file_cannot_move_the_cursor_or_reverse_a_line(text, shown):
    assert visible(text) == shown


@pytest.mark.defect("F10")
def test_that_printed_json_holds_no_sign_that_a_terminal_obeys(capsys):
    value = {"name": "A\x1b[2K\x9b2K\u202e\u2066\n\ud800ε"}
    print_json(value)
    out = capsys.readouterr().out
    assert not any(sign in out for sign in "\x1b\x9b\u202e\u2066\ud800")
    assert json.loads(out) == value


@pytest.mark.defect("F10")
@given(st.text(st.characters(codec=None, categories=["Cc", "Cf", "Cs", "Zl", "Zp", "L"]), max_size=20))
def test_that_nothing_a_terminal_obeys_is_left(text):
    shown = visible(text)
    obeyed = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert not {sign for sign in shown if unicodedata.category(sign) in obeyed} - set("\u200c\u200d")
    shown.encode()


@pytest.mark.parametrize(
    "text", ["Ada Lovelace", "ρ = 2,5 – 1 000 €", "naïve İstanbul 東京", "\u0646\u0627\u0645\u200c\u0647\u0627", ""]
)
def test_that_what_people_write_stays(text):
    assert visible(text) == text


def test_that_a_name_of_any_length_is_compared_at_no_cost():
    assert nearest("stat", ["nation", "state"]) == "state"
    assert nearest("quux", ["nation", "state"]) == ""
    assert nearest("state" * 100_000, ["nation", "state"]) == ""
