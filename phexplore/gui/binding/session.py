"""The open project as the window sees it: one place that edits, and signals that say what became of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Protocol

from PySide6.QtCore import QObject, QTimer, Signal

from phexplore.document.project import Project
from phexplore.document.reference_versions import KEPT, ReferenceVersions
from phexplore.errors import PhexploreError
from phexplore.figures.wording import sentence
from phexplore.gui.binding.frame_throttle import FrameThrottle
from phexplore.gui.binding.scenario_view import ScenarioView, Update, shown
from phexplore.model.scenario import Scenario
from phexplore.model.workbook import Workbook

_JOURNAL_IDLE_MS = 400
"""The journal is forced to disk this long after an edit: well within a second."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an edit was not made; nothing was changed.

    Attributes:
        text: what the user typed, "" when nothing was typed.
        reason: what is wrong.
        remedy: what to do.
    """

    text: str
    reason: str
    remedy: str = ""

    @property
    def full(self) -> str:
        """Reason and remedy as one text."""
        return f"{sentence(self.reason)} {sentence(self.remedy)}".strip()


NamedEdit = tuple[str, Callable[[Scenario], Scenario]]
"""Name of a step of the history, and its edit."""


class Editor(Protocol):
    """What edits the active scenario: the session of the window, or of one system."""

    def edit(self, label: str, change: Callable[[Scenario], Scenario], *, merge_key: object = None) -> Refusal | None:
        """Edit the active scenario as one named step; return why not, or None."""


def entered(editor: Editor, make: Callable[[], NamedEdit], *, merge_key: object = None) -> Refusal | None:
    """Edit by the step that an entry asks for; return why not, or None.

    Args:
        editor: edits the scenario.
        make: gives name and edit of the step; what it raises is the refusal.
        merge_key: steps with the same one, made without a pause, are one step.
    """
    try:
        label, change = make()
    except (ValueError, PhexploreError) as error:
        return Refusal("", str(error), getattr(error, "remedy", ""))
    return editor.edit(label, change, merge_key=merge_key)


def refusal_of(editor: Editor, make: Callable[[], NamedEdit]) -> str:
    """Edit by the step that an entry asks for; return why not in words, "" when the edit was made."""
    refusal = entered(editor, make)
    return refusal.full if refusal else ""


class Session(QObject):
    """Holds the open project; every edit of the window goes through it.

    Signals:
        updated: `Update`, synchronously after every edit, undo or opening. For cheap listeners: tables, texts.
        opened: another project is shown; what was typed about the one before means nothing now.
        settled: the newest `ScenarioView`, at most once per frame. For pictures.
        proved: the newest `ScenarioView` once its proof is known, some tenths of a second after the last edit.
        selected: the key under inspection, as the active system names its parts; None for nothing.
        done: a sentence about an edit whose effect may lie out of sight.
        refused: `Refusal` of an edit that has no field of its own to say it.
        saved: the `Project` after it was written, or when its clean state changed otherwise.
        troubled: the `PhexploreError` that says why edits are not kept beside the file; once per reason.

    Attributes:
        kept: what the project itself keeps to compare with.
    """

    updated = Signal(object)
    opened = Signal()
    settled = Signal(object)
    proved = Signal(object)
    selected = Signal(object)
    done = Signal(object)
    refused = Signal(object)
    saved = Signal(object)
    troubled = Signal(object)

    def __init__(self, project: Project, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._project = project
        self.kept = ReferenceVersions(project)
        self._shown = shown(project.workbook, kept=self.kept.find)
        self._selection: Hashable = None
        self._told_trouble = ""
        self._frames = FrameThrottle(self)
        self._frames.due.connect(self.settled)
        self._journal = QTimer(self)
        self._journal.setSingleShot(True)
        self._journal.setInterval(_JOURNAL_IDLE_MS)
        self._journal.timeout.connect(self._flush_journal)
        self._listen(project)

    @property
    def project(self) -> Project:
        """The open project."""
        return self._project

    @property
    def shown(self) -> ScenarioView:
        """What is shown now."""
        return self._shown

    @property
    def scenario(self) -> Scenario:
        """The active scenario."""
        return self._shown.scenario

    @property
    def selection(self) -> Any:
        """The key under inspection, None for nothing."""
        return self._selection

    def install(self, project: Project) -> None:
        """Show another project; the previous one is closed by whoever opened it."""
        self._project = project
        self.kept = ReferenceVersions(project)
        self._listen(project)
        self._shown = shown(project.workbook, kept=self.kept.find)
        self._announce(None)
        self.opened.emit()
        self.select(None)
        self.saved.emit(project)

    def select(self, key: Hashable) -> None:
        """Inspect a part of the parameters, None for nothing."""
        if key != self._selection:
            self._selection = key
            self.selected.emit(key)

    def edit(self, label: str, change: Callable[[Scenario], Scenario], *, merge_key: object = None) -> Refusal | None:
        """Edit the active scenario as one named step; return why not, or None."""
        return self._attempt(lambda: self._project.edit(label, change, merge_key))

    def edit_workbook(self, label: str, change: Callable[[Workbook], Workbook]) -> Refusal | None:
        """Edit the list of scenarios as one named step; return why not, or None."""
        return self._attempt(lambda: self._project.edit_workbook(label, change))

    def report(self, refusal: Refusal | None) -> bool:
        """Announce a refusal that has no field of its own; return whether the edit was made."""
        if refusal is not None:
            self.refused.emit(refusal)
        return refusal is None

    def undo(self) -> None:
        """Go one step back."""
        self._move(self._project.undo)

    def redo(self) -> None:
        """Go one step forward."""
        self._move(self._project.redo)

    def go_to(self, step: int) -> None:
        """Show another version of the history."""
        self._move(lambda: self._project.go_to(step))

    def _move(self, move: Callable[[], object]) -> None:
        before = self._shown
        self.report(self._attempt(move))
        if self._shown is before:  # two steps of equal content: the cursor still moved
            self._announce(before)

    def mark_saved(self) -> None:
        """Say that the project was written."""
        if self._project.workbook.comparison in KEPT:
            before, self._shown = self._shown, shown(self._project.workbook, self._shown, kept=self.kept.find)
            self._announce(before)
        self.saved.emit(self._project)
        self.tell_trouble()

    def tell_trouble(self) -> None:
        """Announce why edits are not kept beside the file, if that is so and was not said yet."""
        trouble = self._project.trouble
        if trouble is not None and trouble.sentence != self._told_trouble:
            self.troubled.emit(trouble)
        self._told_trouble = "" if trouble is None else trouble.sentence

    def _attempt(self, change: Callable[[], object]) -> Refusal | None:
        try:
            change()
        except PhexploreError as error:
            return Refusal("", error.sentence, error.remedy)
        if self._project.spared:
            self.done.emit(f"{self._project.spared} is unchanged, as approved. The edit is in {self.scenario.name}.")
            self._project.spared = ""
        self.tell_trouble()
        return None

    def _listen(self, project: Project) -> None:
        def on_change(_before: Workbook, after: Workbook) -> None:
            if project is self._project:
                before, self._shown = self._shown, shown(after, self._shown, kept=self.kept.find)
                self._announce(before)
                self._journal.start()

        project.listen(on_change)

    def _announce(self, before: ScenarioView | None) -> None:
        if before is not None and type(before.scenario.method) is not type(self._shown.scenario.method):
            self.select(None)  # keys of one system mean nothing to another
        self.updated.emit(Update(before, self._shown))
        self._frames.request(self._shown)

    def _flush_journal(self) -> None:
        self._project.flush()
        self.tell_trouble()
