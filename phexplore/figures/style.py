"""The look of all report figures, and figures as bytes that are the same every time."""

from __future__ import annotations

import enum
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from phexplore.figures.wording import sentence
from phexplore.model.keys import Iteration, PopulationGroupLevel, Region

if TYPE_CHECKING:
    from matplotlib.figure import FigureBase

ACCENT, ACCENT_SOFT = "#1f6fb2", "#dfecf8"
ATTENTION = "#855700"
INK, MUTED, GHOST = "#1a242e", "#56626e", "#7d8995"
BORDER, GRID = "#d3dae1", "#e6eaef"
"""The light theme of the window, so that a figure looks the same on screen and in a report (a test compares them)."""


LEVEL_COLOURS: dict[PopulationGroupLevel, str] = {
    PopulationGroupLevel(Region.NATION, Iteration.ALL): "#00395c",
    PopulationGroupLevel(Region.NATION, Iteration.MAJOR_RACES): "#0072b2",
    PopulationGroupLevel(Region.NATION, Iteration.ETHNICITY): "#3f95cc",
    PopulationGroupLevel(Region.STATE, Iteration.ALL): "#7a3600",
    PopulationGroupLevel(Region.STATE, Iteration.MAJOR_RACES): "#bb5200",
    PopulationGroupLevel(Region.STATE, Iteration.ETHNICITY): "#e06c10",
}
"""On white: the region decides the hue, the iteration the lightness; the region also shows by a hatch."""

PAGE_WIDTH = 7.2
"""Inches: the text width of A4 and letter paper."""

_SETTINGS: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 12,
    "axes.edgecolor": BORDER,
    "axes.labelcolor": INK,
    "axes.labelsize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": False,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "legend.frameon": False,
    "path.simplify": True,
    "text.parse_math": False,
    # Glyphs travel with the file: outlines in SVG, TrueType in PDF.
    "svg.fonttype": "path",
    "svg.hashsalt": "phexplore",
    "pdf.fonttype": 42,
    "pdf.compression": 6,
}


class FigureFormat(enum.Enum):
    """A file format of a figure. The value is its suffix without the dot."""

    SVG = "svg"
    PDF = "pdf"
    PNG = "png"


PNG_DPI = 160

_LINE_END = "\n"
TITLE_INCHES = 0.34
"""Height of one line of a title."""

_METADATA: dict[FigureFormat, dict[str, Any]] = {
    FigureFormat.SVG: {"Date": None, "Creator": "phexplore"},
    FigureFormat.PDF: {"CreationDate": None, "ModDate": None, "Producer": "phexplore", "Creator": "phexplore"},
    FigureFormat.PNG: {"Software": "phexplore"},
}


@contextmanager
def figure_style() -> Iterator[None]:
    """Apply the look while a figure is drawn or saved; matplotlib keeps its settings in one place for the process."""
    import matplotlib as mpl  # noqa: PLC0415 - as below

    with mpl.rc_context(_SETTINGS):
        yield


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure that is drawn when it is needed.

    Attributes:
        id: short name for files and anchors.
        finding: the title: what the figure shows, as a sentence.
        description: what a reader who cannot see the figure needs to know.
        width: inches.
        height: inches, without the title.
        draw: puts the content into an empty figure.
        caption: one sentence below it, "" for the description: who sees the marks needs no words for each.
        brief: its first rows and those its finding names, where all of them are too many to be read on a slide.
        narrow: the same for a telephone.
    """

    id: str
    finding: str
    description: str
    width: float
    height: float
    draw: Callable[[FigureBase], None]
    brief: Chart | None = None
    caption: str = ""
    narrow: Chart | None = None

    @property
    def spoken(self) -> str:
        """What stands for the picture where it is not seen: the finding as a sentence, and the description."""
        return f"{sentence(self.finding.replace(_LINE_END, ' '))} {self.description}".strip()


def chart_bytes(chart: Chart, form: FigureFormat, *, titled: bool = True) -> bytes:
    """Return the chart as a file. The same chart gives the same bytes: no dates, fixed ids.

    Args:
        chart: what to draw.
        form: the format.
        titled: whether the finding stands above; False where the document prints it as a heading.
    """
    return sheet_bytes([chart], form, titled=titled)


def sheet_bytes(charts: Sequence[Chart], form: FigureFormat, *, titled: bool = True) -> bytes:
    """Return several charts below each other as one file.

    Args:
        charts: at least one, topmost first.
        form: PNG, SVG or PDF.
        titled: whether each chart is headed by its finding.

    Raises:
        ValueError: there are none.
    """
    if not charts:
        raise ValueError("a figure needs at least one chart")
    from matplotlib.figure import Figure  # noqa: PLC0415 - half a second that only figures pay; no pyplot state

    heights = [chart.height + (TITLE_INCHES * (1 + chart.finding.count("\n")) if titled else 0) for chart in charts]
    said = {"Subject" if form is FigureFormat.PDF else "Description": charts[0].spoken}
    metadata = {**_METADATA[form], "Title": charts[0].finding, **said}
    buffer = io.BytesIO()
    with figure_style():
        figure = Figure(figsize=(max(chart.width for chart in charts), sum(heights)), layout="constrained")
        parts = figure.subfigures(len(charts), 1, height_ratios=heights, squeeze=False)
        for part, chart in zip(parts[:, 0], charts, strict=True):
            chart.draw(part)
            if titled:
                part.suptitle(chart.finding, x=0.01, ha="left", fontsize=10.5, fontweight="bold")
        figure.savefig(buffer, format=form.value, metadata=metadata, dpi=PNG_DPI if form is FigureFormat.PNG else 72)
    return buffer.getvalue()
