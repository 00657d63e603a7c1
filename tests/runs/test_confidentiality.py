from __future__ import annotations

import gzip
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from phexplore.data.source import demonstration_directory
from phexplore.files.atomic_files import WriteError
from phexplore.model.provenance import ProvenanceKind
from phexplore.resources import resource
from phexplore.runs.confidentiality import (
    TREATED_AS_CONFIDENTIAL,
    ConfidentialityWarning,
    answer_about,
    is_confidential,
    record_override,
    warning_about,
)
from phexplore.runs.events import Note
from phexplore.runs.spec import RunSpec, data_of
from phexplore.runs.states import RunState
from phexplore.runs.store import load_events, state_of
from phexplore.systems.registry import preset


@pytest.fixture
def copy(tmp_path):
    """The shipped population without its mark."""
    found = tmp_path / "population"
    shutil.copytree(demonstration_directory(), found)
    (found / "provenance.json").unlink()
    return found


def test_that_marked_data_are_not_doubted(us):
    assert warning_about(us, data_of(us, Path("demo"))) is None


def test_that_records_without_a_mark_are_doubted_with_their_hash(us, copy):
    data = data_of(us, copy)
    doubt = warning_about(us, data)
    assert (doubt.path, doubt.sha256) == (str(copy), data.sha256)
    assert "Use synthetic or public data" in doubt.sentence


def test_that_one_changed_byte_takes_the_mark_away(us, tmp_path):
    shutil.copytree(demonstration_directory(), tmp_path / "p")
    assert warning_about(us, data_of(us, tmp_path / "p")) is None
    file = next(path for path in (tmp_path / "p").iterdir() if path.stem == "persons")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    assert warning_about(us, data_of(us, tmp_path / "p")) is not None


def test_that_block_microdata_are_doubted_and_tables_of_blocks_are_not(tmp_path):
    topdown = preset("pl94-2020-persons-us").scenario
    assert warning_about(topdown, data_of(topdown, Path("demo"))) is None
    from phexplore.data.blocks.layouts import PERSON_LAYOUTS

    for number, layout in enumerate(PERSON_LAYOUTS):
        folder = tmp_path / str(number)
        folder.mkdir()
        with gzip.open(folder / "persons.csv.gz", "wt") as file:
            file.write(",".join(layout.columns) + "\n")
        data = data_of(topdown, folder / "persons.csv.gz")
        is_published = "SCHEMA_TYPE_CODE" not in layout.columns  # the layout of the microdata that the Bureau released
        assert (warning_about(topdown, data) is None) is is_published
        assert (data.provenance.kind is ProvenanceKind.PUBLISHED) is is_published
        assert warning_about(topdown, data_of(topdown, folder)) is None or not is_published
    broken = tmp_path / "broken.csv"
    broken.write_bytes(b"\xff\xfe\x00")
    assert warning_about(topdown, data_of(topdown, broken)) is None


def test_that_tables_of_counties_are_not_doubted():
    sizes = preset("group-sizes-census-2010").scenario
    assert warning_about(sizes, data_of(sizes, resource("tables/household_sizes_2010.csv"))) is None


def test_that_an_override_says_who_when_and_on_what_and_leaves_the_run_waiting(tmp_path):
    record_override(
        tmp_path, ConfidentialityWarning("/data/cef", "ab" * 32), "ada", datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
    )
    (note,) = load_events(tmp_path)
    assert isinstance(note, Note)
    for words in ("/data/cef", "ab" * 32, "ada", "2026-03-01T12:30:00+00:00"):
        assert words in note.text
    assert state_of(tmp_path) is RunState.QUEUED


def test_that_an_override_that_cannot_be_recorded_stops_the_run(tmp_path):
    with pytest.raises(WriteError):
        record_override(tmp_path / "gone", ConfidentialityWarning("x", "y"), "ada")


@pytest.mark.defect("F7")
def test_that_the_answer_says_which_of_three_kinds_data_are(us, copy):
    topdown = preset("pl94-2020-persons-us").scenario
    assert not answer_about(us, data_of(us, Path("demo"))).confidential
    assert answer_about(topdown, data_of(topdown, Path("demo"))).sentence.startswith("Synthetic data.")
    (copy / "blocks.csv").write_text("geoid,pop_hisp\n440010001001000,1\n")
    assert "table of counts" in answer_about(topdown, data_of(topdown, copy / "blocks.csv")).sentence
    answer = answer_about(us, data_of(us, copy))
    assert answer.json() == {"treated_as_confidential": True, "sentence": TREATED_AS_CONFIDENTIAL}


@pytest.mark.defect("F7")
def test_that_a_run_stays_confidential_after_its_data_are_gone_and_whatever_its_summary_says(us, copy):
    spec = RunSpec(us, data_of(us, copy), 1, 1)
    shutil.rmtree(copy)
    for summary in (None, {}, {"confidentiality": {"treated_as_confidential": False}}):
        assert is_confidential(spec, summary)
    assert not is_confidential(RunSpec(us, data_of(us, Path("demo")), 1, 1), None)
