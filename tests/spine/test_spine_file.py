from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from phexplore.errors import PhexploreError
from phexplore.model.issues import InputProblemsError
from phexplore.model.provenance import UNMARKED, Provenance, ProvenanceKind
from phexplore.spine.building import build_spine
from phexplore.spine.settings import spine_preset
from phexplore.spine.spine_file import read_spine, write_spine


def same(one, other):
    assert one.settings == other.settings
    assert one.remarks == other.remarks
    assert one.tree.dropped == other.tree.dropped
    assert one.order.tolist() == other.order.tolist()
    for a, b in zip(one.tree.levels, other.tree.levels, strict=True):
        assert (a.name, a.codes.tolist(), a.first_block.tolist()) == (b.name, b.codes.tolist(), b.first_block.tolist())
        assert (a.first_child is None) == (b.first_child is None)
        assert a.first_child is None or a.first_child.tolist() == b.first_child.tolist()
    for name in ("quarters", "incorporated", "governed"):
        a, b = getattr(one.geography, name), getattr(other.geography, name)
        assert (a is None) == (b is None)
        assert a is None or a.tolist() == b.tolist()
    assert list(one.geography.areas) == list(other.geography.areas)
    for name, area in one.geography.areas.items():
        assert area.codes.tolist() == other.geography.areas[name].codes.tolist()
        assert area.of_block.tolist() == other.geography.areas[name].of_block.tolist()


@pytest.mark.parametrize("preset", ["standard", "pl94-2020", "dhc-2020"])
def test_that_a_spine_comes_back_as_it_was_and_equal_spines_make_equal_files(preset, small, tmp_path):
    provenance = Provenance(ProvenanceKind.SYNTHETIC, "these blocks")
    geography = replace(small.geography(np.random.default_rng(1), blocks=90), provenance=provenance)
    if preset == "dhc-2020":
        geography = replace(geography, governed=np.ones(90, bool), incorporated=np.zeros(90, bool), quarters=None)
    spine = build_spine(geography, spine_preset(preset).settings)
    write_spine(spine, tmp_path / "a.spine")
    write_spine(pickle.loads(pickle.dumps(spine)), tmp_path / "sub" / "b.spine")  # noqa: S301 - our own bytes
    same(read_spine(tmp_path / "a.spine"), spine)
    assert read_spine(tmp_path / "a.spine").geography.provenance == spine.geography.provenance
    assert (tmp_path / "a.spine").read_bytes() == (tmp_path / "sub" / "b.spine").read_bytes()


@pytest.fixture
def stored(small, tmp_path):
    path = tmp_path / "x.spine"
    write_spine(build_spine(small.geography(np.random.default_rng(1)), spine_preset("pl94-2020").settings), path)
    with np.load(path, allow_pickle=False) as file:
        return path, {name: file[name] for name in file.files}


def edited(content, **changes):
    entries = json.loads(content.tobytes().decode()) | changes
    return np.frombuffer(json.dumps(entries).encode(), np.uint8)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda a: {"order": a["order"][:-1]}, "damaged"),
        (lambda a: {"order": np.zeros_like(a["order"])}, "damaged"),
        (lambda a: {"level2": a["level2"][1:]}, "damaged"),
        (lambda a: {"level2": a["level2"] + np.arange(len(a["level2"])) % 2}, "damaged"),
        (lambda a: {"blocks": a["blocks"][::-1]}, "damaged"),
        (lambda a: {"area0": a["area0"] + 100}, "damaged"),
        (lambda _: {"content": np.frombuffer(b"no json", np.uint8)}, "damaged"),
        (lambda a: {"content": edited(a["content"], format="other")}, "another kind"),
        (lambda a: {"content": edited(a["content"], version=99)}, "version 99"),
        (lambda a: {"content": edited(a["content"], settings={"kind": "square"})}, "square"),
        (
            lambda a: {"content": edited(a["content"], provenance={"kind": "invented", "source": ""})},
            "damaged|invented",
        ),
    ],
)
def test_that_a_damaged_file_is_refused(change, match, stored):
    path, arrays = stored
    with path.open("wb") as file:
        np.savez_compressed(file, **(arrays | change(arrays)))
    with pytest.raises(InputProblemsError, match=match):
        read_spine(path)


def test_that_a_file_that_does_not_state_its_provenance_is_read_as_unmarked(stored):
    path, arrays = stored
    content = json.loads(arrays["content"].tobytes())
    assert content.pop("provenance") == UNMARKED.json()
    arrays["content"] = np.frombuffer(json.dumps(content | {"version": 1}).encode(), np.uint8)
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)
    found = read_spine(path).geography.provenance
    assert found.kind is ProvenanceKind.REAL
    assert "version 1" in found.sentence


def test_that_other_files_and_missing_ones_are_refused(tmp_path):
    other = tmp_path / "x.spine"
    other.write_bytes(b"geoid,place\n")
    with pytest.raises(InputProblemsError, match="not a spine file"):
        read_spine(other)
    other.write_bytes(b"")
    with pytest.raises(InputProblemsError, match="cannot be imported as a spine"):
        read_spine(other)
    with pytest.raises(InputProblemsError, match="No such file"):
        read_spine(tmp_path / "none")


def test_that_a_place_that_cannot_be_written_is_said(small, tmp_path):
    spine = build_spine(small.geography(np.random.default_rng(1)), spine_preset("standard").settings)
    (tmp_path / "file").write_text("")
    with pytest.raises(PhexploreError, match="cannot be written"):
        write_spine(spine, tmp_path / "file" / "x.spine")
