"""Decision rules and what they say, in words.

Args:
    rule: the decision rule.
    verdict: what the rule says of a scenario or a run.
    value: what the rule measured, in the unit of its measure.
    tiles: the tiles of the headline, of which the second receives the verdicts.
    workbook: the project, whose rules are evaluated.
    scenario: the scenario they are evaluated for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from phexplore.decide.rule_evaluation import judge
from phexplore.figures.table import AtLeast, AtMost, shown
from phexplore.figures.tile import TileContent, Tone
from phexplore.figures.wording import capital, with_unit
from phexplore.model.rounded import percent
from phexplore.model.rules import Bound, Measure, Outcome, Rule, Verdict
from phexplore.model.scenario import Scenario
from phexplore.model.workbook import Workbook

SYMBOLS = {Outcome.PASS: "✓", Outcome.FAIL: "✗", Outcome.TOO_FEW: "?", Outcome.NOT_JUDGED: "–"}
"""Pass and fail are told apart without colour."""


LOSSES = frozenset({Measure.LOSS, Measure.EPSILON, Measure.PROVEN})
"""Of the whole: the verdict names its neighbours, and no digit is rounded towards less of it."""


def rule_title(rule: Rule) -> str:
    """Return a rule as a heading."""
    return capital(rule.title)


def amount(verdict: Verdict, value: float) -> str:
    """Return a value of a rule's measure with its unit."""
    match verdict.rule.measure:
        case Measure.LARGEST_GROUP | Measure.COVERAGE:
            return percent(Fraction(value).limit_denominator(10**9), places=2)
        case Measure.MARGIN:
            return with_unit(value, verdict.counted)
        case Measure.CHECKS:
            return f"{value:.0f}"
        case Measure.LOSS:
            return f"{verdict.counted} {shown(AtMost(value))}"
        case Measure.EPSILON | Measure.PROVEN:
            return f"ε {shown(AtMost(value))}"
        case _:
            return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def distance_text(verdict: Verdict) -> str:
    """Return how far a value is from the limit and on which side, e.g. ``12 people over``."""
    distance, measure = verdict.distance or 0.0, verdict.rule.measure
    if measure.is_share:
        text = f"{abs(distance) * 100:.2f} percentage points"
    elif measure in LOSSES:
        text = shown(AtLeast(distance) if distance >= 0 else AtMost(-distance))
    else:
        text = amount(verdict, abs(distance))
    if verdict.outcome is Outcome.PASS:
        return f"{text} to spare"
    return f"{text} {'over' if verdict.rule.bound is Bound.AT_MOST else 'short'}"


def verdict_text(verdict: Verdict) -> str:
    """Return a verdict in a few words, e.g. ``✓ 93.1 %, 2.10 percentage points to spare``."""
    symbol = SYMBOLS[verdict.outcome]
    if verdict.value is None or verdict.distance is None:
        return f"{symbol} not judged: {verdict.reason}"
    if verdict.outcome is Outcome.TOO_FEW and verdict.low is not None and verdict.high is not None:
        ends = f"{amount(verdict, verdict.low)} to {amount(verdict, verdict.high)}"
        return f"{symbol} {amount(verdict, verdict.value)}, too few to judge: the interval {ends} contains the limit"
    return f"{symbol} {amount(verdict, verdict.value)}, {distance_text(verdict)}"


def verdict_detail(verdict: Verdict) -> str:
    """Return everything about a verdict: the rule, the deciding place, the interval over trials, or why there is none."""
    lines = [rule_title(verdict.rule)]
    if verdict.outcome is Outcome.NOT_JUDGED:
        return f"{lines[0]}: not judged, {verdict.reason}"
    lines.append(verdict_text(verdict))
    if verdict.where:
        lines.append(f"{'For' if verdict.rule.measure in LOSSES else 'Decided by'} {verdict.where}")
    if verdict.low is not None and verdict.high is not None:
        lines.append(f"Between {amount(verdict, verdict.low)} and {amount(verdict, verdict.high)} over trials")
    return "\n".join(lines)


def verdict_summary(verdicts: Sequence[Verdict], *, names_place: bool = True) -> str:
    """Return how a scenario or a run does on all rules, the first miss named; "" without rules.

    Args:
        verdicts: on each rule.
        names_place: whether the place of the first miss is named, too.
    """
    if not verdicts:
        return ""
    passed = sum(each.outcome is Outcome.PASS for each in verdicts)
    failed = [each for each in verdicts if each.outcome is Outcome.FAIL]
    few = sum(each.outcome is Outcome.TOO_FEW for each in verdicts)
    waiting = len(verdicts) - passed - len(failed) - few
    if waiting == len(verdicts):
        rules = "1 rule" if waiting == 1 else f"{waiting} rules"
        return f"{rules} not judged: {verdicts[0].reason}"
    text = f"{passed} of {len(verdicts)} rules pass"
    if failed:
        first = failed[0]
        # Of a scenario and of its run other places may decide: without them one rule would seem missed by two amounts.
        is_one = not names_place or first.rule.measure in LOSSES or first.where in {"", first.rule.place}
        text += f"; ✗ {first.rule.title}: {distance_text(first)}" + ("" if is_one else f" at {first.where}")
        if (more := len(failed) - 1) > 0:
            text += f"; {more} more {'fails' if more == 1 else 'fail'}"
    for count, outcome in ((few, Outcome.TOO_FEW), (waiting, Outcome.NOT_JUDGED)):
        if count:
            text += f"; {count} {outcome.value}"
    return text


def with_rules(
    tiles: tuple[TileContent, ...], workbook: Workbook, scenario: Scenario, run: Mapping[str, Any] | None = None
) -> tuple[TileContent, ...]:
    """Return the tiles of the headline with the verdicts of the project's rules in the second; as they are without rules.

    Args:
        tiles: of the headline.
        workbook: the project.
        scenario: the active one.
        run: summary of its last run, of exactly its parameters: it judges what no forecast can; None for none.
    """
    if not workbook.rules:
        return tiles
    verdicts = forecast = judge(workbook.rules, scenario)
    if run is not None:
        both = zip(forecast, judge(workbook.rules, scenario, run), strict=True)
        verdicts = tuple(ran if of.outcome is Outcome.NOT_JUDGED else of for of, ran in both)
    tile = tiles[1]
    outcomes = {each.outcome for each in verdicts}
    # Where there is no room for all, how many rules pass stands, and what the tile is about.
    passed, _, missed = verdict_summary(verdicts, names_place=False).partition("; ")
    if [each.outcome for each in verdicts] != [each.outcome for each in forecast]:
        passed += " (with the last run)"
    change = " · ".join(filter(None, (passed, tile.change, missed)))
    tone = tile.tone
    if Outcome.FAIL in outcomes:
        tone = Tone.ATTENTION
    elif outcomes & {Outcome.NOT_JUDGED, Outcome.TOO_FEW} and tone is Tone.GOOD:
        tone = Tone.NEUTRAL
    return (tiles[0], TileContent(tile.caption, tile.value, tile.beside, change, tone), *tiles[2:])
