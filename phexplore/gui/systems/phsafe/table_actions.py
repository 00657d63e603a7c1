"""Actions of the S-DHC's budget table: search, sums, the picture beside it, margin conventions side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from phexplore.gui.binding.actions import Action
from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.settings import PICTURE

if TYPE_CHECKING:
    from phexplore.gui.systems.phsafe.budgets_page import BudgetsPage
    from phexplore.gui.systems.plain_room import PlainRoom


def table_actions(
    room: PlainRoom, made: Callable[[], BudgetsPage | None], page: Callable[[], BudgetsPage]
) -> list[tuple[str, Action]]:
    """Return the actions, each with the id of the action it stands behind in the menu.

    Args:
        room: of the S-DHC.
        made: the page of the table, None before its first use.
        page: the page, made on first use.
    """
    settings = room.around.settings

    def is_active() -> bool:
        return room.session.is_active

    def find() -> None:
        room.wanted.emit(Area.BUDGETS)
        page().editor.search.setFocus()
        page().editor.search.selectAll()

    def show_sum() -> None:
        from phexplore.gui.systems.phsafe.sum_dialog import SumDialog

        SumDialog(room.around.window, room.session).show()

    def turn_picture() -> None:
        settings.keep(PICTURE, not settings.read(PICTURE))
        page().make_room()

    def show_conventions() -> None:
        room.wanted.emit(Area.BUDGETS)
        page().editor.side_by_side.toggle()

    return [
        (
            "edit.fill-down",
            Action("edit.find", "&Search the table", find, "Ctrl+F", is_active, symbol="search", starts_part=True),
        ),
        ("edit.find", Action("edit.sum", "&Margin of a sum…", show_sum, "Ctrl+M", is_active, symbol="sum")),
        (
            "view.issues",
            Action(
                "view.picture",
                "&Picture beside the budget table",
                turn_picture,
                enabled=is_active,
                checked=lambda: settings.read(PICTURE),
            ),
        ),
        (
            "view.picture",
            Action(
                "view.conventions",
                "Margin &conventions side by side",
                show_conventions,
                enabled=is_active,
                checked=lambda: made() is not None and page().editor.side_by_side.isChecked(),
            ),
        ),
    ]
