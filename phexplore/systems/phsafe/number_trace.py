"""One number on its way from the true count over truncation to the release, as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from phexplore.figures.axis import Axis, whole_text
from phexplore.figures.figure import ROWS, Figure, nothing
from phexplore.figures.marks import Box, Dash, Dot, Mark, Part, Path, Role, Shape, Words
from phexplore.figures.table import Table, Value, grouped
from phexplore.figures.wording import people, signed_people
from phexplore.model.provenance import Provenance, ProvenanceKind


@dataclass(frozen=True, slots=True)
class NumberTrace:
    """One published number.

    Attributes:
        title: table, region, group and cell in words.
        true: count without truncation and without noise.
        truncated: what is measured at infinite budget.
        measured: released counts, one per trial.
        trials: zero-based numbers of these trials.
        margin: of the noise.
        confidence: of the margin, in (0, 1).
        provenance: of the records behind the count.
        unit: what is counted, e.g. people or families.
    """

    title: str
    true: int
    truncated: int
    measured: Sequence[int]
    trials: Sequence[int]
    margin: float
    confidence: float
    provenance: Provenance
    unit: str

    @property
    def bias(self) -> int:
        """What truncation takes away."""
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


def _is_real(story: NumberTrace) -> bool:
    return story.provenance.kind is ProvenanceKind.REAL


def trace_title(story: NumberTrace) -> str:
    """Return the finding: from true to truncated to measured."""
    text = f"{story.title}: true {grouped(story.true)}, truncated {grouped(story.truncated)}"
    if not story.measured:
        return f"{text}; no trial yet"
    low, high = min(story.measured), max(story.measured)
    if low == high:
        return f"{text}, measured {grouped(low)}"
    return f"{text}, measured between {grouped(low)} and {grouped(high)}"


def trace_summary(story: NumberTrace) -> str:
    """Return one sentence: which number, what truncation and noise did, and that the truth is confidential."""
    kind = (
        "The true count is confidential; it exists in simulations only."
        if _is_real(story)
        else f"{story.provenance.title}."
    )
    noise = ""
    if story.measured:
        trials = len(story.measured)
        noise = (
            f"; in {story.within:,} of {trials:,} {'trial' if trials == 1 else 'trials'} the noise stayed within "
            f"±{people(story.margin)} {story.unit} ({story.confidence * 100:g} %)"
        )
    return f"Truncation changes the number by {signed_people(story.bias)} {story.unit}{noise}. {kind}"


def trace_table(story: NumberTrace) -> Table:
    """Return the data table: true, truncated, then every trial."""
    rows: list[tuple[Value, ...]] = [
        (
            "True (confidential, simulation only)" if _is_real(story) else f"True ({story.provenance.kind.value})",
            story.true,
            None,
            None,
        ),
        ("Truncated", story.truncated, story.bias, None),
    ]
    rows += [
        (f"Measured, trial {trial + 1}", value, None, value - story.truncated)
        for trial, value in zip(story.trials, story.measured, strict=True)
    ]
    table = Table(("Step", *(f"{each}, {story.unit}" for each in ("Count", "Truncation bias", "Noise"))), tuple(rows))
    return table.explained(
        {
            table.headers[2]: "Only truncation makes this bias.",
            table.headers[3]: "Noise is added by the measurement alone.",
        }
    )


MOST_DOTS = 600
"""Dots drawn; a picture of more would be a bar of ink. The table has all."""
_SPREAD = 0.75
"""How far the dots of trials are spread around their row."""
_GOLDEN = 0.6180339887498949


def trace_figure(trace: NumberTrace | None, reason: str = "") -> Figure:
    """Return three rows over one axis: the true count, the truncated one, the measured ones of all trials.

    Args:
        trace: the number; None gives an empty figure.
        reason: why there is none.
    """
    if trace is None:
        return nothing("number", reason)
    low, high = trace.ends
    room = max((high - low) * 0.12, 2.0)
    ends = (trace.truncated - trace.margin, trace.truncated + trace.margin)
    words = f"±{people(trace.margin)}: {trace.confidence * 100:g} % margin of the noise"
    under: list[Part] = [Box(*ends, 2.5, 0.65, Role.CHOSEN)]
    under += [Path((end, end), (0.65, 2.5), Role.TEXT, 1.2, Dash.DASHED) for end in ends]
    under += [
        Path((trace.truncated, trace.truncated), (0.65, 2.5), Role.MUTED, 1.0),
        Words(trace.truncated, 2.45, words, align=0.5),
    ]
    if trace.bias:
        middle = (trace.true + trace.truncated) / 2
        under.append(Path((trace.true, trace.truncated), (0.0, 1.0), Role.MISSED))
        under.append(Words(middle, 0.5, f"truncation {signed_people(trace.bias)}", Role.MISSED, shift=8))
    truth = f"true ({'confidential' if _is_real(trace) else trace.provenance.kind.value})"
    return Figure(
        "number",
        trace_title(trace),
        trace_summary(trace),
        Axis(f"count, {trace.unit}", domain=(low - room, high + room), text=whole_text),
        ROWS,
        (
            _count("true", truth, trace.true, Shape.DIAMOND),
            _count("truncated", "truncated", trace.truncated, Shape.SQUARE),
            Mark("measured", _dots(trace), name="measured", tip=trace_title(trace)),
        ),
        partial(trace_table, trace),
        under=tuple(under),
        stretch=3.0,
        room_for=grouped(trace.true),
    )


def _count(key: str, name: str, value: int, shape: Shape) -> Mark:
    dot = Dot(value, ink=Role.TEXT, shape=shape, size=5.0)
    return Mark(key, (dot,), name=name, text=grouped(value), tip=f"{name}: {grouped(value)}", anchor=value)


def _dots(trace: NumberTrace) -> tuple[Part, ...]:
    """Return a dot per trial, spread evenly up and down so that equal counts stay apart; rings outside the margin."""
    dots = []
    for place, value in enumerate(trace.measured[-MOST_DOTS:]):
        inside = abs(value - trace.truncated) <= trace.margin
        offset = (place * _GOLDEN % 1 - 0.5) * _SPREAD
        dots.append(Dot(value, offset, Role.MAIN if inside else Role.MISSED, is_hollow=not inside, size=3.2))
    return tuple(dots)
