"""What a file says about itself is printed so that a terminal shows it and does not obey it."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest

from phexplore.cli.app import BAD_INPUT, run
from phexplore.document.project import Project
from phexplore.model.workbook import Workbook
from phexplore.systems.registry import preset

HOSTILE = "A\x1b[2K\rIntact: approved\nsigned by Ada\x9b2J\u202etxt\u200b"


@pytest.fixture
def project(tmp_path):
    path = tmp_path / "hostile.phx"
    scenario = replace(preset("sdhc-2020-us").scenario, name=HOSTILE, note=HOSTILE)
    document = Project.new(Workbook((scenario,), scenario.name))
    document.save(path)
    document.close()
    return path


@pytest.mark.defect("F10")
@pytest.mark.parametrize(
    "arguments",
    [
        ["forecast", "{}"], ["forecast", "{}", "--json"], ["compare", "{}", "sdhc-2020-us"],
        ["compare", "{}", "sdhc-2020-us", "--json"], ["approve", "{}", "--who", HOSTILE, "--role", HOSTILE],
        ["forecast", "{}#" + HOSTILE + "!"], ["forecast", HOSTILE],
    ],
    ids=lambda arguments: " ".join(arguments)[:20],
)  # fmt: skip
def test_that_a_name_cannot_print_a_line_of_its_own(arguments, project, capsys):
    run([argument.replace("{}", str(project)) for argument in arguments])
    shown = "".join(capsys.readouterr())
    assert not set("\x1b\r\x9b\u202e\u200b") & set(shown)
    assert not [line for line in shown.split("\n") if line.startswith(("signed by Ada", "Intact: approved"))]
    assert "Ada" in shown
    if "--json" in arguments:
        json.loads(shown)


@pytest.mark.defect("F9")
@pytest.mark.parametrize(
    "command", ["run", "data check", "tabulate", "spine build", "check", "export", "compare", "report"]
)
@pytest.mark.parametrize("name", [b"un-caf\xe9.phx", b"x" * 300, b"y" * 5000])
def test_that_names_no_file_of_ours_can_have_are_answered_with_a_sentence(command, name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    out = ["--out", "o"] if command in {"run", "tabulate", "spine build", "export", "report"} else []
    assert run([*command.split(), os.fsdecode(name), *out]) == BAD_INPUT
    shown = capsys.readouterr().err
    assert shown.strip()
    assert shown.encode()  # nothing is left that a terminal cannot print


@pytest.mark.defect("F10")
def test_that_a_name_cannot_print_a_line_of_its_own_while_there_is_no_window(tmp_path, capsys):
    from phexplore.gui.main.start import _say_why
    from phexplore.opening import unreadable

    assert _say_why(unreadable(tmp_path / HOSTILE, "It is none.", "Choose another.")) == BAD_INPUT
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert not set("\x1b\r\x9b\u202e\u200b") & set(shown)
