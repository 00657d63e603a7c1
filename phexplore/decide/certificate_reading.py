"""A certificate read back: it has to say, in its order, what the same parts say when the certificate is made again.

A certificate is HTML without script, picture or reference to anything outside. Everything in it is compared with the one made
again: elements as they are spelled, sentences, tiles, facts, heads and cells of tables. It may lack what a later release added,
and nothing else: whatever stands in it stands in the other one, in the same order. Libraries and style sheets of all releases
that wrote bundles are kept in ``certificates/known.txt``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from html.parser import HTMLParser

from phexplore import __version__
from phexplore.decide.bundle_values import CONVERSIONS, RELATIVE_TOLERANCE
from phexplore.errors import PhexploreError
from phexplore.resources import resource

_EMPTY = "meta"
_BLOCKS = frozenset({"title", "style", "a", "p", "h1", "h2", "h3", "dt", "dd", "li", "caption", "th", "td"})
MATERIALS = "materials"
_UNORDERED = "cited"
"""The table of runs: a bundle does not say in which order they were named."""
_VERSION = re.compile(r"\d+(\.[0-9a-z]+)*([+-][0-9A-Za-z.]+)?")
_ALIGNED = re.compile(r' class="(number|whole|number whole)"(?=>$)')
"""How a cell is aligned and broken into lines, which says nothing and changed between releases."""
_MOST_BLOCKS = 100_000
_ROWS = frozenset({"tbody", "tr"})

Row = list[str]


class CertificateError(PhexploreError):
    """A certificate that holds what no release writes."""


@dataclass(slots=True)
class CertificateText:
    """What a certificate says.

    Attributes:
        tiles: text of labels and values of the tiles, in order.
        heads: texts of the heads of tables, by the table's id.
        tables: cells of the bodies of tables, row by row, by the table's id.
        spelled: the start tags of the same cells, row by row.
        facts: name and text of every entry of the lists of facts.
        lines: start tags, ends and texts of everything but the bodies of tables, in order.
        style: SHA-256 of the style sheet.
        is_warning: whether it warns that the parameters are not approved.
    """

    tiles: list[str] = field(default_factory=list)
    heads: dict[str, Row] = field(default_factory=dict)
    tables: dict[str, list[Row]] = field(default_factory=dict)
    spelled: dict[str, list[Row]] = field(default_factory=dict)
    facts: list[tuple[str, str]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    style: str = ""
    is_warning: bool = False


class _Reader(HTMLParser):
    """Sorts the text of a certificate by where it stands."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found = CertificateText()
        self._open: list[tuple[str, str]] = []
        self._text: list[str] = []
        self._blocks = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        spelled = _ALIGNED.sub("", self.get_starttag_text() or "")
        self._blocks += 1
        if self._blocks > _MOST_BLOCKS:
            raise CertificateError("It is longer than any certificate.", "")
        if self._is_in_body(tag):
            self._begin_in_body(tag, spelled)
        else:
            self.found.lines.append(spelled)
        if tag == _EMPTY:
            return
        if tag == "table":
            name = dict(attrs).get("id") or ""
            if name in self.found.tables:
                raise CertificateError(f"It has the table {name[:40]!r} twice.", "")
            self.found.tables[name], self.found.spelled[name], self.found.heads[name] = [], [], []
        self._open.append((tag, spelled))

    def _begin_in_body(self, tag: str, spelled: str) -> None:
        """Begin a body of a table, a row or a cell: what they may stand in, and be spelled like, no later line can tell."""
        around = self._open[-1][0] if self._open else ""
        may = {"table": ("tbody",), "tbody": ("tr",), "tr": ("th", "td")}.get(around, ())
        if tag not in may or (tag in _ROWS and spelled != f"<{tag}>"):
            raise CertificateError(f"It holds the element {tag[:40]!r} where no certificate does.", "")
        name = next(reversed(self.found.tables))
        if tag == "tr":
            self.found.tables[name].append([])
            self.found.spelled[name].append([])
        elif tag != "tbody":
            self.found.spelled[name][-1].append(spelled)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open[-1][0] != tag:
            raise CertificateError("Its elements do not close in their order.", "")
        if tag in _BLOCKS:
            self._take(tag)
        if not self._is_in_body(tag):
            self.found.lines.append(f"</{tag}>")
        self._open.pop()

    def handle_data(self, data: str) -> None:
        if any(tag in _BLOCKS for tag, _ in self._open):
            self._text.append(data)
        elif data.strip():
            raise CertificateError("It has text where no certificate has any.", "")

    def handle_decl(self, decl: str) -> None:
        self.found.lines.append(f"<!{decl}>")

    def handle_pi(self, data: str) -> None:
        raise CertificateError(f"It holds an instruction: {data[:40]!r}.", "")

    def unknown_decl(self, data: str) -> None:
        raise CertificateError(f"It holds a declaration: {data[:40]!r}.", "")

    def handle_comment(self, data: str) -> None:
        raise CertificateError(f"It holds a comment: {data[:40]!r}.", "")

    def _is_in_body(self, tag: str) -> bool:
        return tag == "tbody" or any(open_tag == "tbody" for open_tag, _ in self._open)

    def _take(self, tag: str) -> None:
        """Put the text of a block that ends where it belongs."""
        whole, self._text = "".join(self._text), []
        text = " ".join(whole.split())
        around = [spelled for _, spelled in self._open]
        if tag == "style":
            self.found.style = hashlib.sha256(whole.strip().encode()).hexdigest()
            return
        if self._is_in_body(tag):
            self.found.tables[next(reversed(self.found.tables))][-1].append(text)
            return
        if text:
            self.found.lines.append(f"={text}")
        if tag == "th" and self.found.heads:
            self.found.heads[next(reversed(self.found.heads))].append(text)
        elif tag == "dt" and '<dl class="facts">' in around:
            self.found.facts.append((text, ""))
        elif tag == "dd" and '<dl class="facts">' in around:
            if not self.found.facts or self.found.facts[-1][1]:
                raise CertificateError("Its list of facts is not one.", "")
            self.found.facts[-1] = (self.found.facts[-1][0], text)
        elif tag == "dt" or around[-1] == '<dd class="value">':
            self.found.tiles.append(text)
        self.found.is_warning |= around[-1].startswith('<p class="warning"')


def read_certificate(content: bytes) -> CertificateText:
    """Return what a certificate says.

    Raises:
        CertificateError: it holds what no release writes: comments, declarations, or loose ends.
    """
    reader = _Reader()
    try:
        reader.feed(content.decode("utf-8"))
        reader.close()
    except (ValueError, IndexError, AssertionError) as error:
        raise CertificateError("It is no certificate of this program.", "") from error
    if reader._open or reader._text:  # noqa: SLF001 - its own reader
        raise CertificateError("It ends in the middle.", "")
    return reader.found


def certificate_differences(content: bytes, made: bytes, *, program: str, names: Sequence[str]) -> Iterator[str]:
    """Yield where a certificate does not say what its parameters, decisions and runs give.

    Args:
        content: the certificate of the bundle.
        made: the one that this release makes of the other parts.
        program: the release that made the bundle, as its manifest says.
        names: texts of people in it: name of the scenario, clearance. Each has to stand in it.
    """
    try:
        stated = read_certificate(content)
    except CertificateError as error:
        yield error.sentence
        return
    ours = read_certificate(made)
    if not _VERSION.fullmatch(program):
        yield "It names no release of this program."
    if len(stated.tiles) != len(ours.tiles) or not all(map(_same_text, stated.tiles, ours.tiles)):
        yield "Its tiles do not say the status and the total of these parameters."
    if stated.is_warning != ours.is_warning:
        yield "Its warning does not fit the status of these parameters."
    yield from _table_differences(stated, ours)
    stated_facts, our_facts = _values_of_facts(stated), _values_of_facts(ours)
    if len(stated_facts) != len(our_facts) or not all(map(_same_row, stated_facts, our_facts)):
        yield "Its facts are not those of these parameters."
    if f"style {stated.style}" not in _known():
        yield "No release of this program looks like it."
    yield from _line_differences(stated, ours, program)
    everything = " ".join(stated.lines)
    for name in names:
        if " ".join(name.split()) not in everything:
            yield f"It does not name {name[:80]!r}."


def _table_differences(stated: CertificateText, ours: CertificateText) -> Iterator[str]:
    for name in sorted({*stated.tables, *ours.tables} - {MATERIALS}):
        rows, our_rows = stated.tables.get(name, []), ours.tables.get(name, [])
        if name == _UNORDERED:
            rows, our_rows = sorted(rows), sorted(our_rows)
        if len(rows) != len(our_rows) or not all(map(_same_row, rows, our_rows)):
            yield f"Its table {name[:60]!r} does not hold the recomputed values."
        if (stated.heads.get(name), stated.spelled.get(name)) != (ours.heads.get(name), ours.spelled.get(name)):
            yield f"Its table {name[:60]!r} does not have the columns of these parameters."
    for row in stated.tables.get(MATERIALS, []):
        if len(row) != 2 or f"material {row[0]}" not in _known() or not _VERSION.fullmatch(row[1]):
            yield f"Its bill of materials names {' '.join(row)[:60]!r}."


def _line_differences(stated: CertificateText, ours: CertificateText, program: str) -> Iterator[str]:
    """Yield the first line that does not stand in the other certificate behind those before it."""
    own = f"phexplore {__version__} "
    rest = iter([line.replace(own, f"phexplore {program} ") for line in ours.lines])
    for line in stated.lines:
        if not any(_same_line(line, other) for other in rest):
            yield f"It says {line.removeprefix('=')[:80]!r}, which the certificate of these parameters does not say there."
            return


def _same_line(stated: str, made: str) -> bool:
    """Return whether two lines are equal but for what numbers in their texts differ in between computers."""
    if stated == made or not (stated.startswith("=") and made.startswith("=")):
        return stated == made
    return _same_row(*([_bare(word) for word in line.split()] for line in (stated, made)))


def _values_of_facts(found: CertificateText) -> list[Row]:
    """Return the values of the facts, without those about conversions that a later release added."""
    kept = [
        text
        for name, text in found.facts
        if "-" not in (last := name.split()[-1] if name else "") or last in CONVERSIONS
    ]
    return [values for text in kept if (values := _values(text))]


def _values(text: str) -> Row:
    """Return the words of a text that are values: they hold a digit or stand for infinity."""
    words = (_bare(word) for word in text.split())
    return [word for word in words if "∞" in word or any(sign.isdigit() for sign in word)]


def _bare(word: str) -> str:
    """Return a word without the punctuation around it; a point before digits is part of the number."""
    return word.lstrip("(").rstrip(".,;:)…")


def _same_row(stated: Sequence[str], made: Sequence[str]) -> bool:
    return len(stated) == len(made) and all(map(_same_text, stated, made))


def _same_text(stated: str, made: str) -> bool:
    """Return whether two texts are equal, or are numbers that differ in what computers differ in."""
    if stated == made:
        return True
    try:
        one, other = float(stated), float(made)
    except ValueError:
        return False
    return abs(one - other) <= RELATIVE_TOLERANCE * max(abs(one), abs(other))


@lru_cache(maxsize=1)
def _known() -> frozenset[str]:
    """Return the libraries and style sheets of all releases that wrote bundles."""
    return frozenset(resource("certificates/known.txt").read_text(encoding="utf-8").splitlines())
