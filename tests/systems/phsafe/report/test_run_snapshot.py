from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from report_fixtures import NOW, edited, unlimited

from phexplore.catalog.tables import table
from phexplore.model.keys import parse_query
from phexplore.runs.spec import RunMode
from phexplore.runs.states import RunState
from phexplore.runs.store import RunUnreadableError
from phexplore.systems.phsafe.results import NumberSelection, RunResults
from phexplore.systems.phsafe.run_snapshot import run_snapshot, worst_numbers
from tests.report.run_builder import made_run


def test_that_the_figures_of_each_query_are_those_of_a_loop_over_its_errors(run, run_figures):
    assert len(run_figures.queries) == 46
    for query in run_figures.queries[::7]:
        selection = NumberSelection(table=query.query.table, level=query.query.level)
        noise = [int(error) for line in run.errors(selection).noise for error in line]
        held = sum(abs(error) <= query.margin for error in noise)
        assert (query.coverage.held, query.coverage.errors) == (held, len(noise))
        assert sum(query.held) == held
        sizes = sorted(map(abs, noise))
        assert sizes[math.floor(0.9 * (len(sizes) - 1))] <= query.observed.value
        assert query.observed.value <= sizes[math.ceil(0.9 * (len(sizes) - 1))]


def test_that_the_exact_margin_and_coverage_are_those_of_table_10(run_figures):
    by_name = {query.query.text: query for query in run_figures.queries}
    assert by_name["PH3/state_A-G"].exact_margin == 20
    assert by_name["PH1_denom/usa_*"].exact_margin == 496
    # 67.99989 people hold 67, one person less than the exact margin (users/features.md, §3d).
    assert by_name["PH1_num/state_A-G"].expected_coverage == pytest.approx(0.8975, abs=5e-4)


def test_that_noise_bias_and_total_stay_apart(run, run_figures):
    for level in run_figures.levels[::9]:
        errors = run.errors(NumberSelection(table=level.query.table, level=level.query.level))
        truth = run.truth()
        bias = truth.truncated[errors.rows] - truth.untruncated[errors.rows]
        assert level.bias_mean == pytest.approx(float(bias.mean()))
        assert level.noise_rmse == pytest.approx(float(np.sqrt((errors.noise.astype(float) ** 2).mean())))
        assert level.total_me == pytest.approx(level.noise_mean + level.bias_mean)
        if not table(level.query.table).truncated:
            assert level.bias_rmse == 0


def test_that_overall_coverage_counts_measured_numbers_once(run, run_figures):
    measured = sum(table(name).measured for name in run.keys.table.tolist())
    assert run_figures.overall.coverage.errors == measured * 12
    assert run_figures.overall.coverage.held == sum(query.coverage.held for query in run_figures.queries)
    # Noise drawn as the parameters say: 5 sigma, a false alarm in 1.7 million seeds.
    assert abs(run_figures.overall.coverage.share.value - run_figures.overall.expected) < 5 * run_figures.overall.doubt


def test_that_the_worst_numbers_come_first_with_their_names(run_figures):
    means = [worst.mean_error for worst in run_figures.worst]
    assert means == sorted(means, reverse=True)
    assert len(means) == 20
    assert {worst.region for worst in run_figures.worst} <= {"Nation", "Alabama", "Rhode Island", "Wyoming"}
    assert all(worst.cell_line for worst in run_figures.worst)


def test_that_a_number_of_two_tables_is_listed_once(run, monkeypatch):
    """Table PH5_num publishes the noisy counts of PH4 under another name; PH8_num adds some up, which are numbers of their own."""
    keys, found = run.keys, run.errors()
    rows = dict(
        zip(zip(keys.table, keys.region_id, keys.iteration_code, keys.cell, strict=True), range(len(keys)), strict=True)
    )
    total = found.total.copy()
    for (name, *others), row in rows.items():
        if name == "PH5_num":
            total[:, row] = total[:, rows["PH4", *others]]
    monkeypatch.setattr(RunResults, "errors", lambda _self: replace(found, total=total))
    listed = {each.key for each in worst_numbers(run, 10**6)}
    assert not [key for key in listed if key[0] == "PH5_num"]
    assert "2" in {key[-1] for key in listed if key[0] == "PH8_num"}


def test_that_the_most_biased_numbers_are_measured_ones_and_come_first(run, run_figures):
    truth = run.truth()
    bias = {
        (
            str(run.keys.table[row]),
            str(run.keys.region_id[row]),
            str(run.keys.iteration_code[row]),
            int(run.keys.cell[row]),
        ): int(truth.truncated[row] - truth.untruncated[row])
        for row in range(len(run.keys))
        if table(str(run.keys.table[row])).measured
    }
    assert [abs(number.bias) for number in run_figures.most_biased] == sorted(map(abs, bias.values()), reverse=True)[
        :20
    ]


def test_that_wrong_noise_is_noticed(tmp_path, us):
    figures = run_snapshot(RunResults.open(made_run(tmp_path / "r", us, trials=6, scale=1.5)), NOW)
    assert sum(not query.is_expected for query in figures.queries) > 20
    assert figures.overall.expected - figures.overall.coverage.share.value > 10 * figures.overall.doubt


@pytest.mark.parametrize("mode", [RunMode.NO_NOISE, RunMode.NON_PRIVATE])
def test_that_a_run_without_noise_has_no_noise_to_judge(tmp_path, us, mode):
    figures = run_snapshot(RunResults.open(made_run(tmp_path / "r", us, trials=1, mode=mode)), NOW)
    assert not figures.is_noisy
    assert figures.overall is None
    assert {level.noise_rmse for level in figures.levels} == {0.0}
    assert figures.truncation


def test_that_levels_without_noise_or_budget_are_left_out(tmp_path, us):
    figures = run_snapshot(RunResults.open(made_run(tmp_path / "a", unlimited(us), trials=2)), NOW)
    assert parse_query("PH4/usa_*") not in [query.query for query in figures.queries]
    assert len(figures.queries) == 45
    figures = run_snapshot(RunResults.open(made_run(tmp_path / "b", edited(us), trials=2)), NOW)
    assert parse_query("PH2/usa_*") not in [level.query for level in figures.levels]


def test_that_an_unfinished_run_is_read_as_far_as_it_is_there(tmp_path, us):
    directory = made_run(tmp_path / "r", us, trials=0, complete=False)
    figures = run_snapshot(RunResults.open(directory), NOW)
    assert (figures.trials, figures.state, figures.summary) == (0, RunState.QUEUED, None)
    assert (figures.queries, figures.worst, figures.cells) == ((), (), ())
    assert all(math.isnan(level.total_mae) and not math.isnan(level.bias_rmse) for level in figures.levels)
    (directory / "truth.parquet").unlink()
    with pytest.raises(RunUnreadableError):
        run_snapshot(RunResults.open(directory), NOW)
