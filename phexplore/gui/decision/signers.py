"""Who signs a bundle: key files with a name and a role each; keys are named here and read only beside the window."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from phexplore.decide.bundle_jobs import KeyFile, SigningCommand
from phexplore.decide.signing import Signer
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.buttons import SymbolButton, TextButton
from phexplore.gui.widgets.file_dialogs import ask_for_several
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import ElidedText, Text
from phexplore.gui.widgets.layout import column, row
from phexplore.gui.widgets.number_field import LineField

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
        title = "signed by a command" if path is None else f"key {path.name}"
        self.name = LineField(f"Name of the signer, {title}", example="name of the person")
        self.role = LineField(f"Role of the signer, {title}", example="role, e.g. Chair")
        self.passphrase = LineField(
            f"Passphrase of the key, {title}", passphrase, example="passphrase, if the key has one", is_secret=True
        )
        example = "ssh-keygen -Y sign -f KEY.pub -n phexplore-bundle"
        self.command = LineField(f"Command that signs, {title}", example=example)
        with_what = self.command if path is None else self.passphrase
        heading = ElidedText(title[0].upper() + title[1:], bold=True)
        heading.setToolTip(_COMMAND_TIP if path is None else str(path))
        name = "Do not sign with a command" if path is None else f"Do not sign with {path.name}"
        remove = SymbolButton("close", name, run=lambda: self.removed.emit(self))
        fields = row((self.name, 1), (self.role, 1), (with_what, 1))
        column(row((heading, 1), remove), fields, of=self, margins=(GRID + HALF, GRID, GRID, GRID))

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
        remove = SymbolButton("close", f"Do not expect {path.name}", run=lambda: self.removed.emit(self))
        words = ElidedText(f"Signs later: {path.name}")
        words.setToolTip(str(path))
        row((words, 1), remove, of=self, margins=(GRID + HALF, HALF, GRID, HALF))


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
        self.add = TextButton("Add a key file…", name="Add a private key file to sign with", run=self._choose_keys)
        name = "Sign with a command, for cards and agents"
        self.by_command = TextButton("Sign with a command…", name=name, tip=_COMMAND_TIP, run=self.add_command)
        name = "Create a new Ed25519 key pair"
        self.new_key = TextButton("Create a key…", name=name, run=self.key_wanted)
        name = "Add the public key of somebody who signs later"
        self.later = TextButton("Somebody signs later…", name=name, run=self._choose_later)
        self.later.setVisible(is_signed_later)
        self._list = column(gap=HALF)
        buttons = FlowRow(self.add, self.new_key, self.by_command, self.later, gap=GRID)
        column(self._empty, self._list, buttons, of=self)

    @property
    def keys(self) -> tuple[KeyFile | SigningCommand, ...]:
        """Who signs now."""
        return tuple(signer.key() for signer in self.rows)

    @property
    def later_keys(self) -> tuple[Path, ...]:
        """Public keys of people who sign later."""
        return tuple(signer.path for signer in self.expected)

    def add_key(self, path: Path, passphrase: str = "") -> SignerRow:
        """Add a private key file; the same file twice is one key."""
        for signer in self.rows:
            if signer.path == path:
                return signer
        return self._add_row(SignerRow(path, passphrase))

    def add_command(self) -> SignerRow:
        """Add a signer whose signature a command makes."""
        return self._add_row(SignerRow(None))

    def add_expected(self, path: Path) -> None:
        """Add the public key of somebody who signs later."""
        if path in self.later_keys:
            return
        signer = ExpectedRow(path)
        signer.removed.connect(self._remove)
        self.expected.append(signer)
        self._take(signer)

    def forget_passphrases(self) -> None:
        """Empty the fields of passphrases: they were used."""
        for signer in self.rows:
            signer.passphrase.clear()

    def clear(self) -> None:
        """Remove all signers: they were about another project."""
        for signer in tuple(self.rows):
            self._remove(signer)
        for key in tuple(self.expected):
            self._remove(key)

    def _add_row(self, signer: SignerRow) -> SignerRow:
        signer.removed.connect(self._remove)
        self.rows.append(signer)
        self._take(signer)
        signer.name.setFocus()
        return signer

    def _take(self, signer: QWidget) -> None:
        self._list.addWidget(signer)
        self._empty.hide()
        self.changed.emit()

    def _remove(self, signer: SignerRow | ExpectedRow) -> None:
        if isinstance(signer, SignerRow):
            self.rows.remove(signer)
        else:
            self.expected.remove(signer)
        self._list.removeWidget(signer)
        signer.hide()
        signer.deleteLater()
        self._empty.setVisible(not self.rows and not self.expected)
        self.changed.emit()

    def _choose_keys(self) -> None:
        ask_for_several(self, "Private key (PEM or OpenSSH)", self._add_keys)

    def _add_keys(self, paths: list[Path]) -> None:
        for path in paths:
            self.add_key(path)

    def _choose_later(self) -> None:
        ask_for_several(self, "Public key (.pub or .pem)", self._add_later)

    def _add_later(self, paths: list[Path]) -> None:
        for path in paths:
            self.add_expected(path)
