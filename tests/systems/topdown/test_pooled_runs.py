"""Runs with the pooled estimator: what they say, what they share with TopDown's runs, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pyarrow.parquet as pq
import pytest
from topdown_runs import SCENARIO, run, spec_of
from topdown_worlds import blocks
from typer.testing import CliRunner

from phexplore.cli.app import program
from phexplore.data.blocks.generator import write_block_file
from phexplore.runs.spec import RunMode, RunSpecError, decode_spec, describe_blocks, encode_spec
from phexplore.runs.store import MANIFEST_FILE, TRUTH_FILE, trial_file
from phexplore.systems.topdown.compare_pictures import are_common
from phexplore.systems.topdown.reprocessing import reprocess_measurements
from phexplore.systems.topdown.run_files import open_leaf_files
from phexplore.systems.topdown.run_options import Estimator, Mechanism, PoolLeaves, TopDownOptions
from phexplore.workload.schema import load_schema

POOLED = TopDownOptions(expand=5, estimator=Estimator.POOLED)


@pytest.fixture(scope="module")
def block_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("blocks") / "blocks.csv.gz"
    write_block_file(blocks(), path)
    return path


@pytest.fixture(scope="module")
def pooled(block_file, tmp_path_factory):
    directory = tmp_path_factory.mktemp("pooled")
    return directory, run(directory, spec_of(block_file, options=POOLED))


def leaves(directory, index=0):
    return counts(directory / trial_file(index))


def counts(path):
    return open_leaf_files(path, load_schema("pl94_persons")).read(path)


def test_that_the_summary_names_the_estimator_and_its_checks_hold(pooled):
    _, summary = pooled
    assert summary["estimator"] == "pooled"
    assert set(summary["checks"].values()) == {True}
    assert summary["failsafe"] == 0


def test_that_answers_kept_by_a_top_down_run_give_the_pooled_estimates_of_a_run_with_its_seed(
    pooled, block_file, tmp_path
):
    kept = spec_of(block_file, options=TopDownOptions(expand=5, keep_measurements=True))
    summary = run(tmp_path / "kept", kept)
    assert summary["estimator"] == "top-down"
    (tmp_path / "kept" / MANIFEST_FILE).write_text("{}")
    again = reprocess_measurements(
        SCENARIO,
        tmp_path / "kept",
        describe_blocks(block_file),
        trials=2,
        options=TopDownOptions(estimator=Estimator.POOLED),
    )
    assert run(tmp_path / "again", again)["estimator"] == "pooled"
    for index in range(2):
        assert leaves(tmp_path / "again", index).differences(leaves(pooled[0], index)) == 0
    assert leaves(pooled[0]).differences(leaves(tmp_path / "kept")) > 0


def test_that_raw_answers_are_kept_by_a_pooled_run(block_file, tmp_path):
    for name, estimator in (("pooled", Estimator.POOLED), ("plain", Estimator.TOP_DOWN)):
        options = TopDownOptions(expand=5, keep_measurements=True, estimator=estimator, pool_leaves=PoolLeaves.YES)
        run(tmp_path / name, spec_of(block_file, trials=1, options=options))
    files = sorted((tmp_path / "plain" / "measurements").rglob("*.parquet"))
    assert len(files) == 6
    for path in files:
        other = tmp_path / "pooled" / path.relative_to(tmp_path / "plain")
        assert pq.read_table(other).equals(pq.read_table(path))


@pytest.mark.parametrize("leaf", PoolLeaves)
def test_that_noise_of_the_system_and_exact_answers_can_be_pooled(block_file, tmp_path, leaf):
    options = replace(POOLED, pool_leaves=leaf)
    summary = run(tmp_path / "system", spec_of(block_file, trials=1, seed=None, options=options))
    assert set(summary["checks"].values()) == {True}
    run(tmp_path / "exact", spec_of(block_file, trials=1, mode=RunMode.NO_NOISE, options=options))
    assert leaves(tmp_path / "exact").differences(counts(tmp_path / "exact" / TRUTH_FILE)) == 0


def test_that_both_estimators_with_one_seed_share_their_noise(block_file):
    one, other = (spec_of(block_file, options=each) for each in (POOLED, TopDownOptions(expand=5)))
    assert are_common(one, other)
    assert one.identity != other.identity


def test_that_a_specification_says_the_estimator_only_where_it_is_not_the_productions(block_file):
    plain, pooled = (encode_spec(spec_of(block_file, options=each)) for each in (TopDownOptions(expand=5), POOLED))
    assert set(pooled["topdown"]) - set(plain["topdown"]) == {"estimator"}
    assert decode_spec(pooled).options == POOLED
    pooled["topdown"]["mechanism"] = "block-by-block"
    with pytest.raises(RunSpecError):
        decode_spec(pooled)


def test_that_pooling_blocks_that_are_estimated_alone_is_refused(block_file, tmp_path):
    with pytest.raises(ValueError, match="block-by-block"):
        TopDownOptions(mechanism=Mechanism.BLOCK_BY_BLOCK, estimator=Estimator.POOLED)
    asked = ["run", "pl94-2020-persons-us", "--data", str(block_file), "--out", str(tmp_path / "run"), "--seed", "1"]
    for flags in (["--estimator", "pooled", "--block-by-block"], ["--estimator", "production"]):
        assert CliRunner().invoke(program(), [*asked, *flags]).exit_code == 2
    assert not (tmp_path / "run").exists()
