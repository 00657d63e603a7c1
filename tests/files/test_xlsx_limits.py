from __future__ import annotations

import io
import zipfile

import pytest

from phexplore.files.xlsx_limits import refuse_bombs
from phexplore.model.issues import InputProblemsError


def archive(**parts):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return buffer.getvalue()


def refusal(content):
    with pytest.raises(InputProblemsError) as caught:
        refuse_bombs(content, "b.xlsx")
    return caught.value.issues[0].sentence


def test_that_a_usual_workbook_passes():
    refuse_bombs(archive(**{"xl/workbook.xml": "<a/>" * 100}), "b.xlsx")


def test_that_what_unpacks_to_too_much_is_refused_without_unpacking():
    assert "would unpack to 300 MB" in refusal(archive(**{"xl/worksheets/sheet1.xml": bytes(300 * 2**20)}))


def test_that_a_lie_about_the_size_does_not_help():
    content = bytearray(archive(a=bytes(50 * 2**20)))
    place = content.rfind(b"PK\x01\x02") + 24
    content[place : place + 4] = (100).to_bytes(4, "little")
    refuse_bombs(bytes(content), "b.xlsx")  # modest by its own words: reading stops at them
    with zipfile.ZipFile(io.BytesIO(bytes(content))) as file, pytest.raises(zipfile.BadZipFile):
        file.read("a")


def test_that_many_parts_are_refused():
    assert "600 parts" in refusal(archive(**{f"{number}.xml": "x" for number in range(600)}))


@pytest.mark.parametrize("part", ["xl/vbaProject.bin", "xl/externalLinks/externalLink1.xml", "xl/embeddings/o.bin"])
def test_that_macros_links_and_embedded_files_are_refused(part):
    assert part in refusal(archive(**{part: "x"}))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"hello"])
def test_that_what_is_no_archive_is_said_so(content):
    assert "cannot be opened" in refusal(content)


def test_that_a_huge_file_is_refused_before_anything_else():
    assert "33 MB" in refusal(bytes(33 * 2**20))
