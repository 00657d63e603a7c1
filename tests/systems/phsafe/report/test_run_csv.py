from __future__ import annotations

import csv
import io

import numpy as np
from report_fixtures import NOW

from phexplore.runs.spec import RunMode
from phexplore.systems.phsafe.results import NumberSelection, RunResults
from phexplore.systems.phsafe.run_csv import COLUMNS, measurement_files, run_csv_files, run_metrics_csv
from phexplore.systems.phsafe.run_snapshot import run_snapshot
from tests.report.run_builder import made_run


def rows_of(content, delimiter=","):
    return list(csv.DictReader(io.StringIO(content.decode(), newline=""), delimiter=delimiter))


def test_that_the_figures_have_a_line_per_level_and_per_cell(run, run_figures):
    rows = rows_of(run_metrics_csv(run_figures))
    assert tuple(rows[0]) == COLUMNS
    assert [row["SCOPE"] for row in rows].count("level") == 58
    assert [row["SCOPE"] for row in rows].count("cell") == sum(len(level.cells) for level in run.level_groups)
    first = rows[0]
    assert (first["TABLE"], first["LEVEL"], first["EXACT_MARGIN"]) == ("PH1_num", "usa_*", "500")
    assert float(first["MARGIN"]) == 500.041255
    derived = next(row for row in rows if row["TABLE"] == "PH8_num" and row["SCOPE"] == "level")
    assert derived["COVERAGE"] == ""
    assert float(derived["NOISE_RMSE"]) > 0


def test_that_the_cell_lines_are_those_of_production_s_accuracy_report(run, run_figures):
    row = next(
        row
        for row in rows_of(run_metrics_csv(run_figures))
        if (row["SCOPE"], row["TABLE"], row["REGION_TYPE"], row["ITERATION_CODE"], row["DATA_CELL"])
        == ("cell", "PH3", "STATE", "B", "9")
    )
    keys, truth = run.keys, run.truth()
    rows = np.flatnonzero(
        (keys.table == "PH3") & (keys.region_type == "STATE") & (keys.iteration_code == "B") & (keys.cell == 9)
    )
    errors = sorted(abs(int(run.released(t)[r] - truth.non_private[r])) for t in run.trials for r in rows)
    place = 0.9 * (len(errors) - 1)
    by_hand = errors[int(place)] + (place - int(place)) * (errors[int(place) + 1] - errors[int(place)])
    assert float(row["EXPERIMENTAL_MOE"]) == round(by_hand, 6)
    # 1.64 × 14 / sqrt(2 × 0.662976), rounded to 0.1 as production does.
    assert row["EXPECTED_MOE"] == "19.900000"


def test_that_measurements_are_in_production_s_layout(run):
    files = dict(measurement_files(run, 3))
    assert list(files) == [
        f"{name}/part-00000.csv"
        for name in [
            "PH1_num",
            "PH1_denom",
            "PH2",
            "PH3",
            "PH4",
            "PH5_num",
            "PH5_denom",
            "PH6",
            "PH7",
            "PH8_num",
            "PH8_denom",
        ]
    ]
    assert files["PH2/part-00000.csv"].splitlines()[0] == (
        b"REGION_ID|REGION_TYPE|PH2_DATA_CELL|COUNT|NOISE_DISTRIBUTION|VARIANCE"
    )
    rows = rows_of(files["PH8_num/part-00000.csv"], "|")
    assert list(rows[0]) == [
        "REGION_ID",
        "REGION_TYPE",
        "ITERATION_CODE",
        "PH8_NUM_DATA_CELL",
        "COUNT",
        "NOISE_DISTRIBUTION",
        "VARIANCE",
    ]
    selection = NumberSelection(table="PH8_num", region_id="44", iteration_code="G", cell=3)
    (picked,) = run.released(3)[run.rows(selection)]
    row = next(
        row for row in rows if (row["REGION_ID"], row["ITERATION_CODE"], row["PH8_NUM_DATA_CELL"]) == ("44", "G", "3")
    )
    assert int(row["COUNT"]) == picked
    assert row["NOISE_DISTRIBUTION"] == "Discrete Gaussian"
    assert sum(len(content.splitlines()) - 1 for content in files.values()) == len(run.keys)


def test_that_counts_without_noise_have_no_noise_columns(tmp_path, us):
    results = RunResults.open(made_run(tmp_path / "r", us, trials=1, mode=RunMode.NO_NOISE))
    files = dict(measurement_files(results, 0))
    assert files["PH4/part-00000.csv"].splitlines()[0] == b"REGION_ID|REGION_TYPE|ITERATION_CODE|PH4_DATA_CELL|COUNT"
    figures = run_snapshot(results, NOW)
    assert list(dict(run_csv_files(results, figures)))[:3] == [
        "metrics.csv",
        "truncation.csv",
        "trial-00000/PH1_num/part-00000.csv",
    ]


def test_that_persons_cut_are_listed_by_size(run, run_figures):
    files = dict(run_csv_files(run, run_figures))
    rows = rows_of(files["truncation.csv"])
    cut = sum(int(row["CUT"]) for row in rows if row["TABLE"] == "PH3")
    assert (
        cut
        == sum(max(0, int(row["SIZE"]) - 6) * int(row["HOUSEHOLDS"]) for row in rows if row["TABLE"] == "PH3")
        == 170
    )
    assert len([name for name in files if name.startswith("trial-")]) == 12 * 11
