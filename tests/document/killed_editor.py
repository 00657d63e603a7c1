"""A program that edits and saves projects and gets killed: each order on standard input is done in a process of its own.

The imports are paid once; every order forks. All processes write to one pipe, so that its order is the order of events:
``pid N`` when the editor begins, ``save`` before a save, the number of each operation after the program reported it done,
``gone`` when the process has ended.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from phexplore.catalog.tables import queries
from phexplore.document.project import Project
from phexplore.model.edits import set_field
from phexplore.model.workbook import activate, add_scenario
from phexplore.systems.phsafe.edits import set_budget

QUERIES = queries()
SAVE = "save"


def operations(seed: int) -> Iterator[tuple[object, ...]]:
    """Yield what a user does, without end: edits, drags, notes, scenarios, undo, redo, jumps, saves."""
    dice = random.Random(seed)
    number = 0
    while True:
        number += 1
        kind = dice.choices(
            ["budget", "drag", "note", "scenario", "undo", "redo", "jump", SAVE], [8, 8, 2, 1, 4, 2, 1, 5]
        )[0]
        yield kind, number, dice.randrange(len(QUERIES)), Fraction(dice.randrange(1, 10**9), 10**9), dice.random()


def perform(project: Project, operation: tuple[object, ...], save) -> None:
    """Do one operation."""
    kind, number, index, value, share = operation
    match kind:
        case "budget":
            project.edit(f"Set {number}", lambda s: set_budget(s, QUERIES[index], value))
        case "drag":
            project.edit(f"Drag {number}", lambda s: set_budget(s, QUERIES[0], value), merge_key="drag")
        case "note":
            project.edit(f"Note {number}", lambda s: set_field(s, "note", f"Zeile „{number}”\n\t{'é' * (number % 9)}"))
        case "scenario":
            made = add_scenario(project.workbook, replace(project.scenario, name=f"Copy {number} {value}"))
            project.commit(f"Copy {number}", activate(made, made.scenarios[-1].name))
        case "undo":
            project.undo()
        case "redo":
            project.redo()
        case "jump":
            project.go_to(int(share * len(project.steps)))
        case _:
            save(project)


def edit_for_ever(path: Path, seed: int, say) -> None:
    project = Project.open(path)

    def save(project: Project) -> None:
        say(SAVE)
        project.save()

    for number, operation in enumerate(operations(seed), start=1):
        perform(project, operation, save)
        say(str(number))


def main() -> None:
    def say(word: str) -> None:
        os.write(1, f"{word}\n".encode())

    for line in sys.stdin:
        seed, _, path = line.rstrip("\n").partition(" ")
        child = os.fork()
        if not child:
            say(f"pid {os.getpid()}")
            edit_for_ever(Path(path), int(seed), say)
        os.waitpid(child, 0)
        say("gone")


if __name__ == "__main__":
    main()
