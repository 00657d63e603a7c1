"""JSON with places: every value knows where it stands, numbers stay text, repeated keys are found.

The parser of the standard library gives no positions for values, turns numbers into floats and lets the last of two
equal keys win; a budget must not pass through any of these.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from phexplore.model.issues import InputProblemsError, Issue

_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORD = re.compile(r"-?[A-Za-z]+")
_STRING = re.compile(r'"((?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*)"')
_ESCAPE = re.compile(r'\\(u[0-9a-fA-F]{4}|["\\/bfnrt])')
_PLAIN = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS = {"true", "false", "null", "Infinity", "-Infinity", "NaN"}
DEPTH_LIMIT = 64
MOST_VALUES = 200_000
"""Values of a parameter file: production's have some hundred. Each takes a hundred bytes or more once it is read."""
MOST_LOGGED_VALUES = 1_000_000
"""Values of a project file with its edit log."""
_MOST_DIGITS = 100
"""Of a whole number: counts, places and seeds; numbers that decide privacy are text."""
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class JsonNumber:
    """A number as written. `text` may also be ``Infinity``, ``-Infinity`` or ``NaN``."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class JsonString:
    """A string, unescaped."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class JsonWord:
    """true, false or null."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class JsonList:
    """A list of values."""

    items: tuple[JsonValue, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class JsonMember:
    """One key of an object with its value."""

    key: JsonString
    value: JsonValue


@dataclass(frozen=True, slots=True)
class JsonObject:
    """The members of an object in their order, repeated keys included."""

    members: tuple[JsonMember, ...]
    start: int
    end: int

    def get(self, key: str) -> JsonValue | None:
        """Return the value of the first member with this key."""
        return next((member.value for member in self.members if member.key.text == key), None)


JsonValue = JsonNumber | JsonString | JsonWord | JsonList | JsonObject


class JsonSyntaxError(ValueError):
    """The text is not JSON; `position` is the offset of the first character that does not fit."""

    def __init__(self, sentence: str, position: int) -> None:
        super().__init__(sentence)
        self.position = position


def parse_json(text: str) -> JsonValue:
    """Parse a JSON text (``Infinity`` and ``NaN`` allowed, as production writes them).

    Raises:
        JsonSyntaxError: with the offset of the first problem.
    """
    if count_values(text) > MOST_VALUES:
        raise JsonSyntaxError(f"there are more than {MOST_VALUES:,} values", 0)
    value, position = _value(text, _skip(text, 0), 0)
    if (rest := _skip(text, position)) != len(text):
        raise JsonSyntaxError("there is text after the end of the value", rest)
    return value


def count_values(text: str) -> int:
    """Return an upper bound of the number of values in a JSON text, at the cost of looking for four characters."""
    return 1 + sum(text.count(sign) for sign in ",[{:")


_DAMAGED = "The file is damaged, or is of another kind."
"""Said first: whoever was sent a file seldom knows what JSON is."""


def plain_values(
    text: str, name: str, remedy: str, *, most: int = MOST_LOGGED_VALUES, real: Callable[[str], Any] = float
) -> Any:
    """Parse a JSON text into plain Python values; for files this program writes itself, in which numbers are text.

    Args:
        text: of the file.
        name: of the file, for messages.
        remedy: what to do when it is no such file.
        most: values that are read.
        real: makes the value of a number with a point or an exponent; `str` keeps it exact.

    Raises:
        InputProblemsError: no JSON, nested too deeply, more values or digits than such a file has, or half a character.
    """
    if count_values(text) > most:
        raise _no_json(name, f"it holds more than {most:,} values", remedy)
    try:
        value = json.loads(text, parse_int=_whole, parse_float=real)
        require_whole_characters(value, text, 0, len(text))
    except json.JSONDecodeError as error:
        issue = Issue((name,), f"{_DAMAGED} Not JSON here: {error.msg}.", remedy, line=error.lineno, column=error.colno)
        raise InputProblemsError([issue]) from error
    except RecursionError as error:
        raise _no_json(name, "it is nested too deeply", remedy) from error
    except UnicodeEncodeError as error:
        raise _no_json(name, f"it holds half a character ({error.object[error.start]!a})", remedy) from error
    except ValueError as error:
        raise _no_json(name, "a number has too many digits", remedy) from error
    return value


def require_whole_characters(value: Any, text: str, start: int, end: int) -> None:
    """Pass a value that can be saved: half a character can be read, where it is escaped, but not written.

    Args:
        value: what was read.
        text: that it was read from, without half characters of its own.
        start: where in the text the value begins.
        end: where it ends.

    Raises:
        UnicodeEncodeError: it holds half a character.
    """
    if _HALF.search(text, start, end):  # writing a value to see whether it can be written takes twice its memory
        json.dumps(value, ensure_ascii=False).encode()


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError("a number has too many digits")
    return int(digits)


def _no_json(name: str, reason: str, remedy: str) -> InputProblemsError:
    return InputProblemsError([Issue((name,), f"The file cannot be read: {reason}.", remedy)])


def line_and_column(text: str, position: int) -> tuple[int, int]:
    """Return 1-based line and column of an offset.

    Args:
        text: of the file.
        position: offset in characters, from 0.
    """
    line = text.count("\n", 0, position) + 1
    return line, position - (text.rfind("\n", 0, position) + 1) + 1


def syntax_issue(name: str, text: str, error: JsonSyntaxError) -> Issue:
    """Return the issue that tells a user where a text stops being JSON.

    Args:
        name: of the file.
        text: of the file.
        error: raised by the parser.
    """
    line, column = line_and_column(text, error.position)
    return Issue(
        (name,), f"{_DAMAGED} Not JSON here: {error}.", "Correct the file at this place.", line=line, column=column
    )


def repeated_keys(value: JsonObject) -> list[JsonString]:
    """Return the keys that an object already had."""
    seen: set[str] = set()
    repeated = []
    for member in value.members:
        if member.key.text in seen:
            repeated.append(member.key)
        seen.add(member.key.text)
    return repeated


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _value(text: str, position: int, depth: int) -> tuple[JsonValue, int]:
    if position >= len(text):
        raise JsonSyntaxError("the text ends where a value is expected", position)
    if depth > DEPTH_LIMIT:
        raise JsonSyntaxError(f"values are nested deeper than {DEPTH_LIMIT}", position)
    match text[position]:
        case "{":
            return _object(text, position, depth)
        case "[":
            return _list(text, position, depth)
        case '"':
            string = _string(text, position)
            return string, string.end
    if number := _NUMBER.match(text, position):
        return JsonNumber(number.group(), position, number.end()), number.end()
    if (word := _WORD.match(text, position)) and word.group() in _WORDS:
        kind = JsonWord if word.group() in {"true", "false", "null"} else JsonNumber
        return kind(word.group(), position, word.end()), word.end()
    raise JsonSyntaxError(f"a value is expected, got {text[position]!r}", position)


def _string(text: str, position: int) -> JsonString:
    match = _STRING.match(text, position)
    if match is None:
        raise JsonSyntaxError("a text in double quotes is expected", position)
    return JsonString(_ESCAPE.sub(_unescape, match.group(1)), position, match.end())


def _unescape(match: re.Match[str]) -> str:
    code = match.group(1)
    return chr(int(code[1:], 16)) if code[0] == "u" and len(code) > 1 else _PLAIN.get(code, code)


def _list(text: str, position: int, depth: int) -> tuple[JsonList, int]:
    items: list[JsonValue] = []
    here = _skip(text, position + 1)
    while text[here : here + 1] != "]":
        value, here = _value(text, here, depth + 1)
        items.append(value)
        here = _after_item(text, here, "]")
    return JsonList(tuple(items), position, here + 1), here + 1


def _object(text: str, position: int, depth: int) -> tuple[JsonObject, int]:
    members: list[JsonMember] = []
    here = _skip(text, position + 1)
    while text[here : here + 1] != "}":
        key = _string(text, here)
        here = _skip(text, key.end)
        if text[here : here + 1] != ":":
            raise JsonSyntaxError(f"a colon is expected after {key.text!r}", here)
        value, here = _value(text, _skip(text, here + 1), depth + 1)
        members.append(JsonMember(key, value))
        here = _after_item(text, here, "}")
    return JsonObject(tuple(members), position, here + 1), here + 1


def _after_item(text: str, position: int, closing: str) -> int:
    """Return the offset of the next item or of the closing bracket."""
    here = _skip(text, position)
    if text[here : here + 1] == closing:
        return here
    if text[here : here + 1] != ",":
        raise JsonSyntaxError(f"a comma or {closing} is expected", here)
    following = _skip(text, here + 1)
    if text[following : following + 1] == closing:
        raise JsonSyntaxError("a comma stands before the closing bracket", here)
    return following
