"""What can be done: an action of the menus, a line of the palette."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Action:
    """One thing the window can do.

    Attributes:
        id: short name; the part before the dot is the menu it is in.
        text: in menus.
        run: does it.
        shortcut: keys, "" for none.
        enabled: whether it can be done now.
        checked: whether it is ticked now; None for actions that are not a choice.
        symbol: its picture, "" for none.
        group: submenu it is in, "" for the menu itself.
        also: further keys for people who know them from elsewhere; the menu shows the first.
        is_local: its keys are handled by the widget with the focus; the menu only shows them.
        starts_part: a line is drawn above it.
        shown: whether it is listed at all.
        hint: the command line that does the same, "" for none.
    """

    id: str
    text: str
    run: Callable[[], object]
    shortcut: str = ""
    enabled: Callable[[], bool] = lambda: True
    checked: Callable[[], bool] | None = None
    symbol: str = ""
    group: str = ""
    also: str = ""
    is_local: bool = False
    starts_part: bool = False
    shown: Callable[[], bool] = lambda: True
    hint: Callable[[], str] = str

    @property
    def words(self) -> str:
        """Its text as it is read and spoken."""
        return self.text.replace("&", "").removesuffix("…")


@dataclass(frozen=True, slots=True)
class Offer:
    """One line of the palette.

    Attributes:
        words: what is read and searched.
        keys: its shortcut, "" for none.
        run: does it.
        hint: the command line that does the same, "" for none.
    """

    words: str
    keys: str
    run: Callable[[], object]
    hint: str = ""
