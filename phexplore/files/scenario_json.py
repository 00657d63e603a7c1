"""Scenario and workbook as readable JSON values, and back with every problem listed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from phexplore.errors import PhexploreError
from phexplore.files.agenda_json import decode_goals, decode_rules, encode_agenda
from phexplore.files.group_sizes_json import (
    decode_group_sizes,
    decode_tail,
    encode_group_sizes,
    encode_tail,
    wholes,
)
from phexplore.files.json_text import plain_values
from phexplore.files.subspace_json import (
    decode_axes,
    decode_release,
    decode_subspace,
    encode_axes,
    encode_release,
    encode_subspace,
)
from phexplore.model.conventions import Conventions, MarginConvention, Neighbours
from phexplore.model.diff import Change, ChangedField, ChangedKey
from phexplore.model.group_sizes import GroupSizes, SizeMechanism
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.keys import QueryKey, TableId, parse_query
from phexplore.model.numbers import Rounding, exact_text, parse_budget, parse_exact
from phexplore.model.phsafe import PhSafe, PrivacyFramework
from phexplore.model.scenario import Method, Scenario
from phexplore.model.subspace import Calibration, Subspace
from phexplore.model.topdown import LevelQuery, Passes, SpineChoice, TopDown
from phexplore.model.workbook import Workbook

Json = dict[str, Any]


class _Reader:
    """Reads fields of a JSON object and collects what is wrong with them."""

    def __init__(self, path: tuple[str, ...]) -> None:
        self.path = path
        self.issues: list[Issue] = []

    def object_of(self, value: Any, *where: str) -> Mapping[str, Any]:
        if isinstance(value, dict):
            return value
        self._report(where, f"an object is expected, got {_shown(value)}")
        return {}

    def read(self, holder: Mapping[str, Any], key: str, parse: Callable[[Any], Any], *where: str, default: Any) -> Any:
        """Return the parsed field; on a problem record it and return the default. A missing field is its default."""
        if key not in holder:
            return default
        return self.parsed(holder[key], parse, *where, key, default=default)

    def parsed(self, value: Any, parse: Callable[[Any], Any], *where: str, default: Any) -> Any:
        """Return the parsed value; on a problem record it and return the default."""
        try:
            return parse(value)
        except (ValueError, TypeError, AttributeError, PhexploreError) as error:
            self._report(where, str(error))
        except KeyError as error:
            self._report(where, f"{error} is missing")
        return default

    def finish(self) -> None:
        """Raise if anything was wrong."""
        if self.issues:
            raise InputProblemsError(self.issues)

    def _report(self, where: tuple[str, ...], sentence: str) -> None:
        remedy = "Correct the value in the file, or open an earlier copy of the project."
        self.issues.append(Issue((*self.path, *where), sentence, remedy))


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"text is expected, got {_shown(value)}")
    return value


def _number(value: Any) -> Fraction:
    return parse_exact(_text(value))


def _budget(value: Any) -> Any:
    return parse_budget(_text(value))


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"a whole number is expected, got {_shown(value)}")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError(f"a list is expected, got {_shown(value)}")
    return tuple(_text(item) for item in value)


def encode_conventions(conventions: Conventions) -> Json:
    """Return the conventions as JSON; numbers are exact text."""
    return {
        "neighbours": conventions.neighbours.value,
        "margin": conventions.margin.value,
        "z": exact_text(conventions.z),
        "confidence": exact_text(conventions.confidence),
        "rounding": conventions.rounding.value,
        "rounding_step": exact_text(conventions.rounding_step),
        "delta": exact_text(conventions.delta),
    }


def _decode_conventions(value: Any, reader: _Reader) -> Conventions:
    holder, default = reader.object_of(value, "conventions"), Conventions()

    def field(key: str, parse: Callable[[Any], Any]) -> Any:
        return reader.read(holder, key, parse, "conventions", default=getattr(default, key))

    fields = {
        "neighbours": field("neighbours", Neighbours),
        "margin": field("margin", MarginConvention),
        "z": field("z", _number),
        "confidence": field("confidence", _number),
        "rounding": field("rounding", Rounding),
        "rounding_step": field("rounding_step", _number),
        "delta": field("delta", _number),
    }
    return reader.parsed(fields, lambda found: Conventions(**found), "conventions", default=default)  # type: ignore[no-any-return]


def encode_method(method: Method) -> Json:
    """Return the parameters of a system as JSON; shares and budgets are exact text.

    Raises:
        KeyError: no system with such parameters is known.
    """
    return next(codec for codec in _METHODS.values() if type(method) is codec.parameters).encode(method)


def _encode_phsafe(method: PhSafe) -> Json:
    return {
        "kind": "phsafe",
        "framework": method.framework.value,
        "budgets": {query.text: exact_text(budget) for query, budget in method.budgets.items()},
        "thresholds": dict(method.thresholds),
        "states": list(method.states),
        "reader": method.reader,
        "targets": {query.text: exact_text(target) for query, target in method.targets.items()},
        "locks": sorted(query.text for query in method.locks),
    }


def _encode_topdown(method: TopDown) -> Json:
    return {
        "kind": "topdown",
        "framework": method.framework.value,
        "schema": method.schema,
        "total": exact_text(method.total),
        "levels": [
            {
                "level": level,
                "share": exact_text(method.level_shares[level]),
                "queries": _queries(method, level),
            }
            for level in method.levels
        ],
        "passes": {level: encode_passes(passes) for level, passes in method.passes.items()},
        "invariants": {level: list(names) for level, names in method.invariants.items()},
        "constraints": {level: list(names) for level, names in method.constraints.items()},
        "spine": encode_spine(method.spine),
        "locked_levels": sorted(method.locked_levels),
        "locked_queries": sorted(key.text for key in method.locked_queries),
    }


def _queries(method: TopDown, level: str) -> Json:
    return {key.query: exact_text(share) for key, share in method.query_shares.items() if key.level == level}


def encode_passes(passes: Passes) -> Json:
    """Return passes as nested lists of query names."""
    return {"least_squares": passes.least_squares, "rounder": passes.rounder}


def encode_spine(spine: SpineChoice) -> Json:
    """Return the choice of spine."""
    return {"kind": spine.kind, "settings": dict(spine.settings)}


def encode_scenario(scenario: Scenario) -> Json:
    """Return the scenario as JSON; budgets are exact text such as "0.002619" or "1/3"."""
    return {
        "name": scenario.name,
        "note": scenario.note,
        "baseline": scenario.baseline,
        "conventions": encode_conventions(scenario.conventions),
        "method": encode_method(scenario.method),
        "source_text": scenario.source_text,
    }


def decode_scenario(value: Any, *path: str) -> Scenario:
    """Read a scenario.

    Args:
        value: what `encode_scenario` returned, parsed from JSON.
        path: where it stands, for messages.

    Raises:
        InputProblemsError: every field that cannot be read.
    """
    reader = _Reader(path)
    holder = reader.object_of(value)
    method = reader.read(holder, "method", lambda found: _decode_method(found, reader), default=None)
    name = reader.read(holder, "name", _text, default="")
    if method is None and not reader.issues:
        reader.issues.append(Issue((*path, "method"), "the parameters are missing", "Open an earlier copy."))
    conventions = _decode_conventions(holder.get("conventions", {}), reader)
    scenario = Scenario(
        name=name or "Scenario",
        method=method,
        conventions=conventions,
        note=reader.read(holder, "note", _text, default=""),
        baseline=reader.read(holder, "baseline", _text, default=""),
        source_text=reader.read(holder, "source_text", _text, default=""),
    )
    reader.finish()
    return scenario


def _decode_method(value: Any, reader: _Reader) -> Method | None:
    holder = reader.object_of(value, "method")
    kind = holder.get("kind")
    if kind not in _METHODS:
        raise ValueError(f"this version knows the methods {', '.join(map(repr, _METHODS))}, got {_shown(kind)}")
    return _METHODS[kind].decode(holder, reader)  # type: ignore[no-any-return]


def _decode_phsafe(holder: Mapping[str, Any], reader: _Reader) -> PhSafe | None:
    budgets = _decode_queries(holder, "budgets", _budget, reader)
    targets = _decode_queries(holder, "targets", _number, reader)
    thresholds = {
        TableId(table): reader.parsed(people, _count, "method", "thresholds", table, default=1)
        for table, people in reader.object_of(holder.get("thresholds", {}), "method", "thresholds").items()
    }
    locks = reader.read(holder, "locks", lambda found: frozenset(map(parse_query, _texts(found))), default=frozenset())
    fields = {
        "budgets": budgets,
        "thresholds": thresholds,
        "states": reader.read(holder, "states", _texts, "method", default=()),
        "framework": reader.read(holder, "framework", PrivacyFramework, "method", default=PrivacyFramework.ZCDP),
        "reader": reader.read(holder, "reader", _text, "method", default="csv"),
        "targets": targets,
        "locks": locks,
    }
    return reader.parsed(fields, lambda found: PhSafe(**found), "method", default=None)  # type: ignore[no-any-return]


def _decode_topdown(holder: Mapping[str, Any], reader: _Reader) -> TopDown | None:
    levels: list[str] = []
    level_shares: dict[str, Fraction] = {}
    query_shares: dict[LevelQuery, Fraction] = {}
    entries = holder.get("levels")
    for number, entry in enumerate(entries if isinstance(entries, list) else []):
        place = ("method", "levels", str(number))
        item = reader.object_of(entry, *place)
        level = reader.read(item, "level", _text, *place, default=f"level {number}")
        levels.append(level)
        level_shares[level] = reader.read(item, "share", _number, *place, default=Fraction(0))
        for query, share in reader.object_of(item.get("queries", {}), *place, "queries").items():
            found = reader.parsed(share, _number, *place, "queries", query, default=Fraction(0))
            query_shares[LevelQuery(level, query)] = found

    def names(key: str) -> dict[str, tuple[str, ...]]:
        found = reader.object_of(holder.get(key, {}), "method", key)
        return {level: reader.parsed(value, _texts, "method", key, level, default=()) for level, value in found.items()}

    def read(key: str, parse: Callable[[Any], Any], default: Any) -> Any:
        return reader.read(holder, key, parse, "method", default=default)

    passes = reader.object_of(holder.get("passes", {}), "method", "passes")
    fields = {
        "schema": read("schema", _text, ""),
        "levels": tuple(levels),
        "total": read("total", _number, Fraction(1)),
        "level_shares": level_shares,
        "query_shares": query_shares,
        "framework": read("framework", PrivacyFramework, PrivacyFramework.ZCDP),
        "passes": {
            level: reader.parsed(value, decode_passes, "method", "passes", level, default=Passes((), ()))
            for level, value in passes.items()
        },
        "invariants": names("invariants"),
        "constraints": names("constraints"),
        "spine": read("spine", decode_spine, SpineChoice("standard")),
        "locked_levels": frozenset(read("locked_levels", _texts, ())),
        "locked_queries": frozenset(map(parse_level_query, read("locked_queries", _texts, ()))),
    }
    return reader.parsed(fields, lambda found: TopDown(**found), "method", default=None)  # type: ignore[no-any-return]


def parse_level_query(text: str) -> LevelQuery:
    """Read ``Block/hispanic * cenrace``."""
    level, _, query = text.partition("/")
    return LevelQuery(level, query)


def decode_passes(value: Any) -> Passes:
    """Read passes.

    Raises:
        TypeError: they are not lists of lists of lists of names.
    """
    return Passes(_nested(value["least_squares"]), _nested(value["rounder"]))


def _nested(value: Any) -> tuple[tuple[tuple[str, ...], ...], ...]:
    if not isinstance(value, list):
        raise TypeError(f"a list of passes is expected, got {_shown(value)}")
    return tuple(tuple(_texts(names) for names in inner) for inner in value)


def decode_spine(value: Any) -> SpineChoice:
    """Read the choice of spine.

    Raises:
        TypeError: a setting is not text.
    """
    settings = {str(key): _text(item) for key, item in dict(value.get("settings", {})).items()}
    return SpineChoice(_text(value["kind"]), tuple(settings.items()))


def _decode_queries(
    holder: Mapping[str, Any], name: str, parse: Callable[[Any], Any], reader: _Reader
) -> dict[QueryKey, Any]:
    found: dict[QueryKey, Any] = {}
    for text, value in reader.object_of(holder.get(name, {}), "method", name).items():
        key = reader.parsed(text, parse_query, "method", name, text, default=None)
        number = reader.parsed(value, parse, "method", name, text, default=None)
        if key is not None and number is not None:
            found[key] = number
    return found


def encode_workbook(workbook: Workbook) -> Json:
    """Return the workbook as JSON."""
    return {
        "active": workbook.active,
        "comparison": workbook.comparison,
        "scenarios": [encode_scenario(scenario) for scenario in workbook.scenarios],
        **{key: value for key, value in encode_agenda(workbook).items() if value},
    }


def decode_workbook(value: Any, *path: str) -> Workbook:
    """Read a workbook.

    Raises:
        InputProblemsError: every field that cannot be read.
    """
    reader = _Reader(path)
    holder = reader.object_of(value)
    entries = holder.get("scenarios")
    if not isinstance(entries, list) or not entries:
        raise InputProblemsError([Issue((*path, "scenarios"), "no scenario is in the file", "Open an earlier copy.")])
    scenarios: list[Scenario] = []
    for number, entry in enumerate(entries):
        try:
            scenarios.append(decode_scenario(entry, *path, "scenarios", str(number)))
        except InputProblemsError as error:
            reader.issues.extend(error.issues)
    reader.finish()
    active = reader.read(holder, "active", _text, default=scenarios[0].name)
    comparison = reader.read(holder, "comparison", _text, default="")
    rules = reader.read(holder, "rules", decode_rules, default=())
    goals = reader.read(holder, "goals", decode_goals, default={})
    workbook: Workbook | None = reader.parsed(
        active, lambda name: Workbook(tuple(scenarios), name, comparison, rules, goals), default=None
    )
    reader.finish()
    if workbook is None:
        raise InputProblemsError([Issue(path, "the workbook cannot be read", "Open an earlier copy.")])
    return workbook


def encode_change(change: Change) -> Json:
    """Return one change as JSON, values as exact text."""
    key = change.key.text if isinstance(change.key, QueryKey | LevelQuery) else change.key
    return {
        "field": change.field.value,
        **({"key": key} if key is not None else {}),
        "from": _encode_value(change.field, change.before),
        "to": _encode_value(change.field, change.after),
    }


def decode_change(value: Any) -> Change:
    """Read one change.

    Raises:
        ValueError, TypeError, KeyError, PhexploreError: it cannot be read.
    """
    field, text = ChangedField(value["field"]), value.get("key")
    parse: Callable[[str], ChangedKey] = _KEYS.get(field, _text)
    key = None if text is None else parse(_text(text))
    return Change(field, key, _decode_value(field, value["from"]), _decode_value(field, value["to"]))


def _table_id(text: str) -> TableId:
    return TableId(text)


_KEYS: Mapping[ChangedField, Callable[[str], ChangedKey]] = {
    ChangedField.BUDGET: parse_query,
    ChangedField.TARGET: parse_query,
    ChangedField.LOCK: parse_query,
    ChangedField.THRESHOLD: _table_id,
    ChangedField.QUERY_SHARE: parse_level_query,
    ChangedField.QUERY_LOCK: parse_level_query,
}


def _same(value: Any) -> Any:
    return value


def _decode_method_alone(value: Any) -> Method:
    reader = _Reader(("method",))
    method = _decode_method(value, reader)
    reader.finish()
    if method is None:
        raise ValueError("the parameters cannot be read")
    return method


def _decode_conventions_alone(value: Any) -> Conventions:
    reader = _Reader(("conventions",))
    conventions = _decode_conventions(value, reader)
    reader.finish()
    return conventions


_CODECS: Mapping[ChangedField, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    ChangedField.METHOD: (encode_method, _decode_method_alone),
    ChangedField.BUDGET: (exact_text, _budget),
    ChangedField.TARGET: (exact_text, _number),
    ChangedField.THRESHOLD: (_same, _count),
    ChangedField.LOCK: (_same, bool),
    ChangedField.STATES: (list, _texts),
    ChangedField.FRAMEWORK: (lambda framework: framework.value, PrivacyFramework),
    ChangedField.SCHEMA: (_same, _text),
    ChangedField.LEVELS: (list, _texts),
    ChangedField.TOTAL: (exact_text, _number),
    ChangedField.LEVEL_SHARE: (exact_text, _number),
    ChangedField.QUERY_SHARE: (exact_text, _number),
    ChangedField.PASSES: (encode_passes, decode_passes),
    ChangedField.INVARIANTS: (list, _texts),
    ChangedField.CONSTRAINTS: (list, _texts),
    ChangedField.SPINE: (encode_spine, decode_spine),
    ChangedField.LEVEL_LOCK: (_same, bool),
    ChangedField.QUERY_LOCK: (_same, bool),
    ChangedField.AXES: (encode_axes, decode_axes),
    ChangedField.RELEASE: (encode_release, decode_release),
    ChangedField.EPSILON: (exact_text, _number),
    ChangedField.DELTA: (exact_text, _number),
    ChangedField.CALIBRATION: (lambda calibration: calibration.value, Calibration),
    ChangedField.TABLE: (_same, _text),
    ChangedField.REGIONS: (list, wholes),
    ChangedField.LARGEST_SIZE: (_same, _count),
    ChangedField.LARGEST_QUANTITY: (_same, _count),
    ChangedField.MECHANISM: (lambda mechanism: mechanism.value, SizeMechanism),
    ChangedField.TAIL: (encode_tail, decode_tail),
    ChangedField.CONVENTIONS: (encode_conventions, _decode_conventions_alone),
    ChangedField.READER: (_same, _text),
    ChangedField.NAME: (_same, _text),
    ChangedField.NOTE: (_same, _text),
    ChangedField.BASELINE: (_same, _text),
    ChangedField.SOURCE_TEXT: (_same, _text),
}


def _encode_value(field: ChangedField, value: Any) -> Any:
    return None if value is None else _CODECS[field][0](value)


def _decode_value(field: ChangedField, value: Any) -> Any:
    return None if value is None else _CODECS[field][1](value)


def stated_scenario(content: str) -> dict[str, Any] | None:
    """Return the JSON of a single scenario as `export --format subspace-json` writes it, None for other files."""
    try:
        value = plain_values(content, "", "")
    except InputProblemsError:
        return None
    method = value.get("method") if isinstance(value, dict) else None
    return value if isinstance(method, dict) and "kind" in method else None


@dataclass(frozen=True, slots=True)
class MethodCodec:
    """How the parameters of one system stand in files.

    Attributes:
        parameters: their class.
        encode: to a JSON object with its ``kind``.
        decode: from the object, reporting to the reader; None when a problem was reported.
    """

    parameters: type[Any]
    encode: Callable[[Any], Json]
    decode: Callable[[Mapping[str, Any], Any], Any]


Collected = Callable[[Any, Callable[[Any], Any], tuple[str, ...]], Any]


def _collecting(decode: Callable[[Mapping[str, Any], Collected], Any]) -> Callable[[Mapping[str, Any], Any], Any]:
    def read(holder: Mapping[str, Any], reader: _Reader) -> Any:
        return decode(holder, lambda found, parse, place: reader.parsed(found, parse, "method", *place, default=None))

    return read


_METHODS: dict[str, MethodCodec] = {
    "phsafe": MethodCodec(PhSafe, _encode_phsafe, _decode_phsafe),
    "topdown": MethodCodec(TopDown, _encode_topdown, _decode_topdown),
    "subspace": MethodCodec(Subspace, encode_subspace, _collecting(decode_subspace)),
    "group-sizes": MethodCodec(GroupSizes, encode_group_sizes, _collecting(decode_group_sizes)),
}
"""By the word in files."""


def register_method(kind: str, codec: MethodCodec) -> None:
    """Add the parameters of one more system to this process.

    Raises:
        ValueError: the word is taken.
    """
    if kind in _METHODS:
        raise ValueError(f"the files know a method {kind!r} already")
    _METHODS[kind] = codec
