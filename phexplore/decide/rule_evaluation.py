"""How scenarios and runs do on decision rules: pass or fail, and how far from the limit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from phexplore.accuracy.margins import NINETY_PERCENT, is_met
from phexplore.errors import PhexploreError
from phexplore.lazy import lazy
from phexplore.model.rules import Bound, Measure, Outcome, Rule, Verdict, judged, not_judged
from phexplore.model.scenario import Scenario
from phexplore.runs.summary_shape import failed_checks
from phexplore.systems.registry import forecast, loss_of, margins_of_entries, system_of

_load_summary = lazy("phexplore.runs.confidentiality", "summary_to_leave")

Summary = Mapping[str, Any]

SUMMARY_PEOPLE, SUMMARY_TOLERANCE = 500, Fraction(1, 20)
"""The criterion that summaries of runs are made with."""


def judge(rules: Sequence[Rule], scenario: Scenario, summary: Summary | None = None) -> tuple[Verdict, ...]:
    """Return the verdict of every rule.

    Args:
        rules: to be judged.
        scenario: the parameters.
        summary: content of ``summary.json`` of a run of exactly these parameters; None judges the scenario alone.
    """
    return tuple(_judge(rule, scenario, summary) for rule in rules)


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """What is judged: rules, scenarios, and runs with the scenario each was made of and what it is called."""

    rules: tuple[Rule, ...]
    scenarios: tuple[Scenario, ...]
    runs: tuple[tuple[Path, Scenario, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class JudgeAnswer:
    """Names and verdicts, a column each: scenarios first, then runs; and the names of runs that cannot be read."""

    request: JudgeRequest
    columns: tuple[tuple[str, tuple[Verdict, ...]], ...]
    unread: tuple[str, ...] = ()


def judge_everything(request: JudgeRequest) -> JudgeAnswer:
    """Return the verdicts on every scenario and on every run that can be read."""
    columns = [(scenario.name, judge(request.rules, scenario)) for scenario in request.scenarios]
    unread = []
    for directory, scenario, name in request.runs:
        summary = None
        with suppress(PhexploreError):
            summary = _load_summary(directory)
        if summary is None:
            unread.append(name)
        else:
            columns.append((name, judge(request.rules, scenario, summary)))
    return JudgeAnswer(request, tuple(columns), tuple(unread))


def never_judged(measure: Measure, scenario: Scenario) -> str:
    """Return why no run and no forecast of this system can judge a measure, "" when one can.

    Args:
        measure: of a rule.
        scenario: of any system.
    """
    if measure is Measure.LARGEST_GROUP and not system_of(scenario).has_geography:
        return "only TopDown runs count people by place, race and Hispanic origin, as redistricting needs"
    return ""


def _judge(rule: Rule, scenario: Scenario, summary: Summary | None) -> Verdict:
    if reason := never_judged(rule.measure, scenario):
        return not_judged(rule, reason)
    if rule.measure.needs_run and summary is None:
        return not_judged(rule, "only a run can tell")
    return _JUDGES[rule.measure](rule, scenario, summary or {})


def _worst(rule: Rule, values: Sequence[tuple[str, float, float | None, float | None]], nothing: str) -> Verdict:
    """Return the verdict on the place that does worst: one that fails, else one with too few values to judge."""
    if not values:
        return not_judged(rule, nothing)
    found = [judged(rule, value, where, low=low, high=high) for where, value, low, high in values]
    severity = (Outcome.FAIL, Outcome.TOO_FEW, Outcome.PASS)
    return min(found, key=lambda each: (severity.index(each.outcome), each.distance))


def _matches(rule: Rule, place: str) -> bool:
    """Return whether a rule about a table, a level or a query speaks of a place ``PH3/state_A-G``."""
    return not rule.place or rule.place == place or rule.place in place.split("/")


def _margin(rule: Rule, scenario: Scenario, summary: Summary) -> Verdict:
    if summary:
        aimed = float(scenario.conventions.confidence)
        for _, entry in _metrics(summary):
            if (held := _confidence(entry)) not in {None, aimed}:
                return not_judged(
                    rule, f"the run observed margins at {_percent(held)}, here they are at {_percent(aimed)}"
                )
        observed = [
            (place, float(entry["observed_margin"]["value"]), _end(entry["observed_margin"], "low"),
             _end(entry["observed_margin"], "high"))
            for place, entry in _metrics(summary)
            if _matches(rule, place) and isinstance(entry.get("observed_margin"), dict)
            and entry["observed_margin"].get("value") is not None
        ]  # fmt: skip
        if observed:
            return _in_its_unit(scenario, _worst(rule, observed, ""))
    margins = {place: value for place, value in margins_of_entries(scenario).items() if _matches(rule, place)}
    values = [(place, _to_a_person(value, rule), None, None) for place, value in margins.items() if value is not None]
    is_unknown = rule.place and not margins
    nothing = f"nothing {'here is called' if is_unknown else 'is published at'} {rule.place or 'any place'}"
    return _in_its_unit(scenario, _worst(rule, values, nothing))


def _in_its_unit(scenario: Scenario, verdict: Verdict) -> Verdict:
    """Return a verdict on a margin with what the query that decides counts."""
    key = next((entry.key for entry in forecast(scenario).entries if entry.place == verdict.where), None)
    return replace(verdict, counted=system_of(scenario).counted(scenario, key))


def _confidence(entry: Mapping[str, Any]) -> float | None:
    """Return the confidence at which the margin of an entry was observed, None where it says none."""
    return _end(entry, "confidence")


def _percent(confidence: float | None) -> str:
    return f"{100 * (confidence or 0.0):.10g} %"


def _to_a_person(value: float, rule: Rule) -> float:
    """Return a margin, at its limit where it keeps that to the nearest person, as targets do everywhere in the program."""
    keeps = rule.bound is Bound.AT_MOST and is_met(value, rule.limit)
    return min(value, float(rule.limit)) if keeps else value


def _end(value: Mapping[str, Any], name: str) -> float | None:
    found = value.get(name)
    return float(found) if isinstance(found, int | float) else None


def _loss(rule: Rule, scenario: Scenario, _: Summary) -> Verdict:
    bound = loss_of(scenario).bound
    if bound is None:
        return not_judged(rule, "the loss has no bound")
    # ρ of one system and ε of another meet the same limit: the verdict says which of them it is.
    return replace(judged(rule, bound, _neighbours(scenario)), counted=loss_of(scenario).framework.symbol)


def _epsilon(rule: Rule, scenario: Scenario, _: Summary) -> Verdict:
    value = loss_of(scenario).epsilon
    return not_judged(rule, "the loss has no bound") if value is None else judged(rule, value, _neighbours(scenario))


def _proven(rule: Rule, scenario: Scenario, _: Summary) -> Verdict:
    value = forecast(scenario).proven()
    if value is None:
        return not_judged(rule, "only ε of discrete Gaussian noise is proven")
    return judged(rule, value, _neighbours(scenario))


def _neighbours(scenario: Scenario) -> str:
    """Return which data sets a loss compares: scenarios judged side by side may follow other conventions."""
    return f"{loss_of(scenario).neighbours.value} neighbors"


def _largest_group(rule: Rule, _: Scenario, summary: Summary) -> Verdict:
    if (rule.least_people, rule.tolerance) != (SUMMARY_PEOPLE, SUMMARY_TOLERANCE):
        return not_judged(
            rule,
            "run summaries use areas of 500 people or more and 5 percentage points; use auto-tuning for other values",
        )
    values = []
    for entry in summary.get("redistricting", ()):
        share = entry["criterion"]["share"]
        if _matches(rule, str(entry["level"])) and share.get("of"):
            # Exact at the limit: 19 of 20 is 95 %.
            value = float(Fraction(int(share["held"]), int(share["of"])))
            values.append((str(entry["level"]), value, _end(share, "low"), _end(share, "high")))
    return _worst(rule, values, "the run has no areas of that size, or no groups")


def _coverage(rule: Rule, _: Scenario, summary: Summary) -> Verdict:
    if rule.place:
        values = [
            (place, float(entry["coverage"]["value"]), _end(entry["coverage"], "low"), _end(entry["coverage"], "high"))
            for place, entry in _metrics(summary)
            if _matches(rule, place) and isinstance(entry.get("coverage"), dict)
            and entry["coverage"].get("value") is not None
        ]  # fmt: skip
        return _worst(rule, values, f"the run counts no coverage at {rule.place}")
    whole = summary.get("coverage")
    if not isinstance(whole, dict) or whole.get("value") is None:
        return not_judged(rule, "the run counts no coverage")
    return judged(rule, float(whole["value"]), low=_end(whole, "low"), high=_end(whole, "high"))


def _error(rule: Rule, _: Scenario, summary: Summary) -> Verdict:
    values = []
    for place, entry in _metrics(summary):
        value = _figure(entry, rule.figure)
        if _matches(rule, place) and value is not None:
            # A bias is as bad below 0 as above: the limit is of its size.
            values.append((place, abs(value), None, None))
    return _worst(rule, values, f"the run has no figure {rule.figure!r} at {rule.place or 'any place'}")


def _checks(rule: Rule, _: Scenario, summary: Summary) -> Verdict:
    checks = summary.get("checks")
    if not isinstance(checks, dict) or "left_out" in summary:
        held = "the outcomes of checks on confidential records are not released"
        return not_judged(rule, held if "left_out" in summary else "the run was not checked")
    failed = failed_checks(checks)
    return judged(rule, float(len(failed)), ", ".join(failed))


_JUDGES: Mapping[Measure, Callable[[Rule, Scenario, Summary], Verdict]] = {
    Measure.MARGIN: _margin,
    Measure.LOSS: _loss,
    Measure.EPSILON: _epsilon,
    Measure.PROVEN: _proven,
    Measure.LARGEST_GROUP: _largest_group,
    Measure.COVERAGE: _coverage,
    Measure.ERROR: _error,
    Measure.CHECKS: _checks,
}


def _metrics(summary: Summary) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield place and figures of every entry.

    ``PH3/state_A-G`` for PHSafe, ``Block/total`` for TopDown, ``County/one size`` for group sizes, the release under exact sums.
    """
    for entry in summary.get("metrics", ()):
        if "release" in entry:
            yield str(entry["release"]), entry
        elif "table" in entry:
            yield f"{entry['table']}/{entry['level']}", entry
        else:
            yield f"{entry.get('level', '')}/{entry.get('query', 'one size')}", entry


def _figure(entry: Mapping[str, Any], name: str) -> float | None:
    """Return a figure of errors: with an interval of its own, as a mean over trials, or plain; None without it."""
    found = entry.get("total", entry).get(name)
    if isinstance(found, Mapping):
        found = found.get("value", found.get("mean"))
    return float(found) if isinstance(found, int | float) else None


def run_metrics(summary: Summary, figures: Sequence[str] = ("mae", "rmse")) -> dict[tuple[str, str], float]:
    """Return measured figures by (place, figure), to be set beside those of other runs.

    Where one place has several margins, as owners and renters of PH8_num, the figure names the cells; a margin at another
    confidence than 90 % is another figure, and names it.

    Args:
        summary: of a run, plain JSON.
        figures: ids of the metrics to return.
    """
    found: dict[tuple[str, str], float] = {}
    entries = Counter(place for place, _ in _metrics(summary))
    for place, entry in _metrics(summary):
        cells = "".join(f", cell {cell}" for cell in entry.get("cells", ())) if entries[place] > 1 else ""
        for figure in figures:
            if (value := _figure(entry, figure)) is not None:
                found[place, f"{figure}{cells}"] = value
        observed = (
            entry.get("observed_margin", {}).get("value") if isinstance(entry.get("observed_margin"), dict) else None
        )
        if observed is not None:
            confidence = _confidence(entry)
            at = "" if confidence in {None, float(NINETY_PERCENT)} else f" at {_percent(confidence)}"
            found[place, f"observed margin{at}{cells}"] = float(observed)
    return found
