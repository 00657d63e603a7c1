"""Subspace parameters for others: the exact JSON that the program reads back, and a table of what they give."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from types import MappingProxyType

from phexplore.files.scenario_json import encode_scenario
from phexplore.files.spreadsheet import GuardedWriter
from phexplore.lazy import lazy
from phexplore.model.numbers import exact_text
from phexplore.model.scenario import Scenario
from phexplore.systems.protocol import ExportFormat

JSON_FORMAT = "subspace-json"
forecast_subspace = lazy("phexplore.systems.subspace.forecast", "forecast_subspace")
"""Loads numpy: the table of formats is read when the window starts."""


def scenario_formats() -> Mapping[str, ExportFormat]:
    """Return the formats of a scenario by id."""
    formats = (
        ExportFormat(
            JSON_FORMAT, ".json", "Parameters, JSON", lambda scenario, _, __: _exact_json(scenario), "subspace.json"
        ),
        ExportFormat(
            "csv",
            ".csv",
            "Parameters and margins, CSV",
            lambda scenario, _, __: _table(scenario),
            "parameters-subspace.csv",
        ),
    )
    return MappingProxyType({each.id: each for each in formats})


def _exact_json(scenario: Scenario) -> bytes:
    return (json.dumps(encode_scenario(scenario), indent=1, ensure_ascii=False) + "\n").encode()


def _table(scenario: Scenario) -> bytes:
    figures = forecast_subspace(scenario.subspace, scenario.conventions)
    text = io.StringIO()
    writer = GuardedWriter(text)
    writer.writerow(
        [
            "RELEASE", "MECHANISM", "SHARE", "EPSILON", "DELTA", "EXACT_SUMS", "FIRST_ANSWER", "ANSWERS",
            "UNIT_VARIANCE", "VARIANCE", "MOE_EXACT", "MOE_NORMAL", "SQUARED_ERROR",
        ]
    )  # fmt: skip
    for release in figures.releases:
        plan = release.plan
        for kind in release.classes:
            writer.writerow(
                [
                    plan.name,
                    plan.release.mechanism.value,
                    exact_text(plan.release.share),
                    exact_text(plan.epsilon),
                    exact_text(plan.delta),
                    plan.space.rank,
                    kind.first,
                    kind.answers,
                    exact_text(kind.unit_variance),
                    f"{kind.variance:.9g}",
                    "" if kind.margins.exact is None else kind.margins.exact,
                    f"{kind.margins.normal:.6f}",
                    f"{release.squared_error:.9g}",
                ]
            )
    return text.getvalue().encode()
