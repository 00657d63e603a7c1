"""Household sizes that a study of truncation can start from without a file: 2010 as published, and with a tail behind it."""

from __future__ import annotations

from phexplore.accuracy.truncation_study import HouseholdSizes
from phexplore.catalog.states import states
from phexplore.data.synthetic.tables import state_figures
from phexplore.data.synthetic.targets import OPEN_CLASS, expected_sizes

NATION = ""
"""Stands for all states together."""

WHOLE_HOUSEHOLDS = frozenset({"PH1_num", "PH2", "PH7"})
"""Tables that truncate all people of a household; the others count some of them, so that whole sizes overstate the loss."""


def sizes_of_2010(state: str = NATION, *, with_tail: bool) -> HouseholdSizes:
    """Return households by size in 2010 (table H13).

    Args:
        state: FIPS code, NATION for the 50 states and the District of Columbia together.
        with_tail: spread the open class of seven or more over sizes up to 20, as the synthetic population does: the
            geometric tail whose mean is that of the people left for it. Without, the class stands at 7 and is open.

    Raises:
        KeyError: no figures of that state.
    """
    figures = state_figures()
    chosen = list(figures.values()) if state == NATION else [figures[state]]
    counts: dict[int, int] = {}
    for each in chosen:
        found = expected_sizes(each)
        if not with_tail:
            found = found[: OPEN_CLASS + 1].copy()
            found[OPEN_CLASS] = each.sizes[-1]
        for size, households in enumerate(found.tolist()):
            counts[size] = counts.get(size, 0) + round(households)
    place = "United States" if state == NATION else states()[state].name
    words = f"2010 Census, {place}" + (", 7 and more by a geometric tail" if with_tail else ", 7 stands for 7 and more")
    return HouseholdSizes({size: count for size, count in counts.items() if size}, words, is_open=not with_tail)
