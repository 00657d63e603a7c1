"""What can be read of a TopDown run and how it is worded: plain values that cross from the reader to the window."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from phexplore.metrics.coverage import Coverage
from phexplore.metrics.topdown.bias import BiasBySize
from phexplore.metrics.topdown.distribution import ErrorDistribution
from phexplore.metrics.topdown.plausibility import CheckResult
from phexplore.metrics.topdown.worst import WorstBy, WorstUnit
from phexplore.runs.spec import RunSpec
from phexplore.runs.states import RunState

ALL_SIZES = ""
"""The choice of units of every size."""


EVERY_QUERY = "every query"
"""The choice of all query groups, where a picture can show them together."""


class TopDownTab(enum.Enum):
    """A picture of results."""

    ERRORS = "errors"
    SHAPE = "shape"
    BIAS = "bias"
    CRITERION = "criterion"
    WORST = "worst"
    PLACE = "place"
    PATH = "path"
    PLAUSIBLE = "plausible"
    COMPARE = "compare"
    MAP = "map"


class MapValue(enum.Enum):
    """What a map colours. The value is the word in the chooser."""

    ERROR = "Error of the total"
    RELATIVE = "Error in percent"
    SHARE = "Error of the largest group's share"


class CompareBy(enum.Enum):
    """What the groups of a comparison of runs are. The value is the word in the chooser."""

    LEVEL = "level"
    QUERY = "query"
    SIZE = "size of the unit"


class CompareFigure(enum.Enum):
    """What a comparison of runs compares. The value is the word in the chooser."""

    SIZE = "Mean absolute error"
    MEAN = "Mean error (bias)"
    SQUARE = "Root mean square error"


@dataclass(frozen=True, slots=True)
class TopDownChoice:
    """Which numbers are looked at; "" = the first there is.

    Attributes:
        level: of the tree.
        query: name of a query group.
        size: label of a class of the units' true population, `ALL_SIZES` for all.
        unit: code of a unit.
        by: what the worst units are worst in.
        value: what the map colours.
        shapes: file of the map's shapes, "" for none.
        others: runs that are compared with the one looked at.
        compare: what the groups of the comparison are.
        figure: what is compared.
        partner: a run of the other records (housing units beside people), which some checks of plausibility need; None for none.
    """

    level: str = ""
    query: str = ""
    size: str = ALL_SIZES
    unit: str = ""
    by: WorstBy = WorstBy.TOTAL
    value: MapValue = MapValue.ERROR
    shapes: str = ""
    others: tuple[Path, ...] = ()
    compare: CompareBy = CompareBy.LEVEL
    figure: CompareFigure = CompareFigure.SIZE
    partner: Path | None = None


@dataclass(frozen=True, slots=True)
class TopDownRequest:
    """What is to be read of which run.

    Attributes:
        directory: of the run.
        tab: the picture wanted; None = only the figures of the whole run.
        choice: which numbers.
    """

    directory: Path
    tab: TopDownTab | None
    choice: TopDownChoice = TopDownChoice()


@dataclass(frozen=True, slots=True)
class TopDownOffer:
    """What a run offers.

    Attributes:
        levels: of its tree, widest first.
        queries: names of the query groups, coarse ones first.
        sizes: labels of the classes of units of the chosen level.
    """

    levels: tuple[str, ...]
    queries: tuple[str, ...]
    sizes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TopDownHeadline:
    """The figures of the whole run.

    Attributes:
        spec: what it does.
        state: where it is.
        trials: readable ones.
        level: the lowest level with units of 500 people, on which redistricting looks; "" before the first trial.
        criterion: share of its units within five points; None before, or where the schema has no groups.
        reliable: from how many people on they are reliable; None where no number is.
        error: mean absolute error of the total there, people; None before the first trial.
        largest: largest error of a total there.
        failsafe: families that needed the failsafe, all trials together.
        families: families in all.
        remarks: what was assumed or left out.
        confidential: whether the exact counts are treated as confidential.
    """

    spec: RunSpec
    state: RunState
    trials: int
    level: str = ""
    criterion: Coverage | None = None
    reliable: int | None = None
    error: float | None = None
    largest: int | None = None
    failsafe: int = 0
    families: int = 0
    remarks: tuple[str, ...] = ()
    confidential: bool = False


@dataclass(frozen=True, slots=True)
class LevelErrors:
    """The errors of a query at one level, all trials together.

    Attributes:
        level: which one.
        units: how many of the chosen size.
        errors: their distribution; None where no unit is of that size.
    """

    level: str
    units: int
    errors: ErrorDistribution | None


@dataclass(frozen=True, slots=True)
class ErrorsContent:
    """Error distributions level by level.

    Attributes:
        query: whose.
        answers: of it in one unit.
        levels: widest first.
        chosen: the level looked at.
        trials: how many.
        sigma: noise of one answer at each level, None where not measured; what a measurement alone would have.
    """

    query: str
    answers: int
    levels: tuple[LevelErrors, ...]
    chosen: str
    trials: int
    sigma: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class BiasContent:
    """Errors by the true count.

    Attributes:
        level: where.
        query: of what.
        bias: by class; None where there are too many numbers.
        trials: how many.
        reason: why there is none.
    """

    level: str
    query: str
    bias: BiasBySize | None
    trials: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LevelCriterion:
    """How a level does on the redistricting criterion.

    Attributes:
        level: which one.
        units: with at least 500 people.
        coverage: share of them within five points, over all trials, with its Wilson interval.
        reliable: smallest population from which on 95 % are within; None for none.
        lasting: the same, never lost again by larger ones.
        by_size: label of the population class and share within, classes with units only.
    """

    level: str
    units: int
    coverage: Coverage
    reliable: int | None
    lasting: int | None
    by_size: tuple[tuple[str, Coverage], ...]


@dataclass(frozen=True, slots=True)
class CriterionContent:
    """The redistricting criterion level by level.

    Attributes:
        levels: widest first; empty where the schema has no groups.
        chosen: the level looked at.
        groups: the query whose answers are the groups.
        trials: how many.
        reason: why there is none.
    """

    levels: tuple[LevelCriterion, ...]
    chosen: str
    groups: str
    trials: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class WorstPlace:
    """One of the units farthest off.

    Attributes:
        code: of the unit.
        unit: its figures.
        sentence: the reason in words.
    """

    code: str
    unit: WorstUnit
    sentence: str


@dataclass(frozen=True, slots=True)
class WorstContent:
    """The units farthest off.

    Attributes:
        level: where.
        query: whose cells explain them.
        by: worst in what.
        places: the worst first.
        trials: how many.
        reason: why there are none.
    """

    level: str
    query: str
    by: WorstBy
    places: tuple[WorstPlace, ...]
    trials: int
    reason: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class PlaceContent:
    """One unit: true, measured, published, answer by answer.

    Attributes:
        level: of the unit.
        code: of the unit.
        query: whose answers.
        labels: of the answers.
        truth: ``int64[answers]``.
        published: ``int64[trials, answers]``.
        measured: ``int64[trials, answers]`` noisy answers, None where they were not kept.
        sigma: noise of one answer as it is measured, None where the query is not measured at this level.
        reason: why there is nothing.
        neighbours: codes of some units of the level, for the chooser.
    """

    level: str
    code: str
    query: str
    labels: tuple[str, ...]
    truth: NDArray[np.int64]
    published: NDArray[np.int64]
    measured: NDArray[np.int64] | None
    sigma: float | None
    reason: str = ""
    neighbours: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MeasuredLine:
    """One noisy answer on the way from the root to a place.

    Attributes:
        level: of the spine.
        unit: its code on the spine.
        blocks: how many lie in it.
        query: what was asked.
        answer: its words.
        sigma: of the noise, people.
        truth: the exact count.
        measured: per trial.
        published: per trial.
    """

    level: str
    unit: str
    blocks: int
    query: str
    answer: str
    sigma: float
    truth: int
    measured: tuple[int, ...]
    published: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PathContent:
    """What was measured of every unit that holds a place.

    Attributes:
        level: of the place.
        code: of the place.
        query: whose answers, `EVERY_QUERY` for all.
        lines: level by level, the widest first; of a query the largest answers first.
        left_out: lines beyond the most that are listed.
        trials: whose answers are listed.
        reason: why there is nothing.
        neighbours: codes of some units of the level, for the chooser.
    """

    level: str
    code: str
    query: str
    lines: tuple[MeasuredLine, ...]
    left_out: int
    trials: int
    reason: str = ""
    neighbours: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OddPlace:
    """A unit that a check found impossible or improbable in published data.

    Attributes:
        code: of the unit.
        trials: in how many it was found.
        in_truth: whether the exact counts are as odd.
        people: true population, or housing units.
    """

    code: str
    trials: int
    in_truth: bool
    people: int


@dataclass(frozen=True, slots=True)
class PlausibleCheck:
    """One of the 23 checks over all trials.

    Attributes:
        result: of the truth and of the first trial: number, level, title, what is missing.
        published: units found, by trial.
        places: the oddest ones: most trials first, then the largest.
    """

    result: CheckResult
    published: tuple[int, ...] = ()
    places: tuple[OddPlace, ...] = ()

    @property
    def mean(self) -> float:
        """Units found in a trial on average."""
        return sum(self.published) / len(self.published) if self.published else 0.0


@dataclass(frozen=True, slots=True)
class PlausibleContent:
    """The checks of impossible and improbable results.

    Attributes:
        checks: all 23, in their order.
        trials: how many.
        partner: words of the run that gave the other records, "" without one.
        reason: why there is nothing.
    """

    checks: tuple[PlausibleCheck, ...]
    trials: int
    partner: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A run of a comparison.

    Attributes:
        directory: of the run.
        spec: what it does.
        trials: that were read; 0 where it has none yet.
        is_common: its noise comes from the same random bits as that of the first run.
    """

    directory: Path
    spec: RunSpec
    trials: int
    is_common: bool


@dataclass(frozen=True, slots=True)
class ComparedFigure:
    """The figure of one run in one group.

    Attributes:
        mean: over trials.
        error: Monte-Carlo error of the mean; infinite with one trial.
        numbers: errors in one trial.
        difference: mean of the differences to the first run, trial by trial; None for the first run, or where the runs have no
            trial or not the same numbers in common.
        difference_error: Monte-Carlo error of the difference.
    """

    mean: float
    error: float
    numbers: int
    difference: float | None = None
    difference_error: float = float("inf")


@dataclass(frozen=True, slots=True)
class ComparedGroup:
    """What the runs have in one group.

    Attributes:
        name: of the level, the query or the class of size.
        figures: one per run; None where it has no such numbers.
    """

    name: str
    figures: tuple[ComparedFigure | None, ...]


@dataclass(frozen=True, slots=True)
class CompareContent:
    """Several runs in one picture, on one scale.

    Attributes:
        by: what the groups are.
        figure: what is compared.
        level: looked at, unless the groups are levels.
        query: looked at, unless the groups are queries.
        size: of the units, unless the groups are sizes.
        runs: the one looked at first.
        groups: in the order of the picture.
        is_same_data: all runs have the same exact counts.
        reason: why there is nothing.
    """

    by: CompareBy
    figure: CompareFigure
    level: str
    query: str
    size: str
    runs: tuple[ComparedRun, ...]
    groups: tuple[ComparedGroup, ...]
    is_same_data: bool = True
    reason: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class MapShape:
    """One polygon of a map.

    Attributes:
        code: of the unit it belongs to.
        rings: outlines and holes, ``float32[points, 2]`` each, longitude and latitude.
        value: mean over trials; NaN where the run has no such unit.
        tip: words for the pointer.
    """

    code: str
    rings: tuple[NDArray[np.float32], ...]
    value: float
    tip: str


@dataclass(frozen=True, slots=True, eq=False)
class MapContent:
    """A map of the errors.

    Attributes:
        level: whose units are coloured.
        value: what is coloured.
        shapes: all polygons; empty without a file.
        trials: how many.
        reason: why there are none.
        matched: units of the run that have a shape.
    """

    level: str
    value: MapValue
    shapes: tuple[MapShape, ...]
    trials: int
    reason: str = ""
    matched: int = 0


TopDownContent = (
    ErrorsContent
    | BiasContent
    | CriterionContent
    | WorstContent
    | PlaceContent
    | PathContent
    | PlausibleContent
    | CompareContent
    | MapContent
)


@dataclass(frozen=True, slots=True)
class TopDownAnswer:
    """The answer to a request.

    Attributes:
        request: with everything the run does not offer replaced by the first it does.
        asked: as it was made.
        headline: of the run.
        offer: what the run offers; None before its data are counted.
        content: of the tab; None before the first trial.
        problems: sentences about parts that could not be read.
        waiting: trials that are not in the picture yet: ask again.
    """

    request: TopDownRequest
    asked: TopDownRequest
    headline: TopDownHeadline
    offer: TopDownOffer | None
    content: TopDownContent | None
    problems: tuple[str, ...] = ()
    waiting: int = 0


def first_of(wanted: str, offered: Sequence[str], otherwise: str = "") -> str:
    """Return the wanted one if it is offered, else the other one if that is, else the first."""
    if wanted in offered:
        return wanted
    return otherwise if otherwise in offered else (offered[0] if offered else "")
