"""Parameters of group sizes for others: the exact JSON that the program reads back, and a table of what they give."""

from __future__ import annotations

import io
import json

from phexplore.accuracy.group_sizes_forecast import forecast_group_sizes
from phexplore.errors import UnknownNameError
from phexplore.files.scenario_json import encode_scenario
from phexplore.files.spreadsheet import GuardedWriter
from phexplore.model.numbers import exact_text
from phexplore.model.scenario import Scenario

FORMATS = {"group-sizes-json": ".json", "csv": ".csv"}


def export_group_sizes(scenario: Scenario, form: str) -> bytes:
    """Return a scenario in a format.

    Raises:
        UnknownNameError: no such format.
    """
    match form:
        case "group-sizes-json":
            return (json.dumps(encode_scenario(scenario), indent=1, ensure_ascii=False) + "\n").encode()
        case "csv":
            return _table(scenario)
        case _:
            raise UnknownNameError("format", form, list(FORMATS))


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
