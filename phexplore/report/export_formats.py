"""The formats that parameters and their figures are written in. Listing them loads nothing heavy; each loads what it needs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phexplore.model.approval import Decision
    from phexplore.model.scenario import Scenario

Write = Callable[..., bytes]
"""Scenario, what it is compared with, and the time printed, to bytes; the same values give the same bytes. A report takes an
`Occasion` too."""
Tell = Callable[[int, int, str], object]
"""Takes the number of the step that begins, how many there are, and what it does."""
STEP = "Step "
"""Begins the line of a step among the messages of a command."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """What a report says beside the parameters, and who hears how far it is.

    Attributes:
        decisions: about these parameters, oldest first.
        tell: called when a step begins.
    """

    decisions: tuple[Decision, ...] = ()
    tell: Tell = lambda _number, _steps, _sentence: None


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format that parameters and their figures are written in.

    Attributes:
        id: as ``phexplore export --format`` takes it.
        suffix: of the file, with its dot.
        title: for people.
        write: see `Write`.
        file_name: proposed in dialogs; "" for ``parameters-``, the id and the suffix.
        is_report: whether it is a document with pictures, which says who decided and takes seconds.
    """

    id: str
    suffix: str
    title: str
    write: Write
    file_name: str = ""
    is_report: bool = False


def formats_by_id(*formats: ExportFormat) -> Mapping[str, ExportFormat]:
    """Return formats by their id, in the order people see them."""
    return MappingProxyType({each.id: each for each in formats})


def parameters_json(form: str, file_name: str) -> ExportFormat:
    """Return the format of exact parameters that the program reads back.

    Args:
        form: its id.
        file_name: proposed in dialogs.
    """
    return ExportFormat(form, ".json", "Parameters, JSON", _exact_json, file_name)


def _exact_json(scenario: Scenario, _: Scenario | None, __: datetime) -> bytes:
    from phexplore.files.scenario_json import encode_scenario  # noqa: PLC0415 - listing the formats needs no codec

    return (json.dumps(encode_scenario(scenario), indent=1, ensure_ascii=False) + "\n").encode()
