"""Every forged bundle is refused by name, or the certificate states what every other reader of the archive reads.

CI takes every seventh forgery; ``-m slow`` takes all.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from functools import cache

import pytest
from attack import forged_bundles as forging
from signed_bundles import KEYS, NOW, bundle_of

from phexplore.decide.certificate import certificate_html
from phexplore.decide.signing import public_bytes
from phexplore.decide.verifying import verify
from phexplore.model.approval import Status
from phexplore.model.moments import zoned_text
from phexplore.model.numbers import exact_text

TRUSTED = {public_bytes(key) for key in KEYS[:2]}
LEAST, EVERY = 250, 7

Forgeries = Iterator[tuple[str, bytes]]


@cache
def base() -> bytes:
    return bundle_of("pl94-2020-units-pr", 1, Status.RECOMMENDED).packed()


@cache
def another() -> bytes:
    return bundle_of("pl94-2020-units-us", 2).packed()


CLASSES: dict[str, Callable[[], Forgeries]] = {
    "headers": lambda: forging.of_headers(base()),
    "entries": lambda: forging.of_entries(base()),
    "spellings": lambda: forging.of_spellings(base()),
    "values": lambda: forging.of_values(base()),
    "decisions": lambda: forging.of_decisions(base()),
    "parts": lambda: forging.of_parts(base(), another()),
    "signatures": lambda: forging.of_signatures(base()),
}


def believed_by_verify(content: bytes) -> dict[str, object]:
    """Return what the verifier states, in the words of the other readers, after a look at the page that it renders."""
    found = verify(content)
    statement = found.statement
    page = " ".join(
        html.unescape(re.sub(r"<[^>]*>", " ", certificate_html(statement, found.signatures).decode())).split()
    )
    lines = dict(statement.lines())
    for text in (
        lines["Scenario"],
        statement.status.value,
        lines["Parameters"],
        zoned_text(statement.made),
        statement.clearance,
    ):
        assert text.casefold() in page.casefold(), text
    for one in statement.decisions:
        assert one.who in page
        assert one.note in page
    total = next(text for name, text in lines.items() if name.startswith("Total"))
    assert total in page
    return {
        "scenario": lines["Scenario"],
        "fingerprint": lines["Parameters"],
        "total": total,
        "status": statement.status.value,
        "clearance": statement.clearance,
        "made": statement.made.isoformat(timespec="seconds"),
        "decisions": [[one.status.value, one.who, one.role, one.at, one.note] for one in statement.decisions],
        "log": statement.files[forging.LOG].count(b"\n"),
        "runs": [run.cited.name for run in statement.runs],
    }


def confirm_refused_or_true(what: str, content: bytes) -> bool:
    """Return whether a forgery is refused. One that is accepted states what everybody reads; a verified signature is never lost on the way."""
    result = verify(content, TRUSTED, 2)
    if not result.is_intact:
        assert result.status == "", what
        assert not result.is_accepted, what
        assert all(one.part and one.sentence for one in result.alterations), what
        return True
    stated = believed_by_verify(content)
    for read in forging.readings(content):
        del read["sums"]
        read["total"] = exact_text(read["total"])
        assert read == stated, what
    assert result.findings, f"{what} is accepted with both signatures"
    return False


def test_that_the_bundle_is_accepted_and_read_alike_before_it_is_forged():
    assert verify(base(), TRUSTED, 2, NOW).is_accepted
    stated = believed_by_verify(base())
    for read in forging.readings(base()):
        assert {key: value for key, value in read.items() if key != "sums"} == stated | {"total": read["total"]}
        assert exact_text(read["total"]) == stated["total"]
    plain = forging.archive([forging.Entry(one.name, one.data) for one in forging.entries_of(base())])
    assert plain == base()


@pytest.mark.parametrize("kind", CLASSES)
def test_that_forged_bundles_are_refused_or_rendered_truthfully(kind):
    assert {confirm_refused_or_true(*each) for each in list(CLASSES[kind]())[::EVERY]} >= {True}


@pytest.mark.slow
@pytest.mark.defect("T3")
def test_that_all_forged_bundles_are_refused_or_rendered_truthfully(capsys):
    refused = {kind: [confirm_refused_or_true(*each) for each in make()] for kind, make in CLASSES.items()}
    with capsys.disabled():
        print({kind: (len(all_), sum(all_)) for kind, all_ in refused.items()})
    assert all(sum(all_) >= 40 for all_ in refused.values())
    assert sum(map(sum, refused.values())) >= LEAST
