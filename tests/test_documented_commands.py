"""Every printed command does what its page says: it ends well, in the order of the page, through the command line."""

from __future__ import annotations

import pytest
from documented_commands import (
    EXAMPLES,
    NOT_RUN_HERE,
    PAGES,
    ROOT,
    arguments,
    bring_along,
    printed_commands,
    smaller,
)

from phexplore.cli.app import DONE, run

DOCUMENTS = [page for page in (*PAGES, *EXAMPLES) if printed_commands(page)]


def _run_page(page, folder, monkeypatch, capsys, shorten):
    bring_along(folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "configuration"))
    for command in printed_commands(page):
        if command in NOT_RUN_HERE:
            continue
        assert command.startswith("phexplore "), f"{command} is neither run nor listed with a reason"
        status = run(arguments(shorten(command)))
        out, err = capsys.readouterr()
        assert status == DONE, f"{page.name}: {command}: {err}"
        assert (out + err).strip(), command


@pytest.mark.defect("D1")
@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_that_the_commands_of_a_page_run_on_little_data(page, tmp_path, monkeypatch, capsys):
    _run_page(page, tmp_path, monkeypatch, capsys, smaller)


@pytest.mark.slow
@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_that_the_commands_of_a_page_run_as_printed(page, tmp_path, monkeypatch, capsys):
    _run_page(page, tmp_path, monkeypatch, capsys, str)


def test_that_every_exception_is_still_printed():
    printed = {command for page in DOCUMENTS for command in printed_commands(page)}
    assert set(NOT_RUN_HERE) <= printed
