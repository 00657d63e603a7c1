"""The dialog of comments: what was said about a number, a picture or the scenario, and a place to say more."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

from PySide6.QtWidgets import QApplication, QPlainTextEdit, QWidget

from phexplore.decide.comments import said_of
from phexplore.gui.binding.room import Room
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.settings import AUTHOR, Settings
from phexplore.gui.decision.dialogs import AskDialog
from phexplore.gui.figures.view import FigureView
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.labels import Paragraph
from phexplore.gui.widgets.layout import form
from phexplore.gui.widgets.number_field import LineField
from phexplore.gui.widgets.pointers import PAGE
from phexplore.model.comment import Comment
from phexplore.model.comments import PICTURE, add_comment, place_of

_WIDTH, _HEIGHT = 64 * GRID, 12 * GRID
About = tuple[str, str]
"""Words for people, and what comments on it are about."""


def picture_in_focus() -> tuple[About, ...]:
    """Return the picture whose mark or table is being walked, none elsewhere."""
    widget = QApplication.focusWidget()
    while widget is not None and not isinstance(widget, FigureView):
        widget = widget.parentWidget()
    return () if widget is None else ((f"Picture: {widget.name}", PICTURE + widget.name),)


def ask_for_comment(parent: QWidget, settings: Settings, room: Room) -> None:
    """Comment on the picture in hand, else on the selected number; the whole scenario is offered, too.

    Args:
        parent: window of the dialog.
        settings: remembers the author.
        room: of the active scenario.
    """
    key = room.session.selection
    chosen = () if key is None else ((room.title_of(key), place_of(key)),)
    abouts = (*picture_in_focus(), *chosen, ("The whole scenario", ""))
    CommentDialog(parent, room.around.session, settings, abouts).open()


class CommentDialog(AskDialog):
    """Shows comments and takes one more, as a step of the project."""

    def __init__(self, parent: QWidget, session: Session, settings: Settings, abouts: Sequence[About]) -> None:
        """Make the dialog.

        Args:
            parent: window it lies on.
            session: the project.
            settings: remembers the author.
            abouts: what can be commented on, the likeliest first.
        """
        sentence = "A comment stays with the scenario: in its history, in comparisons, reports and bundles."
        super().__init__(parent, "Comments", sentence, width=_WIDTH)
        self.setProperty(PAGE, "docs/decisions_of_committees.md#in-the-window-the-area-decision")
        self._session, self._settings = session, settings
        self.about = Chooser("What the comment is about", options=abouts, run=self._show)
        self.said = Paragraph(look="muted")
        self.who = LineField("Who says it", settings.read(AUTHOR), example="your name")
        self.text = QPlainTextEdit()
        self.text.setAccessibleName("Comment")
        self.text.setTabChangesFocus(True)
        self.text.setFixedHeight(_HEIGHT)
        self.text.textChanged.connect(self.forgive)
        self.add = TextButton("Add the comment", look="primary", run=self._add)
        rows = form(("&About", self.about), self.said, ("&Who", self.who), ("&Comment", self.text))
        self.lay_out(rows, buttons=(1, TextButton("Cancel", name="Cancel the comment", run=self.reject), self.add))
        self._show()
        self.text.setFocus()

    def _show(self) -> None:
        about = str(self.about.currentData() or "")
        said = "\n".join(said_of(each) for each in self._session.scenario.comments if each.about == about)
        self.said.setText(said or "Nothing was said about it yet.")

    def _add(self) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        who, about = self.who.text().strip(), str(self.about.currentData() or "")
        comment = Comment(self.text.toPlainText().strip(), who, now, about)
        label = f"Comment by {who} on {self.about.currentText()}"
        refusal = self._session.edit(label, partial(add_comment, comment=comment))
        if refusal is not None:
            self.refuse(refusal.full)
            return
        self._settings.keep(AUTHOR, who)
        self.accept()
