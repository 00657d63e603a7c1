from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phexplore.files.json_text import (
    DEPTH_LIMIT,
    JsonList,
    JsonNumber,
    JsonObject,
    JsonString,
    JsonSyntaxError,
    line_and_column,
    parse_json,
    repeated_keys,
)

JSON_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
    lambda children: st.one_of(st.lists(children, max_size=4), st.dictionaries(st.text(), children, max_size=4)),
    max_leaves=20,
)


def plain(value):
    match value:
        case JsonNumber():
            return json.loads(value.text)
        case JsonString():
            return value.text
        case JsonList():
            return [plain(item) for item in value.items]
        case JsonObject():
            return {member.key.text: plain(member.value) for member in value.members}
        case _:
            return json.loads(value.text)


@given(JSON_VALUES, st.sampled_from([None, 1, 4]))
def test_that_it_reads_what_the_standard_library_reads(value, indent):
    text = json.dumps(value, indent=indent)
    assert json.dumps(plain(parse_json(text))) == json.dumps(json.loads(text))


@given(JSON_VALUES)
def test_that_every_number_stands_where_it_says(value):
    text = json.dumps(value)

    def walk(node):
        if isinstance(node, JsonNumber):
            assert text[node.start : node.end] == node.text
        for child in getattr(node, "items", ()):
            walk(child)
        for member in getattr(node, "members", ()):
            walk(member.value)

    walk(parse_json(text))


BROKEN = {
    "": 0,
    "{": 1,
    '{"a" 1}': 5,
    '{"a": 1,}': 7,
    "[1 2]": 3,
    "[1,]": 2,
    "01": 1,
    '"\\x"': 0,
    "{} {}": 3,
    "tru": 0,
    '{"a": }': 6,
}


@pytest.mark.parametrize(("text", "position"), BROKEN.items())
def test_that_a_broken_text_is_located(text, position):
    with pytest.raises(JsonSyntaxError) as caught:
        parse_json(text)
    assert caught.value.position == position


def test_that_deep_nesting_is_refused_not_a_crash():
    with pytest.raises(JsonSyntaxError, match="nested"):
        parse_json("[" * (DEPTH_LIMIT + 10))


def test_that_lines_and_columns_are_counted_from_one():
    assert line_and_column("ab\ncd", 3) == (2, 1)
    assert line_and_column("ab\ncd", 1) == (1, 2)


def test_that_repeated_keys_are_found():
    value = parse_json('{"a": 1, "b": 2, "a": 3}')
    assert isinstance(value, JsonObject)
    assert [key.start for key in repeated_keys(value)] == [17]
