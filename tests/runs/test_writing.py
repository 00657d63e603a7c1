from __future__ import annotations

import json
from pathlib import Path

import pytest

from phexplore.files.atomic_files import WriteError
from phexplore.runs.writing import write_json, writing


def test_that_a_file_appears_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    with writing(path) as part:
        part.write_bytes(b"whole")
        assert not path.exists()
    assert path.read_bytes() == b"whole"
    assert [each.name for each in tmp_path.iterdir()] == ["a.bin"]


def test_that_a_failure_leaves_the_old_file_and_no_rest(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")

    def write_half() -> None:
        with writing(path) as part:
            part.write_bytes(b"half")
            raise KeyError("x")

    with pytest.raises(KeyError):
        write_half()
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["a.bin"]


def test_that_a_missing_directory_is_a_failure_with_a_remedy(tmp_path: Path) -> None:
    def write_nowhere() -> None:
        with writing(tmp_path / "gone" / "a.bin") as part:
            part.write_bytes(b"x")

    with pytest.raises(WriteError, match="could not be written") as caught:
        write_nowhere()
    assert "resume" in caught.value.remedy


def test_that_json_keeps_its_order_and_refuses_what_json_cannot_say(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_json(path, {"b": "ρ", "a": 1})
    assert list(json.loads(path.read_text())) == ["b", "a"]
    with pytest.raises(ValueError, match="JSON"):
        write_json(path, {"x": float("nan")})
