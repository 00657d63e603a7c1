"""The text of .ini files against Python's own parser, and the inclusion rules of production."""

from __future__ import annotations

import configparser
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ini_chains import CHAIN, write_chain

from phexplore.errors import PhexploreError
from phexplore.model.issues import InputProblemsError
from phexplore.systems.topdown.ini_text import IniChain, decode_chain, effective, load_chain, parse_ini

WORDS = st.text(string.ascii_letters + string.digits + "_.$/-*", min_size=1, max_size=8)
LINES = st.lists(
    st.one_of(
        st.sampled_from(["", "# a comment", "; another", "   ", "\t# indented comment"]),
        st.builds("[{}]".format, WORDS),
        st.builds("{} {} {}".format, WORDS, st.sampled_from(["=", ":"]), st.builds(", ".join, st.lists(WORDS))),
        st.builds("    {}".format, WORDS),
    ),
    max_size=25,
)


@settings(max_examples=300, deadline=None)
@given(LINES)
def test_that_values_are_those_of_pythons_own_parser(lines):
    text = "[first]\n" + "\n".join(lines)
    file, issues = parse_ini(text, "a.ini")
    parser = configparser.RawConfigParser(strict=False, default_section="\0", empty_lines_in_values=True)
    try:
        parser.read_string(text)
    except configparser.ParsingError:
        assert any(issue.severity.value == "error" for issue in issues)
        return
    assert not [issue for issue in issues if issue.severity.value == "error"]
    ours: dict[tuple[str, str], str] = {}
    for value in file.values:
        ours[value.section, value.key] = value.text
    theirs: dict[tuple[str, str], str] = {}
    for section in parser.sections():
        for key, value in parser[section].items():
            theirs[section.lower(), key] = "\n".join(line for line in value.split("\n") if line)
    merged = {place: "\n".join(line for line in text.split("\n") if line) for place, text in ours.items()}
    names = [name.lower() for name in parser.sections()]
    if len(set(names)) == len(names):  # theirs keeps sections apart that differ in case only
        assert merged == theirs


def test_that_values_and_their_parts_know_where_they_stand():
    file, _ = parse_ini(CHAIN["all.ini"], "all.ini")
    value = next(value for value in file.values if value.key == "aian_areas")
    items = value.items()
    assert [text for text, _, _ in items][2] == "Hawaiian_Home_Land"
    assert len(items) == 7
    assert all(file.text[start:end] == text for text, start, end in items)
    assert value.end == file.text.index("Joint_Use_Oklahoma_Tribal_Statistical_Area") + 42


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("a = 1\n", 1, "before any section"),
        ("[one]\nnothing\n", 2, "neither a section nor a key"),
        ("[one]\na=1\n[two\n", 3, "does not end"),
        ("[one]\na=1\nA : 2\n", 3, "stands twice"),
    ],
)
def test_that_problems_have_their_line(text, line, sentence):
    _, issues = parse_ini(text, "a.ini")
    assert [(issue.line, sentence in issue.sentence) for issue in issues] == [(line, True)]


def test_that_a_chain_is_read_with_names_below_its_widest_folder(tmp_path):
    chain = load_chain(write_chain(tmp_path))
    assert chain.root == "persons/US.ini"
    assert dict(chain.files) == CHAIN
    assert decode_chain(chain.encoded()) == chain


def test_that_what_includes_overrides_what_is_included(tmp_path):
    files = {
        "a.ini": "[DEFAULT]\ninclude = b.ini\nfallback = 1\n[one]\nx = root\ninclude = c.ini\n[two]\nz = root\n",
        "b.ini": "[one]\nx = b\ny = b\nw = b\n[three]\nv = b\n",
        "c.ini": "[one]\ny = c\n[two]\nz = c\nq = c\n",
    }
    ini = effective(IniChain("a.ini", files))
    found = {place: value.text for place, value in ini.values.items()}
    assert found[("one", "x")] == "root"
    assert found[("one", "y")] == "c"  # the section's own inclusion comes before that of [DEFAULT]
    assert found[("one", "w")] == "b"
    assert found[("three", "v")] == "b"
    assert ("two", "q") not in found  # c.ini was included for [one] alone
    assert [value.text for value in ini.shadowed[("one", "x")]] == ["b"]
    assert ini.get("three", "fallback").text == "1"


@pytest.mark.parametrize(
    ("include", "sentence"),
    [
        ("US.ini", "includes itself"),
        ("missing.ini", "does not exist"),
        ("/etc/passwd", "no relative path of an .ini file"),
        ("../../secret.txt", "no relative path of an .ini file"),
        ("$HOME/x.ini", "depends on the environment"),
    ],
)
def test_that_an_inclusion_that_cannot_be_followed_is_refused_at_its_place(tmp_path, include, sentence):
    root = write_chain(tmp_path, {**CHAIN, "persons/persons.ini": f"[DEFAULT]\nINCLUDE = {include}\n"})
    with pytest.raises(InputProblemsError) as caught:
        load_chain(root)
    (issue,) = caught.value.issues
    assert sentence in issue.sentence
    assert (issue.path, issue.line, issue.column) == (("persons.ini",), 2, 11)


@pytest.mark.defect("F15")
@pytest.mark.parametrize("include", ["../../elsewhere/all.ini", "link.ini", "folder/all.ini"])
def test_that_no_file_far_from_the_chain_gets_into_it(tmp_path, include):
    far = tmp_path / "elsewhere" / "all.ini"
    far.parent.mkdir()
    far.write_text("[x]\nsecret = 1\n", encoding="utf-8")
    root = write_chain(tmp_path / "chain", {**CHAIN, "persons/persons.ini": f"[DEFAULT]\nINCLUDE = {include}\n"})
    (root.parent / "link.ini").symlink_to(far)
    (root.parent / "folder").symlink_to(far.parent)
    with pytest.raises(InputProblemsError, match="outside") as caught:
        load_chain(root)
    assert caught.value.issues[0].line == 2


def test_that_links_within_the_folders_of_a_chain_are_followed(tmp_path):
    root = write_chain(tmp_path / "chain", {**CHAIN, "persons/persons.ini": "[DEFAULT]\nINCLUDE = link.ini\n"})
    (root.parent / "link.ini").symlink_to(tmp_path / "chain" / "all.ini")
    assert "link.ini" in load_chain(root).files


def test_that_a_circle_made_later_is_refused_and_does_not_hang():
    files = {f"{i}.ini": f"[DEFAULT]\ninclude = {i + 1}.ini\n[one]\ninclude = {i + 1}.ini\n" for i in range(40)}
    with pytest.raises(PhexploreError, match="circle or too often"):
        effective(IniChain("0.ini", {**files, "40.ini": "[one]\na = 1\n"}))
    with pytest.raises(PhexploreError, match="circle or too often"):
        effective(IniChain("0.ini", {"0.ini": "[DEFAULT]\ninclude = 0.ini\n"}))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"format": "das-ini chain"}',
        '{"format": "das-ini chain", "root": "a", "files": {"b": ""}}',
        "[" * 5000,
    ],
)
def test_that_other_texts_are_no_chain(text):
    assert decode_chain(text) is None


def test_that_too_many_files_are_refused(tmp_path):
    for number in range(70):
        (tmp_path / f"{number}.ini").write_text(f"[DEFAULT]\ninclude = {number + 1}.ini\n")
    with pytest.raises(InputProblemsError, match="More than 64 files"):
        load_chain(tmp_path / "0.ini")
