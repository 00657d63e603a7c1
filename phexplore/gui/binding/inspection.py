"""What an inspector says about one part of the parameters, or about the whole: one value for every system. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from phexplore.accuracy.explanation import Explanation
from phexplore.accuracy.margins import Margins
from phexplore.document.history import Step
from phexplore.figures.wording import margin_word
from phexplore.model.conventions import MarginConvention
from phexplore.model.issues import Issue
from phexplore.model.scenario import Scenario
from phexplore.model.workbook import Workbook
from phexplore.noise.draws import NoisyAnswer

NO_FIGURES = ("Errors", "The figures appear when the errors of the scenario are cured; see the issues.")
_LONGEST_HISTORY = 400
"""Steps looked through for the history of a field."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A number that can be explained.

    Attributes:
        name: for the chooser.
        explain: says how it comes about; of several numbers one is asked for at a time.
    """

    name: str
    explain: Callable[[], Explanation]

    @property
    def explanation(self) -> Explanation:
        """How it comes about."""
        return self.explain()


@dataclass(frozen=True, slots=True)
class MarginLine:
    """One margin of the picture.

    Attributes:
        word: name of the convention.
        people: half-width, None where the convention does not apply.
        is_chosen: the scenario's convention.
    """

    word: str
    people: float | None
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class DerivedLine:
    """A sum, total or copy that a query leads to."""

    table: str
    label: str
    margin: str
    explanation: Explanation


@dataclass(frozen=True, slots=True)
class FieldStep:
    """A step of the project that changed the inspected field.

    Attributes:
        number: index of the step.
        label: its name.
        value: of the field after it.
        is_current: whether the value stands now.
    """

    number: int
    label: str
    value: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class Inspection:
    """Everything an inspector shows; what is empty is left out.

    Attributes:
        title: what is inspected.
        subtitle: what it counts, or what to choose.
        part: how much of the whole it takes.
        margins: of one answer by convention.
        meaning: of the margins, in a sentence.
        topics: numbers that can be explained, the most asked first.
        issues: that name it.
        derived: sums and totals computed from it.
        history: steps that changed it, newest first.
        parts: headings and texts, where sentences say it all.
        for_experts: headings of those that need the field's formulas.
        answer: whose noise can be drawn, None for nothing.
    """

    title: str
    subtitle: str = ""
    part: str = ""
    margins: tuple[MarginLine, ...] = ()
    meaning: str = ""
    topics: tuple[Topic, ...] = ()
    issues: tuple[Issue, ...] = ()
    derived: tuple[DerivedLine, ...] = ()
    history: tuple[FieldStep, ...] = ()
    parts: tuple[tuple[str, str], ...] = ()
    for_experts: frozenset[str] = frozenset()
    answer: NoisyAnswer | None = None


def margin_lines(margins: Margins | None, chosen: MarginConvention) -> tuple[MarginLine, ...]:
    """Return the margins of one answer by convention; none without margins.

    Args:
        margins: in people.
        chosen: the scenario's convention.
    """
    if margins is None:
        return ()
    values = {
        MarginConvention.EXACT: margins.exact,
        MarginConvention.NORMAL: margins.normal,
        MarginConvention.PAPER: margins.paper,
    }
    return tuple(
        MarginLine(margin_word(convention), None if value is None else float(value), convention is chosen)
        for convention, value in values.items()
    )


def margin_topics(
    margins: Margins | None, chosen: MarginConvention, explain: Callable[[MarginConvention], Explanation]
) -> list[Topic]:
    """Return how the margin of every convention comes about, the chosen one first.

    Args:
        margins: in people, None for none.
        chosen: the scenario's convention.
        explain: explains the margin of a convention.
    """
    if margins is None:
        return []
    order = sorted(MarginConvention, key=lambda convention: convention is not chosen)
    defined = [each for each in order if each is not MarginConvention.PAPER or margins.paper is not None]
    return [Topic(f"Margin, {margin_word(convention)}", partial(explain, convention)) for convention in defined]


def field_history(
    steps: Sequence[Step[Workbook]], cursor: int, now: Scenario, read: Callable[[Scenario], tuple[object, str]]
) -> tuple[FieldStep, ...]:
    """Return the steps that changed a field of a scenario, newest first.

    Args:
        steps: of the project.
        cursor: index of the current one.
        now: the scenario; before it got its name it was the active one of its kind.
        read: the value of the field in a version of it, and that value in words.
    """
    changed: list[FieldStep] = []
    before: object = None
    for number in range(max(0, cursor + 1 - _LONGEST_HISTORY), cursor + 1):
        workbook = steps[number].value
        scenario = workbook.find(now.name) if now.name in workbook.names else workbook.scenario
        if type(scenario.method) is not type(now.method):
            continue
        value, text = read(scenario)
        if value != before:
            changed.append(FieldStep(number, steps[number].label, text, is_current=False))
        before = value
    if changed:
        last = changed[-1]
        changed[-1] = FieldStep(last.number, last.label, last.value, is_current=True)
    return tuple(reversed(changed))
