"""Settings of subspace releases that cannot work, each with its place and remedy."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from phexplore.accounting.gaussian_calibration import paper_constant
from phexplore.accounting.subspace_noise import gaussian_budget, noise_plan
from phexplore.errors import PhexploreError
from phexplore.model.issues import Issue, Severity
from phexplore.model.numbers import exact_text
from phexplore.model.scenario import Scenario
from phexplore.model.subspace import Calibration, Histogram, LinearQuery, Subspace
from phexplore.simulate.subspace.cell_counts import shipped_table
from phexplore.systems.subspace.forecast import disclosed
from phexplore.workload.subspace.releases import null_space


def check_scenario(scenario: Scenario) -> list[Issue]:
    """Return all issues of a scenario of this system."""
    return check_subspace(scenario.subspace)


def check_subspace(method: Subspace) -> list[Issue]:
    """Return all issues of subspace parameters."""
    issues = [*_budget(method), *_queries(method), *_table(method)]
    if not issues:
        issues += [*_plans(method), *_redundant(method)]
    if not any(issue.severity is Severity.ERROR for issue in issues):
        issues += [*_calibration(method), *_linked(method)]
    return issues


def _budget(method: Subspace) -> Iterator[Issue]:
    if not method.releases:
        yield Issue(("releases",), "Nothing is released.", "Add a release.")
        return
    total = sum((release.share for release in method.releases.values()), Fraction(0))
    if total != 1:
        yield Issue(
            ("releases",),
            f"The shares of the releases add to {exact_text(total)}, not 1.",
            "Change a share so that they do.",
        )
    gaussian = [name for name, release in method.releases.items() if release.mechanism.is_gaussian]
    if gaussian and method.delta == 0:
        yield Issue(
            ("releases", gaussian[0]),
            f"Gaussian noise of {gaussian[0]!r} needs a δ above 0.",
            "Set δ, e.g. 1e-10, or choose a Laplace mechanism.",
        )
    if method.delta and not gaussian:
        yield Issue(
            ("delta",),
            f"δ = {exact_text(method.delta)} is spent by no release: all mechanisms are pure.",
            "Set δ to 0.",
            Severity.WARNING,
        )


def _queries(method: Subspace) -> Iterator[Issue]:
    for name, release in method.releases.items():
        if isinstance(release.query, LinearQuery):
            most = max(cell for answer in release.query.answers for cell, _ in answer.coefficients)
            if most >= method.cells:
                yield Issue(
                    ("releases", name, "query"),
                    f"An answer names the cell {most}, but the histogram has {method.cells:,} (numbered from 0).",
                    "Name cells that exist.",
                )


def _table(method: Subspace) -> Iterator[Issue]:
    if method.table:
        try:
            shipped_table(method)
        except FileNotFoundError:
            yield Issue(
                ("table",),
                f"No table called {method.table!r} came with the program or is in the library.",
                "Leave it empty and name data in the run.",
            )


def _plans(method: Subspace) -> Iterator[Issue]:
    for name in method.releases:
        try:
            noise_plan(method, name)
        except PhexploreError as error:
            yield Issue(("releases", name), error.sentence, error.remedy)


def _redundant(method: Subspace) -> Iterator[Issue]:
    for name, release in method.releases.items():
        try:
            reports = null_space(method, release).reports
        except PhexploreError:
            continue  # said with the release's noise
        for report in reports:
            if report.independent == 0:
                yield Issue(
                    ("releases", name, "invariants"),
                    f"The invariant “{report.name}” adds nothing: {_because(report.why)}.",
                    "Take it out, or keep it as a reminder; nothing changes.",
                    Severity.WARNING,
                )


def _because(why: str) -> str:
    return why if "follow from" in why else f"it is {why}"


def _calibration(method: Subspace) -> Iterator[Issue]:
    budget = gaussian_budget(method)
    if method.calibration is Calibration.PAPER and budget:
        yield Issue(
            ("calibration",),
            f"The paper's constant is wider than needed here: its δ is {paper_constant(budget, method.delta).factor:.3g} times "
            "the one asked for.",
            "Choose the exact calibration for the same guarantee with less noise.",
            Severity.WARNING,
        )


def _linked(method: Subspace) -> Iterator[Issue]:
    found = disclosed(method)
    if found.determined:
        alone = len(method.releases) == 1 and isinstance(next(iter(method.releases.values())).query, Histogram)
        joint = "The invariants" if alone else "The invariants of all releases together"
        yield Issue(
            ("releases",),
            f"{joint} publish the true count of {found.determined:,} of {found.cells:,} cells.",
            "Take out an invariant unless these counts are meant to be public.",
            Severity.WARNING,
        )
