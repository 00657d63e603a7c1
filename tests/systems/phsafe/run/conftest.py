"""Values the tests here share."""

from run_fixtures import data, make_spec, run_directory, scenario, start, tabulated

__all__ = ["data", "make_spec", "run_directory", "scenario", "start", "tabulated"]
