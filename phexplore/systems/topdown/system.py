"""TopDown: noisy histograms at every level of the geography, made consistent from the top."""

from __future__ import annotations

from phexplore.lazy import lazy
from phexplore.model.topdown import TopDown
from phexplore.report.export_formats import ExportFormat, formats_by_id
from phexplore.runs.place import cores
from phexplore.runs.spec import RunMode
from phexplore.systems.protocol import Handover, ParameterFile, System
from phexplore.systems.result_tabs import COMPARED, HOW_FAR, WHERE, WHO, Results, ResultTab
from phexplore.systems.run_offer import RunOffer
from phexplore.systems.scenario_reports import report_formats
from phexplore.systems.topdown.run_options import TopDownOptions

_ROOM = "phexplore.systems.topdown"
_shares = lazy(f"{_ROOM}.ini_strategy", "write_table")
_workbook = lazy(f"{_ROOM}.workbook", "topdown_xlsx")

TOPDOWN: System = System(
    id="topdown",
    manual="docs/topdown.md",
    title="TopDown",
    summary="Noisy histograms at every level of the geography, made consistent from the top: the production system of 2020.",
    parameters=TopDown,
    presets=lazy(f"{_ROOM}.presets", "topdown_presets"),
    check=lazy(f"{_ROOM}.check", "check_scenario"),
    absurd_values=lazy(f"{_ROOM}.shared", "absurd_values"),
    loss=lazy(f"{_ROOM}.shared", "loss"),
    forecast=lazy(f"{_ROOM}.shared", "forecast"),
    forecast_json=lazy(f"{_ROOM}.forecast_output", "forecast_json"),
    print_forecast=lazy(f"{_ROOM}.forecast_output", "print_forecast"),
    files=(
        ParameterFile(".ini", lazy(f"{_ROOM}.ini_reading", "load_ini")),
        ParameterFile(
            ".xlsx", lazy(f"{_ROOM}.workbook_read", "load_workbook"), lazy(f"{_ROOM}.workbook_read", "is_workbook")
        ),
    ),
    commands=lazy(f"{_ROOM}.commands", "register"),
    simulate=lazy(f"{_ROOM}.simulation", "make_simulation"),
    figures=lazy(f"{_ROOM}.scenario_document", "named_figures"),
    formats=formats_by_id(
        ExportFormat(
            "csv",
            ".csv",
            "Table of shares and budgets, CSV",
            lambda scenario, _, __: _shares(scenario.topdown).encode(),
        ),
        ExportFormat(
            "xlsx", ".xlsx", "Parameters and margins, workbook", lambda scenario, _, now: _workbook(scenario, now)
        ),
        *report_formats(
            lazy(f"{_ROOM}.scenario_document", "scenario_document"),
            lazy(f"{_ROOM}.scenario_document", "scenario_charts"),
        ),
    ),
    results=Results(
        tabs=(
            ResultTab("errors", "Errors by level", "Errors by level", question=HOW_FAR),
            ResultTab("shape", "Distribution", "Distribution of errors"),
            ResultTab("bias", "Bias by size", "Bias by true count"),
            ResultTab("worst", "Worst units", "Units farthest off", question=WHERE),
            ResultTab("place", "One place", "One place"),
            ResultTab("path", "Measurements", "Measurements of one place"),
            ResultTab("groups", "By group", "Errors by group", question=WHO),
            ResultTab("tables", "Tables", "Published tables", is_table=True),
            ResultTab("criterion", "Redistricting", "Redistricting criterion"),
            ResultTab("plausible", "Plausibility", "Checks of plausibility"),
            ResultTab("compare", "Compare runs", "Runs compared", question=COMPARED),
            ResultTab("map", "Map", "Map of errors"),
        ),
        teaching="A run shows how far published counts are from the true ones: by level, query and size, place by place, and "
        "whether redistricting could use them. Start one on the page of runs.",
        reader=lazy(f"{_ROOM}.run_reader", "TopDownRunReader"),
    ),
    report=lazy(f"{_ROOM}.run_document", "run_report"),
    has_geography=True,
    experiments=lazy(f"{_ROOM}.published_pictures", "experiments"),
    studies=lazy(f"{_ROOM}.studies", "studies"),
    run_options=TopDownOptions,
    complete_run=lazy(f"{_ROOM}.reprocessing", "complete_run"),
    meeting=lazy(f"{_ROOM}.meeting", "meeting_parameters"),
    place_name=lazy(f"{_ROOM}.wording", "place_name"),
    budgets=lazy(f"{_ROOM}.budget_model", "TopDownBudgets"),
    counted=lazy(f"{_ROOM}.budget_model", "counted_by"),
    solve_estimates=lazy(f"{_ROOM}.solving_estimates", "solve_estimates"),
    handover=Handover(
        format="das-ini",
        title="Production .ini files",
        file_name="das.ini",
        write=lazy(f"{_ROOM}.handover", "write"),
        product=lambda scenario: f"TopDown, schema {scenario.topdown.schema}",
        files=lazy(f"{_ROOM}.handover", "files"),
        loss_detail=lambda _: "replace one record",
        privacy=lazy(f"{_ROOM}.handover", "privacy"),
        budgets=lazy(f"{_ROOM}.handover", "budgets"),
        configuration=lazy(f"{_ROOM}.handover", "configuration"),
    ),
    room=lazy("phexplore.gui.systems.topdown.room", "TopDownRoom"),
    stop_words=lazy(f"{_ROOM}.stop_choices", "stop_words"),
    runs=RunOffer(
        title="Start a TopDown run",
        shipped={"demo": "Synthetic demonstration: 4,000 blocks"},
        data="a block file, or a folder with microdata of persons and units",
        kinds="Block data (*.csv *.csv.gz *.txt *.gz);;All files (*)",
        releases={
            RunMode.PRIVATE: "Each trial measures every level, then estimates and rounds every family.",
            RunMode.NO_NOISE: "One trial from exact measurements: the published counts equal the true ones where post-processing "
            "is right.",
        },
        trials=4,
        workers=cores(),
        fewest=5,
        metrics=lazy(f"{_ROOM}.stop_choices", "metrics"),
        places=lazy(f"{_ROOM}.stop_choices", "places"),
        refusal=lazy(f"{_ROOM}.reprocessing", "refusal"),
        can_be_read=lazy(f"{_ROOM}.reprocessing", "can_be_read"),
        burden=lazy(f"{_ROOM}.reprocessing", "burden"),
        reading="Post-processing alone, from noisy answers that were kept. Schema, levels, budgets and noise are those of that run; "
        "passes, invariants and constraints are this scenario's. It spends nothing.",
        shares_noise=True,
    ),
)
