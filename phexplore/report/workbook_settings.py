"""The words of the workbooks that committees edit, shared by all systems."""

from __future__ import annotations

LEVELS_SHEET, THRESHOLDS_SHEET, SETTINGS_SHEET = "Levels", "Thresholds", "Settings"
YES, NO = "yes", "no"
SETTING_HEADERS = ("Setting", "Value")
NAME, NOTE, BASELINE, FRAMEWORK, READER, STATES = (
    "Scenario", "Note", "Started from", "Privacy definition", "Reader", "States",
)  # fmt: skip
CONVENTION_KEYS = ("neighbours", "margin", "z", "confidence", "rounding", "rounding_step", "delta")
