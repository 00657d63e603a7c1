"""Edits of releases under subspace privacy: functions from a scenario to the next."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from phexplore.model.edits import EditRefusedError
from phexplore.model.scenario import Scenario
from phexplore.model.shares import rebalanced
from phexplore.model.subspace import (
    Axis,
    Basis,
    Calibration,
    Histogram,
    Invariant,
    Mechanism,
    Query,
    Release,
    Subspace,
)


def _with(scenario: Scenario, method: Subspace) -> Scenario:
    return replace(scenario, method=method)


def _changed(scenario: Scenario, name: str, release: Release) -> Scenario:
    method = scenario.subspace
    return _with(scenario, replace(method, releases={**method.releases, name: release}))


def release_of(scenario: Scenario, name: str) -> Release:
    """Return a release.

    Raises:
        EditRefusedError: there is none of this name.
    """
    found = scenario.subspace.releases.get(name)
    if found is None:
        raise EditRefusedError(f"There is no release {name!r}.", "Choose one of the list.")
    return found


def set_epsilon(scenario: Scenario, epsilon: Fraction) -> Scenario:
    """Set ε of all releases together.

    Raises:
        EditRefusedError: it is not positive.
    """
    if epsilon <= 0:
        raise EditRefusedError(f"ε is more than 0, got {epsilon}.", "Enter a positive number.")
    return _with(scenario, replace(scenario.subspace, epsilon=epsilon))


def set_delta(scenario: Scenario, delta: Fraction) -> Scenario:
    """Set δ of all releases together; 0 allows pure mechanisms only.

    Raises:
        EditRefusedError: it is not in [0, 1).
    """
    if not 0 <= delta < 1:
        raise EditRefusedError(f"δ is at least 0 and below 1, got {delta}.", "Enter for example 1e-10.")
    return _with(scenario, replace(scenario.subspace, delta=delta))


def set_calibration(scenario: Scenario, calibration: Calibration) -> Scenario:
    """Choose where the width of Gaussian noise comes from."""
    return _with(scenario, replace(scenario.subspace, calibration=calibration))


def set_release_mechanism(scenario: Scenario, name: str, mechanism: Mechanism) -> Scenario:
    """Choose how the noise of a release is made."""
    return _changed(scenario, name, replace(release_of(scenario, name), mechanism=mechanism))


def set_basis(scenario: Scenario, name: str, basis: Basis) -> Scenario:
    """Choose the basis of the extended Laplace mechanism."""
    return _changed(scenario, name, replace(release_of(scenario, name), basis=basis))


def set_invariants(scenario: Scenario, name: str, invariants: tuple[Invariant, ...]) -> Scenario:
    """Choose what is exact in a release."""
    return _changed(scenario, name, replace(release_of(scenario, name), invariants=invariants))


def set_query(scenario: Scenario, name: str, query: Query) -> Scenario:
    """Choose what a release answers."""
    return _changed(scenario, name, replace(release_of(scenario, name), query=query))


def set_release_share(scenario: Scenario, name: str, share: Fraction) -> Scenario:
    """Give a release this share of the budget; the others rebalance so that all add to exactly 1.

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

    Raises:
        EditRefusedError: no axis.
    """
    if not axes:
        raise EditRefusedError("A histogram has at least one axis.", "Write for example: county 102.")
    return _with(scenario, replace(scenario.subspace, axes=axes, table=table))
