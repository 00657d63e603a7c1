from __future__ import annotations

import json

import pytest

from phexplore.cli.app import run

ROWS = [
    "440010301001000,4403520,4400105140,2415R",
    "440010301001001,4403520,4400105140,",
    "440010301002000,,4400105140,",
    "440010302001000,,4400105140,",
    "440030201001000,4408020,4400309280,",
    "440030201001001,,4400309280,",
]


@pytest.fixture
def blocks(tmp_path):
    path = tmp_path / "blocks.csv"
    path.write_text("\n".join(["geoid,place,cousub,aiannh", *ROWS]) + "\n")
    return path


@pytest.fixture
def spine(blocks, tmp_path, capsys):
    path = tmp_path / "x.spine"
    assert run(["spine", "build", str(blocks), "--preset", "pl94-2020", "--entities", "place", "--out", str(path)]) == 0
    capsys.readouterr()
    return path


@pytest.mark.parametrize("preset", ["standard", "aian", "pl94-2020", "pl94-2020-units", "dhc-2020"])
def test_that_every_preset_builds_and_is_described(preset, blocks, tmp_path, capsys):
    path = tmp_path / "x.spine"
    assert run(["spine", "build", str(blocks), "--preset", preset, "--out", str(path), "--json"]) == 0
    built = json.loads(capsys.readouterr().out)
    assert run(["spine", "describe", str(path), "--json"]) == 0
    described = json.loads(capsys.readouterr().out)
    assert built == described
    assert {"levels", "distance", "bypassed", "settings"} <= set(described)
    assert described["blocks"] == 6
    assert {entry["class"] for entry in described["distance"]} >= {"place", "cousub", "aiannh"}


def test_that_entities_override_the_targeted_classes(spine, capsys):
    assert run(["spine", "describe", str(spine), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["settings"]["targets"] == ["place"]
    assert run(["spine", "describe", str(spine)]) == 0
    text = capsys.readouterr().out
    assert "mean distance" in text
    assert "Every path from the root to a block carries 3995/4099 of the total." in text


def test_that_variances_are_predicted_for_levels_and_areas(spine, capsys):
    arguments = ["spine", "variance", str(spine), "pl94-2020-persons-us", "--queries", "total", "--entities", "place"]
    assert run([*arguments, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["schema"] == "pl94_persons"
    assert [entry["class"] for entry in content["entities"]] == ["place"]
    assert content["levels"][0]["level"] == "State"
    assert run(arguments) == 0
    text = capsys.readouterr().out
    assert "mean margin" in text
    assert "nonnegativity" in text


def test_that_variances_can_be_those_of_a_fit_level_by_level(spine, capsys):
    arguments = ["spine", "variance", str(spine), "pl94-2020-persons-us", "--queries", "total", "--json"]
    figures = {}
    for fit in ("at-once", "top-down"):
        assert run([*arguments, "--fit", fit]) == 0
        content = json.loads(capsys.readouterr().out)
        assert content["fit"] == fit
        figures[fit] = {level["level"]: level["queries"][0]["answers"][0]["moe"]["mean"] for level in content["levels"]}
    assert figures["at-once"]["State"] == figures["top-down"]["State"] == 0
    assert all(figures["at-once"][level] <= figures["top-down"][level] for level in figures["at-once"])
    assert figures["at-once"]["Tract"] < figures["top-down"]["Tract"]
    assert run([*arguments, "--fit", "sideways"]) == 2


def test_that_settings_are_live_parameters(blocks, tmp_path, capsys):
    path = tmp_path / "x.spine"
    arguments = ["--fanout-cutoff", "0", "--grouping", "paper", "--tract-groups", "paper", "--bypass", "none"]
    assert run(["spine", "build", str(blocks), "--preset", "pl94-2020", "--out", str(path), "--json", *arguments]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["settings"]["fanout_cutoff"] == 0
    assert content["settings"]["grouping"] == "paper"
    assert "Tract_Group" in [level["name"] for level in content["levels"]]
    assert content["bypassed"]["units"] == 0


def test_that_bad_blocks_are_listed_with_their_places(blocks, tmp_path, capsys):
    blocks.write_text("geoid,place\n440010301001000,4403520\n440010301001000,4403521\n44001030100100,\n")
    out = tmp_path / "x.spine"
    assert run(["spine", "build", str(blocks), "--preset", "pl94-2020", "--out", str(out)]) == 2
    errors = capsys.readouterr().err
    assert "blocks.csv:3:2" in errors
    assert "overlap" in errors
    assert "blocks.csv:4:1" in errors
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["build", "BLOCKS", "--preset", "pl94-2021", "--out", "OUT"], 2, "pl94-2020"),
        (["build", "NOTHING", "--preset", "standard", "--out", "OUT"], 2, "cannot be read"),
        (["build", "BLOCKS", "--preset", "pl94-2020", "--entities", "plaace", "--out", "OUT"], 2, "place"),
        (["build", "BLOCKS", "--preset", "standard", "--entities", "place", "--out", "OUT"], 1, "block groups"),
        (["build", "BLOCKS", "--preset", "pl94-2020", "--bypass", "all", "--out", "OUT"], 2, "bypass"),
        (["build", "BLOCKS", "--preset", "pl94-2020"], 2, "--out"),
        (["describe", "BLOCKS"], 2, "not a spine file"),
        (["describe", "SPINE", "--scenario", "sdhc-2020-us"], 1, "TopDown"),
        (["variance", "SPINE", "sdhc-2020-us"], 1, "TopDown"),
        (["variance", "SPINE", "no-such"], 2, "no-such"),
        (["variance", "SPINE", "dhc-2020-persons-us"], 1, "is not a level of both"),
        (["variance", "SPINE", "pl94-2020-persons-us", "--entities", "wards"], 2, "wards"),
        (["variance", "SPINE", "pl94-2020-persons-us", "--queries", "shoe size"], 2, "shoe size"),
    ],
)
def test_that_wrong_arguments_are_answered(arguments, status, words, blocks, spine, tmp_path, capsys):
    places = {"BLOCKS": blocks, "SPINE": spine, "OUT": tmp_path / "out.spine", "NOTHING": tmp_path / "nothing"}
    assert run(["spine", *(str(places.get(word, word)) for word in arguments)]) == status
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("command", ["build", "describe", "variance"])
def test_that_every_command_has_help_with_an_example(command, capsys):
    assert run(["spine", command, "--help"]) == 0
    assert f"Example: phexplore spine {command}" in " ".join(capsys.readouterr().out.split())


def test_that_rhode_island_is_as_the_issue_says(real_data, tmp_path, capsys):
    blocks = real_data / "blocks" / "pl94_ri_2010_blocks.csv.gz"
    means = {}
    for name, more in (("targeted", ["--entities", "place"]), ("2020", [])):
        path = tmp_path / f"{name}.spine"
        assert run(["spine", "build", str(blocks), "--preset", "pl94-2020", *more, "--out", str(path), "--json"]) == 0
        for entry in json.loads(capsys.readouterr().out)["distance"]:
            means[name, entry["class"]] = (entry["standard"]["mean"], entry["this"]["mean"])
    assert means["targeted", "place"] == pytest.approx((24.17, 6.1), abs=0.05)
    assert means["2020", "place"] == pytest.approx((24.17, 25.9), abs=0.05)
    assert means["2020", "cousub"] == pytest.approx((6.15, 6.15), abs=0.05)
    assert means["2020", "place_mcd"][1] == pytest.approx(6.15, abs=0.005)


def call(capsys, *arguments):
    """Return status, output and errors of a command."""
    status = run([str(each) for each in arguments])
    found = capsys.readouterr()
    return status, found.out, found.err


def test_that_a_forecast_on_blocks_follows_the_spine_and_one_without_says_what_it_cannot_know(capsys, tmp_path):
    blocks = tmp_path / "blocks.csv"
    rows = [
        f"060{county:02d}000{tract}{1000 + block:04d},{block % 3:05d}"
        for county in (1, 3)
        for tract in (100, 200)
        for block in range(12)
    ]
    blocks.write_text("geoid,place\n" + "\n".join(rows) + "\n", "utf-8")
    _, out, _ = call(capsys, "forecast", "pl94-2020-persons-us", "--json")
    spine = json.loads(out)["spine"]
    assert spine["kind"] == "optimised"
    assert spine["blocks"] is None
    assert "Without blocks" in spine["note"]
    status, out, _ = call(capsys, "forecast", "pl94-2020-persons-us", "--data", blocks, "--json")
    assert status == 0
    found = json.loads(out)
    assert found["spine"]["blocks"] == len(rows)
    assert found["spine"]["fit"] == "top-down"
    place = next(each for each in found["spine"]["entities"] if each["class"] == "place")
    total = place["queries"][0]["answers"][0]
    assert total["this"]["moe"]["mean"] < total["standard"]["moe"]["mean"]
    assert found["cells"] == json.loads(call(capsys, "forecast", "pl94-2020-persons-us", "--json")[1])["cells"]
    _, out, _ = call(capsys, "forecast", "pl94-2020-persons-us", "--data", blocks)
    assert "mean margin: standard" in out
    status, _, err = call(capsys, "forecast", "sdhc-2020-us", "--data", blocks)
    assert status == 1
    assert "no geographic spine" in err


def test_that_puerto_rico_is_described_with_its_own_budgets(capsys, tmp_path):
    blocks = tmp_path / "pr.csv"
    blocks.write_text("geoid,place\n" + "".join(f"72001000100{1000 + n:04d},{n % 2:05d}\n" for n in range(9)), "utf-8")
    _, out, _ = call(
        capsys, "spine", "build", blocks, "--preset", "pl94-2020", "--out", tmp_path / "pr.spine", "--json"
    )
    bypassed = json.loads(out)["bypassed"]
    assert bypassed["scenario"] == "pl94-2020-persons-pr"
    assert bypassed["path_total"] == "1"
    assert not bypassed["unspent"]
