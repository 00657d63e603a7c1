"""Commands that lead from a number to a decision: solve, what follows from it, and the store of keys somebody trusts."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import typer

from phexplore.cli.sweeping import sweep
from phexplore.report.terminal import print_json, print_table, say, tell
from phexplore.systems.arguments import JSON, SCENARIO
from phexplore.systems.registry import budgets_of, presets
from phexplore.systems.sources import load_scenario


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command()(solve)
    app.command()(less_noise)
    app.command()(compare)
    app.command()(frontier)
    app.command()(committee)
    app.command()(approve)
    app.command()(bundle)
    app.command()(verify)
    app.command()(sweep)
    keys = typer.Typer(help="Public keys you know, with whose they are; verify shows signatures by them as known.")
    keys.command("add")(add_key)
    keys.command("list")(list_keys)
    keys.command("remove")(remove_key)
    app.add_typer(keys, name="keys")


def solve(
    scenario: str = SCENARIO,
    targets: Path | None = typer.Option(None, "--targets", help="Margins, caps, floors, ties, locks (JSON), or a CSV."),
    rounding: str = typer.Option(
        "",
        "--rounding",
        help="up (default) or as-in-2020 (normal, z = 1.645, nearest 1e-6): derive every budget from its target. "
        "Without it, a saved scenario retains the budgets whose targets are met.",
    ),
    cap_rho: str = typer.Option("", "--cap-rho", help="At most this unbounded budget in all."),
    cap_bounded_rho: str = typer.Option("", "--cap-bounded-rho", help="At most this bounded budget in all."),
    cap_epsilon: str = typer.Option("", "--cap-epsilon", help="At most this ε (bounded, δ = 1e-10, tightest zCDP)."),
    cap_proven_epsilon: str = typer.Option(
        "", "--cap-proven-epsilon", help="At most this ε (bounded, δ = 1e-10) as the noise of the solution proves it."
    ),
    spend: bool = typer.Option(False, "--spend", help="Use what the caps leave: all targeted budgets by one factor."),
    after_least_squares: bool = typer.Option(
        False,
        "--after-least-squares",
        help="TopDown: margins of the estimates, on the spine of 2020 with equal fan-outs.",
    ),
    blocks: Path | None = typer.Option(
        None,
        "--blocks",
        help="TopDown: margins of the estimates in every unit of this block geography (block data, or demo).",
    ),
    fit: str = typer.Option(
        "at-once",
        "--fit",
        help="Of least squares: at-once, which the pooled estimator reaches where siblings are measured alike and misses elsewhere (bypassed units, tribal branches), or top-down, level by level as in production.",
    ),
    out: Path | None = typer.Option(None, "--out", help="Save the solved scenario as a project (.phx)."),
    as_json: bool = JSON,
) -> None:
    """Find the smallest budgets that keep every margin of error asked for; say which goals conflict when none do.

    Example: phexplore solve sdhc-2020-us --rounding as-in-2020 --out solved.phx
    """
    from phexplore.accuracy.solving_conflict import InfeasibleError
    from phexplore.accuracy.solving_separable import solve as solve_goals
    from phexplore.cli.solving import (
        print_infeasible,
        print_solution,
        save_project,
        solve_after_least_squares,
    )
    from phexplore.decide.goals import aimed_at, goals_of, with_rounding
    from phexplore.files.atomic_files import read_text

    start = with_rounding(load_scenario(scenario), rounding)
    caps = {
        "rho": cap_rho,
        "bounded_rho": cap_bounded_rho,
        "epsilon": cap_epsilon,
        "proven_epsilon": cap_proven_epsilon,
    }
    stated = ("", "") if targets is None else (read_text(targets), targets.name)
    goals = goals_of(*stated, caps, start)
    found = aimed_at(start, goals)
    try:
        margins = None
        if after_least_squares or blocks is not None:
            solved, margins = solve_after_least_squares(found, goals, blocks, spend=spend, fit=fit)
        else:
            solved = solve_goals(
                budgets_of(found), goals, spend=spend, keeps_met=not rounding and scenario not in presets()
            )
    except InfeasibleError as error:
        print_infeasible(error, as_json=as_json)
        raise
    print_solution(solved, margins, as_json=as_json)
    if out is not None:
        save_project(start, solved.scenario, "Solve from targets", out)


def less_noise(
    scenario: str = SCENARIO,
    conversion: str = typer.Option(
        "zcdp-optimal-alpha",
        "--published-by",
        help="Conversion the ε is published in: zcdp-optimal-alpha or bun-steinke.",
    ),
    out: Path | None = typer.Option(None, "--out", help="Save both scenarios as a project (.phx)."),
    as_json: bool = JSON,
) -> None:
    """Reduce the noise of every measurement; the proven ε is at most the converted ε.

    Example: phexplore less-noise pl94-2020-persons-us --out less.phx
    """
    from phexplore.cli.solving import save_project
    from phexplore.errors import UnknownNameError
    from phexplore.model.conventions import Conversion
    from phexplore.model.numbers import exact_text
    from phexplore.systems.less_noise import less_noise as with_less_noise

    proven = {each.value: each for each in Conversion if each is not Conversion.GAUSSIAN_CONTINUOUS}
    if conversion not in proven:
        raise UnknownNameError("conversion", conversion, list(proven))
    start = load_scenario(scenario)
    found = with_less_noise(start, proven[conversion])
    if as_json:
        before, after = found.margins
        print_json(
            {
                "scenario": found.scenario.name,
                "factor": exact_text(found.factor),
                "variance_saved": found.variance_saved,
                "published": found.converted,
                "conversion": conversion,
                "proven": found.proven,
                "neighbours": found.neighbours.value,
                "delta": float(found.delta),
                "median_margin": {"before": before, "after": after},
            }
        )
    else:
        tell(found.sentence)
    if out is not None:
        save_project(start, found.scenario, "Same converted ε, narrower margins", out)


def compare(
    scenarios: list[str] = typer.Argument(help="Two or more SCENARIOs or run directories."),
    rules: str = typer.Option(
        "",
        "--rules",
        help="Decision rules (JSON file, or a name in your library): pass or fail of each, with distance.",
    ),
    as_json: bool = JSON,
) -> None:
    """Set scenarios and runs side by side: only what differs, and what it does.

    Example: phexplore compare sdhc-2020-us proposal.phx runs/first --rules rules.json
    """
    from phexplore.cli.comparing import compare_all, print_comparison

    print_comparison(compare_all(scenarios, rules), as_json=as_json)


def frontier(
    scenario: str = SCENARIO,
    weights: str = typer.Option(
        "targets", "--weights", help="targets, people or present: whose margins count how much."
    ),
    points: int = typer.Option(
        9, "--points", min=2, max=101, help="How many, from one quarter to four times the total."
    ),
    out: Path | None = typer.Option(None, "--out", help="Save the points as scenarios of a project (.phx)."),
    as_json: bool = JSON,
) -> None:
    """Show the smallest weighted margin for every total budget, and where one per cent more would buy most.

    Example: phexplore frontier sdhc-2020-us --out points.phx
    """
    from phexplore.cli.comparing import frontier_of, print_frontier, save_points

    found = frontier_of(scenario, weights, points)
    print_frontier(found, as_json=as_json)
    if out is not None:
        save_points(found, out)


def committee(
    members: list[str] = typer.Argument(help="The members' SCENARIOs."),
    baseline: str = typer.Option(
        "", "--baseline", help="Baseline of every difference; the preset of the first proposal when left out."
    ),
    out: Path | None = typer.Option(
        None, "--out", help="Save a consensus draft with all proposals as a project (.phx)."
    ),
    as_json: bool = JSON,
) -> None:
    """Show what each member proposes, smallest, middle and largest, and who left what untouched.

    Example: phexplore committee ada.phx grace.phx alan.phx --out consensus.phx
    """
    from phexplore.cli.comparing import committee_of, print_matrix, save_consensus

    matrix, proposals = committee_of(members, baseline)
    print_matrix(matrix, as_json=as_json)
    if out is not None:
        save_consensus(matrix, proposals, out)


def approve(
    scenario: str = SCENARIO,
    who: str = typer.Option(..., "--who", help="Who decides."),
    role: str = typer.Option(..., "--role", help="In which capacity."),
    status: str = typer.Option("approved", "--status", help="recommended, approved or superseded."),
    note: str = typer.Option("", "--note", help="Why."),
    runs: list[Path] = typer.Option([], "--runs", help="A run the decision rests on; repeat for several."),
    out: Path | None = typer.Option(None, "--out", help="Project to write; the project itself when left out."),
    clock_is_right: bool = typer.Option(
        False, "--clock-is-right", help="Confirm this computer's clock where an earlier decision is dated later."
    ),
) -> None:
    """Record who recommends or approves exactly these parameters. Any later edit is a new draft.

    Example: phexplore approve proposal.phx --who "Ada Lovelace" --role Chair --note "Vote of 1 July" --runs runs/first
    """
    from phexplore.decide.approving import decision_about
    from phexplore.decide.deciding import parse_status, record_decision
    from phexplore.report.terminal import say

    found, now = load_scenario(scenario), datetime.now(UTC)
    made = decision_about(found, parse_status(status), who=who, role=role, now=now, note=note, runs=runs)
    path = record_decision(made, found, scenario, out=out, is_clock_right=clock_is_right)
    tell(f"{made.scenario}: {made.status.value} by {made.who} ({made.role}), parameters {made.fingerprint}")
    say(f"Wrote {path}")


def bundle(
    scenario: str = typer.Argument(help="A SCENARIO, or a bundle to add signatures to."),
    out: Path = typer.Option(..., "--out", help="The bundle to write."),
    runs: list[Path] = typer.Option(
        [], "--runs", help="A run to cite, of exactly these parameters; repeat for several."
    ),
    sign: list[Path] = typer.Option([], "--sign", help="Private Ed25519 key (PEM or OpenSSH); repeat for several."),
    sign_with: list[str] = typer.Option(
        [],
        "--sign-with",
        help="Command that signs, for cards and agents: 'ssh-keygen -Y sign -f KEY.pub -n phexplore-bundle'.",
    ),
    signer: list[str] = typer.Option(
        [], "--signer", help="'Name, role' of each key, in the order of --sign, then of --sign-with."
    ),
    expect: list[Path] = typer.Option(
        [], "--expect", help="Public key of somebody who signs later; repeat for several."
    ),
    clearance: str = typer.Option("", "--clearance", help="Number of the review board."),
    leave_out_notes: bool = typer.Option(False, "--leave-out-notes", help="Keep free text out of the bundle."),
) -> None:
    """Write parameters, forecast, runs, log and decisions as one archive that anybody can check; sign it.

    Example: phexplore bundle proposal.phx --runs runs/first --sign ada.key --signer "Ada Lovelace, Chair" --out decision.zip
    """
    from phexplore.cli.approval_commands import bundle_or_sign
    from phexplore.decide.bundle_jobs import report_lines
    from phexplore.report.terminal import say

    made = bundle_or_sign(
        scenario,
        out,
        runs=runs,
        keys=sign,
        names=signer,
        commands=sign_with,
        expected=expect,
        clearance=clearance,
        keeps_notes=not leave_out_notes,
    )
    for _, sentence in report_lines(made):
        say(sentence)
    say(f"Wrote {out}, read it back and recomputed it; signatures: {len(made.signatures)}.")


def verify(
    bundle: Path = typer.Argument(help="A bundle."),
    trust: list[Path] = typer.Option([], "--trust", help="Public key whose signature counts; repeat for several."),
    require: int | None = typer.Option(
        None, "--require", min=1, help="Signatures by different trusted keys that must be there; 1 with --trust."
    ),
    certificate: Path | None = typer.Option(
        None, "--certificate", help="Render the certificate from the verified values to this file (.html or .pdf)."
    ),
    as_json: bool = JSON,
) -> None:
    """Recompute every part of a bundle from its parameters, compare, check the signatures, and list every finding.

    Without --trust, --require counts the keys of your own store (phexplore keys).

    Example: phexplore verify decision.zip --trust ada.pub --trust grace.pub --require 2 --certificate certificate.pdf
    """
    from phexplore.cli.approval_commands import print_report, print_verification_json
    from phexplore.decide.bundle_jobs import verify_file

    result, report = verify_file(bundle, trust, require, certificate)
    if as_json:
        print_verification_json(result)
    else:
        print_report(report)
    if not result.is_accepted:
        raise typer.Exit(1)


def add_key(
    key: Path = typer.Argument(help="A public key (.pub of OpenSSH, or .pem)."),
    name: str = typer.Option(..., "--name", help="Whose it is, after you have checked it with them."),
) -> None:
    """Add a public key to your store. Compare the fingerprint with its owner by telephone first.

    Example: phexplore keys add ada.pub --name "Ada Lovelace"
    """
    from phexplore.decide.signing import load_public_key
    from phexplore.decide.trusted_keys import trust_key

    added = trust_key(name, load_public_key(key))
    tell(f"{added.fingerprint}  {added.name}")


def list_keys(as_json: bool = JSON) -> None:
    """List the keys of your store with their full fingerprints (SHA-256 of the 32 bytes of the key).

    Example: phexplore keys list
    """
    from phexplore.decide.trusted_keys import store_path, trusted_keys

    found = trusted_keys()
    if as_json:
        print_json([{"fingerprint": key.fingerprint, "name": key.name} for key in found])
    elif found:
        print_table(("fingerprint", "whose"), [(key.fingerprint, key.name) for key in found])
    else:
        say(f"No key is in the store {store_path()}.")


def remove_key(fingerprint: str = typer.Argument(help="All 64 digits, as phexplore keys list prints them.")) -> None:
    """Remove a key from your store.

    Example: phexplore keys remove 904ce312eed95827eccbee0bbd939095fadc9b9442d19b96af8449128a86f79d
    """
    from phexplore.decide.trusted_keys import forget_key

    removed = forget_key(fingerprint)
    tell(f"Removed {removed.fingerprint}  {removed.name}")
