"""Declared fields on a class that no system has: files, descriptions, fingerprints, command line."""

from __future__ import annotations

import enum
import json
import pickle
from collections.abc import Mapping
from dataclasses import MISSING, replace
from fractions import Fraction
from typing import ClassVar

import pytest
from jsonschema import Draft202012Validator

from phexplore.model.fields import (
    Column,
    Declared,
    Record,
    declared,
    declared_fields,
    decode,
    describe,
    encode,
    field_of,
    parameter,
    read,
)
from phexplore.model.kinds import Choice, Entries, Exact, Flag, Listing, Members, Optional, Pairs, Problems, Text, Whole


class Colour(enum.Enum):
    """A colour."""

    RED = "red"
    BLUE = "blue"


@declared
class Part(Declared):
    """A part."""

    canonical_form: ClassVar[str] = "list"

    low: int = parameter(Whole(1))
    word: str = parameter(Text(), default="")


@declared
class Thing(Declared):
    """A thing."""

    file_kind: ClassVar[str] = "thing"
    file_order: ClassVar[tuple[str, ...]] = (
        "colour",
        "total",
        "rows",
        "shares",
        "part",
        "pairs",
        "locks",
        "on",
        "seed",
    )

    rows: tuple[str, ...] = parameter(Listing(Text()), column=Column("table", "row"))
    total: Fraction = parameter(Exact(above=0), title="total budget", symbol="ε", doc="Everything.")
    shares: Mapping[str, Fraction] = parameter(
        Entries(Exact(low=0, high=1)), column=Column("table", "share"), word="share"
    )
    colour: Colour = parameter(Choice(Colour), default=Colour.RED)
    part: Part | None = parameter(Optional(Record(Part)), default=None)
    pairs: tuple[tuple[str, str], ...] = parameter(Pairs(Text(), is_ordered=False), default=())
    locks: frozenset[str] = parameter(
        Members(Text()), default=frozenset(), word="lock", is_identity=False, is_parameter=False
    )
    on: bool = parameter(Flag(), default=False, is_omitted=True, option="--on", doc="Switch it on.")
    seed: int | None = parameter(Optional(Whole(0, 9)), default=None, option="--seed", doc="Where to begin.")  # fmt: skip


THING = Thing(("a", "b"), Fraction(1, 3), {"a": Fraction(1, 4), "b": Fraction(3, 4)}, pairs=(("z", "1"), ("y", "2")))
FULL = replace(THING, colour=Colour.BLUE, part=Part(2), locks=frozenset({"b", "a"}), on=True, seed=7)


@pytest.mark.parametrize("thing", [THING, FULL])
def test_that_a_value_comes_back_from_its_file_and_fits_its_schema(thing):
    content = json.loads(json.dumps(encode(thing)))
    problems = Problems(("file",))
    assert decode(Thing, content, problems, ()) == thing == read(Thing, content)
    assert problems.issues == []
    shared = {}
    schema = {**describe(Thing, shared), "$defs": shared}
    Draft202012Validator.check_schema(schema)
    assert Draft202012Validator(schema).is_valid(content)
    assert not Draft202012Validator(schema).is_valid({**content, "extra": 1})


def test_that_the_order_of_files_is_the_one_declared():
    assert list(encode(THING)) == ["kind", "colour", "total", "table", "part", "pairs", "locks", "seed"]
    assert encode(THING)["table"][1] == {"row": "b", "share": "0.75"}
    assert list(encode(FULL))[-2:] == ["on", "seed"]


def test_that_every_problem_stands_at_its_place():
    content = encode(FULL) | {"colour": "green", "total": 3, "seed": "1", "pairs": {"x": 1}}
    content["table"] = [{"row": "a"}, {"row": 3, "share": "x"}]
    del content["locks"]
    problems = Problems(("file",))
    assert decode(Thing, content, problems, ("method",)) is None
    assert [issue.path[1:] for issue in problems.issues] == [
        ("method", "colour"),
        ("method", "total"),
        ("method", "table", "0"),
        ("method", "table", "1", "row"),
        ("method", "table", "1", "share"),
        ("method", "pairs", "x"),
        ("method", "seed"),
    ]
    assert decode(Thing, {"kind": "thing"}, problems, ()) is None
    assert [issue.path[-1] for issue in problems.issues[-2:]] == ["total", "table"]


@pytest.mark.parametrize(
    "changed",
    [{"total": Fraction(0)}, {"shares": {"a": Fraction(2), "b": Fraction(0)}}, {"seed": 10}, {"total": Fraction(10**80)}],
)  # fmt: skip
def test_that_values_out_of_range_are_refused(changed):
    with pytest.raises(ValueError, match=r"positive|between|larger"):
        replace(THING, **changed)


def test_that_unknown_fields_of_parts_are_refused():
    with pytest.raises(ValueError, match="'lo'"):
        read(Part, {"lo": 3})


def test_that_values_are_frozen_hashed_and_pickled():
    with pytest.raises(TypeError):
        THING.shares["a"] = 3
    again = pickle.loads(pickle.dumps(FULL))  # noqa: S301 - its own bytes
    assert again == FULL
    assert hash(again) == hash(FULL) != hash(THING)


def test_that_fingerprints_are_taken_of_what_decides_a_result():
    assert FULL.canonical() == {
        "method": "thing",
        "rows": ["a", "b"],
        "total": "1/3",
        "shares": {"a": "0.25", "b": "0.75"},
        "colour": "blue",
        "part": [2, ""],
        "pairs": [["y", "2"], ["z", "1"]],
        "on": True,
        "seed": 7,
    }
    assert replace(FULL, locks=frozenset()).canonical() == FULL.canonical()


def test_that_a_command_line_can_be_made_of_the_fields():
    flags = {each.option: each for each in declared_fields(Thing) if each.option}
    assert {name: (each.name, each.default, each.doc) for name, each in flags.items()} == {
        "--on": ("on", False, "Switch it on."),
        "--seed": ("seed", None, "Where to begin."),
    }
    assert flags["--seed"].kind.parse("4") == 4
    assert flags["--seed"].kind.parse("") is None
    assert Whole().parse("-1,234,567") == -1234567
    for text in ("1.5", "1,5", "1,23,456", "٣", "9" * 30, ""):
        with pytest.raises(ValueError, match="whole number"):
            Whole().parse(text)
    assert field_of(Thing, "colour").kind.parse("blue") is Colour.BLUE
    assert field_of(Thing, "total").default is MISSING
    assert field_of(Thing, "total").phrase == "the total budget"
