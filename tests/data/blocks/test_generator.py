from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phexplore.data.blocks.aggregation import units_of
from phexplore.data.blocks.generator import (
    SHARES_2010,
    block_file,
    synthesize_blocks,
    synthesize_states,
    write_block_file,
)
from phexplore.data.blocks.layouts import PL94_PERSONS
from phexplore.data.blocks.source import read_population
from phexplore.errors import PhexploreError


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 3_000), st.integers(0, 2**40))
def test_that_any_number_of_blocks_has_legal_codes_that_ascend_and_nest(blocks, seed):
    made = synthesize_blocks(blocks, seed)
    assert made.blocks == blocks
    codes = made.geoids.tolist()
    assert codes == sorted(set(codes))
    state, county, tract, _, block = PL94_PERSONS.geography
    for code in codes:
        parts = (code[:2], code[2:5], code[5:11], code[11:])
        assert all(
            column.number(text) is not None for column, text in zip((state, county, tract, block), parts, strict=True)
        )
    sizes = [len(units_of(made, level)) for level in made.layout.names]
    assert sizes == sorted(sizes)
    assert sizes[-1] == blocks


def test_that_a_seed_and_a_number_of_blocks_determine_the_population():
    one, two, other = (synthesize_blocks(500, seed) for seed in (4, 4, 5))
    assert (one.cells.tolist(), one.counts.tolist()) == (two.cells.tolist(), two.counts.tolist())
    assert one.counts.tolist() != other.counts.tolist()


def test_that_sparsity_and_sizes_are_those_of_rhode_island(rhode_island):
    made = synthesize_blocks(25_181, 1)
    real, synthetic = rhode_island.totals(), made.totals()
    assert abs((synthetic == 0).mean() - (real == 0).mean()) < 0.02
    assert abs(np.median(synthetic[synthetic > 0]) / np.median(real[real > 0]) - 1) < 0.15
    filled = [len(p.cells) / (p.totals() > 0).sum() for p in (made, rhode_island)]
    assert abs(filled[0] / filled[1] - 1) < 0.2
    levels = {level: [len(units_of(p, level)) for p in (made, rhode_island)] for level in ("Tract", "Block_Group")}
    for synthetic_units, real_units in levels.values():
        assert abs(synthetic_units / real_units - 1) < 0.15


def test_that_groups_have_roughly_the_shares_of_the_nation():
    made = synthesize_blocks(100_000, 2)
    shares = np.bincount(made.cells % 8, weights=made.counts, minlength=8) / made.total
    # Some twenty counties around the nation's shares with a concentration of 20: 0.09 is the largest deviation of one.
    assert (np.abs(shares - SHARES_2010) < 4 * 0.11 / np.sqrt(20)).all()
    assert abs(made.counts[made.cells >= 8].sum() / made.total - 0.76) < 0.01


def test_that_a_block_file_reads_back(tmp_path, synthetic):
    for name in ("b.csv", "b.csv.gz"):
        write_block_file(synthetic, tmp_path / "new" / name)
        back = read_population(tmp_path / "new" / name)
        assert back.geoids.tolist() == synthetic.geoids.tolist()
        assert (back.dense(0, back.blocks) == synthetic.dense(0, synthetic.blocks)).all()
    assert gzip.decompress((tmp_path / "new" / "b.csv.gz").read_bytes()) == (tmp_path / "new" / "b.csv").read_bytes()


def test_that_only_sixteen_cells_make_a_block_file(synthetic_full):
    with pytest.raises(ValueError, match="pl94_persons"):
        block_file(synthetic_full)


@pytest.mark.parametrize(
    ("blocks", "seed", "state"),
    [(0, 1, "44"), (2_000_000, 1, "44"), (5, -1, "44"), (5, 1, "4"), (5, 1, "99"), (5, 1, "xx")],
)
def test_that_impossible_requests_are_refused(blocks, seed, state):
    with pytest.raises(PhexploreError):
        synthesize_blocks(blocks, seed, state)


def test_that_a_place_that_cannot_be_written_is_an_expected_failure(tmp_path, synthetic):
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(PhexploreError, match="cannot be written"):
        write_block_file(synthetic, tmp_path / "file" / "b.csv")


def test_that_several_states_have_equal_parts_and_codes_of_towns_and_tribal_areas(tmp_path):
    made = synthesize_states(1_000, 4, ["40", "04", "35"], tribal=0.2)
    assert made.states == ("04", "35", "40")
    assert sorted(np.unique(made.geoids.astype("U2"), return_counts=True)[1].tolist()) == [333, 333, 334]
    tribal = made.places["aiannh"] != ""
    groups = np.unique(made.geoids[tribal].astype("U12"))
    assert set(made.geoids[np.isin(made.geoids.astype("U12"), groups)]) == set(made.geoids[tribal])
    assert (made.places["aiannh"][tribal].astype(int) < 4800).all()
    state = made.geoids.astype("U2")
    for code in np.unique(np.char.add(state, made.places["place"])[made.places["place"] != ""]):
        inside = np.char.add(state, made.places["place"]) == code
        assert len(np.unique(np.char.add(state, made.places["cousub"])[inside])) == 1
        assert np.diff(np.flatnonzero(inside)).max(initial=1) == 1
    write_block_file(made, tmp_path / "b.csv")
    back = read_population(tmp_path / "b.csv")
    assert back.places["aiannh"].tolist() == made.places["aiannh"].tolist()
    assert (back.dense(0, 1_000) == made.dense(0, 1_000)).all()


@pytest.mark.parametrize(
    ("blocks", "states", "tribal"), [(1, ["44", "45"], 0), (9, ["44", "44"], 0), (9, [], 0), (9, ["44"], 2)]
)
def test_that_impossible_states_are_refused(blocks, states, tribal):
    with pytest.raises(PhexploreError):
        synthesize_states(blocks, 1, states, tribal=tribal)
