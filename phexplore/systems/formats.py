"""The file formats of the program as JSON Schema, for people and programs that write such files themselves.

Parameters and everything else that is declared describe themselves; the files around them, whose readers keep line, column and
every problem, are described here. A test validates what the program writes against these schemas.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from phexplore.model.approval import Decision, Status
from phexplore.model.conventions import Conversion, Neighbours
from phexplore.model.fields import Record, declared_fields
from phexplore.model.kinds import (
    Choice,
    Entries,
    Exact,
    Flag,
    Kind,
    Listing,
    Optional,
    Schema,
    Shared,
    Text,
    Whole,
    object_schema,
)
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.provenance import Provenance
from phexplore.model.rules import Measure
from phexplore.model.scenario import METHODS, Scenario
from phexplore.runs.spec import RunData, RunMode, StopRule
from phexplore.systems.registry import systems


@dataclass(frozen=True, slots=True)
class Noted(Kind):
    """A kind with a sentence about the part of a file that has it."""

    kind: Kind
    note: str

    def describe(self, shared: Shared) -> Schema:
        """Return a JSON Schema."""
        return {**self.kind.describe(shared), "description": self.note}


@dataclass(frozen=True, slots=True)
class Constant(Kind):
    """One of a few fixed values."""

    values: tuple[Any, ...]

    def describe(self, shared: Shared) -> Schema:
        """Return a JSON Schema."""
        del shared
        return {"const": self.values[0]} if len(self.values) == 1 else {"enum": list(self.values)}


@dataclass(frozen=True, slots=True)
class AnyOf(Kind):
    """One of several kinds."""

    kinds: tuple[Kind, ...]

    def describe(self, shared: Shared) -> Schema:
        """Return a JSON Schema."""
        return {"anyOf": [kind.describe(shared) for kind in self.kinds]}


@dataclass(frozen=True, slots=True)
class Number(Kind):
    """A JSON number, which a reader takes for what its text says."""

    is_positive: bool = False

    def describe(self, shared: Shared) -> Schema:
        """Return a JSON Schema."""
        del shared
        return {"type": "number", **({"exclusiveMinimum": 0} if self.is_positive else {})}


@dataclass(frozen=True, slots=True)
class Form(Kind):
    """An object with a reader of its own.

    Attributes:
        name: of its description.
        about: what it is, in a sentence.
        needed: its parts.
        optional: parts that may be left out.
        is_open: whether it may hold more.
    """

    name: str
    about: str
    needed: Mapping[str, Kind] = field(default_factory=dict)
    optional: Mapping[str, Kind] = field(default_factory=dict)
    is_open: bool = False

    def describe(self, shared: Shared) -> Schema:
        """Return a JSON Schema."""
        if self.name not in shared:
            shared[self.name] = {}
            parts = {name: kind.describe(shared) for name, kind in (*self.needed.items(), *self.optional.items())}
            shared[self.name] = object_schema(self.about, parts, list(self.needed), is_open=self.is_open)
        return {"$ref": f"#/$defs/{self.name}"}


TEXT, COUNT, FLAG, EXACT, NAMES = Text(), Whole(), Flag(), Exact(), Listing(Text())
POSITIVE = AnyOf((EXACT, Number(is_positive=True)))
NUMBER = AnyOf((EXACT, Number()))
SHA256 = Text(r"^[0-9a-f]{64}$", "SHA-256, 64 hexadecimal digits.")
TIME = Text(doc="ISO 8601, UTC.")
BY_QUERY = Entries(AnyOf((POSITIVE, Entries(POSITIVE))))

CAP = Form(
    "Cap",
    "A limit of the privacy loss; exactly one of rho, bounded_rho, epsilon, proven_epsilon.",
    optional={
        "rho": POSITIVE,
        "bounded_rho": POSITIVE,
        "epsilon": POSITIVE,
        "proven_epsilon": POSITIVE,
        "queries": AnyOf((NAMES, TEXT)),
        "delta": POSITIVE,
        "neighbours": Choice(Neighbours),
        "conversion": Choice(Conversion),
    },
)
TIE = Form("Tie", "Queries that stay equal.", {"queries": NAMES}, {"equal": Constant(("margin", "budget"))})
TARGETS = Form(
    "Targets",
    "A file of targets for ``phexplore solve``; a selection names a query, a table, a level of every table, or everything.",
    optional={"targets": BY_QUERY, "caps": Listing(CAP), "floors": BY_QUERY, "ties": Listing(TIE), "locks": NAMES},
)
RULE = Form(
    "Rule",
    "One decision rule; exactly one of at_most and at_least.",
    {"measure": Choice(Measure)},
    {"at_most": NUMBER, "at_least": NUMBER, "place": TEXT, "figure": TEXT, "least_people": COUNT, "tolerance": NUMBER},
)
RULES = Form("Rules", "A file of decision rules.", {"rules": Listing(RULE)})

SCENARIO = Record(Scenario)
GOALS = Noted(Entries(TARGETS), "By kind of system.")
WORKBOOK = Form(
    "Workbook",
    "All scenarios of a project.",
    {"active": TEXT, "comparison": TEXT, "scenarios": Listing(SCENARIO, least=1)},
    {"rules": Listing(RULE), "goals": GOALS},
)


class _Word(Kind):
    """What logs call a field that differs."""

    def describe(self, shared: Shared) -> Schema:
        """Return a JSON Schema."""
        classes = (*METHODS.values(), Scenario)
        words = dict.fromkeys(part.word for cls in classes for part in declared_fields(cls))
        shared["ChangedField"] = {"description": "A field that differs.", "enum": list(words), "type": "string"}
        return {"$ref": "#/$defs/ChangedField"}


CHANGE = Form(
    "Change",
    "One changed field.",
    {"field": _Word(), "from": Kind(), "to": Kind()},
    {"key": Noted(TEXT, "Which query, table or level.")},
)
STEP = Form(
    "Step",
    "One step of the edit log.",
    {"label": TEXT, "at": TIME},
    {
        "edited": Entries(Listing(CHANGE)),
        "added": Entries(SCENARIO),
        "order": NAMES,
        "active": TEXT,
        "comparison": TEXT,
        "rules": Listing(RULE),
        "goals": GOALS,
    },
)
PROJECT = Form(
    "Project",
    "A project file (.phx): the current workbook, the first version, and every step between.",
    {
        "format": Constant(("phexplore project",)),
        "version": Constant((1,)),
        "workbook": WORKBOOK,
        "cursor": Noted(Whole(0), "Index of the current version; 0 is the first."),
        "first": Form("First", "The first version, in full.", {"label": TEXT, "at": TIME, "workbook": WORKBOOK}),
        "log": Listing(STEP),
    },
    {"decisions": Listing(Record(Decision))},
)

RUN_DATA = Form(
    "RunData",
    "The input of a run, identified by its content.",
    {
        **{part.file_name: part.kind for part in declared_fields(RunData) if not part.is_omitted},
        "synthetic": Noted(FLAG, "Whether the kind of the provenance is ``synthetic``."),
    },
    {part.file_name: part.kind for part in declared_fields(RunData) if part.is_omitted},
)
RUN = Form(
    "RunSpecification",
    "``spec.json`` of a run directory: everything that decides its result.",
    {
        "version": Constant((1, 2, 3)),
        "identity": Noted(SHA256, "Of everything that changes what the run does; where data lie does not."),
        "mode": Choice(RunMode),
        "trials": Whole(1),
        "seed": Optional(COUNT),
        "reproducible": FLAG,
        "releasable": FLAG,
        "workers": Whole(1),
        "stop": Optional(Record(StopRule)),
        "code_version": TEXT,
        "data": RUN_DATA,
        "provenance": Noted(
            Record(Provenance), "Provenance of every count of the run: that of the data, or imputed with ``--expand``."
        ),
        "fingerprint": TEXT,
        "scenario": SCENARIO,
    },
    {
        **{system.id: Record(system.run_options) for system in systems().values() if system.run_options},
        "salt": Noted(
            TEXT, "Random digits of a run on confidential data, so that its identity confirms no guess of them."
        ),
        "seal": Noted(SHA256, "SHA-256 over all the rest, name for name; from version 2 on."),
    },
)
MANIFEST = Form(
    "BundleManifest",
    "``manifest.json`` of a bundle: what it states, and the SHA-256 of every file. Signatures cover it.",
    {
        "format": Constant(("phexplore bundle",)),
        "version": Constant((1,)),
        "program": TEXT,
        "made": TEXT,
        "scenario": TEXT,
        "fingerprint": TEXT,
        "status": Choice(Status),
        "clearance": TEXT,
        "root": TEXT,
        "signers": NAMES,
        "files": Entries(Form("PackedFile", "One file of a bundle.", {"sha256": SHA256, "bytes": COUNT})),
    },
)
CONFIG = Form(
    "PhSafeConfiguration",
    "``config.json`` of PHSafe, as production reads it; unknown keys are kept.",
    {
        "privacy_budget": Noted(Entries(Kind()), 'ρ per table, region and level; a number or "inf".'),
        "tau": Noted(Entries(COUNT), "Truncation threshold per table, in people."),
        "state_filter": NAMES,
        "reader": TEXT,
        "privacy_defn": Choice(PrivacyFramework),
    },
    is_open=True,
)


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A kind of file.

    Attributes:
        name: on the command line and of its schema file.
        title: for people.
        files: how such files are called.
        content: what stands in them.
    """

    name: str
    title: str
    files: str
    content: Kind


FORMATS: Mapping[str, FileFormat] = {
    found.name: found
    for found in (
        FileFormat("project", "Project", "*.phx", PROJECT),
        FileFormat("scenario", "Scenario", "scenario.json of a bundle", SCENARIO),
        FileFormat("targets", "Targets to solve for", "*.json", TARGETS),
        FileFormat("rules", "Decision rules", "*.json", RULES),
        FileFormat("run-specification", "Specification of a run", "spec.json of a run directory", RUN),
        FileFormat("bundle-manifest", "Manifest of a bundle", "manifest.json of a bundle", MANIFEST),
        FileFormat("phsafe-config", "PHSafe configuration", "config.json", CONFIG),
    )
}


def json_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a file format.

    Raises:
        KeyError: there is no such format; `FORMATS` has them all.
    """
    found, shared = FORMATS[name], Shared()
    reference = found.content.describe(shared)["$ref"].rsplit("/", 1)[1]
    own = shared.pop(reference)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"phexplore: {found.title}",
        "$defs": dict(sorted(shared.items())),
        **own,
    }
