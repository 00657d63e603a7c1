"""The pictures of a run for its report: those of the page of results, in all their kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

from phexplore.figures.figure import Figure
from phexplore.figures.style import Chart
from phexplore.figures.to_matplotlib import chart_of
from phexplore.systems.protocol import System
from phexplore.systems.run_results import Results, RunAnswer, RunReader, RunRequest


def run_charts(system: System, run: Path) -> tuple[Chart, ...]:
    """Return the pictures of a run; those that show exact counts of records that may be confidential are left out.

    Args:
        system: of the run.
        run: directory of the run.

    Raises:
        PhexploreError: the run cannot be read.
    """
    return tuple(map(chart_of, run_figures(system.results, run)))


def run_figures(results: Results, run: Path) -> tuple[Figure, ...]:
    """Return what `run_charts` draws, each under a name of its own.

    Args:
        results: of the system.
        run: directory of the run.

    Raises:
        PhexploreError: the run cannot be read.
    """
    reader = results.reader()
    answers = (answer for tab in results.tabs for answer in _answers(reader, RunRequest(run, tab.id)))
    figures: list[Figure] = [
        answer.picture
        for answer in answers
        if answer.picture is not None and not answer.held_back and not answer.picture.is_empty
    ]
    names = numbered([figure.id for figure in figures])
    return tuple(replace(figure, id=name) for figure, name in zip(figures, names, strict=True))


def numbered(names: list[str]) -> list[str]:
    """Return names with a number behind those that stand several times."""
    seen: Counter[str] = Counter()
    total = Counter(names)
    found = []
    for name in names:
        seen[name] += 1
        found.append(f"{name}-{seen[name]}" if total[name] > 1 else name)
    return found


def _answers(reader: RunReader, request: RunRequest) -> Iterator[RunAnswer]:
    choosers = [each for each in _read(reader, request).choosers if each.is_reported]
    for options in product(*(each.options for each in choosers)):
        chosen = {chooser.id: option.value for chooser, option in zip(choosers, options, strict=True)}
        yield _read(reader, replace(request, choices=chosen))


def _read(reader: RunReader, request: RunRequest) -> RunAnswer:
    answer = reader.answer(request)
    while answer.waiting:
        answer = reader.answer(request)
    return answer
