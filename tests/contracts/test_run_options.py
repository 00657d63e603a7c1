"""What runs are asked beyond their scenario: specifications of earlier versions stay what they were; flags are what is declared."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from typer.main import get_command

from phexplore.cli.app import program, run
from phexplore.model.fields import declared_fields
from phexplore.runs.spec import RunSpecError, decode_spec, encode_spec
from phexplore.systems.registry import systems
from phexplore.systems.topdown.run_options import Mechanism, RounderTarget, TopDownOptions

FROZEN = json.loads(Path(__file__).with_name("frozen_specs.json").read_text(encoding="utf-8"))
"""Written by version 0.9.0 of the program, by the code of a hand-written codec."""

FLAGS = {
    "--expand",
    "--microdata",
    "--block-by-block",
    "--rounder-target",
    "--keep-measurements",
    "--measurements",
    "--estimator",
    "--pool-leaves",
}
"""Of TopDown, as documents and scripts call them."""


@pytest.mark.parametrize("name", FROZEN)
def test_that_a_frozen_specification_is_read_and_written_with_the_same_bytes_identity_and_seal(name):
    content = json.loads(json.dumps(FROZEN[name]))
    spec = decode_spec(content)
    content.get("topdown", {}).pop("scheduler", None)  # version 1 alone wrote it, and nobody reads it
    assert json.dumps(encode_spec(spec)) == json.dumps(content)
    assert spec.identity == FROZEN[name]["identity"]


def test_that_a_process_without_systems_does_not_call_a_specification_altered():
    code = (
        "import json, sys; from phexplore.runs.spec import RunSpecError, decode_spec\n"
        "try: decode_spec(json.load(sys.stdin))\nexcept RunSpecError as error: print(error.remedy)"
    )
    stated = json.dumps(FROZEN["topdown, version 2"])
    done = subprocess.run([sys.executable, "-c", code], input=stated, capture_output=True, text=True, check=True)
    assert "phexplore.systems.registry" in done.stdout


def test_that_options_say_what_the_frozen_file_says():
    options = decode_spec(FROZEN["topdown, version 2"]).options
    assert options == TopDownOptions(5, Mechanism.BLOCK_BY_BLOCK, RounderTarget.WHOLE, microdata=True)
    assert decode_spec(FROZEN["topdown without options"]).options is None
    kept = decode_spec(FROZEN["topdown, kept answers"])
    assert kept.runs_read == (Path("/runs/kept"),)
    moved = replace(kept, options=replace(kept.options, measurements="/elsewhere"))
    assert moved.identity == kept.identity  # where kept answers lie decides nothing


@pytest.mark.parametrize(
    ("key", "value"),
    [("expand", 6), ("mechanism", "top-down"), ("measured_content", "3" * 64), ("microdata", False), ("target", 7)],
)
def test_that_an_altered_option_is_refused(key, value):
    name = "topdown, kept answers" if key == "measured_content" else "topdown, version 2"
    content = json.loads(json.dumps(FROZEN[name]))
    content["topdown"][key] = value
    with pytest.raises(RunSpecError):
        decode_spec(content)


def test_that_a_run_takes_no_options_of_another_system():
    with pytest.raises(ValueError, match="options"):
        replace(decode_spec(FROZEN["phsafe"]), options=TopDownOptions())


def test_that_every_declared_option_of_every_system_is_a_flag_of_run_and_none_is_lost():
    flags = {flag for parameter in get_command(program()).commands["run"].params for flag in parameter.opts}
    declared = {
        part.option
        for system in systems().values()
        if system.run_options is not None
        for part in declared_fields(system.run_options)
        if part.option
    }
    assert declared <= flags
    assert flags >= FLAGS


@pytest.mark.parametrize(
    ("scenario", "typed", "named"),
    [
        ("sdhc-2020-us", ["--microdata"], "--microdata"),
        ("sdhc-2020-us", ["--expand", "0"], "--expand"),
        ("pl94-2020-persons-us", ["--measurements", "kept", "--expand", "1"], "--expand"),
        ("pl94-2020-persons-us", ["--measurements", "kept", "--block-by-block"], "--block-by-block"),
        ("pl94-2020-persons-us", ["--rounder-target", "half"], "--rounder-target"),
        ("pl94-2020-persons-us", ["--expand", "-1"], "--expand"),
    ],
)
def test_that_an_option_that_does_not_fit_is_refused_by_its_name(scenario, typed, named, tmp_path, capsys):
    assert run(["run", scenario, "--data", "demo", "--out", str(tmp_path / "run"), *typed]) == 2
    assert re.search(rf"{named}\b", capsys.readouterr().err)
    assert not (tmp_path / "run").exists()
