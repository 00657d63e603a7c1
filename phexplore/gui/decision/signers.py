"""Who signs a bundle: key files with a name and a role each; keys are named here and read only beside the window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from phexplore.decide.bundle_jobs import KeyFile, SigningCommand
from phexplore.decide.signing import Signer
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.buttons import SymbolButton, TextButton
from phexplore.gui.widgets.file_dialogs import ask_for_several
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import ElidedText, Paragraph
from phexplore.gui.widgets.layout import column, row
from phexplore.gui.widgets.number_field import LineField

_COMMAND_TIP = (
    "The command reads what is signed on standard input and writes an SSH signature on standard output; no shell takes part. "
    "Enter passphrases or PINs where the agent asks for them: the command has no terminal here."
)


class SignerRow(QFrame):
    """Whose signature is made, and with what: a key file, or a command for cards and agents; or who signs later.

    Signals:
        removed: the row itself.
    """

    removed = Signal(object)

    def __init__(self, path: Path | None, passphrase: str = "", *, is_later: bool = False) -> None:
        """Make the row.

        Args:
            path: of the private key, None for a command.
            passphrase: of the key.
            is_later: whether the path is the public key of somebody who signs later.
        """
        super().__init__()
        self.path, self.is_later = path, is_later
        self.setProperty("look", "card")
        file = "" if path is None else path.name
        title, leave = f"key {file}", f"Do not sign with {file or 'a command'}"
        if is_later:
            title, leave = f"signs later: {file}", f"Do not expect {file}"
        elif path is None:
            title = "signed by a command"
        self.name = LineField(f"Name of the signer, {title}", example="name of the person")
        self.role = LineField(f"Role of the signer, {title}", example="role, e.g. Chair")
        self.passphrase = LineField(
            f"Passphrase of the key, {title}", passphrase, example="passphrase, if the key has one", is_secret=True
        )
        example = "ssh-keygen -Y sign -f KEY.pub -n phexplore-bundle"
        self.command = LineField(f"Command that signs, {title}", example=example)
        heading = ElidedText(title[0].upper() + title[1:], bold=not is_later)
        heading.setToolTip(_COMMAND_TIP if path is None else str(path))
        remove = SymbolButton("close", leave, run=lambda: self.removed.emit(self))
        who = row((self.name, 1), (self.role, 1), *(() if path is None else ((self.passphrase, 1),)))
        fields = () if is_later else (who,) if path is not None else (who, self.command)  # a command is long
        own = () if is_later else (self.name, self.role, self.command if path is None else self.passphrase)
        self.stops: tuple[QWidget, ...] = (remove, *own)
        column(row((heading, 1), remove), *fields, of=self, margins=(GRID + HALF, GRID, GRID, GRID))

    def key(self) -> KeyFile | SigningCommand:
        """Return what signs, and for whom; without a name, the name of the key's file."""
        name, role = self.name.text().strip(), self.role.text().strip()
        if self.path is None:
            return SigningCommand(self.command.text().strip(), Signer(name, role))
        return KeyFile(self.path, Signer(name or self.path.stem, role), self.passphrase.text().encode() or None)


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
        self._rows: list[SignerRow] = []
        self._empty = Paragraph(
            "Nobody signs yet. Private keys stay in their files; a bundle holds public keys only."
            + (" Name everybody, also who signs later: other keys are refused then." if is_signed_later else ""),
            look="muted",
        )
        self.add = TextButton(
            "Add a key file…",
            name="Add a private key file to sign with",
            run=lambda: self._choose("Private key (PEM or OpenSSH)", self.add_key),
        )
        name = "Sign with a command, for cards and agents"
        self.by_command = TextButton("Sign with a command…", name=name, tip=_COMMAND_TIP, run=self.add_command)
        name = "Create a new Ed25519 key pair"
        self.new_key = TextButton("Create a key…", name=name, run=self.key_wanted)
        self.later = TextButton(
            "Somebody signs later…",
            name="Add the public key of somebody who signs later",
            run=lambda: self._choose("Public key (.pub or .pem)", self.add_expected),
        )
        self.later.setVisible(is_signed_later)
        self._list = column(gap=HALF)
        buttons = FlowRow(self.add, self.new_key, self.by_command, self.later, gap=GRID)
        column(self._empty, self._list, buttons, of=self)

    @property
    def rows(self) -> list[SignerRow]:
        """Who signs now, a row each."""
        return [signer for signer in self._rows if not signer.is_later]

    @property
    def keys(self) -> tuple[KeyFile | SigningCommand, ...]:
        """Who signs now."""
        return tuple(signer.key() for signer in self.rows)

    @property
    def later_keys(self) -> tuple[Path, ...]:
        """Public keys of people who sign later."""
        return tuple(signer.path for signer in self._rows if signer.is_later and signer.path is not None)

    def add_key(self, path: Path, passphrase: str = "") -> None:
        """Add a private key file; the same file twice is one key."""
        if path not in {signer.path for signer in self.rows}:
            self._add(SignerRow(path, passphrase))

    def add_command(self) -> None:
        """Add a signer whose signature a command makes."""
        self._add(SignerRow(None))

    def add_expected(self, path: Path) -> None:
        """Add the public key of somebody who signs later."""
        if path not in self.later_keys:
            self._add(SignerRow(path, is_later=True))

    def forget_passphrases(self) -> None:
        """Empty the fields of passphrases: they were used."""
        for signer in self.rows:
            signer.passphrase.clear()

    def clear(self) -> None:
        """Remove all signers: they were about another project."""
        for signer in tuple(self._rows):
            self._remove(signer)

    def _add(self, signer: SignerRow) -> None:
        signer.removed.connect(self._remove)
        self._rows.append(signer)
        self._list.addWidget(signer)
        signer.show()  # at once: what is not shown yet cannot have the focus, which goes to the top of the window instead
        before = self.add.previousInFocusChain() or self
        for stop in signer.stops:
            self.setTabOrder(before, stop)
            before = stop
        self._empty.hide()
        self.changed.emit()
        if not signer.is_later:
            signer.name.setFocus()

    def _remove(self, signer: SignerRow) -> None:
        self._rows.remove(signer)
        if (focused := self.window().focusWidget()) is not None and signer.isAncestorOf(focused):
            self.add.setFocus()
        self._list.removeWidget(signer)
        signer.hide()
        signer.deleteLater()
        self._empty.setVisible(not self._rows)
        self.changed.emit()

    def _choose(self, title: str, add: Callable[[Path], object]) -> None:
        ask_for_several(self, title, lambda paths: [add(path) for path in paths])
