"""Generators on the command line, and what the readers make of their files."""

from __future__ import annotations

import pytest

from phexplore.cli.app import BAD_INPUT, DONE, run


def call(capsys, *arguments):
    status = run([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.mark.parametrize(
    ("arguments", "name", "found"),
    [
        (("demonstration-2010", "--blocks", 30), "persons.txt", "demonstration_2010_persons"),
        (("demonstration-2010", "--blocks", 30, "--states", "44,09"), "persons.txt.gz", "demonstration_2010_persons"),
        (("pl94", "--blocks", 30, "--states", "04,35", "--tribal", 0.5), "blocks.csv.gz", "pl94_reduced16"),
        (("pl94", "--blocks", 30, "--state", "06"), "blocks.csv", "pl94_reduced16"),
    ],
)
def test_that_what_is_made_is_read_without_a_problem(capsys, tmp_path, arguments, name, found):
    kind, *rest = arguments
    assert call(capsys, "synth", kind, *rest, "--seed", 1, "--out", tmp_path / name)[0] == DONE
    assert call(capsys, "data", "check", tmp_path / name)[0] == DONE
    status, out, _ = call(capsys, "data", "describe", tmp_path / name)
    assert status == DONE
    assert found in out


def test_that_one_state_or_several_are_named(capsys, tmp_path):
    arguments = ("synth", "pl94", "--blocks", 9, "--seed", 1, "--state", "44", "--states", "09,44")
    assert call(capsys, *arguments, "--out", tmp_path / "b.csv")[0] == BAD_INPUT
