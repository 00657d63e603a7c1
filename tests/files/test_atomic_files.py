from __future__ import annotations

import os

import pytest

from phexplore.files.atomic_files import WriteError, read_text, write_atomically
from phexplore.model.issues import InputProblemsError


def test_that_a_file_is_replaced_and_its_previous_content_kept(tmp_path):
    path = tmp_path / "deep" / "project.phx"
    write_atomically(path, b"one")
    write_atomically(path, b"two", keep_previous=".previous")
    assert path.read_bytes() == b"two"
    assert path.with_name("project.phx.previous").read_bytes() == b"one"
    assert sorted(p.name for p in path.parent.iterdir()) == ["project.phx", "project.phx.previous"]


def test_that_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "project.phx"
    write_atomically(path, b"one")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WriteError, match="No space left"):
        write_atomically(path, b"two")
    assert path.read_bytes() == b"one"
    assert [p.name for p in tmp_path.iterdir()] == ["project.phx"]


def test_that_unreadable_files_are_sentences(tmp_path):
    (tmp_path / "latin").write_bytes(b"one\nun caf\xe9")
    with pytest.raises(InputProblemsError, match="latin:2:7: This is not UTF-8"):
        read_text(tmp_path / "latin")
    with pytest.raises(InputProblemsError, match="cannot be read"):
        read_text(tmp_path / "absent")
    with pytest.raises(InputProblemsError, match="directory"):
        read_text(tmp_path)
    (tmp_path / "large").write_bytes(b"x" * 11)
    with pytest.raises(InputProblemsError, match="larger"):
        read_text(tmp_path / "large", limit=10)
