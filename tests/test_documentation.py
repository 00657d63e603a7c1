"""What the documents say can be done as they say it: links, pictures and commands."""

from __future__ import annotations

import re
import shlex

import pytest
import typer
from documented_commands import PAGES, ROOT, printed_commands

from phexplore.cli.app import program

LINK = re.compile(r"\]\(([^)\s]+)\)")
INLINE = re.compile(r"(?<!needed \| )`(phexplore [a-z][^`\n]*)`")
GLUE = re.compile(r"[^\w\- ]")


def anchors(text):
    return {
        GLUE.sub("", line.lstrip("# ").lower()).replace(" ", "-") for line in text.splitlines() if line.startswith("#")
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_that_links_and_pictures_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    missing = []
    for target in LINK.findall(text):
        if target.startswith(("http://", "https://")):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and anchor not in anchors(file.read_text(encoding="utf-8"))):
            missing.append(target)
    assert missing == []


def commands():
    for page in PAGES:
        name = page.relative_to(ROOT).as_posix()
        printed = [line for line in printed_commands(page) if line.startswith("phexplore ")]
        for line in dict.fromkeys([*printed, *INLINE.findall(page.read_text(encoding="utf-8"))]):
            yield name, line


def test_that_there_are_commands_to_look_at():
    assert len(list(commands())) > 60


@pytest.mark.parametrize(("page", "line"), list(commands()))
def test_that_commands_exist_with_these_options(page, line):
    words = shlex.split(line, comments=True)[1:]
    group = typer.main.get_command(program())
    while words and hasattr(group, "commands"):
        name = words.pop(0)
        assert name in group.commands, f"{page}: {name}"
        group = group.commands[name]
    known = {option for parameter in group.params for option in (*parameter.opts, *parameter.secondary_opts)} | {
        "--help",
        "-h",
    }
    used = {word.partition("=")[0] for word in words if word.startswith("-") and not re.fullmatch(r"-[\d.]+", word)}
    assert used <= known, f"{page}: {line}"
