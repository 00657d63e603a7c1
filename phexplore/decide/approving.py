"""Making a decision: what must hold before somebody's name stands under parameters."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from phexplore.decide.citing import evidence
from phexplore.model.approval import Decision, DecisionError, Status
from phexplore.model.fingerprint import fingerprint
from phexplore.model.issues import has_errors
from phexplore.model.scenario import Scenario
from phexplore.systems.registry import check


def decision_about(
    scenario: Scenario,
    status: Status,
    *,
    who: str,
    role: str,
    now: datetime,
    note: str = "",
    runs: Sequence[Path] = (),
) -> Decision:
    """Return a decision about a scenario as it is.

    Args:
        scenario: what is decided about.
        status: what it becomes.
        who: the person who decides.
        role: in which capacity.
        now: when, with its zone.
        note: why.
        runs: directories of the runs the decision rests on.

    Raises:
        DecisionError: the scenario has errors, or nobody decides.
        CitationError: a run did not simulate exactly these parameters.
    """
    if errors := [issue for issue in check(scenario) if has_errors([issue])]:
        more = f" ({len(errors) - 1} more: phexplore check)" if len(errors) > 1 else ""
        raise DecisionError(f"{errors[0].place}: {errors[0].sentence}{more}", errors[0].remedy)
    cited = tuple(entry.cited for entry in evidence(runs, scenario))
    at = now.astimezone(UTC).isoformat(timespec="seconds")
    return Decision(status, fingerprint(scenario), scenario.name, who.strip(), role.strip(), at, note.strip(), cited)
