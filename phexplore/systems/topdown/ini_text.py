"""The text of DAS ``.ini`` files: sections, keys and values with their places, and chains of files joined by INCLUDE.

Nothing here knows what a key means. Texts are kept character by character, so that a changed value changes nothing else.
The rules are those of Python's ``configparser`` and of the inclusion that the production framework puts on top of it: keys
and section names in any case, ``=`` or ``:``, whole-line comments with ``#`` or ``;``, values that go on in indented lines,
``INCLUDE = file`` in a section for that section of the other file, and in ``[DEFAULT]`` for all of its sections; what
includes overrides what is included.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from phexplore.errors import PhexploreError
from phexplore.files.atomic_files import read_text
from phexplore.model.issues import InputProblemsError, Issue, Severity

MOST_FILES = 64
MOST_INCLUSIONS = 1024
LARGEST_FILE = 4 * 2**20
DEFAULT_SECTION = "default"
_CHAIN_FORMAT = "das-ini chain"

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_SECTION = re.compile(r"\[(?P<name>[^\]\r\n]+)\]")
_KEY = re.compile(r"(?P<key>[^\s=:#;\[][^=:\r\n]*)(?P<sign>[=:])[ \t]*")


@dataclass(frozen=True, slots=True)
class IniValue:
    """One key of one section with its value.

    Attributes:
        file: name of the file in its chain.
        section: in lower case.
        key: in lower case.
        written: the key as written.
        start: offset of the first character of the value in the file's text.
        end: offset behind its last character, continuation lines included.
        raw: the value as written.
    """

    file: str
    section: str
    key: str
    written: str
    start: int
    end: int
    raw: str

    @property
    def text(self) -> str:
        """The value without comment lines, its lines joined by line feeds, as production reads it."""
        lines = [line.strip() for line in self.raw.split("\n")]
        return "\n".join(line for line in lines if line[:1] not in {"#", ";"}).strip()

    def items(self) -> tuple[tuple[str, int, int], ...]:
        """Return the parts between commas: text, and its offsets in the file."""
        found: list[tuple[str, int, int]] = []
        for start, end in _between_commas(self.raw):
            part = self.raw[start:end]
            lead = len(part) - len(part.lstrip())
            trail = len(part.rstrip())
            if trail > lead:
                found.append((part[lead:trail], self.start + start + lead, self.start + start + trail))
        return tuple(found)


def _between_commas(raw: str) -> Iterator[tuple[int, int]]:
    """Yield spans between commas outside comment lines; a comment line ends a span and begins the next behind itself."""
    start = position = 0
    for line in _LINE.findall(raw):
        if line.lstrip()[:1] in {"#", ";"} and position:
            yield start, position
            start = position + len(line)
        else:
            for place, character in enumerate(line, start=position):
                if character == ",":
                    yield start, place
                    start = place + 1
        position += len(line)
    yield start, len(raw)


@dataclass(frozen=True, slots=True)
class IniSection:
    """One section header.

    Attributes:
        name: in lower case.
        written: as written.
        start: offset of its bracket.
        end: offset where its last line ends: a new key goes here.
    """

    name: str
    written: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class IniFile:
    """One parsed file.

    Attributes:
        name: in its chain, with forward slashes.
        text: all of it.
        values: in the order they stand.
        sections: in the order they stand.
    """

    name: str
    text: str
    values: tuple[IniValue, ...]
    sections: tuple[IniSection, ...]


def issue_at(
    file: str, text: str, offset: int, sentence: str, remedy: str, severity: Severity = Severity.ERROR
) -> Issue:
    """Return an issue with line and column of an offset.

    Args:
        file: name of the file.
        text: content of the file.
        offset: letters before the place.
        sentence: what is wrong.
        remedy: what to do.
        severity: whether it blocks.
    """
    line = text.count("\n", 0, offset) + 1
    column = offset - (text.rfind("\n", 0, offset) + 1) + 1
    return Issue((file,), sentence, remedy, severity, line, column)


def parse_ini(text: str, name: str) -> tuple[IniFile, list[Issue]]:
    """Parse one file.

    Args:
        text: all of it.
        name: for messages.

    Returns:
        What could be parsed, and the problems: errors for lines that mean nothing, warnings for keys that stand twice.
    """
    parser = _Parser(text, name)
    parser.parse()
    return IniFile(name, text, tuple(parser.values), tuple(parser.sections)), parser.issues


class _Parser:
    """Goes through the lines of one file."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self.values: list[IniValue] = []
        self.sections: list[IniSection] = []
        self.issues: list[Issue] = []
        self._seen: dict[tuple[str, str], IniValue] = {}

    def report(self, offset: int, sentence: str, remedy: str, severity: Severity = Severity.ERROR) -> None:
        self.issues.append(issue_at(self.name, self.text, offset, sentence, remedy, severity))

    def parse(self) -> None:
        position = 1 if self.text.startswith("\ufeff") else 0
        current: tuple[re.Match[str], int, int] | None = None  # key, offset of the value, its end so far
        for line in _LINE.findall(self.text[position:]):
            start, position = position, position + len(line)
            body = line.strip()
            content_end = start + len(line.rstrip())
            if not body or body[:1] in {"#", ";"}:
                continue
            if current is not None and line[:1] in {" ", "\t"}:
                current = (current[0], current[1], content_end)
                self._grow_section(position)
                continue
            self._finish(current)
            current = None
            if body.startswith("["):
                self._section(start, line, position)
            elif (match := _KEY.match(self.text, start + len(line) - len(line.lstrip()))) is not None:
                if not self.sections:
                    self.report(
                        start, f"The key {match['key'].strip()!r} stands before any section.", "Put it into a section."
                    )
                    continue
                current = (match, min(match.end(), content_end), content_end)
                self._grow_section(position)
            else:
                self.report(start, f"The line {body[:40]!r} is neither a section nor a key with a value.",
                            "Write [section] or key = value, or start the line with #.")  # fmt: skip
        self._finish(current)

    def _section(self, start: int, line: str, end: int) -> None:
        match = _SECTION.match(self.text, start + len(line) - len(line.lstrip()))
        if match is None:
            self.report(start, "The section header does not end.", "Close it with ].")
            return
        self.sections.append(IniSection(match["name"].strip().lower(), match["name"].strip(), start, end))

    def _grow_section(self, end: int) -> None:
        if self.sections:
            self.sections[-1] = replace(self.sections[-1], end=end)

    def _finish(self, current: tuple[re.Match[str], int, int] | None) -> None:
        if current is None:
            return
        match, start, end = current
        section = self.sections[-1].name
        key = match["key"].strip()
        value = IniValue(self.name, section, key.lower(), key, start, end, self.text[start:end])
        if (earlier := self._seen.get((section, key.lower()))) is not None and value.key != "include":
            line = self.text.count("\n", 0, earlier.start) + 1
            self.report(match.start(), f"The key {key!r} stands twice in [{section}]; line {line} has no effect.",
                        "Remove one of them.", Severity.WARNING)  # fmt: skip
        self._seen[section, key.lower()] = value
        self.values.append(value)


@dataclass(frozen=True, slots=True)
class IniChain:
    """A file and everything it includes.

    Attributes:
        root: name of the file that was opened.
        files: texts by name; names are relative to the widest folder among them, with forward slashes.
    """

    root: str
    files: Mapping[str, str]

    def encoded(self) -> str:
        """Return the chain as one text, for `Scenario.source_text`."""
        return json.dumps({"format": _CHAIN_FORMAT, "root": self.root, "files": dict(self.files)}, ensure_ascii=False)

    def beside(self, name: str) -> str:
        """Return the name, in the chain, of a file beside the root."""
        return str(PurePosixPath(self.root).parent / name)


def decode_chain(text: str) -> IniChain | None:
    """Return the chain that `IniChain.encoded` wrote, None for any other text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.get("format") != _CHAIN_FORMAT:
        return None
    root, files = value.get("root"), value.get("files")
    if not isinstance(root, str) or not isinstance(files, dict) or root not in files:
        return None
    if not all(isinstance(name, str) and isinstance(content, str) for name, content in files.items()):
        return None
    return IniChain(root, files)


def load_chain(path: Path, companions: Callable[[IniFile], Sequence[str]] = lambda _: ()) -> IniChain:
    """Read a file and everything it includes from its folder, the folder above, and the folders in these.

    What is included goes into projects and bundles, so nothing further away is read, and no link that leads out.

    Args:
        path: of the file.
        companions: returns names of further files, beside a file, that belong to the chain (a table of shares).

    Raises:
        InputProblemsError: a file is missing, is no text, includes itself, or lies where a parameter file does not.
    """
    top = Path(os.path.normpath(path.absolute()))
    above = top.parent.parent
    tree = top.parent if above == Path(above.anchor) else above
    texts: dict[Path, str] = {}
    _load(top, texts, (), _Surroundings(tree, companions))
    folder = Path(os.path.commonpath([str(found.parent) for found in texts]))
    names = {found.relative_to(folder).as_posix(): text for found, text in texts.items()}
    return IniChain(top.relative_to(folder).as_posix(), names)


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """Where the files of a chain may lie, and which further files belong to one of them."""

    tree: Path
    companions: Callable[[IniFile], Sequence[str]]

    def hold(self, target: Path) -> bool:
        """Return whether a file lies here, by its name and by what links make of it."""
        behind = Path(os.path.realpath(target))
        return target.is_relative_to(self.tree) and behind.is_relative_to(os.path.realpath(self.tree))


def _load(path: Path, texts: dict[Path, str], above: tuple[Path, ...], around: _Surroundings) -> None:
    if path in texts:
        return
    if len(texts) >= MOST_FILES:
        raise InputProblemsError([Issue((path.name,), f"More than {MOST_FILES} files are included.", "Join some.")])
    texts[path] = read_text(path, limit=LARGEST_FILE, keep_mark=True)
    file, _ = parse_ini(texts[path], path.name)
    for value in file.values:
        if value.key != "include":
            continue
        target = _target(path.parent, value, file)
        if target in (*above, path):
            raise _refusal(file, value, f"{path.name} includes itself by way of {target.name}", "Break the circle.")
        if not around.hold(target):
            sentence = f"the included file {value.text!r} lies outside {around.tree}, or a link leads there"
            raise _refusal(file, value, sentence, "Copy it beside the file that includes it.")
        if not os.path.isfile(target):  # noqa: PTH113 - a name longer than the system has is no file, and no failure
            raise _refusal(file, value, f"the included file {value.text!r} does not exist", "Put it in its place.")
        _load(target, texts, (*above, path), around)
    for name in around.companions(file):
        companion = path.parent / name
        if os.path.isfile(companion) and around.hold(companion) and companion not in texts:  # noqa: PTH113 - as above
            texts[companion] = read_text(companion, limit=LARGEST_FILE, keep_mark=True)


def _target(folder: Path, value: IniValue, file: IniFile) -> Path:
    name = value.text
    if "$" in name:
        raise _refusal(file, value, f"the INCLUDE {name!r} depends on the environment", "Write the name of the file.")
    if PurePosixPath(name).is_absolute() or "\\" in name or not name.lower().endswith(".ini"):
        # Whatever is included goes into the project and the bundle: no other file of the machine must.
        raise _refusal(
            file, value, f"the INCLUDE {name!r} is no relative path of an .ini file", "Write a relative path."
        )
    return Path(os.path.normpath(folder / name))


def _refusal(file: IniFile, value: IniValue, sentence: str, remedy: str) -> InputProblemsError:
    text = sentence[0].upper() + sentence[1:] + "."
    return InputProblemsError([issue_at(file.name, file.text, value.start, text, remedy)])


@dataclass(frozen=True, slots=True)
class EffectiveIni:
    """What production sees: one value per section and key, and what it hides.

    Attributes:
        chain: the files.
        parsed: every parsed file by name.
        values: effective value by section and key.
        shadowed: values that an including file overrides, by section and key.
        issues: problems of the text.
    """

    chain: IniChain
    parsed: Mapping[str, IniFile]
    values: Mapping[tuple[str, str], IniValue]
    shadowed: Mapping[tuple[str, str], tuple[IniValue, ...]]
    issues: tuple[Issue, ...]

    def get(self, section: str, key: str) -> IniValue | None:
        """Return the effective value; a key of [DEFAULT] stands in for every section.

        Args:
            section: name in brackets.
            key: in its section.
        """
        key = key.lower()
        return self.values.get((section, key)) or self.values.get((DEFAULT_SECTION, key))

    def stated(self, section: str, key: str) -> IniValue | None:
        """Return the effective value, None as well where it is empty: an empty value takes back an inherited one.

        Args:
            section: name in brackets.
            key: in its section.
        """
        value = self.get(section, key)
        return value if value is not None and value.text else None

    def place(self, value: IniValue) -> str:
        """Return file and line of a value, for sentences that name two of them."""
        return f"{value.file}:{self.chain.files[value.file].count(chr(10), 0, value.start) + 1}"

    def keys(self, section: str) -> tuple[str, ...]:
        """Return the keys of a section, in lower case."""
        return tuple(key for part, key in self.values if part == section)

    def issue(self, value: IniValue, sentence: str, remedy: str, severity: Severity = Severity.ERROR) -> Issue:
        """Return an issue at a value.

        Args:
            value: what the file says, with its place.
            sentence: what is wrong.
            remedy: what to do.
            severity: whether it blocks.
        """
        return self.issue_at(value.file, value.start, sentence, remedy, severity)

    def issue_at(
        self, file: str, offset: int, sentence: str, remedy: str, severity: Severity = Severity.ERROR
    ) -> Issue:
        """Return an issue at an offset of a file.

        Args:
            file: name of the file.
            offset: letters before the place.
            sentence: what is wrong.
            remedy: what to do.
            severity: whether it blocks.
        """
        return issue_at(file, self.chain.files[file], offset, sentence, remedy, severity)


def effective(chain: IniChain) -> EffectiveIni:
    """Resolve the inclusions of a chain.

    Raises:
        PhexploreError: a file of the chain is missing from it.
    """
    parsed: dict[str, IniFile] = {}
    issues: list[Issue] = []
    for name, text in chain.files.items():
        if name.lower().endswith(".ini") or name == chain.root:
            parsed[name], found = parse_ini(text, name)
            issues += found
    stacks: dict[tuple[str, str], list[IniValue]] = {}
    for value in _Layers(parsed).of(chain.root, None, ()):
        stacks.setdefault((value.section, value.key), []).append(value)
    values = {place: stack[0] for place, stack in stacks.items()}
    shadowed = {place: tuple(stack[1:]) for place, stack in stacks.items() if len(stack) > 1}
    return EffectiveIni(chain, parsed, values, shadowed, tuple(issues))


class _Layers:
    """Goes through the inclusions; files that include each other twice over may not grow without bound."""

    def __init__(self, parsed: Mapping[str, IniFile]) -> None:
        self.parsed = parsed
        self.visits = 0

    def of(self, name: str, section: str | None, above: tuple[str, ...]) -> Iterator[IniValue]:
        """Yield values, the strongest first: a file's own (the last of equals), its section's inclusions, [DEFAULT]'s."""
        self.visits += 1
        if name not in self.parsed or name in above or self.visits > MOST_INCLUSIONS:
            raise PhexploreError(
                f"The chain of .ini files lacks {name!r}, or it is included in a circle or too often.",
                "Open the first file of the chain again.",
            )
        own = [value for value in self.parsed[name].values if section in {None, value.section}]
        yield from (value for value in reversed(own) if value.key != "include")
        includes = [value for value in self.parsed[name].values if value.key == "include"]
        for value in sorted(includes, key=lambda found: found.section == DEFAULT_SECTION):
            if value.section != DEFAULT_SECTION and section not in {None, value.section}:
                continue
            target = os.path.normpath(PurePosixPath(name).parent / value.text).replace(os.sep, "/")
            wanted = section if value.section == DEFAULT_SECTION else value.section
            yield from self.of(target, wanted, (*above, name))
