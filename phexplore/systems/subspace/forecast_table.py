"""The variances and margins of every release under subspace privacy as a table."""

from __future__ import annotations

from datetime import datetime

from phexplore.files.spreadsheet import csv_bytes
from phexplore.model.numbers import exact_text
from phexplore.model.scenario import Scenario
from phexplore.systems.subspace.forecast import forecast_subspace

_COLUMNS = ("RELEASE", "MECHANISM", "SHARE", "EPSILON", "DELTA", "EXACT_SUMS", "FIRST_ANSWER", "ANSWERS", "UNIT_VARIANCE",
            "VARIANCE", "MOE_EXACT", "MOE_NORMAL", "SQUARED_ERROR")  # fmt: skip


def forecast_csv(scenario: Scenario, _: Scenario | None = None, __: datetime | None = None) -> bytes:
    """Return a line per release and kind of answer: its variance and margins. RFC 4180, UTF-8."""
    lines = (
        [
            release.plan.name,
            release.plan.release.mechanism.value,
            exact_text(release.plan.release.share),
            exact_text(release.plan.epsilon),
            exact_text(release.plan.delta),
            release.plan.space.rank,
            kind.first,
            kind.answers,
            exact_text(kind.unit_variance),
            f"{kind.variance:.9g}",
            "" if kind.margins.exact is None else kind.margins.exact,
            f"{kind.margins.normal:.6f}",
            f"{release.squared_error:.9g}",
        ]
        for release in forecast_subspace(scenario.subspace, scenario.conventions).releases
        for kind in release.classes
    )
    return csv_bytes([_COLUMNS, *lines])
