from __future__ import annotations

import numpy as np
import pytest

from phexplore.spine.description import ClassDistances
from phexplore.spine.distance import Distances
from phexplore.systems.topdown.spine_contents import _level_finding
from phexplore.systems.topdown.spine_findings import (
    distance_finding,
    first_class,
    margin_finding,
    margin_text,
    noun,
    summary,
)


def found(name, before, after, reason=""):
    codes = np.array([f"a{n}" for n in range(len(before))])
    return ClassDistances(
        name, name, Distances(name, codes, np.array(before)), Distances(name, codes, np.array(after)), reason
    )


@pytest.mark.parametrize(
    ("before", "after", "targeted", "words"),
    [
        (
            [30, 18],
            [6, 6],
            True,
            "Targeting places brings the mean off-spine distance of 2 places from 24.00 to 6.00 units.",
        ),
        ([30, 18], [6, 6], False, "The mean off-spine distance of 2 places falls from 24.00 to 6.00 units."),
        ([6], [7], True, "The mean off-spine distance of 1 place rises from 6.00 to 7.00 units."),
        ([6], [6], True, "The mean off-spine distance of 1 place stays at 6.00 units."),
        ([], [], True, "No block lies in one of the places."),
    ],
)
def test_that_a_finding_names_the_change(before, after, targeted, words):
    assert distance_finding(found("place", before, after), targeted=targeted) == words


def test_that_places_are_spoken_of_first_and_towns_after_with_their_reasons():
    classes = [found("tract", [1], [1]), found("cousub", [6], [6], "Why."), found("place", [24], [26], "Not targeted.")]
    assert first_class(classes).name == "place"
    sentence, reason = summary(classes, [False, True, False])
    assert sentence == "The mean off-spine distance of 1 place rises from 24.00 to 26.00 units."
    assert reason == "Not targeted. The mean off-spine distance of 1 county subdivision stays at 6.00 units. Why."


def test_that_blocks_without_areas_say_so():
    sentence, _ = summary([found("tract", [1], [1])], [False])
    assert sentence.startswith("These blocks have no codes of areas")
    assert first_class([found("place", [], [])]) is None


def test_that_margins_are_compared_where_both_are_known():
    before, after = np.array([10.0, 20.0, np.inf]), np.array([5.0, 25.0, np.inf])
    assert margin_finding("3 places", before, after, "people") == (
        "Predicted margin of 3 places: unchanged at ±15.0 people on average, smaller for 1 of 2"
    )
    assert (
        margin_finding("1 place", np.array([10.0]), np.array([5.0]), "households")
        == "Predicted margin of 1 place: ±10.0 → ±5.0 households"
    )
    assert "unchanged at" in margin_finding("2 places", after[:2], after[:2], "people")
    assert margin_finding("0 places", None, np.empty(0), "people") == "There are no places."
    assert "Nothing measured" in margin_finding("1 place", None, np.array([np.inf]), "people")


def test_that_one_and_many_have_their_words():
    assert noun("place", 1) == "place"
    assert noun("unheard_of") == "unheard_of"


def test_that_a_count_published_exactly_has_no_margin_of_nought():
    assert [margin_text(value) for value in (0.0, 2.354, 19.948, float("nan"))] == [
        "exact", "±2.35", "±19.9", "not determined",
    ]  # fmt: skip


def test_that_levels_are_named_by_words_where_their_margins_run_from_and_to() -> None:
    said = _level_finding(("Prim", "Tract_Subset", "Block"), np.array([2.83, 0.0, 29.7]), "people")
    assert (
        said == "Predicted margins run from ±2.83 people for a primitive area to ±29.7 for a block; exact: tract subset"
    )


@pytest.mark.defect("T13")
def test_that_changes_that_no_digit_shows_are_not_counted():
    before = np.array([16.8, 8.1, 8.1, 8.1])
    after = np.array([16.6, 8.0998, 8.07, 8.1])
    assert margin_finding("4 towns", before, after, "people") == (
        "Predicted margin of 4 towns: ±10.3 → ±10.2 people on average, smaller for 2 of 4"
    )
    assert "smaller" not in margin_finding("4 towns", before[[1, 3]], after[[1, 3]], "people")
