"""What was done in a project as Python, and as a notebook: text that gives the same parameters in a fresh interpreter.

It says everything that alters a number: parameters, conventions and targets. Locks, notes and names are people's, and left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from phexplore.errors import PhexploreError
from phexplore.files.project_file import LoggedStep
from phexplore.files.scenario_json import encode_scenario
from phexplore.model.diff import value_text
from phexplore.model.fingerprint import fingerprint
from phexplore.model.paths import parameters, with_parameters
from phexplore.model.scenario import Scenario
from phexplore.model.workbook import Workbook
from phexplore.systems.registry import presets
from phexplore.text.escapes import visible

_LONGEST_REMARK = 100


class _Part(NamedTuple):
    """A few lines of Python that belong together, and what was done in words."""

    words: str
    code: str


def script(steps: Sequence[LoggedStep]) -> str:
    """Return Python that makes the active scenario of the last step: its start, then a change per step, then its forecast.

    Args:
        steps: of the project, the first and the current one included; undone ones left out.
    """
    return "".join(f"# {part.words}\n{part.code}\n" if part.words else f"{part.code}\n" for part in _parts(steps))


def notebook(steps: Sequence[LoggedStep]) -> bytes:
    """Return a notebook (``.ipynb``) with a cell per step; see `script`."""
    cells: list[dict[str, Any]] = []
    for number, part in enumerate(_parts(steps)):
        if part.words:
            cells.append(
                {"cell_type": "markdown", "id": f"words-{number}", "metadata": {}, "source": _quoted(part.words)}
            )
        cells.append(
            {
                "cell_type": "code",
                "id": f"code-{number}",
                "metadata": {},
                "execution_count": None,
                "outputs": [],
                "source": part.code.rstrip("\n").splitlines(keepends=True),
            }
        )
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    content = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def _parts(steps: Sequence[LoggedStep]) -> Iterator[_Part]:
    versions = list(_versions(steps))
    goal = versions[-1][1]
    yield _Part("", "import phexplore as px\n")
    held: Scenario | None = None
    for words, scenario in versions:
        if held is not None and _same(held, scenario):
            continue
        held, code = _code(held, scenario)
        yield _Part(_remark(words), code)
    yield _Part("", f'assert scenario.fingerprint == "{fingerprint(goal)}"\n')
    yield _Part("Its forecast", "forecast = px.forecast(scenario)\nforecast.to_frame()\n")
    yield _Part("", "forecast.plot()\n")


def _versions(steps: Sequence[LoggedStep]) -> Iterator[tuple[str, Scenario]]:
    """Yield what the active scenario of the last step was after every step, from its beginning, with the step's name."""
    found: list[tuple[str, Scenario]] = []
    later: Workbook | None = None
    now = steps[-1].workbook.scenario
    for step in reversed(steps):
        earlier = now if later is None else _earlier(step.workbook, later, now)
        if earlier is None:
            break
        found.append((step.label, earlier))
        later, now = step.workbook, earlier
    yield from reversed(found)


def _earlier(before: Workbook, after: Workbook, scenario: Scenario) -> Scenario | None:
    """Return what a scenario was one step before: of the same name, else the one that was renamed; None when it was not there."""
    names = {each.name for each in after.scenarios}
    same = [each for each in before.scenarios if each.name == scenario.name]
    renamed = [each for each in before.scenarios if each.name not in names and each.method == scenario.method]
    return next(iter(same or renamed), None)


def _same(one: Scenario, other: Scenario) -> bool:
    return fingerprint(one) == fingerprint(other) and parameters(one) == parameters(other)


def _code(held: Scenario | None, scenario: Scenario) -> tuple[Scenario, str]:
    """Return the scenario that a part makes, and the part: changes by path where they say all, else the whole."""
    if held is not None:
        was = parameters(held)
        now = parameters(scenario).items()
        values = {path: _plain(value) for path, value in now if path not in was or was[path] != value}
        try:
            reached = with_parameters(held, values)
        except (PhexploreError, ValueError, TypeError):
            reached = held
        if values and _same(reached, scenario):
            return reached, _set_text(values)
    for preset in presets().values():
        if not preset.is_own and _same(preset.scenario, scenario):
            return preset.scenario, f"scenario = px.load({preset.id!r})\n"
    lines = json.dumps(encode_scenario(scenario), indent=1, ensure_ascii=False).splitlines(keepends=True)
    text = "".join(f"    {line!r}\n" for line in lines)
    write = "path = Path(mkdtemp()) / 'scenario.json'\npath.write_text(START, encoding='utf-8')\n"
    head = "from pathlib import Path\nfrom tempfile import mkdtemp\n\n"
    return replace(scenario), f"{head}START = (\n{text})\n{write}scenario = px.load(path)\n"


def _plain(value: Any) -> Any:
    """Return a value as Python writes it and `Scenario.set` takes it."""
    is_plain = value is None or isinstance(value, bool | int | str)
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value if is_plain else value_text(value)


def _set_text(values: dict[str, Any]) -> str:
    if len(values) == 1:
        ((path, value),) = values.items()
        return f"scenario = scenario.set({path!r}, {value!r})\n"
    lines = "".join(f"    {path!r}: {value!r},\n" for path, value in values.items())
    return f"scenario = scenario.set({{\n{lines}}})\n"


def _quoted(words: str) -> str:
    """Return words that stand in a notebook as they are, whatever a file called a scenario."""
    return "`" + words.replace("`", "'") + "`"


def _remark(words: str) -> str:
    """Return what a step is called as one line that cannot be more than a remark: names come from files."""
    text = visible(words)
    return text if len(text) <= _LONGEST_REMARK else text[: _LONGEST_REMARK - 1] + "…"
