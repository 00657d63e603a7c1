from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from phexplore.catalog.states import us_states
from phexplore.data.synthetic.places import county_ends, place_units
from phexplore.data.synthetic.tables import (
    AGE_BAND_STARTS,
    AGE_BAND_WIDTHS,
    LARGEST_SIZE,
    county_households,
    puerto_rico_figures,
    state_figures,
    templates,
)

ROOT = Path(__file__).parents[3]

# Published totals of the 2010 Census: population (Congressional apportionment, resident) of some states, households
# and persons in group quarters of the nation. USDA's group quarters miss 3,137 persons in dropped tracts.
RESIDENTS_2010 = {"01": 4_779_736, "06": 37_253_956, "11": 601_723, "44": 1_052_567, "48": 25_145_561, "56": 563_626}


def test_that_the_state_figures_are_the_published_ones():
    figures = state_figures()
    assert tuple(figures) == us_states()
    assert {fips: figures[fips].persons for fips in RESIDENTS_2010} == RESIDENTS_2010
    assert sum(state.persons for state in figures.values()) == 308_745_538
    assert sum(state.households for state in figures.values()) == 116_716_292
    assert sum(state.group_quarters_persons for state in figures.values()) == 7_987_323 - 3_137
    assert sum(int(state.cells[1].sum()) for state in figures.values()) == 234_564_071
    assert sum(int(state.cells[:, 7].sum()) for state in figures.values()) == 50_477_594


@pytest.mark.parametrize("fips", us_states())
def test_that_the_figures_of_a_state_add_up(fips):
    figures = state_figures()[fips]
    assert figures.cells.sum() == figures.persons
    assert sum(figures.sizes) == figures.households
    assert sum(county_households()[fips].values()) == figures.households
    left = figures.persons - figures.group_quarters_persons - np.arange(1, 7) @ figures.sizes[:6]
    assert 7 < left / figures.sizes[6] < 9


def test_that_puerto_rico_has_its_total_and_the_rates_of_the_nation():
    island, nation = puerto_rico_figures(), state_figures().values()
    assert island.persons == island.cells.sum() == 3_725_789
    scale = island.persons / 308_745_538
    assert np.abs(island.cells - sum(state.cells for state in nation) * scale).max() < 1
    assert island.households == pytest.approx(116_716_292 * scale, abs=4)


def test_that_templates_are_whole_households():
    sample = templates()
    assert set(sample.size.tolist()) == set(range(1, LARGEST_SIZE + 1))
    assert (np.diff(sample.size) >= 0).all()
    heads = np.add.reduceat(sample.relship == 20, sample.first)
    couples = np.add.reduceat(np.isin(sample.relship, (21, 22, 23, 24)), sample.first)
    assert (heads == 1).all()
    assert (sample.relship[sample.first] == 20).all()
    assert couples.max() == 1
    assert (sample.relship < 37).all()
    assert (sample.weight > 0).all()


def test_that_age_bands_cover_all_ages_and_cut_at_those_of_the_tables():
    assert (AGE_BAND_STARTS + AGE_BAND_WIDTHS).tolist() == [*AGE_BAND_STARTS[1:].tolist(), 96]
    assert {0, 4, 6, 12, 18} <= set(AGE_BAND_STARTS.tolist())


@pytest.mark.parametrize("units", [1, 40, 5000])
def test_that_units_lie_in_counties_by_their_households(units):
    figures = state_figures()["44"]
    counties = county_ends(figures, units)
    geo = place_units(figures, counties, 0, np.full(units, 2, np.uint8))
    counts = {f"{code:03d}": int((geo["TABBLKCOU"] == code).sum()) for code in counties[0]}
    for code, households in county_households()["44"].items():
        assert abs(counts[code] - households / figures.households * units) < 1


def test_that_a_block_is_at_one_place_and_has_40_units_at_most():
    figures = state_figures()["11"]
    geo = place_units(figures, county_ends(figures, 9000), 0, np.full(9000, 2, np.uint8))
    places = np.stack([geo["TABBLKCOU"], geo["TABTRACTCE"], geo["TABBLKGRPCE"], geo["TABBLK"]], axis=1)
    _, counts = np.unique(places, axis=0, return_counts=True)
    assert counts.max() == 40
    assert (geo["TABBLK"] // 1000 == geo["TABBLKGRPCE"]).all()


def test_that_units_placed_in_parts_are_placed_as_a_whole():
    figures = state_figures()["09"]
    counties = county_ends(figures, 1000)
    whole = place_units(figures, counties, 0, np.full(1000, 2, np.uint8))
    parts = [place_units(figures, counties, first, np.full(250, 2, np.uint8)) for first in (0, 250, 500, 750)]
    for name, values in whole.items():
        assert np.array_equal(values, np.concatenate([part[name] for part in parts]))


@pytest.mark.real_data
def test_that_the_shipped_tables_follow_from_the_census_files(real_data, tmp_path):
    script = ROOT / "packaging" / "derive_synthetic_tables.py"
    subprocess.run([sys.executable, script, real_data, tmp_path], check=True)
    derived = sorted(path.name for path in tmp_path.iterdir())
    assert len(derived) == 7
    for name in derived:
        shipped = ROOT / "resources" / "synthetic" / name
        assert (tmp_path / name).read_bytes() == shipped.read_bytes(), name
