"""Dialogs of a decision: the sheet before the record, a new pair of keys, and the keys the user trusts."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QListWidgetItem, QWidget

from phexplore.decide.bundle_jobs import KeyJob
from phexplore.decide.signing import key_id_of, load_public_key
from phexplore.decide.trusted_keys import TrustedKey, forget_key, trust_key, trusted_keys
from phexplore.errors import PhexploreError
from phexplore.gui.binding.tiles import SummaryEntry
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.theme.number_style import localised
from phexplore.gui.widgets.buttons import TextButton, TickBox
from phexplore.gui.widgets.cell_text import WrappedText
from phexplore.gui.widgets.file_dialogs import ask_to_open, ask_to_save
from phexplore.gui.widgets.labels import Paragraph, Reason, Text, describe
from phexplore.gui.widgets.layout import Part, column, form, row, stacked
from phexplore.gui.widgets.number_field import LineField
from phexplore.gui.widgets.page import scrolling
from phexplore.model.issues import InputProblemsError
from phexplore.text.escapes import visible

_FRAME = 6 * GRID
"""Of a dialog on the screen, with its title: else the buttons of one in large text are below the edge."""


class AskDialog(QDialog):
    """Title and sentence above, a reason and buttons below; gone when it is closed."""

    def __init__(
        self, parent: QWidget | None, title: str, sentence: str, *, width: int = 0, look: str = "muted"
    ) -> None:
        """Make the dialog.

        Args:
            parent: the window it belongs to.
            title: what it asks, also of its frame.
            sentence: what that leads to.
            width: smallest in pixels.
            look: of the sentence.
        """
        super().__init__(parent)
        self._head = (Paragraph(title, bold=True, relative=1.25), Text(sentence, look=look, wrap=True))
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(width)
        self.reason = Reason()

    def lay_out(self, *parts: Part, buttons: Sequence[Part]) -> None:
        """Put everything in its place.

        Args:
            parts: between the sentence and the reason.
            buttons: from left to right.
        """
        margins = (MARGIN, MARGIN, MARGIN, MARGIN)
        column(*self._head, *parts, self.reason, row(*buttons), of=self, margins=margins)
        for field in self.findChildren(QLineEdit):
            field.textEdited.connect(self.forgive)

    def refuse(self, reason: str) -> bool:
        """Show why it cannot be done, "" for nothing; return whether there is a reason."""
        is_refused = self.reason.say(reason)
        self._grow()
        return is_refused

    def forgive(self) -> None:
        """Say no more why it was refused: it is being mended. The place of the reason stays, so that no field moves meanwhile."""
        self.reason.setText("")

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._grow()

    def _grow(self) -> None:
        """Take the height that wrapped sentences need: a dialog opens with at most two thirds of the screen."""
        if (layout := self.layout()) is not None:
            most = self.screen().availableGeometry().height() - _FRAME
            needed = min(layout.totalHeightForWidth(self.width()), most)
            self.resize(self.width(), max(self.height(), needed))


_WIDTH, _HEIGHT = 88 * GRID, 80 * GRID


class DecisionSheet(AskDialog):
    """Asks once more. Closing it in any way but by its main button decides nothing.

    The main button stays disabled until the name is typed and every required field is filled, so neither a double click nor
    Return pressed twice can get through it.
    """

    def __init__(
        self,
        parent: QWidget,
        title: str,
        sentence: str,
        name: str,
        *,
        action: str,
        instead: str,
        entries: Sequence[SummaryEntry] = (),
        fields: Sequence[tuple[str, QLineEdit]] = (),
    ) -> None:
        """Make the sheet.

        Args:
            parent: window it lies on.
            title: the question.
            sentence: what will hold afterwards, and in whose name.
            name: of the scenario, to be typed.
            action: text of the button that does it.
            instead: text of the button that does nothing.
            entries: what there is to know.
            fields: captions and fields that must be filled.
        """
        super().__init__(parent, title, sentence, look="")
        self._names = {_plain(name), _plain(localised(name))}  # as it is written, and as it is read here
        self._required = tuple(field for _, field in fields)
        self.typed = LineField("Name of the scenario, to confirm", example="name of the scenario")
        self.action = TextButton(action, look="primary", run=self.accept)
        self.action.setDefault(True)
        self.action.setEnabled(False)
        self.instead = TextButton(instead, run=self.reject)
        parts: list[Part] = []
        if entries:
            place = scrolling("What is decided about", _summary(entries))
            place.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # so that keys scroll a long list of changes
            # Whoever comes here by keyboard hears what is decided about, not only that it is.
            # Line by line in the words that stand there: what a committee does not see is left out at the end of a line.
            heard = (f"{each.caption}: {', '.join(map(localised, each.lines))}" for each in entries)
            describe(place, more="; ".join(heard))
            parts.append((place, 1))
        typed = (f"To confirm, type the name of the scenario: {name}", self.typed)
        for caption, field in (*fields, typed):
            parts.append(stacked(Paragraph(caption, look="muted"), field, gap=HALF))
            field.textChanged.connect(self._weigh)
        self.lay_out(*parts, *(() if entries else (1,)), buttons=(1, self.instead, self.action))
        room = parent.window().size()
        height = _HEIGHT if entries else self.sizeHint().height()
        self.resize(min(_WIDTH, room.width() - 4 * GRID), min(height, room.height() - 8 * GRID))

    def open_for(self, confirmed: Callable[[], object]) -> None:
        """Open and return at once; `confirmed` is called when the main button is pressed, and only then."""
        self.accepted.connect(confirmed)
        self.open()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        (*self._required, self.typed)[0].setFocus()

    def accept(self) -> None:
        if self.action.isEnabled():
            super().accept()

    def _weigh(self) -> None:
        is_filled = all(field.text().strip() for field in self._required)
        self.action.setEnabled(is_filled and _plain(self.typed.text()) in self._names)


def _plain(text: str) -> str:
    """Return a name as people compare it: whatever the capitals, spaces and ways to compose a letter."""
    return " ".join(unicodedata.normalize("NFC", text).split()).casefold()


def _summary(entries: Sequence[SummaryEntry]) -> QWidget:
    parts: list[Part] = []
    for entry in entries:
        parts.append(Text(entry.caption, bold=True, wrap=True))
        parts.append(stacked(Paragraph("\n".join(entry.lines), look=entry.tone.value), margins=(0, 0, 0, HALF)))
    return stacked(*parts, 1, gap=HALF, margins=(0, 0, GRID, 0))


_LINES = 6
"""Height of the list of keys, in keys."""
_NOBODY = "No key yet. Choose a public key below, and say whose it is."


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
        self.file = LineField("File of the private key", str(_free_key(folder)))
        self.passphrase = LineField("Passphrase", is_secret=True)
        self.again = LineField("The passphrase again", is_secret=True)
        self.unprotected = TickBox("Create it without a passphrase: whoever copies the file can sign in my name")
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
        if not self.refuse(problem):
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
        self.list.setItemDelegate(WrappedText(self.list))
        self.owner = LineField("Whose key it is", example="name of the person")
        self.choose = TextButton("Choose a public key…", run=self._choose)
        self.chosen = Text("No key chosen yet", look="muted", wrap=True)
        selectable = Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        self.chosen.setTextInteractionFlags(selectable)
        self.add = TextButton("Trust this key", look="primary", run=self.add_key)
        self.add.setEnabled(False)
        self.remove = TextButton("Remove", name="Remove the selected key", run=self.remove_selected)
        self.list.currentRowChanged.connect(self._on_row)
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
        describe(self.list, more="" if self._keys else _NOBODY)  # a line that cannot be chosen is not read
        if not self._keys:
            QListWidgetItem(_NOBODY, self.list).setFlags(Qt.ItemFlag.NoItemFlags)
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
        if not self.owner.text().strip():
            self.refuse("Say whose key it is.")
            self.owner.setFocus()
        elif self._changed(lambda: trust_key(self.owner.text(), self._chosen)):
            self.owner.clear()
            self.list.setFocus()  # where the key stands now: the button goes out of use
            self._show_chosen(b"")

    def remove_selected(self) -> None:
        """Remove the selected key."""
        self._changed(lambda: forget_key(self._keys[self.list.currentRow()].fingerprint))
        self.list.setFocus()  # the button goes out of use

    def _on_row(self, row: int) -> None:
        self.remove.setEnabled(row >= 0)
        self.list.setCurrentRow(row)  # the toolkit goes to the first line with the focus, and chooses none

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
        self.chosen.setFocusPolicy(Qt.FocusPolicy.StrongFocus if key else Qt.FocusPolicy.NoFocus)
        describe(self.choose, more=self.chosen.text())  # the focus comes back to it
        self.add.setEnabled(bool(key))
        self.reason.hide()

    def _refuse(self, error: PhexploreError) -> None:
        problems = error.issues if isinstance(error, InputProblemsError) else (error,)
        self.refuse(visible(" ".join(f"{one.sentence} {one.remedy}".strip() for one in problems)))

    def _choose(self) -> None:
        kinds = "Public keys (*.pub *.pem);;All files (*)"
        ask_to_open(self, "Public key", self.show_key, kinds=kinds, folder=self._folder)


def _free_key(folder: Path) -> Path:
    """Return a file for a key where none lies: a key is never replaced, and the second member comes to the same folder."""
    names = ("signing.key", *(f"signing-{number}.key" for number in range(2, 100)))
    free = (folder / name for name in names if not (folder / name).exists() and not (folder / f"{name}.pub").exists())
    return next(free, folder / "signing.key")
