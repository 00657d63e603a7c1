"""The manual: the pages of ``docs`` that every package holds, their headings, where their links lead, and what is found in them."""

from __future__ import annotations

import json
import posixpath
import re
from dataclasses import dataclass
from functools import lru_cache

from phexplore.resources import manual_root

INDEX = "docs/index.md"
POINTER = re.compile(r"\bdocs/[a-z_]+\.md\b")
"""How messages name a page."""
_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*$")
_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
_MARKS = re.compile(r"[*`]|\[([^\]]*)\]\([^)]*\)")
_TABLE_MARKS = re.compile(r"\||:?-{3,}:?")
_FENCE = "```"
_EXCERPT = 110


@dataclass(frozen=True, slots=True)
class Place:
    """A heading of a page.

    Attributes:
        page: its name, e.g. ``docs/start.md``.
        anchor: of the heading, "" for the top of the page.
        title: of the page, or of page and heading.
        text: what stands there; of a search, the part around the first word.
    """

    page: str
    anchor: str
    title: str
    text: str = ""


def has_page(name: str) -> bool:
    """Return whether the manual holds a page of this name; nothing outside of it is opened."""
    root = manual_root().resolve()
    path = (root / name).resolve()
    return path.is_relative_to(root) and path.is_file() and name in pages()


@lru_cache(maxsize=1)
def pages() -> frozenset[str]:
    """Return the names of all pages: those of ``docs``, and what they link to."""
    own = {f"docs/{path.name}" for path in (manual_root() / "docs").glob("*.md")}
    return frozenset(own | {target for page in own for target, _ in links(page) if target})


def page_text(name: str) -> str:
    """Return a page as Markdown; a notebook as its words and code, another file as it stands.

    Raises:
        FileNotFoundError: the manual has no such page.
    """
    text = (manual_root() / name).read_text(encoding="utf-8")
    if name.endswith(".md"):
        return text
    title = posixpath.basename(name)
    if name.endswith(".ipynb"):
        cells = json.loads(text)["cells"]
        parts = ["".join(cell["source"]) for cell in cells]
        words = (
            part if cell["cell_type"] == "markdown" else f"{_FENCE}\n{part}\n{_FENCE}"
            for cell, part in zip(cells, parts, strict=True)
        )
        return "\n\n".join(words)
    return f"# {title}\n\n{_FENCE}\n{text}\n{_FENCE}\n"


def page_title(name: str) -> str:
    """Return the first heading of a page."""
    return next((title for _, title, _ in _headings(page_text(name))), posixpath.basename(name))


def target_of(page: str, link: str) -> tuple[str, str]:
    """Return the page and the anchor that a link leads to; "" as the page for an address elsewhere.

    Args:
        page: that holds the link.
        link: as it is written.
    """
    path, _, anchor = link.partition("#")
    if "://" in path or path.startswith("mailto:"):
        return "", ""
    return (posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page), anchor


def links(page: str) -> list[tuple[str, str]]:
    """Return where the links of a page lead, as `target_of` says; pictures too."""
    words = "\n".join(line for line, is_code in _lines(page_text(page)) if not is_code)
    return [target_of(page, found[2]) for found in _LINK.finditer(words)]


def anchors(page: str) -> set[str]:
    """Return the anchors of a page's headings."""
    return {anchor for anchor, _, _ in _headings(page_text(page))}


@lru_cache(maxsize=1)
def contents() -> tuple[tuple[str, tuple[Place, ...]], ...]:
    """Return the chapters of the manual with their pages, in the order of its first page; then what pages alone lead to."""
    chapters: list[tuple[str, tuple[Place, ...]]] = []
    listed = {INDEX}
    for line, _ in _lines(page_text(INDEX)):
        name, sign, rest = line.removeprefix("**").partition(":** ")
        if not sign or not line.startswith("**"):
            continue
        named = [target_of(INDEX, found[2])[0] for found in _LINK.finditer(rest)]
        listed.update(named)
        chapters.append((name, tuple(Place(page, "", page_title(page)) for page in named)))
    further = sorted(page for page in pages() - listed if page.endswith((".md", ".ipynb")))
    return (
        ("", (Place(INDEX, "", page_title(INDEX)),)),
        *chapters,
        ("Further", tuple(Place(page, "", page_title(page)) for page in further)),
    )


def search(words: str, most: int = 40) -> list[Place]:
    """Return the headings under which every word stands, those that name one first.

    Args:
        words: as typed, in any case.
        most: so many at most.
    """
    wanted = words.lower().split()
    if not wanted:
        return []
    found: list[tuple[int, int, Place, int]] = []
    for place, title, text in _sections():
        if all(word in text for word in wanted):
            named = sum(word in title for word in wanted)
            found.append((-named, len(found), place, text.find(wanted[0])))
    return [
        Place(place.page, place.anchor, place.title, _around(place.text, at))
        for _, _, place, at in sorted(found, key=lambda each: each[:2])[:most]
    ]


@lru_cache(maxsize=1)
def _sections() -> tuple[tuple[Place, str, str], ...]:
    """Return every heading with its words and its text in lower case."""
    found = []
    for page in (place.page for _, places in contents() for place in places):
        whole = page_title(page)
        for anchor, title, text in _headings(page_text(page)):
            plain = " ".join(_TABLE_MARKS.sub(" ", text).split())
            place = Place(page, anchor, whole if title == whole else f"{whole} › {title}", plain)
            found.append((place, title.lower(), f"{plain} {title}".lower()))
    return tuple(found)


def _around(text: str, at: int) -> str:
    start = max(0, at - _EXCERPT // 3)
    start = text.find(" ", start, at) + 1 or start if start else 0  # a word is not begun in its middle
    part = text[start : start + _EXCERPT]
    return f"{'…' if start else ''}{part}{'…' if start + _EXCERPT < len(text) else ''}"


def _headings(text: str) -> list[tuple[str, str, str]]:
    """Return anchor, words and text of every heading of a page."""
    found: list[tuple[str, str, list[str]]] = []
    for line, is_code in _lines(text):
        if not is_code and (heading := _HEADING.match(line)):
            title = _plain(heading[2])
            found.append((anchor_of(title), title, []))
        elif found and not line.startswith(_FENCE):
            found[-1][2].append(_plain(line) if not is_code else line)
    return [(anchor, title, "\n".join(lines)) for anchor, title, lines in found]


def _lines(text: str) -> list[tuple[str, bool]]:
    """Return the lines of a page and whether each is code."""
    found: list[tuple[str, bool]] = []
    is_code = False
    for line in text.splitlines():
        if line.lstrip().startswith(_FENCE):
            is_code = not is_code
            found.append((line, True))
        else:
            found.append((line, is_code))
    return found


def _plain(text: str) -> str:
    return _MARKS.sub(lambda found: found[1] or "", text)


def anchor_of(title: str) -> str:
    """Return the anchor of a heading, as repositories make it: small letters, hyphens for spaces, no punctuation."""
    kept = "".join(sign for sign in title.lower() if sign.isalnum() or sign in " -_")
    return kept.strip().replace(" ", "-")
