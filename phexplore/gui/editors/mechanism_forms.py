"""Parts that the forms of group sizes and of subspace releases share: names, notes, exact fields, what is promised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QLineEdit, QWidget

from phexplore.gui.binding.mechanism_session import MechanismSession
from phexplore.gui.binding.session import Refusal
from phexplore.gui.binding.shown import Shown
from phexplore.gui.systems.phsafe.scenario_editor import NoteField
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.edits import rename
from phexplore.model.numbers import parse_exact
from phexplore.model.scenario import Scenario
from phexplore.systems.registry import presets


def form_in(parent: QWidget) -> QFormLayout:
    """Return a form that fills a widget."""
    form = QFormLayout(parent)
    form.setContentsMargins(0, 0, 0, 0)
    form.setHorizontalSpacing(2 * GRID)
    form.setVerticalSpacing(GRID)
    form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
    return form


def taking_exact(
    session: MechanismSession, what: str, change: Callable[[Scenario, Fraction], Scenario]
) -> Callable[[str], str]:
    """Return what an exact field does with its text: an edit, or the reason why not.

    Args:
        session: that edits.
        what: named in the step, e.g. "the total ε".
        change: from the scenario and the number to the next scenario.
    """

    def take(typed: str) -> str:
        try:
            wanted = parse_exact(typed)
        except ValueError as error:
            return Refusal(typed, str(error)).full
        refusal = session.edit(f"Set {what} to {typed.strip()}", lambda scenario: change(scenario, wanted))
        return refusal.full if refusal else ""

    return take


def taking_whole(
    session: MechanismSession, what: str, change: Callable[[Scenario, int], Scenario]
) -> Callable[[str], str]:
    """Return what a field of a whole number does with its text: an edit, or the reason why not."""

    def take(typed: str) -> str:
        body = typed.strip().replace(",", "")
        if not (body.isascii() and body.isdigit()) or len(body) > 15:
            return Refusal(typed, f"{typed.strip()!r} is no whole number of 0 or more.", "Enter for example 1000.").full
        refusal = session.edit(f"Set {what} to {int(body):,}", lambda scenario: change(scenario, int(body)))
        return refusal.full if refusal else ""

    return take


class MechanismScenarioEditor(QWidget):
    """Name, note, origin and what the paper misprints; every change is one step."""

    def __init__(self, session: MechanismSession) -> None:
        super().__init__()
        self._session = session
        self.name = QLineEdit()
        self.name.setAccessibleName("Name of the scenario")
        self.name.setMaximumWidth(48 * GRID)
        self.name.editingFinished.connect(self._rename)
        self.note = NoteField(session.whole)
        self._origin = Text(look="muted", wrap=True)
        self.errata = Text(look="attention", wrap=True)
        self.errata.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        form = form_in(self)
        form.addRow("Name", self.name)
        form.addRow("Note", self.note)
        form.addRow("Origin", self._origin)
        self._errata_label = Text("Paper prints")
        form.addRow(self._errata_label, self.errata)
        self._seen = WhenSeen(self, self._refresh)
        session.updated.connect(self._seen.request)
        self._refresh()

    def _refresh(self, _shown: object = None) -> None:
        scenario = self._session.scenario
        if not (self.name.hasFocus() and self.name.isModified()):
            self.name.setText(scenario.name)
        origin = presets().get(scenario.baseline)
        self._origin.setText(
            f"{origin.title}. Source: {origin.source}" if origin is not None else "No preset; no published source."
        )
        errata = "\n".join(origin.errata) if origin is not None else ""
        self.errata.setText(errata)
        for widget in (self.errata, self._errata_label):
            widget.setVisible(bool(errata))

    def _rename(self) -> None:
        name = self.name.text()
        self.name.setModified(False)
        if name != self._session.scenario.name:
            self._session.report(self._session.edit(f"Rename to {name}", lambda scenario: rename(scenario, name)))
            self._refresh()


class PromiseText(QWidget):
    """What the number promises and what it does not, in sentences."""

    def __init__(
        self, session: MechanismSession, words: Callable[[Shown], tuple[Sequence[str], Sequence[str]]]
    ) -> None:
        """Show the promises of a scenario.

        Args:
            session: tells when they may have changed.
            words: protected and not protected, in sentences.
        """
        super().__init__()
        self._session, self._words = session, words
        self.protected, self.not_protected = Text(wrap=True), Text(look="attention", wrap=True)
        form = form_in(self)
        form.addRow("Protected", self.protected)
        form.addRow("Not protected", self.not_protected)
        self._seen = WhenSeen(self, self._refresh)
        session.settled.connect(self._seen.request)
        self._refresh()

    def _refresh(self, _shown: object = None) -> None:
        protected, exposed = self._words(self._session.shown)
        nothing = "Nothing can be promised while the scenario has errors; see the issues."
        self.protected.setText("\n".join(protected) or nothing)
        self.not_protected.setText("\n".join(exposed) or ("–" if protected else nothing))


def size_promises(shown: Shown) -> tuple[Sequence[str], Sequence[str]]:
    """Return what a release of group sizes protects and what it does not."""
    figures = shown.group_sizes
    return ((), ()) if figures is None else (figures.protected, figures.not_protected)


def subspace_promises(shown: Shown) -> tuple[Sequence[str], Sequence[str]]:
    """Return what releases under exact sums protect and what they do not."""
    figures = shown.subspace
    return ((), ()) if figures is None else (figures.protected, figures.not_protected)
