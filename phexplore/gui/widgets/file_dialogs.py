"""Asking for files: a dialog that is open beside the window until a name is chosen."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from phexplore.catalog.names import worded

Take = Callable[[Path], object]
_UNFIT = re.compile(r'[\\/:*?"<>|\x00-\x1f]+')


class SaveDialog(QFileDialog):
    """Asks where a file is to be written: in a folder that is there, or stays open and says so.

    Who types a whole path behind the proposed name would else get folders of these names.
    """

    def __init__(self, owner: QWidget, title: str, folder: str, kinds: str) -> None:
        super().__init__(owner, title, folder, kinds)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setFileMode(QFileDialog.FileMode.AnyFile)
        self.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)

    def accept(self) -> None:
        missing = next((path for name in self.selectedFiles() if not (path := Path(name).parent).is_dir()), None)
        if missing is None:
            super().accept()
            return
        box = QMessageBox(QMessageBox.Icon.Warning, self.windowTitle(), f"There is no folder {missing}.", parent=self)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setInformativeText("Choose a folder that exists, or type the whole path in place of the proposed name.")
        box.open()


def fit_for_file(name: str) -> str:
    """Return the name of a scenario as a file may be called on every system, without a suffix."""
    return _UNFIT.sub(" ", worded(name)).strip()


def ask_to_open(owner: QWidget, title: str, take: Take, *, kinds: str = "", folder: Path | str = "") -> QFileDialog:
    """Ask for a file that is there; return the dialog, which is open.

    Args:
        owner: of the dialog.
        title: what it asks for.
        take: takes the file.
        kinds: of files, as Qt writes filters.
        folder: where files are likely to be.
    """
    dialog = _open(owner, title, folder, kinds, QFileDialog.FileMode.ExistingFile)
    dialog.fileSelected.connect(_path_to(take))
    return dialog


def ask_for_several(
    owner: QWidget, title: str, take: Callable[[list[Path]], object], *, kinds: str = "", folder: Path | str = ""
) -> None:
    """Ask for files that are there.

    Args:
        owner: of the dialog.
        title: what it asks for.
        take: takes the files.
        kinds: of files, as Qt writes filters.
        folder: where files are likely to be.
    """
    dialog = _open(owner, title, folder, kinds, QFileDialog.FileMode.ExistingFiles)
    dialog.filesSelected.connect(lambda names: take([Path(name) for name in names]))


def ask_to_save(owner: QWidget, title: str, take: Take, *, kinds: str = "", proposed: Path | str = "") -> None:
    """Ask where a file is to be written.

    Args:
        owner: of the dialog.
        title: what it asks for.
        take: takes the file.
        kinds: of files, as Qt writes filters.
        proposed: the file to begin with; a name without a suffix gets its suffix.
    """
    file = Path(proposed)
    dialog = SaveDialog(owner, title, str(file.parent) if file.name else "", kinds)
    dialog.setDefaultSuffix(file.suffix.removeprefix("."))
    dialog.selectFile(file.name)
    dialog.fileSelected.connect(_path_to(take))
    dialog.open()


def ask_for_folder(owner: QWidget, title: str, take: Take, *, folder: Path | str = "") -> None:
    """Ask for a folder.

    Args:
        owner: of the dialog.
        title: what it asks for.
        take: takes the folder.
        folder: to begin with.
    """
    dialog = _open(owner, title, folder, "", QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    dialog.fileSelected.connect(_path_to(take))


def _path_to(take: Take) -> Callable[[str], object]:
    return lambda name: take(Path(name))


def _open(owner: QWidget, title: str, folder: Path | str, kinds: str, mode: QFileDialog.FileMode) -> QFileDialog:
    dialog = QFileDialog(owner, title, str(folder), kinds)
    dialog.setFileMode(mode)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()
    return dialog
