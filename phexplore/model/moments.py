"""Times as people read them, one form everywhere: ``22 Nov 2026, 10:19``. Files keep ISO 8601."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
"""Of the program's own language, whatever that of the computer is."""


def day_text(at: str | datetime, *, has_year: bool = True) -> str:
    """Return a day, e.g. ``22 Nov 2026``; a text that is no time as it is.

    Args:
        at: a time, or its text in ISO 8601.
        has_year: whether the year is said.
    """
    moment = _moment(at)
    if moment is None:
        return str(at)
    return f"{moment.day} {_MONTHS[moment.month - 1]}" + (f" {moment.year}" if has_year else "")


def minute_text(at: str | datetime) -> str:
    """Return day and time to the minute, e.g. ``22 Nov 2026, 10:19``, on the clock that the time was taken from.

    Args:
        at: a time, or its text in ISO 8601; a text that is no time is returned as it is.
    """
    moment = _moment(at)
    return str(at) if moment is None else f"{day_text(moment)}, {moment:%H:%M}"


def zoned_text(at: str | datetime) -> str:
    """Return day, time and zone, e.g. ``22 Nov 2026, 10:19 UTC``.

    Args:
        at: a time, or its text in ISO 8601; a text that is no time is returned as it is.
    """
    moment = _moment(at)
    return str(at) if moment is None else f"{minute_text(moment)} {moment.tzname() or ''}".strip()


def is_utc_text(at: str) -> bool:
    """Return whether a text is a time as files of the program spell it: ``2026-11-22T10:19:00+00:00``, whole seconds in UTC."""
    moment = _moment(at)
    return moment is not None and (moment.tzinfo, moment.isoformat(timespec="seconds")) == (UTC, at)


def _moment(at: str | datetime) -> datetime | None:
    if isinstance(at, datetime):
        return at
    with suppress(ValueError):
        return datetime.fromisoformat(at)
    return None
