"""Extreme numbers typed into every field of every page: refused with a sentence, or kept, saved, reopened and painted."""

from __future__ import annotations

import pytest
from extreme_numbers import extreme_numbers
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTableView

from phexplore.document.project import Project
from phexplore.gui.binding.areas import Area
from phexplore.gui.main.project_files import project_of
from phexplore.gui.main.window import MainWindow
from phexplore.gui.widgets.exact_field import ExactField
from phexplore.systems.registry import preset

SYSTEMS = ("sdhc-2020-us", "pl94-2020-persons-us", "group-sizes-census-2010", "counties-invariant-2010")
_EDITING = (Area.BUDGETS, Area.LEVELS, Area.TARGETS, Area.SCENARIO)


@pytest.fixture
def window_of(qtbot, settings, tmp_path):
    def make(name):
        found = MainWindow(project_of(preset(name)), settings, tmp_path / "runs")
        qtbot.addWidget(found, before_close_func=lambda w: setattr(w, "_leaves_without_asking", True))
        found.show()
        qtbot.waitExposed(found)
        return found

    return make


@pytest.mark.defect("F4")
@pytest.mark.parametrize("name", SYSTEMS)
def test_that_fields_refuse_extreme_numbers_or_keep_them(qtbot, window_of, tmp_path, name):
    window = window_of(name)
    session = window.session
    numbers = list(extreme_numbers(10))
    session.project.save(tmp_path / "a.phx")
    tried: dict[ExactField, int] = {}
    for area in (area for area in _EDITING if area in window.navigation.offered):
        window.navigation.choose(area)
        for field in window.findChildren(ExactField):
            if field.isVisible() and field.isEnabled() and field not in tried:
                texts = numbers[len(tried) % 3 :: 3]
                tried[field] = sum(_refused(session, lambda x=x, take=field._take: bool(take(x))) for x in texts)
        window.grab()
    assert len(tried) >= 3
    assert all(tried.values())
    session.project.save()
    kept = session.project.workbook, session.project.labels
    session.project.flush()
    again = Project.salvage(tmp_path / "a.phx")
    assert (again.workbook, again.labels, again.issues) == (*kept, ())


@pytest.mark.defect("F4")
@pytest.mark.parametrize("name", SYSTEMS[:2])
def test_that_cells_refuse_extreme_numbers_or_keep_them(qtbot, window_of, tmp_path, name):
    window = window_of(name)
    session = window.session
    numbers = list(extreme_numbers(10))
    session.project.save(tmp_path / "a.phx")
    refused = []
    for area in (Area.BUDGETS, Area.LEVELS):
        window.navigation.choose(area)
        for table in window.findChildren(QTableView):
            model = table.model()
            cells = [] if model is None else [model.index(1, column) for column in range(model.columnCount())]
            for index in (cell for cell in cells if cell.flags() & Qt.ItemFlag.ItemIsEditable):
                refused += [_refused(session, lambda x=x, i=index: not i.model().setData(i, x)) for x in numbers]
        window.grab()
    assert 100 < sum(refused) < len(refused)
    session.project.save()
    assert Project.salvage(tmp_path / "a.phx").workbook == session.project.workbook


def _refused(session, offer) -> bool:
    """Offer a text and return whether it was refused; a refusal leaves everything as it was."""
    before = session.project.workbook, session.project.labels, session.project.cursor
    if offer():
        assert (session.project.workbook, session.project.labels, session.project.cursor) == before
        return True
    assert all(issue.sentence for issue in session.shown.issues)
    session.undo()
    return False
