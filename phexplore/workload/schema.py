"""Schemas of records as data: attributes with their levels, recodes, structural zeros, facility bounds.

A schema is a product of attributes; a record falls into exactly one cell, numbered row by row (the last attribute moves
fastest). Everything is read from ``resources/schemas/*.toml``: a new schema is one more file.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.library import bring, carried, confirm_id, own_entries, own_files, text_of
from phexplore.resources import resource
from phexplore.text.messages import msg
from phexplore.text.quoted import quote

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


_FOLDER = "schemas"


class SchemaError(PhexploreError):
    """A schema file says something that cannot be; the sentence names the file and the entry."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of a record.

    Attributes:
        name: as production spells it, e.g. ``cenrace``.
        title: words for people.
        labels: one per level, in level order.
    """

    name: str
    title: str
    labels: tuple[str, ...]

    @property
    def levels(self) -> int:
        """The number of levels."""
        return len(self.labels)


@dataclass(frozen=True, slots=True)
class Recode:
    """Disjoint groups of levels of one attribute. Levels in no group are left out of every query that uses it.

    Attributes:
        name: as production spells it, e.g. ``hhinstlevels``.
        attribute: the attribute whose levels are grouped.
        title: words for people.
        groups: levels of each group, ascending.
        labels: one per group.
    """

    name: str
    attribute: str
    title: str
    groups: tuple[tuple[int, ...], ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StructuralZero:
    """Cells nobody can be in.

    Attributes:
        name: as production spells it, e.g. ``nurse_nva_0``.
        title: the rule in words.
        where: levels of each named attribute; the zero cells are those in all of them.
    """

    name: str
    title: str
    where: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class FacilityBounds:
    """How many people a number of facilities holds, by type (TopDown's `hhgq_total_lb` and `hhgq_total_ub`).

    Attributes:
        query: the query whose answers are bounded, one facility type per answer.
        least_per_unit: fewest people in one unit of each type; 0 where a unit may be vacant.
        most_per_unit: most people in one unit of any type.
    """

    query: str
    least_per_unit: tuple[int, ...]
    most_per_unit: int


@dataclass(frozen=True, slots=True)
class Link:
    """Answers of every unit that are known before its cells are estimated.

    Attributes:
        constraint: as production spells it, e.g. ``pl94``.
        query: the query of this schema whose answers they are.
        release: id of the schema whose published counts they are, None where they come from the companion.
        companion_query: the query of the companion with the same answers.
    """

    constraint: str
    query: str
    release: str | None
    companion_query: str | None


@dataclass(frozen=True, slots=True)
class Schema:
    """A product of attributes. Two schemas are equal when their ids are: ids are unique among the shipped files.

    Attributes:
        id: file name without suffix, e.g. ``pl94_persons``.
        title: words for people.
        record: what one record is, e.g. ``person``.
        source: where the definition is written down.
        attributes: in the order of the cell number, slowest first.
        recodes: by name.
        catalogue: names of query groups worth offering, measured in some release or used by its post-processing.
        metrics: names of the query groups whose errors production reports, as its files write them.
        metrics_unknown: further ones whose answers are not written down where they could be read.
        pictured: names of the query groups whose answers are shown one by one.
        aliases: other names, among them the ones of production.
        structural_zeros: cells that stay empty.
        facility_bounds: how the number of facilities bounds the number of people, None without facilities.
        companion: id of a schema measured in the same release (the unit histogram), None if there is none.
        links: what is known from earlier releases or from the companion.
        analytic_only: why this schema can be forecast but not simulated, None if it can be simulated.
        images: for each larger schema of which this one is a coarsening, how its attributes arise:
            attribute of this schema -> per level the levels of the larger schema's attributes it stands for.
        geography: id of the file in ``resources/geography`` that says what the codes of its leaves mean.
    """

    id: str
    title: str = field(compare=False)
    record: str = field(compare=False)
    source: str = field(compare=False)
    attributes: tuple[Attribute, ...] = field(compare=False)
    recodes: Mapping[str, Recode] = field(compare=False)
    catalogue: tuple[str, ...] = field(compare=False)
    metrics: tuple[str, ...] = field(compare=False, default=())
    metrics_unknown: tuple[str, ...] = field(compare=False, default=())
    pictured: tuple[str, ...] = field(compare=False, default=())
    aliases: tuple[str, ...] = field(compare=False, default=())
    structural_zeros: tuple[StructuralZero, ...] = field(compare=False, default=())
    facility_bounds: FacilityBounds | None = field(compare=False, default=None)
    companion: str | None = field(compare=False, default=None)
    links: tuple[Link, ...] = field(compare=False, default=())
    analytic_only: str | None = field(compare=False, default=None)
    images: Mapping[str, Mapping[str, tuple[Mapping[str, tuple[int, ...]], ...]]] = field(
        compare=False, default_factory=dict
    )
    geography: str = field(compare=False, default="census-blocks")

    def __reduce__(self) -> tuple[Any, ...]:
        """Cross a process border by id: the receiver reads the same file; the user's goes along."""
        return _received, (self.id, carried(_FOLDER, f"{self.id}.toml"))

    @property
    def shape(self) -> tuple[int, ...]:
        """Levels per attribute."""
        return tuple(attribute.levels for attribute in self.attributes)

    @property
    def cells(self) -> int:
        """The number of cells."""
        return math.prod(self.shape)

    @property
    def is_chained(self) -> bool:
        """Whether histograms are estimated on counts of an earlier release."""
        return bool(self.links)

    def position(self, name: str) -> int:
        """Return the place of an attribute in the cell number.

        Raises:
            UnknownNameError: the schema has no such attribute.
        """
        names = [attribute.name for attribute in self.attributes]
        if name not in names:
            raise UnknownNameError(msg("attribute of {schema}", schema=self.id), name, names)
        return names.index(name)

    def attribute(self, name: str) -> Attribute:
        """Return an attribute by name.

        Raises:
            UnknownNameError: the schema has no such attribute.
        """
        return self.attributes[self.position(name)]

    def cell_labels(self, cell: int) -> tuple[str, ...]:
        """Return the label of every attribute for a cell number."""
        import numpy as np

        return tuple(
            attribute.labels[int(level)]
            for attribute, level in zip(self.attributes, np.unravel_index(cell, self.shape), strict=True)
        )

    def selection(self, where: Mapping[str, Sequence[int]]) -> npt.NDArray[np.bool_]:
        """Return the cells in all the given levels, ``bool[cells]``."""
        import numpy as np

        chosen = np.ones(self.shape, dtype=bool)
        for name, levels in where.items():
            position = self.position(name)
            keep = np.zeros(self.shape[position], dtype=bool)
            keep[list(levels)] = True
            chosen &= keep.reshape([-1 if axis == position else 1 for axis in range(len(self.shape))])
        return chosen.ravel()

    def structurally_empty(self, names: Sequence[str] | None = None) -> npt.NDArray[np.bool_]:
        """Return the cells that stay empty, ``bool[cells]``, by all structural zeros or the named ones.

        Raises:
            UnknownNameError: the schema has no structural zero of that name.
        """
        import numpy as np

        known = {zero.name: zero for zero in self.structural_zeros}
        empty = np.zeros(self.shape, dtype=bool)
        for name in known if names is None else names:
            if name not in known:
                raise UnknownNameError(msg("structural zero of {schema}", schema=self.id), name, list(known))
            where = known[name].where
            levels = [where.get(each.name, range(size)) for each, size in zip(self.attributes, self.shape, strict=True)]
            empty[np.ix_(*map(list, levels))] = True
        return empty.ravel()


def parse_levels(text: str) -> tuple[int, ...]:
    """Read ``0-5,9`` as the levels 0 to 5 and 9.

    Raises:
        ValueError: not a list of numbers and ranges, or not ascending.
    """
    levels: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        levels.extend(range(int(first), int(last if dash else first) + 1))
    if levels != sorted(set(levels)) or not levels:
        raise ValueError(f"levels are written ascending and once, got {text!r}")
    return tuple(levels)


def schema_ids() -> tuple[str, ...]:
    """Return the ids of all schemas, the shipped ones first, each part in alphabetical order."""
    return (*_shipped_ids(), *(name for name, _ in own_entries(_FOLDER, read_schema)))


def _shipped_ids() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in resource(_FOLDER).glob("*.toml")))


def _received(name: str, files: Mapping[str, str]) -> Schema:
    bring(files)
    return load_schema(name)


@lru_cache(maxsize=64)
def load_schema(name: str) -> Schema:
    """Return a schema by id, or a shipped one by one of its other names, e.g. ``pl94_persons`` or ``PL94_2020_SCHEMA``.

    Raises:
        UnknownNameError: no file has that id or alias.
        SchemaError: the file contradicts itself.
    """
    known = _shipped_ids()
    if name in known:
        return read_schema(resource(f"{_FOLDER}/{name}.toml"))
    for known_id in known:
        if name in load_schema(known_id).aliases:
            return load_schema(known_id)
    if (path := own_files(_FOLDER).get(f"{name}.toml")) is not None:
        found = read_schema(path)
        quote(found.title, found.record, found.source, *found.recodes)
        for attribute in found.attributes:
            quote(attribute.name, attribute.title, *attribute.labels)
        return found
    raise UnknownNameError("schema", name, list(schema_ids()))


def read_schema(path: Path) -> Schema:
    """Read one schema file.

    Raises:
        SchemaError: the file is not TOML, misses an entry, or contradicts itself; the sentence names file and entry.
    """
    try:
        found = _schema(tomllib.loads(text_of(path)))
        confirm_id(path, found.id)
    except (
        tomllib.TOMLDecodeError,
        AttributeError,
        IndexError,
        KeyError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        message = f"entry {error} is missing" if isinstance(error, KeyError) else str(error)
        raise SchemaError(
            f"{path.name}: {message}.", msg("Correct the file. The shipped files contain every entry.")
        ) from error
    return found


def _schema(entries: Mapping[str, Any]) -> Schema:
    attributes = tuple(
        Attribute(item["name"], item["title"], _labels(item["name"], item["labels"])) for item in entries["attributes"]
    )
    by_name = {attribute.name: attribute for attribute in attributes}
    if len(by_name) != len(attributes) or not attributes:
        raise ValueError("every attribute has a name of its own, and there is at least one")
    recodes = {item["name"]: _recode(item, by_name) for item in entries.get("recodes", ())}
    if clash := set(recodes) & (set(by_name) | {"total", "detailed"}):
        raise ValueError(f"{min(clash)!r} names two things")
    zeros = tuple(
        StructuralZero(item["name"], item["title"], _where(item["where"], by_name))
        for item in entries.get("structural_zeros", ())
    )
    facility = entries.get("facility_bounds")
    return Schema(
        id=entries["id"],
        title=entries["title"],
        record=entries["record"],
        source=entries["source"],
        attributes=attributes,
        recodes=MappingProxyType(recodes),
        catalogue=tuple(entries["catalogue"]),
        metrics=tuple(entries.get("metrics", ())),
        metrics_unknown=tuple(entries.get("metrics_unknown", ())),
        pictured=tuple(entries.get("pictured", ())),
        aliases=tuple(entries["aliases"]),
        structural_zeros=zeros,
        facility_bounds=facility
        and FacilityBounds(facility["query"], tuple(facility["least_per_unit"]), facility["most_per_unit"]),
        companion=entries.get("companion"),
        links=tuple(
            Link(item["constraint"], item["query"], item.get("release"), item.get("companion_query"))
            for item in entries.get("links", ())
        ),
        analytic_only=entries.get("analytic_only"),
        geography=entries.get("geography", "census-blocks"),
        images=MappingProxyType(
            {item["of"]: _image(item["attributes"], by_name) for item in entries.get("images", ())}
        ),
    )


def _labels(name: str, labels: Sequence[str]) -> tuple[str, ...]:
    if len(set(labels)) != len(labels) or not labels:
        raise ValueError(f"{name!r} needs labels, each of its own")
    return tuple(labels)


def _recode(item: Mapping[str, Any], attributes: Mapping[str, Attribute]) -> Recode:
    name, attribute = item["name"], attributes[item["attribute"]]
    groups = tuple(parse_levels(text) for text in item["groups"])
    covered = [level for group in groups for level in group]
    if len(set(covered)) != len(covered):
        raise ValueError(f"groups of {name!r} overlap, so one record would be counted twice")
    if max(covered) >= attribute.levels:
        raise ValueError(f"{name!r} speaks of level {max(covered)}, {attribute.name!r} ends at {attribute.levels - 1}")
    labels = _labels(name, item["labels"])
    if len(labels) != len(groups):
        raise ValueError(f"{name!r} has {len(groups)} groups and {len(labels)} labels")
    return Recode(name, attribute.name, item["title"], groups, labels)


def _where(where: Mapping[str, str], attributes: Mapping[str, Attribute]) -> Mapping[str, tuple[int, ...]]:
    parsed = {name: parse_levels(text) for name, text in where.items()}
    for name, levels in parsed.items():
        if levels[-1] >= attributes[name].levels:
            raise ValueError(f"level {levels[-1]} is beyond the last level of {name!r}")
    return MappingProxyType(parsed)


def _image(
    entries: Mapping[str, Any], attributes: Mapping[str, Attribute]
) -> Mapping[str, tuple[Mapping[str, tuple[int, ...]], ...]]:
    image = {}
    for name, attribute in attributes.items():
        levels = entries[name]["levels"]
        if len(levels) != attribute.levels:
            raise ValueError(f"the image of {name!r} has {len(levels)} levels, the attribute {attribute.levels}")
        image[name] = tuple(
            MappingProxyType({source: parse_levels(text) for source, text in level.items()}) for level in levels
        )
    return MappingProxyType(image)
