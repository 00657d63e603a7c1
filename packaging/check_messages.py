"""Check the messages of the program: each is written whole, each catalog fits them, and none uses a term to avoid.

.venv/bin/python packaging/check_messages.py            exit 1 with one line for each offense
.venv/bin/python packaging/check_messages.py --list     every message with its place
"""

from __future__ import annotations

import ast
import re
import string
import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from phexplore.text.glossary import glossary
from phexplore.text.messages import LIST_LAST, LIST_MIDDLE, LIST_MORE, LIST_PAIR

ROOT = Path(__file__).parents[1]
CATALOGS = ROOT / "resources" / "text"
MAKERS = {"msg": None, "plural": (1, 2)}


def main() -> int:
    """Print the offenses."""
    found = list(messages())
    if "--list" in sys.argv[1:]:
        for place, texts in found:
            print(place, *texts, sep="\t")
        return 0
    offenses = [*unwritten(), *unfit({text for _, texts in found for text in texts}), *avoided(found)]
    print("\n".join(offenses) or f"{len(found)} messages, {len(list(CATALOGS.glob('*.po')))} catalog: no offense")
    return bool(offenses)


def messages() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every message of the code: its place, and its template or both forms of a plural."""
    for file, line, text, _, _ in extract_from_dir(ROOT / "phexplore", keywords=MAKERS):
        yield f"phexplore/{file}:{line}", text if isinstance(text, tuple) else (text,)


def unwritten() -> Iterator[str]:
    """Yield every call whose template is not written where it is used: no writer finds it, and no catalog has it."""
    for path in sorted((ROOT / "phexplore").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if "phexplore.text.messages" not in source or path.parent.name == "text":
            continue
        for call in ast.walk(ast.parse(source)):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in MAKERS:
                asked = call.args[: 1 if call.func.id == "msg" else 2]
                if not all(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in asked):
                    yield f"{path.relative_to(ROOT)}:{call.lineno}: the template must be written here, as one string"


def unfit(templates: set[str]) -> Iterator[str]:
    """Yield entries of catalogs that translate no message, or use a placeholder that it lacks."""
    known = templates | {LIST_PAIR, LIST_MIDDLE, LIST_LAST, LIST_MORE}
    for path in sorted(CATALOGS.glob("*.po")):
        with path.open("rb") as file:
            catalog = read_po(file, abort_invalid=True)
        for entry in catalog:
            keys = entry.id if isinstance(entry.id, tuple) else (entry.id,)
            if not entry.id:
                continue
            texts = entry.string if isinstance(entry.string, tuple | list) else (entry.string,)
            place = f"{path.relative_to(ROOT)}:{entry.lineno}"
            if keys[-1] not in known:
                yield f"{place}: no message of the code has this template: {keys[-1]!r}"
            for text in texts:
                if extra := fields(text) - set().union(*map(fields, keys)):
                    yield f"{place}: the message has no placeholder {', '.join(sorted(extra))}"


def avoided(found: list[tuple[str, tuple[str, ...]]]) -> Iterator[str]:
    """Yield messages that use a phrase the glossary avoids."""
    phrases = {phrase: term.term for term in glossary() for phrase in term.avoid}
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, phrases))})(?!\w)")
    for place, texts in found:
        for text in texts:
            if match := pattern.search(text):
                yield f"{place}: {match[0]!r}: the glossary's term is {phrases[match[0]]!r}"


def fields(template: str) -> set[str]:
    """Return the placeholders of a template."""
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


if __name__ == "__main__":
    sys.exit(main())
