from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from phexplore.model.issues import InputProblemsError
from phexplore.opening import open_regular, read_bytes, refuse_irregular


def irregular(kind: str, folder: Path) -> Path:
    path = folder / kind
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "socket":
            with socket.socket(socket.AF_UNIX) as end:
                end.bind(kind)  # in the current folder: an address holds a hundred characters
        case "directory":
            path.mkdir()
        case "endless device":
            return Path("/dev/zero")
        case "link to a pipe":
            os.mkfifo(folder / "behind")
            path.symlink_to(folder / "behind")
        case "link to itself":
            path.symlink_to(path)
        case "long name":
            return folder / ("x" * 300)
        case "no name":
            return folder / "a\0b"
    return path


KINDS = (
    "pipe",
    "socket",
    "directory",
    "endless device",
    "link to a pipe",
    "link to itself",
    "long name",
    "no name",
    "missing",
)


@pytest.mark.defect("F13")
@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reader", [open_regular, read_bytes, refuse_irregular])
def test_that_only_regular_files_are_opened_and_the_rest_is_answered_at_once(kind, reader, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputProblemsError, match=r"not a file|cannot be read") as caught:
        reader(irregular(kind, tmp_path))
    assert caught.value.remedy


def test_that_a_file_is_read_to_its_limit_and_no_further(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"x" * 10)
    assert read_bytes(path, limit=10) == b"x" * 10
    with pytest.raises(InputProblemsError, match="larger"):
        read_bytes(path, limit=9)
    assert len(read_bytes(Path("/proc/self/status"))) > 0  # its size is said to be 0
    with pytest.raises(InputProblemsError, match="larger"):
        read_bytes(Path("/proc/self/status"), limit=10)
