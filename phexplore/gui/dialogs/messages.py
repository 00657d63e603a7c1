"""Questions, failures and lists of problems. Every dialog opens and returns at once; the answer comes by a call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QWidget

from phexplore.catalog.manual import POINTER, page_title
from phexplore.figures.wording import counted
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import column, row
from phexplore.gui.widgets.pointers import PAGE, open_page
from phexplore.model.issues import Issue

Answer = Callable[[], object]
Offer = tuple[str, Answer]
"""Text of a button and what it does."""


class Message(QDialog):
    """A title, a sentence, optional details that can be copied, and buttons."""

    def __init__(self, parent: QWidget | None, title: str, sentence: str, *, details: str = "") -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(56 * GRID * appearance().scale // 100)
        self._details = details
        self.sentence = Text(sentence, wrap=True)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        shown = (self._details_field(details),) if details else ()
        copies = (TextButton("Copy details", run=self.copy_details),) if details else ()
        self._buttons = row(*copies, 1, margins=(0, GRID, 0, 0))
        heading = Text(title, bold=True, relative=1.25, wrap=True)
        column(heading, self.sentence, *shown, self._buttons, of=self, margins=(MARGIN, MARGIN, MARGIN, MARGIN))
        for page in dict.fromkeys(POINTER.findall(details)):
            self._buttons.addWidget(TextButton(page_title(page), look="link", run=partial(open_page, self, page)))
            self.setProperty(PAGE, self.property(PAGE) or page)

    def add_button(self, text: str, run: Answer | None = None, *, is_main: bool = False) -> TextButton:
        """Add a button that closes the dialog and then acts."""
        button = TextButton(text, look="primary" if is_main else "")
        button.setDefault(is_main)

        def act() -> None:
            self.close()
            if run is not None:
                run()

        button.clicked.connect(act)
        self._buttons.addWidget(button)
        if is_main:
            button.setFocus()  # else Space presses the first button while Return presses this one
        return button

    def copy_details(self) -> None:
        """Put sentence and details on the clipboard."""
        QGuiApplication.clipboard().setText(f"{self.sentence.text()}\n\n{self._details}")

    def _details_field(self, details: str) -> QPlainTextEdit:
        field = QPlainTextEdit(details)
        field.setReadOnly(True)
        field.setTabChangesFocus(True)
        field.setAccessibleName("Details")
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPointSizeF(font.pointSizeF() * appearance().scale / 100)
        field.setFont(font)
        field.setMinimumHeight(20 * GRID)
        return field


def show_failure(
    parent: QWidget | None, title: str, sentence: str, *, details: str = "", offers: Sequence[Offer] = ()
) -> Message:
    """Say that something failed, and what to do; every offer is a button that does it."""
    message = Message(parent, title, sentence, details=details)
    for text, run in offers:
        message.add_button(text, run)
    message.add_button("Close", is_main=True)
    message.open()
    return message


def show_problems(
    parent: QWidget | None, title: str, issues: Sequence[Issue], *, offers: Sequence[Offer] = ()
) -> Message:
    """Show every problem of a file with its place and remedy."""
    sentence = f"{counted(len(issues), 'problem')} found. Nothing was loaded or changed."
    details = "\n".join(f"{issue.place}: {issue.sentence} {issue.remedy}" for issue in issues)
    return show_failure(parent, title, sentence, details=details, offers=offers)


def ask_to_save(parent: QWidget | None, name: str, *, save: Answer, discard: Answer, runs: int = 0) -> Message:
    """Ask what to do with unsaved edits and with runs that would go with them; cancelling does nothing.

    Args:
        parent: window it belongs to.
        name: of the project.
        save: keeps the edits and the runs.
        discard: goes on without them.
        runs: how many runs an unsaved project has.
    """
    if runs:
        count = "finished run" if runs == 1 else f"{runs} finished runs"
        title = f"Keep the {count} of this unsaved project?"
        sentence = (
            "Runs belong to the project they were started in. Save it and they are kept beside its file; "
            "otherwise the project and its runs are deleted."
        )
    else:
        title, sentence = "Save the edits?", f"{name} has edits that are not saved."
    message = Message(parent, title, sentence)
    message.add_button("Delete" if runs else "Don't save", discard)
    message.add_button("Cancel")
    message.add_button("Save", save, is_main=True)
    message.open()
    return message


def ask(
    parent: QWidget | None,
    title: str,
    sentence: str,
    *,
    action: str,
    run: Answer,
    instead: Offer | None = None,
    careful: bool = False,
    details: str = "",
) -> Message:
    """Ask before something that cannot be undone.

    Args:
        parent: window it belongs to.
        title: the question.
        sentence: what there is to know.
        action: text of the button that does it.
        run: does it.
        instead: a safer way, as another button.
        careful: whether Return means Cancel.
        details: to read and copy.
    """
    message = Message(parent, title, sentence, details=details)
    message.add_button("Cancel", is_main=careful)
    if instead is not None:
        message.add_button(*instead)
    message.add_button(action, run, is_main=not careful)
    message.open()
    return message
