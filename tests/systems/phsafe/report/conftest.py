"""Values the tests here share."""

from report_fixtures import run, run_figures, scenario, snapshot

__all__ = ["run", "run_figures", "scenario", "snapshot"]
