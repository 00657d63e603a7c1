"""From the checks of plausibility to their picture: what fails first, true beside published, the oddest places. No Qt."""

from __future__ import annotations

from phexplore.figures.axis import Axis, Scale
from phexplore.figures.figure import Figure, nothing, row_figure
from phexplore.figures.marks import Row
from phexplore.figures.table import Table
from phexplore.figures.wording import people
from phexplore.systems.topdown.result_pictures import trials_words
from phexplore.systems.topdown.run_contents import OddPlace, PlausibleCheck, PlausibleContent
from phexplore.systems.topdown.wording import level_title

_FAILS, _PASSES, _NOT_MADE = "More than in truth", "Pass", "Not checked"
_NAMED = 3


def verdict(check: PlausibleCheck) -> str:
    """Return whether published data are odder than the truth: "More than in truth", "Pass" or "Not checked"."""
    if check.result.missing:
        return _NOT_MADE
    return _FAILS if check.mean > (check.result.found_truth or 0) else _PASSES


def plausible_rows(content: PlausibleContent) -> Figure:
    """Return one row per check: units found in the truth as a stroke, in published data as a dot with the range over trials."""
    if not content.checks:
        return nothing("plausible-rows", content.reason)
    order = [_FAILS, _PASSES, _NOT_MADE]
    listed = sorted(content.checks, key=lambda check: (order.index(verdict(check)), check.result.number))
    made = [check for check in listed if not check.result.missing]
    failed = [check for check in made if verdict(check) == _FAILS]
    partner = f" With the records of {content.partner}." if content.partner else ""
    return row_figure(
        "plausible-rows",
        tuple(_row(check, content.trials) for check in listed),
        Axis("units that look impossible or improbable", Scale.COUNT),
        _title(made, failed),
        f"The 23 checks of the census metrics, {trials_words(content.trials)}: strokes are found in the true counts, dots in the "
        f"published ones on average, whiskers from fewest to most.{partner} {len(listed) - len(made)} checks need records that "
        "this run does not have. Enter or double click shows the oddest place.",
        Table(
            (
                "Check",
                "What is counted",
                "Level",
                "Result",
                "Applies to",
                "Found, true",
                "Found, published",
                "Fewest",
                "Most",
                "Oddest places",
                "Why not, notes",
            ),
            tuple(_cells(check) for check in listed),
        ),
    )


def _title(made: list[PlausibleCheck], failed: list[PlausibleCheck]) -> str:
    if not made:
        return "No check can be made with these records"
    if not failed:
        return f"{len(made)} checks made: published counts are nowhere odder than the true ones"
    worst = max(failed, key=lambda check: check.mean - (check.result.found_truth or 0))
    more = worst.mean - (worst.result.found_truth or 0)
    return (
        f"{len(failed)} of {len(made)} checks find more than in the truth, most: {people(more)} more "
        f"{worst.result.title[0].lower()}{worst.result.title[1:]}"
    )


def _row(check: PlausibleCheck, trials: int) -> Row:
    result, group = check.result, verdict(check)
    name = f"{result.number} {result.title}"
    if result.missing:
        return Row(None, group, name, text=result.missing, tip=f"{name}\n{result.missing}. {result.note}".strip())
    true = "" if result.found_truth is None else f"{result.found_truth:,} → "
    places = "; ".join(_place_words(place, trials) for place in check.places[:_NAMED])
    return Row(
        (result.level, check.places[0].code) if check.places else None,
        group,
        name,
        value=check.mean,
        low=float(min(check.published)),
        high=float(max(check.published)),
        tick=None if result.found_truth is None else float(result.found_truth),
        text=f"{true}{people(check.mean)} of {result.applies_published or 0:,}",
        tip=f"{name}\n{true}{people(check.mean)} of {result.applies_published or 0:,} units\n{places}\n{result.note}".strip(),
        is_warned=group == _FAILS,
    )


def _place_words(place: OddPlace, trials: int) -> str:
    code = place.code or "the root"
    truth = ", true as well" if place.in_truth else ""
    return f"{code} ({place.people:,}, in {place.trials} of {trials_words(trials)}{truth})"


def _cells(check: PlausibleCheck) -> tuple[str | int | float | None, ...]:
    result = check.result
    head = (str(result.number), result.title, level_title(result.level), verdict(check))
    if result.missing:
        return (*head, None, None, None, None, None, "", f"{result.missing}. {result.note}".strip())
    codes = ", ".join(place.code for place in check.places)
    found = (result.applies_published, result.found_truth, check.mean, min(check.published), max(check.published))
    return (*head, *found, codes, result.note)
