from __future__ import annotations

from phexplore.model.goals import Goals
from phexplore.model.workbook import Workbook


def test_that_equal_workbooks_hash_alike(us) -> None:
    first = Workbook((us,), us.name, goals={"phsafe": Goals()})
    again = Workbook((us,), us.name, goals={"phsafe": Goals()})
    assert first == again
    assert len({first, again, Workbook((us,), us.name)}) == 2
