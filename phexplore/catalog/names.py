"""What people call tables, levels, query groups, places and shipped scenarios; production's abbreviations stay in every file.

Texts are made with the codes of production everywhere. `worded` changes them where they meet the eye or the ear, so that a
sentence, a cell, a picture and what a screen reader says cannot differ.
"""

from __future__ import annotations

import csv
import enum
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache, partial
from types import MappingProxyType

from phexplore.catalog.states import FICTIONAL_STATE, State, states
from phexplore.resources import resource
from phexplore.text.messages import Code
from phexplore.text.quoted import around, quote
from phexplore.text.readers import Reader


class Naming(enum.Enum):
    """How things are called. The value is the word in the settings."""

    NAMES = "names"
    CODES = "codes"
    BOTH = "both"


_CHOSEN = [Naming.CODES]
"""What commands print and exports hold; the window and reports choose."""

_SYNTHETIC = [False]
"""Whether the areas that are named are those of synthetic data."""

_CROSSED = " * "
"""Between the attributes of a query group, as production writes it."""
_OF_PRESETS = "-20"
"""In the identity of every shipped scenario: its year."""
_COMMAND = "phexplore "
"""What begins with it is a command to be copied."""
_TOKEN = re.compile(r"[A-Za-z]\w*|\d{11,16}")
_BLOCK_GROUP, _TRACT, _COUNTY = 12, 11, 5
_IN_STATES = {"place", "cousub", "school_dist"}
"""Classes whose codes begin with that of the state."""
_KINDS = {
    "place": "place",
    "county subdivision": "cousub",
    "cousub": "cousub",
    "tribal area": "aiannh",
    "aiannh": "aiannh",
    "school district": "school_dist",
    "school_dist": "school_dist",
}
"""Classes by what texts call them."""
_WORDS = {"place": "place", "cousub": "county subdivision", "aiannh": "tribal area", "school_dist": "school district"}
"""What an area of a class is called."""
_LEVELS = {
    "Block_Group": "Block group",
    "Tract_Group": "Tract group",
    "Tract_Subset_Group": "Tract subset group",
    "Tract_Subset": "Tract subset",
}
"""Levels whose codes no sentence has as a word; ``Prim`` is one only where levels are listed."""
_UNIT = {_TRACT: "tract", _BLOCK_GROUP: "block group", 15: "block", 16: "block"}


def choose_naming(naming: Naming) -> None:
    """Call things by names, codes or both from now on, in this process."""
    _CHOSEN[:] = [naming]


@contextmanager
def called(naming: Naming) -> Iterator[None]:
    """Call things by names, codes or both inside of a ``with`` statement, and as before behind it."""
    before = chosen_naming()
    choose_naming(naming)
    try:
        yield
    finally:
        choose_naming(before)


@contextmanager
def synthetic_areas(*, is_synthetic: bool) -> Iterator[None]:
    """Name no area as a real one inside of a ``with`` statement, where its data are synthetic: the codes may be those of real areas.

    Args:
        is_synthetic: whether the data are.
    """
    before = _SYNTHETIC[0]
    _SYNTHETIC[:] = [is_synthetic]
    try:
        yield
    finally:
        _SYNTHETIC[:] = [before]


def has_synthetic_areas() -> bool:
    """Return whether the areas that are named are those of synthetic data."""
    return _SYNTHETIC[0]


def chosen_naming() -> Naming:
    """Return how things are called."""
    return _CHOSEN[0]


def worded(text: str) -> str:
    """Return a text as it is read: its codes as names, where names are chosen. What was worded already stays as it is."""
    naming = _CHOSEN[0]
    if type(text) is not str:
        return _reader(naming, _SYNTHETIC[0]).text(text)
    return text if naming is Naming.CODES else around(text, partial(in_words, naming=naming))


@lru_cache(maxsize=8)
def _reader(_naming: Naming, _is_synthetic: bool) -> Reader:  # noqa: FBT001 - a key of the cache
    """Return who reads expert English with the chosen names."""
    return Reader(name_of=code_name, rewrite=worded)


def code_name(code: Code, *, begins: bool) -> str:
    """Return what a code is called: its name, the code or both, as chosen.

    Args:
        code: of a table, level, iteration, query, preset or area; an area off the spine has its class as kind, others of areas ``area``.
        begins: whether it begins a sentence.
    """
    naming, text = _CHOSEN[0], str(code)
    if naming is Naming.CODES:
        return text
    if code.kind == "area":
        name = place(text)
        read = text if not name else f"{text} ({name})" if naming is Naming.BOTH else name
    elif code.kind in _KINDS:
        read = in_words(f"{code.kind} {text}", naming)
    else:
        read = in_words(text, naming)
    return heading(read) if begins and read != text else read


def in_words(text: str, naming: Naming) -> str:
    """Return a text with production's codes as names, or with both.

    Args:
        text: any; a command line stays as it is.
        naming: what is wanted.
    """
    return _in_words(text, naming, _SYNTHETIC[0])


@lru_cache(maxsize=8192)
def _in_words(text: str, naming: Naming, _is_synthetic: bool) -> str:  # noqa: FBT001 - a key of the cache
    if naming is Naming.CODES or text.startswith(_COMMAND) or not _may_name(text):
        return text
    has_both = naming is Naming.BOTH
    return _pattern().sub(lambda match: _name(match, has_both=has_both), text).replace(_CROSSED, " × ")


def spellings(code: str) -> set[str]:
    """Return what a pasted row may call something, in lower case: as files do, and as it is shown."""
    return {in_words(code, naming).lower() for naming in Naming}


@lru_cache(maxsize=1)
def words() -> Mapping[str, Mapping[str, str]]:
    """Return the shipped names: of tables, iterations, attributes, presets and types of group quarters, by the code."""
    return MappingProxyType(tomllib.loads(resource("names.toml").read_text(encoding="utf-8")))


def explained(texts: Iterable[str]) -> tuple[str, ...]:
    """Return what the codes of tables, iterations and attributes in texts stand for, e.g. ``PH3: Children by household type``.

    Only shipped names: files of this computer change nothing.
    """
    named = {code: name for group in ("tables", "iterations", "attributes") for code, name in words()[group].items()}
    known = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, sorted(named, key=len, reverse=True)))})(?![\w-])")
    return tuple(
        f"{code}: {named[code]}" for code in dict.fromkeys(known.findall("\n".join(texts))) if code != named[code]
    )


@lru_cache(maxsize=1)
def counties() -> Mapping[str, str]:
    """Return the names of the 3,143 counties of 2010 by their five digits."""
    with resource("geography/counties.csv").open(encoding="utf-8", newline="") as file:
        return MappingProxyType({row["fips"]: row["name"] for row in csv.DictReader(file)})


@lru_cache(maxsize=1)
def _areas() -> dict[tuple[str, str], str]:
    """Return names of areas off the spine by class and code: the shipped ones, of Rhode Island, and those that files gave."""
    with resource("geography/areas.csv").open(encoding="utf-8", newline="") as file:
        return {(row["class"], row["code"]): row["name"] for row in csv.DictReader(file)}


def learn_areas(kind: str, names: Mapping[str, str]) -> None:
    """Call areas from now on, in this process, as a file does; what is shipped or known stays.

    Args:
        kind: class of the areas, e.g. ``place``; a level of the spine is named by its code.
        names: by public code; "" for none.
    """
    fresh = {(kind, code): name for code, name in names.items() if name and (kind, code) not in _areas()}
    if fresh:
        quote(*fresh.values())
        _areas().update(fresh)
        _in_words.cache_clear()


def area(kind: str, code: str) -> str:
    """Return the name of an area off the spine, "" where neither the program nor a file that was read has one.

    Args:
        kind: class of the areas.
        code: public code.
    """
    if _SYNTHETIC[0]:
        return unnamed_area(kind, code)
    name = _areas().get((kind, code), "")
    state = _state(code) if kind in _IN_STATES else None
    return f"{name}, {state.postal}" if name and state else name


def unnamed_area(kind: str, code: str) -> str:
    """Return what an area off the spine is called that nobody names: ``place 00014, RI``; "" of another class.

    Args:
        kind: class of the areas.
        code: public code.
    """
    word, state = _WORDS.get(kind), _state(code)
    if word is None or (state is None and kind in _IN_STATES):
        return ""
    if state is None or kind not in _IN_STATES:
        return f"{word} {code} (synthetic)" if _SYNTHETIC[0] else f"{word} {code}"
    own = code[_COUNTY:] if kind == "cousub" else code[2:]
    if _is_unreal(code):
        return f"synthetic {word} {own}, {_coded(code[:_COUNTY] if kind == 'cousub' else code[:2])}"
    county = _county(code) if kind == "cousub" else None
    return ", ".join((f"{word} {own}", *([county] if county else []), state.postal))


def _is_unreal(code: str) -> bool:
    """Return whether synthetic data use a code that may be a real area's; the fictional state has names of its own."""
    return _SYNTHETIC[0] and code[:2] != FICTIONAL_STATE


def _coded(code: str) -> str:
    """Return a state or county by its codes alone."""
    return ", ".join((*([f"county {code[2:]}"] if code[2:] else []), f"state code {code[:2]}"))


def _county(code: str) -> str | None:
    """Return the name of the county that a geocode begins with."""
    own = code[:_COUNTY]
    return counties().get(own) or _fictional().get(own) or _areas().get(("county", own))


@lru_cache(maxsize=1)
def _fictional() -> Mapping[str, str]:
    """Return the names of the fictional state and of its counties by code."""
    with resource("synthetic/fictional_areas.csv").open(encoding="utf-8", newline="") as file:
        return MappingProxyType({row["code"]: row["name"] for row in csv.DictReader(file)})


def _state(code: str) -> State | None:
    """Return the state that a geocode begins with, the fictional one included."""
    if code[:2] == FICTIONAL_STATE:
        return State(FICTIONAL_STATE, _fictional()[FICTIONAL_STATE], _fictional()[FICTIONAL_STATE])
    return states().get(code[:2])


def heading(name: str) -> str:
    """Return a name as it begins a line."""
    return name[:1].upper() + name[1:]


def place(code: str) -> str:
    """Return the name of a census geocode: a state, county, tract, block group or block; "" where nothing names it."""
    state, is_unreal = _state(code), _is_unreal(code)
    if state is None:
        return ""
    if len(code) == 2:
        return f"synthetic state {code}" if is_unreal else state.name
    county = f"synthetic {_coded(code[:_COUNTY])}" if is_unreal else _county(code)
    if county is None:
        return ""
    if len(code) == _COUNTY:
        return county if is_unreal else f"{county}, {state.name}"
    unit = _UNIT.get(len(code))
    tract = f"tract {int(code[5:9])}" + (f".{code[9:11]}" if code[9:11] != "00" else "")
    rest = {"block group": f"block group {code[11:]}, ", "block": f"block {code[-4:]}, "}.get(unit or "", "")
    within = county if is_unreal else f"{county}, {state.postal}"
    return f"{rest}{tract}, {within}" if unit else ""


def typed_first(typed: str, names: Iterable[str]) -> list[str]:
    """Return the names that hold every word of what was typed, the likeliest first.

    First those that begin with it, then those with a word that does, then the others; of these the shortest first: a town before its school district.

    Args:
        typed: as far as somebody typed.
        names: that are known.
    """
    begun = typed.strip().casefold()
    words_of = begun.split()
    found = []
    for name in names:
        own = name.casefold()
        if words_of and all(word in own for word in words_of):
            found.append((0 if own.startswith(begun) else 1 if f" {begun}" in own else 2, len(own), own, name))
    return [name for _rank, _length, _own, name in sorted(found)]


def _may_name(text: str) -> bool:
    """Return whether a text may hold a code: most are numbers and plain words, and are drawn anew with every edit."""
    if _CROSSED in text or _OF_PRESETS in text:
        return True
    return any(token in _tokens() or token.isdigit() for token in _TOKEN.findall(text))


@lru_cache(maxsize=1)
def _tokens() -> frozenset[str]:
    attributes = words()["attributes"]
    heads = (code[0].upper() + code[1:] for code in attributes)
    others = (
        "Unattributed",
        "A",
        "H",
        "US",
        "St",
        "detailed",
        "Detailed",
        *_LEVELS,
        "Prim",
        "prim",
        "from",
        "County",
        "county",
        "State",
        "quarters",
        *(f"{region}_{suffix}" for region in ("usa", "state") for suffix in ("", "A", "H")),
    )
    areas = ("place", "Place", "subdivision", "cousub", "tribal", "Tribal", "aiannh", "school_dist", "district")
    return frozenset({*words()["tables"], *attributes, *heads, *others, *areas})


def run_name(scenario: str, code: str, started: str, trials: str) -> str:
    """Return what a run is called: ``Consensus draft, 22 Nov 10:19, 20 trials``, with its identity where codes are wanted.

    Args:
        scenario: name of what it ran.
        code: its identity, the name of its directory.
        started: when it was made, "" when unknown.
        trials: how many it has, in words.
    """
    name = ", ".join(part for part in (scenario, started, trials) if part)
    return name if _CHOSEN[0] is Naming.NAMES else f"{name} ({code})"


def preset_name(code: str) -> str:
    """Return what a shipped scenario is called where its code would stand alone."""
    name = words()["presets"].get(code, "")
    return (
        name
        if name and _CHOSEN[0] is Naming.NAMES
        else f"{code} ({name})"
        if name and _CHOSEN[0] is Naming.BOTH
        else code
    )


def listed_states(codes: Iterable[str]) -> str:
    """Return states in a line.

    Args:
        codes: of two digits.
    """
    if _CHOSEN[0] is Naming.CODES:
        return ", ".join(codes)
    is_short = _CHOSEN[0] is Naming.NAMES
    return ", ".join(place(code) if is_short else f"{code} {place(code)}".strip() for code in codes)


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    """Return what finds codes; no name holds one, and a code with its name behind it is left."""

    def any_of(group: str) -> str:
        known = sorted(words()[group], key=len, reverse=True)
        return "|".join(re.escape(code) for code in known)

    heads = "|".join(re.escape(code[0].upper() + code[1:]) for code in words()["attributes"] if code[0].islower())
    parts = (
        rf"(?P<path>(?:(?P<of>{any_of('tables')})/)?(?P<region>usa|state)_(?P<suffix>\*|A-G|H,I)(?![\w-]))",
        rf"(?P<table>(?:{any_of('tables')})(?! ·|[\w/]|\.\w))",
        r"(?P<bar>(?:US|St) (?:all|A-G|H-I)\b)",
        r"(?P<iteration>Unattributed|A-G|H-I)(?![\w-])",
        rf"(?P<attribute>(?:{any_of('attributes')})(?!\w)(?! ·)|(?:^|(?<=[.:] ))(?:{heads})(?= ×| at |:|,|$))",
        (
            r"(?P<detailed>(?:^|(?<=[:,;] )|(?<=then )|(?<=use )|(?<=Share of )|(?<=budget of )|(?<=budgets of ))"
            r"[Dd]etailed(?=$|[,;:]|\.(?!\w)| at | ±| and \d+ more))"
        ),
        (
            rf"(?P<level>(?<!\()(?:{'|'.join(_LEVELS)})(?!\w)|(?<=, |l )Prim(?=[,:.]|$)|Prim(?=:| does not fit)"
            r"|(?<=evel share )Prim(?!\w)|(?<=evel )Prim(?!\w)|(?<=hare of )Prim(?!\w)|^Prim$|(?<=\d )Prim(?!\w)"
            r"|(?<=Spine: )prim(?=,))"
        ),
        rf"(?P<preset>(?:{any_of('presets')})(?![\w/-]|\.\w))",
        r"(?P<unit>(?:(?:[Bb]lock group|[Tt]ract|[Bb]lock) )?(?<!seed )(?P<geocode>\d{11,12}|\d{15,16})(?![\w.]|/\d)(?! \([^\W\d]))",
        r"(?P<state>State (?P<state_code>\d{2})(?=$|[:,;]))",
        rf"(?P<area>(?i:(?P<kind>{'|'.join(_KINDS)})) (?P<area_code>[0-9A-Z]{{4,10}})(?![\w.])(?! \([^\W\d]))",
        rf"(?P<quarters>[Gg]roup quarters (?P<type>{any_of('quarters')})(?![\w,]| \())",
        r"(?P<county>[Cc]ounty (?P<fips>\d{5})(?![\d.])(?! \([^\W\d]))",
    )
    return re.compile(rf"(?<![\w.\-/])(?:{'|'.join(parts)})")


def _name(match: re.Match[str], *, has_both: bool) -> str:
    """Return what a code is called: of the one kind of code that was found."""
    for kind, name in _NAMED.items():
        if match[kind] is not None:
            return name(match, has_both=has_both)
    return match[0]


def _path(match: re.Match[str], *, has_both: bool) -> str:
    iteration = {"*": "Unattributed", "H,I": "H-I"}.get(match["suffix"], match["suffix"])
    region = {"usa": "Nation", "state": "State"}[match["region"]]
    level = f"{region}, {_iteration(iteration, has_both=has_both)}"
    return f"{_table(match['of'], has_both=has_both)} ({level})" if match["of"] else level


def _bar(match: re.Match[str], *, has_both: bool) -> str:
    region, _, iteration = match["bar"].partition(" ")
    words_of = _iteration({"all": "Unattributed"}.get(iteration, iteration), has_both=has_both)
    return f"{ {'US': 'Nation', 'St': 'State'}[region] }, {words_of}"


def _attribute(match: re.Match[str], *, has_both: bool) -> str:
    code, own = match["attribute"], words()["attributes"]
    name = own[code] if code in own else heading(own[code[0].lower() + code[1:]])
    return f"{code} · {name}" if has_both else name


def _detailed(match: re.Match[str], *, has_both: bool) -> str:
    code = match["detailed"]
    name = heading("every cell") if code[0].isupper() else "every cell"
    return f"{code} ({name})" if has_both and match.string != code else name


def _level(match: re.Match[str], *, has_both: bool) -> str:
    name = _LEVELS.get(match["level"]) or {"Prim": "Primitive area", "prim": "primitive areas"}[match["level"]]
    return f"{name} ({match['level']})" if has_both else name


def _table(code: str, *, has_both: bool) -> str:
    name = words()["tables"][code]
    return f"{code} · {name[0].lower()}{name[1:]}" if has_both else name


def _iteration(code: str, *, has_both: bool) -> str:
    """Return the words of an iteration; beside its words a code has a long dash, so that it is named once."""
    name = words()["iterations"][code]
    return f"{name} {code.replace('-', '–')}" if has_both and code != "Unattributed" else name


def _unit(match: re.Match[str], *, has_both: bool) -> str:
    digits = match["geocode"] or match["fips"] or match["state_code"]
    name = place(digits)
    if not name:
        return match[0]
    begins = match[0][0].isupper() or not (has_both or match.start())
    name = heading(name) if begins else name
    return f"{digits} ({name})" if has_both else name


def _area(match: re.Match[str], *, has_both: bool) -> str:
    code = match["area_code"]
    name = area(_KINDS[match["kind"].lower()], code)
    return (f"{match[0]} ({name})" if has_both else name) if name else match[0]


def _quarters(match: re.Match[str], *, has_both: bool) -> str:
    name = words()["quarters"][match["type"]]
    name = name if match[0][0].isupper() else name[0].lower() + name[1:]
    return f"{match[0]} ({name})" if has_both else name


_NAMED: Mapping[str, Callable[..., str]] = {
    "path": _path,
    "table": lambda match, *, has_both: _table(match["table"], has_both=has_both),
    "bar": _bar,
    "iteration": lambda match, *, has_both: _iteration(match["iteration"], has_both=has_both),
    "attribute": _attribute,
    "detailed": _detailed,
    "level": _level,
    "preset": lambda match, *, has_both: words()["presets"][match["preset"]],  # noqa: ARG005 - its id says nothing beside it
    "geocode": _unit,
    "fips": _unit,
    "quarters": _quarters,
    "state": _unit,
    "area": _area,
}
