"""What a bundle is, or exactly what was altered, in words. No Qt."""

from __future__ import annotations

from phexplore.decide.bundle_jobs import BundleReport
from phexplore.errors import visible
from phexplore.gui.decision.approval_state import clock

_NAMED_BY_ITSELF = (
    "A name in a signature is what its signer wrote. Check with the signer, by telephone, that this key is theirs, then add "
    "it to the keys you trust."
)


def headline(report: BundleReport) -> tuple[str, str]:
    """Return the finding and its look."""
    if not report.is_intact:
        count = len(report.alterations)
        return f"Not intact: {count} finding" + ("" if count == 1 else "s"), "refused"
    if report.shortfall:
        return "Intact, but not signed by enough keys you trust", "refused"
    if report.awaited:
        count = len(report.awaited)
        return f"Intact, {count} signature" + ("" if count == 1 else "s") + " still to come", "attention"
    if not report.signatures:
        return "Intact, unsigned", "attention"
    unknown = sum(not one.owner for one in report.signatures)
    if unknown:
        return "Intact, signed by " + ("an unknown key" if unknown == 1 else f"{unknown} unknown keys"), "muted"
    count = len(report.signatures)
    return f"Intact and signed by {count} " + ("key" if count == 1 else "keys") + " you trust", "good"


def lines(report: BundleReport) -> list[tuple[str, str]]:
    """Return symbol and sentence of everything there is to say, what is wrong first; text of the bundle cannot pass for ours."""
    said = [("error", visible(f"{part}: {sentence}")) for part, sentence in report.alterations]
    if report.shortfall:
        said.append(("error", report.shortfall))
    if report.is_intact:
        said.append(("tick", "Every part is as handed over and agrees with what is recomputed from the parameters."))
        said += [("info", visible(f"{name}: {text}")) for name, text in report.stated]
    for one in report.signatures:
        who = visible(f"{one.name}, {one.role}" if one.role else one.name)
        when = visible(f"{clock(one.at)} UTC")
        if not report.is_intact:
            said.append(("info", f"The signature of {who}, {when}, fits the manifest; the bundle is not intact"))
        elif one.owner:
            said.append(("tick", f"Signed with the key of {visible(one.owner)}, as {who}, {when}, key {one.key_id}"))
        else:
            said.append(("info", f"Signed by an unknown key {one.key_id}, which gives the name {who}, {when}"))
    said += [("warning", f"Not signed yet: key {key}") for key in report.awaited]
    if any(not one.owner for one in report.signatures):
        said.append(("info", _NAMED_BY_ITSELF))
    said += [("info", visible(note)) for note in report.notes]
    said.append(("info", f"SHA-256 of the file {report.sha256}"))
    return said
