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
    assert (found.files, found.altered, found.problem) == (files, (), "")
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
    assert found.problem or found.altered or found.files != files


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
    assert "../evil" not in found.files
    assert "'../evil'" in found.problem


def test_that_a_compressed_bomb_is_never_inflated():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(50 * 2**20))
    with pytest.raises(ArchiveError, match="compressed"):
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
    assert "two entries" in found.problem


def test_that_bytes_behind_the_end_are_counted():
    assert unpack(pack({"a": b"1"}) + b"more").problem == "4 bytes follow the end of the archive."


def test_that_entries_that_overlap_are_refused_before_they_fill_the_memory():
    content = pack({str(number): b"x" * 100 for number in range(9)})
    place = content.rfind(b"PK\x01\x02")
    huge = content[: place + 20] + (2**31).to_bytes(4, "little") * 2 + content[place + 28 :]
    with pytest.raises(ArchiveError):
        unpack(huge)


def test_that_a_changed_file_and_a_changed_header_are_distinguished():
    content = pack({"a": b"one", "b": b"two"})
    assert unpack(content.replace(b"two", b"tow")).altered == ("b",)
    for place in (14, content.rfind(b"PK\x01\x02") + 16):  # the checksums in a local header and in the directory
        changed = bytearray(content)
        changed[place] ^= 1
        found = unpack(bytes(changed))
        assert (found.altered, bool(found.problem)) == ((), True)
