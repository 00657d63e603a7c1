"""What differs by system: on this one, and on the others with their system calls replaced."""

import errno
import os
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from phexplore import platforms
from phexplore.files.journal import Journal, JournalInUseError
from phexplore.platforms import BEYOND, try_lock, unlock


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
    monkeypatch.setattr("phexplore.platforms.sys", SimpleNamespace(platform="win32"))
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


@pytest.fixture
def on(monkeypatch, tmp_path):
    """Be another system, with an empty home and its variables."""
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    return lambda name: monkeypatch.setattr(platforms, "sys", SimpleNamespace(platform=name))


@pytest.mark.parametrize(
    ("name", "variables", "folders"),
    [
        ("linux", {}, (".local/share", ".config", ".cache")),
        ("darwin", {}, ("Library/Application Support", "Library/Preferences", "Library/Caches")),
        ("win32", {}, ("AppData/Roaming", "AppData/Roaming", "AppData/Local")),
        ("win32", {"APPDATA": "roams", "LOCALAPPDATA": "stays"}, ("roams", "roams", "stays")),
    ],
)
def test_where_the_folders_of_a_user_are(on, tmp_path, monkeypatch, name, variables, folders):
    on(name)
    for variable, folder in variables.items():
        monkeypatch.setenv(variable, str(tmp_path / folder))
    kinds = ("data", "settings", "cache")
    assert [platforms.user_folder(kind) for kind in kinds] == [tmp_path / folder / "phexplore" for folder in folders]
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "named"))
    assert platforms.user_folder("data") == tmp_path / "named" / "phexplore"


@pytest.mark.parametrize(("name", "is_seen"), [("linux", True), ("darwin", True), ("win32", False)])
def test_who_may_write_is_asked_where_files_have_modes(on, tmp_path, name, is_seen):
    on(name)
    tmp_path.chmod(0o777)
    assert platforms.others_may_write(tmp_path) is is_seen
    tmp_path.chmod(0o700)
    assert not platforms.others_may_write(tmp_path)


def test_how_groups_begin_and_end(on, monkeypatch):
    calls = []
    leader = SimpleNamespace(pid=7, kill=lambda: calls.append("kill"))
    monkeypatch.setattr(os, "killpg", lambda *found: calls.append(found), raising=False)
    on("darwin")
    assert platforms.group_options() == {"start_new_session": True}
    platforms.end_group(leader)
    on("win32")
    monkeypatch.setattr("subprocess.CREATE_NEW_PROCESS_GROUP", 0x200, raising=False)
    monkeypatch.setattr("subprocess.BELOW_NORMAL_PRIORITY_CLASS", 0x4000, raising=False)
    assert platforms.group_options() == {"creationflags": 0x4200}
    platforms.end_group(leader)
    assert calls == [(7, signal.SIGKILL), "kill"]


def test_that_memory_is_in_megabytes_everywhere(on, monkeypatch):
    monkeypatch.setattr("resource.getrusage", lambda _: SimpleNamespace(ru_maxrss=512 << 20))
    found = {}
    for name in ("linux", "darwin", "win32"):
        on(name)
        found[name] = platforms.peak_megabytes()
    assert found == {"linux": 512 << 10, "darwin": 512, "win32": None}
