"""Runs whose specification somebody altered: refused, or provably the same run."""

from __future__ import annotations

import copy
import hashlib
import json
import shutil
import socket
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from origins import SYNTHETIC
from topdown_runs import run as run_here
from topdown_worlds import PERSONS, blocks

from phexplore.data.blocks.generator import write_block_file
from phexplore.entry import WORKER
from phexplore.errors import PhexploreError
from phexplore.model.provenance import UNMARKED
from phexplore.model.scenario import Scenario
from phexplore.runs.events import Failed, Finished, Outcome
from phexplore.runs.launch import run_worker, worker_command
from phexplore.runs.place import HERE, Place, PlaceError, TlsFiles, parse_worker_arguments, tls_files
from phexplore.runs.release_note import NOTE_FILE, release_note
from phexplore.runs.spec import RunData, RunMode, RunSpec, StopRule, decode_spec, describe_blocks, encode_spec
from phexplore.runs.store import SPEC_FILE, load_spec, prepare_directory, present_trials
from phexplore.systems.registry import preset
from phexplore.systems.topdown.reprocessing import reprocess_measurements
from phexplore.systems.topdown.run_options import TopDownOptions

PRESETS = ["sdhc-2020-us", "pl94-2020-persons-us", "group-sizes-census-2010", "counties-invariant-2010"]
HARMLESS = {
    ("workers",),
    ("data", "path"),
    ("data", "size_bytes"),
    ("reproducible",),
    ("releasable",),
    ("fingerprint",),
    ("topdown", "measurements"),
}
"""Neither the noise nor the data come from these: threads, a place whose content is checked, and what is computed anew."""
HARMLESS_OF_SCENARIO = {
    "name",
    "note",
    "reader",
    "baseline",
    "source_text",
    "targets",
    "locked",
    "locked_levels",
    "locked_queries",
}
"""Parts of a scenario that change no released number (`phexplore.model.fingerprint`)."""


def no_one(event):
    pass


def spec_of(name):
    data = RunData("/data/x", "0" * 64, 6, provenance=SYNTHETIC)
    topdown = TopDownOptions(3, measurements="/runs/kept", measured_identity="1" * 64, measured_content="2" * 64)
    return RunSpec(
        preset(name).scenario,
        data,
        4,
        7,
        stop=StopRule(Fraction(1, 100), 3, "County/total/mae"),
        options=topdown if name.startswith("pl94") else None,
    )


def leaves(tree, place=()):
    """Yield the place of every value that is no container, and of every empty container."""
    if isinstance(tree, dict) and tree:
        for name, value in tree.items():
            yield from leaves(value, (*place, name))
    elif isinstance(tree, list) and tree:
        for number, value in enumerate(tree):
            yield from leaves(value, (*place, number))
    else:
        yield place


def altered(content, place):
    """Return a copy with another value of the same kind at a place."""
    found = copy.deepcopy(content)
    *way, last = place
    holder = found
    for step in way:
        holder = holder[step]
    match holder[last]:
        case bool(value):
            holder[last] = not value
        case int(value):
            holder[last] = value + 1
        case str(value) if value.isdecimal() or "/" in value or value.replace(".", "").isdecimal():
            holder[last] = "0" if value != "0" else "1"
        case str(value):
            holder[last] = value + "x"
        case None:
            holder[last] = 1
        case list():
            holder[last] = ["x"]
        case dict():
            holder[last] = {"x": "y"}
        case _:
            holder[last] = "x"
    return found


def resealed(content):
    """Return the content with a seal that is right again, as anybody can write it."""
    rest = {name: value for name, value in content.items() if name != "seal"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return rest | {"seal": hashlib.sha256(text.encode()).hexdigest()}


@pytest.mark.defect("F3", "F7")
@pytest.mark.parametrize("name", PRESETS)
def test_that_a_specification_altered_in_any_field_is_refused(name):
    content = json.loads(json.dumps(encode_spec(spec_of(name))))
    places = list(leaves(content))
    assert len(places) > 20
    for place in places:
        with pytest.raises(PhexploreError):
            decode_spec(altered(content, place))
    for change in ({"scheduler": "tcp://elsewhere:1"}, {"workers": None}):
        with pytest.raises(PhexploreError):
            decode_spec(content | change)
    for missing in content:
        with pytest.raises(PhexploreError):
            decode_spec({key: value for key, value in content.items() if key != missing})


@pytest.mark.defect("F3", "F7")
@pytest.mark.parametrize("name", PRESETS)
def test_that_a_resealed_specification_is_refused_or_the_same_run(name):
    content = json.loads(json.dumps(encode_spec(spec_of(name))))
    accepted = set()
    for place in leaves(content):
        try:
            found = decode_spec(resealed(altered(content, place)))
        except PhexploreError:
            continue
        accepted.add(place)
        assert found.repeats(decode_spec(content))
    assert {
        place
        for place in accepted - HARMLESS - {("seal",)}
        if place[0] != "scenario" or not HARMLESS_OF_SCENARIO & {str(step) for step in place}
    } == set()


@pytest.mark.defect("F7")
def test_that_the_mark_of_synthetic_data_is_part_of_the_identity_and_of_no_file_of_the_first_format():
    spec = spec_of("sdhc-2020-us")
    assert replace(spec, data=replace(spec.data, provenance=UNMARKED)).identity != spec.identity
    first = decode_spec(encode_spec(replace(spec, version=1)))
    assert first.version == 1
    assert not first.data.is_open
    assert spec.repeats(first)


def as_first_format(spec, scheduler):
    """Return what the first format wrote: with the address of the scheduler, which nothing protected."""
    content = encode_spec(replace(spec, version=1))
    return content | {"topdown": content["topdown"] | {"scheduler": scheduler}}


@pytest.fixture(scope="module")
def block_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("blocks") / "blocks.csv.gz"
    write_block_file(blocks(), path)
    return path


@pytest.fixture
def spec(block_file):
    data = describe_blocks(block_file)
    return RunSpec(Scenario("persons", PERSONS), data, 2, 1, options=TopDownOptions(expand=5))


@pytest.mark.defect("F3", "F12")
def test_that_a_run_interrupted_on_a_cluster_goes_on_here_and_no_address_of_a_file_is_called(spec, tmp_path):
    directory = prepare_directory(tmp_path / "run", spec)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        address = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        (directory / SPEC_FILE).write_text(json.dumps(as_first_format(spec, address)))
        assert prepare_directory(directory, spec, replace=True) == directory
        assert load_spec(directory).version == 1
        assert run_worker(directory, no_one) == Finished(Outcome.COMPLETE)
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert present_trials(directory) == (0, 1)


@pytest.mark.defect("F3")
def test_that_other_kept_answers_are_refused(spec, tmp_path):
    kept = replace(spec, trials=1, options=TopDownOptions(expand=5, keep_measurements=True))
    run_worker(prepare_directory(tmp_path / "kept", kept), no_one)
    made = reprocess_measurements(spec.scenario, tmp_path / "kept", spec.data, trials=1, options=TopDownOptions())
    shutil.copytree(tmp_path / "kept", tmp_path / "others")
    run_here(tmp_path / "again", made)
    for path in (tmp_path / "others" / "measurements").rglob("Block.parquet"):
        path.write_bytes((path.parent / "County.parquet").read_bytes())
    elsewhere = replace(made, options=replace(made.options, measurements=str(tmp_path / "others")))
    end = run_worker(prepare_directory(tmp_path / "second", elsewhere), no_one)
    assert isinstance(end, Failed)
    assert "are not those this run was made for" in end.sentence


CERTIFICATES = TlsFiles(Path("/tls/ca.pem"), Path("/tls/cert.pem"), Path("/tls/key.pem"))


@pytest.mark.parametrize("place", [HERE, Place(3), Place(2, "tcp://host:1"), Place(None, "tls://host:1", CERTIFICATES)])
def test_that_a_worker_is_told_where_to_compute(place, tmp_path):
    command = worker_command(tmp_path / "-run", place)
    assert parse_worker_arguments(command[command.index(WORKER) + 1 :]) == (tmp_path / "-run", place)


def test_that_half_a_connection_is_refused(tmp_path):
    with pytest.raises(PlaceError, match="needs three files"):
        tls_files(tmp_path, None, tmp_path)
    with pytest.raises(PlaceError, match="would not be encrypted"):
        Place(1, "tcp://host:1", TlsFiles(tmp_path, tmp_path, tmp_path))
    with pytest.raises(PlaceError, match="at least 1 worker"):
        Place(0)


@pytest.mark.defect("F15")
def test_that_simulated_tables_say_so_beside_them(spec, tmp_path):
    wanted = replace(spec, trials=1, options=TopDownOptions(expand=5, microdata=True))
    assert run_worker(prepare_directory(tmp_path / "run", wanted), no_one) == Finished(Outcome.COMPLETE)
    note = (tmp_path / "run" / "release" / NOTE_FILE).read_text()
    assert note.startswith("SIMULATED.")
    assert "drawn from the seed 1:" in note
    assert "Synthetic data." in note
    unmarked = replace(wanted, data=replace(wanted.data, provenance=UNMARKED))
    assert "drawn from a seed that only the run contains:" in release_note(unmarked)
    assert "Partly imputed data." in release_note(unmarked)
    assert wanted.identity in note
    assert "operating system" in release_note(replace(wanted, seed=None))
    assert "exact counts" in release_note(replace(wanted, mode=RunMode.NO_NOISE))
