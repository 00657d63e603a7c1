from __future__ import annotations

import json

import pytest

from phexplore.cli.app import run


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """A population as CSV and Parquet, of which somebody edited the CSV afterwards."""
    folder = tmp_path_factory.mktemp("both")
    assert run(["synth", "sdhc", "--persons", "300", "--states", "44", "--seed", "1", "--out", str(folder)]) == 0
    assert {file.suffix for file in folder.iterdir()} >= {".csv", ".parquet"}
    file = folder / "persons.csv"
    file.write_text(file.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        ("data", "describe", "DATA", "--json"),
        ("tabulate", "DATA", "--out", "OUT"),
        ("run", "sdhc-2020-us", "--data", "DATA", "--trials", "1", "--seed", "1", "--out", "OUT"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_that_commands_say_which_files_they_read_where_two_kinds_differ(capsys, both, tmp_path, arguments) -> None:
    places = {"DATA": str(both), "OUT": str(tmp_path / "out")}
    assert run([places.get(argument, argument) for argument in arguments]) == 0
    found = capsys.readouterr()
    assert "warning: " in found.err
    assert "Parquet" in found.err
    if "--json" in arguments:
        assert json.loads(found.out)["storage"] == "csv"


def test_that_a_plain_choice_is_not_mentioned(capsys, both, tmp_path) -> None:
    for file in both.glob("*.csv"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    assert run(["data", "describe", str(tmp_path)]) == 0
    assert "Parquet" not in capsys.readouterr().err
