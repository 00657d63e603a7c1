"""What a TopDown run can be asked beyond its scenario."""

from __future__ import annotations

import enum

from phexplore.model.fields import Declared, declared, parameter
from phexplore.model.kinds import Choice, Flag, Optional, RunDirectory, Switch, Text, Whole
from phexplore.model.wishes import Wish
from phexplore.runs.spec import LARGEST_SEED, RunSpec


class Mechanism(enum.Enum):
    """How histograms are estimated. The value is the word in files and on the command line."""

    TOP_DOWN = "top-down"
    """From the root to the leaves, every parent's children at once."""
    BLOCK_BY_BLOCK = "block-by-block"
    """All of the budget at the leaves, each leaf estimated alone (TopDown paper, eq. 7.1 and 7.3): the baseline."""


class Estimator(enum.Enum):
    """What estimates a unit. The value is the word in files and on the command line."""

    TOP_DOWN = "top-down"
    """Its own noisy answers, as in production."""
    POOLED = "pooled"
    """Its own and those of everything inside it, pooled query by query; the Bureau does not."""


class PoolLeaves(enum.Enum):
    """Whether the answers of the leaves are pooled too; they are then drawn or read twice."""

    AUTO = "auto"
    """Where they tell something of the units above them (`phexplore.simulate.topdown.pooling.WORTH_POOLING`)."""
    YES = "yes"
    NO = "no"


class RounderTarget(enum.Enum):
    """What the controlled rounder draws its answers to."""

    FRACTION = "fraction"
    """The estimate itself: eq. 7.7 as printed."""
    WHOLE = "whole"
    """Its fractional part rounded first, as production does."""


class KeptAnswers(enum.Enum):
    """Whether and how the noisy answers of every trial are kept."""

    NO = False
    YES = True
    """In this program's files, to be post-processed again."""
    PUBLISHED = "nmf"
    """So, and once more in the layout of the published noisy measurement files."""

    def __bool__(self) -> bool:
        """Return whether they are kept."""
        return self is not KeptAnswers.NO


@declared
class TopDownOptions(Declared):
    """What decides a TopDown run beside its scenario, and what it leaves behind.

    Attributes:
        expand: seed of the expansion to the full schema; None takes the data as they are.
        mechanism: how histograms are estimated.
        target: of the rounder.
        estimator: what estimates a unit.
        pool_leaves: whether the pooled estimator uses the answers of the blocks too.
        microdata: whether microdata and published tables are written for every trial.
        microdata_text: whether microdata of a run that is estimated by state are text; those of other runs always are.
        keep_measurements: whether the noisy answers are kept, and in which layout.
        measurements: directory of a run whose kept answers are post-processed again, or published ones; "" draws new ones.
        redistricting: run or file whose redistricting counts a DHC run keeps; "" makes a release of its own.
        redistricting_identity: of that run, or 64 hexadecimal digits over that file.
        measured_identity: of the run that measured.
        measured_content: 64 hexadecimal digits over the kept answers, "" in runs of the first format.
    """

    expand: int | None = parameter(
        Optional(Whole(0, LARGEST_SEED)),
        default=None,
        option="--expand",
        unless="measurements",
        title="seed of the expansion",
        doc="Invent the full schema from 16 cells, by this seed.",
        said="expanded to the full schema by seed {}",
    )
    mechanism: Mechanism = parameter(
        Switch(
            Mechanism,
            {
                Mechanism.TOP_DOWN: "TopDown",
                Mechanism.BLOCK_BY_BLOCK: "block by block (baseline)",
            },
        ),
        default=Mechanism.TOP_DOWN,
        option="--block-by-block",
        unless="measurements",
        doc="The baseline; all of the budget at the blocks, each estimated alone.",
        said="block by block",
    )
    target: RounderTarget = parameter(
        Choice(
            RounderTarget,
            {
                RounderTarget.FRACTION: "to the fraction (paper)",
                RounderTarget.WHOLE: "to whole numbers (production)",
            },
        ),
        default=RounderTarget.FRACTION,
        option="--rounder-target",
        title="target of the rounder",
        doc="Fraction (the paper's), or whole (as in production).",
        said="rounded as production",
    )
    estimator: Estimator = parameter(
        Choice(
            Estimator,
            {
                Estimator.TOP_DOWN: "as in production",
                Estimator.POOLED: "pooled from below",
            },
        ),
        default=Estimator.TOP_DOWN,
        option="--estimator",
        unless="mechanism",
        is_omitted=True,
        doc="Top-down (as in production), or pooled: each unit's answers with those of everything inside it; not the Bureau's method.",
        said="pooled estimator",
    )
    pool_leaves: PoolLeaves = parameter(
        Choice(
            PoolLeaves,
            {
                PoolLeaves.AUTO: "where they tell something",
                PoolLeaves.YES: "pooled",
                PoolLeaves.NO: "not pooled",
            },
        ),
        default=PoolLeaves.AUTO,
        option="--pool-leaves",
        unless="mechanism",
        is_omitted=True,
        title="answers of the blocks, when pooling",
        doc="Of the pooled estimator: whether blocks are pooled too: auto (from 5 % of what is known above them), yes or no.",
        said="blocks {}",
    )
    microdata: bool = parameter(
        Flag(),
        default=False,
        option="--microdata",
        title="write microdata and tables",
        doc="Write microdata and published tables of every trial.",
        said="writes microdata",
    )
    microdata_text: bool = parameter(
        Flag(),
        default=False,
        option="--microdata-text",
        is_omitted=True,
        title="microdata of states as text",
        doc="Microdata that are written by state are text, 49 bytes a person; columns (Parquet) take less than one.",
        said="as text",
    )
    keep_measurements: KeptAnswers = parameter(
        Wish(
            KeptAnswers,
            {
                KeptAnswers.NO: "not kept",
                KeptAnswers.YES: "kept",
                KeptAnswers.PUBLISHED: "kept, also as published (Parquet)",
            },
        ),
        default=KeptAnswers.NO,
        option="--keep-measurements",
        unless="measurements",
        title="noisy answers of the trials",
        doc="Keep the noisy answers, to post-process them again; nmf: also in the layout of the published noisy measurement files.",
        said="keeps noisy answers",
    )
    measurements: str = parameter(
        RunDirectory(),
        default="",
        option="--measurements",
        title="noisy answers",
        is_identity=False,  # where kept answers lie decides nothing, their content does
        doc="Post-process what this run kept, or published noisy measurements (folder or ZIP), by the scenario's passes and constraints.",
        said="post-processes the answers of {} again",
    )
    redistricting: str = parameter(
        RunDirectory(),
        default="",
        option="--redistricting",
        is_identity=False,  # where the release lies decides nothing, what it is does
        is_omitted=True,
        title="redistricting release",
        doc="The counts of this redistricting run or published microdata are kept by a DHC run; it makes one without it.",
        said="stands on the redistricting counts of {}",
    )
    redistricting_identity: str = parameter(Text(), default="", is_omitted=True)
    measured_identity: str = parameter(Text(), default="")
    measured_content: str = parameter(Text(), default="", is_omitted=True)

    def __post_init__(self) -> None:
        """Refuse what contradicts itself.

        Raises:
            ValueError: blocks that are estimated alone cannot be pooled.
        """
        Declared.__post_init__(self)
        if self.is_pooled and self.mechanism is not Mechanism.TOP_DOWN:
            raise ValueError("the pooled estimator goes from the root to the blocks; leave out --block-by-block")

    @property
    def is_pooled(self) -> bool:
        """Whether the pooled estimator is asked for."""
        return self.estimator is Estimator.POOLED


def topdown_options(spec: RunSpec) -> TopDownOptions:
    """Return what a run was asked beyond its scenario; the usual where it says nothing."""
    return spec.options if isinstance(spec.options, TopDownOptions) else TopDownOptions()
