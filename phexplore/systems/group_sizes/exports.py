"""Parameters of group sizes for others: the exact JSON that the program reads back, and a table of what they give."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from types import MappingProxyType

from phexplore.files.scenario_json import encode_scenario
from phexplore.files.spreadsheet import GuardedWriter
from phexplore.model.numbers import exact_text
from phexplore.model.scenario import Scenario
from phexplore.systems.group_sizes.forecast import forecast_group_sizes
from phexplore.systems.protocol import ExportFormat

JSON_FORMAT = "group-sizes-json"


def scenario_formats() -> Mapping[str, ExportFormat]:
    """Return the formats of a scenario by id."""
    formats = (
        ExportFormat(
            JSON_FORMAT, ".json", "Parameters, JSON", lambda scenario, _, __: _exact_json(scenario), "group-sizes.json"
        ),
        ExportFormat(
            "csv",
            ".csv",
            "Parameters and margins, CSV",
            lambda scenario, _, __: _table(scenario),
            "parameters-group-sizes.csv",
        ),
    )
    return MappingProxyType({each.id: each for each in formats})


def _exact_json(scenario: Scenario) -> bytes:
    return (json.dumps(encode_scenario(scenario), indent=1, ensure_ascii=False) + "\n").encode()


def _table(scenario: Scenario) -> bytes:
    method = scenario.group_sizes
    figures = forecast_group_sizes(method, scenario.conventions)
    text = io.StringIO()
    writer = GuardedWriter(text)
    writer.writerow(
        [
            "LEVEL", "REGIONS", "ANSWERS", "MECHANISM", "FRAMEWORK", "SHARE", "BUDGET", "SENSITIVITY", "NOISE", "SIGMA",
            "MOE_EXACT", "MOE_NORMAL", "ONE_SIZE_MOE_EXACT", "ONE_SIZE_MOE_NORMAL",
        ]
    )  # fmt: skip
    for level in figures.levels:
        writer.writerow(
            [
                level.level,
                level.regions,
                level.answers,
                method.mechanism.value,
                method.framework.value,
                exact_text(level.share),
                exact_text(level.budget),
                level.noise.sensitivity,
                level.noise.noise.name,
                f"{level.sigma:.9g}",
                level.answer_margins.exact,
                f"{level.answer_margins.normal:.6f}",
                level.size_margins.exact,
                f"{level.size_margins.normal:.6f}",
            ]
        )
    return text.getvalue().encode()
