"""Messages are rendered by their types: quotations as they were typed, codes by name, numbers in the reader's style."""

from __future__ import annotations

import io
import pickle
import string
from fractions import Fraction

import pytest
from babel.messages.pofile import read_po
from hypothesis import given
from hypothesis import strategies as st

from phexplore.catalog.names import Naming, called, worded
from phexplore.gui.theme.number_style import NumberStyle, choose_style, localised, number_style
from phexplore.gui.theme.plain_words import speak_plainly, speaks_plainly
from phexplore.resources import resource
from phexplore.text.catalogs import BracketCatalog, Catalog, read_catalog
from phexplore.text.escapes import visible_lines
from phexplore.text.messages import Code, Message, Number, Quoted, listed, msg, plural, series
from phexplore.text.readers import GROUP, Reader

_NAMES = st.from_regex(r"[a-z]{1,6}", fullmatch=True)
_WORDS = st.text(st.characters(blacklist_characters="{}", blacklist_categories=("Cs",)), max_size=20)
_PHRASES = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        ["MOE", "unbounded ρ is 0.3", "1,234.5", "A-G", "State 44", "PH3", "{areas}", "⟦x⟧", "a\x1bb", "\u202eabc"]
    ),
)


@pytest.fixture(scope="module")
def window():
    """Put the window's choices back."""
    style, plain = number_style(), speaks_plainly()
    yield
    choose_style(style)
    speak_plainly(plain)


@given(st.lists(st.tuples(_WORDS, _NAMES), max_size=5), st.data())
def test_the_string_of_a_message_is_its_format(parts, data):
    template = "".join(f"{words}{{{name}:,}}" for words, name in parts)
    args = {name: data.draw(st.integers(-(10**9), 10**9)) for _, name in parts}
    assert msg(template, **args) == template.format(**args)
    assert Reader().text(msg(template, **args)) == template.format(**args)


@given(_PHRASES)
def test_a_quotation_is_rendered_as_it_was_typed_for_every_reader(window, text):
    asked = msg("{who} accepts MOE {number:.1f}: {text}", who=Quoted(text), number=0.5, text=Quoted(text))
    for style in (NumberStyle.POINT, NumberStyle.COMMA):
        for plain in (False, True):
            for naming in Naming:
                choose_style(style)
                speak_plainly(plain)
                with called(naming):
                    read = localised(asked)
                    assert read.startswith(visible_lines(text) + " accepts ")
                    assert read.endswith(": " + visible_lines(text))
                    assert ("0,5" if style is NumberStyle.COMMA else "0.5") in read[len(visible_lines(text)) :]
                    assert localised(Quoted(text)) == visible_lines(text)


@pytest.mark.parametrize(
    ("naming", "read"),
    [(Naming.CODES, "PH3 at A-G"), (Naming.NAMES, "Children by household type at by race")],
)
def test_a_code_is_read_by_the_chosen_name(naming, read):
    asked = msg("{table} at {iteration}", table=Code("PH3", "table"), iteration=Code("A-G", "iteration"))
    with called(naming):
        assert worded(asked) == read
    assert asked == "PH3 at A-G"


def test_a_code_begins_its_sentence_with_a_capital():
    asked = msg("{level}: error. {level} and {level}", level=Code("hhgq", "attribute"))
    with called(Naming.NAMES):
        name = "ousehold or group-quarters type"
        assert worded(asked) == f"H{name}: error. H{name} and h{name}"


def test_an_area_is_read_by_its_name_and_by_both():
    asked = msg("in {area}", area=Code("44007", "area"))
    with called(Naming.NAMES):
        assert worded(asked) == "in Providence County, Rhode Island"
    with called(Naming.BOTH):
        assert worded(asked) == "in 44007 (Providence County, Rhode Island)"


@given(st.integers(0, 10**12), st.decimals(0, 10**6, places=3))
def test_numbers_are_written_in_the_readers_style(whole, part):
    asked = msg("{n:,} people, {part:,.3f} each, {text}", n=whole, part=float(part), text=Number(f"{whole:,}"))
    comma = Reader(has_decimal_comma=True).text(asked)
    back = comma.replace(",", ".").replace(GROUP, ",").replace(". ", ", ")
    assert back == str(asked)


@pytest.mark.parametrize(
    ("items", "most", "read"),
    [
        ((), None, ""),
        (("a",), None, "a"),
        (("a", "b"), None, "a and b"),
        (("a", "b", "c"), None, "a, b, and c"),
        (("a", "b", "c", "d"), 2, "a, b, and 2 more"),
        (("a", "b", "c"), 3, "a, b, and c"),
    ],
)
def test_lists(items, most, read):
    asked = msg("{items}", items=listed(items, most))
    assert asked == read
    assert Reader().text(asked) == read


@given(st.integers(0, 3000))
def test_plurals(n):
    asked = plural("{n} area of {kind}", "{n:,} areas of {kind}", n=n, kind=Code("tract"))
    assert asked == ("1 area of tract" if n == 1 else f"{n:,} areas of tract")
    other = Catalog({"{n:,} areas of {kind}": "{n:,} Gebiete"}, {"{n:,} areas of {kind}": "ein Gebiet"})
    assert Reader(other).text(asked) == ("ein Gebiet" if n == 1 else f"{n:,} Gebiete")


def test_a_translation_may_use_fewer_placeholders_and_another_order():
    other = Catalog({"{a} costs ρ = {b:.2f}": "The loss is {b:.2f}"})
    assert (
        Reader(other).text(msg("{a} costs ρ = {b:.2f}", a=Quoted("x"), b=Fraction(1, 4).__float__()))
        == "The loss is 0.25"
    )


def test_every_letter_of_a_message_is_inside_brackets_in_the_language_for_tests():
    reader = Reader(BracketCatalog())
    asked = series(
        plural("{n} rule fails", "{n:,} rules fail", n=2),
        msg("{who}: {what}", who=Quoted("Ann"), what=msg("margins of {items}", items=("1", msg("others")))),
        between="; ",
    )
    assert reader.text(asked) == "⟦2 rules fail⟧; ⟦Ann: ⟦margins of ⟦1 and ⟦others⟧⟧⟧⟧"


def test_messages_survive_another_process_and_differ_by_the_types_of_their_arguments():
    asked = series(msg("{a!r} is {b}", a="x", b=Code("PH3", "table")), plural("{n} one", "{n} more", n=1))
    again = pickle.loads(pickle.dumps(asked))  # noqa: S301 - its own bytes
    assert again == asked
    assert Reader(BracketCatalog()).text(again) == "⟦'x' is PH3⟧ ⟦1 more⟧"
    assert [type(part) for part in again.parts] == [Message, Message]
    assert again.parts[0].args["b"].kind == "table"
    assert msg("{a}", a=Quoted("MOE")) != msg("{a}", a=Number("MOE"))
    assert msg("{a}", a=Quoted("MOE")) == "MOE"


def test_what_is_no_placeholder_is_refused():
    with pytest.raises(ValueError, match="placeholder"):
        msg("{a.b}", a=1)
    with pytest.raises(KeyError):
        msg("{a}")
    with pytest.raises(TypeError):
        Reader().text(msg("{a}", a=object()))


@given(
    st.dictionaries(
        st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1), _WORDS.filter(str.strip), max_size=6
    )
)
def test_the_reader_of_catalogs_agrees_with_babel(entries):
    from babel.messages.catalog import Catalog as Written
    from babel.messages.pofile import write_po

    written = Written(locale="en")
    for template, translation in entries.items():
        written.add(template, translation)
    written.add(("one {n}", "many {n}"), ("uno {n}", "muchos {n}"))
    file = io.BytesIO()
    write_po(file, written, width=40)
    found = read_catalog(file.getvalue().decode())
    parsed = read_po(io.BytesIO(file.getvalue()))
    for entry in parsed:
        if not entry.id:
            continue
        if isinstance(entry.id, tuple):
            assert (found.one(entry.id[1]), found.template(entry.id[1])) == tuple(entry.string)
        else:
            assert found.template(entry.id) == (entry.string or None)


def test_placeholders_of_the_shipped_catalog_are_those_of_their_templates():
    catalog = read_catalog(resource("text/en@committee.po").read_text(encoding="utf-8"))
    for template, translation in [*catalog.others.items(), *catalog.ones.items()]:
        assert _fields(translation) <= _fields(template)


def _fields(template):
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}
