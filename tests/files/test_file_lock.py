"""The lock of journals and runs, on this system, and on Windows with its system calls replaced."""

import errno
import os
import sys
from types import SimpleNamespace

import pytest

from phexplore.files.file_lock import BEYOND, try_lock, unlock
from phexplore.files.journal import Journal, JournalInUseError


class FakeWindows:
    """What msvcrt does: a byte of a file is locked for one handle, from the place that is read next."""

    LK_NBLCK, LK_UNLCK = 2, 0

    def __init__(self):
        self.held = {}

    def locking(self, handle, mode, length):
        found = os.fstat(handle)
        byte = (found.st_dev, found.st_ino, os.lseek(handle, 0, os.SEEK_CUR), length)
        if mode == self.LK_UNLCK:
            assert self.held.pop(byte) == handle
        elif self.held.setdefault(byte, handle) != handle:
            raise OSError(errno.EACCES, "locked")


@pytest.fixture(params=["this system", "windows"])
def system(request, monkeypatch):
    if request.param == "this system":
        return None
    windows = FakeWindows()
    monkeypatch.setitem(sys.modules, "msvcrt", windows)
    monkeypatch.setattr("phexplore.files.file_lock.sys", SimpleNamespace(platform="win32"))
    return windows


def test_that_one_holds_the_lock_and_lets_it_go(system, tmp_path):
    (tmp_path / "held").write_bytes(b"content")
    with (tmp_path / "held").open("rb+") as one, (tmp_path / "held").open("rb+") as two:
        assert one.read(3) == b"con"
        assert try_lock(one.fileno())
        assert not try_lock(two.fileno())
        assert one.read() == b"tent"
        if system is not None:
            assert [place for _, _, place, _ in system.held] == [BEYOND]
        unlock(one.fileno())
        assert try_lock(two.fileno())


def test_that_a_file_system_without_locks_is_told_apart(system, tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOTSUP, "no locks here")

    if system is None:
        monkeypatch.setattr("fcntl.flock", refuse)
    else:
        system.locking = refuse
    with (tmp_path / "held").open("wb") as file, pytest.raises(OSError, match="no locks here"):
        try_lock(file.fileno())
    Journal(tmp_path / "a.journal").close(remove=True)


def test_that_a_journal_belongs_to_one_window(system, tmp_path):
    journal = Journal(tmp_path / "a.journal")
    with pytest.raises(JournalInUseError):
        Journal(tmp_path / "a.journal")
    journal.close(remove=True)
