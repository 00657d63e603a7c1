"""The pictures of a run for its report: those of the page of results, in all their kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path

from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.figures.figure import Figure
from phexplore.figures.style import Chart
from phexplore.figures.to_matplotlib import chart_of
from phexplore.systems.protocol import System
from phexplore.systems.result_tabs import Results
from phexplore.systems.run_results import Asks, Choice, Chooser, RunAnswer, RunReader, RunRequest


def run_charts(system: System, run: Path, choices: Mapping[str, Choice] | None = None) -> tuple[Chart, ...]:
    """Return the pictures of a run; those that show exact counts of records that may be confidential are left out.

    Args:
        system: of the run.
        run: directory of the run.
        choices: as on the page of results.

    Raises:
        UnknownNameError: no picture asks for a choice.
        PhexploreError: the run cannot be read.
    """
    return tuple(map(chart_of, run_figures(system.results, run, choices)))


def run_figures(results: Results, run: Path, choices: Mapping[str, Choice] | None = None) -> tuple[Figure, ...]:
    """Return what `run_charts` draws, each under a name of its own.

    Args:
        results: of the system.
        run: directory of the run.
        choices: as on the page of results; a picture leaves out what it does not ask or the run does not offer.

    Raises:
        UnknownNameError: no picture asks for a choice, or none offers what was chosen from its list.
        PhexploreError: the run cannot be read.
    """
    reader = results.stated_reader()
    requests = [RunRequest(run, tab.id) for tab in results.tabs]
    if choices:
        typed = _typed(choices, [each for request in requests for each in reader.answer(request).choosers])
        requests = [replace(request, choices=typed) for request in requests]
        _refuse_unoffered(typed, [each for request in requests for each in reader.answer(request).choosers])
    answers = (answer for request in requests for answer in _answers(reader, request))
    figures: list[Figure] = [
        answer.picture
        for answer in answers
        if answer.picture is not None and not answer.held_back and not answer.picture.is_empty
    ]
    names = numbered([figure.id for figure in figures])
    return tuple(replace(figure, id=name) for figure, name in zip(figures, names, strict=True))


def chosen_figure(results: Results, run: Path, picture: str, choices: Mapping[str, Choice]) -> Figure:
    """Return one picture of a run.

    Args:
        results: of the system.
        run: directory of the run.
        picture: id of its tab.
        choices: as on the page of results.

    Raises:
        UnknownNameError: the picture does not ask for a choice, or does not offer what was chosen.
        PhexploreError: the run cannot be read, there is nothing to show yet, or it is held back.
    """
    reader = results.stated_reader()
    request = RunRequest(run, picture)
    typed = _typed(choices, list(_read(reader, request).choosers))
    answer = _read(reader, replace(request, choices=typed))
    _refuse_unoffered(typed, list(answer.choosers))
    if answer.picture is None or answer.held_back:
        raise PhexploreError(answer.held_back or answer.reason or "There is nothing to show yet.", "Wait for a trial.")
    picture_found: Figure = answer.picture
    if picture_found.is_empty and not picture_found.table.rows:
        asks = ", ".join(each.id for each in answer.choosers)
        raise PhexploreError(
            picture_found.summary or "There is nothing to show.", asks and f"The picture asks for {asks}."
        )
    return picture_found


def asked_of(results: Results, run: Path, picture: str) -> list[str]:
    """Return the names of what a picture of a run asks for.

    Args:
        results: of the system.
        run: directory of the run.
        picture: id of its tab.

    Raises:
        PhexploreError: the run cannot be read.
    """
    return [each.id for each in _read(results.stated_reader(), RunRequest(run, picture)).choosers]


def _typed(choices: Mapping[str, Choice], choosers: list[Chooser]) -> dict[str, Choice]:
    """Return choices as choosers hold them: several runs as a tuple."""
    asked = {each.id: each.asks for each in choosers}
    for name in choices:
        if name not in asked:
            raise UnknownNameError("choice", name, list(asked))
    return {
        name: (value,) if asked[name] is Asks.RUNS and isinstance(value, str) else value
        for name, value in choices.items()
    }


def _refuse_unoffered(choices: Mapping[str, Choice], choosers: list[Chooser]) -> None:
    """Pass choices that at least one picture took; lists may depend on what else was chosen."""
    for name, value in choices.items():
        lists = [each for each in choosers if each.id == name and each.asks is Asks.LIST]
        if lists and all(each.chosen != value for each in lists):
            offered = dict.fromkeys(option.value for each in lists for option in each.options)
            raise UnknownNameError(f"choice of {name}", str(value), list(offered))


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
        yield _read(reader, replace(request, choices={**request.choices, **chosen}))


def _read(reader: RunReader, request: RunRequest) -> RunAnswer:
    answer = reader.answer(request)
    while answer.waiting:
        answer = reader.answer(request)
    return answer
