from __future__ import annotations

import io
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phexplore.decide.archive import ArchiveError, is_safe_name, pack, unpack

FILES = st.dictionaries(
    st.from_regex(r"[a-z0-9_]{1,6}(/[a-z0-9_][a-z0-9_.-]{0,5})?", fullmatch=True),
    st.binary(max_size=60),
    min_size=1,
    max_size=8,
)


@settings(max_examples=60, deadline=None)
@given(FILES)
def test_that_other_programs_read_what_is_packed(files):
    with zipfile.ZipFile(io.BytesIO(pack(files))) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == files
        assert archive.namelist() == sorted(files)


@settings(max_examples=60, deadline=None)
@given(FILES)
def test_that_packing_and_unpacking_are_inverse_and_order_does_not_matter(files):
    content = pack(files)
    found = unpack(content)
    assert (found.files, found.problems, found.unsure) == (files, [], set())
    assert pack(dict(reversed(files.items()))) == content


@settings(max_examples=120, deadline=None)
@given(FILES, st.data())
def test_that_no_bit_can_change_unseen(files, data):
    content = bytearray(pack(files))
    place = data.draw(st.integers(0, 8 * len(content) - 1))
    content[place // 8] ^= 1 << place % 8
    try:
        found = unpack(bytes(content))
    except ArchiveError:
        return
    assert found.problems or found.unsure or found.files != files


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=400))
def test_that_anything_can_be_unpacked_or_refused(content):
    for text in (content, b"PK\x03\x04" + content, pack({"a": b"1"})[:20] + content):
        try:
            unpack(text)
        except ArchiveError:
            continue


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../up", "a/../b", "a//b", "", "ä", "a/.", "a\\b", "C:x", "a\nb", "x" * 300, "a /b"]
)
def test_that_names_that_lead_elsewhere_are_refused(name):
    assert not is_safe_name(name)
    with pytest.raises(ArchiveError):
        pack({name: b""})


def test_that_a_foreign_archive_with_such_a_name_is_named_not_unpacked():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("../evil", b"x")
        archive.writestr("good", b"y")
    found = unpack(buffer.getvalue())
    assert set(found.files) == {"good"}
    assert "'../evil'" in found.problems[0]


def test_that_a_compressed_bomb_is_never_inflated():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(50 * 2**20))
    with pytest.raises(ArchiveError, match="holds no archive"):
        unpack(buffer.getvalue())


def test_that_too_many_files_are_refused():
    with pytest.raises(ArchiveError, match="5000 files"):
        pack({str(number): b"" for number in range(5000)})


def test_that_two_entries_of_one_name_are_seen():
    buffer = io.BytesIO(pack({"a": b"1", "b": b"2"}))
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("a", b"3")
    found = unpack(buffer.getvalue())
    assert found.files["a"] == b"1"
    assert "stands twice" in found.problems[0]


def test_that_bytes_behind_the_end_are_counted():
    assert unpack(pack({"a": b"1"}) + b"more").problems == ["4 bytes stand behind the end of the archive"]
