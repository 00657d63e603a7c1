"""The inspector of TopDown: margins in one picture, how a number comes about, its history and its issues."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from phexplore.figures.wording import ABSENT, people
from phexplore.gui.binding.frame_throttle import FrameThrottle
from phexplore.gui.systems.phsafe.inspection import FieldStep, Topic
from phexplore.gui.systems.phsafe.inspector import ExplanationCard
from phexplore.gui.systems.topdown.inspection import (
    field_history,
    issues_of,
    margin_lines,
    share_of_all,
    subtitle,
    topics,
)
from phexplore.gui.systems.topdown.session import Place, TopDownSession
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.buttons import Chooser
from phexplore.gui.widgets.compact_list import CompactList
from phexplore.gui.widgets.interval_picture import IntervalPicture
from phexplore.gui.widgets.labels import Paragraph
from phexplore.systems.topdown.explain import share_words
from phexplore.systems.topdown.wording import counted, heading, place_title


class TopDownInspector(QScrollArea):
    """Everything about the selected share; about the whole scenario when nothing is selected."""

    def __init__(self, session: TopDownSession) -> None:
        super().__init__()
        self._session = session
        self._topics: tuple[Topic, ...] = ()
        self._steps: tuple[FieldStep, ...] = ()
        self.setAccessibleName("Inspector")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.title = Paragraph(bold=True, relative=1.25)
        self._subtitle = Paragraph(look="muted")
        self._part = Paragraph()
        self._meaning = Paragraph()
        self.picture = IntervalPicture("Margins of one answer")
        self.topic = Chooser("Number to explain", letters=8)
        self.topic.currentIndexChanged.connect(self._explain)
        self.card = ExplanationCard()
        self._issues_title, self._issues = Paragraph("Issues", bold=True), Paragraph(look="attention")
        self._history_title = Paragraph("History of this field", bold=True)
        self.history = CompactList("Steps that changed this share")
        self.history.chosen.connect(self._go_to_step)
        self._lay_out()
        # At most once per frame: texts are laid out anew each time.
        self._frames = FrameThrottle(self)
        self._frames.due.connect(self._refresh)
        session.updated.connect(self._frames.request)
        session.selected.connect(lambda _place: self._frames.request(True))
        self._refresh()

    def refresh_now(self) -> None:
        """Show the current state without waiting for the end of the frame."""
        self._frames.flush()

    def _lay_out(self) -> None:
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        column.setSpacing(GRID)
        for widget in (self.title, self._subtitle, self._part, self.picture, self._meaning):
            column.addWidget(widget)
        column.addSpacing(GRID)
        self._explain_title = Paragraph("Explain this number", bold=True)
        column.addWidget(self._explain_title)
        column.addWidget(self.topic)
        column.addWidget(self.card)
        for title, body in ((self._issues_title, self._issues), (self._history_title, self.history)):
            column.addSpacing(HALF)
            column.addWidget(title)
            column.addWidget(body)
        column.addStretch(1)
        self.setWidget(content)

    def _refresh(self, _signal: object = None) -> None:
        place, shown = self._session.selection, self._session.shown
        self.title.setText(heading(place_title(place)))
        self._subtitle.setText(subtitle(shown, place))
        self._part.setText(share_of_all(shown, place))
        self._part.setVisible(bool(self._part.text()))
        self._show_margins(place)
        chosen = self.topic.currentText()
        self._topics = topics(shown, place)
        names = [topic.name for topic in self._topics]
        if [self.topic.itemText(n) for n in range(self.topic.count())] != names:
            blocked = self.topic.blockSignals(True)
            self.topic.clear()
            self.topic.addItems(names)
            self.topic.setCurrentIndex(names.index(chosen) if chosen in names else 0)
            self.topic.blockSignals(blocked)
        for widget in (self._explain_title, self.topic, self.card):
            widget.setVisible(bool(names))
        self._explain()
        issues = issues_of(shown, place)
        self._issues.setText("\n".join(f"{issue.sentence} {issue.remedy}" for issue in issues))
        for widget in (self._issues_title, self._issues):
            widget.setVisible(bool(issues))
        self._show_history(place)

    def _show_margins(self, place: Place) -> None:
        shown = self._session.shown
        lines = margin_lines(shown, place)
        self.picture.setVisible(bool(lines))
        self._meaning.setVisible(bool(lines))
        if not lines:
            return
        self.picture.show_intervals(
            [
                (line.word, line.people, ABSENT if line.people is None else people(line.people), line.is_chosen)
                for line in lines
            ]
        )
        chosen = next((line for line in lines if line.is_chosen and line.people is not None), lines[0])
        confidence = shown.scenario.conventions.confidence
        self._meaning.setText(
            f"{share_words(confidence)} {people(chosen.people or 0)} {counted(shown.method.schema)} of the true count, "
            "before post-processing."
        )

    def _explain(self) -> None:
        number = self.topic.currentIndex()
        if 0 <= number < len(self._topics):
            self.card.show_explanation(self._topics[number].explanation)

    def _show_history(self, place: Place) -> None:
        project = self._session.whole.project
        self._steps = field_history(project.steps, project.cursor, self._session.scenario.name, place)
        self.history.show_lines([(step.label, step.value) for step in self._steps])
        self._history_title.setVisible(bool(self._steps))

    def _go_to_step(self, number: int) -> None:
        self._session.whole.go_to(self._steps[number].number)
