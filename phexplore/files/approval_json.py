"""Decisions as readable JSON values, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from phexplore.errors import PhexploreError
from phexplore.model.approval import CitedRun, Decision, Status
from phexplore.model.issues import InputProblemsError, Issue


def encode_decision(decision: Decision) -> dict[str, Any]:
    """Return one decision as JSON."""
    return {
        "status": decision.status.value,
        "fingerprint": decision.fingerprint,
        "scenario": decision.scenario,
        "who": decision.who,
        "role": decision.role,
        "at": decision.at,
        "note": decision.note,
        "runs": [{"name": run.name, "identity": run.identity, "trials": run.trials} for run in decision.runs],
    }


def decode_decision(value: Any) -> Decision:
    """Read one decision.

    Raises:
        ValueError, TypeError, KeyError, PhexploreError: it cannot be read.
    """
    texts = {name: value[name] for name in ("fingerprint", "scenario", "who", "role", "at", "note")}
    if wrong := [name for name, text in texts.items() if not isinstance(text, str)]:
        raise TypeError(f"{wrong[0]} is not text")
    runs = tuple(CitedRun(str(run["name"]), str(run["identity"]), int(run["trials"])) for run in value["runs"])
    return Decision(status=Status(value["status"]), runs=runs, **texts)


def encode_decisions(decisions: Sequence[Decision]) -> list[dict[str, Any]]:
    """Return decisions as JSON, oldest first."""
    return [encode_decision(decision) for decision in decisions]


def decode_decisions(value: Any, name: str) -> tuple[Decision, ...]:
    """Read decisions.

    Raises:
        InputProblemsError: one of them cannot be read; nothing is guessed about who approved what.
    """
    if not isinstance(value, list):
        raise InputProblemsError([Issue((name,), "The decisions are not a list.", "Open an earlier copy.")])
    found = []
    for number, entry in enumerate(value, start=1):
        try:
            found.append(decode_decision(entry))
        except (ValueError, TypeError, KeyError, PhexploreError) as error:
            issue = Issue((name,), f"Decision {number} cannot be read: {error}.", "Open an earlier copy.")
            raise InputProblemsError([issue]) from error
    return tuple(found)
