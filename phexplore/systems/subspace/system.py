"""Subspace differential privacy: chosen totals exactly as counted, everything else with noise that never breaks them."""

from __future__ import annotations

from phexplore.lazy import lazy
from phexplore.model.subspace import Subspace
from phexplore.report.export_formats import ExportFormat, formats_by_id, parameters_json
from phexplore.systems.protocol import System
from phexplore.systems.result_tabs import COMPARED, HOW_FAR, WHERE, Results, ResultTab
from phexplore.systems.run_offer import RunOffer
from phexplore.systems.scenario_reports import PLAIN_REPORTS

_ROOM = "phexplore.systems.subspace"

SUBSPACE: System = System(
    id="subspace",
    manual="docs/subspace.md",
    title="Subspace differential privacy",
    summary="Chosen totals exactly as counted, everything else with noise that never breaks them: the alternative of Gao, Gong "
    "and Yu.",
    parameters=Subspace,
    presets=lazy(f"{_ROOM}.presets", "subspace_presets"),
    check=lazy(f"{_ROOM}.check", "check_scenario"),
    absurd_values=lazy(f"{_ROOM}.forecast", "absurd_values"),
    loss=lazy(f"{_ROOM}.forecast", "loss"),
    forecast=lazy(f"{_ROOM}.forecast", "forecast"),
    forecast_json=lazy(f"{_ROOM}.forecast_output", "forecast_json"),
    print_forecast=lazy(f"{_ROOM}.forecast_output", "print_forecast"),
    commands=lazy(f"{_ROOM}.commands", "register"),
    simulate=lazy(f"{_ROOM}.simulation", "make_simulation"),
    figures=lazy(f"{_ROOM}.figures", "scenario_figures"),
    formats=formats_by_id(
        parameters_json("subspace-json", "subspace.json"),
        ExportFormat(
            "csv",
            ".csv",
            "Parameters and margins, CSV",
            lazy(f"{_ROOM}.forecast_output", "forecast_csv"),
            "parameters-subspace.csv",
        ),
        *PLAIN_REPORTS,
    ),
    results=Results(
        tabs=(
            ResultTab("errors", "Errors", "Errors of the run", question=HOW_FAR),
            ResultTab("truth", "Against true size", "Errors against true size", question=WHERE),
            ResultTab("shape", "Distribution", "Distribution of errors", question=COMPARED),
            ResultTab("promises", "Consistency", "Consistency checks"),
        ),
        teaching="A run shows the errors of every answer against its true size, and checks every exact sum to the last bit. Start "
        "one on the page of runs.",
        reader=lazy(f"{_ROOM}.run_reader", "release_run_reader"),
    ),
    report=lazy(f"{_ROOM}.run_document", "run_report"),
    may_be_unfinished=True,
    own_data=lazy(f"{_ROOM}.simulation", "own_data"),
    experiments=lazy(f"{_ROOM}.experiment_pictures", "experiments"),
    room=lazy("phexplore.gui.systems.subspace.room", "SubspaceRoom"),
    runs=RunOffer(
        title="Start a run under exact sums",
        shipped={"demo": "102 counties of Illinois"},
        data="a table with a column per axis and count; .csv",
    ),
)
