"""The certificate of a decision, rendered by whoever verifies its bundle.

It has the contents of production's certificate: attestation, provenance, privacy loss, shares, semantics, the whole configuration and
a bill of materials. Added are absolute budgets and noise of every query, the runs the decision rests on with the SHA-256 of their
input, the signatures that were verified, and how to verify the bundle.
"""

from __future__ import annotations

import contextlib
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from phexplore import __version__
from phexplore.catalog.names import Naming, called, explained
from phexplore.decide.bundle import DECISIONS, FORECAST, SCENARIO, Statement
from phexplore.decide.citing import RunEvidence
from phexplore.decide.signing import Signature
from phexplore.files.atomic_files import write_atomically
from phexplore.model.approval import Decision, Status
from phexplore.model.fingerprint import fingerprint
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.moments import zoned_text
from phexplore.model.numbers import exact_text
from phexplore.model.rounded import rounded_up
from phexplore.report.document import Column, Document, Part, Tile, figures, heading, table_of, words
from phexplore.runs.summary_shape import failed_checks
from phexplore.systems.registry import handover, loss_of

HTML, PDF = ".html", ".pdf"


def confirm_certificate_name(path: Path) -> Path:
    """Return the path of a certificate to write.

    Raises:
        InputProblemsError: its suffix names no form of certificates.
    """
    if path.suffix.lower() not in {HTML, PDF}:
        issue = Issue(
            (str(path),),
            f"A certificate is written as {HTML} or {PDF}.",
            f"Name a file that ends so: {path.stem}{PDF}.",
        )
        raise InputProblemsError([issue])
    return path


def write_certificate(statement: Statement, signatures: Sequence[Signature], path: Path) -> None:
    """Render the certificate of a verified bundle and write it.

    Args:
        statement: of the bundle, recomputed.
        signatures: that were verified.
        path: of the file; its suffix decides the form.

    Raises:
        InputProblemsError: the suffix names no form of certificates.
        PdfUnavailableError: the libraries that lay out a PDF are not installed.
        WriteError: the file cannot be written.
    """
    is_pdf = confirm_certificate_name(path).suffix.lower() == PDF
    html = certificate_html(statement, signatures)
    write_atomically(path, _certificate_pdf(html, statement) if is_pdf else html)


def certificate_html(statement: Statement, signatures: Sequence[Signature] = ()) -> bytes:
    """Return the certificate as HTML, with production's codes whatever naming is chosen.

    Args:
        statement: of the bundle, recomputed.
        signatures: that were verified.
    """
    from phexplore.report.html import document_html  # noqa: PLC0415 - brings the template engine

    with called(Naming.CODES):
        return document_html(certificate(statement, signatures))


def _certificate_pdf(html: bytes, statement: Statement) -> bytes:
    from phexplore.report.pdf import Attached, pdf_from_html  # noqa: PLC0415 - brings the template engine

    described = (
        (SCENARIO, "The parameters, exact"),
        (FORECAST, "Every analytic value"),
        (DECISIONS, "Who decided what, and when"),
    )
    attached = [Attached(name.rpartition("/")[2], statement.files[name], text) for name, text in described]
    return pdf_from_html(html, statement.made, attached)


def certificate(statement: Statement, signatures: Sequence[Signature] = ()) -> Document:
    """Return the certificate as a document.

    Args:
        statement: of the bundle, recomputed.
        signatures: that were verified.
    """
    scenario = statement.scenario
    production = handover(scenario)
    budgets = production.budgets(scenario)
    parts = [
        _attestation(statement, signatures),
        _signature_lines(statement),
        production.privacy(scenario),
        budgets,
        *_names(budgets),
    ]
    if statement.runs:
        parts.append(_runs(statement.runs))
    parts += [
        production.configuration(statement.root, statement.parameters),
        _materials(),
        _verification(statement, signatures),
    ]
    warning = "" if statement.status is Status.APPROVED else (
        f"These parameters are {statement.status.value}, not approved. The certificate is void for production."
    )  # fmt: skip
    made = zoned_text(statement.made)
    return Document(
        title=f"Certificate of Disclosure Avoidance: {scenario.name}",
        subtitle="Parameters, privacy loss and the decisions about them",
        colophon=f"{made} · phexplore {__version__} · parameters {fingerprint(scenario)}",
        tiles=_tiles(statement, signatures),
        parts=tuple(parts),
        made=statement.made.isoformat(timespec="seconds"),
        warning=warning,
        keywords=("disclosure avoidance", "certificate", "differential privacy"),
    )


def _tiles(statement: Statement, signatures: Sequence[Signature]) -> tuple[Tile, ...]:
    loss = loss_of(statement.scenario)
    detail = handover(statement.scenario).loss_detail(statement.scenario)
    value = "∞" if loss.bound is None else rounded_up(loss.bound, 6)
    expected, keys = len(statement.signers), len(signatures)
    of = f" of {expected} expected" if expected else ""
    by = f"signed by {keys}{of} {'key' if (expected or keys) == 1 else 'keys'}" if keys else "not signed: void"
    attention = statement.status is not Status.APPROVED or keys < max(expected, 1)
    return (
        Tile("Status", statement.status.title, by, attention=attention),
        Tile(loss.framework.symbol, value, f"exactly {exact_text(loss.total)}; {detail}"),
        Tile("Runs cited", str(len(statement.runs)), "of exactly these parameters"),
    )


def _attestation(statement: Statement, signatures: Sequence[Signature]) -> Part:
    scenario = statement.scenario
    sentence = (
        f"The parameters in this document, for {handover(scenario).product(scenario)}, were brought together on "
        f"{zoned_text(statement.made)}. Their fingerprint is {fingerprint(scenario)}."
    )
    clearance = statement.clearance or "none given"
    void = f"Review board clearance: {clearance}. The number is invalid unless the bundle is signed."
    columns: tuple[Column[Decision], ...] = (
        heading("Decision", lambda decision: decision.status.title),
        words("Who", lambda decision: decision.who),
        words("Role", lambda decision: decision.role),
        words("When", lambda decision: zoned_text(decision.at), whole=True),
        words("Note", lambda decision: decision.note or "–"),
        words("Rests on", lambda decision: "; ".join(f"{r.name} ({r.identity[:16]})" for r in decision.runs) or "–"),
    )
    keys: tuple[Column[tuple[int, str]], ...] = (
        heading("No.", lambda signer: str(signer[0])),
        words("Key", lambda signer: signer[1], whole=True),
    )
    verified: tuple[Column[Signature], ...] = (
        heading("Name given by the signer", lambda one: one.signer.name),
        words("Role", lambda one: one.signer.role),
        words("When", lambda one: zoned_text(one.at), whole=True),
        words("Key", lambda one: one.key_id, whole=True),
    )
    tables = (
        table_of("decisions", "Decisions about exactly these parameters", columns, statement.decisions),
        table_of(
            "signers",
            "Keys expected to sign (SHA-256 of the public key)",
            keys,
            enumerate(statement.signers, start=1),
        ),
        table_of("verified", "Signatures of the bundle, verified", verified, signatures),
    )
    return Part("attestation", "Attestation", (sentence, void), tables=tuple(table for table in tables if table.rows))


_LEAST_LINES = 3


def _signature_lines(statement: Statement) -> Part:
    """Return lines to sign on paper: one for everybody who decided, and empty ones."""
    people = list(dict.fromkeys((decision.who, decision.role) for decision in statement.decisions))
    lines = people + [("", "")] * max(1, _LEAST_LINES - len(people))
    columns: tuple[Column[tuple[str, str]], ...] = (
        heading("Name", lambda line: line[0]),
        words("Role", lambda line: line[1]),
        words("Date", lambda _: ""),
        words("Signature", lambda _: ""),
    )
    sentence = "Sign here on paper. A signature on paper does not replace those of the keys, which the bundle contains."
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
    passed = "budget spent as declared; other outcomes not released" if "left_out" in run.content() else "all passed"
    return passed if not failed else f"failed: {', '.join(failed)}"


def _seed(run: RunEvidence) -> str:
    is_held = run.facts["reproducible"] and run.facts["data"]["sha256"] is None
    unknown = "not released" if is_held else "system entropy"
    return unknown if run.facts["seed"] is None else str(run.facts["seed"])


_RUNS: tuple[Column[RunEvidence], ...] = (
    heading("Run", lambda run: run.cited.name),
    figures("Trials", lambda run: str(run.cited.trials)),
    words("Seed", _seed),
    words("Data (SHA-256)", lambda run: run.facts["data"]["sha256"] or "not stated: confidential"),
    words("Provenance", lambda run: f"{run.provenance.kind.value}: {run.provenance.source}"),
    words("Checks", _checks),
)


def _runs(runs: Sequence[RunEvidence]) -> Part:
    note = "Every run simulated exactly these parameters; the summaries are in the bundle."
    return Part("runs", "What the decision rests on", tables=(table_of("cited", "Runs", _RUNS, runs, note),))


def _materials() -> Part:
    """Return the programs that recomputed the values, with their versions."""
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


def _verification(statement: Statement, signatures: Sequence[Signature]) -> Part:
    sentences = (
        (
            "The program rendered this document from the values of a bundle after it recomputed them. The bundle does not contain this "
            "document. The command phexplore verify BUNDLE --certificate FILE recomputes the values and renders the document again."
        ),
        "The file SHA256SUMS in the bundle lists the SHA-256 of every file in the form that sha256sum -c reads.",
        (
            "This document contains no counts of people, no noisy measurements, and no accuracy against confidential counts, unless the "
            "summary of a cited run contains them."
        ),
    )
    awaited = len(set(statement.signers) - {one.key_id for one in signatures})
    if not statement.signers:
        last = "The bundle lists no key that is expected to sign."
    elif awaited:
        last = f"It is void until every key listed above has signed: {awaited} of {len(statement.signers)} have not."
    else:
        last = f"All {len(statement.signers)} keys listed above have signed."
    return Part("verification", "How to verify", (*sentences, last))
