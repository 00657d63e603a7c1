"""What typing into the shares of TopDown means: what a cell starts with, why it refuses, and the step an entry asks for.

Args:
    cell: the share of a level or query group, with what follows from it.
    quantity: what the cells show, which says what is typed.
    shown: the version of the scenario, with the one it is compared with.
    method: the parameters, from which total and levels are taken.
    key: a level, or a query group at a level.
    keys: those that are locked or unlocked.
    level: the geographic level.
    typed: the entry as it was typed.
    share: the share as an exact fraction.
    measured: whether the query group is measured afterwards.
    locked: whether the shares are locked afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from phexplore.figures.wording import margin_word, parse_people
from phexplore.model.edits import set_item
from phexplore.model.numbers import exact_text, parse_exact
from phexplore.model.rounded import percent
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.systems.topdown.edits import add_query, remove_query, set_level_share, set_query_share
from phexplore.systems.topdown.share_cells import Key, Quantity, ShareCell, Version, canonical, cell_of, margin_of, text
from phexplore.systems.topdown.share_edits import level_share_for_budget, share_for_budget, share_for_margin
from phexplore.systems.topdown.wording import counted, place_title, share_exact
from phexplore.workload.queries import catalogue
from phexplore.workload.schema import load_schema

Edit = Callable[[Scenario], Scenario]
Step = tuple[str, Edit]
"""Name of a step of the history, and its edit."""

RULE = (
    "The unlocked shares of the column keep their proportions and share what is left, in millionths; the largest takes "
    "the remainder, so that the column adds to exactly 1."
)
"""The rule of rebalancing, as it stands beside the table."""

TYPED = frozenset({Quantity.SHARE, Quantity.FRACTION, Quantity.BUDGET, Quantity.MARGIN})
"""Quantities that can be typed; noise follows from them."""


def offered_queries(method: TopDown) -> tuple[str, ...]:
    """Return the query groups of the catalogue that are measured nowhere."""
    known = {canonical(method.schema, key.query) for key in method.query_shares}
    return tuple(query.name for query in catalogue(load_schema(method.schema)) if query.name not in known)


def begun(cell: ShareCell, quantity: Quantity, shown: Version) -> str:
    """Return what an editor starts with: exact, but rounded as shown where only a fraction is exact and fractions are not shown."""
    found = exact(cell, quantity, shown)
    return text(cell, quantity, shown) if "/" in found and quantity is not Quantity.FRACTION else found


def exact(cell: ShareCell, quantity: Quantity, shown: Version) -> str:
    """Return what a copy carries."""
    if cell.share is None:
        return ""
    match quantity:
        case Quantity.SHARE:
            return exact_percent(cell.share)
        case Quantity.FRACTION:
            return share_exact(cell.share)
        case Quantity.OF_TOTAL:
            return exact_percent(cell.of_total)
        case Quantity.BUDGET:
            return exact_text(cell.budget)
        case Quantity.SIGMA:
            found = "" if cell.entry is None or cell.entry.sigma is None else repr(cell.entry.sigma)
        case Quantity.MARGIN:
            margin = margin_of(cell, shown)
            found = "" if margin is None else f"{margin:g}"
    return found


def heading(quantity: Quantity, shown: Version) -> str:
    """Return what the cells mean, with the unit."""
    method, conventions = shown.scenario.topdown, shown.scenario.conventions
    symbol = method.framework.symbol
    match quantity:
        case Quantity.SHARE | Quantity.FRACTION:
            return f"share of the level's {symbol}"
        case Quantity.OF_TOTAL:
            return f"share of the whole {symbol}"
        case Quantity.BUDGET:
            return symbol
        case Quantity.SIGMA:
            return f"σ of one answer, {counted(method.schema)}"
        case Quantity.MARGIN:
            words = f"{percent(conventions.confidence, places=None)}, {margin_word(conventions.margin)}"
            return f"margin of one answer, {counted(method.schema)} ({words})"


def forbidden(cell: ShareCell, quantity: Quantity) -> str:
    """Return why a cell cannot be typed into, "" when it can."""
    if quantity not in TYPED:
        return "It follows from the shares: show shares, budgets or margins to edit."
    if cell.is_locked:
        return "Locked: unlock it first."
    if quantity is Quantity.MARGIN and isinstance(cell.key, str):
        return "A level has no margin of its own: its queries have."
    return ""


def exact_percent(share: Fraction) -> str:
    """Return a share as a percentage that reads back exactly, as a fraction where no decimal number is exact."""
    percentage = exact_text(100 * share)
    return share_exact(share) if "/" in percentage else f"{percentage} %"


def parse_share(typed: str, quantity: Quantity) -> Fraction:
    """Read a share; what a bare number means depends on the column alone, never on its size.

    Where the column shows percentages, every bare number is a percentage: ``25``, ``0.5`` and ``1`` are 25 %, 0.5 % and
    1 %. Elsewhere it is a share. A percent sign or a fraction such as ``3773/4097`` means the same in both.

    Raises:
        ValueError: the text is no number, or the share is not between 0 and 1.
    """
    share = parse_exact(typed)
    if quantity is Quantity.SHARE and "%" not in typed and "/" not in typed:
        share /= 100
    if not 0 <= share <= 1:
        raise ValueError(f"a share must be between 0 % and 100 %, which is 0 to 1 (got {typed.strip()})")
    return share


def edit_of(cell: ShareCell, quantity: Quantity, typed: str, shown: Version) -> Step:
    """Return name and edit of what was typed into a cell.

    Args:
        cell: what is typed into.
        quantity: what the cells show, which says what is typed.
        typed: as it was typed.
        shown: the version.

    Raises:
        ValueError: not a legal number.
        PhexploreError: it cannot be reached.
    """
    if reason := forbidden(cell, quantity):
        raise ValueError(reason.rstrip("."))
    method, key = shown.scenario.topdown, cell.key
    share = share_of(key, quantity, typed, shown, method)
    sign = " %" if quantity is Quantity.SHARE and not {"%", "/"} & set(typed) else ""
    label = f"Set the share of {place_title(key)} to {typed.strip()}{sign}"
    if quantity is Quantity.BUDGET:
        label = f"Give {place_title(key)} {method.framework.symbol} {typed.strip()}"
    elif quantity is Quantity.MARGIN:
        label = f"Set the margin of {place_title(key)} to {exact_text(_margin(typed))} {counted(method.schema)}"
    return label, share_edit(shown, key, share)


def share_of(key: Key, quantity: Quantity, typed: str, shown: Version, method: TopDown) -> Fraction:
    """Return the share that gives a typed quantity, with total and levels of a method."""
    if quantity is Quantity.BUDGET:
        budget = parse_exact(typed)
        if isinstance(key, LevelQuery):
            return share_for_budget(method, key, budget)
        return level_share_for_budget(method, budget)
    if quantity is Quantity.MARGIN and isinstance(key, LevelQuery):
        return share_for_margin(method, key, _margin(typed), shown.scenario.conventions)
    return parse_share(typed, quantity)


def _margin(typed: str) -> Fraction:
    return parse_people(typed.strip().lstrip("±"))


def share_edit(shown: Version, key: Key, share: Fraction) -> Edit:
    """Return the edit that gives a key this share; a query group that is not measured becomes measured."""
    if isinstance(key, str):
        return lambda scenario: set_level_share(scenario, key, share)
    if key in shown.scenario.topdown.query_shares:
        return lambda scenario: set_query_share(scenario, key, share)
    return lambda scenario: add_query(scenario, key, share)


def measured_edit(shown: Version, key: LevelQuery, *, measured: bool) -> Step:
    """Return name and edit that measure a query group at a level, or no longer; a new one takes the reference's share.

    Without a reference that measures it, it takes one hundredth of the level.
    """
    if not measured:
        return f"Stop measuring {place_title(key)}", lambda scenario: remove_query(scenario, key)
    before = cell_of(shown, key).before
    share = before or Fraction(1, 100)
    return f"Measure {place_title(key)}", lambda scenario: add_query(scenario, key, share)


def lock_edit(keys: Sequence[Key], *, locked: bool) -> Step:
    """Return name and edit that lock or unlock shares, as one step."""

    def edit(scenario: Scenario) -> Scenario:
        for key in keys:
            if isinstance(key, str):
                scenario = set_item(scenario, "locked_levels", key, value=locked)
            else:
                scenario = set_item(scenario, "locked_queries", key, value=locked)
        return scenario

    what = f"the share of {place_title(keys[0])}" if len(keys) == 1 else f"{len(keys)} shares"
    return f"{'Lock' if locked else 'Unlock'} {what}", edit


def sum_text(shown: Version, level: str) -> tuple[str, bool]:
    """Return the sum of the query shares of a level and whether it is exactly 1."""
    total = sum(
        (share for key, share in shown.scenario.topdown.query_shares.items() if key.level == level), Fraction(0)
    )
    return ("1" if total == 1 else exact_text(total)), total == 1
