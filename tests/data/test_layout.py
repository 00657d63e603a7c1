from __future__ import annotations

import pytest

from phexplore.data.layout import LAYOUT, Kind, position

# PHSafe 3.0.0, file layouts: the columns of each file in order.
PRODUCTION = {
    "persons": "RTYPE MAFID QAGE CENHISP CENRACE RELSHIP",
    "units": "RTYPE MAFID FINAL_POP NPF HHSPAN HHRACE TEN HHT HHT2 CPLT",
    "geo": "RTYPE MAFID TABBLKST TABBLKCOU TABTRACTCE TABBLK TABBLKGRPCE REGIONCE DIVISIONCE PLACEFP AIANNHCE",
}


@pytest.mark.parametrize("frame", PRODUCTION)
def test_that_the_columns_are_those_of_production_in_order(frame):
    assert [column.name for column in LAYOUT[frame]] == PRODUCTION[frame].split()


@pytest.mark.parametrize(
    ("frame", "column", "legal", "illegal"),
    [
        ("persons", "RTYPE", ["3", "5"], ["2", "4", "", "03", "x"]),
        ("persons", "QAGE", ["0", "115", "007", "+3"], ["116", "-1", "4.0", "", "+-3", "0" * 5000]),
        ("persons", "CENRACE", ["01", "63"], ["00", "64", "1", "001"]),
        ("persons", "RELSHIP", ["20", "38"], ["19", "39", "2"]),
        ("units", "NPF", ["0", "2", "97"], ["1", "98"]),
        ("units", "HHRACE", ["00", "63"], ["0", "64"]),
        ("units", "HHT2", ["00", "12"], ["13", "1"]),
        ("geo", "REGIONCE", ["1", "4", "9"], ["0", "5", "8"]),
        ("geo", "TABTRACTCE", ["000000", "999999"], ["12345", "12345x", "١٢٣٤٥٦"]),
    ],
)
def test_that_a_column_takes_its_legal_values_only(frame, column, legal, illegal):
    own = LAYOUT[frame][position(frame, column) - 1]
    assert [own.code_of(text) for text in legal] == [int(text) for text in legal]
    assert [own.code_of(text) for text in illegal] == [None] * len(illegal)


@pytest.mark.parametrize("frame", PRODUCTION)
def test_that_a_text_code_is_printed_as_it_is_read(frame):
    for column in LAYOUT[frame]:
        if column.kind is Kind.TEXT:
            for low, high in column.legal:
                assert column.code_of(column.text(low)) == low
                assert column.code_of(column.text(high)) == high


def test_that_the_legal_values_are_told_in_words():
    assert LAYOUT["units"][position("units", "NPF") - 1].legal_text == "0, 2 to 97"
    assert LAYOUT["persons"][position("persons", "CENRACE") - 1].legal_text == (
        "01 to 63 (2 digits, leading zeros kept)"
    )
