"""Dialogs about keys: make a pair to sign with, and look after the keys the user trusts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QListWidget, QWidget

from phexplore.decide.bundle_jobs import KeyJob
from phexplore.decide.signing import key_id_of, load_public_key
from phexplore.decide.trusted_keys import TrustedKey, forget_key, trust_key, trusted_keys
from phexplore.errors import PhexploreError, visible
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.ask_dialog import AskDialog
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.file_dialogs import ask_to_open, ask_to_save
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import form, row
from phexplore.gui.widgets.number_field import LineField
from phexplore.model.issues import InputProblemsError

_LINES = 6
"""Height of the list of keys, in keys."""


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


class TrustedKeysDialog(AskDialog):
    """Shows the store of keys and changes it.

    Signals:
        stored: a key was added or removed.
    """

    stored = Signal()

    def __init__(self, parent: QWidget | None, folder: Path) -> None:
        """Make the dialog.

        Args:
            parent: the window.
            folder: where public keys are likely to be.
        """
        super().__init__(
            parent,
            "Keys you trust",
            "Signatures by these keys are shown with the name you give here. Compare the fingerprint with its owner by telephone "
            "before you trust a key. The list is yours alone: no bundle changes it.",
            width=96 * GRID,
        )
        self._folder = folder
        self._keys: tuple[TrustedKey, ...] = ()
        self._chosen = b""
        self.list = QListWidget()
        self.list.setAccessibleName("Keys you trust, with full fingerprints")
        self.list.setWordWrap(True)
        self.owner = LineField("Whose key it is", example="name of the person")
        self.choose = TextButton("Choose a public key…", run=self._choose)
        self.chosen = Text("No key chosen yet", look="muted", wrap=True)
        self.chosen.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.add = TextButton("Trust this key", look="primary", run=self.add_key)
        self.add.setEnabled(False)
        self.remove = TextButton("Remove", name="Remove the selected key", run=self.remove_selected)
        self.list.currentRowChanged.connect(lambda row: self.remove.setEnabled(row >= 0))
        fields = form(("&Public key", row((self.chosen, 1), self.choose), self.choose), ("&Whose key", self.owner))
        close = TextButton("Close", run=self.close)
        self.lay_out(self.list, fields, buttons=(self.remove, 1, self.add, close))
        self.refresh()

    def refresh(self) -> None:
        """Show what is in the store."""
        try:
            self._keys = trusted_keys()
        except PhexploreError as error:
            self._refuse(error)
        self.list.clear()
        self.list.addItems([f"{visible(key.name)}\n{key.fingerprint}" for key in self._keys])
        self.list.setFixedHeight(_LINES * 5 * GRID)
        self.remove.setEnabled(False)

    def show_key(self, path: Path) -> None:
        """Show the fingerprint of the public key of a file, to be compared with its owner before it is trusted."""
        try:
            self._show_chosen(load_public_key(path))
        except PhexploreError as error:
            self._show_chosen(b"")
            self._refuse(error)

    def add_key(self) -> None:
        """Trust the key that is shown, under the name in the field."""
        if self._changed(lambda: trust_key(self.owner.text(), self._chosen)):
            self.owner.clear()
            self._show_chosen(b"")

    def remove_selected(self) -> None:
        """Remove the selected key."""
        self._changed(lambda: forget_key(self._keys[self.list.currentRow()].fingerprint))

    def _changed(self, change: Callable[[], object]) -> bool:
        try:
            change()
        except PhexploreError as error:
            self._refuse(error)
            return False
        self.refresh()
        self.stored.emit()
        return True

    def _show_chosen(self, key: bytes) -> None:
        self._chosen = key
        self.chosen.setText(f"Fingerprint: {key_id_of(key)}" if key else "No key chosen yet")
        self.add.setEnabled(bool(key))
        self.reason.hide()

    def _refuse(self, error: PhexploreError) -> None:
        problems = error.issues if isinstance(error, InputProblemsError) else (error,)
        self.reason.say(visible(" ".join(f"{one.sentence} {one.remedy}".strip() for one in problems)))

    def _choose(self) -> None:
        kinds = "Public keys (*.pub *.pem);;All files (*)"
        ask_to_open(self, "Public key", self.show_key, kinds=kinds, folder=self._folder)
