"""Subspace parameters for others: the exact JSON that the program reads back, and a table of what they give."""

from __future__ import annotations

import io
import json

from phexplore.accuracy.subspace_forecast import forecast_subspace
from phexplore.errors import UnknownNameError
from phexplore.files.scenario_json import encode_scenario
from phexplore.files.spreadsheet import GuardedWriter
from phexplore.model.numbers import exact_text
from phexplore.model.scenario import Scenario

JSON_FORMAT = "subspace-json"
FORMATS = {JSON_FORMAT: ".json", "csv": ".csv"}


def export_subspace(scenario: Scenario, form: str) -> bytes:
    """Return a scenario in a format.

    Raises:
        UnknownNameError: no such format.
    """
    match form:
        case "subspace-json":
            return (json.dumps(encode_scenario(scenario), indent=1, ensure_ascii=False) + "\n").encode()
        case "csv":
            return _table(scenario)
        case _:
            raise UnknownNameError("format", form, list(FORMATS))


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
