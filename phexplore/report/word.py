"""Reports as Word files that people edit: the same headings, sentences, pictures and tables as the page."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from phexplore.report.document import Cell, Document, Part, TableView
from phexplore.report.office_files import ACCENT, ATTENTION, MUTED, describe, describe_picture, read, steady

_TEXT_INCHES, _HIGHEST_INCHES = 6.9, 8.4
_TABLE_POINTS, _SMALL_POINTS, _LEAST_POINTS = 7, 8, 5.5
_TITLE_POINTS, _SMALLER_TITLE, _LONG_TITLE = 22, 15, 60
"""Of titles, and of those with so many letters."""
_CLOSE_POINTS = 3
"""Room behind lines that belong together."""
_WIDEST_INCHES = 2.5
"""Of a column of texts, before others have what they want."""
_MARGIN_INCHES = 0.7
_LETTER_INCHES, _CELL_MARGIN_INCHES = 0.06, 0.04
"""A letter of a table, and the room on both sides of a cell."""
_LETTERS = {**dict.fromkeys(" .,:;'!|()[]/-ijlftrI", 0.035), **dict.fromkeys("mwMW%", 0.09)}
"""Inches of narrow and of wide ones."""
_DXA = 1440
"""Twentieths of a point in an inch, which Word counts in."""
_LINE = "D3DAE1"
"""Colour of the lines of a table: that of the page."""


def document_docx(document: Document, pictures: Mapping[str, bytes], now: datetime) -> bytes:
    """Return the report as a Word file.

    Args:
        document: the report.
        pictures: PNG of its charts by id.
        now: when it was made.
    """
    import docx  # noqa: PLC0415 - only this format pays for it

    file = docx.Document()
    describe(file.core_properties, document, now)
    return _Writer(file, pictures).write(document)


class _Writer:
    """Writes the parts of a report one below the other."""

    def __init__(self, file: Any, pictures: Mapping[str, bytes]) -> None:
        from docx.shared import Inches, Pt, RGBColor  # noqa: PLC0415 - as above

        self._file, self._pictures = file, pictures
        section = file.sections[0]
        section.page_width, section.page_height = Inches(8.27), Inches(11.69)
        for side in ("left_margin", "right_margin", "top_margin", "bottom_margin"):
            setattr(section, side, Inches(_MARGIN_INCHES))
        normal = file.styles["Normal"].font
        normal.name, normal.size = "Arial", Pt(10)
        self._number_pages(section.footer.paragraphs[0])
        for name in ("Heading 1", "Heading 2"):
            # The template's light blue has a contrast of 4 to 1 on white.
            file.styles[name].font.color.rgb = RGBColor.from_string(ACCENT)

    @staticmethod
    def _number_pages(line: Any) -> None:
        """Write the number of the page and of all pages below every page."""
        from docx.enum.text import WD_ALIGN_PARAGRAPH  # noqa: PLC0415 - as above
        from docx.oxml import parse_xml  # noqa: PLC0415 - as above
        from docx.oxml.ns import nsdecls  # noqa: PLC0415 - as above
        from docx.shared import Pt  # noqa: PLC0415 - as above

        line.alignment = WD_ALIGN_PARAGRAPH.RIGHT
        for field, text in (("PAGE", ""), ("", " / "), ("NUMPAGES", "")):
            run = line.add_run(text)
            run.font.size = Pt(_SMALL_POINTS)
            if field:
                within = parse_xml(f'<w:fldSimple {nsdecls("w")} w:instr="{field}"/>')
                run._r.addprevious(within)  # noqa: SLF001 - the library knows no fields
                within.append(run._r)  # noqa: SLF001 - as above

    def write(self, document: Document) -> bytes:
        """Write everything and return the file."""
        from docx.shared import Pt  # noqa: PLC0415 - as above

        self._say(document.subtitle, colour=ACCENT, bold=True)
        title = self._file.add_heading(read(document.title), 0)
        title.runs[0].font.size = Pt(_TITLE_POINTS if len(document.title) < _LONG_TITLE else _SMALLER_TITLE)
        self._say(document.colophon, colour=MUTED, points=_SMALL_POINTS)
        if document.origin is not None:
            self._say(document.origin.sentence, colour=ATTENTION, bold=True)
            line = self._file.sections[0].header.paragraphs[0]
            self._run(line, document.origin.title, colour=ATTENTION, bold=True, points=_SMALL_POINTS)
        if document.warning:
            self._say(f"Attention. {document.warning}", colour=ATTENTION, bold=True)
        for tile in document.tiles:
            said = f" ({tile.detail})" if tile.detail else ""
            self._say(f"{tile.label}: {tile.value}{said}", colour=ATTENTION if tile.attention else "", is_close=True)
        for number, part in enumerate(document.parts):
            if number == 1:
                self._file.add_page_break()
            self._write_part(part)
        made = io.BytesIO()
        self._file.save(made)
        return steady(made.getvalue())

    def _write_part(self, part: Part) -> None:
        from docx.shared import Inches, Pt  # noqa: PLC0415 - as above

        self._file.add_heading(read(part.title), 1)
        for text in part.paragraphs:
            self._say(text)
        for text in part.findings:
            self._file.add_paragraph(read(text), style="List Bullet")
        for chart in part.charts:
            self._file.add_heading(read(chart.finding.replace("\n", " ")), 2)
            width = min(_TEXT_INCHES, chart.width, chart.width * _HIGHEST_INCHES / chart.height)
            self._file.add_picture(io.BytesIO(self._pictures[chart.id]), width=Inches(width))
            self._file.paragraphs[-1].paragraph_format.keep_with_next = True
            shape = self._file.inline_shapes[-1]
            describe_picture(shape._inline.docPr, chart.spoken)  # noqa: SLF001 - the library has no other way
            self._say(chart.caption or chart.description, colour=MUTED, points=_SMALL_POINTS)
        for table in part.tables:
            self._write_table(table)
        for section in part.sections:
            self._file.add_heading(read(section.title), 2)
            for name, text in section.entries:
                line = self._file.add_paragraph()
                line.paragraph_format.space_after = Pt(_CLOSE_POINTS)
                line.add_run(f"{read(name)}: ").bold = True
                line.add_run(read(text))

    def _write_table(self, table: TableView) -> None:
        self._file.add_heading(read(table.caption), 2)
        width = len(table.headers)
        grid = self._file.add_table(rows=1 + len(table.rows), cols=width)
        scale, widths = _widths(table)
        points, lines = _TABLE_POINTS * scale, self._shape(grid, widths)
        for column, header in enumerate(table.headers):
            self._fill(lines[0][column], Cell(header.text, header.number, heading=True), points, is_kept=True)
        spanned: dict[tuple[int, int], bool] = {}
        for number, row in enumerate(table.rows, start=1):
            cells = iter(row)
            is_inside = number < len(table.rows) and len(table.rows[number]) < width
            for column in range(width):
                if (number, column) in spanned:
                    continue
                if (cell := next(cells, None)) is None:
                    break
                place = lines[number][column]
                if cell.lines > 1:
                    spanned |= {(number + more, column): True for more in range(1, cell.lines)}
                    place = place.merge(lines[number + cell.lines - 1][column])
                self._fill(place, cell, points, is_kept=is_inside)
        if table.note:
            self._say(table.note, colour=MUTED, points=_SMALL_POINTS)

    def _shape(self, grid: Any, widths: Sequence[float]) -> list[Any]:
        """Give a table its lines and widths in inches, keep its rows whole and repeat its head; return the cells of every row."""
        from docx.oxml import OxmlElement  # noqa: PLC0415 - as above
        from docx.shared import Inches  # noqa: PLC0415 - as above

        grid.style, grid.autofit = "Table Grid", False
        self._draw_lines(grid)
        lines = [line.cells for line in grid.rows]
        # Word goes by the widths of the cells, other programs by those of the columns.
        for *places, wide in zip(grid.columns, *lines, map(Inches, widths), strict=True):
            for place in places:
                place.width = wide
        for line in grid.rows:
            line._tr.get_or_add_trPr().append(OxmlElement("w:cantSplit"))  # noqa: SLF001 - the library has no other way
        grid.rows[0]._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))  # noqa: SLF001 - as above
        return lines

    @staticmethod
    def _draw_lines(grid: Any) -> None:
        """Draw thin lines between rows and none between columns, as on the page, and keep cells close to each other."""
        from docx.oxml import parse_xml  # noqa: PLC0415 - as above
        from docx.oxml.ns import nsdecls, qn  # noqa: PLC0415 - as above

        sides = {"top": True, "left": False, "bottom": True, "right": False, "insideH": True, "insideV": False}
        drawn = {True: f'w:val="single" w:sz="4" w:space="0" w:color="{_LINE}"', False: 'w:val="nil"'}
        lines = "".join(f"<w:{side} {drawn[is_drawn]}/>" for side, is_drawn in sides.items())
        borders = parse_xml(f"<w:tblBorders {nsdecls('w')}>{lines}</w:tblBorders>")
        room = "".join(f'<w:{side} w:w="{_CELL_MARGIN_INCHES * _DXA:.0f}" w:type="dxa"/>' for side in ("left", "right"))
        # Word asks for this order of the properties of a table.
        layout = grid._tbl.tblPr.find(qn("w:tblLayout"))  # noqa: SLF001 - the library has no other way
        layout.addprevious(borders)
        layout.addnext(parse_xml(f"<w:tblCellMar {nsdecls('w')}>{room}</w:tblCellMar>"))

    def _fill(self, place: Any, cell: Cell, points: float, *, is_kept: bool) -> None:
        """Write a cell.

        Args:
            place: where.
            cell: what.
            points: size of its letters.
            is_kept: whether its row stays on the page of the next: heads of tables, and rows of one name.
        """
        from docx.enum.text import WD_ALIGN_PARAGRAPH  # noqa: PLC0415 - as above

        line = place.paragraphs[0]
        line.paragraph_format.keep_with_next = is_kept or None
        if cell.number:
            line.alignment = WD_ALIGN_PARAGRAPH.RIGHT
        colour = ATTENTION if cell.attention else ""
        text = cell.text.replace(" ", "\N{NO-BREAK SPACE}") if cell.number and not cell.heading else cell.text
        self._run(line, text, colour=colour, bold=cell.heading or cell.attention, points=points)

    def _say(self, text: str, *, colour: str = "", bold: bool = False, points: int = 0, is_close: bool = False) -> None:
        from docx.shared import Pt  # noqa: PLC0415 - as above

        line = self._file.add_paragraph()
        if is_close:
            line.paragraph_format.space_after = Pt(_CLOSE_POINTS)
        self._run(line, text, colour=colour, bold=bold, points=points)

    @staticmethod
    def _run(line: Any, text: str, *, colour: str, bold: bool, points: float) -> None:
        from docx.shared import Pt, RGBColor  # noqa: PLC0415 - as above

        run = line.add_run(read(text))
        run.bold = bold or None
        if points:
            run.font.size = Pt(points)
        if colour:
            run.font.color.rgb = RGBColor.from_string(colour)


def _widths(table: TableView) -> tuple[float, list[float]]:
    """Return the part of their size that letters have, and the width of every column in inches.

    The longest word or figure of a column fits; what is left goes to columns as far as their texts want it, then to the longest.
    """
    texts: list[list[str]] = [read(header.text).split("\n") for header in table.headers]
    words = [[word for line in lines for word in (*line.split(), "")] for lines in texts]
    for row in table.rows:
        for column, cell in zip(range(len(table.headers) - len(row), len(table.headers)), row, strict=True):
            texts[column].append(text := read(cell.text))
            words[column] += [text] if cell.number else text.split()
    room = 2 * _CELL_MARGIN_INCHES
    least = [max(map(_inches, each)) + room for each in words]
    full = [max(map(_inches, lines)) + room for lines in texts]
    scale = min(1.0, max(_LEAST_POINTS / _TABLE_POINTS, _TEXT_INCHES / sum(least)))
    spare = _TEXT_INCHES - sum(least)
    if spare < 0:
        return scale, [_TEXT_INCHES * each / sum(least) for each in least]
    wanted = [max(0.0, min(_WIDEST_INCHES, long) - short) for short, long in zip(least, full, strict=True)]
    given = [min(1.0, spare / (sum(wanted) or 1.0)) * each for each in wanted]
    longest = [max(0.0, each - _WIDEST_INCHES) for each in full]
    shares = longest if any(longest) else full
    left = spare - sum(given)
    return scale, [
        short + more + left * share / sum(shares) for short, more, share in zip(least, given, shares, strict=True)
    ]


def _inches(word: str) -> float:
    return sum(_LETTERS.get(letter, _LETTER_INCHES * (1.2 if letter.isupper() else 1.0)) for letter in word)
