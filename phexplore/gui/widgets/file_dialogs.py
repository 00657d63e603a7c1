"""Asking for files: a dialog that is open beside the window until a name is chosen."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QFileDialog, QLineEdit, QMessageBox, QWidget

from phexplore.catalog.names import worded
from phexplore.text.escapes import visible

Take = Callable[[Path], object]
_MARK = '"'
"""Stands on both sides of every name where several are entered."""
_UNFIT = re.compile(r'[\\/:*?"<>|\x00-\x1f]+')


class FileDialog(QFileDialog):
    """Asks for files once: after its answer it is closed and deleted, and further answers are ignored.

    A second press of Enter can arrive before the dialog is gone. Qt then deletes the dialog twice.
    """

    _is_done = False

    def done(self, result: int) -> None:
        if not self._is_done:
            self._is_done = True
            super().done(result)

    def accept(self) -> None:
        if not self._is_done:
            super().accept()


class SaveDialog(FileDialog):
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
        remedy = "Choose a folder that exists, or type the whole path in place of the proposed name."
        _refuse(self, f"There is no folder {missing}.", remedy)


class SeveralDialog(FileDialog):
    """Asks for files that are there: all that are typed, or stays open and says which one is not there.

    The toolkit takes the rows that are selected in its list, so a typed name that the list does not show was left out without a word.
    """

    def accept(self) -> None:
        field = self.findChild(QLineEdit, "fileNameEdit")  # the desktop's own dialog has none
        if field is None or _MARK not in field.text():
            super().accept()
            return
        folder = Path(self.directory().absolutePath())
        paths = [folder / Path(name).expanduser() for name in field.text().split(_MARK) if name.strip()]
        if missing := [path for path in paths if not path.is_file()]:
            remedy = "None of the files was taken: correct the name, or leave it out."
            _refuse(self, f"There is no file {missing[0]}.", remedy)
            return
        QDialog.accept(self)
        self.filesSelected.emit(list(map(str, paths)))


def _refuse(dialog: QFileDialog, sentence: str, remedy: str) -> None:
    """Say over a dialog, which stays open, why it cannot take what was entered."""
    box = QMessageBox(QMessageBox.Icon.Warning, dialog.windowTitle(), visible(sentence), parent=dialog)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setInformativeText(remedy)
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
    dialog = _open(FileDialog(owner, title, str(folder), kinds), QFileDialog.FileMode.ExistingFile)
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
    dialog = _open(SeveralDialog(owner, title, str(folder), kinds), QFileDialog.FileMode.ExistingFiles)
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
    dialog = _open(FileDialog(owner, title, str(folder)), QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    dialog.fileSelected.connect(_path_to(take))


def _path_to(take: Take) -> Callable[[str], object]:
    return lambda name: take(Path(name))


def _open(dialog: QFileDialog, mode: QFileDialog.FileMode) -> QFileDialog:
    dialog.setFileMode(mode)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()
    return dialog
