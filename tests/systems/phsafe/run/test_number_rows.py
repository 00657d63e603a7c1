from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from phexplore.metrics.numbers import cell_groups, level_groups
from phexplore.model.keys import parse_query
from phexplore.simulate.tabulation import Tabulation
from phexplore.systems.phsafe.number_rows import keys_of, truth_of, values_of

Pair = tuple[Tabulation, Tabulation]


def test_that_every_count_stands_under_its_own_keys(tabulated: Pair) -> None:
    measured, _ = tabulated
    keys, values = keys_of(measured), values_of(measured, measured.counts)
    seen = 0
    for query, counts in measured.counts.items():
        for r, region in enumerate(measured.regions(query.level.region)):
            for c, code in enumerate(query.level.iteration.codes):
                for b, cell in enumerate(measured.cells(query.table)):
                    assert (
                        keys.table[seen],
                        keys.region_type[seen],
                        keys.region_id[seen],
                        keys.iteration_code[seen],
                        keys.cell[seen],
                    ) == (
                        query.table,
                        {"usa": "USA", "state": "STATE"}[query.level.region.value],
                        region,
                        code,
                        cell.code,
                    )
                    assert values[seen] == counts[r, c, b]
                    seen += 1
    assert seen == len(keys) == len(values)


def test_that_the_numbers_of_a_full_run_are_as_many_as_production_writes(tabulated: Pair) -> None:
    """phsafe.md §4: 12 688 rows for 51 states and the nation; here 2 states and the nation."""
    assert len(keys_of(tabulated[0])) == 12_688 * 3 // 52


def test_that_no_number_appears_twice(tabulated: Pair) -> None:
    keys = keys_of(tabulated[0])
    columns = (keys.table, keys.region_type, keys.region_id, keys.iteration_code, keys.cell)
    assert len(set(zip(*(column.tolist() for column in columns), strict=True))) == len(keys)


def test_that_the_three_truths_are_kept_apart(tabulated: Pair) -> None:
    measured, exact = tabulated
    keys, truth = keys_of(measured), truth_of(measured, exact)
    assert (truth.untruncated >= truth.truncated).all()
    difference = truth.non_private - truth.untruncated
    assert set(difference[keys.table == "PH8_num"].tolist()) == {7}
    assert not difference[keys.table != "PH8_num"].any()
    assert (truth.truncated == values_of(measured, measured.counts)).all()


def test_that_a_missing_query_or_another_shape_is_refused(tabulated: Pair) -> None:
    measured, _ = tabulated
    query = parse_query("PH1_num/state_*")
    with pytest.raises(KeyError):
        values_of(measured, {})
    with pytest.raises(ValueError, match="PH1_num"):
        values_of(measured, {**measured.counts, query: np.zeros((1, 1, 2), np.int64)})


def test_that_a_run_without_regions_has_no_numbers(tabulated: Pair) -> None:
    empty = {query: counts[:0] for query, counts in tabulated[0].counts.items()}
    nothing = replace(tabulated[0], states=(), counts=empty)
    assert len(keys_of(nothing)) == len(values_of(nothing, nothing.counts)) == 0


def test_that_groups_share_out_the_numbers(tabulated: Pair) -> None:
    keys = keys_of(tabulated[0])
    groups = cell_groups(keys)
    assert sorted(np.concatenate([group.rows for group in groups]).tolist()) == list(range(len(keys)))
    for group in groups:
        assert set(keys.table[group.rows]) == {group.table}
        assert set(keys.region_type[group.rows]) == {group.region_type}
        assert set(keys.iteration_code[group.rows]) == {group.iteration_code}
        assert set(keys.cell[group.rows].tolist()) == {group.cell}
    levels = level_groups(groups)
    assert len({level.query for level in levels}) == len(levels) == 46 + 12
    assert sorted(np.concatenate([level.rows for level in levels]).tolist()) == list(range(len(keys)))
