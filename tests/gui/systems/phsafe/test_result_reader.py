from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from origins import SYNTHETIC

from phexplore.errors import PhexploreError
from phexplore.figures.marks import Path
from phexplore.figures.wording import people
from phexplore.metrics.accuracy_report import Truth
from phexplore.metrics.numbers import NumberKeys
from phexplore.model.keys import parse_query
from phexplore.runs.events import Finished, Outcome
from phexplore.runs.spec import RunMode
from phexplore.runs.store import TRUTH_FILE, record_final
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.phsafe.number_files import NumberFiles
from phexplore.systems.phsafe.run_reader import NO_NUMBERS, OpenRun, PhSafeRunReader
from phexplore.systems.run_results import COUNTING, ENDED, RunRequest

PH3 = parse_query("PH3/state_A-G")


KINDS = {
    "curve": ("errors", "Cumulated share (ECDF)"),
    "boxes": ("errors", "Boxes by cell"),
    "cells": ("truncation", "Bias and noise, by cell"),
    "all sizes": ("truncation", "People left out, all tables"),
    "levels": ("truncation", "Bias and noise, all tables and levels"),
    "all": ("errors", "All tables and levels"),
    "share": ("observed", "Share within the margin"),
}
"""The kinds of pictures that are not the first of their tab."""


@pytest.fixture
def ask():
    reader = PhSafeRunReader()

    def read(run, tab="errors", *, other=None, query=None, **choice):
        tab, kind = KINDS.get(tab, (tab, ""))
        choices = {name: str(value) for name, value in choice.items()} | {f"kind of {tab}": kind}
        if query is not None:
            choices |= {"table": query.table, "level": query.level.text}
        if other is not None:
            choices["other"] = str(other.directory)
        others = () if other is None else (other.directory,)
        return reader.answer(RunRequest(run.directory, tab, choices, others))

    return read


def rows_of(run, table, region_type=None, **wanted):
    chosen = run.keys.table == table
    if region_type:
        chosen &= run.keys.region_type == region_type
    for column, value in wanted.items():
        chosen &= np.isin(getattr(run.keys, column), value)
    return np.flatnonzero(chosen)


def test_that_the_figures_of_the_run_are_those_of_its_files(ask, write_run):
    run = write_run(trials=4)
    headline = OpenRun(run.directory).headline()
    measured = np.flatnonzero(run.keys.table != "PH8_num")
    margins = {q.query: q.margins.normal for q in forecast(run.spec.scenario).queries}
    held = 0
    for row in measured:
        query = next(q for q in margins if q.table == run.keys.table[row] and _holds(q, run.keys, row))
        held += sum(int(abs(noise[row]) <= margins[query]) for noise in run.noise)
    assert headline.coverage.held == held
    assert headline.coverage.errors == 4 * len(measured)
    bias = (run.truth.truncated - run.truth.untruncated)[measured]
    assert headline.bias == pytest.approx(bias.mean())
    assert headline.biased == (int((bias != 0).sum()), len(measured))
    shares = [np.mean([abs(n[r]) <= _margin(margins, run.keys, r) for r in measured]) for n in run.noise]
    assert headline.coverage_error == pytest.approx(np.std(shares, ddof=1) / 2)
    queries = forecast(run.spec.scenario).queries
    exactly = {q.query: _share_within(float(q.noise.sigma2), q.margins.normal) for q in queries if q.noise}
    assert headline.expected == pytest.approx(np.mean([_margin(exactly, run.keys, r) for r in measured]), rel=1e-9)
    assert headline.trials == 4


def _share_within(sigma2, margin):
    """The discrete Gaussian, added up."""
    values = np.arange(-10 * math.ceil(sigma2**0.5), 10 * math.ceil(sigma2**0.5) + 1)
    weights = np.exp(-(values**2) / (2 * sigma2))
    return weights[np.abs(values) <= margin].sum() / weights.sum()


def _holds(query, keys, row):
    region = "USA" if query.level.region.value == "usa" else "STATE"
    return keys.region_type[row] == region and keys.iteration_code[row] in query.level.iteration.codes


def _margin(margins, keys, row):
    return next(m for q, m in margins.items() if q.table == keys.table[row] and _holds(q, keys, row))


def test_that_errors_are_pooled_over_regions_codes_and_trials(ask, write_run):
    run = write_run(trials=3)
    rows = rows_of(run, "PH3", "STATE", iteration_code=list("ABCDEFG"))
    pooled = np.concatenate([noise[rows] for noise in run.noise])
    sample, *cells = OpenRun(run.directory).samples(PH3, None)
    assert sorted(sample.errors) == sorted(pooled)
    assert sum(len(each.errors) for each in cells) == len(pooled)
    boxes = ask(run, "boxes", query=PH3).picture.table
    assert boxes.column("Cells")[0] == "Householder, spouse, unmarried partner, or nonrelative"
    assert sum(boxes.column("Errors")) == len(pooled)
    shares = ask(run, query=PH3).picture.table.column("Observed, %")
    assert sum(shares) == pytest.approx(100)


def test_that_errors_are_drawn_with_those_of_the_run_compared_with(ask, write_run, tmp_path):
    run, other = write_run(trials=3), write_run(trials=2, root=tmp_path / "others")
    theirs, *cells = OpenRun(other.directory).samples(PH3, None)
    picture = ask(run, query=PH3, other=other).picture
    (line,) = [part for part in picture.over if isinstance(part, Path) and part.ink == 1]
    table = picture.table
    lows = table.column("Error from, people")
    assert [round(share * len(theirs.errors)) for share in line.ys[:-1]] == [
        np.count_nonzero((theirs.errors >= low) & (theirs.errors <= high))
        for low, high in zip(lows, table.column("Error to, people"), strict=True)
    ]
    assert table.column("Other run, %") == pytest.approx([100 * share for share in line.ys[:-1]])
    assert f"of {len(theirs.errors):,} errors within ±{people(theirs.margin)}" in picture.summary
    assert [entry.text for entry in picture.key][-1] == "other run"
    curve = ask(run, "curve", query=PH3, other=other).picture.table
    assert curve.column("Other run, %")[-1] == pytest.approx(100)
    boxes = ask(run, "boxes", query=PH3, other=other).picture.table
    assert boxes.column("Other run: Median") == tuple(each.quantiles[3] for each in cells)
    assert "Other run, %" not in ask(run, query=PH3).picture.table.headers


def test_that_a_run_at_another_confidence_is_compared_at_that_of_the_run(ask, write_run, tmp_path, us):
    at_95 = replace(us, conventions=replace(us.conventions, confidence=Fraction(19, 20)))
    run, alike = write_run(trials=3), write_run(trials=2, root=tmp_path / "alike")
    other = write_run(trials=2, root=tmp_path / "other", scenario=at_95)
    for tab in ("errors", "boxes", "all", "observed", "cells", "worst"):
        found, wanted = (ask(run, tab, query=PH3, other=each) for each in (other, alike))
        assert found.picture.table.rows == wanted.picture.table.rows
        assert [tile.change for tile in found.tiles] == [tile.change for tile in wanted.tiles]
    own = ask(other, query=PH3).picture
    assert "95 % margin" in str(own.over)


def test_that_one_cell_is_compared_with_all_of_its_table(ask, write_run):
    run = write_run()
    sample, *cells = OpenRun(run.directory).samples(PH3, 9)
    rows = rows_of(run, "PH3", "STATE", iteration_code=list("ABCDEFG"), cell=9)
    assert len(sample.errors) == 2 * len(rows)
    assert sample.label == "Other relatives: Grandchild"
    assert len(cells) == len(ask(run, "boxes", query=PH3, cell=9).picture.marks) == 7


def test_that_derived_cells_of_different_noise_are_never_pooled(write_run):
    run = OpenRun(write_run().directory)
    query = parse_query("PH8_num/state_*")
    owners, renters = run.samples(query, None)[0], run.samples(query, 3)[0]
    assert owners.label == "Owner occupied"
    assert owners.margin == pytest.approx(renters.margin * math.sqrt(2))
    assert owners.noise is not None
    exact = forecast(run.spec.scenario).query(parse_query("PH7/state_*")).noise
    assert renters.expected_coverage == exact.coverage(math.floor(renters.margin))


def test_that_observed_margins_stand_beside_the_forecast_and_the_other_run(ask, write_run, tmp_path):
    run, other = write_run(trials=3), write_run(trials=2, root=tmp_path / "others")
    table = ask(run, "observed", other=other).picture.table
    assert set(table.column("Table")) == {"PH1_num", "PH1_denom", "PH3", "PH7"}
    (found,) = [row for row in table.rows if (row[0], row[1]) == ("PH3", PH3.level.title)]
    rows = rows_of(run, "PH3", "STATE", iteration_code=list("ABCDEFG"))
    sizes = np.abs(np.concatenate([noise[rows] for noise in run.noise]))
    assert found[4] == pytest.approx(np.quantile(sizes, 0.9))
    assert found[3] == forecast(run.spec.scenario).query(PH3).margins.normal
    others = np.abs(np.concatenate([noise[rows] for noise in other.noise]))
    assert found[-1] == pytest.approx(np.quantile(others, 0.9))
    shares = ask(run, "share").picture.table
    (held,) = [row for row in shares.rows if (row[0], row[1]) == ("PH3", PH3.level.title)]
    assert held[2] == pytest.approx(100 * np.mean(sizes <= found[3]))


def test_that_truncation_is_told_apart_from_noise(ask, write_run):
    run = write_run()
    sizes = ask(run, "truncation", query=PH3).picture
    assert "a threshold of 10" in sizes.title
    assert (sum(sizes.table.column("Left out, people")), sum(sizes.table.column("People"))) == (2, 30)
    rows = rows_of(run, "PH3", "STATE", iteration_code=list("ABCDEFG"), cell=9)
    bias = (run.truth.truncated - run.truth.untruncated)[rows]
    cells = ask(run, "cells", query=PH3).picture.table
    (cell,) = [row for row in cells.rows if row[0] == "Other relatives: Grandchild"]
    assert (cell[3], cell[1]) == (pytest.approx(bias.mean()), len(rows))
    assert abs(cell[4]) == np.abs(bias).max()
    for kind in ("truncation", "cells"):
        assert ask(run, kind, query=parse_query("PH1_denom/usa_*")).picture.is_empty
    levels = ask(run, "levels").picture.table
    (level,) = [row for row in levels.rows if (row[0], row[1]) == ("PH3", PH3.level.title)]
    every = rows_of(run, "PH3", "STATE", iteration_code=list("ABCDEFG"))
    squares = (run.truth.truncated - run.truth.untruncated)[every].astype(float) ** 2
    assert level[3] == pytest.approx(math.sqrt(squares.mean()))
    assert "PH3" in ask(run, "all sizes").picture.table.column("Table")


def test_that_one_number_is_followed_from_truth_to_release(ask, write_run):
    run = write_run(trials=3)
    picture = ask(run, "number", query=PH3, region="44", group="D", cell=9).picture
    (row,) = rows_of(run, "PH3", "STATE", iteration_code="D", cell=9, region_id="44")
    counts = picture.table.column("Count, people")
    assert counts[:2] == (run.truth.untruncated[row], run.truth.truncated[row])
    assert list(counts[2:]) == [int(run.truth.truncated[row] + noise[row]) for noise in run.noise]
    assert picture.title.startswith("PH3, Rhode Island, Asian alone, Other relatives: Grandchild: true")


def test_that_the_worst_number_is_the_one_with_the_largest_mean_error(ask, write_run):
    run = write_run(trials=3)
    picture = ask(run, "worst").picture
    errors = np.abs(np.stack(run.noise) + (run.truth.truncated - run.truth.non_private)).mean(axis=0)
    means = list(picture.table.column("Mean absolute error"))
    assert means[0] == pytest.approx(errors.max())
    assert means == sorted(means, reverse=True)
    row = int(errors.argmax())
    assert picture.marks[0].key[2:] == (
        run.keys.region_id[row], run.keys.iteration_code[row], str(run.keys.cell[row]),
    )  # fmt: skip
    assert picture.table.column("Truncation bias")[0] == run.truth.truncated[row] - run.truth.untruncated[row]
    assert picture.table.column("Mean absolute noise")[0] == pytest.approx(np.abs(np.stack(run.noise))[:, row].mean())


def test_that_every_kind_of_picture_has_its_choosers(ask, write_run):
    run = write_run()
    shown = {tab: {each.id for each in ask(run, tab).choosers} for tab in ("errors", "all", "cells", "number", "worst")}
    assert shown == {
        "errors": {"other", "table", "level", "cell", "kind of errors"},
        "all": {"other", "kind of errors"},
        "cells": {"other", "table", "level", "kind of truncation"},
        "number": {"other", "table", "level", "region", "group", "cell"},
        "worst": {"other"},
    }
    assert len(ask(run, "all").picture.marks) == len(ask(run, "share").picture.marks)


def test_that_trials_written_later_are_found(ask, write_run):
    run = write_run(trials=1)
    assert ask(run).trials == 1
    run.add_trial(np.zeros(len(run.keys), np.int64))
    later = ask(run)
    assert later.trials == 2
    assert "from 2 trials" in later.picture.summary


def test_that_a_run_that_has_not_counted_offers_nothing_yet(ask, write_run):
    run = write_run(trials=0)
    (run.directory / TRUTH_FILE).unlink()
    answer = ask(run)
    assert (answer.picture, answer.reason) == (None, COUNTING)
    record_final(run.directory, Finished(Outcome.CANCELLED))
    assert ask(run).reason == ENDED
    assert OpenRun(run.directory).headline().coverage is None


def test_that_truncation_is_known_before_the_first_trial(ask, write_run):
    run = write_run(trials=0)
    assert ask(run).picture is None
    assert all(ask(run, tab).picture.is_empty for tab in ("observed", "share", "all", "worst"))
    assert ask(run, "cells", query=PH3).picture.marks
    assert OpenRun(run.directory).headline().bias < 0


def test_that_a_run_without_noise_has_no_margins_to_observe(ask, write_run):
    run = write_run(trials=0, mode=RunMode.NO_NOISE, wanted=1)
    run.add_trial(np.zeros(len(run.keys), np.int64))
    opened = OpenRun(run.directory)
    assert opened.headline().coverage is None
    assert opened.samples(PH3, None)[0].noise is None
    assert ask(run).picture.title.endswith("every error is 0, no noise was added")
    assert all(ask(run, tab).picture.is_empty for tab in ("observed", "share", "all"))


def test_that_a_folder_without_a_run_is_an_error_for_people(tmp_path):
    with pytest.raises(PhexploreError) as refused:
        PhSafeRunReader().answer(RunRequest(tmp_path, "worst"))
    assert refused.value.remedy


def test_that_a_damaged_trial_is_named_and_the_rest_is_shown(ask, write_run):
    run = write_run(trials=3)
    (run.directory / "trial-00001.parquet").write_bytes(b"nothing")
    opened = OpenRun(run.directory)
    assert opened.headline().confidence == Fraction(9, 10)
    assert "trial-00001.parquet" in opened.results.problems[0].path
    answer = ask(run)
    assert answer.trials == 2
    assert len(answer.problems) == 1


def test_that_a_run_whose_data_has_none_of_its_states_says_so(ask, write_run):
    run = write_run(trials=0)
    empty = NumberKeys(*(run.keys.table[:0],) * 4, run.keys.cell[:0])
    nothing = np.zeros(0, np.int64)
    files = NumberFiles(empty)
    files.write_truth(run.directory / TRUTH_FILE, Truth(nothing, nothing, nothing), {}, provenance=SYNTHETIC)
    answer = ask(run)
    assert (answer.picture, answer.reason) == (None, NO_NUMBERS)


@pytest.mark.parametrize("tab", ["truncation", "cells", "all sizes", "levels", "all", "number", "worst"])
def test_that_tables_hold_the_numbers_of_the_other_run(ask, write_run, tmp_path, tab):
    run, other = write_run(trials=2), write_run(trials=3, root=tmp_path / "other")
    other.add_trial()
    mine, theirs = (ask(each, tab, query=PH3).picture.table for each in (run, other))
    both = ask(run, tab, other=other, query=PH3).picture.table
    added = [header for header in both.headers if header.endswith(", other run")]
    assert added == (["Mean absolute error, other run"] if tab == "worst" else added)
    assert added
    assert tuple(header for header in both.headers if header not in added) == mine.headers
    if tab == "worst":
        for row in theirs.rows:
            key = (row[0], *row[3:7])
            for each in (each for each in both.rows if (each[0], *each[4:8]) == key):
                assert each[2] == pytest.approx(row[1])
        return
    words = [n for n, value in enumerate(mine.rows[0]) if isinstance(value, str)]
    for mark in both.rows:
        same = [row for row in theirs.rows if [row[n] for n in words] == [mark[n] for n in words]]
        assert list(mark[len(mine.headers) :]) == [v for n, v in enumerate(same[0]) if n not in words]
