"""Which pictures a system shows of its runs. Declaring them loads nothing that reads runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phexplore.systems.run_results import RunReader

HOW_FAR: str = "How far off?"
WHERE: str = "Where?"
WHO: str = "Who?"
COMPARED: str = "Compared with what?"


@dataclass(frozen=True, slots=True)
class ResultTab:
    """A picture of results.

    Attributes:
        id: of the tab.
        title: on it.
        name: of the picture, for screen readers and files.
        teaching: what will be here and the one action that fills it.
        is_table: it opens as its data table.
        question: of a committee that it answers, "" for none.
    """

    id: str
    title: str
    name: str
    teaching: str = "Errors appear here with the first trial of a run."
    is_table: bool = False
    question: str = ""


@dataclass(frozen=True, slots=True)
class Results:
    """What a system shows of its runs.

    Attributes:
        tabs: its pictures.
        teaching: what a run shows, in a sentence or two, while there is none.
        reader: makes what reads them.
    """

    tabs: tuple[ResultTab, ...]
    teaching: str
    reader: Callable[[], RunReader]

    def stated_reader(self) -> RunReader:
        """Return a reader whose answers state the provenance of the data."""
        from phexplore.systems.run_results import StatedReader  # noqa: PLC0415 - the pages are declared before a run is read

        return StatedReader(self.reader())
