"""The figures of a TopDown scenario in the form all systems share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from phexplore.accuracy.absurd_values import LEAST_MARGIN, far_apart, hardly_meant, total_warnings
from phexplore.model.conventions import Neighbours
from phexplore.model.issues import Issue
from phexplore.model.scenario import Scenario
from phexplore.systems.protocol import Entry, Forecast, Loss
from phexplore.systems.topdown.forecast import JointRelease, forecast_topdown, joint_release
from phexplore.systems.topdown.presets import topdown_presets
from phexplore.systems.topdown.proven_loss import joint, noise_of_release, possible_halves, proven_parts
from phexplore.systems.topdown.wording import level_title, query_title
from phexplore.workload.schema import load_schema


def loss(scenario: Scenario) -> Loss:
    """Return the loss when one record is replaced."""
    return Loss(scenario.topdown.framework, scenario.topdown.total, Neighbours.BOUNDED)


def forecast(scenario: Scenario) -> Forecast:
    """Return all figures; entries are query groups at geographic levels."""
    method = scenario.topdown
    detail = forecast_topdown(method, scenario.conventions)
    noise = noise_of_release(method, detail)
    entries = tuple(Entry(e.key, e.key.level, e.key.query, e.budget, e.margins) for e in detail.entries)
    exact = tuple(
        f"{level}: {', '.join(names)} published exactly, without any protection."
        for level, names in scenario.topdown.invariants.items()
        if names
    )
    return Forecast(
        loss(scenario),
        entries,
        (),
        exact,
        detail,
        detail.epsilons,
        noise,
        partial(possible_halves, method),
        partial(proven_parts, method, detail),
    )


def joint_with_partner(scenario: Scenario) -> JointRelease | None:
    """Return the loss of persons and units as one release, where the preset it started from has a partner."""
    preset = topdown_presets().get(scenario.baseline)
    if preset is None or not preset.partner:
        return None
    return joint_release(scenario.topdown, preset.partner, topdown_presets()[preset.partner].scenario.topdown)


def proven_joint(scenario: Scenario, release: JointRelease | None) -> tuple[float, float] | None:
    """Return the proven ε of both parts as one release; None without a partner.

    Args:
        scenario: of TopDown.
        release: both parts.
    """
    if release is None:
        return None
    return joint([forecast(scenario).noise, forecast(topdown_presets()[release.partner].scenario).noise])


def absurd_values(scenario: Scenario, reference: Scenario | None) -> Iterator[Issue]:
    """Yield a warning for every margin and budget that looks like a slip.

    Args:
        scenario: of TopDown.
        reference: what it is compared with, None for nothing.
    """
    method = scenario.topdown
    figures = forecast_topdown(method, scenario.conventions)
    convention = scenario.conventions.margin
    narrow = [e for e in figures.entries if e.margins is not None and e.margins.by(convention) < LEAST_MARGIN]
    record = load_schema(method.schema).record
    for level in dict.fromkeys(entry.key.level for entry in narrow):
        names = [entry.key.query for entry in narrow if entry.key.level == level]
        yield hardly_meant(
            ("queries", level), f"Margins at {level_title(level)} are below one {record}: {_first_of(names)}."
        )
    if reference is None or reference.topdown.framework is not method.framework:
        return
    if total := tuple(total_warnings(method.total, reference.topdown.total)):
        yield from total  # every query is far then: said once
        return
    known = {entry.key: entry for entry in forecast_topdown(reference.topdown, reference.conventions).entries}
    far: dict[tuple[str, str], list[str]] = {}
    for entry in figures.entries:
        before = known.get(entry.key)
        if before is not None and (ratio := far_apart(entry.budget, before.budget)):
            far.setdefault((entry.key.level, ratio), []).append(entry.key.query)
    for (level, ratio), names in far.items():
        budgets, that, they = ("budget", "that", "it is") if len(names) == 1 else ("budgets", "those", "they are")
        looks = "looks" if len(names) == 1 else "look"
        said = f"The {budgets} of {_first_of(names)} at {level_title(level)} {looks} like a slip: {they} {ratio} {that} of the reference."
        yield hardly_meant(("queries", level), said)


def _first_of(queries: Sequence[str]) -> str:
    more = f" and {len(queries) - 1} more" if len(queries) > 1 else ""
    return f"{query_title(queries[0])}{more}"
