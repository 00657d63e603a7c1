"""The experiments of the papers on group sizes and on exact sums: what each asks, and the command that does it. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from phexplore.gui.binding.systems import System

Given = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A field of an experiment.

    Attributes:
        key: of its value.
        title: before the field.
        default: what stands in it.
        choices: value and words of each; none for free text.
        hint: in the empty field.
        is_file: a file can be chosen.
    """

    key: str
    title: str
    default: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    hint: str = ""
    is_file: bool = False


@dataclass(frozen=True, slots=True)
class Experiment:
    """Something that one click reproduces.

    Attributes:
        id: of its folder.
        title: in the list.
        sentence: what it shows.
        systems: whose scenarios offer it.
        parameters: asked before.
        command: arguments of the program, given folder and values.
        duration: how long it takes, in words.
    """

    id: str
    title: str
    sentence: str
    systems: frozenset[System]
    parameters: tuple[Parameter, ...]
    command: Callable[[Path, Given], Sequence[str]]
    duration: str


def _table_7(out: Path, given: Given) -> list[str]:
    return [
        "group-sizes", "experiment", "--out", str(out), "--data", given["data"], "--epsilons", given["epsilons"],
        "--trials", given["trials"], "--workers", given["workers"], "--json",
        *(["--mechanisms", given["mechanisms"]] if given["mechanisms"].strip() else []),
        *(["--scaling"] if given["scaling"] == "yes" else []),
    ]  # fmt: skip


def _compare(out: Path, given: Given) -> list[str]:
    return [
        "subspace", "compare", "--out", str(out), "--state", given["state"], "--epsilon", given["epsilon"],
        "--trials", given["trials"], "--json",
        *(["--households", given["households"]] if given["households"].strip() else []),
    ]  # fmt: skip


def _figure_1(out: Path, given: Given) -> list[str]:
    return [
        "subspace", "figure1", "--out", str(out), "--trials", given["trials"], "--seed", given["seed"], "--json",
        *(["--counties", given["counties"]] if given["counties"].strip() else []),
    ]  # fmt: skip


def _campus(_out: Path, given: Given) -> list[str]:
    return ["subspace", "campus", "--repetitions", given["repetitions"], "--seed", given["seed"], "--json"]


def _constant(_out: Path, given: Given) -> list[str]:
    return ["subspace", "constant", "--delta", given["delta"], "--epsilons", given["epsilons"], "--json"]


def _bases(_out: Path, given: Given) -> list[str]:
    return ["subspace", "bases", "--cells", given["cells"], "--json"]


_BOTH = frozenset({System.GROUP_SIZES, System.SUBSPACE})
_RELEASES = frozenset({System.SUBSPACE})
_SEED = Parameter("seed", "Seed", "2020")
_YES_NO = (("no", "No"), ("yes", "Yes"))
_MECHANISMS = "relaxed,tree,cumulative-tree,chain-as-published,chain,topdown"

_LISTED = (
    Experiment(
        "table-7",
        "The paper's Table 7",
        "L1 error by level and broken sums of every mechanism at several ε, with the published figures beside ours and the differences "
        "of the data stated. A stopped experiment goes on where it was.",
        frozenset({System.GROUP_SIZES}),
        (
            Parameter(
                "data",
                "Data",
                "census",
                (("census", "Households of 2010"), ("taxi", "Shaped like taxis"), ("census,taxi", "Both")),
            ),
            Parameter("epsilons", "ε", "0.1,0.5,1", hint="with commas between"),
            Parameter("trials", "Releases", "30"),
            Parameter("mechanisms", "Mechanisms", "", (("", "All"), (_MECHANISMS, "All but the slowest"))),
            Parameter("scaling", "Time by N", "no", _YES_NO),
            Parameter("workers", "Workers", "1"),
        ),
        _table_7,
        "A quarter of an hour of processor time for thirty releases, most of it for the relaxed cumulative program.",
    ),
    Experiment(
        "systems",
        "TopDown, exact tree and exact total",
        "Households by size in the counties of a state: what each of the three systems gives on the same question at the same ε.",
        _BOTH,
        (
            Parameter("state", "State", "IL", hint="code, abbreviation or name"),
            Parameter("epsilon", "ε", "0.192"),
            Parameter("trials", "Releases", "30"),
            Parameter("households", "Table", "", hint="the households that came with the program", is_file=True),
        ),
        _compare,
        "Some seconds.",
    ),
    Experiment(
        "figure-1",
        "The paper's Figure 1: counties of Illinois",
        "Errors of ten runs against the true size under an exact total, beside TopDown's errors on the same counties with their "
        "regression line; with a table of all counties, the slopes of every state beside the paper's 48, 37 and 11.",
        _RELEASES,
        (
            Parameter("counties", "Counties", "", hint="Illinois; or a table like counties_2010.csv", is_file=True),
            Parameter("trials", "Runs", "10"),
            _SEED,
        ),
        _figure_1,
        "Some seconds for Illinois, about half a minute for all states.",
    ),
    Experiment(
        "campus",
        "Spatio-temporal case: 14 × 24 × 20 cells",
        "740 independent totals fixed: the variance of every cell is exactly 299/336 = 0.890; the paper prints 0.88 and calls it a "
        "standard deviation.",
        _RELEASES,
        (Parameter("repetitions", "Repetitions", "50"), _SEED),
        _campus,
        "Some seconds.",
    ),
    Experiment(
        "constant",
        "The paper's Gaussian constant",
        "How many times the δ asked for the noise of the paper's constant really has; above 1 it does not protect as promised and is "
        "refused for a run.",
        _RELEASES,
        (
            Parameter("delta", "δ", "1e-10"),
            Parameter("epsilons", "ε", "0.192,0.5,1,1.5,2,4,8", hint="with commas between"),
        ),
        _constant,
        "A second.",
    ),
    Experiment(
        "bases",
        "Bases of extended Laplace noise",
        "Squared error of extended over projected Laplace noise under one total: the basis decides.",
        _RELEASES,
        (Parameter("cells", "Cells", "102"),),
        _bases,
        "A second.",
    ),
)
EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType({each.id: each for each in _LISTED})


def experiments_of(system: System) -> tuple[Experiment, ...]:
    """Return what scenarios of a system offer."""
    return tuple(each for each in _LISTED if system in each.systems)
