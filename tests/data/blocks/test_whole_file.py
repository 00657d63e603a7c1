from __future__ import annotations

import pytest

from phexplore.data.blocks.whole_file import whole_file
from phexplore.errors import PhexploreError


def test_that_a_file_appears_with_all_of_its_content(tmp_path):
    path = tmp_path / "new" / "x"
    with whole_file(path) as file:
        file.write(b"one")
        assert not path.exists()
    assert path.read_bytes() == b"one"
    assert [entry.name for entry in path.parent.iterdir()] == ["x"]


def test_that_an_earlier_file_stays_when_writing_fails(tmp_path):
    (tmp_path / "x").write_bytes(b"old")

    def fail():
        with whole_file(tmp_path / "x") as file:
            file.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert (tmp_path / "x").read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["x"]


def test_that_a_full_disk_is_an_expected_failure(tmp_path):
    def fail():
        with whole_file(tmp_path / "x"):
            raise OSError(28, "No space left on device")

    with pytest.raises(PhexploreError, match="No space left on device"):
        fail()
    assert list(tmp_path.iterdir()) == []
