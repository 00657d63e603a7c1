"""The words of the workbooks that committees edit, shared by all systems."""

from __future__ import annotations

from phexplore.model.conventions import Conventions
from phexplore.model.fields import declared_fields

LEVELS_SHEET, THRESHOLDS_SHEET, SETTINGS_SHEET = "Levels", "Thresholds", "Settings"
YES, NO = "yes", "no"
SETTING_HEADERS = ("Setting", "Value")
NAME, NOTE, BASELINE, FRAMEWORK, READER, STATES = (
    "Scenario", "Note", "Started from", "Privacy definition", "Reader", "States",
)  # fmt: skip
CONVENTION_KEYS = tuple(part.file_name for part in declared_fields(Conventions))
