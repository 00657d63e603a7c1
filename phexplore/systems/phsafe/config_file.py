"""The configuration file production reads: config.json in and out, unknown keys and layout kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path

from phexplore.catalog.states import PUERTO_RICO, states
from phexplore.catalog.tables import TableProduct, config_tables, own_tables, tables, truncated_tables
from phexplore.errors import ExportError, PhexploreError
from phexplore.files.atomic_files import read_text
from phexplore.files.json_text import (
    JsonList,
    JsonMember,
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
from phexplore.model.issues import InputProblemsError, Issue, Severity
from phexplore.model.keys import Iteration, PopulationGroupLevel, QueryKey, Region, TableId
from phexplore.model.numbers import Budget, Unlimited, decimal_text, exact_text, parse_budget
from phexplore.model.phsafe import PhSafe, PrivacyFramework
from phexplore.model.scenario import Scenario

_LEVEL_ORDER = (Iteration.MAJOR_RACES, Iteration.ETHNICITY, Iteration.ALL)
"""The order of levels inside one region in the production files."""

BYTE_ORDER_MARK = "\ufeff"
"""What some editors put before the text of a file; it is written again where it was read."""

_KEYS = ("privacy_budget", "tau", "state_filter", "reader", "privacy_defn")


def config_levels(product: TableProduct) -> tuple[PopulationGroupLevel, ...]:
    """Return the levels of a table in the order of the production files."""
    return tuple(
        PopulationGroupLevel(region, iteration)
        for region in Region
        for iteration in _LEVEL_ORDER
        if iteration in product.iterations
    )


def load_config(path: Path) -> tuple[Scenario, tuple[Issue, ...]]:
    """Read a production configuration from a file; see `read_config`."""
    return read_config(read_text(path, keep_mark=True), name=path.name)


def read_config(text: str, *, name: str = "config.json") -> tuple[Scenario, tuple[Issue, ...]]:
    """Read a production configuration.

    Args:
        text: the whole file, with its byte order mark if it has one.
        name: of the file, for messages.

    Returns:
        The scenario (its `source_text` is `text`) and warnings, e.g. unknown keys that production ignores.

    Raises:
        InputProblemsError: every problem with line and column; nothing is half-loaded.
    """
    body = text.removeprefix(BYTE_ORDER_MARK)
    try:
        value = parse_json(body)
    except JsonSyntaxError as error:
        raise InputProblemsError([syntax_issue(name, body, error)]) from error
    reader = _ConfigReader(body, name)
    method = reader.method(value)
    errors = [issue for issue in reader.issues if issue.severity is Severity.ERROR]
    if errors or method is None:
        raise InputProblemsError(errors)
    stem = name.removesuffix(".json")
    return Scenario(name=stem, method=method, source_text=text), tuple(reader.issues)


class _ConfigReader:
    """Collects values and problems of one file."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self.issues: list[Issue] = []

    def report(self, value: JsonValue, sentence: str, remedy: str, severity: Severity = Severity.ERROR) -> None:
        line, column = line_and_column(self.text, value.start)
        self.issues.append(Issue((self.name,), sentence, remedy, severity, line, column))

    def method(self, value: JsonValue) -> PhSafe | None:
        if not isinstance(value, JsonObject):
            self.report(value, "The file holds no object.", "A configuration starts with {.")
            return None
        self._unknown(value, _KEYS, "Production ignores it; it is kept on export.", Severity.WARNING)
        parts = {key: self._required(value, key) for key in _KEYS}
        budgets = self._budgets(parts["privacy_budget"])
        thresholds = self._thresholds(parts["tau"])
        states = self._states(parts["state_filter"])
        reader = self._choice(parts["reader"], "reader", ("csv", "cef"))
        framework = self._choice(parts["privacy_defn"], "privacy_defn", ("zcdp", "puredp"))
        if any(issue.severity is Severity.ERROR for issue in self.issues):
            return None
        return PhSafe(budgets, thresholds, states, PrivacyFramework(framework), reader)

    def _unknown(self, value: JsonObject, known: tuple[str, ...], remedy: str, severity: Severity) -> None:
        for key in repeated_keys(value):
            self.report(key, f"The key {key.text!r} stands twice.", "Keep one of them.")
        for member in value.members:
            if member.key.text not in known:
                self.report(member.key, f"The key {member.key.text!r} is unknown.", remedy, severity)

    def _required(self, value: JsonObject, key: str) -> JsonValue | None:
        if (found := value.get(key)) is None:
            self.report(value, f"The key {key!r} is missing.", "Production needs it to run.")
        return found

    def _object(self, value: JsonValue | None, key: str) -> JsonObject | None:
        if value is None or isinstance(value, JsonObject):
            return value
        self.report(value, f"{key} is not an object.", "Write it in braces.")
        return None

    def _budgets(self, value: JsonValue | None) -> dict[QueryKey, Budget]:
        budgets: dict[QueryKey, Budget] = {}
        if (holder := self._object(value, "privacy_budget")) is None:
            return budgets
        self._unknown(
            holder, tuple(p.id for p in config_tables()), "Production refuses unknown tables.", Severity.ERROR
        )
        for product in config_tables():
            levels = self._object(self._required(holder, product.id), product.id)
            if levels is None:
                continue
            known = tuple(level.text for level in config_levels(product))
            self._unknown(levels, known, f"{product.id} has the levels {', '.join(known)}.", Severity.ERROR)
            for level in product.levels:
                number = self._required(levels, level.text)
                if number is not None:
                    budgets[QueryKey(product.id, level)] = self._budget(number, f"{product.id} {level.text}")
        return budgets

    def _budget(self, value: JsonValue, where: str) -> Budget:
        if isinstance(value, JsonNumber):
            try:
                return parse_budget(value.text)
            except ValueError:
                pass
        self.report(value, f"The budget of {where} is not a number of 0 or more.", "Write 0 for not published.")
        return Fraction(0)

    def _thresholds(self, value: JsonValue | None) -> dict[TableId, int]:
        thresholds: dict[TableId, int] = {}
        if (holder := self._object(value, "tau")) is None:
            return thresholds
        known = tuple(product.id for product in truncated_tables())
        self._unknown(holder, known, f"tau has the tables {', '.join(known)}.", Severity.ERROR)
        for table in known:
            number = self._required(holder, table)
            if number is None:
                continue
            if isinstance(number, JsonNumber) and number.text.isdigit() and 0 < int(number.text) < 2**31:
                thresholds[table] = int(number.text)
            else:
                self.report(number, f"tau of {table} is not a whole number from 1.", "Write e.g. 10.")
        return thresholds

    def _states(self, value: JsonValue | None) -> tuple[str, ...]:
        if value is None:
            return ()
        if not isinstance(value, JsonList) or not value.items:
            self.report(value, "state_filter is not a list of states.", 'Write e.g. ["44", "09"] or ["72"].')
            return ()
        found: list[str] = []
        legal = set(states())
        for item in value.items:
            code = item.text if isinstance(item, JsonString) else ""
            if code not in legal:
                self.report(item, f"{self.text[item.start : item.end][:40]} is not a state code.", 'Write e.g. "44".')
            elif code in found:
                self.report(item, f"The state {code} stands twice.", "Keep one of them.")
            found.append(code)
        if PUERTO_RICO in found and len(found) > 1:
            self.report(value, "Puerto Rico is run by itself.", 'Write ["72"] alone, or remove "72".')
        return tuple(found)

    def _choice(self, value: JsonValue | None, key: str, choices: tuple[str, ...]) -> str:
        if value is None:
            return choices[0]
        if isinstance(value, JsonString) and value.text in choices:
            return value.text
        self.report(value, f"{key} is none of {', '.join(choices)}.", f"Write one of {', '.join(choices)}.")
        return choices[0]


def write_config(scenario: Scenario) -> str:
    """Return the configuration production reads.

    A scenario that was imported keeps its file character by character: only the values that differ are replaced.

    Raises:
        ExportError: a budget has no finite decimal, so the file could not say exactly what was approved; or a table is the user's own.
    """
    require_production_tables(scenario, "config.json, which PHSafe refuses with any other,")
    _confirm_decimals(scenario.phsafe)
    if scenario.source_text:
        return _patched(scenario)
    return _rendered(scenario.phsafe)


def write_with_own_tables(scenario: Scenario) -> str:
    """Return the parameters in the layout of ``config.json``, the tables of a user's library behind those of production.

    Raises:
        ExportError: a budget has no finite decimal.
    """
    _confirm_decimals(scenario.phsafe)
    return _rendered(scenario.phsafe, tuple(tables()[name] for name in library_tables(scenario)))


def _confirm_decimals(method: PhSafe) -> None:
    for query, budget in method.budgets.items():
        if not isinstance(budget, Unlimited) and decimal_text(budget) is None:
            raise ExportError(
                f"The budget {exact_text(budget)} of {query.title} has no finite decimal; config.json needs one.",
                "Round it in the editor, so that the rounding is a decision with a name.",
            )


def library_tables(scenario: Scenario) -> tuple[TableId, ...]:
    """Return the tables of a scenario that are the user's, by name."""
    method = scenario.phsafe
    return own_tables((*(query.table for query in method.budgets), *method.thresholds))


def require_production_tables(scenario: Scenario, what: str) -> None:
    """Pass a scenario that publishes tables of production alone.

    Args:
        scenario: of the S-DHC.
        what: cannot say more.

    Raises:
        ExportError: it has tables of a user's library.
    """
    if own := library_tables(scenario):
        raise ExportError(
            f"{what} holds exactly the nine measured tables of production, but the scenario also has {', '.join(own)} of your library.",
            "Make a bundle, which takes your tables along, or export a copy without them; projects and runs keep them.",
        )


def _number_text(budget: Budget) -> str:
    if isinstance(budget, Unlimited):
        return str(budget.value)
    text = decimal_text(budget) or "0"
    return text if "." in text else f"{text}.0"


def _rendered(method: PhSafe, own: tuple[TableProduct, ...] = ()) -> str:
    lines = ["{", '    "privacy_budget": {']
    products = (*config_tables(), *own)
    for product in products:
        lines.append(f'        "{product.id}": {{')
        levels = config_levels(product)
        lines += [
            f'            "{level.text}": {_number_text(method.budgets.get(QueryKey(product.id, level), Fraction(0)))}'
            + ("," if level != levels[-1] else "")
            for level in levels
        ]
        lines.append("        }," if product is not products[-1] else "        }")
    lines += ["    },", '    "tau": {']
    tables = [product.id for product in products if product.truncated]
    lines += [f'        "{t}": {method.thresholds[t]}' + ("," if t != tables[-1] else "") for t in tables]
    states = ", ".join(f'"{state}"' for state in method.states)
    lines += [
        "    },",
        f'    "state_filter": [{states}],',
        f'    "reader": "{method.reader}",',
        f'    "privacy_defn": "{method.framework.value}"',
        "}",
    ]
    return "\n".join(lines) + "\n"


def _patched(scenario: Scenario) -> str:
    text, method = scenario.source_text.removeprefix(BYTE_ORDER_MARK), scenario.phsafe
    mark = BYTE_ORDER_MARK if text != scenario.source_text else ""
    try:
        old, _ = read_config(text)
        root = parse_json(text)
    except (PhexploreError, ValueError):
        return _rendered(method)
    replacements: list[tuple[int, int, str]] = []
    for member in _members(root):
        replacements += _differences(member, old.phsafe, method)
    for start, end, new in sorted(replacements, reverse=True):
        text = text[:start] + new + text[end:]
    return mark + text


def _differences(member: JsonMember, old: PhSafe, new: PhSafe) -> Iterator[tuple[int, int, str]]:
    value = member.value
    match member.key.text:
        case "privacy_budget":
            for table in _members(value):
                for level in _members(table.value):
                    key = next(q for q in new.budgets if q.text == f"{table.key.text}/{level.key.text}")
                    if old.budgets[key] != new.budgets[key]:
                        yield level.value.start, level.value.end, _number_text(new.budgets[key])
        case "tau":
            for table in _members(value):
                people = new.thresholds[TableId(table.key.text)]
                if old.thresholds[TableId(table.key.text)] != people:
                    yield table.value.start, table.value.end, str(people)
        case key if key in _WHOLE:
            before, after = _WHOLE[key](old), _WHOLE[key](new)
            if before != after:
                yield value.start, value.end, after


_WHOLE: Mapping[str, Callable[[PhSafe], str]] = {
    "state_filter": lambda method: "[" + ", ".join(f'"{state}"' for state in method.states) + "]",
    "reader": lambda method: f'"{method.reader}"',
    "privacy_defn": lambda method: f'"{method.framework.value}"',
}


def _members(value: JsonValue) -> tuple[JsonMember, ...]:
    return value.members if isinstance(value, JsonObject) else ()
