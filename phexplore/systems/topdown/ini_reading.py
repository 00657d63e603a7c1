"""What a chain of DAS ``.ini`` files says about TopDown: budgets, levels, constraints, spine. Every problem has its line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path, PurePosixPath

from phexplore.errors import PhexploreError
from phexplore.model.conventions import Conventions
from phexplore.model.issues import InputProblemsError, Issue, Severity
from phexplore.model.numbers import parse_exact
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery, Passes, SpineChoice, TopDown
from phexplore.systems.topdown.ini_accounting import TOTALS, chosen_framework
from phexplore.systems.topdown.ini_levels import (
    level_lengths,
    level_named,
    levels_of_strategy,
    spelling_in,
    spellings_in,
)
from phexplore.systems.topdown.ini_strategy import (
    ABSOLUTE_SCHEMAS,
    SECTION,
    TABLE_KEY,
    StrategyTable,
    known_budgets,
    known_passes,
    known_shares,
    named_strategies,
    read_table,
)
from phexplore.systems.topdown.ini_text import EffectiveIni, IniChain, IniFile, IniValue, effective, load_chain
from phexplore.systems.topdown.presets import topdown_presets
from phexplore.workload.schema import load_schema

INVARIANTS, CONSTRAINTS = "theinvariants.", "theconstraints."

SPINE_KEYS = (
    "spine",
    "geocode_length",
    "aian_areas",
    "target_das_aian_areas",
    "target_orig_block_groups",
    "entity_threshold",
    "bypass_cutoff",
    "fanout_cutoff",
    "redefine_counties",
    "strong_mcd_states",
    "ignore_gqs_in_block_groups",
    "prim_spine",
    "use_prim_crosswalk",
    "target_school_dists",
    "aian_sum_constraints",
)
"""The keys of [geodict] (the last one of [engine]) that choose the geography, in the order of the presets."""

_LIST_KEYS = {"aian_areas", "strong_mcd_states"}
_SPINE_KINDS = {"opt_spine": "optimised", "aian_spine": "aian", "non_aian_spine": "standard"}
_WORDS = {"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"}


def companions_of(file: IniFile) -> Sequence[str]:
    """Return the table of shares that a file names, if it is a plain file name."""
    names = [value.text for value in file.values if (value.section, value.key) == (SECTION, TABLE_KEY)]
    return [name for name in names if name == PurePosixPath(name).name and name.lower().endswith(".csv")]


def load_ini(path: Path) -> tuple[Scenario, tuple[Issue, ...]]:
    """Read a DAS configuration with everything it includes.

    Returns:
        The scenario (its `source_text` is the encoded chain) and warnings.

    Raises:
        InputProblemsError: every problem with file, line and column; nothing is half-loaded.
    """
    return read_chain(load_chain(path, companions_of))


def read_chain(chain: IniChain) -> tuple[Scenario, tuple[Issue, ...]]:
    """Read a chain that is in memory; see `load_ini`."""
    log = _Log(effective(chain))
    meaning = _Meaning(log)
    method = meaning.method()
    issues = [*log.ini.issues, *log.issues]
    errors = [issue for issue in issues if issue.severity is Severity.ERROR]
    if errors or method is None:
        raise InputProblemsError(errors)
    conventions = replace(Conventions(), delta=meaning.delta) if meaning.delta else Conventions()
    name = PurePosixPath(chain.root).stem
    return Scenario(name, method, conventions, source_text=chain.encoded()), tuple(issues)


class _Log:
    """One chain, and the problems of its values."""

    def __init__(self, ini: EffectiveIni) -> None:
        self.ini = ini
        self.issues: list[Issue] = []

    def report(self, value: IniValue, sentence: str, remedy: str, severity: Severity = Severity.ERROR) -> None:
        self.issues.append(self.ini.issue(value, sentence, remedy, severity))

    def missing(self, section: str, key: str, remedy: str) -> None:
        self.issues.append(Issue((self.ini.chain.root, f"[{section}]"), f"The key {key!r} is missing.", remedy))

    def number(self, value: IniValue, text: str, offset: int) -> Fraction | None:
        sentence = ""
        if "$" in text:
            sentence = f"The value {text} comes from the environment, so nobody can see it here"
        try:
            return parse_exact(text) if not sentence else None
        except ValueError as error:
            sentence = str(error)
        finally:
            if sentence:
                remedy = "Write the number itself, e.g. 104/4099 or 0.2."
                self.issues.append(self.ini.issue_at(value.file, offset, f"{sentence}.", remedy))
        return None

    def positive(self, value: IniValue) -> Fraction | None:
        number = self.number(value, value.text, value.start)
        if number is not None and number <= 0:
            self.report(value, f"{value.written} is more than 0, got {value.text}.", "Write a positive number.")
            return None
        return number


class _Budgets:
    """Collects budgets, shares and passes of one chain."""

    def __init__(self, log: _Log) -> None:
        self._log = log

    def split(
        self, schema: str, levels: tuple[str, ...], framework: PrivacyFramework, table: StrategyTable | None
    ) -> tuple[Fraction, dict[str, Fraction], dict[LevelQuery, Fraction]] | None:
        """Return total, level shares and query shares."""
        if schema in ABSOLUTE_SCHEMAS:
            budgets = self._absolute(levels, table)
            if not budgets:
                return None
            self._unused_budget(f"{framework.symbol} = {float(sum(budgets.values())):.6g}")
            return _shares_of(levels, budgets)
        total = self._total(framework)
        level_shares = self.level_shares(levels)
        query_shares = self._query_shares(levels, table)
        if total is None or level_shares is None or query_shares is None:
            return None
        return total, level_shares, query_shares

    def _unused_budget(self, total: str) -> None:
        """Warn of a total and of level shares beside a strategy that has absolute budgets."""
        strategy = self._log.ini.get(SECTION, TABLE_KEY) or self._log.ini.get("budget", "strategy")
        for key in (*TOTALS.values(), "geolevel_budget_prop"):
            if strategy is not None and (value := self._log.ini.stated("budget", key)) is not None:
                self._log.report(
                    value,
                    f"{value.written} = {' '.join(value.text.split())} is not used: {strategy.text} "
                    f"({self._log.ini.place(strategy)}) sets every budget itself, in all {total}.",
                    "Remove it.", Severity.WARNING,
                )  # fmt: skip

    def _total(self, framework: PrivacyFramework) -> Fraction | None:
        key = TOTALS[framework]
        value = self._log.ini.stated("budget", key)
        if value is None:
            self._log.missing("budget", key, "Write the whole budget, e.g. global_scale = 339/542 (ρ = 1/scale²).")
            return None
        number = self._log.positive(value)
        if number is None:
            return None
        return 1 / number**2 if framework is PrivacyFramework.ZCDP else number

    def level_shares(self, levels: tuple[str, ...]) -> dict[str, Fraction] | None:
        value = self._log.ini.get("budget", "geolevel_budget_prop")
        if value is None:
            self._log.missing("budget", "geolevel_budget_prop", "List one share per level, top-down.")
            return None
        shares = [self._log.number(value, text, start) for text, start, _ in value.items()]
        if len(shares) != len(levels):
            self._log.report(
                value,
                f"{len(levels)} levels have {len(shares)} shares.",
                f"List one share per level, top-down: {', '.join(levels)}.",
            )
            return None
        found = {level: share for level, share in zip(levels, shares, strict=True) if share is not None}
        if len(found) != len(levels):
            return None
        if wrong := [level for level, share in found.items() if not 0 <= share <= 1]:
            self._log.report(value, f"The share of {wrong[0]} is not between 0 and 1.", "Write e.g. 104/4099.")
            return None
        if (whole := sum(found.values(), Fraction(0))) != 1:
            self._log.report(
                value, f"The shares add to {float(whole):.12g}, not exactly 1.",
                "Production accepts a small difference; phexplore check asks for exactly 1.", Severity.WARNING,
            )  # fmt: skip
        return found

    def _query_shares(self, levels: tuple[str, ...], table: StrategyTable | None) -> dict[LevelQuery, Fraction] | None:
        if table is not None:
            return self._table_shares(levels, table)
        if (value := self._log.ini.get("budget", "strategy")) is not None:
            if (shares := known_shares(value.text, levels)) is not None:
                return dict(shares)
            self._unknown_strategy(value)
            return None
        if (
            self._log.ini.get("budget", "dpqueries") is not None
            or self._log.ini.get("budget", "detailedprop") is not None
        ):
            return self._listed_queries(levels)
        self._log.missing("budget", "strategy", "Name a strategy, or a table of shares in [phexplore] strategy_table.")
        return None

    def _unknown_strategy(self, value: IniValue) -> None:
        if value.text in named_strategies().strategies:
            sentence = f"The strategy {value.text} has no shares for some of these levels."
        else:
            sentence = f"The strategy {value.text!r} is not among the published ones: its shares are in Python code."
        remedy = f"Put its shares into a table beside the file and name it in [{SECTION}] {TABLE_KEY}."
        self._log.report(value, sentence, remedy)

    def _listed_queries(self, levels: tuple[str, ...]) -> dict[LevelQuery, Fraction] | None:
        """Return the shares as the 2010 demonstration lists them: the same queries at every level."""
        shares: dict[str, Fraction | None] = {}
        if (detailed := self._log.ini.get("budget", "detailedprop")) is not None:
            shares["detailed"] = self._log.number(detailed, detailed.text, detailed.start)
        queries, parts = self._log.ini.get("budget", "dpqueries"), self._log.ini.get("budget", "queriesprop")
        if queries is not None:
            names = [text for text, _, _ in queries.items()]
            numbers = (
                [] if parts is None else [self._log.number(parts, text, start) for text, start, _ in parts.items()]
            )
            if len(names) != len(numbers):
                self._log.report(
                    queries, f"{len(names)} queries have {len(numbers)} shares in queriesprop.", "Match them."
                )
                return None
            shares |= dict(zip(names, numbers, strict=True))
        if any(share is None for share in shares.values()):
            return None
        return {
            LevelQuery(level, name): share for level in levels for name, share in shares.items() if share is not None
        }

    def table(self) -> StrategyTable | None:
        if (value := self._log.ini.get(SECTION, TABLE_KEY)) is None:
            return None
        name = str(PurePosixPath(value.file).parent / value.text)
        text = self._log.ini.chain.files.get(name)
        if text is None:
            self._log.report(
                value, f"The table of shares {value.text!r} does not lie beside the file.", "Put it there."
            )
            return None
        table, issues = read_table(text, name)
        self._log.issues += issues
        return table

    def _table_shares(self, levels: tuple[str, ...], table: StrategyTable) -> dict[LevelQuery, Fraction] | None:
        lacking = [level for level in levels if not any(key.level == level for key in table.shares)]
        if lacking:
            value = self._log.ini.get(SECTION, TABLE_KEY)
            if value is not None:
                self._log.report(value, f"The table of shares has no line for {lacking[0]}.", "Add its queries.")
            return None
        return {key: share for level in levels for key, share in table.shares.items() if key.level == level}

    def _absolute(self, levels: tuple[str, ...], table: StrategyTable | None) -> dict[LevelQuery, Fraction] | None:
        """Return the budgets of the DHC strategy with the single ones that the file overrides."""
        if table is not None:
            if self._table_shares(levels, table) is None:
                return None
            budgets = {key: budget for level in levels for key, budget in table.budgets.items() if key.level == level}
        else:
            value = self._log.ini.get("budget", "strategy")
            if value is None:
                self._log.missing("budget", "strategy", "Name a DHC strategy, or a table of shares.")
                return None
            if (known := known_budgets(value.text, levels)) is None:
                self._unknown_strategy(value)
                return None
            budgets = dict(known)
        for key in budgets:
            if (
                single := self._log.ini.get("budget", f"{spelling_in(self._log.ini, key.level)}_{key.query}")
            ) is not None:
                number = self._log.number(single, single.text, single.start)
                if number is not None and number < 0:
                    self._log.report(single, f"A budget is 0 or more, got {single.text}.", "Write 0 to leave it out.")
                budgets[key] = number or Fraction(0)
        return budgets

    def passes(self, levels: tuple[str, ...]) -> dict[str, Passes]:
        value = self._log.ini.get("budget", "query_ordering")
        if value is None:
            return {}
        if (known := known_passes(value.text, levels)) is None:
            self._log.report(
                value, f"The query ordering {value.text!r} is not among the published ones.",
                "The passes are left open; set them in the editor before a simulation.", Severity.WARNING,
            )  # fmt: skip
            return {}
        return dict(known)


class _Meaning:
    """Collects schema, levels, constraints and spine of one chain, and makes parameters of all of it."""

    def __init__(self, log: _Log) -> None:
        self._log = log
        self._budgets = _Budgets(log)
        self.delta: Fraction | None = None

    def method(self) -> TopDown | None:
        """Return the parameters, or None when something of them cannot be read."""
        schema = self._schema()
        table = self._budgets.table()
        levels = self._levels(table)
        framework, contradictions = chosen_framework(self._log.ini)
        self._log.issues += contradictions
        self._delta()
        invariants, constraints = self._per_level(INVARIANTS, levels), self._per_level(CONSTRAINTS, levels)
        if not schema or not levels or framework is None:
            # Nothing can come of it any more; what is wrong elsewhere is listed all the same.
            if levels and self._log.ini.get("budget", "geolevel_budget_prop") is not None:
                self._budgets.level_shares(levels)
            return None
        spine = self._spine(schema, levels)
        passes = dict(table.passes) if table is not None else self._budgets.passes(levels)
        if (split := self._budgets.split(schema, levels, framework, table)) is None:
            return None
        total, level_shares, query_shares = split
        try:
            return TopDown(
                schema=schema,
                levels=levels,
                total=total,
                level_shares=level_shares,
                query_shares=query_shares,
                framework=framework,
                passes=passes,
                invariants=invariants,
                constraints=constraints,
                spine=spine,
            )
        except ValueError as error:
            self._log.issues.append(Issue((self._log.ini.chain.root, "[budget]"), f"{error}.", "Correct the budgets."))
            return None

    def _schema(self) -> str:
        value = self._log.ini.get("schema", "schema")
        if value is None:
            self._log.missing("schema", "schema", "Write e.g. schema = PL94_2020_SCHEMA.")
            return ""
        try:
            return load_schema(value.text).id
        except PhexploreError as error:
            self._log.report(value, error.sentence, error.remedy)
            return ""

    def _levels(self, table: StrategyTable | None) -> tuple[str, ...]:
        """Return the levels, widest first: the file lists them bottom-up, or leaves them to the strategy."""
        value = self._log.ini.stated("geodict", "geolevel_names")
        if value is None:
            return self._strategy_levels(table)
        names = [level_named(text) for text, _, _ in value.items()]
        if len(set(names)) != len(names):
            self._log.report(value, "A level is named twice.", "Name each once.")
        if len(names) > 1 and names[-1] == "Block":
            self._log.report(
                value,
                "The levels are listed top-down; production reads them bottom-up.",
                "Begin with Block. The shares in geolevel_budget_prop stay top-down.",
            )
        self._lengths(names)
        return tuple(reversed(names))

    def _strategy_levels(self, table: StrategyTable | None) -> tuple[str, ...]:
        """Return the levels of the strategy; lengths beside an empty list of names have no effect in production."""
        levels = levels_of_strategy(self._log.ini, table)
        if not levels:
            remedy = "List the levels bottom-up, e.g. Block,Block_Group,Tract, or name a published strategy."
            if (value := self._log.ini.get("geodict", "geolevel_names")) is None:
                self._log.missing("geodict", "geolevel_names", remedy)
            else:
                self._log.report(value, "No level is named, and the strategy names none.", remedy)
            return ()
        lengths, known = self._log.ini.stated("geodict", "geolevel_leng"), level_lengths(levels)
        if lengths is not None and known is not None:
            expected = [str(length) for length in reversed(known)]
            if [text for text, _, _ in lengths.items()] != expected:
                self._log.report(
                    lengths, f"The lengths are not those of the strategy's levels, {','.join(expected)}.",
                    "They have no effect while geolevel_names is empty.", Severity.WARNING,
                )  # fmt: skip
        return levels

    def _lengths(self, names: Sequence[str]) -> None:
        """Judge the lengths beside the names of levels, which stand bottom-up; a root has any."""
        known = level_lengths(names)
        value = self._log.ini.get("geodict", "geolevel_leng")
        if value is None:
            return
        texts = [text for text, _, _ in value.items()]
        lengths = [int(text) for text in texts if text.isdigit() and len(text) < 4]
        if len(lengths) != len(texts):
            self._log.report(value, "A length of a geocode is not a whole number.", "Write e.g. 16,12,11,5,2,0.")
        elif len(lengths) != len(names):
            self._log.report(
                value, f"{len(names)} levels have {len(lengths)} lengths.", "List one length per level, bottom-up."
            )
        elif lengths != sorted(lengths, reverse=True):
            self._log.report(
                value, "The lengths grow, so they are listed top-down; production reads them bottom-up.",
                "List the longest geocode first, in the order of geolevel_names.",
            )  # fmt: skip
        elif known is not None and tuple(lengths[:-1]) != known[:-1]:
            self._log.report(
                value, f"The lengths are not those of these levels, {','.join(map(str, known))}.",
                "Correct them: units are cut from codes of census blocks by the names of the levels.", Severity.WARNING,
            )  # fmt: skip

    def _delta(self) -> None:
        value = self._log.ini.get("budget", "approx_dp_delta")
        if value is None or (number := self._log.positive(value)) is None:
            return
        if number >= 1:
            self._log.report(value, f"δ lies between 0 and 1, got {value.text}.", "Write e.g. 1e-10.")
            return
        self.delta = number

    def _per_level(self, prefix: str, levels: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        spelled = spellings_in(self._log.ini)
        by_name = {spelled.get(level, level).lower(): level for level in levels}
        for key in self._log.ini.keys("constraints"):
            if not key.startswith(prefix):
                continue
            value = self._log.ini.values["constraints", key]
            if (level := by_name.get(key.removeprefix(prefix))) is None:
                self._log.report(
                    value, f"{value.written} names no level of the file.", "It has no effect.", Severity.WARNING
                )
                continue
            found[level] = tuple(text for text, _, _ in value.items())
        # In the order the presets have: narrowest first, as the file is read.
        return {level: found[level] for level in reversed(levels) if level in found}

    def _spine(self, schema: str, levels: tuple[str, ...]) -> SpineChoice:
        given = dict(self._spine_settings())
        defaults = production_defaults(schema, levels)
        settings = {key: given.get(key, defaults.get(key)) for key in (*defaults, *given)}
        kind = "standard"
        if (value := self._log.ini.get("geodict", "spine")) is not None:
            if value.text not in _SPINE_KINDS:
                self._log.report(value, f"{value.text!r} is no spine.", f"Write one of {', '.join(_SPINE_KINDS)}.")
            kind = _SPINE_KINDS.get(value.text, kind)
        if settings.get("prim_spine") == "true":
            kind = "prim"
        return SpineChoice(kind, tuple((key, text) for key, text in settings.items() if text is not None))

    def _spine_settings(self) -> Iterator[tuple[str, str]]:
        for key in SPINE_KEYS:
            if (value := self._log.ini.get(spine_section(key), key)) is not None:
                yield key, setting_of(key, value)


def spine_section(key: str) -> str:
    """Return the section a setting of the spine stands in."""
    return "engine" if key == "aian_sum_constraints" else "geodict"


def setting_of(key: str, value: IniValue) -> str:
    """Return a setting in one spelling: lists as JSON, words of truth as true and false, other text as it is.

    Args:
        key: in its section.
        value: what the file says, with its place.
    """
    if key in _LIST_KEYS:
        return json.dumps([text for text, _, _ in value.items()])
    return _WORDS.get(value.text.lower(), value.text)


def production_defaults(schema: str, levels: tuple[str, ...]) -> Mapping[str, str]:
    """Return what production assumes where a file is silent: the settings of the published preset of this schema.

    Args:
        schema: id.
        levels: widest first.
    """
    for method in (preset.scenario.topdown for preset in topdown_presets().values()):
        if method.schema == schema and set(levels) <= set(method.levels):
            return dict(method.spine.settings)
    return {}


def _shares_of(
    levels: Sequence[str], budgets: Mapping[LevelQuery, Fraction]
) -> tuple[Fraction, dict[str, Fraction], dict[LevelQuery, Fraction]]:
    """Return total, level shares and query shares of absolute budgets."""
    total = sum(budgets.values(), Fraction(0)) or Fraction(1)
    sums = {level: sum((b for key, b in budgets.items() if key.level == level), Fraction(0)) for level in levels}
    shares = {key: (b / sums[key.level] if sums[key.level] else Fraction(0)) for key, b in budgets.items()}
    return total, {level: whole / total for level, whole in sums.items()}, shares
