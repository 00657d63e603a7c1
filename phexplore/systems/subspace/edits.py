"""Edits of releases under subspace privacy: functions from a scenario to the next.

Args:
    scenario: to edit.
    name: of a release.
    share: of the budget, exact.
    axes: of the histogram.
    table: that is shipped, "" for none.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from phexplore.errors import PhexploreError
from phexplore.library import own_files, own_title
from phexplore.model.edits import EditRefusedError, set_item
from phexplore.model.scenario import Scenario
from phexplore.model.shares import rebalanced
from phexplore.model.subspace import (
    Axis,
    Histogram,
    Mechanism,
    Release,
    Subspace,
)
from phexplore.simulate.subspace.cell_counts import read_cell_counts, shipped_table
from phexplore.systems.subspace.presets import subspace_presets


def _with(scenario: Scenario, method: Subspace) -> Scenario:
    return replace(scenario, method=method)


def release_of(scenario: Scenario, name: str) -> Release:
    """Return a release.

    Args:
        scenario: to look in.
        name: of the release.

    Raises:
        EditRefusedError: there is none of this name.
    """
    found = scenario.subspace.releases.get(name)
    if found is None:
        raise EditRefusedError(f"There is no release {name!r}.", "Choose one of the list.")
    return found


def change_release(scenario: Scenario, name: str, **parts: Any) -> Scenario:
    """Choose parts of a release: its query, its invariants, its mechanism, its basis.

    Args:
        scenario: that holds it.
        name: of the release.
        parts: by the names of its fields.

    Raises:
        EditRefusedError: there is none of this name.
    """
    return set_item(scenario, "releases", name, replace(release_of(scenario, name), **parts))


def set_release_share(scenario: Scenario, name: str, share: Fraction) -> Scenario:
    """Give a release this share of the budget; the others rebalance so that all add to exactly 1.

    Args:
        scenario: to change.
        name: of the release.
        share: of the budget, above 0.

    Raises:
        EditRefusedError: it leaves nothing for another one, or there is no other to take the rest.
    """
    method = scenario.subspace
    shares = {each: release.share for each, release in method.releases.items()}
    if name not in shares:
        raise EditRefusedError(f"There is no release {name!r}.", "Choose one of the list.")
    moved = rebalanced(shares, name, share, frozenset())
    if any(value <= 0 for value in moved.values()):
        raise EditRefusedError(
            "Every release needs a share above 0.", "Enter less, or take the other release out of the scenario."
        )
    releases = {each: replace(release, share=moved[each]) for each, release in method.releases.items()}
    return _with(scenario, replace(method, releases=releases))


def add_release(scenario: Scenario, name: str) -> Scenario:
    """Add a histogram release with an equal share; the others keep their proportions.

    Args:
        scenario: to change.
        name: of the new release.

    Raises:
        EditRefusedError: the name is empty or taken.
    """
    method = scenario.subspace
    if not name.strip() or name in method.releases:
        raise EditRefusedError(f"{name!r} cannot be the name of a release.", "Choose one that is not there yet.")
    count = len(method.releases) + 1
    kept = {each: replace(r, share=r.share * Fraction(count - 1, count)) for each, r in method.releases.items()}
    first = next(iter(method.releases.values()), None)
    mechanism = first.mechanism if first is not None else Mechanism.PROJECTED_LAPLACE
    new = Release(Histogram(), (), mechanism, Fraction(1, count))
    return _with(scenario, replace(method, releases={**kept, name: new}))


def remove_release(scenario: Scenario, name: str) -> Scenario:
    """Take a release out; its share goes to the others in proportion.

    Args:
        scenario: to change.
        name: of the release.

    Raises:
        EditRefusedError: it is the only one.
    """
    release_of(scenario, name)
    rest = {each: release for each, release in scenario.subspace.releases.items() if each != name}
    if not rest:
        raise EditRefusedError(f"{name!r} is the only release.", "Add another one before you remove it.")
    total = sum((release.share for release in rest.values()), Fraction(0))
    scaled = {each: replace(release, share=release.share / total) for each, release in rest.items()}
    return _with(scenario, replace(scenario.subspace, releases=scaled))


def set_axes(scenario: Scenario, axes: tuple[Axis, ...], table: str = "") -> Scenario:
    """Choose the histogram; a shipped table of other cells no longer applies.

    Args:
        scenario: to change.
        axes: of the histogram, at least one.
        table: id of a shipped table of these cells, "" for none.

    Raises:
        EditRefusedError: no axis.
    """
    if not axes:
        raise EditRefusedError("A histogram has at least one axis.", "Write for example: county 102.")
    return _with(scenario, replace(scenario.subspace, axes=axes, table=table))


def offered_tables(present: str = "") -> list[tuple[str, str]]:
    """Return title and id of the tables of counts to choose from: none, those of published parameters, those of the user's library.

    Args:
        present: the one chosen now, which may have come with a project.
    """
    shipped = {each.scenario.subspace.table: each.title.partition(",")[0] for each in subspace_presets().values()}
    own = [Path(name).stem for name in own_files("tables") if name.endswith(".csv")]
    titles = {
        "": "The file that a run names",
        **{name: shipped.get(name, name) for name in (*shipped, present) if name and name not in own},
    }
    titles |= {name: own_title(name) for name in own}
    return [(title, name) for name, title in titles.items()]


def set_table(scenario: Scenario, table: str) -> Scenario:
    """Choose the counts of the cells.

    Args:
        scenario: to change.
        table: id of a table that is offered, "" for the file that a run names.

    Raises:
        EditRefusedError: it does not hold the cells of the histogram.
    """
    method = replace(scenario.subspace, table=table)
    if (path := shipped_table(method)) is not None:
        try:
            read_cell_counts(path, method)
        except PhexploreError as error:
            raise EditRefusedError(error.sentence, "Choose the axes of that table first, or another table.") from error
    return _with(scenario, method)
