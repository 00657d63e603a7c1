from __future__ import annotations

import pytest
from PySide6.QtCore import QByteArray, QSettings

from phexplore.gui.main.settings import FOLDER, GEOMETRY, INSPECTOR, MOST_RECENT, RECENT, TEXT_SIZE, THEME, Settings


@pytest.fixture
def reopened(tmp_path):
    """The same settings as another start of the program reads them."""
    return lambda: Settings(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))


def test_that_settings_survive_with_their_type(settings, reopened) -> None:
    settings.keep(THEME, "dark")
    settings.keep(TEXT_SIZE, 150)
    settings.keep(INSPECTOR, False)
    settings.keep(GEOMETRY, QByteArray(b"abc"))
    settings.keep(RECENT, ("one",))
    settings._store.sync()
    again = reopened()
    assert again.read(THEME) == "dark"
    assert again.read(TEXT_SIZE) == 150
    assert again.read(INSPECTOR) is False
    assert again.read(GEOMETRY) == QByteArray(b"abc")
    assert again.read(RECENT) == ("one",)


def test_that_what_cannot_be_read_is_the_default(settings) -> None:
    settings._store.setValue(TEXT_SIZE.key, "huge")
    settings._store.setValue(INSPECTOR.key, "perhaps")
    assert settings.read(TEXT_SIZE) == 100
    assert settings.read(INSPECTOR) is True
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
    settings._store.setValue(TEXT_SIZE.key, kept)
    assert settings.read(TEXT_SIZE) == 100
