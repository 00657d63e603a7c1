from __future__ import annotations

import pytest

from phexplore.gui.run_manager.run_controller import RunController


@pytest.fixture
def controller(qtbot, tmp_path):
    """The runs of a project, none yet."""
    found = RunController(tmp_path / "runs")
    qtbot.waitUntil(lambda: not found.is_busy)
    yield found
    found.shut_down()
