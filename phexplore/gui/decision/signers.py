"""Who signs a bundle: key files with a name and a role each; keys are named here and read only beside the window."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QFrame, QGridLayout, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from phexplore.decide.bundle_jobs import KeyFile, SigningCommand
from phexplore.decide.signing import Signer
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.buttons import SymbolButton, TextButton
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import ElidedText, Text

_COMMAND_TIP = (
    "The command reads what is signed on standard input and writes an SSH signature on standard output; no shell takes part. "
    "Enter passphrases or PINs where the agent asks for them: the command has no terminal here."
)


class SignerRow(QFrame):
    """Whose signature is made, and with what: a key file, or a command for cards and agents.

    Signals:
        removed: the row itself.
    """

    removed = Signal(object)

    def __init__(self, path: Path | None, passphrase: str = "") -> None:
        """Make the row.

        Args:
            path: of the private key, None for a command.
            passphrase: of the key.
        """
        super().__init__()
        self.path = path
        self.setProperty("look", "card")
        self.name, self.role, self.passphrase, self.command = (
            QLineEdit(),
            QLineEdit(),
            QLineEdit(passphrase),
            QLineEdit(),
        )
        self.passphrase.setEchoMode(QLineEdit.EchoMode.Password)
        title = "Signed by a command" if path is None else f"Key {path.name}"
        last = (
            (self.command, "Command that signs", "ssh-keygen -Y sign -f KEY.pub -n phexplore-bundle")
            if path is None
            else (self.passphrase, "Passphrase of the key", "passphrase, if the key has one")
        )
        grid = QGridLayout(self)
        grid.setContentsMargins(GRID + HALF, GRID, GRID, GRID)
        grid.setSpacing(GRID)
        for place, (field, words, example) in enumerate(
            (
                (self.name, "Name of the signer", "name of the person"),
                (self.role, "Role of the signer", "role, e.g. Chair"),
                last,
            )
        ):
            field.setAccessibleName(f"{words}, {title[0].lower()}{title[1:]}")
            field.setPlaceholderText(example)
            grid.addWidget(field, 1, place)
            grid.setColumnStretch(place, 1)
        remove = SymbolButton(
            "close", "Do not sign with a command" if path is None else f"Do not sign with {path.name}"
        )
        remove.clicked.connect(lambda: self.removed.emit(self))
        heading = ElidedText(title, bold=True)
        heading.setToolTip(_COMMAND_TIP if path is None else str(path))
        grid.addWidget(heading, 0, 0, 1, 3)
        grid.addWidget(remove, 0, 3)

    def key(self) -> KeyFile | SigningCommand:
        """Return what signs, and for whom; without a name, the name of the key's file."""
        name, role = self.name.text().strip(), self.role.text().strip()
        if self.path is None:
            return SigningCommand(self.command.text().strip(), Signer(name, role))
        return KeyFile(self.path, Signer(name or self.path.stem, role), self.passphrase.text().encode() or None)


class ExpectedRow(QFrame):
    """A public key of somebody who signs later."""

    removed = Signal(object)

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.setProperty("look", "card")
        remove = SymbolButton("close", f"Do not expect {path.name}")
        remove.clicked.connect(lambda: self.removed.emit(self))
        row = QHBoxLayout(self)
        row.setContentsMargins(GRID + HALF, HALF, GRID, HALF)
        words = ElidedText(f"Signs later: {path.name}")
        words.setToolTip(str(path))
        row.addWidget(words, 1)
        row.addWidget(remove)


class SignersEditor(QWidget):
    """Key files to sign with, and public keys of people who sign later.

    Signals:
        changed: a key was added or taken away.
        key_wanted: somebody wants a new key.
    """

    changed = Signal()
    key_wanted = Signal()

    def __init__(self, *, is_signed_later: bool) -> None:
        """Make the editor.

        Args:
            is_signed_later: whether public keys of later signers can be named.
        """
        super().__init__()
        self.rows: list[SignerRow] = []
        self.expected: list[ExpectedRow] = []
        self._empty = Text(
            "Nobody signs yet. The private key stays in its file; a bundle holds public keys only.",
            look="muted",
            wrap=True,
        )
        self.add = TextButton("Add a key file…", name="Add a private key file to sign with")
        self.add.clicked.connect(partial(self._choose, "Private key (PEM or OpenSSH)", self.add_key))
        self.by_command = TextButton("Sign with a command…", name="Sign with a command, for cards and agents")
        self.by_command.setToolTip(_COMMAND_TIP)
        self.by_command.clicked.connect(self.add_command)
        self.new_key = TextButton("Create a key…", name="Create a new Ed25519 key pair")
        self.new_key.clicked.connect(self.key_wanted)
        self.later = TextButton("Somebody signs later…", name="Add the public key of somebody who signs later")
        self.later.clicked.connect(partial(self._choose, "Public key (.pub or .pem)", self.add_expected))
        self.later.setVisible(is_signed_later)
        self._list = QVBoxLayout()
        self._list.setSpacing(HALF)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(self._empty)
        column.addLayout(self._list)
        column.addWidget(FlowRow(self.add, self.new_key, self.by_command, self.later, gap=GRID))

    @property
    def keys(self) -> tuple[KeyFile | SigningCommand, ...]:
        """Who signs now."""
        return tuple(row.key() for row in self.rows)

    @property
    def later_keys(self) -> tuple[Path, ...]:
        """Public keys of people who sign later."""
        return tuple(row.path for row in self.expected)

    def add_key(self, path: Path, passphrase: str = "") -> SignerRow:
        """Add a private key file; the same file twice is one key."""
        for row in self.rows:
            if row.path == path:
                return row
        return self._add_row(SignerRow(path, passphrase))

    def add_command(self) -> SignerRow:
        """Add a signer whose signature a command makes."""
        return self._add_row(SignerRow(None))

    def add_expected(self, path: Path) -> None:
        """Add the public key of somebody who signs later."""
        if path in self.later_keys:
            return
        row = ExpectedRow(path)
        row.removed.connect(self._remove)
        self.expected.append(row)
        self._take(row)

    def forget_passphrases(self) -> None:
        """Empty the fields of passphrases: they were used."""
        for row in self.rows:
            row.passphrase.clear()

    def clear(self) -> None:
        """Remove all signers: they were about another project."""
        for row in tuple(self.rows):
            self._remove(row)
        for key in tuple(self.expected):
            self._remove(key)

    def _add_row(self, row: SignerRow) -> SignerRow:
        row.removed.connect(self._remove)
        self.rows.append(row)
        self._take(row)
        row.name.setFocus()
        return row

    def _take(self, row: QWidget) -> None:
        self._list.addWidget(row)
        self._empty.hide()
        self.changed.emit()

    def _remove(self, row: SignerRow | ExpectedRow) -> None:
        if isinstance(row, SignerRow):
            self.rows.remove(row)
        else:
            self.expected.remove(row)
        self._list.removeWidget(row)
        row.hide()
        row.deleteLater()
        self._empty.setVisible(not self.rows and not self.expected)
        self.changed.emit()

    def _choose(self, title: str, take: Callable[[Path], object]) -> None:
        dialog = QFileDialog(self, title)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(lambda names: [take(Path(name)) for name in names])
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
