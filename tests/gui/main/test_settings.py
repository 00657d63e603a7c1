from __future__ import annotations

import pytest
from PySide6.QtCore import QByteArray

from phexplore.gui.binding.settings import FOLDER, GEOMETRY, INSPECTOR, MOST_RECENT, RECENT, TEXT_SIZE, THEME, Settings
from phexplore.gui.theme.appearance import ThemeChoice


@pytest.fixture
def reopened(tmp_path):
    """The same settings as another start of the program reads them."""
    return lambda: Settings(tmp_path / "settings.json")


def test_that_settings_survive_with_their_type(settings, reopened) -> None:
    settings.keep(THEME, ThemeChoice.DARK)
    settings.keep(TEXT_SIZE, 150)
    settings.keep(INSPECTOR, False)
    settings.keep(GEOMETRY, QByteArray(b"abc"))
    settings.keep(RECENT, ("one",))
    again = reopened()
    assert again.read(THEME) == ThemeChoice.DARK
    assert again.read(TEXT_SIZE) == 150
    assert again.read(INSPECTOR) is False
    assert again.read(GEOMETRY) == QByteArray(b"abc")
    assert again.read(RECENT) == ("one",)


def test_that_what_cannot_be_read_is_the_default(settings) -> None:
    settings.keep(TEXT_SIZE, "huge")
    settings.keep(INSPECTOR, "perhaps")
    settings.keep(GEOMETRY, "?")
    assert settings.read(TEXT_SIZE) == 100
    assert settings.read(INSPECTOR) is True
    assert settings.read(GEOMETRY).isEmpty()
    assert settings.read(RECENT) == ()


def test_that_recent_files_are_newest_first_once_each_and_still_there(settings, tmp_path) -> None:
    paths = [tmp_path / f"{number}.phx" for number in range(MOST_RECENT + 3)]
    for path in paths:
        path.touch()
        settings.remember_file(path)
    settings.remember_file(paths[5])
    found = settings.recent_files()
    assert found[0] == paths[5]
    assert len(found) == len(set(found)) == MOST_RECENT
    paths[5].unlink()
    assert paths[5] not in settings.recent_files()
    assert settings.read(FOLDER) == str(tmp_path)


@pytest.mark.defect("F9")
@pytest.mark.parametrize("kept", ["²", "٣", "9" * 5000, "-1", "1e3"])
def test_that_a_kept_number_that_is_none_is_the_default(settings, kept) -> None:
    settings.keep(TEXT_SIZE, kept)
    assert settings.read(TEXT_SIZE) == 100


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"files/recent": "', '{"files/recent": [null, {}, "' + "x" * 300_000 + '"]}', "\x00"]
)
def test_that_a_damaged_file_is_forgotten(content, tmp_path):
    path = tmp_path / "settings.json"
    path.write_text(content, encoding="utf-8")
    damaged = Settings(path)
    assert damaged.recent_files() == []
    damaged.keep(THEME, ThemeChoice.DARK)
    assert Settings(path).read(THEME) == ThemeChoice.DARK


def test_that_two_windows_keep_what_the_other_kept(reopened, tmp_path):
    one, other = reopened(), reopened()
    files = [tmp_path / "a.phx", tmp_path / "b.phx"]
    for window, path in zip((one, other), files, strict=True):
        path.touch()
        window.remember_file(path)
    one.keep(THEME, ThemeChoice.DARK)
    assert reopened().recent_files() == files[::-1]
    assert other.read(THEME) is ThemeChoice.SYSTEM
    assert reopened().read(THEME) == ThemeChoice.DARK


def test_that_settings_that_cannot_be_written_hold_until_the_end(tmp_path):
    (tmp_path / "settings.json").mkdir()
    held = Settings(tmp_path / "settings.json")
    held.keep(THEME, ThemeChoice.DARK)
    held.keep(TEXT_SIZE, 150)
    assert (held.read(THEME), held.read(TEXT_SIZE)) == (ThemeChoice.DARK, 150)
