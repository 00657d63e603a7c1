"""Run directories written by hand, and worker processes that only pretend."""

from run_pages import pretence, run_data, write_run

__all__ = ["pretence", "run_data", "write_run"]
