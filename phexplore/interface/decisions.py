"""Decisions in Python: solve for margins, compare, trade off, approve, verify."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.interface.arguments import argument_of, typed, whole
from phexplore.interface.frames import draw, frame
from phexplore.interface.scenarios import Scenario, load
from phexplore.model.diff import value_text
from phexplore.model.numbers import parse_budget

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.axes import Axes
    from pandas import DataFrame

    from phexplore.decide.verifying import Verification


_CAPS = ("rho", "bounded_rho", "epsilon", "proven_epsilon")


@typed
def solve(
    scenario: Scenario | str | PathLike[str],
    targets: Mapping[str, Any] | str | PathLike[str] | None = None,
    *,
    rounding: str = "",
    caps: Mapping[str, Any] | None = None,
    spend: bool = False,
    name: str = "",
) -> Scenario:
    """Return the scenario with the smallest budgets that keep every margin asked for.

    Args:
        scenario: or what names one; its own targets count.
        targets: margins in people by place, e.g. ``{"PH3/state_A-G": 25}``; or a file of goals as ``phexplore solve`` reads.
        rounding: ``up`` or ``as-in-2020`` derive every budget from its target; "" does so for a preset id and
            retains the budgets of other scenarios whose targets are met.
        caps: at most this ``rho``, ``bounded_rho``, ``epsilon`` or ``proven_epsilon`` in all.
        spend: use what the caps leave, all targeted budgets by one factor.
        name: of the solved scenario; "" keeps the name.

    Raises:
        InfeasibleError: no budgets keep all goals; it names the conflict and the ways out.
        GoalError: a target cannot be understood.

    Example:
        >>> import phexplore as px
        >>> solved = px.solve("sdhc-2020-us", rounding="as-in-2020")
        >>> solved.rho == px.load("sdhc-2020-us").rho
        True
    """
    import json

    from phexplore.accuracy.solving_separable import solve as solve_goals
    from phexplore.decide.goals import aimed_at, goals_of, with_rounding
    from phexplore.files.atomic_files import read_text
    from phexplore.model.edits import rename
    from phexplore.systems.registry import budgets_of, presets

    start = with_rounding(load(scenario).value, rounding)
    if isinstance(targets, Mapping):
        content, named = json.dumps({"targets": {place: str(people) for place, people in targets.items()}}), "targets"
    elif targets is not None:
        content, named = read_text(Path(targets)), Path(targets).name
    else:
        content, named = "", ""
    for on in caps or {}:
        if on not in _CAPS:
            raise UnknownNameError("cap", str(on), list(_CAPS))
    goals = goals_of(content, named, {on: str(limit) for on, limit in (caps or {}).items()}, start)
    solved = solve_goals(
        budgets_of(aimed_at(start, goals)), goals, spend=spend, keeps_met=not rounding and scenario not in presets()
    ).scenario
    return Scenario(rename(solved, name) if name else solved)


@typed
def compare(
    *columns: Scenario | str | PathLike[str],
    rules: str | PathLike[str] = "",
    ax: Axes | None = None,
    picture: str = "overlay",
) -> DataFrame:
    """Return the differences between scenarios and runs; the first of them is the baseline.

    Args:
        columns: scenarios, or what names them, or directories of runs; two or more of one system.
        rules: file of decision rules, or their name in the user's library; "" for none.
        ax: axes for a chart; None for no chart.
        picture: name of the chart: ``overlay`` (margins of all) or ``committee`` (members' positions; the first is the baseline).

    Returns:
        One row per difference: ``kind`` (``total``, ``parameter``, ``margin`` in people, ``measured`` or ``rule``), ``place``, and
        one column per scenario under its name: text of parameters and verdicts, numbers of the rest.

    Raises:
        ComparisonError: fewer than two, or of different systems.
        UnknownNameError: there is no such picture.

    Example:
        >>> import phexplore as px
        >>> list(px.compare("sdhc-2020-us", px.load("sdhc-2020-us").set("threshold PH2", 8)).kind.unique())
        ['total', 'parameter', 'margin']
    """
    from phexplore.decide import comparing
    from phexplore.files.rules_json import rules_named

    def column(given: Scenario | str | PathLike[str]) -> comparing.Compared:
        if not isinstance(given, Scenario) and (run := comparing.run_compared(Path(given))) is not None:
            return run
        scenario = load(given)
        return comparing.Compared(scenario.name, scenario.value)

    found = comparing.compare([column(given) for given in columns], rules_named(str(rules)) if rules else ())
    if ax is not None:
        from phexplore.decide.committee import committee_matrix
        from phexplore.decide.comparison_view import view_of
        from phexplore.decide.matrix_view import matrix_view

        first, *others = (each.scenario for each in found.columns)
        makers = {
            "overlay": lambda: view_of(found).overlay,
            "committee": lambda: matrix_view(committee_matrix(others, first), others).picture,
        }
        if picture not in makers:
            raise UnknownNameError("picture", picture, list(makers))
        draw((makers[picture](),), "", ax)
    rows: list[tuple[Any, ...]] = [("total", "", *(_total(text) for text, _ in found.totals))]
    rows += [("parameter", row.path, *map(value_text, row.values)) for row in found.parameters]
    rows += [("margin", row.place, *row.values) for row in found.effects]
    rows += [("measured", f"{row.name} {row.place}".strip(), *row.values) for row in found.measured]
    rows += [("rule", row[0].rule.title, *(each.outcome.value for each in row)) for row in found.verdicts]
    names = [each.name for each in found.columns]
    return frame(("kind", "place", *names), rows, exact=names)


def _total(text: str) -> Fraction | float | None:
    """Return a total as a number: infinite without noise, None without a bound."""
    try:
        budget = parse_budget(text)
    except ValueError:
        return None
    return budget if isinstance(budget, Fraction) else math.inf


@typed
def frontier(
    scenario: Scenario | str | PathLike[str], *, weights: str = "targets", totals: Sequence[float] = ()
) -> DataFrame:
    """Return the smallest weighted margin that every total can buy.

    Args:
        scenario: or what names one, of a system whose budgets are traded query by query.
        weights: ``targets``, ``people`` or ``present``: whose margins count how much.
        totals: factors of the present total; nine from one quarter to four times without them.

    Returns:
        One row per total: ``total`` and ``headline`` (float), ``exact`` (`fractions.Fraction` of the total), ``epsilon``,
        ``weighted_margin`` in people, and ``scenario``.

    Raises:
        FrontierError: pure DP, nothing published, no noise, or every budget is locked.

    Example:
        >>> import phexplore as px
        >>> len(px.frontier("sdhc-2020-us"))
        9
    """
    from phexplore.decide.frontier import Weighting
    from phexplore.decide.frontier import frontier as trade_off

    known = {each.value: each for each in Weighting}
    if weights not in known:
        raise UnknownNameError("weighting", weights, list(known))
    with argument_of("totals"):
        factors = [Fraction(repr(float(each))) for each in totals]
    if any(factor <= 0 for factor in factors):
        raise PhexploreError("A total is a positive multiple of the present one.", "Give e.g. totals=[0.5, 1, 2].")
    found = trade_off(load(scenario).value, weighting=known[weights], factors=factors)
    rows = [
        (each.total, each.headline, each.total, each.epsilon, each.weighted_margin, Scenario(each.scenario))
        for each in found.points
    ]
    return frame(
        ("total", "headline", "exact", "epsilon", "weighted_margin", "scenario"), rows, exact=("exact", "scenario")
    )


@typed
def approve(
    scenario: Scenario | str | PathLike[str],
    *,
    who: str,
    role: str,
    out: str | PathLike[str],
    status: str = "approved",
    note: str = "",
    runs: Sequence[str | PathLike[str]] = (),
    clock_is_right: bool = False,
) -> Path:
    """Record who recommends or approves exactly these parameters, in a project; return its path.

    Args:
        scenario: or what names one; of a project its earlier decisions stay.
        who: decides.
        role: in which capacity.
        out: project to write (``.phx``).
        status: ``recommended``, ``approved`` or ``superseded``.
        note: why.
        runs: directories of runs it rests on.
        clock_is_right: confirm this computer's clock where an earlier decision is dated later.

    Raises:
        DecisionError: it does not follow from the decisions before.
        PhexploreError: a run does not fit.

    Example:
        >>> import phexplore as px
        >>> px.approve("sdhc-2020-us", who="Ada Lovelace", role="Chair", out="approved.phx", note="Voted on in May").name
        'approved.phx'
    """
    from phexplore.decide.approving import decision_about
    from phexplore.decide.deciding import parse_status, record_decision

    source = "" if isinstance(scenario, Scenario) else str(scenario)
    value, now, paths = load(scenario).value, datetime.now(UTC), [Path(run) for run in runs]
    made = decision_about(value, parse_status(status), who=who, role=role, now=now, note=note, runs=paths)
    return record_decision(made, value, source, out=Path(out), is_clock_right=clock_is_right)


@typed
def verify(
    bundle: str | PathLike[str],
    *,
    trust: Sequence[str | PathLike[str]] = (),
    require: int | None = None,
    certificate: str | PathLike[str] | None = None,
) -> Verification:
    """Recompute every part of a bundle from its parameters, compare, and check its signatures.

    Args:
        bundle: file of a bundle.
        trust: files of public keys whose signatures count.
        require: how many signatures by different trusted keys have to be there; 1 with `trust`.
        certificate: file to render the certificate to (``.html`` or ``.pdf``), if the bundle is intact.

    Returns:
        What was found: ``is_intact``, ``is_accepted``, ``findings`` (each with ``part`` and ``sentence``), ``checked`` signatures.

    Raises:
        PhexploreError: a key or the bundle cannot be read.

    Example:
        >>> import phexplore as px
        >>> import subprocess, sys
        >>> bundle = [sys.executable, "-m", "phexplore", "bundle", "sdhc-2020-us", "--out", "decision.zip"]
        >>> _ = subprocess.run(bundle, check=True, capture_output=True)
        >>> px.verify("decision.zip").is_intact
        True
    """
    from phexplore.decide.bundle_jobs import verify_file

    if require is not None and whole(require) < 1:
        raise PhexploreError(f"At least 1 signature is required, got {require}.", "Leave it out for none.")
    page = None if certificate is None else Path(certificate)
    return verify_file(Path(bundle), [Path(key) for key in trust], require, page)[0]
