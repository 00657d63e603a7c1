"""Reports as tagged PDF (PDF/UA-1), made from the same HTML; needs Pango on the system."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from phexplore.errors import PhexploreError

_EPOCH = "SOURCE_DATE_EPOCH"


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
            pdf_variant="pdf/ua-1", pdf_identifier=identifier, **({"attachments": files} if files else {})
        )
    return content


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


def _weasyprint() -> Any:
    try:
        with warnings.catch_warnings():
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
