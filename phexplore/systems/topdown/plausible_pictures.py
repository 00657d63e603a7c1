"""The 23 checks of impossible and improbable results on a TopDown run, with those of a run of the other records. No Qt.

What fails comes first; the truth stands beside what was published, and the oddest places are named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phexplore.errors import PhexploreError
from phexplore.figures.axis import Axis, Scale
from phexplore.figures.figure import Figure, nothing, row_figure
from phexplore.figures.marks import Row
from phexplore.figures.table import Table, Value
from phexplore.figures.wording import people
from phexplore.metrics.topdown.plausibility import (
    CheckResult,
    UnitFigures,
    figures_of_ages,
    figures_of_housing,
    figures_of_persons,
    plausibility,
    with_housing,
)
from phexplore.systems.topdown.error_pictures import trials_words
from phexplore.systems.topdown.facilities import read_facilities
from phexplore.systems.topdown.open_run import Fold, Levels, TopDownRun
from phexplore.systems.topdown.run_choice import TopDownChoice
from phexplore.systems.topdown.summary import answers
from phexplore.systems.topdown.wording import level_title

CHECKED_LEVELS = ("State", "Tract", "Block")
MOST_PLACES = 20
HOUSING_SCHEMA = "pl94_units"
_NO_CHECK = "None of the checks can be made with the records of this schema ({schema})."
_FAILS, _PASSES, _NOT_MADE = "More than in truth", "Pass", "Not checked"
_NAMED = 3

Integers = NDArray[np.int64]


def plausible_figure(run: TopDownRun, choice: TopDownChoice) -> Figure:
    """Return one row per check: units found in the truth as a stroke, in published data as a dot with the range over trials.

    Args:
        run: the one looked at.
        choice: a run of the other records of the same blocks, None without one.

    Raises:
        RunUnreadableError: the facilities beside a run cannot be read.
    """
    partner = choice.partner
    if partner is not None and (is_housing(run) == is_housing(partner) or _of_other_blocks(run, partner)):
        partner = None
    persons = partner if is_housing(run) else run
    if persons is not None and _kind(persons) == "":
        return nothing("plausible", _NO_CHECK.format(schema=persons.schema.title))
    fold = run.folded(PlausibleFold, partner)
    if not fold.counts:
        return nothing("plausible", "The runs have no trial in common yet.")
    trials = len(fold.counts)
    order = [_FAILS, _PASSES, _NOT_MADE]
    listed = sorted(fold.checks(), key=lambda check: (order.index(check.verdict), check.result.number))
    made = [check for check in listed if not check.result.missing]
    beside = "" if partner is None else f" With the records of {partner.spec.scenario.name}."
    return row_figure(
        "plausible",
        tuple(_row(check, trials) for check in made),
        Axis("units that look impossible or improbable", Scale.COUNT),
        _title(made),
        f"The 23 checks of the census metrics, {trials_words(trials)}: strokes are found in the true counts, dots in the "
        f"published ones on average, whiskers from fewest to most.{beside}{_left_out(len(listed) - len(made))}",
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
            details=_reasons(listed),
        ).explained({"Oddest places": "No place was found.", "Why not, notes": "The check was made."}),
    )


class _OddPlace(NamedTuple):
    """A unit that a check found: its code, in how many trials, whether the truth is as odd, and its true population."""

    code: str
    trials: int
    in_truth: bool
    people: int


class PlausibleCheck(NamedTuple):
    """One of the 23 checks over all trials.

    Attributes:
        result: of the truth and of the first trial: number, level, title, what is missing.
        published: units found, by trial.
        applies: units the check applies to, by trial.
        places: the oddest ones: most trials first, then the largest.
    """

    result: CheckResult
    published: tuple[int, ...] = ()
    applies: tuple[int, ...] = ()
    places: tuple[_OddPlace, ...] = ()

    @property
    def mean(self) -> float:
        """Units found in a trial on average."""
        return sum(self.published) / len(self.published) if self.published else 0.0

    @property
    def mean_applies(self) -> float:
        """Units the check applies to in a trial on average: what `mean` is out of."""
        return sum(self.applies) / len(self.applies) if self.applies else 0.0

    @property
    def more(self) -> float:
        """How many more than in the truth."""
        return self.mean - (self.result.found_truth or 0)

    @property
    def verdict(self) -> str:
        """Whether published data are odder than the truth: "More than in truth", "Pass" or "Not checked"."""
        return _NOT_MADE if self.result.missing else _FAILS if self.more > 0 else _PASSES


def is_housing(run: TopDownRun) -> bool:
    """Return whether a run counts housing units and not people."""
    return run.schema.id == HOUSING_SCHEMA


def _of_other_blocks(run: TopDownRun, partner: TopDownRun) -> bool:
    return len(run.files.geoids) != len(partner.files.geoids) or bool((run.files.geoids != partner.files.geoids).any())


def _kind(run: TopDownRun) -> str:
    """Return the query that tells minors from adults, with where they live if it is known; "" where there is none."""
    for name in ("hhgq * votingage", "votingage"):
        try:
            run.query(name)
        except PhexploreError:
            continue
        return name
    return ""


class PlausibleFold(Fold):
    """Counts what the checks find, trial by trial.

    Attributes:
        counts: by trial and check, units found in published data, and units the check applies to.
    """

    def __init__(self, run: TopDownRun, partner: TopDownRun | None) -> None:
        """Start without a trial.

        Args:
            run: the one looked at; its units are named.
            partner: a run of the other records of the same blocks; None without one.
        """
        super().__init__()
        self._run, self._partner = run, partner
        self._persons: TopDownRun | None = partner if is_housing(run) else run
        self._housing: TopDownRun | None = run if is_housing(run) else partner
        self._levels = [name for name in CHECKED_LEVELS if name in (self._persons or run).levels]
        self._facilities = {} if self._persons is None else _facilities(self._persons, self._levels)
        self._truth = self._figures(run.truth, None if partner is None else partner.truth)
        self.counts: dict[int, dict[int, tuple[int, int]]] = {}
        self._odd: dict[int, Integers] = {}
        self._results: tuple[CheckResult, ...] = ()

    def _take(self, levels: Levels, index: int, /) -> None:
        other: Levels | None = None
        if self._partner is not None:
            other = self._partner.trial(index) if index in self._partner.present else None
            if other is None:
                return
        results = plausibility(self._truth, self._figures(levels, other))
        self._results = self._results or results
        self.counts[index] = {}
        for result in results:
            if result.odd_published is not None and result.found_published is not None:
                self.counts[index][result.number] = result.found_published, result.applies_published or 0
                self._odd[result.number] = self._odd.get(result.number, 0) + result.odd_published.astype(np.int64)

    def _figures(self, own: Levels, other: Levels | None) -> Mapping[str, UnitFigures]:
        """Return the figures of histograms at every level: of the run, and of its partner."""
        persons, housing = (other, own) if is_housing(self._run) else (own, other)
        return {name: self._at(name, persons, housing) for name in self._levels}

    def _at(self, level: str, persons: Levels | None, housing: Levels | None) -> UnitFigures:
        units = (
            None if self._housing is None or housing is None else _answers(self._housing, housing, level, "detailed")
        )
        if self._persons is None or persons is None:
            if units is None:
                raise ValueError("checks need people or housing units")
            return figures_of_housing(units[:, 0], units[:, 1])
        kind = _kind(self._persons)
        counts = _answers(self._persons, persons, level, kind)
        figures = (
            figures_of_ages(counts)
            if kind == "votingage"
            else figures_of_persons(counts, self._facilities.get(level), None)
        )
        return figures if units is None else with_housing(figures, units[:, 0], units[:, 1])

    def checks(self) -> tuple[PlausibleCheck, ...]:
        """Return every check over the trials so far."""
        return tuple(self._check(result) for result in self._results)

    def _check(self, result: CheckResult) -> PlausibleCheck:
        if result.number not in self._odd:
            return PlausibleCheck(result)
        run = self._persons or self._run
        odd, population = self._odd[result.number], run.people(result.level)
        units = np.flatnonzero(odd)
        order = units[np.lexsort((-population[units], -odd[units]))][:MOST_PLACES]
        codes, in_truth = run.codes(result.level), result.odd_truth
        places = tuple(
            _OddPlace(
                str(codes[unit]), int(odd[unit]), in_truth is not None and bool(in_truth[unit]), int(population[unit])
            )
            for unit in order.tolist()
        )
        published, applies = zip(*(each[result.number] for each in self.counts.values()), strict=True)
        return PlausibleCheck(result, published, applies, places)


def _facilities(run: TopDownRun, levels: list[str]) -> dict[str, Integers]:
    counts = read_facilities(run.directory, run.files.geoids)
    if counts is None or _kind(run) == "votingage":
        return {}
    return {
        level: np.add.reduceat(counts, run.tree.levels[run.place(level)].first_block[:-1], axis=0) for level in levels
    }


def _answers(run: TopDownRun, levels: Levels, level: str, query: str) -> Integers:
    return answers(levels[run.place(level)], run.query(query))


def _title(made: list[PlausibleCheck]) -> str:
    if not made:
        return "No check can be made with these records"
    failed = [check for check in made if check.verdict == _FAILS]
    if not failed:
        return f"{len(made)} checks made: published counts are nowhere odder than the true ones"
    worst = max(failed, key=lambda check: check.more)
    return (
        f"{len(failed)} of {len(made)} checks fail{'s' if len(failed) == 1 else ''}, most: {people(worst.mean)} "
        f"{worst.result.title[0].lower()}{worst.result.title[1:]} ({worst.result.found_truth or 'none'} in the true data)"
    )


def _left_out(count: int) -> str:
    checks = "1 check needs" if count == 1 else f"{count} checks need"
    return f" {checks} records that this run does not have: the table says which." if count else ""


def _row(check: PlausibleCheck, trials: int) -> Row:
    result, group = check.result, check.verdict
    name = f"Check {result.number}: {result.title}"  # a number alone would be read as how many
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
        text=f"{true}{people(check.mean)} of {people(check.mean_applies)}",
        tip=f"{name}\n{true}{people(check.mean)} of {people(check.mean_applies)} units\n{places}\n{result.note}".strip(),
        is_warned=group == _FAILS,
    )


def _place_words(place: _OddPlace, trials: int) -> str:
    code = place.code or "the root"
    truth = ", true as well" if place.in_truth else ""
    return f"{code} ({place.people:,}, in {place.trials} of {trials_words(trials)}{truth})"


def _reasons(listed: Sequence[PlausibleCheck]) -> dict[tuple[int, int], str]:
    """Return why cells of checks hold nothing, by row and column."""
    missing = {
        (row, column): f"{check.result.missing}."
        for row, check in enumerate(listed)
        if check.result.missing
        for column in range(4, 10)
    }
    alone = ((row, 5) for row, check in enumerate(listed) if check.result.found_truth is None)
    return dict.fromkeys(alone, "The true counts are what this check compares with.") | missing


def _cells(check: PlausibleCheck) -> tuple[Value, ...]:
    result = check.result
    head = (str(result.number), result.title, level_title(result.level), check.verdict)
    if result.missing:
        return (*head, None, None, None, None, None, "", f"{result.missing}. {result.note}".strip())
    codes = ", ".join(place.code for place in check.places)
    found = (check.mean_applies, result.found_truth, check.mean, min(check.published), max(check.published))
    return (*head, *found, codes, result.note)
