"""What can be looked at of the results of a run: values that cross from the process that reads to the page that shows them."""

from __future__ import annotations

import abc
import enum
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from phexplore.catalog.names import Naming, chosen_naming, synthetic_areas
from phexplore.errors import PhexploreError
from phexplore.figures.naming import of_synthetic_areas
from phexplore.figures.stated_origin import with_origin
from phexplore.figures.tile import TileContent
from phexplore.lazy import lazy
from phexplore.model.provenance import Provenance
from phexplore.model.rounded import Toward, percent
from phexplore.runs.disclosure import HELD_BACK

if TYPE_CHECKING:
    from phexplore.runs.spec import RunSpec

_load_spec = lazy("phexplore.runs.store", "load_spec")
_is_confidential_run = lazy("phexplore.runs.confidentiality", "is_confidential_run")
_confirm_counts = lazy("phexplore.runs.store", "confirm_counts")

Choice = str | tuple[str, ...]
"""What stands in a chooser; several directories where runs are chosen."""


NAMES = "names"
"""Id of the choice of a person who is about to type a name: the answer offers those that are known."""


class Asks(enum.Enum):
    """What is chosen."""

    LIST = "one of a list"
    TEXT = "a text"
    FILE = "a file"
    RUN = "another run, or none"
    RUNS = "other runs"


class Option(NamedTuple):
    """One entry of a chooser.

    Attributes:
        value: what is asked for; the directory of a run.
        words: for people; "" where the page words the run.
        tip: more about it.
    """

    value: str
    words: str = ""
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Chooser:
    """What can be chosen, and what is.

    Attributes:
        id: of the choice.
        label: before it, with & before the letter of its shortcut; "" for none.
        name: for people who do not see the label.
        options: entries of a list; of a text, what is offered while somebody types.
        chosen: what the picture shows.
        words: name of what a text chose by its code, "" where nobody knows.
        asks: what is chosen.
        letters: width in letters; 0 = as wide as the widest entry.
        hint: what a text looks like, which files are offered, or what the tool tip says.
        drops: other choices that are open again when this one changes.
        most: how many runs can be chosen.
        is_reported: the report of a run has the picture of every option.
    """

    id: str
    label: str
    name: str
    options: tuple[Option, ...] = ()
    chosen: Choice = ""
    asks: Asks = Asks.LIST
    letters: int = 0
    hint: str = ""
    drops: tuple[str, ...] = ()
    most: int = 1
    is_reported: bool = False
    words: str = ""


@dataclass(frozen=True, slots=True)
class Jump:
    """Where choosing a mark of the picture leads.

    Attributes:
        choices: what the parts of its key choose; the key itself where there is one.
        tab: the picture it leads to when it is looked into; "" = it chooses, and the picture stays.
    """

    choices: tuple[str, ...]
    tab: str = ""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What is to be read of which run.

    Attributes:
        directory: of the run.
        tab: the picture wanted; "" = only the figures of the whole run.
        choices: what a person chose; the rest is open, and every picture has its own best first choice.
        others: other runs of the system with trials, the newest first.
        naming: how things are called in what is answered; as chosen where it is asked.
    """

    directory: Path
    tab: str = ""
    choices: Mapping[str, Choice] = field(default_factory=dict)
    others: tuple[Path, ...] = ()
    naming: Naming = field(default_factory=chosen_naming)

    def chosen(self, name: str, otherwise: str = "") -> str:
        """Return what was chosen, something else where it is open.

        Args:
            name: of the choice.
            otherwise: returned where it is open.
        """
        found = self.choices.get(name, otherwise)
        return found if isinstance(found, str) else otherwise


@dataclass(frozen=True, slots=True, eq=False)
class RunAnswer:
    """What was read.

    Attributes:
        request: what was asked.
        trials: readable ones.
        tiles: four figures of the whole run.
        headline: its figure for the top of the window.
        choosers: of the picture.
        picture: a `Figure`; None where there is none yet.
        reason: why there is none.
        marked: key of the mark that is chosen.
        jump: where a mark leads, None for nowhere.
        held_back: why the picture must not leave by copying or saving, "" where it may.
        problems: sentences about parts that cannot be read.
        waiting: trials that are not in the picture yet: ask again.
        provenance: of the data of the run and of those compared with it; empty before `StatedReader` adds it.
    """

    request: RunRequest
    trials: int
    tiles: tuple[TileContent, ...]
    headline: TileContent
    choosers: tuple[Chooser, ...] = ()
    picture: Any = None
    reason: str = ""
    marked: Hashable = None
    jump: Jump | None = None
    held_back: str = ""
    problems: tuple[str, ...] = ()
    waiting: int = 0
    provenance: tuple[Provenance, ...] = ()


class RunReader(Protocol):
    """Reads the runs of one system; what was read stays read. Used by one thread only."""

    def answer(self, request: RunRequest) -> RunAnswer:
        """Return what is asked, as far as it is there and a moment of reading allows.

        Raises:
            PhexploreError: the run cannot be read.
        """


_RUNS = {Asks.RUN, Asks.RUNS}


def _several(chosen: Choice) -> tuple[str, ...]:
    return chosen if isinstance(chosen, tuple) else (chosen,) if chosen else ()


class StatedReader:
    """A reader whose answers, charts and tables state the provenance of the data of the run."""

    def __init__(self, reader: RunReader) -> None:
        self._reader = reader

    def answer(self, request: RunRequest) -> RunAnswer:
        """Return what is asked.

        Raises:
            PhexploreError: the run cannot be read.
        """
        provenance = _load_spec(request.directory).provenance
        with synthetic_areas(is_synthetic=provenance.is_synthetic):
            found = self._reader.answer(request)
        found = of_synthetic_areas(found) if provenance.is_synthetic else found
        chosen = [
            Path(each) for chooser in found.choosers if chooser.asks in _RUNS for each in _several(chooser.chosen)
        ]
        is_held = any(map(_is_confidential_run, (request.directory, *chosen)))
        stated = (provenance, *(_load_spec(each).provenance for each in chosen))
        caption = found.headline.caption
        caption = caption.replace("Last run", "Last run (synthetic)", 1) if provenance.is_synthetic else caption
        return replace(
            found,
            headline=replace(found.headline, caption=caption),
            provenance=tuple(dict.fromkeys(stated)),
            picture=with_origin(found.picture, *stated),
            held_back=HELD_BACK if is_held else "",
        )


class _Open(Protocol):
    spec: RunSpec


R = TypeVar("R", bound=_Open)


class OpenRuns(Generic[R]):
    """Runs that stay open, the oldest of which are closed; one that was made anew is opened again.

    The counts of a complete run are confirmed by its manifest before the first number of it is shown.
    """

    def __init__(self, open_run: Callable[[Path], R], most: int) -> None:
        """Open nothing yet.

        Args:
            open_run: opens the run in a directory.
            most: how many stay open.
        """
        self._open_run, self._most = open_run, most
        self._runs: OrderedDict[Path, R] = OrderedDict()
        self._confirmed: dict[Path, int] = {}

    def get(self, directory: Path) -> R:
        """Return a run.

        Raises:
            PhexploreError: it cannot be read, or its counts were altered after it was complete.
        """
        found = self._runs.get(directory)
        if found is None or found.spec.identity != _load_spec(directory).identity:
            self._confirmed.pop(directory, None)
            found = None
        self._confirm(directory)
        if found is None:
            found = self._open_run(directory)
        self._runs[directory] = found
        self._runs.move_to_end(directory)
        while len(self._runs) > self._most:
            self._runs.popitem(last=False)
        return found

    def _confirm(self, directory: Path) -> None:
        """Confirm the counts of a run when it is opened, and again when it became complete."""
        if (completed := completed_at(directory)) is not None and completed != self._confirmed.get(directory):
            _confirm_counts(directory)
            self._confirmed[directory] = completed

    def close(self, directory: Path) -> None:
        """Forget a run: it is opened again when it is asked for."""
        self._runs.pop(directory, None)

    def opened(self) -> Iterable[R]:
        """Return the runs that are open."""
        return tuple(self._runs.values())


def completed_at(directory: Path) -> int | None:
    """Return when a run was closed by its manifest, nanoseconds; None while it is not complete."""
    from phexplore.runs.store import MANIFEST_FILE  # noqa: PLC0415 - as below

    try:
        return (directory / MANIFEST_FILE).stat().st_mtime_ns
    except OSError:
        return None


def is_counted(directory: Path) -> bool:
    """Return whether the data of a run are read: before, there is nothing to see."""
    from phexplore.runs.store import TRUTH_FILE  # noqa: PLC0415 - the pages are declared before a run is read

    return (directory / TRUTH_FILE).exists()


class WholeRun(abc.ABC):
    """An open run of which every trial is read once.

    Attributes:
        directory: of the run.
        spec: what it does.
        trials: readable ones.
        problems: why others are not.
        covered: numbers of all trials that are within their margins.
        judged: of how many; 0 without noise.
    """

    def __init__(self, directory: Path) -> None:
        self.directory, self.spec = directory, _load_spec(directory)
        self.trials: list[int] = []
        self.problems: list[str] = []
        self.covered = self.judged = 0
        self._seen: set[int] = set()

    def refresh(self) -> None:
        """Read trials that are new."""
        from phexplore.runs.store import present_trials, trial_file  # noqa: PLC0415 - the pages are declared before a run is read

        for index in present_trials(self.directory):
            if index in self._seen:
                continue
            self._seen.add(index)
            path = self.directory / trial_file(index)
            try:
                covered, judged = self.read_coverage(path)
                self.read_trial(path)
            except PhexploreError as error:
                self.problems.append(error.sentence)
                continue
            self.trials.append(index)
            self.covered += covered
            self.judged += judged

    def read_coverage(self, path: Path) -> tuple[int, int]:
        """Return how many numbers of a trial are within their margins, and of how many."""
        from phexplore.runs.run_files import read_trial_figures  # noqa: PLC0415 - as above

        figures = read_trial_figures(path)
        return figures.covered, figures.numbers

    @abc.abstractmethod
    def read_trial(self, path: Path) -> None:
        """Read a trial and add its errors to those of the others.

        Raises:
            RunUnreadableError: it cannot be read; nothing was added.
        """

    def coverage_sentence(self, numbers: str) -> str:
        """Return how many numbers are within their margins, "" where nothing was added to them."""
        if not self.judged:
            return ""
        aimed = self.spec.scenario.conventions.confidence
        return f" {percent(self.covered / self.judged, toward=Toward.DOWN)} of {numbers} are within their margins, aimed at {100 * float(aimed):g} %."


T = TypeVar("T")


class ReadTrials(WholeRun, Generic[T]):
    """A run whose trials are one value each.

    Attributes:
        values: of the readable trials, in their order.
    """

    def __init__(self, directory: Path, read: Callable[[Path], T]) -> None:
        """Read nothing yet.

        Args:
            directory: of the run.
            read: makes the value of a trial's file; raises `PhexploreError` where there is none.
        """
        super().__init__(directory)
        self.values: list[T] = []
        self._read = read

    def read_coverage(self, _path: Path) -> tuple[int, int]:
        """Return that nothing is judged."""
        return 0, 0

    def read_trial(self, path: Path) -> None:
        """Read the value of a trial."""
        self.values.append(self._read(path))


@dataclass(frozen=True, slots=True)
class Shown:
    """What a run that is read whole shows.

    Attributes:
        tiles: four figures of the whole run.
        headline: its figure for the top of the window.
        choosers: of the picture.
        draw: draws it, from the first trial on.
    """

    tiles: tuple[TileContent, ...]
    headline: TileContent
    choosers: tuple[Chooser, ...]
    draw: Callable[[], Any] | None


W = TypeVar("W", bound=WholeRun)

_KEPT_RUNS = 2
COUNTING = "The run is reading its data; the first errors appear here with its first trial."
ENDED = "The run ended before its first trial. The list of runs says why, and resumes it."


def without_trials(directory: Path) -> str:
    """Return why a run shows no numbers while it has no trial."""
    from phexplore.runs.store import state_of  # noqa: PLC0415 - the pages are declared before a run is read

    return ENDED if state_of(directory).is_final else COUNTING


class WholeRunReader(Generic[W]):
    """Reads runs whose trials are few and small enough to be read one after the other."""

    def __init__(self, open_run: Callable[[Path], W], show: Callable[[W, RunRequest], Shown]) -> None:
        """Open nothing yet.

        Args:
            open_run: opens the run in a directory.
            show: what a run shows of what is asked.
        """
        self._runs, self._show = OpenRuns(open_run, _KEPT_RUNS), show

    def answer(self, request: RunRequest) -> RunAnswer:
        """Return what is asked, as far as it is there.

        Raises:
            PhexploreError: the run cannot be read.
        """
        _load_spec(request.directory)
        if not is_counted(request.directory):
            nothing = TileContent("Last run", "–", "", "The data is being read.")
            return RunAnswer(request, 0, (nothing,) * 4, nothing, reason=without_trials(request.directory))
        run = self._runs.get(request.directory)
        run.refresh()
        shown = self._show(run, request)
        picture = shown.draw() if run.trials and request.tab and shown.draw is not None else None
        return RunAnswer(
            request,
            len(run.trials),
            shown.tiles,
            shown.headline,
            shown.choosers,
            picture,
            COUNTING if run.trials else without_trials(request.directory),
            problems=tuple(run.problems),
        )


def trials_reader(read: Callable[[Path], T], show: Callable[[ReadTrials[T], RunRequest], Shown]) -> RunReader:
    """Return what reads runs whose trials are one value each.

    Args:
        read: makes the value of a trial's file; raises `PhexploreError` where there is none.
        show: what a run shows of what is asked.
    """
    return WholeRunReader(lambda directory: ReadTrials(directory, read), show)
