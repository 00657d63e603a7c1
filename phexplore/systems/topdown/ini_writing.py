"""TopDown parameters as DAS ``.ini`` files. An imported chain keeps every character that does not say a changed value.

A changed value that the first file holds is replaced in its place. One that an included file holds is overridden in the first
file: defaults are shared between products, and the chains of two products may be handed over into one folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import isqrt
from pathlib import PurePosixPath

from phexplore import __version__
from phexplore.errors import ExportError, PhexploreError
from phexplore.model.fingerprint import fingerprint
from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.spine.geodict import geodict_of, same_spine
from phexplore.systems.topdown.ini_accounting import FRAMEWORK_WORDS, MECHANISMS, TOTALS
from phexplore.systems.topdown.ini_levels import level_lengths, spelling_in
from phexplore.systems.topdown.ini_reading import (
    CONSTRAINTS,
    INVARIANTS,
    SPINE_KEYS,
    production_defaults,
    read_chain,
    spine_section,
)
from phexplore.systems.topdown.ini_strategy import (
    ABSOLUTE_SCHEMAS,
    SECTION,
    TABLE_KEY,
    known_budgets,
    known_passes,
    known_shares,
    named_strategies,
    write_table,
)
from phexplore.systems.topdown.ini_text import (
    EffectiveIni,
    IniChain,
    IniFile,
    decode_chain,
    effective,
    parse_ini,
)
from phexplore.workload.schema import load_schema

_SPINES = {"optimised": "opt_spine", "prim": "opt_spine", "aian": "aian_spine", "standard": "non_aian_spine"}


@dataclass(frozen=True, slots=True)
class IniOutput:
    """The files of a hand-over.

    Attributes:
        root: name of the file that production is started with.
        files: texts by name; names as in the chain that was imported.
        table: name of the table of shares among them.
        notes: what the people who run production must know.
    """

    root: str
    files: Mapping[str, str]
    table: str
    notes: tuple[str, ...]


def write_ini(scenario: Scenario, root: str = "das.ini") -> IniOutput:
    """Return the files production reads.

    Args:
        scenario: of TopDown; an imported one keeps its files.
        root: name of the file when it was not imported.

    Raises:
        ExportError: the files could not say exactly what was approved.
    """
    chain = decode_chain(scenario.source_text)
    if chain is None:
        output = _fresh(scenario, root)
    else:
        try:
            before, _ = read_chain(chain)
        except PhexploreError as error:
            raise ExportError(
                f"The imported files can no longer be read: {error.sentence}",
                "Import them again, or start from a preset.",
            ) from error
        output = _Patch(chain, before, scenario).output()
    _confirm(scenario, output)
    return output


def _confirm(scenario: Scenario, output: IniOutput) -> None:
    """Read what would be written; what production would use must be exactly what was chosen."""
    try:
        back, _ = read_chain(IniChain(output.root, output.files))
    except PhexploreError as error:
        raise ExportError(f"The files would not be readable: {error.sentence}", error.remedy) from error
    if same_spine(back.topdown.spine, scenario.topdown.spine):
        back = replace(back, method=replace(back.topdown, spine=scenario.topdown.spine))
    if fingerprint(back) != fingerprint(scenario):
        differing = [name for name in _COMPARED if getattr(back.topdown, name) != getattr(scenario.topdown, name)]
        raise ExportError(
            f"The .ini format cannot say these parameters exactly; it would change {', '.join(differing) or 'them'}.",
            " ".join(
                [
                    *(geodict_of(scenario.topdown.spine).inexpressible if "spine" in differing else ()),
                    "Change that part back, or start from the preset of the same product.",
                ]
            ),
        )


_COMPARED = (
    "schema", "framework", "levels", "total", "level_shares", "query_shares", "passes", "invariants", "constraints", "spine",
)  # fmt: skip


def exact_scale(total: Fraction) -> Fraction | None:
    """Return the global scale s with ρ = 1/s² exactly, None when it is no rational number."""
    top, bottom = isqrt(total.denominator), isqrt(total.numerator)
    if top**2 == total.denominator and bottom**2 == total.numerator:
        return Fraction(top, bottom)
    return None


def scale_not_above(total: Fraction, step: Fraction = Fraction(1, 10**6)) -> Fraction:
    """Return the smallest multiple of a step whose ρ = 1/s² is not above the total.

    Args:
        total: ρ, exact.
        step: of the scale, exact.
    """
    wanted = 1 / total / step**2
    root = isqrt(wanted.numerator // wanted.denominator)
    while Fraction(root) ** 2 < wanted:
        root += 1
    return root * step


def _total_text(method: TopDown) -> str:
    if method.framework is PrivacyFramework.PURE_DP:
        return exact_text(method.total)
    scale = exact_scale(method.total)
    if scale is None:
        near = scale_not_above(method.total)
        raise ExportError(
            f"ρ = {exact_text(method.total)} has no rational global_scale; the files would not say exactly what was chosen.",
            f"Set the total to {exact_text(1 / near**2)}, which is global_scale = {exact_text(near)} and not above it.",
        )
    return _ratio(scale)


def _ratio(value: Fraction) -> str:
    return f"{value.numerator}/{value.denominator}" if value.denominator != 1 else str(value.numerator)


def _delta_text(delta: Fraction) -> str:
    """Return δ with an exponent where it is a power of ten."""
    digits = str(delta.denominator)
    is_power = delta.numerator == 1 and digits.strip("0") == "1" and len(digits) > 3
    return f"1e-{len(digits) - 1}" if is_power else exact_text(delta)


def _setting_text(setting: str) -> str:
    """Return a setting of the spine as the files spell it."""
    if setting.startswith("["):
        return ", ".join(json.loads(setting))
    return {"true": "True", "false": "False"}.get(setting, setting)


class _Patch:
    """Collects replacements and additions for an imported chain."""

    def __init__(self, chain: IniChain, before: Scenario, after: Scenario) -> None:
        self.chain = chain
        self.ini: EffectiveIni = effective(chain)
        self.before = before
        self.after = after
        self.old, self.new = before.topdown, after.topdown
        self.replaced: list[tuple[int, int, str]] = []
        self.added: dict[str, list[tuple[str, str]]] = {}
        self.notes: list[str] = []
        self.table = self._table_name()
        self.table_is_read = self.ini.get(SECTION, TABLE_KEY) is not None

    def _table_name(self) -> str:
        if (value := self.ini.get(SECTION, TABLE_KEY)) is not None:
            return str(PurePosixPath(value.file).parent / value.text)
        return self.chain.beside(f"{PurePosixPath(self.chain.root).stem}_strategy.csv")

    def spelled(self, level: str) -> str:
        """Return a level's name as the imported files write it."""
        return spelling_in(self.ini, level)

    def set(self, section: str, key: str, text: str) -> None:
        """Give a key this value: in its place in the first file, else as a further line there."""
        value = self.ini.get(section, key)
        if value is not None and value.file == self.chain.root and value.section == section:
            gap = (
                " "
                if value.start == value.end and not self.chain.files[value.file][: value.start].endswith(" ")
                else ""
            )
            self.replaced.append((value.start, value.end, gap + text))
        else:
            self.added.setdefault(section, []).append((key if value is None else value.written, text))

    def set_items(self, section: str, key: str, texts: Sequence[str], old: Sequence[str]) -> None:
        """Give a key this list; in the first file, items that stay are not touched."""
        value = self.ini.get(section, key)
        items = () if value is None else value.items()
        if value is None or value.file != self.chain.root or value.section != section or len(items) != len(texts):
            self.set(section, key, ", ".join(texts))
            return
        for (_, start, end), text, was in zip(items, texts, old, strict=True):
            if text != was:
                self.replaced.append((start, end, text))

    def output(self) -> IniOutput:
        """Return the files."""
        if self.old.framework is not self.new.framework:
            self.set("budget", "privacy_framework", FRAMEWORK_WORDS[self.new.framework])
            self.set("budget", "dp_mechanism", MECHANISMS[self.new.framework])
        if self.old.schema != self.new.schema:
            self.set("schema", "schema", production_name(self.new.schema))
        self._levels()
        if self.new.schema in ABSOLUTE_SCHEMAS:
            self._absolute_budgets()
        else:
            self._shares()
        self._passes()
        self._per_level(INVARIANTS, self.old.invariants, self.new.invariants)
        self._per_level(CONSTRAINTS, self.old.constraints, self.new.constraints)
        self._spine()
        if self.before.conventions.delta != self.after.conventions.delta:
            self.set("budget", "approx_dp_delta", _delta_text(self.after.conventions.delta))
        files = dict(self.chain.files)
        files[self.chain.root] = self._patched(files[self.chain.root])
        files[self.table] = write_table(self.new)
        return IniOutput(self.chain.root, files, self.table, tuple(self.notes))

    def _levels(self) -> None:
        if self.old.levels == self.new.levels:
            return
        self.set("geodict", "geolevel_names", ",".join(self.spelled(level) for level in reversed(self.new.levels)))
        if (lengths := level_lengths(self.new.levels)) is None:
            raise ExportError(
                f"Nothing says how long the geocodes of {', '.join(self.new.levels)} are.",
                "Change the levels in the .ini itself and import it again.",
            )
        self.set("geodict", "geolevel_leng", ",".join(map(str, reversed(lengths))))

    def _shares(self) -> None:
        old, new = self.old, self.new
        if old.total != new.total or old.framework is not new.framework:
            self.set("budget", TOTALS[new.framework], _total_text(new))
        if old.level_shares != new.level_shares or old.levels != new.levels:
            texts = [exact_text(new.level_shares[level]) for level in new.levels]
            was = [exact_text(old.level_shares[level]) for level in old.levels]
            self.set_items("budget", "geolevel_budget_prop", texts, was)
        if dict(old.query_shares) != dict(new.query_shares):
            self._query_shares()

    def _query_shares(self) -> None:
        listed = _listed(self.new)
        if self.ini.get("budget", "dpqueries") is not None and not self.table_is_read and listed is not None:
            names, shares, detailed = listed
            was = _listed(self.old)
            old_names, old_shares, old_detailed = was or ((), (), Fraction(-1))
            if detailed != old_detailed:
                self.set("budget", "detailedprop", exact_text(detailed))
            if names != old_names:
                self.set("budget", "dpqueries", ", ".join(names))
            if names != old_names or shares != old_shares:
                self.set_items("budget", "queriesprop", [*map(exact_text, shares)], [*map(exact_text, old_shares)])
            return
        self._name_strategy()

    def _name_strategy(self) -> None:
        """Name the strategy: a published one where the shares are its, else one that the table defines."""
        for name in (*named_strategies().strategies, named_strategies().detailed_only):
            known = known_shares(name, self.new.levels)
            if known is not None and dict(known) == dict(self.new.query_shares) and not self.table_is_read:
                self.set("budget", "strategy", name)
                return
        if not self.table_is_read:
            name = f"phexplore_{fingerprint(self.after)[:12]}"
            self.set("budget", "strategy", name)
            self._refer_to_table(name)

    def _refer_to_table(self, name: str) -> None:
        self.set(SECTION, TABLE_KEY, PurePosixPath(self.table).name)
        self.table_is_read = True
        self.notes.append(
            f"The query shares are not those of a published strategy. Add a strategy {name!r} with the shares of "
            f"{PurePosixPath(self.table).name} to the production code before the run."
        )

    def _absolute_budgets(self) -> None:
        old = {key: self.old.budget(key) for key in self.old.query_shares}
        new = {key: self.new.budget(key) for key in self.new.query_shares}
        if old == new:
            return
        if set(old) != set(new) or self.table_is_read:
            if not self.table_is_read:
                name = f"phexplore_{fingerprint(self.after)[:12]}"
                self.set("budget", "strategy", name)
                self._refer_to_table(name)
            return
        for key, budget in new.items():
            if budget != old[key]:
                self.set("budget", f"{self.spelled(key.level)}_{key.query}", exact_text(budget))

    def _passes(self) -> None:
        if dict(self.old.passes) == dict(self.new.passes):
            return
        for name in named_strategies().orderings:
            known = known_passes(name, self.new.levels)
            if known is not None and dict(known) == dict(self.new.passes) and not self.table_is_read:
                self.set("budget", "query_ordering", name)
                return
        if not self.table_is_read:
            name = f"phexplore_{fingerprint(self.after)[:12]}"
            self.set("budget", "query_ordering", name)
            self._refer_to_table(name)

    def _per_level(self, prefix: str, old: Mapping[str, tuple[str, ...]], new: Mapping[str, tuple[str, ...]]) -> None:
        written = {INVARIANTS: "theInvariants.", CONSTRAINTS: "theConstraints."}[prefix]
        for level in dict.fromkeys([*old, *new]):
            if old.get(level, ()) != new.get(level, ()):
                self.set("constraints", f"{written}{self.spelled(level)}", ", ".join(new.get(level, ())))

    def _spine(self) -> None:
        if self.old.spine == self.new.spine:
            return
        chosen = geodict_of(self.new.spine)
        old, new = dict(geodict_of(self.old.spine).entries), dict(chosen.entries)
        self.notes.extend(chosen.inexpressible)
        if self.old.spine.kind != self.new.spine.kind:
            self.set("geodict", "spine", _SPINES[self.new.spine.kind])
            if "prim" in {self.old.spine.kind, self.new.spine.kind}:
                self.set("geodict", "prim_spine", str(self.new.spine.kind == "prim"))
        for key in SPINE_KEYS:
            if key not in {"spine", "prim_spine"} and old.get(key) != new.get(key):
                self.set(spine_section(key), key, _setting_text(new.get(key, "")))

    def _patched(self, text: str) -> str:
        file, _ = parse_ini(text, self.chain.root)
        newline = "\r\n" if "\r\n" in text else "\n"
        edits = list(self.replaced)
        at_end = ""
        for section, lines in self.added.items():
            body = "".join(f"{key} = {value}{newline}" for key, value in lines)
            if (place := _end_of_section(file, section)) is not None:
                lead = "" if text[:place].endswith("\n") else newline
                edits.append((place, place, lead + body))
            else:
                at_end += f"{newline}[{section}]{newline}{body}"
        if at_end and text and not text.endswith("\n"):
            at_end = newline + at_end
        for start, end, new in sorted(edits, reverse=True):
            text = text[:start] + new + text[end:]
        return text + at_end


def _end_of_section(file: IniFile, section: str) -> int | None:
    ends = [found.end for found in file.sections if found.name == section.lower()]
    return ends[-1] if ends else None


def _listed(method: TopDown) -> tuple[tuple[str, ...], tuple[Fraction, ...], Fraction] | None:
    """Return queries, their shares and the share of the detailed cells where they are the same at every level."""
    columns = [
        {key.query: share for key, share in method.query_shares.items() if key.level == level}
        for level in method.levels
    ]
    if any(column != columns[0] for column in columns) or "detailed" not in columns[0]:
        return None
    rest = {name: share for name, share in columns[0].items() if name != "detailed"}
    return tuple(rest), tuple(rest.values()), columns[0]["detailed"]


def production_name(schema: str) -> str:
    """Return the name production gives a schema."""
    aliases = load_schema(schema).aliases
    return next((name for name in aliases if "SCHEMA" in name), aliases[0] if aliases else schema)


def _fresh(scenario: Scenario, root: str) -> IniOutput:
    method = scenario.topdown
    stem = PurePosixPath(root).stem
    table = str(PurePosixPath(root).parent / f"{stem}_strategy.csv")
    writer = _Fresh(scenario, PurePosixPath(table).name)
    text = "".join(writer.lines())
    return IniOutput(root, {root: text, table: write_table(method)}, table, tuple(writer.notes))


@dataclass(slots=True)
class _Fresh:
    """Writes one file that needs no other."""

    scenario: Scenario
    table: str
    notes: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the file."""
        method = self.scenario.topdown
        yield f"# {self.scenario.name.replace(chr(10), ' ')}\n"
        yield f"# Parameters {fingerprint(self.scenario)}, written by phexplore {__version__}.\n"
        yield from _section("budget", self._budget(method))
        yield from _section("geodict", self._geodict(method))
        constraints = [(f"theInvariants.{level}", ", ".join(names)) for level, names in method.invariants.items()]
        constraints += [(f"theConstraints.{level}", ", ".join(names)) for level, names in method.constraints.items()]
        yield from _section("constraints", constraints)
        yield from _section("schema", [("schema", production_name(method.schema))])
        engine = [(key, _setting_text(text)) for key, text in method.spine.settings if spine_section(key) == "engine"]
        if engine:
            yield from _section("engine", engine)
        yield from _section(SECTION, [(TABLE_KEY, self.table)])

    def _budget(self, method: TopDown) -> Iterator[tuple[str, str]]:
        yield "privacy_framework", FRAMEWORK_WORDS[method.framework]
        yield "dp_mechanism", MECHANISMS[method.framework]
        yield "approx_dp_delta", _delta_text(self.scenario.conventions.delta)
        if method.schema not in ABSOLUTE_SCHEMAS:
            yield TOTALS[method.framework], _total_text(method)
            yield "", f"# top-down: {', '.join(method.levels)}"
            yield "geolevel_budget_prop", ", ".join(exact_text(method.level_shares[level]) for level in method.levels)
        listed = _listed(method) if method.framework is PrivacyFramework.PURE_DP else None
        if listed is not None:
            names, shares, detailed = listed
            yield "detailedprop", exact_text(detailed)
            yield "dpqueries", ", ".join(names)
            yield "queriesprop", ", ".join(map(exact_text, shares))
            return
        yield "strategy", self._strategy(method)
        if method.passes:
            yield "query_ordering", self._ordering(method)

    def _strategy(self, method: TopDown) -> str:
        names = named_strategies()
        if method.schema in ABSOLUTE_SCHEMAS:
            budgets: dict[LevelQuery, Fraction] = {key: method.budget(key) for key in method.query_shares}
            for name in names.strategies:
                if dict(known_budgets(name, method.levels) or {}) == budgets:
                    return name
        else:
            for name in (*names.strategies, names.detailed_only):
                if dict(known_shares(name, method.levels) or {}) == dict(method.query_shares):
                    return name
        return self._own_name("strategy")

    def _ordering(self, method: TopDown) -> str:
        for name in named_strategies().orderings:
            if dict(known_passes(name, method.levels) or {}) == dict(method.passes):
                return name
        return self._own_name("query ordering")

    def _own_name(self, what: str) -> str:
        name = f"phexplore_{fingerprint(self.scenario)[:12]}"
        self.notes.append(
            f"The {what} {name!r} is not a published one. Add it, as {self.table} lists it, to the production code."
        )
        return name

    def _geodict(self, method: TopDown) -> Iterator[tuple[str, str]]:
        yield "", f"# bottom-up: the order of {', '.join(reversed(method.levels))}"
        yield "geolevel_names", ",".join(reversed(method.levels))
        if (lengths := level_lengths(method.levels)) is not None:
            yield "geolevel_leng", ",".join(map(str, reversed(lengths)))
        else:
            self.notes.append("Add geolevel_leng: the lengths of the geocodes of these levels are not known.")
        chosen = geodict_of(method.spine)
        self.notes.extend(chosen.inexpressible)
        silent = not method.spine.settings and "spine" not in production_defaults(method.schema, method.levels)
        for key, text in chosen.entries:
            if key == "spine" and silent:
                # A file without the key means the standard spine where no published one says otherwise.
                continue
            if spine_section(key) == "geodict":
                yield key, _setting_text(text)


def _section(name: str, entries: Iterator[tuple[str, str]] | Sequence[tuple[str, str]]) -> Iterator[str]:
    yield f"\n[{name}]\n"
    for key, value in entries:
        yield f"{key} = {value}\n" if key else f"{value}\n"
