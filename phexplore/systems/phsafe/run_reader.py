"""What is shown of PHSafe runs: choosers, tiles and figures of what was read, in a process beside the window."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from phexplore.catalog.tables import tables
from phexplore.figures.figure import Figure
from phexplore.model.keys import QueryKey, Region
from phexplore.runs.disclosure import HELD_BACK
from phexplore.systems.phsafe.content_reader import (
    Content,
    DistributionContent,
    NumberContent,
    ObservedContent,
    ResultAnswer,
    ResultReader,
    TruncationContent,
    WorstContent,
)
from phexplore.systems.phsafe.error_figures import boxes_figure, cumulated_figure, errors_figure
from phexplore.systems.phsafe.number_trace import trace_figure
from phexplore.systems.phsafe.observed_figures import diagonal_figure, difference_figure
from phexplore.systems.phsafe.result_choices import (
    Choices,
    ResultChoice,
    ResultRequest,
    ResultTab,
    cell_label,
    code_words,
    region_words,
)
from phexplore.systems.phsafe.run_tiles import bias_tile, coverage_tile, headline_tile, trials_tile, worst_tile
from phexplore.systems.phsafe.truncation_figures import cells_figure, sizes_figure
from phexplore.systems.phsafe.worst_figure import worst_figure
from phexplore.systems.run_results import Asks, Chooser, Jump, Option, RunAnswer, RunRequest

NOTHING = "The run has no numbers: none of the scenario's states is in the data."
COUNTING = "The run is still counting its data; the first numbers appear here with its first trial."

_EXACT = {ResultTab.TRUNCATION, ResultTab.NUMBER, ResultTab.WORST}
"""Pictures that show exact counts."""
_SHOWN = {
    ResultTab.DISTRIBUTION: {"table", "level", "cell"},
    ResultTab.OBSERVED: set[str](),
    ResultTab.TRUNCATION: {"table", "level"},
    ResultTab.NUMBER: {"table", "level", "region", "group", "cell"},
    ResultTab.WORST: set[str](),
}
_KINDS = {
    ResultTab.DISTRIBUTION: ("Histogram", "Cumulated share (ECDF)", "Boxes by cell"),
    ResultTab.OBSERVED: ("Difference by table and level", "Observed against expected"),
    ResultTab.TRUNCATION: ("People left out, by household size", "Bias and noise, by cell"),
}
"""What can be chosen in the pictures that have several kinds."""
_JUMPS = {
    ResultTab.OBSERVED: Jump(("table", "level")),
    ResultTab.WORST: Jump(("table", "level", "region", "group", "cell"), ResultTab.NUMBER.value),
}


class PhSafeRunReader:
    """Answers what the page of results asks."""

    def __init__(self) -> None:
        self._reader = ResultReader()

    def answer(self, request: RunRequest) -> RunAnswer:
        """Return what is asked, as far as it is there.

        Raises:
            PhexploreError: the run cannot be read.
        """
        tab = ResultTab(request.tab) if request.tab else None
        other = next((each for each in request.others if str(each) == request.chosen("other")), None)
        offered = self._reader.offered(request.directory)
        choice = ResultChoice() if offered is None else _choice(request, offered)
        found = self._reader.answer(ResultRequest(request.directory, other, tab, choice))
        run, compared = found.headline, found.compared
        unmarked = any(each is not None and not each.spec.data.synthetic for each in (run, compared))
        draw = None if tab is None else _picture(found.content, kind_of(request, tab))
        return RunAnswer(
            request,
            run.trials,
            (coverage_tile(run, compared), bias_tile(run, compared), worst_tile(run, compared), trials_tile(run)),
            headline_tile(run),
            () if tab is None else _choosers(request, found, tab),
            None if draw is None else draw(),
            "" if found.content is not None else NOTHING if run.bias is not None else COUNTING,
            jump=None if tab is None else _JUMPS.get(tab),
            held_back=HELD_BACK if unmarked and tab in _EXACT else "",
            problems=tuple(f"{issue.sentence} {issue.remedy}" for issue in found.problems),
        )


def kind_of(request: RunRequest, tab: ResultTab) -> str:
    """Return which kind of a picture is wanted.

    Args:
        request: the first kind where it names none.
        tab: of the picture.
    """
    kinds = _KINDS.get(tab, ("",))
    found = request.chosen(f"kind of {tab.value}")
    return found if found in kinds else kinds[0]


def _choice(request: RunRequest, offered: Choices) -> ResultChoice:
    """Return which numbers are looked at; what is open is settled: a table by its states, whose many numbers make a picture."""
    table, level, cell = request.chosen("table"), request.chosen("level"), request.chosen("cell")
    queries = [query for query in offered.queries if query.table == table] or list(offered.queries)
    levels = [query for query in queries if query.level.text == level]
    states = [query for query in queries if query.level.region is Region.STATE]
    query = next(iter([*levels, *states, *queries]), None)
    return ResultChoice(
        query,
        request.chosen("region") or None,
        request.chosen("group") or None,
        int(cell) if cell.isdecimal() else None,
    )


def _picture(content: Content | None, kind: str) -> Callable[[], Figure] | None:
    match content:
        case DistributionContent(errors, boxes) if errors is not None:
            makers: Mapping[str, Callable[[], Figure]] = dict(
                zip(
                    _KINDS[ResultTab.DISTRIBUTION],
                    (
                        partial(errors_figure, errors),
                        partial(cumulated_figure, errors),
                        partial(boxes_figure, errors, boxes),
                    ),
                    strict=True,
                )
            )
            return makers[kind]
        case ObservedContent(margins, confidence, trials):
            draw = difference_figure if kind == _KINDS[ResultTab.OBSERVED][0] else diagonal_figure
            return partial(draw, margins, confidence, trials)
        case TruncationContent(query, sizes, cells):
            by_size = sizes is None or kind == _KINDS[ResultTab.TRUNCATION][0]
            return partial(sizes_figure, sizes) if by_size else partial(cells_figure, query, cells)
        case NumberContent(trace, reason):
            return partial(trace_figure, trace, reason)
        case WorstContent(numbers, trials):
            return partial(worst_figure, numbers, trials)
        case _:
            return None


def _choosers(request: RunRequest, found: ResultAnswer, tab: ResultTab) -> tuple[Chooser, ...]:
    others = (Option("", "no other run"), *(Option(str(each)) for each in request.others))
    compared = str(found.request.compared or "")
    listed = [Chooser("other", "Compared &with", "Compared with", others, compared, Asks.RUN, 10)]
    query, choices = found.request.choice.query, found.choices
    if choices is not None and query is not None:
        listed += [each for each in _of_numbers(choices, query, found.request.choice, tab) if each.id in _SHOWN[tab]]
    if tab in _KINDS:
        kinds = tuple(Option(kind, kind) for kind in _KINDS[tab])
        listed.append(Chooser(f"kind of {tab.value}", "&Show as", "Kind of picture", kinds, kind_of(request, tab)))
    return tuple(listed)


def _of_numbers(choices: Choices, query: QueryKey, choice: ResultChoice, tab: ResultTab) -> tuple[Chooser, ...]:
    names = list(dict.fromkeys(str(each.table) for each in choices.queries))
    levels = [each.level for each in choices.queries if each.table == query.table]
    own = choices.cells[query.table]
    one = tab is ResultTab.NUMBER
    cells: list[int | None] = [*([] if one else [None]), *own]
    cell = own[0] if one and choice.cell is None else choice.cell
    return (
        Chooser(
            "table",
            "&Table",
            "Table",
            tuple(Option(name, name, tables()[name].title) for name in names),  # type: ignore[index]
            str(query.table),
            letters=10,
            drops=("cell",),
        ),
        Chooser(
            "level",
            "&Level",
            "Level",
            tuple(Option(level.text, level.title) for level in levels),
            query.level.text,
            letters=19,
        ),
        Chooser(
            "region",
            "Re&gion",
            "Region",
            tuple(Option(each, region_words(each)) for each in choices.regions[query.level.region]),
            choice.region or "",
            letters=14,
        ),
        Chooser(
            "group",
            "Gr&oup",
            "Group",
            tuple(Option(each, code_words(each) or "everybody") for each in query.level.iteration.codes),
            choice.code or "",
            letters=22,
        ),
        Chooser(
            "cell",
            "&Cell",
            "Cell",
            tuple(Option("" if each is None else str(each), cell_label(query, each)) for each in cells),
            "" if cell is None else str(cell),
            letters=28,
        ),
    )
