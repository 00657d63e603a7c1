"""The inspector: three margins in one picture, how a number comes about, its history and its issues."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QGuiApplication, QShowEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from phexplore.accuracy.explanation import Explanation
from phexplore.figures.wording import people
from phexplore.gui.binding.frame_throttle import FrameThrottle
from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.systems.phsafe.inspection import (
    DerivedLine,
    FieldStep,
    Topic,
    derived_lines,
    field_history,
    issues_of,
    margin_lines,
    subtitle,
    topics,
)
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.buttons import Chooser
from phexplore.gui.widgets.compact_list import CompactList
from phexplore.gui.widgets.interval_picture import IntervalPicture
from phexplore.gui.widgets.labels import Paragraph, Text
from phexplore.model.keys import QueryKey
from phexplore.systems.phsafe.explain import frequency_sentence


class ExplanationCard(QFrame):
    """Formula, the formula with the numbers filled in, the result, what it means, and where it is printed."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("look", "card")
        self._formula = Paragraph(relative=1.08)
        self._filled = Paragraph()
        self._result = Paragraph(bold=True, relative=1.25)
        self._sentence = Paragraph()
        self._source = Paragraph(look="muted", relative=0.92)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID + HALF, GRID, GRID + HALF, GRID)
        column.setSpacing(HALF)
        for label in (self._formula, self._filled, self._result, self._sentence, self._source):
            label.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)  # the card is copied as a whole
            column.addWidget(label)
        copy = QAction("Copy the explanation", self)
        copy.triggered.connect(lambda: QGuiApplication.clipboard().setText(self.text))
        self.addAction(copy)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)

    @property
    def text(self) -> str:
        """Everything on the card, for copying and for tests."""
        labels = (self._formula, self._filled, self._result, self._sentence, self._source)
        return "\n".join(label.text() for label in labels)

    def show_explanation(self, explanation: Explanation) -> None:
        """Explain a number."""
        self._formula.setText(explanation.formula)
        self._filled.setText(explanation.filled)
        self._filled.setVisible(explanation.filled != explanation.formula)
        self._result.setText(f"= {explanation.result}")
        self._sentence.setText(explanation.sentence)
        self._source.setText(f"Source: {explanation.source}")
        self.setAccessibleName(f"{explanation.title}. {self.text}")


class Inspector(QScrollArea):
    """Everything about the selected query; about the whole scenario when nothing is selected."""

    def __init__(self, session: PlainSession) -> None:
        super().__init__()
        self._session = session
        self._topics: tuple[Topic, ...] = ()
        self._derived: tuple[DerivedLine, ...] = ()
        self._steps: tuple[FieldStep, ...] = ()
        self.setAccessibleName("Inspector")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.title = Paragraph(bold=True, relative=1.25)
        self._subtitle = Paragraph(look="muted")
        self._meaning = Paragraph()
        self.picture = IntervalPicture("Margins of error in people")
        self.topic = Chooser("Number to explain", letters=12)
        self.topic.currentIndexChanged.connect(self._explain_topic)
        self.card = ExplanationCard()
        self._issues_title, self._issues = Text("Issues", bold=True), Paragraph(look="attention")
        self._derived_title = Text("Sums and totals of this query", bold=True)
        self.derived = CompactList("Margins of sums and totals")
        self.derived.chosen.connect(self._explain_derived)
        self._history_title = Text("History of this field", bold=True)
        self.history = CompactList("Steps that changed this query")
        self.history.chosen.connect(self._go_to_step)
        self._lay_out()
        appearance().changed.connect(self.updateGeometry)
        self._is_stale = False
        # At most once per frame: the cursor runs through many rows when a key is held down.
        self._frames = FrameThrottle(self)
        self._frames.due.connect(self._refresh_if_seen)
        session.settled.connect(self._refresh_if_seen)
        session.selected.connect(self._frames.request)
        self._refresh()

    def minimumSizeHint(self) -> QSize:
        """Return a width at which nothing is cut off at the right: there is no horizontal scroll bar."""
        content = self.widget()
        least = content.minimumSizeHint().width() if content is not None else 0
        return QSize(max(32 * GRID, least + self.verticalScrollBar().sizeHint().width()), 20 * GRID)

    def refresh_now(self) -> None:
        """Show the current state without waiting for the end of the frame."""
        self._frames.flush()
        self._refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._is_stale:
            self._refresh()

    def _refresh_if_seen(self, _signal: object) -> None:
        self._is_stale = not self.isVisible()
        if not self._is_stale:
            self._refresh()

    def _lay_out(self) -> None:
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        column.setSpacing(GRID)
        for widget in (self.title, self._subtitle, self.picture, self._meaning):
            column.addWidget(widget)
        column.addSpacing(GRID)
        column.addWidget(Text("Explain this number", bold=True))
        column.addWidget(self.topic)
        column.addWidget(self.card)
        for title, body in (
            (self._issues_title, self._issues),
            (self._derived_title, self.derived),
            (self._history_title, self.history),
        ):
            column.addSpacing(HALF)
            column.addWidget(title)
            column.addWidget(body)
        column.addStretch(1)
        self.setWidget(content)

    def _refresh(self) -> None:
        self._is_stale = False
        query, shown = self._session.selection, self._session.shown
        if query is not None and query not in shown.scenario.phsafe.budgets:
            query = None
        self._show_head(query)
        chosen = self.topic.currentText()
        self._topics = topics(shown, query)
        names = [topic.name for topic in self._topics]
        if [self.topic.itemText(n) for n in range(self.topic.count())] != names:
            blocked = self.topic.blockSignals(True)
            self.topic.clear()
            self.topic.addItems(names)
            self.topic.setCurrentIndex(names.index(chosen) if chosen in names else 0)
            self.topic.blockSignals(blocked)
        self._explain_topic()
        self._show_derived(query)
        self._show_history(query)
        self._show_issues(query)

    def _show_head(self, query: QueryKey | None) -> None:
        shown = self._session.shown
        if query is None:
            self.title.setText(shown.scenario.name)
            self._subtitle.setText("Choose a row of the table or a mark in a picture to inspect it.")
            self.picture.show_intervals(())
            self._meaning.setText("")
            self._meaning.hide()
            return
        self.title.setText(query.title)
        self._subtitle.setText(subtitle(query))
        lines = margin_lines(shown, query)
        self.picture.show_intervals(
            [
                (line.word, line.people, "–" if line.people is None else f"± {people(line.people)}", line.is_chosen)
                for line in lines
            ]
        )
        chosen = next((line.people for line in lines if line.is_chosen and line.people is not None), None)
        meaning = "Not published: the budget is 0." if not lines else ""
        if chosen is not None:
            meaning = frequency_sentence(chosen, shown.scenario.conventions)
        self._meaning.setText(meaning)
        self._meaning.setVisible(bool(meaning))

    def _explain_topic(self) -> None:
        number = self.topic.currentIndex()
        if 0 <= number < len(self._topics):
            self.card.show_explanation(self._topics[number].explanation)
            self.derived.clearSelection()

    def _explain_derived(self, number: int) -> None:
        self.card.show_explanation(self._derived[number].explanation)

    def _go_to_step(self, number: int) -> None:
        self._session.whole.go_to(self._steps[number].number)

    def _show_derived(self, query: QueryKey | None) -> None:
        self._derived = derived_lines(self._session.shown, query) if query is not None else ()
        self.derived.show_lines([(line.label, f"± {line.margin}") for line in self._derived])
        self._derived_title.setVisible(bool(self._derived))
        self.derived.setVisible(bool(self._derived))

    def _show_history(self, query: QueryKey | None) -> None:
        project = self._session.project
        self._steps = field_history(project.steps, project.cursor, query) if query is not None else ()
        self.history.show_lines([(step.label, step.value) for step in self._steps])
        self._history_title.setVisible(bool(self._steps))
        self.history.setVisible(bool(self._steps))

    def _show_issues(self, query: QueryKey | None) -> None:
        issues = issues_of(self._session.shown, query) if query is not None else ()
        self._issues.setText("\n\n".join(f"{issue.sentence} {issue.remedy}" for issue in issues))
        self._issues_title.setVisible(bool(issues))
        self._issues.setVisible(bool(issues))
