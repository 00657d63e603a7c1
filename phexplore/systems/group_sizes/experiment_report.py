"""The experiment on group sizes for people: our table beside the published one, pictures, and what differs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from phexplore import __version__
from phexplore.figures.to_matplotlib import chart_of
from phexplore.files.spreadsheet import csv_bytes
from phexplore.model.moments import zoned_text
from phexplore.report.document import Column, Document, Part, TableView, Tile, figures, heading, table_of
from phexplore.report.provenance import Section
from phexplore.systems.group_sizes.experiment_pictures import experiment_pictures

Content = Mapping[str, Any]

_ABOUT = (
    "L1 errors in thousands of groups: mean over {trials} releases (standard deviation, SD), next to the values of Table 7. "
    "Violations: regions and sizes whose subregions do not add up."
)


def experiment_csv(content: Content) -> bytes:
    """Return a line per data, ε and mechanism: ours with standard deviations, and the published figures. RFC 4180, UTF-8."""
    head = ["DATA", "EPSILON", "MECHANISM", "LABEL", "KEEPS_BUDGET", "SPENDS", "TRIALS"]
    for level in (1, 2, 3):
        head += [f"L1_LEVEL_{level}", f"L1_LEVEL_{level}_SD", f"PUBLISHED_LEVEL_{level}"]
    lines = [[*head, "VIOLATIONS", "VIOLATIONS_SD", "PUBLISHED_VIOLATIONS", "SECONDS", "SECONDS_SD"]]
    for row in content["rows"]:
        printed = row["published"]
        line = [
            row["data"],
            row["epsilon"],
            row["variant"],
            row["label"],
            "yes" if row["keeps_budget"] else "no",
            row["spends"],
            content["trials"],
        ]
        for place, level in enumerate(row["l1"][:3]):
            line += [_plain(level["mean"]), _plain(level["sd"]), "" if printed is None else printed["l1"][place]]
        line += [""] * (3 * (3 - len(row["l1"])))
        line += [_plain(row["violations"]["mean"]), _plain(row["violations"]["sd"])]
        line += ["" if printed is None else printed["violations"]]
        lines.append([*line, _plain(row["seconds"]["mean"]), _plain(row["seconds"]["sd"])])
    return csv_bytes(lines)


def _plain(value: float | None) -> str:
    return "" if value is None else f"{value:.6f}"


def experiment_document(content: Content, now: datetime) -> Document:
    """Return the report of an experiment.

    Args:
        content: what the experiment found.
        now: printed in the report, with its zone.
    """
    trials = content["trials"]
    parts = [
        Part(
            "tables",
            "Errors and violations, ours and published",
            (_ABOUT.format(trials=trials),),
            tables=tuple(_table(content, data) for data in content["data"]),
        ),
        Part("pictures", "Pictures", charts=tuple(chart_of(each.content) for each in experiment_pictures(content))),
        Part(
            "differences",
            "What differs from the paper",
            findings=tuple(
                sentence for data in content["data"] for sentence in (*data["remarks"], *data["differences"])
            ),
        ),
        Part(
            "made",
            "How it was made",
            sections=(Section("Experiment", (("Seed", str(content["seed"])), ("Releases", str(trials)))),),
        ),
    ]
    broken = [row for row in content["rows"] if not row["keeps_budget"]]
    tiles = [
        Tile("Releases of each row", str(trials), "noise of a seed; none of them may be published"),
        Tile("Data", str(len(content["data"])), ", ".join(data["title"] for data in content["data"])),
    ]
    if broken:
        worst = max(broken, key=lambda row: float(_fraction(row["spends"])))
        tiles.append(
            Tile(
                "The paper's chain",
                f"ε = {float(_fraction(worst['spends'])):,.0f}",
                f"is what its noise costs where it declares {worst['epsilon']}: one individual changes a place per region",
                attention=True,
            )
        )
    return Document(
        title="Hierarchical group sizes: the paper's experiment",
        subtitle="Every mechanism beside the published table",
        colophon=f"{zoned_text(now)} · phexplore {__version__}",
        tiles=tuple(tiles),
        parts=tuple(parts),
        made=now.isoformat(timespec="seconds"),
        keywords=("group sizes", "differential privacy", "reproduction"),
    )


def _fraction(text: str) -> float:
    numerator, _, denominator = text.partition("/")
    return float(numerator) / float(denominator or 1)


def _table(content: Content, data: Content) -> TableView:
    def published(row: Content, name: str, place: int | None = None) -> Any:
        value = None if row["published"] is None else row["published"][name]
        return value if value is None or place is None else value[place]

    def level_columns(place: int, name: str) -> tuple[Column[Content], ...]:
        return (
            figures(name, lambda row: _spread(row["l1"][place])),
            figures("published", lambda row: published(row, "l1", place), 1),
        )

    columns: tuple[Column[Content], ...] = (
        heading("ε", lambda row: row["epsilon"]),
        heading("Mechanism", lambda row: row["label"]),
        *(column for place, level in enumerate(data["levels"]) for column in level_columns(place, level["level"])),
        figures("Viola-\ntions", lambda row: row["violations"]["mean"]),
        figures("published", lambda row: published(row, "violations")),
        figures("Seconds", lambda row: row["seconds"]["mean"], 2),
        figures(
            "costs\nin truth",
            lambda row: row["epsilon"] if row["keeps_budget"] else f"{_fraction(row['spends']):,.1f}",
            attention=lambda row: not row["keeps_budget"],
        ),
    )
    note = "The row whose true cost exceeds ε is there for comparison with the paper only; a run refuses its noise."
    rows = [row for row in content["rows"] if row["data"] == data["id"]]
    return table_of(f"errors-{data['id']}", f"{data['title']}: {data['groups']:,} groups", columns, rows, note)


def _spread(moments: Content) -> str:
    return f"{moments['mean']:,.2f}" + ("" if moments["sd"] is None else f" (SD {moments['sd']:,.2f})")
