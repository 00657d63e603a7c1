"""A file of targets for ``phexplore solve``: JSON with caps, floors, ties and locks, or a plain CSV of margins.

JSON::

    {"targets": {"PH3/state_A-G": 20, "*/usa": 500, "PH7": {"state_A-G": 68}},
     "caps": [{"bounded_rho": "2.5"}, {"epsilon": "11", "delta": "1e-10", "queries": ["*/state"]}, {"proven_epsilon": "16"}],
     "floors": {"PH2/usa_*": "0.001"},
     "ties": [{"queries": ["PH1_num/usa"], "equal": "margin"}],
     "locks": ["PH6/state_*"]}

A selection names one query (``PH3/state_A-G``), a table at one region (``PH3/usa``), a level of every table
(``*/state_A-G``), a region of every table (``*/usa``), a whole table (``PH3``) or everything (``*``). A later target of the
same query replaces an earlier one, so a general rule can stand before its exceptions. For TopDown the names are a level and a
query: ``Block/total``, ``*/total``, ``Block``, ``*``.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from phexplore.catalog.tables import queries
from phexplore.errors import PhexploreError, nearest
from phexplore.files.json_text import (
    JsonList,
    JsonNumber,
    JsonObject,
    JsonString,
    JsonSyntaxError,
    JsonValue,
    line_and_column,
    parse_json,
    repeated_keys,
    syntax_issue,
)
from phexplore.model.conventions import Conversion, Neighbours
from phexplore.model.goals import Cap, CapOn, GoalError, Goals, Key, Tie, TiedBy
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.keys import QueryKey
from phexplore.model.numbers import exact_text, parse_exact

_KEYS = ("targets", "caps", "floors", "ties", "locks")
_CAP_KEYS = (*(on.value for on in CapOn), "queries", "delta", "neighbours", "conversion")
_MARGIN_HEADERS = ("moe", "margin", "target", "moe target", "moe_target")

Found = TypeVar("Found")


def select_queries(text: str, known: Sequence[Key] | None = None) -> tuple[Key, ...]:
    """Return the measured queries a selection names, in their order.

    Args:
        text: ``PH3/state_A-G``, ``PH3/usa``, ``*/state_A-G``, ``*/usa``, ``PH3`` or ``*``; for TopDown
            ``Block/total``, ``*/total``, ``Block`` or ``*``.
        known: the queries to choose from; those of the S-DHC when None.

    Raises:
        GoalError: it names none.
    """
    keys: Sequence[Key] = queries() if known is None else known
    first, _, second = text.strip().partition("/")
    chosen = [key for key in keys if first in {"*", _first(key)}]
    if not chosen:
        remedy = f"Known: {', '.join(dict.fromkeys(map(_first, keys)))}, or * for all."
        raise GoalError(f"{first!r} is not measured.", remedy)
    there = chosen
    if second:
        chosen = [key for key in there if second.strip() in _seconds(key)]
    if not chosen:
        known_seconds = dict.fromkeys(name for key in there for name in _seconds(key))
        near = nearest(second, list(known_seconds))
        remedy = f"Did you mean {near!r}?" if near else f"Known: {', '.join(list(known_seconds)[:12])}."
        raise GoalError(f"{first} has nothing measured at {second!r}.", remedy)
    return tuple(chosen)


def _first(key: Key) -> str:
    return key.table if isinstance(key, QueryKey) else key.level


def _seconds(key: Key) -> tuple[str, ...]:
    return (key.level.text, key.level.region.value) if isinstance(key, QueryKey) else (key.query,)


def read_goals(content: bytes, name: str = "targets", known: Sequence[Key] | None = None) -> Goals:
    """Read a file of targets: JSON, or CSV with the columns table, level and MOE (for TopDown level, query and MOE).

    Args:
        content: the file.
        name: of the file, for messages.
        known: the queries of the scenario; those of the S-DHC when None.

    Raises:
        InputProblemsError: every problem with its line and column.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputProblemsError([Issue((name,), "This is not UTF-8 text.", "Save it as UTF-8.", line=line)]) from error
    reader = _GoalsReader(text, name, queries() if known is None else known)
    goals = reader.from_json() if text.lstrip()[:1] in {"{", "["} else reader.from_csv()
    if reader.issues or goals is None:
        raise InputProblemsError(reader.issues)
    return goals


class _GoalsReader:
    """Collects goals and problems of one file."""

    def __init__(self, text: str, name: str, known: Sequence[Key]) -> None:
        self.text = text
        self.name = name
        self.known = known
        self.issues: list[Issue] = []

    def report(self, place: int, sentence: str, remedy: str) -> None:
        line, column = line_and_column(self.text, place)
        self.issues.append(Issue((self.name,), sentence, remedy, line=line, column=column))

    def from_json(self) -> Goals | None:
        try:
            value = parse_json(self.text)
        except JsonSyntaxError as error:
            self.issues.append(syntax_issue(self.name, self.text, error))
            return None
        if not isinstance(value, JsonObject):
            self.report(value.start, "The file holds no object.", "Targets start with {.")
            return None
        members = {member.key.text: member.value for member in value.members}
        if not set(members) & set(_KEYS):
            members = {"targets": value}  # targets alone, as presets list them
        else:
            self._confirm_keys(value, _KEYS)
        margins = self._by_query(members.get("targets"), "targets")
        floors = self._by_query(members.get("floors"), "floors")
        locks = self._locks(members.get("locks"))
        caps = tuple(self._caps(members.get("caps")))
        ties = tuple(self._ties(members.get("ties")))
        if self.issues:
            return None
        return self._kept(value.start, lambda: Goals(margins, floors, caps, ties, locks))

    def _confirm_keys(self, value: JsonObject, known: Sequence[str]) -> None:
        for key in repeated_keys(value):
            self.report(key.start, f"The key {key.text!r} stands twice.", "Keep one of them.")
        for member in value.members:
            if member.key.text not in known:
                self.report(member.key.start, f"The key {member.key.text!r} is unknown.", f"Known: {', '.join(known)}.")

    def _kept(self, place: int, make: Callable[[], Found]) -> Found | None:
        """Return what is made, or record why it cannot be."""
        try:
            return make()
        except PhexploreError as error:
            self.report(place, error.sentence, error.remedy)
        except ValueError as error:
            self.report(place, f"{error}.", "Correct it.")
        return None

    def _number(self, value: JsonValue) -> Fraction | None:
        if not isinstance(value, JsonNumber | JsonString):
            self.report(value.start, "A number is expected here.", 'Write e.g. 20, "0.25" or "1/3".')
            return None
        return self._kept(value.start, lambda: parse_exact(value.text))

    def _text(self, value: JsonValue) -> str | None:
        if isinstance(value, JsonString):
            return value.text
        self.report(value.start, "A text in quotes is expected here.", 'Write e.g. "PH3/state_A-G".')
        return None

    def _by_query(self, value: JsonValue | None, what: str) -> dict[Key, Fraction]:
        found: dict[Key, Fraction] = {}
        if value is None:
            return found
        if not isinstance(value, JsonObject):
            self.report(value.start, f"{what} is not an object.", 'Write e.g. {"PH3/state_A-G": 20}.')
            return found
        for key in repeated_keys(value):
            self.report(key.start, f"The key {key.text!r} stands twice.", "Keep one of them.")
        for member in value.members:
            for place, selection, number in self._leaves(member.key.start, member.key.text, member.value):
                chosen = self._kept(place, lambda selection=selection: select_queries(selection, self.known))  # type: ignore[misc]
                exact = self._number(number)
                if exact is not None and exact <= 0:
                    self.report(number.start, f"A number of {what} is more than 0.", "Leave the line out instead.")
                    continue
                if exact is not None:
                    found.update(dict.fromkeys(chosen or (), exact))
        return found

    @staticmethod
    def _leaves(place: int, key: str, value: JsonValue) -> Iterator[tuple[int, str, JsonValue]]:
        if isinstance(value, JsonObject):
            for member in value.members:
                yield member.key.start, f"{key}/{member.key.text}", member.value
        else:
            yield place, key, value

    def _selections(self, value: JsonValue | None) -> tuple[Key, ...]:
        items = value.items if isinstance(value, JsonList) else () if value is None else (value,)
        found: dict[Key, None] = {}
        for item in items:
            if (text := self._text(item)) is not None:
                chosen = self._kept(item.start, lambda text=text: select_queries(text, self.known))  # type: ignore[misc]
                found.update(dict.fromkeys(chosen or ()))
        return tuple(query for query in self.known if query in found)

    def _locks(self, value: JsonValue | None) -> frozenset[Key]:
        return frozenset(self._selections(value))

    def _objects(self, value: JsonValue | None, what: str) -> Iterator[JsonObject]:
        if value is None:
            return
        items = value.items if isinstance(value, JsonList) else (value,)
        for item in items:
            if isinstance(item, JsonObject):
                yield item
            else:
                self.report(item.start, f"An entry of {what} is not an object.", "Write it in braces.")

    def _caps(self, value: JsonValue | None) -> Iterator[Cap]:
        for holder in self._objects(value, "caps"):
            self._confirm_keys(holder, _CAP_KEYS)
            limits = [(on, found) for on in CapOn if (found := holder.get(on.value)) is not None]
            if len(limits) != 1:
                self.report(
                    holder.start,
                    f"A cap limits exactly one of {', '.join(on.value for on in CapOn)}.",
                    "Write one of them.",
                )
                continue
            (on, limit) = limits[0]
            exact = self._number(limit)
            options = self._cap_options(holder)
            if exact is not None and options is not None:
                cap = self._kept(limit.start, lambda on=on, exact=exact, options=options: Cap(on, exact, **options))  # type: ignore[misc]
                if cap is not None:
                    yield cap

    def _cap_options(self, holder: JsonObject) -> dict[str, object] | None:
        options: dict[str, object] = {}
        before = len(self.issues)
        if (chosen := holder.get("queries")) is not None:
            options["queries"] = frozenset(self._selections(chosen))
        if (delta := holder.get("delta")) is not None and (exact := self._number(delta)) is not None:
            options["delta"] = exact
            if not 0 < exact < 1:
                self.report(delta.start, "δ lies between 0 and 1.", 'Write e.g. "1e-10".')
        for key, kind in (("neighbours", Neighbours), ("conversion", Conversion)):
            if (word := holder.get(key)) is None or (text := self._text(word)) is None:
                continue
            known = [choice.value for choice in kind]
            if text in known:
                options[key] = kind(text)
            else:
                self.report(word.start, f"{key} is none of {', '.join(known)}.", f"Write one of {', '.join(known)}.")
        return options if len(self.issues) == before else None

    def _ties(self, value: JsonValue | None) -> Iterator[Tie]:
        for holder in self._objects(value, "ties"):
            self._confirm_keys(holder, ("queries", "equal"))
            members = self._selections(holder.get("queries"))
            equal, word = TiedBy.MARGIN, holder.get("equal")
            if word is not None and (text := self._text(word)) is not None:
                if text in {tied.value for tied in TiedBy}:
                    equal = TiedBy(text)
                else:
                    self.report(word.start, "Queries are tied by margin or by budget.", 'Write "margin" or "budget".')
            if len(members) < 2:
                self.report(holder.start, "A tie names at least two queries.", 'Write e.g. "queries": ["*/usa"].')
            else:
                yield Tie(members, equal)

    def from_csv(self) -> Goals | None:
        rows = self._csv_rows()
        try:
            return self._from_rows(rows)
        except csv.Error as error:
            issue = Issue((self.name,), f"The line is not CSV: {error}.", "Correct it.", line=rows.line_num or 1)
            self.issues.append(issue)
            return None

    def _csv_rows(self) -> Any:
        first = self.text.partition("\n")[0]
        delimiter = max(",;\t|", key=first.count)
        return csv.reader(io.StringIO(self.text, newline=""), delimiter=delimiter)

    def _from_rows(self, rows: Any) -> Goals | None:
        header = [cell.strip().casefold() for cell in next(rows, [])]
        margin = next((place for place, cell in enumerate(header) if cell in _MARGIN_HEADERS), None)
        wanted = ("table", "level") if isinstance(self.known[0], QueryKey) else ("level", "query")
        if not set(wanted) <= set(header) or margin is None:
            sentence = f"The first line does not name the columns {wanted[0]}, {wanted[1]} and MOE."
            self.issues.append(Issue((self.name,), sentence, "Write them, or a JSON object of targets.", line=1))
            return None
        margins: dict[Key, Fraction] = {}
        for row in rows:
            if any(cell.strip() for cell in row):
                self._csv_row(row, rows.line_num, (header.index(wanted[0]), header.index(wanted[1]), margin), margins)
        return None if self.issues else Goals(margins=margins)

    def _csv_row(
        self, row: Sequence[str], line: int, places: tuple[int, int, int], margins: dict[Key, Fraction]
    ) -> None:
        if len(row) <= max(places):
            self.issues.append(
                Issue((self.name,), "The line has too few cells.", "Fill both names and the margin.", line=line)
            )
            return
        table, level, margin = (row[place].strip() for place in places)
        try:
            exact = parse_exact(margin)
            chosen = select_queries(f"{table}/{level}", self.known)
            if exact <= 0:
                raise GoalError(f"A margin of error is more than 0, got {margin}.", "Leave the line out instead.")
            margins.update(dict.fromkeys(chosen, exact))
        except PhexploreError as error:
            self.issues.append(Issue((self.name,), error.sentence, error.remedy, line=line))
        except ValueError as error:
            self.issues.append(Issue((self.name,), f"{error}.", "Correct the cell.", line=line, column=places[2] + 1))


def goals_json(goals: Goals) -> Mapping[str, object]:
    """Return the goals as the JSON object that `read_goals` reads."""
    return {
        "targets": {query.text: exact_text(margin) for query, margin in goals.margins.items()},
        "floors": {query.text: exact_text(floor) for query, floor in goals.floors.items()},
        "caps": [
            {cap.on.value: exact_text(cap.limit), **_cap_options_json(cap)} for cap in goals.caps
        ],
        "ties": [{"queries": [query.text for query in tie.queries], "equal": tie.equal.value} for tie in goals.ties],
        "locks": sorted(query.text for query in goals.locks),
    }  # fmt: skip


def _cap_options_json(cap: Cap) -> dict[str, object]:
    options: dict[str, object] = {}
    if cap.queries is not None:
        options["queries"] = sorted(query.text for query in cap.queries)
    if cap.on.is_epsilon:
        options |= {"neighbours": cap.neighbours.value, "delta": exact_text(cap.delta)}
    if cap.on is CapOn.EPSILON:
        options["conversion"] = cap.conversion.value
    return options
