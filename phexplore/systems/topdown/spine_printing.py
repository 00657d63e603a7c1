"""How commands print spines: levels, distances, bypassed units, predicted margins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from phexplore.report.terminal import print_json, print_table, say, tell

if TYPE_CHECKING:
    from phexplore.spine.description import SpineDescription
    from phexplore.systems.topdown.spine_forecast import SpineComparison


def show_description(found: SpineDescription, *, as_json: bool) -> None:
    """Print what a spine is.

    Args:
        found: what was found.
        as_json: for programs; else for people.
    """
    content = found.json()
    if as_json:
        print_json(content)
        return
    for sentence in (*_summary(found), found.spine.geography.provenance.sentence):
        tell(sentence)
    tell()
    rows = [[level["name"], f"{level['units']:,}", *_fan_out(level["fan_out"])] for level in content["levels"]]
    print_table(("level", "units", "children: fewest", "median", "most"), rows, right=(1, 2, 3, 4))
    tell()
    rows = [
        [
            each["class"],
            f"{each['entities']:,}",
            f"{each['standard']['mean']:.2f}",
            f"{each['this']['mean']:.2f}",
            f"{each['standard']['max']:,}",
            f"{each['this']['max']:,}",
            each["reason"] or "",
        ]
        for each in content["distance"]
    ]
    print_table(
        ("areas", "number", "mean distance: standard", "this", "largest: standard", "this", "why"),
        rows,
        right=range(1, 6),
    )
    tell()
    bypassed = content["bypassed"]
    tell(
        f"Bypassed with the budgets of {bypassed['scenario']} (rule {bypassed['rule']}): {bypassed['units']:,} units; "
        f"budget moved, all units added up: {bypassed['budget_moved']} of the total."
    )
    for level in bypassed["levels"]:
        shares = ", ".join(f"{share['share']} at {share['units']:,}" for share in level["shares"])
        tell(f"  {level['level']}: {level['units']:,} ({shares})")
    tell(f"Every path from the root to a block carries {bypassed['path_total']} of the total.")
    for part in bypassed["unspent"]:
        tell(f"Unspent, because these blocks have no such level: {part['level']} ({part['share']}).")
    for remark in content["remarks"]:
        say(remark)


def _summary(found: SpineDescription) -> list[str]:
    """Return what the spine does to areas, and why."""
    from phexplore.spine.description import class_entities, is_targeted  # noqa: PLC0415 - only this pays for it
    from phexplore.systems.topdown.spine_findings import summary  # noqa: PLC0415 - only this pays for it

    targeted = [is_targeted(found.spine, each.name, class_entities(found.spine, each.name)) for each in found.classes]
    return [sentence for sentence in summary(found.classes, targeted) if sentence]


def _fan_out(quantiles: dict[str, float]) -> Sequence[str]:
    if not quantiles:
        return ("", "", "")
    return tuple(f"{quantiles[share]:,.0f}" for share in ("0.0", "0.5", "1.0"))


def print_variances(found: SpineComparison) -> None:
    """Print predicted margins of levels and areas, and what no prediction sees."""
    content = found.json()
    titles = ("level", "units", "query", "answer", "mean margin", "largest")
    has_pooled = found.pooled is not None
    rows = [
        [
            level["level"],
            f"{level['units']:,}",
            query["query"],
            _answer(answer),
            *_margins(answer),
            *([_part(answer["pooled_rho"])] if has_pooled else []),
        ]
        for level in content["levels"]
        for query in level["queries"]
        for answer in query["answers"]
    ]
    print_table((*titles, "pooled: ρ for the same") if has_pooled else titles, rows, right=(1, 4, 5, 6))
    tell()
    rows = [
        [
            each["class"],
            f"{each['entities']:,}",
            query["query"],
            _answer(answer),
            _margins(answer["standard"])[0] if answer["standard"] else "",
            _margins(answer["this"])[0],
            _margins(answer["added"])[0],
        ]
        for each in content["entities"]
        for query in each["queries"]
        for answer in query["answers"]
    ]
    print_table(
        ("areas", "number", "query", "answer", "mean margin: standard", "this", "this, parts added"),
        rows,
        right=(1, 4, 5, 6),
    )
    tell()
    if content["standard_missing"]:
        tell(content["standard_missing"])
    tell(content["unseen"])
    for remark in content["remarks"]:
        say(remark)


def _part(share: float | None) -> str:
    return "" if share is None else f"× {share:.3f}"


def _answer(answer: dict[str, Any]) -> str:
    words = " × ".join(answer["answer"])
    return f"{words} (and {answer['alike'] - 1:,} alike)" if answer["alike"] > 1 else words


def _margins(figures: dict[str, Any]) -> tuple[str, str]:
    moe = figures["moe"]
    if moe is None:
        return "", ""
    return tuple("not determined" if moe[name] is None else f"{moe[name]:,.2f}" for name in ("mean", "max"))  # type: ignore[return-value]
