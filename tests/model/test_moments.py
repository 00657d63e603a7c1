"""Times for people have one form, whatever the clock and the computer's language."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from phexplore.model.moments import day_text, minute_text, zoned_text


@pytest.mark.parametrize(
    ("at", "day", "minute", "zoned"),
    [
        ("2026-11-22T10:19:59+00:00", "22 Nov 2026", "22 Nov 2026, 10:19", "22 Nov 2026, 10:19 UTC"),
        ("2026-05-01T00:00:05+02:00", "1 May 2026", "1 May 2026, 00:00", "1 May 2026, 00:00 UTC+02:00"),
        ("2026-12-31T23:59", "31 Dec 2026", "31 Dec 2026, 23:59", "31 Dec 2026, 23:59"),
        ("", "", "", ""),
        ("yesterday", "yesterday", "yesterday", "yesterday"),
    ],
)
def test_that_a_recorded_time_is_read_as_it_was_taken(at, day, minute, zoned) -> None:
    assert (day_text(at), minute_text(at), zoned_text(at)) == (day, minute, zoned)


def test_that_a_moment_is_written_as_its_text_is() -> None:
    assert zoned_text(datetime(2026, 7, 1, 14, 3, 9, tzinfo=UTC)) == "1 Jul 2026, 14:03 UTC"
    assert minute_text(datetime(2026, 7, 1, 14, 3, tzinfo=timezone(timedelta(hours=-5)))) == "1 Jul 2026, 14:03"
    assert day_text(datetime(2026, 7, 1, tzinfo=UTC), has_year=False) == "1 Jul"
