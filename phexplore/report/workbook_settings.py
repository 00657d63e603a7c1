"""The words of the workbooks that committees edit, shared by all systems."""

from __future__ import annotations

from phexplore.model.conventions import Conventions
from phexplore.model.numbers import exact_text

LEVELS_SHEET, THRESHOLDS_SHEET, SETTINGS_SHEET = "Levels", "Thresholds", "Settings"
YES, NO = "yes", "no"
SETTING_HEADERS = ("Setting", "Value")
NAME, NOTE, BASELINE, FRAMEWORK, READER, STATES = (
    "Scenario", "Note", "Started from", "Privacy definition", "Reader", "States",
)  # fmt: skip
CONVENTION_KEYS = ("neighbours", "margin", "z", "confidence", "rounding", "rounding_step", "delta")


def convention_texts(conventions: Conventions) -> dict[str, str]:
    """Return the conventions by their name in a workbook."""
    return {
        "neighbours": conventions.neighbours.value,
        "margin": conventions.margin.value,
        "z": exact_text(conventions.z),
        "confidence": exact_text(conventions.confidence),
        "rounding": conventions.rounding.value,
        "rounding_step": exact_text(conventions.rounding_step),
        "delta": exact_text(conventions.delta),
    }
