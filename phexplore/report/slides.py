"""Reports as slides for a meeting, twelve at most: what it comes to, one picture a slide, what changed, how to check it."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any

from phexplore.figures.style import Chart, FigureFormat, chart_bytes
from phexplore.figures.wording import counted
from phexplore.report.document import Document, Part, Tile
from phexplore.report.office_files import ACCENT, ATTENTION, MUTED, describe, describe_picture, read, steady

MOST_SLIDES = 12
SLIDE_INCHES = (13.333, 7.5)
PICTURE_INCHES = (12.1, 5.7)
_LEFT, _TOP, _WIDTH = 0.6, 0.45, 12.1
_TITLE, _TEXT, _SMALL = 26, 18, 12
_SMALLEST, _LARGEST = 0.66, 0.9
"""A picture is drawn in this part of its size on the slide."""
_MOST_LINES, _MOST_LETTERS = 12, 190
_NUMBER = "{B6F15528-21DE-4FAA-801E-634DDDAF4B2B}"
"""Kind of the field that numbers a slide, as PowerPoint writes it."""
NUMBER_SIGN = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}#\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"
"""What stands in it until a program counts."""


def wide_charts(charts: Iterable[Chart]) -> list[Chart]:
    """Return charts as they are drawn for slides: small ones are enlarged with their letters, of many rows the first ones are drawn."""
    wide, high = PICTURE_INCHES
    read = (chart.brief or chart for chart in charts)
    sizes = ((chart, min(_LARGEST, max(_SMALLEST, chart.height / high))) for chart in read)
    return [replace(chart, width=wide * size, height=high * size) for chart, size in sizes]


def document_pptx(document: Document, pictures: Mapping[str, bytes], now: datetime) -> bytes:
    """Return the slides of a report; what has no room on them stands in the report, and the last slide says so.

    Args:
        document: the report.
        pictures: PNG of its charts by id, in the size of `wide_charts`.
        now: when it was made.
    """
    deck = _Deck(pictures)
    describe(deck.file.core_properties, document, now)
    deck.open(document)
    first, *others = document.parts or (Part("", ""),)
    drawn = [*first.charts, *(chart for part in others for chart in part.charts)]
    charts = list({chart.finding: chart for chart in reversed(drawn)}.values())[::-1]  # one picture of each finding
    texts = [part for part in others if part.findings]
    room = MOST_SLIDES - 3 - len(texts[:2])
    deck.say(first.title, _lines(first))
    for chart in islice(charts, room):
        deck.show(chart)
    for part in texts[:2]:
        deck.say(part.title, (*part.paragraphs, *(f"– {each}" for each in part.findings)))
    left = len(drawn) - min(len(charts), room)
    tables = [table.caption for part in document.parts for table in part.tables]
    more = (f"{counted(left, 'more picture')}, in the report",) if left else ()
    sections = [section.title for part in others for section in part.sections]
    deck.say("In the report with the same numbers", (*more, *tables, *sections, document.colophon), points=_SMALL + 2)
    return deck.content()


def picture_pptx(chart: Chart) -> bytes:
    """Return one picture as a slide of its own, with its finding as the title."""
    (wide,) = wide_charts([chart])
    deck = _Deck({chart.id: chart_bytes(wide, FigureFormat.PNG, titled=False)})
    deck.show(chart)
    return deck.content()


def _lines(part: Part) -> list[str]:
    """Return the sentences of a part, and its facts as `name: text`."""
    facts = [(f"{section.title}: ", entry) for section in part.sections for entry in section.entries]
    return [*part.paragraphs, *(f"{title}{name}. {text}" for title, (name, text) in facts)]


class _Deck:
    """Adds slides to a file."""

    def __init__(self, pictures: Mapping[str, bytes]) -> None:
        from pptx import Presentation  # noqa: PLC0415 - only this format pays for it
        from pptx.util import Inches  # noqa: PLC0415 - as above

        self.file, self._pictures, self._origin = Presentation(), pictures, ""
        self.file.slide_width, self.file.slide_height = map(Inches, SLIDE_INCHES)
        self._inches = Inches

    def open(self, document: Document) -> None:
        """Add the first slide: what it is, and the headline figures."""
        slide = self._slide(document.title)
        lines = [(document.subtitle, ACCENT, _TEXT), (document.colophon, MUTED, _SMALL)]
        if document.origin is not None:
            self._origin = document.origin.title
            lines.append((document.origin.sentence, ATTENTION, _SMALL + 2))
        if document.warning:
            lines.append((f"Attention. {document.warning}", ATTENTION, _SMALL + 2))
        self._write(slide, lines, (_LEFT, 1.5, _WIDTH, 1.8))
        count = max(1, len(document.tiles))
        for number, tile in enumerate(document.tiles):
            self._write_tile(slide, tile, (_LEFT + number * _WIDTH / count, 3.8, _WIDTH / count - 0.15, 2.6))

    def say(self, title: str, lines: Sequence[str], *, points: int = _TEXT) -> None:
        """Add a slide of sentences; the last line tells how many found no room.

        Args:
            title: of the slide.
            lines: one paragraph each.
            points: size of the letters where there are few.
        """
        shown = [line if len(line) <= _MOST_LETTERS * 2 else f"{line[: _MOST_LETTERS * 2 - 1]}…" for line in lines]
        if len(shown) > _MOST_LINES:
            shown = [*shown[: _MOST_LINES - 1], f"and {len(shown) - _MOST_LINES + 1} more, in the report"]
        size = points if sum(map(len, shown)) < _MOST_LETTERS * 5 else _SMALL
        self._write(self._slide(title), [(line, "", size) for line in shown], (_LEFT, 1.5, _WIDTH, 5.6))

    def show(self, chart: Chart) -> None:
        """Add a slide with a picture, its finding as the title."""
        slide = self._slide(chart.finding.replace("\n", " "))
        if chart.brief is not None:
            note = "These are some of the rows; the report has all of them."
            self._write(slide, [(note, MUTED, _SMALL)], (_LEFT, 7.12, _WIDTH, 0.35))
            chart = chart.brief
        place = (self._inches(each) for each in (_LEFT, 1.45, *PICTURE_INCHES))
        picture = slide.shapes.add_picture(io.BytesIO(self._pictures[chart.id]), *place)
        describe_picture(picture._element.nvPicPr.cNvPr, chart.spoken)  # noqa: SLF001 - no other way

    def content(self) -> bytes:
        """Return the file."""
        for slide in self.file.slides:  # last, as it is read
            if self._origin:
                self._write(slide, [(self._origin, ATTENTION, _SMALL)], (_LEFT + _WIDTH - 4, 7.07, 3, 0.35))
            self._number(slide)
        made = io.BytesIO()
        self.file.save(made)
        return steady(made.getvalue())

    def _slide(self, title: str) -> Any:
        from pptx.util import Pt  # noqa: PLC0415 - as above

        slide = self.file.slides.add_slide(self.file.slide_layouts[5])
        shape = slide.shapes.title
        shape.left, shape.top, shape.width, shape.height = map(self._inches, (_LEFT, _TOP, _WIDTH, 0.95))
        frame = shape.text_frame
        frame.word_wrap, frame.text = True, read(title)
        size = _TITLE if len(title) < 90 else _TEXT
        for line in frame.paragraphs:
            line.alignment = 1
            line.font.size, line.font.bold = Pt(size), True
        return slide

    def _number(self, slide: Any) -> None:
        """Write the number of a slide at its foot; it follows the slide where somebody moves it."""
        from pptx.oxml import parse_xml  # noqa: PLC0415 - as above
        from pptx.oxml.ns import nsdecls  # noqa: PLC0415 - as above

        box = slide.shapes.add_textbox(*map(self._inches, (_LEFT + _WIDTH - 1, 7.07, 1, 0.35)))
        line = box.text_frame.paragraphs[0]
        line.alignment = 3
        look = f'<a:rPr lang="en" sz="{_SMALL * 100}"><a:solidFill><a:srgbClr val="{MUTED}"/></a:solidFill></a:rPr>'
        field = f'<a:fld {nsdecls("a")} id="{_NUMBER}" type="slidenum">{look}<a:t>{NUMBER_SIGN}</a:t></a:fld>'
        line._p.append(parse_xml(field))  # noqa: SLF001 - no other way

    def _write_tile(self, slide: Any, tile: Tile, place: tuple[float, float, float, float]) -> None:
        colour = ATTENTION if tile.attention else ""
        value = _TITLE + 6 if len(tile.value) < 10 else _TEXT
        self._write(
            slide, [(tile.label, MUTED, _SMALL + 2), (tile.value, colour, value), (tile.detail, MUTED, _SMALL)], place
        )

    def _write(
        self, slide: Any, lines: Sequence[tuple[str, str, int]], place: tuple[float, float, float, float]
    ) -> None:
        from pptx.dml.color import RGBColor  # noqa: PLC0415 - as above
        from pptx.util import Pt  # noqa: PLC0415 - as above

        frame = slide.shapes.add_textbox(*map(self._inches, place)).text_frame
        frame.word_wrap = True
        for number, (text, colour, points) in enumerate(lines):
            line = frame.paragraphs[0] if number == 0 else frame.add_paragraph()
            run = line.add_run()
            run.text = read(text)
            line.space_after = Pt(points // 2)
            run.font.size = Pt(points)
            if colour:
                run.font.color.rgb = RGBColor.from_string(colour)
