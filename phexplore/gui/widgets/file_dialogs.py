"""Asking for files: a dialog that is open beside the window until a name is chosen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

Take = Callable[[Path], object]


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
    dialog = _open(owner, title, file.parent if file.name else "", kinds, QFileDialog.FileMode.AnyFile)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(file.suffix.removeprefix("."))
    dialog.selectFile(file.name)
    dialog.fileSelected.connect(_path_to(take))


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
