"""Kept answers by place: the units of the spine over every block, and the noise each of them got."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest
from silent_watch import SilentWatch
from topdown_worlds import PERSONS, blocks, full

from phexplore.data.blocks.generator import write_block_file
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery
from phexplore.runs.spec import RunSpec, describe_blocks
from phexplore.runs.store import RunUnreadableError, prepare_directory, trial_file
from phexplore.systems.run_results import RunRequest
from phexplore.systems.topdown.measured_units import UNITS_FILE, MeasuredUnits
from phexplore.systems.topdown.open_run import Areas, TopDownRun
from phexplore.systems.topdown.run_options import TopDownOptions
from phexplore.systems.topdown.run_reader import TopDownRunReader
from phexplore.systems.topdown.simulation import make_simulation
from phexplore.systems.topdown.wording import level_title
from phexplore.workload.queries import parse_query


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """One trial of 150 blocks in the full schema on an optimised spine, its answers kept."""
    folder = tmp_path_factory.mktemp("kept")
    write_block_file(blocks(), folder / "blocks.csv.gz")
    options = TopDownOptions(expand=5, keep_measurements=True)
    spec = RunSpec(Scenario("persons", PERSONS), describe_blocks(folder / "blocks.csv.gz"), 1, 1, options=options)
    prepare_directory(folder / "run", spec)
    simulation = make_simulation(spec, folder / "run")
    simulation.prepare(SilentWatch())
    simulation.write_trial(0, folder / "run" / trial_file(0))
    return folder / "run"


def test_that_the_units_over_a_block_hold_it_and_grow(kept):
    units = MeasuredUnits(kept)
    for geoid in units.geoids[::17]:
        path = units.path(np.array([geoid]))
        assert [unit.level for unit in path] == ["State", "County", "Tract", "Block_Group", "Block"]
        sizes = [len(unit.leaves) for unit in path]
        assert sizes == sorted(sizes, reverse=True)
        assert (sizes[0], sizes[-1]) == (150, 1)
        assert all(geoid in units.geoids[unit.leaves] for unit in path)


def test_that_answers_are_exact_counts_of_the_unit_plus_noise_of_its_variance(kept):
    units, population = MeasuredUnits(kept), full()
    detailed, total = parse_query(population.schema, "detailed"), parse_query(population.schema, "total")
    dense = population.dense(0, 150)
    place = {geoid: number for number, geoid in enumerate(population.geoids.tolist())}
    standardised = []
    for geoid in units.geoids:
        for unit in units.path(np.array([geoid]))[-2:]:
            rows = [place[each] for each in units.geoids[unit.leaves].tolist()]
            answers = units.answers(0, unit)
            if not unit.variances:
                assert answers == {}
                continue
            truth = dense[rows].sum(axis=0)
            assert answers["total"].shape == (1,)
            sigma = unit.variances["detailed"] ** 0.5
            standardised.append((answers["detailed"] - truth[np.argsort(detailed.cell_map())]) / sigma)
            assert abs(int(answers["total"][0]) - truth.sum()) < 7 * unit.variances["total"] ** 0.5
            assert total.answers == 1
    errors = np.concatenate(standardised)
    # More than 400,000 errors: the mean square is 1 up to 0.3 %, four standard errors of it.
    assert abs((errors**2).mean() - 1) < 0.01
    own = float(1 / PERSONS.budget(LevelQuery("Block", "detailed")))
    found = {unit.variances["detailed"] for g in units.geoids if (unit := units.path(np.array([g]))[-1]).variances}
    assert any(abs(variance / own - 1) < 1e-3 for variance in found)


def test_that_a_town_has_the_measurements_of_the_units_that_hold_all_of_it(kept, monkeypatch):
    geoids = full().geoids
    across = np.array([each[:11] for each in geoids.tolist()])  # a town in two tracts
    town = np.isin(across, np.unique(across)[:2])
    monkeypatch.setattr(TopDownRun, "areas", {"place": Areas(np.array(["59000"]), np.where(town, 0, -1))})
    figure = TopDownRunReader().answer(RunRequest(kept, "path", {"unit": "59000"})).picture
    over = {(level_title(unit.level), unit.code) for unit in MeasuredUnits(kept).path(geoids[town]) if unit.variances}
    assert {row[:2] for row in figure.table.rows} == over != set()
    assert "not a unit of the spine itself" in figure.summary


@pytest.mark.defect("D8")
def test_that_a_unit_whose_budget_went_to_another_has_no_answer(kept):
    units = MeasuredUnits(kept)
    unmeasured = [path for g in units.geoids for path in units.path(np.array([g])) if not path.variances]
    assert unmeasured  # an only child copies its parent
    table = pq.read_table(kept / "measurements" / "trial-00000" / f"{unmeasured[0].level}.parquet")
    row = table.column("geocode").to_pylist().index(unmeasured[0].code)
    assert table.column("detailed")[row].as_py() is None  # and not zeros, which would be answers
    blocks = pq.read_table(kept / "measurements" / "trial-00000" / "Block.parquet")
    assert blocks.column("detailed").null_count < len(blocks)


def test_that_several_blocks_have_only_the_units_that_hold_all_of_them(kept):
    units = MeasuredUnits(kept)
    path = units.path(units.geoids[[0, -1]])
    assert path[0].level == "State"
    assert "Block" not in {unit.level for unit in path}
    assert len(units.path(units.geoids)[0].leaves) == 150


def test_that_a_run_that_kept_nothing_or_other_blocks_is_refused(kept, tmp_path):
    with pytest.raises(RunUnreadableError, match=UNITS_FILE):
        MeasuredUnits(tmp_path)
    with pytest.raises(RunUnreadableError, match="other blocks"):
        MeasuredUnits(kept).path(np.array(["999"]))
