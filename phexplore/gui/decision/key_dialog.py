"""A new key pair: where the private key goes and, if wanted, the passphrase that protects it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QFileDialog, QFormLayout, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from phexplore.decide.bundle_jobs import KeyJob
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.labels import Text, field_label


class KeyDialog(QDialog):
    """Asks for a file and a passphrase.

    Signals:
        ordered: the `KeyJob`.
    """

    ordered = Signal(object)

    def __init__(self, parent: QWidget | None, folder: Path) -> None:
        super().__init__(parent)
        self.setWindowTitle("Create a key")
        self.setAccessibleName("Create a key")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(64 * GRID)
        self._folder = folder
        self.file = QLineEdit(str(folder / "signing.key"))
        self.passphrase, self.again = QLineEdit(), QLineEdit()
        for field, name in (
            (self.file, "File of the private key"),
            (self.passphrase, "Passphrase"),
            (self.again, "The passphrase again"),
        ):
            field.setAccessibleName(name)
        for field in (self.passphrase, self.again):
            field.setEchoMode(QLineEdit.EchoMode.Password)
        self.unprotected = QCheckBox("Create it without a passphrase: whoever copies the file can sign in my name")
        self.browse = TextButton("Choose…", name="Choose the file of the private key")
        self.browse.clicked.connect(self._browse)
        self.reason = Text(look="refused", wrap=True)
        self.reason.hide()
        create = TextButton("Create the key", look="primary")
        create.setDefault(True)
        create.clicked.connect(self.order)
        cancel = TextButton("Cancel")
        cancel.clicked.connect(self.close)
        file = QHBoxLayout()
        file.addWidget(self.file, 1)
        file.addWidget(self.browse)
        form = QFormLayout()
        form.setHorizontalSpacing(2 * GRID)
        form.addRow(field_label("&File", self.file), file)
        form.addRow(field_label("&Passphrase", self.passphrase), self.passphrase)
        form.addRow(field_label("A&gain", self.again), self.again)
        form.addRow(self.unprotected)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(cancel)
        buttons.addWidget(create)
        column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        column.setSpacing(GRID)
        column.addWidget(Text("Create a key", bold=True, relative=1.25))
        column.addWidget(
            Text(
                "The private key signs; keep it to yourself. The public key beside it (.pub) goes to everybody who checks your "
                "signatures. A passphrase protects the private key if somebody copies the file.",
                look="muted",
                wrap=True,
            )
        )
        column.addLayout(form)
        column.addWidget(self.reason)
        column.addLayout(buttons)
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
        self.reason.setText(problem)
        self.reason.setVisible(bool(problem))
        if not problem:
            file = self._folder / Path(self.file.text().strip()).expanduser()
            self.ordered.emit(KeyJob(file, self.passphrase.text().encode()))
            self.close()

    def _browse(self) -> None:
        dialog = QFileDialog(self, "File of the private key", self.file.text())
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.fileSelected.connect(self.file.setText)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
