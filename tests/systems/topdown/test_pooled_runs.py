"""Runs with the pooled estimator: what they say, what they share with TopDown's runs, and what is refused."""

from __future__ import annotations

import gzip
from dataclasses import replace

import numpy as np
import psutil
import pyarrow.parquet as pq
import pytest
from topdown_runs import SCENARIO, ask, records, run, spec_of
from topdown_worlds import blocks
from typer.testing import CliRunner

from phexplore.cli.app import program
from phexplore.data.blocks.generator import write_block_file
from phexplore.data.blocks.source import read_population
from phexplore.runs.events import Finished, Outcome, TrialDone
from phexplore.runs.launch import run_worker
from phexplore.runs.spec import RunMode, RunSpecError, decode_spec, describe_blocks, encode_spec
from phexplore.runs.store import MANIFEST_FILE, TRUTH_FILE, prepare_directory, trial_file
from phexplore.systems.topdown.compare_pictures import NO_AREAS, are_common
from phexplore.systems.topdown.reprocessing import reprocess_measurements
from phexplore.systems.topdown.run_choice import CompareBy
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


def test_that_a_run_whose_worker_is_killed_goes_on_to_the_same_bytes(block_file, tmp_path):
    """With real worker processes: one killed after its first trial, another that finishes what it left."""
    whole, cut = (
        prepare_directory(tmp_path / name, spec_of(block_file, trials=4, options=POOLED)) for name in ("whole", "cut")
    )
    assert run_worker(whole, lambda _event: None).outcome is Outcome.COMPLETE

    def kill_after_the_first(event):
        if isinstance(event, TrialDone):
            for child in psutil.Process().children(recursive=True):
                child.kill()

    assert run_worker(cut, kill_after_the_first) == Finished(Outcome.INTERRUPTED)
    present = [(cut / trial_file(index)).exists() for index in range(4)]
    assert any(present)
    assert not all(present)
    assert run_worker(cut, lambda _event: None).outcome is Outcome.COMPLETE
    for index in range(4):
        assert (cut / trial_file(index)).read_bytes() == (whole / trial_file(index)).read_bytes()


def test_that_runs_are_compared_by_town(block_file, tmp_path):
    """Against sums of the trials' own counts over the towns of the block file."""
    places = [f"44001{number // 20 % 6:05d}" for number in range(blocks().blocks)]
    lines = gzip.decompress(block_file.read_bytes()).decode().splitlines()
    named = tmp_path / "blocks.csv"
    named.write_text("\n".join(f"{line},{town}" for line, town in zip(lines, ("cousub", *places), strict=True)))
    towns = read_population(named).places["cousub"]
    assert len(np.unique(towns)) > 2
    directories = []
    for name, options in (("plain", TopDownOptions(expand=5)), ("pooled", POOLED)):
        run(tmp_path / name, spec_of(named, options=options))
        directories.append(tmp_path / name)
    plain, pooled = directories
    figure = ask(
        plain, "compare", None, [pooled], others=(str(pooled),), compare=CompareBy.AREA.name, query="total"
    ).picture
    rows = {(row["Towns, places and districts"], row["Run"].split(",")[0]): row for row in records(figure)}
    errors = {}
    names = tuple(row.name.split(",")[0] for row in figure.marks[:2])
    base, own = names
    assert base == "Pooled"  # no run has the parameters of a preset: the run chosen at "Compare with…" is the base
    for name, directory in zip(names[::-1], directories, strict=True):
        truth, found = (
            counts(directory / TRUTH_FILE).totals(),
            [leaves(directory, index).totals() for index in range(2)],
        )
        sizes = np.array([[abs((each - truth)[towns == town].sum()) for town in np.unique(towns)] for each in found])
        assert rows["Towns", name]["Mean absolute error, people"] == pytest.approx(sizes.mean())
        errors[name] = sizes.sum(axis=0)
    assert rows["Towns", own]["Units nearer than in baseline"] == pytest.approx((errors[own] < errors[base]).mean())
    assert rows["Towns", own]["Units farther than in baseline"] == pytest.approx((errors[own] > errors[base]).mean())
    named.unlink()
    gone = ask(plain, "compare", None, [pooled], others=(str(pooled),), compare=CompareBy.AREA.name, query="total")
    assert gone.picture.summary == NO_AREAS


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
