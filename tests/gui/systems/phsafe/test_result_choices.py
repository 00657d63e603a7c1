from __future__ import annotations

from phexplore.catalog.tables import tables
from phexplore.model.keys import Region, parse_query
from phexplore.systems.phsafe.result_choices import (
    Choices,
    ResultChoice,
    cell_label,
    cell_words,
    code_words,
    number_words,
    region_words,
)

PH3, PH2 = parse_query("PH3/state_A-G"), parse_query("PH2/usa_*")
CHOICES = Choices((PH2, PH3), {Region.NATION: ("1",), Region.STATE: ("09", "44")}, {"PH3": (2, 4, 9), "PH2": (3, 4)})


def test_that_without_a_wish_a_table_at_state_level_is_shown():
    assert CHOICES.settled("", "", "", "", "") == ResultChoice(PH3, "09", "A", None)


def test_that_what_a_run_offers_is_kept():
    assert CHOICES.settled("PH3", "state_A-G", "44", "D", "9") == ResultChoice(PH3, "44", "D", 9)


def test_that_what_a_run_does_not_offer_is_replaced_by_its_first():
    assert CHOICES.settled("PH2", "usa_*", "44", "D", "9") == ResultChoice(PH2, "1", "*", None)


def test_that_numbers_are_worded_for_people():
    assert number_words(PH3, "44", "D", 9) == "PH3, Rhode Island, Asian alone, Other relatives: Grandchild"
    assert number_words(PH2, "1", "*", 3).startswith("PH2, Nation, ")
    assert cell_words(tables()["PH3"], 4) == "Own child: In married couple family"
    assert cell_words(tables()["PH3"], 1) == "Total"
    assert cell_label(PH3, None) == "all cells"
    assert code_words("*") == ""
    assert region_words("99") == "99"


def test_that_every_published_cell_of_a_table_has_its_own_words():
    for product in tables().values():
        words = [cell_words(product, cell.code) for cell in product.basis_cells]
        assert len(set(words)) == len(words), product.id
