"""Published tables of releases whose truth is known."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from phexplore.metrics.numbers import NumberKeys
from phexplore.systems.phsafe.publishing import ReleaseNumbers as Numbers
from phexplore.systems.phsafe.publishing import coverage, publish, publish_exactly, published_files

CELLS = {
    "PH1_num": (2, 3), "PH1_denom": (1,), "PH2": (3, 4, 6, 7, 9, 10, 12, 13), "PH4": (2, 3), "PH5_num": (2, 3),
    "PH5_denom": (1,), "PH7": (2, 3, 4), "PH8_num": (2, 3), "PH8_denom": (2, 3),
}  # fmt: skip


def release(regions, seed, noise=0.0):
    """Return keys, exact counts and counts with noise of a made-up release: everything fits together."""
    random = np.random.default_rng(seed)
    rows, exact = [], []
    for number in range(regions):
        kind, region = ("USA", "1") if number == 0 else ("STATE", f"{number:02d}")
        homes = int(random.integers(3000, 9000))
        young, old = int(homes * 0.6), int(homes * 1.9)
        owners = int(homes * 0.6)
        counts = {
            "PH1_num": (young, old), "PH1_denom": (homes,), "PH2": random.integers(100, 900, 8).tolist(), "PH4": (young, old),
            "PH5_num": (young, old), "PH5_denom": (int(homes * 0.7),), "PH7": (owners, owners, homes),
            "PH8_num": (2 * owners, homes), "PH8_denom": (owners, homes - owners),
        }  # fmt: skip
        for table, cells in CELLS.items():
            for cell, count in zip(cells, counts[table], strict=True):
                rows.append((table, kind, region, "*", cell))
                exact.append(count)
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    truth = np.array(exact, np.int64)
    return NumberKeys(*columns), truth, truth + random.normal(0, noise, len(truth)).round().astype(np.int64)


def test_that_nine_of_ten_published_intervals_hold_the_truth_in_every_table():
    # About 300 numbers per table and more: five standard errors of a coverage of 0.9 are at most 0.09.
    keys, truth, noisy = release(150, 1, noise=30.0)
    variance = np.full(len(truth), 900.0)
    exact = publish_exactly(Numbers(keys, truth, np.zeros(len(truth))))
    found = coverage(publish(keys, noisy, variance, draws=1000), exact)
    assert set(found) == {"PH1", "PH2", "PH4", "PH5", "PH7", "PH8"}
    for table, held in found.items():
        assert 0.81 <= held.share.value <= 0.97, (table, held)


def test_that_without_noise_the_truth_is_published():
    keys, truth, _ = release(4, 2)
    exact = publish_exactly(Numbers(keys, truth, np.zeros(len(truth))))
    for table in publish(keys, truth, np.zeros(len(truth)), draws=200):
        for row, group in enumerate(table.groups):
            for column, cell in enumerate(table.cells):
                assert table.estimate[row, column] == pytest.approx(exact[table.table, group, cell])


def test_that_files_have_the_columns_and_names_of_the_reference():
    keys, _, noisy = release(3, 3, noise=5.0)
    files = published_files(publish(keys, noisy, np.full(len(noisy), 25.0), draws=1000))
    assert "PH2/estimates/PH2_nation_trunc_normal.csv" in files
    assert "PH8/estimates/PH8_state_trunc_normal.csv" in files
    rows = list(csv.DictReader(files["PH2/estimates/PH2_state_trunc_normal.csv"].decode().splitlines(), delimiter="|"))
    assert list(rows[0]) == [
        "GEOID", "REGION_TYPE", "ITERATION_CODE", "DATA_CELL", "COUNT_NOISY", "VARIANCE", "MOE_NOISY", "PRED", "PRED_LO", "PRED_HI",
    ]  # fmt: skip
    assert (rows[0]["GEOID"], rows[0]["ITERATION_CODE"]) == ("01", "*")
    assert [int(row["DATA_CELL"]) for row in rows[:13]] == list(range(1, 14))
    assert float(rows[2]["MOE_NOISY"]) == pytest.approx(1.6448536 * 5)
    ratios = csv.DictReader(files["PH1/estimates/PH1_nation_trunc_normal.csv"].decode().splitlines(), delimiter="|")
    first = next(ratios)
    assert list(first)[-6:] == ["RATIO_NOISY", "RATIO_PRED", "PRED_NUM", "PRED_DENOM", "RATIO_PRED_LO", "RATIO_PRED_HI"]
    assert float(first["RATIO_PRED"]) == pytest.approx(2.5, abs=0.1)


def test_that_puerto_rico_has_its_own_file_name():
    keys, _, noisy = release(2, 4)
    only = NumberKeys(
        keys.table,
        np.full(len(keys), "STATE"),
        np.full(len(keys), "72"),
        np.where(keys.region_id == "1", "A", "B"),
        keys.cell,
    )
    files = published_files(publish(only, noisy, np.full(len(noisy), 4.0), draws=200))
    assert "PH4/estimates/PH4_PR_state_trunc_normal.csv" in files


def test_that_tables_without_their_other_half_are_left_out():
    keys, _, noisy = release(2, 5)
    chosen = ~np.isin(keys.table, ["PH1_denom", "PH7"])
    part = NumberKeys(
        *(getattr(keys, name)[chosen] for name in ("table", "region_type", "region_id", "iteration_code", "cell"))
    )
    found = {table.table for table in publish(part, noisy[chosen], np.full(int(chosen.sum()), 4.0), draws=200)}
    assert found == {"PH2", "PH4", "PH5", "PH8"}
