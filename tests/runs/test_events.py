from __future__ import annotations

import json
import string
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phexplore.runs.events import (
    KINDS,
    PHASE_WORDS,
    Decoder,
    Event,
    Failed,
    Finished,
    Note,
    Outcome,
    Paused,
    PhaseDone,
    Progress,
    Resumed,
    Started,
    TrialDone,
    decode,
    encode,
)

EXAMPLES: tuple[Event, ...] = (
    Started(100, 3),
    PhaseDone("read", 1.25),
    TrialDone(2**40, 0.5, 90, 100),
    Progress("trials", 3, 100, 12.5),
    Progress("read", 3, 0),
    Note("ρ – “quoted”\nsecond line"),
    Paused(),
    Resumed(),
    Finished(Outcome.COMPLETE),
    Finished(Outcome.CANCELLED),
    Failed("It broke.", "Mend it.", "Traceback…"),
)


@pytest.mark.parametrize("event", EXAMPLES, ids=lambda event: type(event).__name__)
def test_that_an_event_survives_its_line(event: Event) -> None:
    line = encode(event, at="2026-01-01T00:00:00Z")
    assert "\n" not in line
    assert decode(line) == event


def test_that_every_kind_has_an_example() -> None:
    assert {type(event) for event in EXAMPLES} == set(KINDS.values())


@given(cuts=st.lists(st.integers(0, 2000), max_size=30))
def test_that_a_stream_cut_anywhere_gives_the_same_events(cuts: list[int]) -> None:
    stream = b"".join(encode(event).encode() + b"\n" for event in EXAMPLES)
    places = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    decoder = Decoder()
    found = [event for a, b in pairwise(places) for event in decoder.feed(stream[a:b])]
    assert tuple(found) == EXAMPLES
    assert decoder.finish() == []


def test_that_a_last_line_without_its_end_is_not_lost() -> None:
    decoder = Decoder()
    assert decoder.feed(encode(Paused()).encode()) == []
    assert decoder.finish() == [Paused()]


@pytest.mark.parametrize(
    "line",
    [
        '{"event": "Sang", "song": "of tomorrow"}',
        '{"event": "Started"}',
        '{"event": "Started", "trials": "many"}',
        '{"event": "Started", "trials": true}',
        '{"event": "Finished", "outcome": "perhaps"}',
        "warning: something printed this",
        "[1, 2]",
        '{"event": ["Started"]}',
        "[" * 100_000,
    ],
)
def test_that_what_this_version_cannot_read_becomes_a_note_with_the_line(line: str) -> None:
    assert decode(line) == Note(line)


def test_that_fields_of_a_later_version_are_passed_over_and_absent_ones_are_their_default() -> None:
    assert decode('{"event": "TrialDone", "index": 4, "mood": "good"}') == TrialDone(4)


@given(st.text(alphabet=string.printable, max_size=200), st.binary(max_size=200))
def test_that_no_input_breaks_the_decoder(text: str, raw: bytes) -> None:
    decoder = Decoder()
    events = decoder.feed(text.encode() + b"\n" + raw) + decoder.finish()
    assert all(isinstance(event, tuple(KINDS.values())) for event in events)


def test_that_an_event_is_readable_json_with_its_kind_first() -> None:
    assert next(iter(json.loads(encode(TrialDone(3))))) == "event"


def test_that_no_phase_says_that_something_could_not_be_rounded() -> None:
    """It takes its time where all was rounded at once, and that of the bounds of facilities."""
    assert PHASE_WORDS["failsafe"] == "checking and repairing"
