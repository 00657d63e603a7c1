"""What people and files say is shown, spoken, printed and exported as it was typed, whatever the program's sentences become."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import fields, replace
from datetime import UTC, datetime
from itertools import count, product

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import phexplore
from phexplore.catalog.names import Naming, called, learn_areas, worded
from phexplore.decide.bundle import BundleRequest
from phexplore.decide.signing import Signer
from phexplore.decide.trusted_keys import TrustedKey
from phexplore.figures.naming import _TEXTS, _Wording
from phexplore.files.scenario_json import decode_scenario, encode_scenario
from phexplore.gui.theme.number_style import NumberStyle, choose_style, localised, number_style
from phexplore.gui.theme.plain_words import speak_plainly, speaks_plainly
from phexplore.model.approval import CitedRun, Decision, Status
from phexplore.model.comment import Comment
from phexplore.model.fields import Declared, declared_fields
from phexplore.model.kinds import Listing, Pairs, Supplied, Text
from phexplore.model.subspace import Axis, Grouping, LinearCount
from phexplore.report.html import _read as read_page
from phexplore.report.office_files import read as read_office
from phexplore.runs.run_settings import RunSettings
from phexplore.runs.spec import RunData
from phexplore.systems.registry import preset
from phexplore.text import quoted
from phexplore.text.escapes import visible, visible_lines
from phexplore.text.quoted import quote

_NOW = "2026-07-01T12:00:00+00:00"
_PHRASES = (
    "I accept 500; unbounded ρ is 0.3 at most; nothing wider. See the MOE memo of State 44.",
    "Ballot A-G",
    "Prim",
    "MOE",
    "level share Prim",
    "A-G",
    "State 44",
    "44007000101",
    "tract 44007000101",
    "1,234,567.5 people",
    "0.5 ± 0.25",
    "PH3/state_A-G",
    "place 4459000",
    "a * b",
    "truncation bias, σ² = 1/ρ",
    "H-I; sensitivity 2",
    "usa_*",
    "sdhc-2020-us",
)
_SETTINGS = tuple(product(Naming, (False, True), (NumberStyle.POINT, NumberStyle.COMMA)))

_fresh = count()

ENTRIES = {
    "scenario name": lambda text: replace(_scenario(), name=text),
    "scenario note": lambda text: replace(_scenario(), note=text),
    "comment": lambda text: Comment(text, "Ann", _NOW),
    "member": lambda text: Comment("fine", text, _NOW),
    "decision maker": lambda text: _decision(who=text),
    "role": lambda text: _decision(role=text),
    "reason": lambda text: _decision(note=text),
    "decided scenario": lambda text: _decision(scenario=text),
    "cited run": lambda text: CitedRun(text, "0" * 64, 1),
    "clearance": lambda text: BundleRequest(_scenario(), datetime.now(UTC), clearance=text),
    "signer": lambda text: Signer(text, "chair"),
    "role of a signer": lambda text: Signer("Ann", text),
    "trusted key": lambda text: TrustedKey(text, bytes(32)),
    "place of a file": lambda text: learn_areas("place", {f"{next(_fresh):020}": text}),
    "axis": lambda text: Axis(text, 2),
    "label": lambda text: Axis("county", 2, (text, f"{text}2")),
    "grouping": lambda text: Axis("county", 2, (), (Grouping(text, ("a", "b")),)),
    "group": lambda text: Axis("county", 2, (), (Grouping("state", (text, "b")),)),
    "linear count": lambda text: LinearCount(text, ((0, 1),)),
    "data of a run": lambda text: RunData(text, "0" * 64, 1),
    "data to run on": lambda text: RunSettings(data=text),
}
"""Where texts of people and files enter: a new one is added here."""

CODES = {
    "Comment": {"at", "about"},
    "CitedRun": {"identity"},
    "Decision": {"fingerprint", "at"},
    "Scenario": {"baseline", "source_text"},
    "Totals": {"by"},
    "Axis": {"labels", "groupings"},
    "GroupSizes": {"levels"},
    "Passes": {"least_squares", "rounder"},
    "PhSafe": {"states", "reader"},
    "SpineChoice": {"kind", "settings"},
    "TopDown": {"levels"},
    "Provenance": {"source"},  # sentences of the program, which name no file
    "RunData": {"sha256"},
    "StopRule": {"figure"},
}
"""Fields of text that hold codes, hashes and moments, or that their class quotes itself (see `ENTRIES`)."""


def _scenario():
    return preset("sdhc-2020-us").scenario


def _decision(**changed):
    stated = {
        "fingerprint": "0" * 64,
        "scenario": "Draft",
        "who": "Ann",
        "role": "chair",
        "at": _NOW,
        "note": "",
        **changed,
    }
    return Decision(Status.APPROVED, **stated)


def _forget() -> None:
    quoted._KNOWN.clear()
    quoted._FIRST_WORD.clear()
    quoted._found.cache_clear()


@pytest.fixture(autouse=True)
def as_before():
    plain, style = speaks_plainly(), number_style()
    known, first = set(quoted._KNOWN), dict(quoted._FIRST_WORD)
    _forget()
    yield
    _forget()
    quoted._KNOWN.update(known)
    quoted._FIRST_WORD.update(first)
    speak_plainly(plain)
    choose_style(style)


def _texts():
    any_text = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
    parts = st.lists(st.one_of(st.sampled_from(_PHRASES), any_text), min_size=1, max_size=4)
    # A text that is a number alone is written as the program's numbers are: it cannot be told from them.
    return parts.map(" ".join).filter(lambda text: text.strip(" 0123456789.,+-−") != "")


@pytest.mark.parametrize("entry", ENTRIES)
@given(text=_texts())
@example(text=_PHRASES[0])
@example(text=_PHRASES[1])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_that_a_text_is_shown_as_it_was_typed(qapp, as_before, entry, text) -> None:
    _forget()
    ENTRIES[entry](text)
    shown = visible_lines(text)
    for naming, plain, style in _SETTINGS:
        speak_plainly(plain)
        choose_style(style)
        with called(naming):
            assert localised(text) == shown
            assert shown in localised(f"Ann, 3 July: “{text}”")
            assert visible(text) in localised(f"Budget of PH3: {visible(text)} (2 of 3)")
            assert worded(text) == text
            assert read_page(text) == shown
            assert f"“{shown}”" in read_page(f"Rule “{text}”: PH3")
            assert read_office(text) == shown
            assert _Wording(worded, _TEXTS).of((text, f"“{text}”"), is_read=True) == (text, f"“{text}”")


@pytest.mark.parametrize("text", [text for text in _PHRASES if " " in text])
def test_that_a_text_in_lines_is_shown_as_it_was_typed(qapp, as_before, text) -> None:
    """Columns of comparisons were headed by a member's name in two lines, and its codes were read as names."""
    _forget()
    quote(text)
    lines = "\n".join(text.rsplit(" ", 1))
    for naming, plain, style in _SETTINGS:
        speak_plainly(plain)
        choose_style(style)
        with called(naming):
            assert localised(lines) == lines
            assert lines in localised(f"± {lines}")
            assert read_page(lines) == lines


@pytest.mark.parametrize("text", _PHRASES)
def test_that_files_hold_what_was_typed(text) -> None:
    scenario = replace(_scenario(), name=text, note=text, comments=(Comment(text, text, _NOW),))
    for naming in Naming:
        with called(naming):
            back = decode_scenario(encode_scenario(scenario), "scenario.json")
            assert (back.name, back.note, back.comments) == (text, text, scenario.comments)


def test_that_the_program_s_own_words_are_still_rewritten(qapp, as_before) -> None:
    quote("a", "Ann * Bob", "Prim")
    speak_plainly(True)
    choose_style(NumberStyle.COMMA)
    with called(Naming.NAMES):
        assert localised("Δ MOE 1,234.5: “Ann * Bob”") == "Change of the margin 1\u202f234,5: “Ann * Bob”"
        assert worded("A-G") != "A-G"


def test_that_private_characters_of_people_are_theirs(qapp, as_before) -> None:
    text = "\U000f0000 MOE \U000f0001"
    quote(text)
    with called(Naming.NAMES):
        assert worded(f"“{text}” \U000f0000 State 44: “{text}”").count(text) == 2


def test_that_every_text_of_the_model_is_a_code_or_somebody_s() -> None:
    for module in pkgutil.walk_packages(phexplore.model.__path__, "phexplore.model."):
        importlib.import_module(module.name)
    unknown = [
        f"{cls.__name__}.{part.name}"
        for cls in Declared.__subclasses__()
        if cls.__module__.startswith(("phexplore.model", "phexplore.runs"))
        for part in declared_fields(cls)
        if _holds_text(part.kind) and part.name not in CODES.get(cls.__name__, ())
    ]
    assert sorted(set(unknown)) == []


def _holds_text(kind) -> bool:
    if type(kind) in (Listing, Pairs):
        return any(
            _holds_text(getattr(kind, each.name))
            for each in fields(kind)
            if isinstance(getattr(kind, each.name), Text | Listing)
        )
    return type(kind) is Text and type(kind) is not Supplied
