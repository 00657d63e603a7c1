"""Reports as tagged PDF (PDF/UA-1), made from the same HTML; needs Pango on the system."""

from __future__ import annotations

import ctypes.util
import hashlib
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from phexplore.errors import PhexploreError

_EPOCH = "SOURCE_DATE_EPOCH"
_PAGES = """
@page {
  @bottom-left { width: 85%; overflow-wrap: anywhere }
  @bottom-right { width: 15%; white-space: nowrap }
}
thead + tbody tr:nth-child(-n+2):not(:last-child) { break-after: avoid }
.picture figure img { max-height: 212mm }
.table:not(:has(tbody:nth-of-type(5), tbody tr:nth-child(9))) { break-inside: avoid }
section[aria-labelledby="tables"]:has(tbody:nth-of-type(5)) { break-before: page }
"""
"""No head of a table is above a single row. Short tables stay on one page; long ones begin on a new one, because their first group of
rows would be torn. A long title leaves room for the number of the page."""


class PdfUnavailableError(PhexploreError):
    """The libraries that lay out a PDF are not installed."""


@dataclass(frozen=True, slots=True)
class Attached:
    """A file inside a PDF, so that the paper and the data cannot part.

    Attributes:
        name: of the file.
        content: all of it.
        description: what it is, for people.
    """

    name: str
    content: bytes
    description: str


def pdf_from_html(html: bytes, now: datetime, attached: Sequence[Attached] = ()) -> bytes:
    """Return the report as PDF. Text, tables and pictures are tagged, so that screen readers can follow.

    The same file and time give the same bytes on the same machine; fonts and layout are those of the system.

    Args:
        html: what `document_html` returned. Nothing outside of it is read.
        now: written into the fonts of the file.
        attached: files to put inside.

    Raises:
        PdfUnavailableError: weasyprint or one of its system libraries is missing; the remedy says what to install.
    """
    weasyprint = _weasyprint()
    identifier = hashlib.sha256(html).digest()[:16]
    # A report holds everything it shows: neither disk nor network is asked, and a picture that is missing is an error.
    inside = weasyprint.urls.URLFetcher(allowed_protocols=("data",), fail_on_errors=True)
    page = weasyprint.HTML(string=html.decode(), url_fetcher=inside)
    files = [
        weasyprint.Attachment(
            string=file.content, name=file.name, description=file.description, created=now, modified=now,
            relationship="Data",
        )
        for file in attached
    ]  # fmt: skip
    with _font_date(now):
        content: bytes = page.write_pdf(
            finisher=_mend_tags,
            pdf_variant="pdf/ua-1",
            pdf_identifier=identifier,
            stylesheets=[weasyprint.CSS(string=_PAGES)],
            **({"attachments": files} if files else {}),
        )
    return content


def _mend_tags(_document: object, pdf: Any) -> None:
    """Make lists of names and what is said of them lists of PDF, and say of every header what it heads (ISO 14289-1, 7.5 and 7.6).

    The contents of the margins of every page are marked as belonging to the page, not to the text (7.8).

    Args:
        _document: that was laid out.
        pdf: gets the tags; its objects are the elements of the structure.
    """
    tagged: list[Any] = [each for each in pdf.objects if isinstance(each, dict) and "S" in each]
    elements = {each.reference: each for each in tagged}

    _mark_margins(pdf, elements)

    def inside(element: dict[str, Any]) -> list[dict[str, Any]]:
        return [elements[kid] for kid in element.get("K", ()) if isinstance(kid, bytes) and kid in elements]

    for element in tagged:
        if element["S"] == "/L":
            for pair in (each for each in inside(element) if each["S"] == "/Div"):
                pair["S"] = "/LI"
                for number, part in enumerate(inside(pair)):
                    part["S"] = "/LBody" if number else "/Lbl"
                    for body in inside(part):
                        body["S"] = "/NonStruct" if body["S"] == "/LBody" else body["S"]
        elif element["S"] == "/TR":
            cells = inside(element)
            scope = "/Column" if all(cell["S"] == "/TH" for cell in cells) else "/Row"
            for cell in (each for each in cells if each["S"] == "/TH"):
                cell["A"]["Scope"] = scope


def _mark_margins(pdf: Any, elements: dict[bytes, dict[str, Any]]) -> None:
    """Mark as artifacts of the page what no element of the document holds: its running title and number.

    Args:
        pdf: gets the marks in the contents of its pages.
        elements: of the structure, by reference.
    """
    held: set[bytes] = set()
    waiting = [reference for reference, each in elements.items() if each["S"] == "/Document"]
    while waiting:
        reference = waiting.pop()
        held.add(reference)
        waiting += [kid for kid in elements[reference].get("K", ()) if isinstance(kid, bytes) and kid in elements]
    objects = {each.reference: each for each in pdf.objects}
    outside = {reference for reference in elements if reference not in held}
    for page, marks in ((elements[reference]["Pg"], elements[reference]["K"]) for reference in outside):
        content = objects[objects[page]["Contents"]].stream
        for place, part in enumerate(content):
            if isinstance(part, dict) and part.get("MCID") in marks:
                content[place - 1] = b"/Artifact"
                part.clear()
                part["Type"] = "/Pagination"
    for tree in (each["ParentTree"] for each in objects.values() if isinstance(each, dict) and "ParentTree" in each):
        for part in objects[tree]["Nums"] if isinstance(tree, bytes) else tree["Nums"]:
            if isinstance(part, list):
                part[:] = [b"null" if kid in outside else kid for kid in part]


@contextmanager
def _font_date(now: datetime) -> Iterator[None]:
    """Date embedded fonts as given: the library that cuts them takes the clock unless this variable is set."""
    before = os.environ.get(_EPOCH)
    os.environ[_EPOCH] = str(int(now.timestamp()))
    try:
        yield
    finally:
        if before is None:
            del os.environ[_EPOCH]
        else:
            os.environ[_EPOCH] = before


@contextmanager
def _libraries_by_name() -> Iterator[None]:
    """Leave the search for libraries to the loader: Python asks whatever is called ``gcc`` or ``ld`` on the path."""
    search = ctypes.util.find_library

    def nothing(name: str) -> str | None:
        del name
        return None

    if os.name == "posix" and sys.platform != "darwin":
        ctypes.util.find_library = nothing
    try:
        yield
    finally:
        ctypes.util.find_library = search


def _weasyprint() -> Any:
    try:
        with warnings.catch_warnings(), _libraries_by_name():
            # On import it advises packagers about libraries that later versions want.
            warnings.simplefilter("ignore", DeprecationWarning)
            import weasyprint  # noqa: PLC0415 - seconds, and an optional part of the installation
    except ImportError as error:
        raise PdfUnavailableError(
            "A PDF cannot be made here: the Python package weasyprint is not installed.",
            "Install it with `pip install 'phexplore[pdf]'`, or save the report as HTML and print that.",
        ) from error
    except OSError as error:
        raise PdfUnavailableError(
            f"A PDF cannot be made here: a system library of weasyprint is missing ({error}).",
            "Install Pango (Debian: `apt-get install libpango-1.0-0 libpangoft2-1.0-0`), or save the report as HTML.",
        ) from error
    return weasyprint
