"""The inspector: margins in one picture, how a number comes about, its history and its issues, for any system."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from phexplore.accuracy.explanation import Explanation
from phexplore.decide.comments import said_of
from phexplore.figures.wording import people
from phexplore.gui.binding.frame_throttle import FrameThrottle
from phexplore.gui.binding.inspection import Inspection
from phexplore.gui.binding.system_session import SystemSession
from phexplore.gui.editors.live_noise import LiveNoise
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.buttons import Chooser
from phexplore.gui.widgets.compact_list import CompactList
from phexplore.gui.widgets.interval_picture import IntervalPicture
from phexplore.gui.widgets.labels import Paragraph, Text, describe, stand_on_card, stand_on_page
from phexplore.gui.widgets.layout import column
from phexplore.gui.widgets.menus import offer
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.comments import comments_on, place_of
from phexplore.model.rounded import ABSENT


class ExplanationCard(QFrame):
    """Formula, the formula with the numbers filled in, the result, what it means, and where it is printed."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("look", "card")
        self._formula = Paragraph(relative=1.08)
        self._filled = Paragraph()
        self._result = Paragraph(bold=True, relative=1.25)
        self._sentence = Paragraph()
        self._source = Text(look="muted", relative=0.92, wrap=True)
        self._for_experts = (self._formula, self._filled)
        self._labels = (*self._for_experts, self._result, self._sentence, self._source)
        stand_on_card(*self._for_experts, self._result, self._sentence)
        for label in self._labels:
            label.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)  # the card is copied as a whole
        column(*self._labels, of=self, gap=HALF, margins=(GRID + HALF, GRID, GRID + HALF, GRID))
        offer(self, {"Copy the explanation": lambda: QGuiApplication.clipboard().setText(self.text)})

    @property
    def text(self) -> str:
        """Everything on the card, for copying and for tests."""
        return "\n".join(label.text() for label in self._labels if label.text())

    def show_explanation(self, explanation: Explanation, *, said_above: str = "") -> None:
        """Explain a number, without the sentence that is said above already."""
        self._formula.setText(explanation.formula)
        self._filled.setText(explanation.filled)
        self._formula.setVisible(appearance().is_expert)
        self._filled.setVisible(appearance().is_expert and explanation.filled != explanation.formula)
        self._result.setText(f"= {explanation.result}")
        self._sentence.say("" if explanation.sentence == said_above else explanation.sentence)
        source = f"Source: {explanation.source}"
        if source != self._source.text():  # a label lays the window out anew with every text
            self._source.setText(source)
        heard = self._labels if appearance().is_expert else self._labels[len(self._for_experts) :]
        describe(self, name="\n".join([f"{explanation.title}.", *(label.text() for label in heard if label.text())]))


class Inspector(QScrollArea):
    """Everything about the selected part of the parameters; about the whole scenario when nothing is selected."""

    def __init__(self, session: SystemSession[Any], inspect: Callable[[], Inspection]) -> None:
        """Follow a session.

        Args:
            session: of the system.
            inspect: what there is to say about its selection.
        """
        super().__init__()
        self._session, self._inspect = session, inspect
        self._now = Inspection("")
        self.setAccessibleName("Inspector")
        self.setProperty("look", "page")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.title = Paragraph(bold=True, relative=1.25)
        self._subtitle, self._part, self._meaning = Paragraph(look="muted"), Paragraph(), Paragraph()
        self.picture = IntervalPicture("Margins of error")
        self.noise, self.said = LiveNoise(), Paragraph(look="accent")
        self.topic = Chooser("Number to explain", letters=8, run=self._explain_topic)
        self.card = ExplanationCard()
        self.issues = Paragraph(look="attention")
        self.derived = CompactList("Margins of sums and totals")
        self.derived.chosen.connect(self._explain_derived)
        self.history = CompactList("Steps that changed this field", is_stacked=True)
        self.history.chosen.connect(self._go_to_step)
        self.parts: list[tuple[Paragraph, Paragraph]] = []
        self._titles: dict[QWidget, Paragraph] = {
            body: Paragraph(title, bold=True)
            for title, body in (
                ("Explain this number", self.card),
                ("Issues", self.issues),
                ("Sums and totals of this query", self.derived),
                ("History of this field", self.history),
            )
        }
        content = QWidget()
        head = (self.title, self._subtitle, self._part, self.picture, self._meaning, self.said, self.noise)
        stand_on_page(*head, self.noise.found, self.noise.held, self.noise.strip, self.issues)
        self._column = column(*head, of=content, margins=(MARGIN, MARGIN, MARGIN, MARGIN))
        for body, title in self._titles.items():
            self._column.addSpacing(HALF)
            for widget in (title, self.topic, body) if body is self.card else (title, body):
                self._column.addWidget(widget)
        self._column.addStretch(1)
        self.setWidget(content)
        appearance().changed.connect(self.updateGeometry)
        self._seen = WhenSeen(self, self._refresh)
        appearance().changed.connect(self._seen.request)
        # At most once per frame: the cursor runs through many rows when a key is held down.
        self._frames = FrameThrottle(self)
        self._frames.due.connect(self._seen.request)
        session.settled.connect(self._seen.request)
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

    def _refresh(self) -> None:
        now = self._now = self._inspect()
        self.title.say(now.title)
        self._subtitle.say(now.subtitle)
        self._part.say(now.part)
        self._meaning.say(now.meaning)
        self.issues.setText("\n\n".join(f"{issue.sentence} {issue.remedy}" for issue in now.issues))
        self.picture.show_intervals(
            [
                (
                    line.word if appearance().is_expert else "margin",
                    line.people,
                    ABSENT if line.people is None else f"± {people(line.people)}",
                    line.is_chosen,
                )
                for line in now.margins
                if line.is_chosen or appearance().is_expert
            ]
        )
        self.noise.show_answer(now.answer)
        self.topic.setVisible(bool(now.topics))
        self.derived.show_lines([(line.label, f"± {line.margin}") for line in now.derived])
        self.history.show_lines([(step.label, step.value) for step in now.history])
        seen = {self.card: now.topics, self.issues: now.issues, self.derived: now.derived, self.history: now.history}
        for body, title in self._titles.items():
            title.setVisible(bool(seen[body]))
            body.setVisible(bool(seen[body]))
        self.topic.offer((topic.name, topic.name) for topic in now.topics)
        self._explain_topic()
        scenario, place = self._session.scenario, place_of(self._session.selection)
        self.said.say("\n".join(map(said_of, comments_on(scenario, place))))
        is_told = appearance().is_expert
        self._show_parts(tuple(part for part in now.parts if is_told or part[0] not in now.for_experts))

    def _show_parts(self, parts: tuple[tuple[str, str], ...]) -> None:
        while len(self.parts) < len(parts):
            pair = (Paragraph(bold=True), Paragraph())
            for widget in pair:
                self._column.insertWidget(self._column.count() - 1, widget)
            self.parts.append(pair)
        for number, pair in enumerate(self.parts):
            for label, text in zip(pair, parts[number] if number < len(parts) else ("", ""), strict=True):
                label.say(text)

    def _explain_topic(self) -> None:
        number = self.topic.currentIndex()
        if 0 <= number < len(self._now.topics):
            self.card.show_explanation(self._now.topics[number].explanation, said_above=self._now.meaning)
            self.derived.clearSelection()

    def _explain_derived(self, number: int) -> None:
        self.card.show_explanation(self._now.derived[number].explanation)

    def _go_to_step(self, number: int) -> None:
        self._session.whole.go_to(self._now.history[number].number)
