"""A certificate read back: its values are compared with recomputed ones, its sentences with those of all releases.

A certificate is HTML without script, picture or reference to anything outside. What stands in it is either a value,
which has to be the recomputed one at the same place, or wording, which has to be that of this release or of an earlier
one. Later releases word things otherwise: the sentences of every release that wrote bundles are kept in
``certificates/wording.txt``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from html.parser import HTMLParser

from phexplore.decide.bundle_values import CONVERSIONS, RELATIVE_TOLERANCE
from phexplore.errors import PhexploreError
from phexplore.resources import resource

_TAGS = frozenset(
    [
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "a",
        "header",
        "p",
        "h1",
        "h2",
        "h3",
        "strong",
        "dl",
        "div",
        "dt",
        "dd",
        "nav",
        "ul",
        "li",
        "main",
        "section",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    ]
)
_ATTRIBUTES = frozenset(
    [
        "lang",
        "charset",
        "name",
        "content",
        "http-equiv",
        "class",
        "href",
        "role",
        "id",
        "aria-labelledby",
        "aria-label",
        "tabindex",
        "scope",
        "rowspan",
    ]
)
_EMPTY = frozenset({"meta"})
_BLOCKS = frozenset({"title", "style", "a", "p", "h1", "h2", "h3", "dt", "dd", "li", "caption", "th", "td"})
_CLASSES = frozenset(
    [
        "skip",
        "kind",
        "colophon",
        "warning",
        "tiles",
        "tile",
        "tile attention",
        "value",
        "detail",
        "table",
        "number",
        "attention",
        "whole",
        "note",
        "facts",
        "number attention",
        "number whole",
        "attention whole",
        "number attention whole",
    ]
)
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
MATERIALS = "materials"
_UNORDERED = "cited"
"""The table of runs: a bundle does not say in which order they were named."""
_VERSION = re.compile(r"\d+(\.[0-9a-z]+)*([+-][0-9A-Za-z.]+)?")
_MOST_BLOCKS = 100_000


class CertificateError(PhexploreError):
    """A certificate that holds what no release writes."""


@dataclass(slots=True)
class CertificateText:
    """What a certificate says.

    Attributes:
        tiles: text of labels and values of the tiles, in order.
        tables: cells of the bodies of tables, row by row, by the table's id.
        facts: name and text of every entry of the lists of facts.
        wording: everything else.
        style: SHA-256 of the style sheet.
        is_warning: whether it warns that the parameters are not approved.
    """

    tiles: list[str] = field(default_factory=list)
    tables: dict[str, list[list[str]]] = field(default_factory=dict)
    facts: list[tuple[str, str]] = field(default_factory=list)
    wording: list[str] = field(default_factory=list)
    style: str = ""
    is_warning: bool = False


class _Reader(HTMLParser):
    """Sorts the text of a certificate by where it stands."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found = CertificateText()
        self._open: list[tuple[str, dict[str, str]]] = []
        self._text: list[str] = []
        self._blocks = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag not in _TAGS or len(values) != len(attrs) or not values.keys() <= _ATTRIBUTES:
            raise CertificateError(f"It holds the element {tag[:40]!r}.", "")
        if values.get("class", "value") not in _CLASSES or not values.get("href", "#").startswith("#"):
            raise CertificateError(f"Its element {tag} has attributes of no certificate.", "")
        if values.get("http-equiv") and (values["http-equiv"], values.get("content")) != (
            "Content-Security-Policy",
            _POLICY,
        ):
            raise CertificateError("It may load or run what stands elsewhere.", "")
        self._blocks += 1
        if self._blocks > _MOST_BLOCKS:
            raise CertificateError("It is longer than any certificate.", "")
        if tag == "meta":
            if values.get("name") in {"keywords", "description"}:
                self.found.wording.append(values.get("content", ""))
            return
        self._open.append((tag, values))
        if tag == "table":
            if (name := values.get("id", "")) in self.found.tables:
                raise CertificateError(f"It has the table {name[:40]!r} twice.", "")
            self.found.tables[name] = []
        elif tag == "tr" and self._is_in("tbody"):
            self._rows().append([])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _EMPTY:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open[-1][0] != tag:
            raise CertificateError("Its elements do not close in their order.", "")
        if tag in _BLOCKS:
            self._take(tag)
        self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._is_in("style"):
            self.found.style = hashlib.sha256(data.strip().encode()).hexdigest()
        elif any(tag in _BLOCKS for tag, _ in self._open):
            self._text.append(data)
        elif data.strip():
            raise CertificateError("It has text where no certificate has any.", "")

    def handle_pi(self, data: str) -> None:
        raise CertificateError(f"It holds an instruction: {data[:40]!r}.", "")

    def unknown_decl(self, data: str) -> None:
        raise CertificateError(f"It holds a declaration: {data[:40]!r}.", "")

    def handle_comment(self, data: str) -> None:
        raise CertificateError(f"It holds a comment: {data[:40]!r}.", "")

    def _is_in(self, tag: str) -> bool:
        return any(open_tag == tag for open_tag, _ in self._open)

    def _rows(self) -> list[list[str]]:
        if not self.found.tables:
            raise CertificateError("It has cells outside of a table.", "")
        return self.found.tables[next(reversed(self.found.tables))]

    def _take(self, tag: str) -> None:
        """Put the text of a block that ends where it belongs."""
        text, self._text = " ".join("".join(self._text).split()), []
        look = self._open[-1][1].get("class", "")
        lists = [values.get("class") for open_tag, values in self._open if open_tag == "dl"]
        if tag in {"td", "th"} and self._is_in("tbody"):
            self._rows()[-1].append(text)
        elif tag in {"dt", "dd"} and lists == ["facts"]:
            if tag == "dt":
                self.found.facts.append((text, ""))
            elif not self.found.facts or self.found.facts[-1][1]:
                raise CertificateError("Its list of facts is not one.", "")
            else:
                self.found.facts[-1] = (self.found.facts[-1][0], text)
        elif tag == "dt" or (tag == "dd" and look == "value"):
            self.found.tiles.append(text)
        elif text:
            self.found.wording.append(text)
        self.found.is_warning |= tag == "p" and look == "warning"


def read_certificate(content: bytes) -> CertificateText:
    """Return what a certificate says.

    Raises:
        CertificateError: it holds what no release writes: script, pictures, references, comments, or loose ends.
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
    if len(stated_facts) != len(our_facts) or not all(map(_same_values, stated_facts, our_facts)):
        yield "Its facts are not those of these parameters."
    yield from _wording_differences(stated, ours, program, names)


def _table_differences(stated: CertificateText, ours: CertificateText) -> Iterator[str]:
    for name in sorted({*stated.tables, *ours.tables} - {MATERIALS}):
        rows, our_rows = stated.tables.get(name, []), ours.tables.get(name, [])
        if name == _UNORDERED:
            rows, our_rows = sorted(rows), sorted(our_rows)
        if not _same_rows(rows, our_rows):
            yield f"Its table {name[:60]!r} does not hold the recomputed values."
    for row in stated.tables.get(MATERIALS, []):
        if len(row) != 2 or f"material {row[0]}" not in _wording() or not _VERSION.fullmatch(row[1]):
            yield f"Its bill of materials names {' '.join(row)[:60]!r}."


def wording_of(found: CertificateText, names: Sequence[str]) -> set[str]:
    """Return the sentences of a certificate with ``#`` for every value and ``@`` for every name.

    Args:
        found: the certificate.
        names: of scenarios, people and files that occur in it.
    """
    return {_plain(text, names) for text in _sentences(found)}


def _sentences(found: CertificateText) -> Iterator[str]:
    yield from found.wording
    for name, text in found.facts:
        yield name
        yield text
    yield f"style {found.style}"


def _wording_differences(
    stated: CertificateText, ours: CertificateText, program: str, names: Sequence[str]
) -> Iterator[str]:
    known = _wording() | wording_of(ours, names)
    values = {value for text in _sentences(ours) for value in _values(text)} | {program}
    for text in _sentences(stated):
        if _plain(text, names) not in known:
            yield f"It says {text[:80]!r}, which no release of this program says there."
        elif not text.startswith("style ") and any(value not in values for value in _values(text)):
            yield f"It says {text[:80]!r}, with a value that is not recomputed."
    everything = " ".join(stated.wording)
    for name in names:
        if name and " ".join(name.split()) not in everything:
            yield f"It does not name {name[:80]!r}."


def _values_of_facts(found: CertificateText) -> list[list[str]]:
    """Return the values of the facts, without those about conversions that a later release added."""
    kept = [
        text
        for name, text in found.facts
        if "-" not in (last := name.split()[-1] if name else "") or last in CONVERSIONS
    ]
    return [values for text in kept if (values := _values(text))]


def _values(text: str) -> list[str]:
    """Return the words of a text that are values: they hold a digit or stand for infinity."""
    words = (word.strip(".,;:()…") for word in text.split())
    return [word for word in words if "∞" in word or any(sign.isdigit() for sign in word)]


def _plain(text: str, names: Sequence[str]) -> str:
    """Return a text without its values and names."""
    if text.startswith("style "):
        return text
    for name in sorted(filter(None, (" ".join(name.split()) for name in names)), key=len, reverse=True):
        text = text.replace(name, "@")
    return " ".join("#" if _values(word) else word for word in text.split())


def _same_rows(stated: Sequence[Sequence[str]], made: Sequence[Sequence[str]]) -> bool:
    return len(stated) == len(made) and all(
        len(row) == len(other) and all(map(_same_text, row, other)) for row, other in zip(stated, made, strict=True)
    )


def _same_values(stated: Sequence[str], made: Sequence[str]) -> bool:
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
def _wording() -> frozenset[str]:
    """Return the sentences of all releases that wrote bundles."""
    return frozenset(resource("certificates/wording.txt").read_text(encoding="utf-8").splitlines())
