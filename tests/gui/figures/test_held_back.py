"""Pictures of exact counts are looked at, not copied or saved."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QGuiApplication

from phexplore.gui.figures.sheet import PictureError
from phexplore.gui.figures.view import FigureView
from phexplore.model.conventions import Conventions
from phexplore.model.phsafe import PrivacyFramework
from phexplore.runs.disclosure import HELD_BACK
from phexplore.systems.phsafe.threshold_figure import threshold_figure
from phexplore.systems.phsafe.truncation_study import HouseholdSizes, study


@pytest.mark.defect("F6")
def test_that_neither_picture_nor_numbers_leave_what_is_held_back(qtbot, tmp_path) -> None:
    chart = FigureView("Truncation thresholds", "x")
    qtbot.addWidget(chart)
    found = study(HouseholdSizes({1: 10, 3: 4}), PrivacyFramework.ZCDP, Conventions(), budget=1)
    chart.show_figure(threshold_figure(found, "PH7", 2))
    clipboard = QGuiApplication.clipboard()
    clipboard.setText("before")
    chart.hold_back(HELD_BACK)
    chart.show_figure(threshold_figure(found, "PH7", 2))
    chart.menu.copy_numbers()
    chart.menu.copy_picture()
    chart.table.copy()
    assert clipboard.text() == "before"
    assert not chart._copy_button.isEnabled()
    assert chart._copy_button.toolTip() == HELD_BACK
    with pytest.raises(PictureError, match="treated as confidential"):
        chart.menu.save_picture(tmp_path / "a.png")
    assert not list(tmp_path.iterdir())
    chart.hold_back("")
    chart.menu.copy_numbers()
    assert "RMSE" in clipboard.text()
    assert chart._copy_button.isEnabled()
