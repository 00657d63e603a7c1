"""Hierarchical group sizes: how many groups of each size there are in every region."""

from __future__ import annotations

from phexplore.lazy import lazy
from phexplore.model.group_sizes import GroupSizes
from phexplore.report.export_formats import ExportFormat, formats_by_id, parameters_json
from phexplore.systems.protocol import System
from phexplore.systems.result_tabs import COMPARED, HOW_FAR, WHERE, WHO, Results, ResultTab
from phexplore.systems.run_offer import RunOffer
from phexplore.systems.scenario_reports import PLAIN_REPORTS

_ROOM = "phexplore.systems.group_sizes"

GROUP_SIZES: System = System(
    id="group-sizes",
    manual="docs/group_sizes.md",
    counted=lambda _, __: "groups",
    title="Hierarchical group sizes",
    summary="How many groups of each size there are in every region: the alternative of Fioretto, Van Hentenryck and Zhu, "
    "consistent by optimisation.",
    parameters=GroupSizes,
    presets=lazy(f"{_ROOM}.presets", "group_sizes_presets"),
    check=lazy(f"{_ROOM}.check", "check_group_sizes"),
    absurd_values=lazy(f"{_ROOM}.forecast", "absurd_values"),
    loss=lazy(f"{_ROOM}.forecast", "loss"),
    forecast=lazy(f"{_ROOM}.forecast", "forecast"),
    forecast_json=lazy(f"{_ROOM}.forecast_output", "forecast_json"),
    print_forecast=lazy(f"{_ROOM}.forecast_output", "print_forecast"),
    commands=lazy(f"{_ROOM}.commands", "register"),
    simulate=lazy(f"{_ROOM}.simulation", "make_simulation"),
    figures=lazy(f"{_ROOM}.figures", "scenario_figures"),
    formats=formats_by_id(
        parameters_json("group-sizes-json", "group-sizes.json"),
        ExportFormat(
            "csv",
            ".csv",
            "Parameters and margins, CSV",
            lazy(f"{_ROOM}.forecast_output", "forecast_csv"),
            "parameters-group-sizes.csv",
        ),
        *PLAIN_REPORTS,
    ),
    results=Results(
        tabs=(
            ResultTab("errors", "Errors", "Errors of the run", question=HOW_FAR),
            ResultTab("truth", "Against true size", "Errors against true size", question=WHERE),
            ResultTab("sizes", "By group size", "Errors by group size", question=WHO),
            ResultTab("shape", "Distribution", "Distribution of errors", question=COMPARED),
            ResultTab("promises", "Consistency", "Consistency checks"),
        ),
        teaching="A run shows how far released numbers of groups are from the true ones, level by level and size by size, and "
        "counts the sums that break. Start one on the page of runs.",
        reader=lazy(f"{_ROOM}.run_reader", "size_run_reader"),
    ),
    report=lazy(f"{_ROOM}.run_document", "run_report"),
    may_be_unfinished=True,
    own_data=lazy(f"{_ROOM}.simulation", "own_data"),
    experiments=lazy(f"{_ROOM}.experiment_pictures", "experiments"),
    room=lazy("phexplore.gui.systems.group_sizes.room", "GroupSizesRoom"),
    runs=RunOffer(
        title="Start a run of group sizes",
        shipped={"demo": "Households of 2010, 3,107 counties"},
        data="households of counties, persons, or sizes; .csv",
    ),
)
