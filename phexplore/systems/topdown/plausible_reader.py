"""The 23 checks of impossible and improbable results on the trials of a TopDown run, with those of a run of the other records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from phexplore.errors import PhexploreError
from phexplore.metrics.topdown.plausibility import (
    CheckResult,
    UnitFigures,
    figures_of_ages,
    figures_of_housing,
    figures_of_persons,
    plausibility,
    with_housing,
)
from phexplore.simulate.topdown.histograms import Histograms
from phexplore.systems.topdown.facilities import read_facilities
from phexplore.systems.topdown.folds import Fold, Levels, answers
from phexplore.systems.topdown.open_run import TopDownRun
from phexplore.systems.topdown.run_contents import OddPlace, PlausibleCheck, PlausibleContent

CHECKED_LEVELS = ("State", "Tract", "Block")
MOST_PLACES = 20
HOUSING_SCHEMA = "pl94_units"
_NO_CHECK = "None of the checks can be made with the records of this schema ({schema})."

Integers = NDArray[np.int64]


def is_housing(run: TopDownRun) -> bool:
    """Return whether a run counts housing units and not people."""
    return run.schema.id == HOUSING_SCHEMA


def plausible(run: TopDownRun, partner: TopDownRun | None) -> PlausibleContent:
    """Return the result of all checks.

    Args:
        run: the one looked at.
        partner: a run of the other records of the same blocks; None without one.

    Raises:
        RunUnreadableError: the facilities beside a run cannot be read.
    """
    if partner is not None and (is_housing(run) == is_housing(partner) or _others(run, partner)):
        partner = None
    people, housing = (partner, run) if is_housing(run) else (run, partner)
    if people is not None and _kind(people) == "":
        return PlausibleContent((), 0, "", _NO_CHECK.format(schema=people.schema.title))
    figures = _Figures(people, housing)
    key = ("plausible", None if partner is None else partner.directory)
    fold = run.folded(key, lambda: _PlausibleFold(figures, run, partner))
    if not fold.counts:
        return PlausibleContent((), 0, "", "The runs have no trial in common yet.")
    name = "" if partner is None else partner.spec.scenario.name
    return PlausibleContent(fold.checks(figures), len(fold.counts), name)


def _others(run: TopDownRun, partner: TopDownRun) -> bool:
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


class _Figures:
    """Makes the figures of checked levels from histograms of people, of housing units, or of both."""

    def __init__(self, people: TopDownRun | None, housing: TopDownRun | None) -> None:
        self._people, self._housing = people, housing
        self.levels = [name for name in CHECKED_LEVELS if name in (people or housing).levels]  # type: ignore[union-attr]
        self._facilities = {} if people is None else _facilities(people, self.levels)

    @property
    def run(self) -> TopDownRun:
        """The run whose units are named."""
        found = self._people or self._housing
        if found is None:
            raise ValueError("checks need a run")
        return found

    def of_truth(self) -> Mapping[str, UnitFigures]:
        """Return the figures of the exact counts."""
        return self.of(
            None if self._people is None else self._people.truth, None if self._housing is None else self._housing.truth
        )

    def of(self, people: Levels | None, housing: Levels | None) -> Mapping[str, UnitFigures]:
        """Return the figures of histograms at every level."""
        return {name: self._at(name, people, housing) for name in self.levels}

    def _at(self, level: str, people: Levels | None, housing: Levels | None) -> UnitFigures:
        units: Integers | None = None
        if self._housing is not None and housing is not None:
            units = _answers(self._housing, housing[self._housing.place(level)], "detailed")
        if self._people is None or people is None:
            if units is None:
                raise ValueError("checks need people or housing units")
            return figures_of_housing(units[:, 0], units[:, 1])
        kind = _kind(self._people)
        found = _answers(self._people, people[self._people.place(level)], kind)
        figures = (
            figures_of_ages(found)
            if kind == "votingage"
            else figures_of_persons(found, self._facilities.get(level), None)
        )
        return figures if units is None else with_housing(figures, units[:, 0], units[:, 1])


def _facilities(run: TopDownRun, levels: list[str]) -> dict[str, Integers]:
    found = read_facilities(run.directory, run.files.geoids)
    if found is None or _kind(run) == "votingage":
        return {}
    return {
        level: np.add.reduceat(found, run.tree.levels[run.place(level)].first_block[:-1], axis=0) for level in levels
    }


def _answers(run: TopDownRun, histograms: Histograms, query: str) -> Integers:
    return answers(histograms, run.query(query))


class _PlausibleFold(Fold):
    """Counts what the checks find, trial by trial.

    Attributes:
        counts: by trial and check, units found in published data.
    """

    def __init__(self, figures: _Figures, run: TopDownRun, partner: TopDownRun | None) -> None:
        super().__init__()
        self._figures, self._run, self._partner = figures, run, partner
        self._truth = figures.of_truth()
        self.counts: dict[int, dict[int, int]] = {}
        self._odd: dict[int, Integers] = {}
        self._results: tuple[CheckResult, ...] = ()

    def _take(self, levels: Levels, index: int, /) -> None:
        other: Levels | None = None
        if self._partner is not None:
            if index not in self._partner.present:
                return
            other = self._partner.trial(index)
            if other is None:
                return
        people, housing = (other, levels) if is_housing(self._run) else (levels, other)
        results = plausibility(self._truth, self._figures.of(people, housing))
        self._results = self._results or results
        self.counts[index] = {}
        for result in results:
            if result.odd_published is not None and result.found_published is not None:
                self.counts[index][result.number] = result.found_published
                found = result.odd_published.astype(np.int64)
                self._odd[result.number] = self._odd.get(result.number, 0) + found

    def checks(self, figures: _Figures) -> tuple[PlausibleCheck, ...]:
        """Return every check over the trials so far."""
        return tuple(self._check(result, figures.run) for result in self._results)

    def _check(self, result: CheckResult, run: TopDownRun) -> PlausibleCheck:
        plain = replace(result, odd_truth=None, odd_published=None)  # arrays of all blocks do not cross to the window
        if result.number not in self._odd:
            return PlausibleCheck(plain)
        odd, people = self._odd[result.number], run.people(result.level)
        units = np.flatnonzero(odd)
        order = units[np.lexsort((-people[units], -odd[units]))][:MOST_PLACES]
        codes = run.codes(result.level)
        places = tuple(
            OddPlace(
                str(codes[unit]),
                int(odd[unit]),
                bool(result.odd_truth is not None and result.odd_truth[unit]),
                int(people[unit]),
            )
            for unit in order.tolist()
        )
        return PlausibleCheck(plain, tuple(each[result.number] for each in self.counts.values()), places)
