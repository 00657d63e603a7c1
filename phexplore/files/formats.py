"""The file formats of the program as pydantic models: JSON Schema for people and programs that write such files themselves.

Reading does not go through them: the readers keep line, column and every problem, which a schema cannot. A test validates what
the program writes against these schemas, so that they stay true. Numbers that decide privacy are text ("0.002619", "1/3"):
JSON numbers are binary floating point in most readers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from phexplore.model.approval import Status
from phexplore.model.conventions import Conversion, MarginConvention, Neighbours
from phexplore.model.diff import ChangedField
from phexplore.model.group_sizes import SizeMechanism
from phexplore.model.numbers import Rounding
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.rules import Measure
from phexplore.model.subspace import Basis, Calibration, Mechanism

Exact = Annotated[
    str,
    Field(
        description='An exact number as text: a decimal ("0.25", "1e-10") or a fraction ("1/3").',
        pattern=r"^[+-]?(\d+/\d+|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)$",
    ),
]
ExactBudget = Annotated[
    str,
    Field(
        description='An exact number as text, or "Infinity" for no noise at all.',
        pattern=r"^([+-]?(\d+/\d+|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)|Infinity)$",
    ),
]
Positive = Exact | Annotated[float, Field(gt=0)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256, 64 hexadecimal digits.")]
QueryName = Annotated[
    str,
    Field(description="A query of the S-DHC, e.g. PH3/state_A-G; of TopDown a level and a query, e.g. Block/total."),
]


class _Format(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ConventionsFormat(_Format):
    """How numbers are to be read; changes no parameter."""

    neighbours: Neighbours
    margin: MarginConvention
    z: Exact
    confidence: Exact
    rounding: Rounding
    rounding_step: Exact
    delta: Exact


class PhSafeFormat(_Format):
    """Parameters of PHSafe (S-DHC)."""

    kind: Literal["phsafe"]
    framework: PrivacyFramework
    budgets: dict[QueryName, ExactBudget] = Field(description="ρ (or ε under pure DP) of every measured query.")
    thresholds: dict[str, int] = Field(description="Truncation threshold τ per table, in people.")
    states: list[str] = Field(description="Two-digit FIPS codes; 72 alone for Puerto Rico.")
    reader: str
    targets: dict[QueryName, Exact] = Field(description="Margins the committee wishes, in people.")
    locks: list[QueryName]


class LevelFormat(_Format):
    """One geographic level and how its budget is shared among queries."""

    level: str
    share: Exact
    queries: dict[str, Exact]


class PassesFormat(_Format):
    """Passes over groups of queries, in order: a list of passes, each a list of groups, each a list of query names."""

    least_squares: list[list[list[str]]] | list[list[str]]
    rounder: list[list[list[str]]] | list[list[str]]


class SpineFormat(_Format):
    """The chosen spine: its preset and what differs from it."""

    kind: str
    settings: dict[str, str]


class TopDownFormat(_Format):
    """Parameters of TopDown."""

    kind: Literal["topdown"]
    framework: PrivacyFramework
    schema_: str = Field(alias="schema")
    total: Exact = Field(description="ρ of the whole release; shares of it are exact and add up to 1.")
    levels: list[LevelFormat] = Field(description="From the root of the spine downwards.")
    passes: dict[str, PassesFormat]
    invariants: dict[str, list[str]]
    constraints: dict[str, list[str]]
    spine: SpineFormat
    locked_levels: list[str]
    locked_queries: list[QueryName]


class SizeLevelFormat(_Format):
    """One level of regions."""

    level: str
    regions: int
    share: Exact


class TailFormat(_Format):
    """How sizes above an open last class are drawn."""

    outliers: int
    smallest: int
    seed: int


class GroupSizesFormat(_Format):
    """Parameters of hierarchical group sizes."""

    kind: Literal["group-sizes"]
    framework: PrivacyFramework
    mechanism: SizeMechanism
    total: Exact
    levels: list[SizeLevelFormat]
    largest: int = Field(ge=1, description="Largest size of a group that is published.")
    largest_quantity: int = Field(ge=1, description="Most units one person adds to a group.")
    tail: TailFormat | None
    locked_levels: list[str]


class AxisFormat(_Format):
    """One attribute of a histogram."""

    name: str
    size: int
    labels: list[str]
    groupings: dict[str, list[str]]


class LinearCountFormat(_Format):
    """A weighted sum of cells; cells are numbered from 0, last attribute fastest."""

    name: str
    weights: dict[Annotated[str, Field(pattern=r"^\d+$")], Exact]


class TotalsFormat(_Format):
    """All totals by some attributes or groupings."""

    totals_by: list[str] = Field(alias="totals by")


class ReleaseFormat(_Format):
    """One query, what is exact in it, and the mechanism."""

    query: Literal["histogram"] | list[LinearCountFormat]
    exact: list[TotalsFormat | LinearCountFormat]
    mechanism: Mechanism
    share: Exact
    basis: Basis


class SubspaceFormat(_Format):
    """Parameters of subspace differential privacy."""

    kind: Literal["subspace"]
    epsilon: Exact
    delta: Exact
    calibration: Calibration
    table: str
    axes: list[AxisFormat]
    releases: dict[str, ReleaseFormat]


class ScenarioFormat(_Format):
    """One proposal: parameters of one system with their conventions."""

    name: str
    note: str
    baseline: str = Field(description="Preset it started from.")
    conventions: ConventionsFormat
    method: Annotated[PhSafeFormat | TopDownFormat | GroupSizesFormat | SubspaceFormat, Field(discriminator="kind")]
    source_text: str = Field(description="The production file it was read from, kept to write it again unchanged.")


class CapFormat(_Format):
    """A limit of the privacy loss; exactly one of rho, bounded_rho, epsilon."""

    rho: Positive | None = None
    bounded_rho: Positive | None = None
    epsilon: Positive | None = None
    queries: list[str] | str | None = None
    delta: Positive | None = None
    neighbours: Neighbours | None = None
    conversion: Conversion | None = None


class TieFormat(_Format):
    """Queries that stay equal."""

    queries: list[str]
    equal: Literal["margin", "budget"] = "margin"


class TargetsFormat(_Format):
    """A file of targets for ``phexplore solve``; a selection names a query, a table, a level of every table, or everything."""

    targets: dict[str, Positive | dict[str, Positive]] = Field(default_factory=dict)
    caps: list[CapFormat] = Field(default_factory=list)
    floors: dict[str, Positive | dict[str, Positive]] = Field(default_factory=dict)
    ties: list[TieFormat] = Field(default_factory=list)
    locks: list[str] = Field(default_factory=list)


class RuleFormat(_Format):
    """One decision rule; exactly one of at_most and at_least."""

    measure: Measure
    at_most: Exact | float | None = None
    at_least: Exact | float | None = None
    place: str = ""
    figure: str = ""
    least_people: int = 500
    tolerance: Exact | float = "0.05"


class WorkbookFormat(_Format):
    """All scenarios of a project."""

    active: str
    comparison: str
    scenarios: list[ScenarioFormat] = Field(min_length=1)
    rules: list[RuleFormat] = Field(default_factory=list)
    goals: dict[str, TargetsFormat] = Field(default_factory=dict, description="By kind of system.")


class ChangeFormat(_Format):
    """One changed field."""

    field: ChangedField
    key: Any = Field(default=None, description="Which query, table or level.")
    from_: Any = Field(alias="from")
    to: Any


class StepFormat(_Format):
    """One step of the edit log."""

    label: str
    at: str = Field(description="ISO 8601, UTC.")
    edited: dict[str, list[ChangeFormat]] = Field(default_factory=dict)
    added: dict[str, ScenarioFormat] = Field(default_factory=dict)
    order: list[str] | None = None
    active: str | None = None
    comparison: str | None = None
    rules: list[RuleFormat] | None = None
    goals: dict[str, TargetsFormat] | None = None


class FirstFormat(_Format):
    """The first version, in full."""

    label: str
    at: str
    workbook: WorkbookFormat


class CitedRunFormat(_Format):
    """A run that a decision rests on."""

    name: str
    identity: str
    trials: int


class DecisionFormat(_Format):
    """Who decided what."""

    status: Status
    fingerprint: str
    scenario: str
    who: str
    role: str
    at: str
    note: str
    runs: list[CitedRunFormat]


class ProjectFormat(_Format):
    """A project file (.phx): the current workbook, the first version, and every step between."""

    format: Literal["phexplore project"]
    version: Literal[1]
    workbook: WorkbookFormat
    cursor: int = Field(ge=0, description="Index of the current version; 0 is the first.")
    first: FirstFormat
    log: list[StepFormat]
    decisions: list[DecisionFormat] = Field(default_factory=list)


class RulesFormat(_Format):
    """A file of decision rules."""

    rules: list[RuleFormat]


class RunDataFormat(_Format):
    """The input of a run."""

    path: str
    sha256: Sha256
    size_bytes: int
    synthetic: bool
    blocks: bool = False


class StopFormat(_Format):
    """An earlier end."""

    coverage_error: Exact
    minimum_trials: int
    figure: str = ""


class TopDownOptionsFormat(_Format):
    """What a TopDown run is asked beyond its scenario."""

    expand: int | None
    mechanism: Literal["top-down", "block-by-block"]
    target: Literal["fraction", "whole"]
    microdata: bool
    keep_measurements: bool
    measurements: str
    measured_identity: str
    measured_content: str = Field(default="", description="SHA-256 over the kept answers; absent where none are used.")
    scheduler: str = Field(default="", description="Written by version 1 only, and never read.")


class RunSpecFormat(_Format):
    """``spec.json`` of a run directory: everything that decides its result."""

    version: Literal[1, 2]
    identity: Sha256 = Field(description="Of everything that changes what the run does; where data lie does not.")
    mode: Literal["private", "no-noise", "non-private"]
    trials: int = Field(ge=1)
    seed: int | None
    reproducible: bool
    releasable: bool
    workers: int = Field(ge=1)
    stop: StopFormat | None
    code_version: str
    data: RunDataFormat
    fingerprint: str
    scenario: ScenarioFormat
    topdown: TopDownOptionsFormat | None = None
    seal: Sha256 | None = Field(
        default=None, description="SHA-256 over all the rest, name for name; from version 2 on."
    )


class PackedFileFormat(_Format):
    """One file of a bundle."""

    sha256: Sha256
    bytes: int


class ManifestFormat(_Format):
    """``manifest.json`` of a bundle: what belongs to it, and its own check sum."""

    format: Literal["phexplore bundle"]
    version: Literal[1, 2]
    program: str
    made: str
    scenario: str
    fingerprint: str
    status: Status
    clearance: str
    root: str
    signers: list[str]
    notes: list[str]
    files: dict[str, PackedFileFormat]
    self_: Sha256 = Field(alias="self")


class ConfigFormat(BaseModel):
    """``config.json`` of PHSafe, as production reads it; unknown keys are kept."""

    model_config = ConfigDict(extra="allow")
    privacy_budget: dict[str, Any] = Field(description='ρ per table, region and level; a number or "inf".')
    tau: dict[str, int] = Field(description="Truncation threshold per table, in people.")
    state_filter: list[str]
    reader: str
    privacy_defn: PrivacyFramework


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A kind of file.

    Attributes:
        name: on the command line and of its schema file.
        title: for people.
        files: how such files are called.
        model: its content.
    """

    name: str
    title: str
    files: str
    model: type[BaseModel]


FORMATS: Mapping[str, FileFormat] = {
    found.name: found
    for found in (
        FileFormat("project", "Project", "*.phx", ProjectFormat),
        FileFormat("scenario", "Scenario", "scenario.json of a bundle", ScenarioFormat),
        FileFormat("targets", "Targets to solve for", "*.json", TargetsFormat),
        FileFormat("rules", "Decision rules", "*.json", RulesFormat),
        FileFormat("run-specification", "Specification of a run", "spec.json of a run directory", RunSpecFormat),
        FileFormat("bundle-manifest", "Manifest of a bundle", "manifest.json of a bundle", ManifestFormat),
        FileFormat("phsafe-config", "PHSafe configuration", "config.json", ConfigFormat),
    )
}


def json_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a file format.

    Raises:
        KeyError: there is no such format; `FORMATS` has them all.
    """
    found = FORMATS[name]
    schema = TypeAdapter(found.model).json_schema(by_alias=True)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"phexplore: {found.title}",
        **{key: value for key, value in schema.items() if key != "title"},
    }
