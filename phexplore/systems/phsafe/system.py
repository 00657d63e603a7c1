"""PHSafe for the S-DHC: household tables with truncation and noise on every number."""

from __future__ import annotations

from phexplore.lazy import lazy
from phexplore.model.phsafe import PhSafe
from phexplore.systems.protocol import Handover, ParameterFile, System

_ROOM = "phexplore.systems.phsafe"

PHSAFE = System(
    id="phsafe",
    title="S-DHC (PHSafe)",
    summary="Household tables with truncation and noise on every number: what the Census Bureau ran for the S-DHC.",
    parameters=PhSafe,
    presets=lazy(f"{_ROOM}.presets", "phsafe_presets"),
    check=lazy(f"{_ROOM}.check", "check_phsafe"),
    absurd_values=lazy(f"{_ROOM}.absurd_values", "absurd_values"),
    loss=lazy(f"{_ROOM}.shared", "loss"),
    forecast=lazy(f"{_ROOM}.shared", "forecast"),
    forecast_json=lazy(f"{_ROOM}.shared", "forecast_json"),
    print_forecast=lazy(f"{_ROOM}.printing", "print_forecast"),
    files=(
        ParameterFile("", lazy(f"{_ROOM}.config_file", "load_config")),
        ParameterFile(
            ".xlsx", lazy(f"{_ROOM}.workbook_read", "load_workbook"), lazy(f"{_ROOM}.workbook_read", "is_workbook")
        ),
    ),
    read_table=lazy(f"{_ROOM}.table10_read", "load_table"),
    commands=lazy(f"{_ROOM}.commands", "register"),
    simulate=lazy(f"{_ROOM}.simulation", "make_simulation"),
    formats=lazy(f"{_ROOM}.exporters", "scenario_formats"),
    write_report=lazy(f"{_ROOM}.exporters", "write_report"),
    place_name=lazy(f"{_ROOM}.shared", "place_name"),
    budgets=lazy(f"{_ROOM}.budget_model", "PhSafeBudgets"),
    handover=Handover(
        format="phsafe-config",
        title="Production config.json",
        file_name="config.json",
        write=lazy(f"{_ROOM}.handover", "write"),
        product=lambda _: "S-DHC (PHSafe)",
        files=lazy(f"{_ROOM}.handover", "files"),
        loss_detail=lambda scenario: f"{scenario.conventions.neighbours.value} neighbours",
        privacy=lazy(f"{_ROOM}.handover", "privacy"),
        budgets=lazy(f"{_ROOM}.handover", "budgets"),
        configuration=lazy(f"{_ROOM}.handover", "configuration"),
    ),
)
