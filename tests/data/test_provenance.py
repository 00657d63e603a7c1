from __future__ import annotations

import json
from dataclasses import replace

import pytest

from phexplore.data.provenance import (
    PROVENANCE_FILE,
    FileMark,
    PopulationMark,
    is_as_marked,
    mark_file,
    read_provenance,
    write_provenance,
)
from phexplore.model.issues import InputProblemsError

MARK = PopulationMark(
    kind="synthetic-population",
    generator="phexplore 1",
    synthetic=True,
    seed=3,
    states=("09", "44"),
    matched=("persons per state",),
    imputed=(),
    statement="Synthetic.",
    options={"persons": 5},
    files={"persons.csv": FileMark(5, 100, "ab")},
)


def test_that_a_mark_is_read_as_it_was_written(tmp_path):
    write_provenance(tmp_path, MARK)
    assert read_provenance(tmp_path) == MARK
    assert [path.name for path in tmp_path.iterdir()] == [PROVENANCE_FILE]


def test_that_the_mark_says_synthetic_in_plain_json(tmp_path):
    write_provenance(tmp_path, MARK)
    content = json.loads((tmp_path / PROVENANCE_FILE).read_text(encoding="utf-8"))
    assert (content["synthetic"], content["seed"], content["format"]) == (True, 3, "phexplore-provenance")


def test_that_equal_marks_give_equal_bytes(tmp_path):
    write_provenance(tmp_path, MARK)
    first = (tmp_path / PROVENANCE_FILE).read_bytes()
    write_provenance(tmp_path, replace(MARK))
    assert (tmp_path / PROVENANCE_FILE).read_bytes() == first


def test_that_a_directory_without_mark_has_none(tmp_path):
    assert read_provenance(tmp_path) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "other", "format_version": 1}', "\x00"])
def test_that_a_broken_mark_is_refused(tmp_path, text):
    (tmp_path / PROVENANCE_FILE).write_text(text, encoding="utf-8")
    with pytest.raises(InputProblemsError, match=r"provenance\.json"):
        read_provenance(tmp_path)


def test_that_a_changed_file_is_noticed_even_at_equal_size(tmp_path):
    path = tmp_path / "persons.csv"
    path.write_text("abc", encoding="utf-8")
    mark = mark_file(path, 0)
    assert is_as_marked(path, mark)
    for text in ("abd", "ab", "abcd"):
        path.write_text(text, encoding="utf-8")
        assert not is_as_marked(path, mark)
