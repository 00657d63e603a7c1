"""One number from truth to release, as values: what the picture of a picked number shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from phexplore.figures.table import Table, Value, grouped
from phexplore.figures.wording import people, signed_people

CONFIDENTIAL = "true count: confidential, simulation only"


@dataclass(frozen=True, slots=True)
class PickedStory:
    """One published number.

    Attributes:
        title: table, region, group and cell in words.
        true: count without truncation and without noise.
        truncated: what is measured at infinite budget.
        measured: released counts, one per trial.
        trials: zero-based numbers of these trials.
        margin: of the noise, people.
        confidence: of the margin, in (0, 1).
        synthetic: whether no record behind the count is a confidential one.
    """

    title: str
    true: int
    truncated: int
    measured: Sequence[int]
    trials: Sequence[int]
    margin: float
    confidence: float
    synthetic: bool

    @property
    def bias(self) -> int:
        """What truncation takes away, people."""
        return self.truncated - self.true

    @property
    def within(self) -> int:
        """Trials whose noise lies within the margin."""
        return sum(1 for value in self.measured if abs(value - self.truncated) <= self.margin)

    @property
    def ends(self) -> tuple[float, float]:
        """The range the picture must hold."""
        values = [self.true, self.truncated - self.margin, self.truncated + self.margin, *self.measured]
        return min(values), max(values)


def picked_title(story: PickedStory) -> str:
    """Return the finding: from true to truncated to measured."""
    text = f"True {grouped(story.true)}, truncated {grouped(story.truncated)}"
    if not story.measured:
        return f"{text}; no trial yet"
    low, high = min(story.measured), max(story.measured)
    if low == high:
        return f"{text}, measured {grouped(low)}"
    return f"{text}, measured between {grouped(low)} and {grouped(high)}"


def picked_summary(story: PickedStory) -> str:
    """Return one sentence: which number, what truncation and noise did, and that the truth is confidential."""
    kind = "Synthetic data." if story.synthetic else "The true count is confidential; it exists in simulations only."
    noise = ""
    if story.measured:
        trials = len(story.measured)
        noise = (
            f"; in {story.within:,} of {trials:,} {'trial' if trials == 1 else 'trials'} the noise stayed within "
            f"±{people(story.margin)} people ({story.confidence * 100:g} %)"
        )
    return f"{story.title}: truncation changes it by {signed_people(story.bias)} people{noise}. {kind}"


def picked_numbers(story: PickedStory) -> Table:
    """Return the table twin: true, truncated, then every trial."""
    rows: list[tuple[Value, ...]] = [
        (f"True ({CONFIDENTIAL.split(': ')[1]})", story.true, None, None),
        ("Truncated", story.truncated, story.bias, None),
    ]
    rows += [
        (f"Measured, trial {trial + 1}", value, None, value - story.truncated)
        for trial, value in zip(story.trials, story.measured, strict=True)
    ]
    return Table(("Step", "Count, people", "Truncation bias, people", "Noise, people"), tuple(rows))
