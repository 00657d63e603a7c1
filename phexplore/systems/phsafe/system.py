"""PHSafe for the S-DHC: household tables with truncation and noise on every number."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from phexplore.lazy import lazy
from phexplore.model.phsafe import PhSafe
from phexplore.model.scenario import Scenario
from phexplore.report.export_formats import ExportFormat, formats_by_id
from phexplore.runs.spec import RunMode
from phexplore.systems.protocol import Handover, ParameterFile, System
from phexplore.systems.result_tabs import COMPARED, HOW_FAR, WHERE, WHO, Results, ResultTab
from phexplore.systems.run_offer import RunOffer
from phexplore.systems.scenario_reports import report_formats

_ROOM = "phexplore.systems.phsafe"
_csv, _figures = lazy(f"{_ROOM}.table10", "table10_csv"), lazy(f"{_ROOM}.forecast", "forecast")
_pictures = lazy(f"{_ROOM}.scenario_document", "snapshot_figures")
_snapshot = lazy(f"{_ROOM}.snapshot", "scenario_snapshot")


def _shown(module: str, name: str) -> Callable[[Scenario, Scenario | None, datetime], Any]:
    """Return a function of a snapshot as one of a scenario, what it is compared with, and the time."""
    write = lazy(f"{_ROOM}.{module}", name)
    return lambda scenario, compared, now: write(_snapshot(scenario, now, compared))


PHSAFE: System = System(
    id="phsafe",
    manual="docs/sdhc.md",
    title="S-DHC (PHSafe)",
    summary="Household tables with truncation and noise on every number: what the Census Bureau ran for the S-DHC.",
    parameters=PhSafe,
    presets=lazy(f"{_ROOM}.presets", "phsafe_presets"),
    check=lazy(f"{_ROOM}.check", "check_phsafe"),
    absurd_values=lazy(f"{_ROOM}.shared", "absurd_values"),
    loss=lazy(f"{_ROOM}.shared", "loss"),
    forecast=lazy(f"{_ROOM}.shared", "forecast"),
    forecast_json=lazy(f"{_ROOM}.forecast_output", "forecast_json"),
    print_forecast=lazy(f"{_ROOM}.forecast_output", "print_forecast"),
    figures=lambda scenario, compared: _pictures(_snapshot(scenario, datetime.now(UTC), compared)),
    files=(
        ParameterFile("", lazy(f"{_ROOM}.config_file", "load_config")),
        ParameterFile(
            ".xlsx", lazy(f"{_ROOM}.workbook_read", "load_workbook"), lazy(f"{_ROOM}.workbook_read", "is_workbook")
        ),
    ),
    read_table=lazy(f"{_ROOM}.table10_read", "load_table"),
    commands=lazy(f"{_ROOM}.commands", "register"),
    simulate=lazy(f"{_ROOM}.simulation", "make_simulation"),
    formats=formats_by_id(
        ExportFormat(
            "csv", ".csv", "Parameters and margins, CSV", lambda scenario, _, __: _csv(scenario, _figures(scenario))
        ),
        ExportFormat("xlsx", ".xlsx", "Parameters and margins, workbook", _shown("table10_xlsx", "table10_xlsx")),
        *report_formats(
            _shown("scenario_document", "scenario_document"), _shown("scenario_document", "scenario_charts")
        ),
    ),
    report=lazy(f"{_ROOM}.run_document", "run_report"),
    results=Results(
        tabs=(
            ResultTab(
                "errors",
                "Errors",
                "Error distribution",
                "The errors of a simulated run appear here, with the exact distribution of the noise drawn over them. "
                "Start a run on the page Runs; the picture grows with every finished trial.",
                question=HOW_FAR,
            ),
            ResultTab(
                "worst",
                "Worst numbers",
                "Worst numbers",
                "The published numbers with the largest errors appear here, the worst first, each with its reason. "
                "Start a run on the page Runs.",
                is_table=True,
                question=WHERE,
            ),
            ResultTab(
                "number",
                "One number",
                "One number",
                "One published number appears here on its way from the true count over truncation to the measured counts. "
                "Choose a run, then table, region, group and cell above.",
            ),
            ResultTab(
                "truncation",
                "Truncation",
                "Truncation bias",
                "What the truncation thresholds cost appears here once a run has counted its data. Start a run on the page Runs.",
                question=WHO,
            ),
            ResultTab(
                "observed",
                "Observed margins",
                "Observed margins",
                "Observed margins of a simulated run appear here beside the expected ones. Start a run on the page Runs; "
                "the intervals shrink with every finished trial.",
                question=COMPARED,
            ),
        ),
        teaching="What a simulated run found appears here while it works: how often the margins held, how the errors are spread, "
        "what truncation costs, single numbers from truth to release, and the worst ones with their reason.",
        reader=lazy(f"{_ROOM}.run_reader", "PhSafeRunReader"),
    ),
    meeting=lazy(f"{_ROOM}.meeting", "meeting_parameters"),
    place_name=lazy(f"{_ROOM}.shared", "place_name"),
    budgets=lazy(f"{_ROOM}.budget_model", "PhSafeBudgets"),
    counted=lazy(f"{_ROOM}.budget_model", "counted_by"),
    handover=Handover(
        format="phsafe-config",
        title="Production config.json",
        file_name="config.json",
        write=lazy(f"{_ROOM}.handover", "write"),
        product=lambda _: "S-DHC (PHSafe)",
        files=lazy(f"{_ROOM}.handover", "files"),
        loss_detail=lambda scenario: f"{scenario.conventions.neighbours.value} neighbors",
        privacy=lazy(f"{_ROOM}.handover", "privacy"),
        budgets=lazy(f"{_ROOM}.handover", "budgets"),
        configuration=lazy(f"{_ROOM}.handover", "configuration"),
    ),
    studies=lazy(f"{_ROOM}.studies", "studies"),
    room=lazy("phexplore.gui.systems.phsafe.room", "PhSafeRoom"),
    is_ordinary=lazy(f"{_ROOM}.ordinary", "is_ordinary"),
    runs=RunOffer(
        shipped={"demo": "Synthetic demonstration: 51 states", "demo-pr": "Synthetic demonstration: Puerto Rico"},
        data="a folder with persons, units and geo, .csv or .parquet",
        kinds="",
        releases={
            RunMode.PRIVATE: "Each trial is a full simulated PHSafe release.",
            RunMode.NO_NOISE: "One exact pass: the truncated counts, what the noise would be added to.",
            RunMode.NON_PRIVATE: "One exact pass: production's counts without protection, totals too.",
        },
        trials=20,
        fewest=10,
    ),
)
