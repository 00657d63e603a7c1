"""The certificate of a decision: the contents of production's certificate, with what that one leaves out.

Production prints attestation, provenance, privacy loss, shares, semantics, the whole configuration and a bill of materials. Added
here: absolute budgets and noise of every query, the runs the decision rests on with the check sums of their input, and how
anybody verifies the bundle.
"""

from __future__ import annotations

import contextlib
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import PackageNotFoundError, requires, version

from phexplore import __version__
from phexplore.catalog.names import explained
from phexplore.decide.citing import RunEvidence
from phexplore.model.approval import Decision, Status
from phexplore.model.fingerprint import fingerprint
from phexplore.model.moments import zoned_text
from phexplore.model.numbers import exact_text
from phexplore.model.rounded import rounded_up
from phexplore.model.scenario import Scenario
from phexplore.report.document import Column, Document, Part, Tile, figures, heading, table_of, words
from phexplore.report.provenance import LAST_FORMER
from phexplore.runs.summary_shape import failed_checks
from phexplore.systems.registry import handover, loss_of


@dataclass(frozen=True, slots=True)
class CertificateFacts:
    """What a certificate is made from.

    Attributes:
        scenario: the parameters.
        status: how far they have come.
        decisions: about exactly these parameters, oldest first.
        runs: what they rest on.
        parameters: the production files by name.
        root: the one production is started with.
        signers: key ids of the people expected to sign.
        clearance: number of the review board, "" when there is none.
        now: when it is made.
        version: of the bundle's format; since 2 the table of decisions says which runs each rests on, since 3 those of the loss what is
            proven, and there are lines to sign on paper; since 5 margins are marked as everywhere else, since 6 every loss is rounded up,
            and conversions and times are written as everywhere else.
    """

    scenario: Scenario
    status: Status
    decisions: tuple[Decision, ...]
    runs: tuple[RunEvidence, ...]
    parameters: dict[str, str]
    root: str
    signers: tuple[str, ...]
    clearance: str
    now: datetime
    version: int


def certificate(facts: CertificateFacts) -> Document:
    """Return the certificate as a report."""
    scenario = facts.scenario
    production = handover(scenario)
    budgets = production.budgets(scenario, facts.version)
    signatures = (_signatures(facts),) if facts.version > 2 else ()
    parts = [
        _attestation(facts),
        *signatures,
        production.privacy(scenario, facts.version),
        budgets,
        *_names(budgets),
    ]
    if facts.runs:
        parts.append(_runs(facts.runs))
    parts += [production.configuration(facts.root, facts.parameters), _materials(), _verification(facts)]
    warning = "" if facts.status is Status.APPROVED else (
        f"These parameters are {facts.status.value}, not approved. The certificate is void for production."
    )  # fmt: skip
    return Document(
        title=f"Certificate of Disclosure Avoidance: {scenario.name}",
        subtitle="Parameters, privacy loss and the decisions about them",
        colophon=f"{_time(facts, facts.now.isoformat(timespec='seconds'))} · phexplore {__version__} · parameters {fingerprint(scenario)}",
        tiles=_tiles(facts),
        parts=tuple(parts),
        made=facts.now.isoformat(timespec="seconds"),
        warning=warning,
        keywords=("disclosure avoidance", "certificate", "differential privacy"),
    )


def _time(facts: CertificateFacts, at: str) -> str:
    return at if facts.version <= LAST_FORMER else zoned_text(at)


def _tiles(facts: CertificateFacts) -> tuple[Tile, ...]:
    scenario = facts.scenario
    loss = loss_of(scenario)
    detail = handover(scenario).loss_detail(scenario)
    if loss.bound is None:
        value = "∞"
    else:
        value = f"{float(loss.bound):.6f}" if facts.version <= LAST_FORMER else rounded_up(loss.bound, 6)
    attention = facts.status is not Status.APPROVED
    return (
        Tile("Status", facts.status.title, "void unless signed", attention=attention),
        Tile(loss.framework.symbol, value, f"exactly {exact_text(loss.total)}; {detail}"),
        Tile("Runs cited", str(len(facts.runs)), "of exactly these parameters"),
    )


def _attestation(facts: CertificateFacts) -> Part:
    scenario = facts.scenario
    sentence = (
        f"The parameters in this document, for {handover(scenario).product(scenario)}, were brought together on "
        f"{_time(facts, facts.now.isoformat(timespec='seconds'))}. Their fingerprint is {fingerprint(scenario)}."
    )
    clearance = facts.clearance or "none given"
    void = f"Review board clearance: {clearance}. The number is invalid unless the bundle is signed."
    columns: tuple[Column[Decision], ...] = (
        heading("Decision", lambda decision: decision.status.title),
        words("Who", lambda decision: decision.who),
        words("Role", lambda decision: decision.role),
        words(
            "When (UTC)" if facts.version <= LAST_FORMER else "When",
            lambda decision: _time(facts, decision.at),
            whole=True,
        ),
        words("Note", lambda decision: decision.note or "–"),
        words("Rests on", lambda decision: "; ".join(f"{r.name} ({r.identity[:16]})" for r in decision.runs) or "–"),
    )
    keys: tuple[Column[tuple[int, str]], ...] = (
        heading("No.", lambda signer: str(signer[0])),
        words("Key", lambda signer: signer[1], whole=True),
    )
    shown = columns if facts.version > 1 else columns[:-1]
    signers = enumerate(facts.signers, start=1)
    tables = (
        table_of("decisions", "Decisions about exactly these parameters", shown, facts.decisions),
        table_of("signers", "Keys expected to sign (SHA-256 of the public key)", keys, signers),
    )
    return Part("attestation", "Attestation", (sentence, void), tables=tuple(table for table in tables if table.rows))


_LEAST_LINES = 3


def _signatures(facts: CertificateFacts) -> Part:
    """Return lines to sign on paper: one for everybody who decided, and empty ones."""
    people = list(dict.fromkeys((decision.who, decision.role) for decision in facts.decisions))
    lines = people + [("", "")] * max(1, _LEAST_LINES - len(people))
    columns: tuple[Column[tuple[str, str]], ...] = (
        heading("Name", lambda line: line[0]),
        words("Role", lambda line: line[1]),
        words("Date", lambda _: ""),
        words("Signature", lambda _: ""),
    )
    sentence = "Sign here on paper. A signature on paper does not replace those of the keys, which the bundle holds."
    table = table_of("signature-lines", "Signatures on paper", columns, lines)
    return Part("signatures", "Signatures", (sentence,), tables=(table,))


def _names(budgets: Part) -> tuple[Part, ...]:
    """Return the names of the codes that the budgets are listed by: production's codes stay in every table."""
    sentences = explained(
        cell for table in budgets.tables for row in table.rows for cell in (each.text for each in row)
    )
    return (Part("names", "What the codes stand for", sentences),) if sentences else ()


def _checks(run: RunEvidence) -> str:
    checks = run.content().get("checks")
    if not isinstance(checks, dict) or not checks:
        return "none recorded"
    failed = failed_checks(checks)
    return "all passed" if not failed else f"failed: {', '.join(failed)}"


_RUNS: tuple[Column[RunEvidence], ...] = (
    heading("Run", lambda run: run.cited.name),
    figures("Trials", lambda run: str(run.cited.trials)),
    words("Seed", lambda run: "system entropy" if run.facts["seed"] is None else str(run.facts["seed"])),
    words("Data (SHA-256)", lambda run: run.facts["data"]["sha256"]),
    words("Synthetic", lambda run: "yes" if run.is_synthetic else "not marked so"),
    words("Checks", _checks),
)


def _runs(runs: Sequence[RunEvidence]) -> Part:
    note = "Every run simulated exactly these parameters; the summaries are in the bundle."
    return Part("runs", "What the decision rests on", tables=(table_of("cited", "Runs", _RUNS, runs, note),))


def _materials() -> Part:
    """Return the programs that made the figures, with their versions."""
    rows = [("phexplore", __version__), ("Python", platform.python_version())]
    names = sorted({requirement.split(";")[0].split("[")[0].split(">")[0].split("=")[0].split("<")[0].strip()
                    for requirement in _requirements() if "extra ==" not in requirement})  # fmt: skip
    for name in names:
        with contextlib.suppress(PackageNotFoundError):
            rows.append((name, version(name)))
    columns: tuple[Column[tuple[str, str]], ...] = (
        heading("Name", lambda row: row[0]),
        words("Version", lambda row: row[1]),
    )
    table = table_of("materials", "Programs and libraries", columns, rows)
    return Part("materials", "Bill of materials", tables=(table,))


def _requirements() -> Sequence[str]:
    try:
        return requires("phexplore") or ()
    except PackageNotFoundError:
        return ()


def _verification(facts: CertificateFacts) -> Part:
    sentences = (
        (
            "This document is part of a bundle. The command phexplore verify BUNDLE rebuilds the bundle from its parts, compares "
            "every byte, checks the signatures and names what was altered."
        ),
        "The file SHA256SUMS in the bundle lists the check sum of every file in the form that sha256sum -c reads.",
        (
            "Not in this document: counts of people, noisy measurements, and accuracy against confidential counts, unless a cited "
            "run's summary holds it."
        ),
    )
    unsigned = "Nobody is named to sign." if not facts.signers else "It is void until every key named above has signed."
    return Part("verification", "How to verify", (*sentences, unsigned))
