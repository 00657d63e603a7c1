"""What a bundle is, or exactly what was altered, in words."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListWidget, QWidget

from phexplore.decide.bundle_jobs import BundleReport
from phexplore.errors import visible
from phexplore.gui.decision.approval_state import clock
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.icons import icon
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.labels import Paragraph, Text
from phexplore.gui.widgets.layout import column

_MOST_LINES = 12
_NAMED_BY_ITSELF = (
    "A name in a signature is what its signer wrote. Check with the signer, by telephone, that this key is theirs, then add "
    "it to the keys you trust."
)


def headline(report: BundleReport) -> tuple[str, str]:
    """Return the finding and its look."""
    if not report.is_intact:
        count = len(report.alterations)
        return f"Not intact: {count} finding" + ("" if count == 1 else "s"), "refused"
    if report.shortfall:
        return "Intact, but not signed by enough keys you trust", "refused"
    if report.awaited:
        count = len(report.awaited)
        return f"Intact, {count} signature" + ("" if count == 1 else "s") + " still to come", "attention"
    if not report.signatures:
        return "Intact, unsigned", "attention"
    unknown = sum(not one.owner for one in report.signatures)
    if unknown:
        return "Intact, signed by " + ("an unknown key" if unknown == 1 else f"{unknown} unknown keys"), "muted"
    count = len(report.signatures)
    return f"Intact and signed by {count} " + ("key" if count == 1 else "keys") + " you trust", "good"


def lines(report: BundleReport) -> list[tuple[str, str]]:
    """Return symbol and sentence of everything there is to say, what is wrong first; text of the bundle cannot pass for ours."""
    said = [("error", visible(f"{part}: {sentence}")) for part, sentence in report.alterations]
    if report.shortfall:
        said.append(("error", report.shortfall))
    if report.is_intact:
        said.append(("tick", "Every part is as handed over and agrees with what is recomputed from the parameters."))
        said += [("info", visible(f"{name}: {text}")) for name, text in report.stated]
    for one in report.signatures:
        who = visible(f"{one.name}, {one.role}" if one.role else one.name)
        when = visible(f"{clock(one.at)} UTC")
        if not report.is_intact:
            said.append(("info", f"The signature of {who}, {when}, fits the manifest; the bundle is not intact"))
        elif one.owner:
            said.append(("tick", f"Signed with the key of {visible(one.owner)}, as {who}, {when}, key {one.key_id}"))
        else:
            said.append(("info", f"Signed by an unknown key {one.key_id}, which gives the name {who}, {when}"))
    said += [("warning", f"Not signed yet: key {key}") for key in report.awaited]
    if any(not one.owner for one in report.signatures):
        said.append(("info", _NAMED_BY_ITSELF))
    said += [("info", visible(note)) for note in report.notes]
    said.append(("info", f"SHA-256 of the file {report.sha256}"))
    return said


class BundleReportView(QWidget):
    """A finding, a sentence, and a list that can be walked by keyboard."""

    def __init__(self, name: str) -> None:
        """Make the view.

        Args:
            name: of the list, for people who do not see it.
        """
        super().__init__()
        self._lines: list[tuple[str, str]] = []
        self.title = Text(relative=1.3, bold=True, wrap=True)
        self.path = Paragraph(look="muted")
        self.list = QListWidget()
        self.list.setAccessibleName(name)
        self.list.setWordWrap(True)
        self.list.setTextElideMode(Qt.TextElideMode.ElideNone)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column(self.title, self.path, self.list, of=self, gap=HALF, margins=(0, GRID, 0, 0))
        appearance().changed.connect(self._restyle)
        self.hide()

    def show_report(self, report: BundleReport) -> None:
        """Show what was found."""
        words, look = headline(report)
        self.title.setText(words)
        self.title.set_look(look)
        self.path.setText(str(report.path))
        self._lines = lines(report)
        self.list.clear()
        self.list.addItems([sentence for _, sentence in self._lines])
        self.show()
        self._restyle()

    def _restyle(self, _colours: object = None) -> None:
        roles = {"error": "refused", "tick": "good", "warning": "attention"}
        for row, (symbol, _) in enumerate(self._lines):
            self.list.item(row).setIcon(icon(symbol, appearance().colours, role=roles.get(symbol, "muted")))
        lines_shown = min(max(len(self._lines), 1), _MOST_LINES)
        self.list.setFixedHeight(lines_shown * max(self.list.sizeHintForRow(0), 3 * GRID) + GRID)
