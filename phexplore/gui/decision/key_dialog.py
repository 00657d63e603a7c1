"""A new key pair: where the private key goes and, if wanted, the passphrase that protects it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from phexplore.decide.bundle_jobs import KeyJob
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.ask_dialog import AskDialog
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.file_dialogs import ask_to_save
from phexplore.gui.widgets.layout import form, row
from phexplore.gui.widgets.number_field import LineField


class KeyDialog(AskDialog):
    """Asks for a file and a passphrase.

    Signals:
        ordered: the `KeyJob`.
    """

    ordered = Signal(object)

    def __init__(self, parent: QWidget | None, folder: Path) -> None:
        super().__init__(
            parent,
            "Create a key",
            "The private key signs; keep it to yourself. The public key beside it (.pub) goes to everybody who checks your "
            "signatures. A passphrase protects the private key if somebody copies the file.",
            width=64 * GRID,
        )
        self._folder = folder
        self.file = LineField("File of the private key", str(folder / "signing.key"))
        self.passphrase = LineField("Passphrase", is_secret=True)
        self.again = LineField("The passphrase again", is_secret=True)
        self.unprotected = QCheckBox("Create it without a passphrase: whoever copies the file can sign in my name")
        self.browse = TextButton("Choose…", name="Choose the file of the private key", run=self._browse)
        create = TextButton("Create the key", look="primary", run=self.order)
        create.setDefault(True)
        fields = form(
            ("&File", row((self.file, 1), self.browse), self.file),
            ("&Passphrase", self.passphrase),
            ("A&gain", self.again),
            self.unprotected,
        )
        self.lay_out(fields, buttons=(1, TextButton("Cancel", run=self.close), create))
        self.passphrase.setFocus()  # what is typed first is secret, and must not become the name of a file

    def order(self) -> None:
        """Do what the button does."""
        problem = ""
        if not self.file.text().strip():
            problem = "Name the file of the private key."
        elif self.passphrase.text() != self.again.text():
            problem = "The two passphrases differ."
        elif not self.passphrase.text() and not self.unprotected.isChecked():
            problem = "There is no passphrase. Type one, or tick that the key is to be created without."
        if not self.reason.say(problem):
            file = self._folder / Path(self.file.text().strip()).expanduser()
            self.ordered.emit(KeyJob(file, self.passphrase.text().encode()))
            self.close()

    def _browse(self) -> None:
        ask_to_save(
            self, "File of the private key", lambda path: self.file.setText(str(path)), proposed=self.file.text()
        )
