"""Texts of people in the window: what is painted, told at the pointer and spoken is what they typed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import product

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QLabel,
    QLineEdit,
    QListView,
    QPlainTextEdit,
    QWidget,
)

from phexplore.catalog.names import Naming
from phexplore.decide.approving import decision_about
from phexplore.document.project import Project
from phexplore.gui.main.window import MainWindow
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.depth import Depth
from phexplore.gui.theme.number_style import NumberStyle, localised
from phexplore.model.approval import Status
from phexplore.model.comment import Comment
from phexplore.model.workbook import Workbook, activate, add_scenario
from phexplore.systems.registry import preset
from tests.gui.main.test_no_codes import places
from tests.test_texts_of_people import TEXTS, lost_in

ROLES = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole)
ENTRIES = ("scenario", "author", "comment", "decides", "role", "reason")


def _of(entry):
    """Return the texts of an entry: no two entries have one in common."""
    return tuple(f"{text} ({entry})" for text in TEXTS)


def _painted(data):
    """Return the text of a cell as a delegate draws it."""
    return localised(data) if isinstance(data, str) else data


def shown_by(window):
    """Return everything that the visible parts of a window show and say."""
    found = set()
    for part in (window, *window.findChildren(QWidget)):
        if not part.isVisible():
            continue
        spoken = QAccessible.queryAccessibleInterface(part)
        found |= {part.toolTip(), part.accessibleName(), part.accessibleDescription(), part.windowTitle()}
        found |= {spoken.text(QAccessible.Text.Name)} if spoken is not None else set()
        if isinstance(part, QLabel | QAbstractButton | QLineEdit):
            found.add(part.text())
        elif isinstance(part, QPlainTextEdit):
            found.add(part.toPlainText())
        elif isinstance(part, QComboBox):
            found |= {part.itemText(number) for number in range(part.count())}
        elif isinstance(part, QAbstractItemView) and (model := part.model()) is not None:
            for row, place in product(
                range(model.rowCount()), range(1 if isinstance(part, QListView) else model.columnCount())
            ):
                found |= {_painted(model.index(row, place).data(role)) for role in ROLES}
    return {text for text in found if isinstance(text, str)}


@pytest.fixture
def window_of_texts(qtbot, settings, tmp_path):
    said = tuple(
        Comment(*each, "2026-07-01T12:00:00+00:00") for each in zip(_of("comment"), _of("author"), strict=True)
    )
    first = replace(preset("counties-invariant-2010").scenario, name=_of("scenario")[0], note=TEXTS[0], comments=said)
    project = Project.new(Workbook((first,), first.name))
    for name in _of("scenario")[1:]:
        project.edit_workbook(
            f"Duplicate {name}", lambda book, name=name: add_scenario(book, replace(first, name=name, comments=()))
        )
    project.edit_workbook("Work on the first", lambda book: activate(book, first.name))
    project.save(tmp_path / "MOE memo of State 44.phx")
    for number, (who, role, note) in enumerate(zip(_of("decides"), _of("role"), _of("reason"), strict=True)):
        made = decision_about(
            first, Status.RECOMMENDED, who=who, role=role, note=note, now=datetime(2026, 7, 1, tzinfo=UTC)
        )
        project.decide(replace(made, fingerprint=f"{number:064x}"))  # each about other parameters
    window = MainWindow(project, settings, tmp_path / "runs")
    qtbot.addWidget(window, before_close_func=lambda shown: setattr(shown, "_leaves_without_asking", True))
    window.resize(1400, 900)
    window.show()
    qtbot.waitExposed(window)
    return window


def collected(window):
    found = set()
    for _ in places(window):
        found |= shown_by(window)
    return "\n".join(found)


@pytest.mark.parametrize("style", [NumberStyle.POINT, NumberStyle.COMMA])
def test_that_every_text_of_people_is_on_some_page_as_it_was_typed(window_of_texts, style) -> None:
    look, found = appearance(), {}
    try:
        look.write_numbers(style)
        for naming, depth in product(Naming, Depth):
            look.call_things(naming)
            look.show_depth(depth)
            shown = collected(window_of_texts)
            found |= {(naming, depth, entry): lost for entry in ENTRIES if (lost := lost_in(shown, _of(entry)))}
            assert "MOE memo of State 44.phx" in shown
            assert not lost_in(shown, TEXTS[:1]), "the note"
    finally:
        look.write_numbers(NumberStyle.SYSTEM)
    assert found == {}
