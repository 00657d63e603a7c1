from __future__ import annotations

import pytest

from phexplore.gui.systems.phsafe.budgets_page import BudgetsEditor


@pytest.fixture
def editor(qtbot, session):
    found = BudgetsEditor(session)
    qtbot.addWidget(found)
    found.resize(1000, 700)
    found.show()
    qtbot.waitExposed(found)
    return found
