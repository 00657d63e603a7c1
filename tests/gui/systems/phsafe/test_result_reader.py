from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from phexplore.errors import PhexploreError
from phexplore.metrics.accuracy_report import Truth
from phexplore.metrics.numbers import NumberKeys
from phexplore.model.keys import parse_query
from phexplore.runs.spec import RunMode
from phexplore.runs.store import TRUTH_FILE
from phexplore.systems.phsafe.content_reader import ResultReader
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.phsafe.number_files import NumberFiles
from phexplore.systems.phsafe.result_choices import ResultChoice, ResultRequest, ResultTab

PH3 = parse_query("PH3/state_A-G")


@pytest.fixture
def ask():
    reader = ResultReader()

    def read(run, tab=ResultTab.DISTRIBUTION, *, other=None, **choice):
        return reader.answer(ResultRequest(run.directory, other and other.directory, tab, ResultChoice(**choice)))

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
    headline = ask(run, None).headline
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
    assert headline.trials == 4


def _holds(query, keys, row):
    region = "USA" if query.level.region.value == "usa" else "STATE"
    return keys.region_type[row] == region and keys.iteration_code[row] in query.level.iteration.codes


def _margin(margins, keys, row):
    return next(m for q, m in margins.items() if q.table == keys.table[row] and _holds(q, keys, row))


def test_that_errors_are_pooled_over_regions_codes_and_trials(ask, write_run):
    run = write_run(trials=3)
    content = ask(run, query=PH3).content
    rows = rows_of(run, "PH3", "STATE", iteration_code=list("ABCDEFG"))
    pooled = np.concatenate([noise[rows] for noise in run.noise])
    assert content.errors.coverage.errors == len(pooled)
    assert content.errors.mean == pytest.approx(pooled.mean())
    assert content.errors.largest == np.abs(pooled).max()
    assert [each.label for each in content.boxes][:2] == [
        "all cells",
        "Householder, spouse, unmarried partner, or nonrelative",
    ]
    assert sum(each.count for each in content.boxes[1:]) == len(pooled)


def test_that_one_cell_is_compared_with_all_of_its_table(ask, write_run):
    run = write_run()
    content = ask(run, query=PH3, cell=9).content
    rows = rows_of(run, "PH3", "STATE", iteration_code=list("ABCDEFG"), cell=9)
    assert content.errors.coverage.errors == 2 * len(rows)
    assert content.errors.label == content.boxes[0].label == "Other relatives: Grandchild"
    assert len(content.boxes) == 1 + 7


def test_that_derived_cells_of_different_noise_are_never_pooled(ask, write_run):
    run = write_run()
    owners = ask(run, query=parse_query("PH8_num/state_*")).content
    assert owners.errors.label == "Owner occupied"
    renters = ask(run, query=parse_query("PH8_num/state_*"), cell=3).content
    assert owners.errors.margin == pytest.approx(renters.errors.margin * math.sqrt(2))
    assert owners.errors.has_noise
    exact = forecast(run.spec.scenario).query(parse_query("PH7/state_*")).noise
    assert renters.errors.expected_coverage == exact.coverage(math.floor(renters.errors.margin))


def test_that_observed_margins_stand_beside_the_forecast_and_the_other_run(ask, write_run, tmp_path):
    run, other = write_run(trials=3), write_run(trials=2, root=tmp_path / "others")
    content = ask(run, ResultTab.OBSERVED, other=other).content
    assert {each.query.table for each in content.margins} == {"PH1_num", "PH1_denom", "PH3", "PH7"}
    (found,) = [each for each in content.margins if each.query == PH3]
    rows = rows_of(run, "PH3", "STATE", iteration_code=list("ABCDEFG"))
    sizes = np.abs(np.concatenate([noise[rows] for noise in run.noise]))
    assert found.observed.value == pytest.approx(np.quantile(sizes, 0.9))
    assert found.expected == forecast(run.spec.scenario).query(PH3).margins.normal
    others = np.abs(np.concatenate([noise[rows] for noise in other.noise]))
    assert found.compared == pytest.approx(np.quantile(others, 0.9))
    assert content.trials == 3


def test_that_truncation_is_told_apart_from_noise(ask, write_run):
    run = write_run()
    content = ask(run, ResultTab.TRUNCATION, query=PH3).content
    assert (content.sizes.threshold, content.sizes.cut, content.sizes.persons) == (10, 2, 30)
    rows = rows_of(run, "PH3", "STATE", iteration_code=list("ABCDEFG"), cell=9)
    bias = (run.truth.truncated - run.truth.untruncated)[rows]
    cell = next(each for each in content.cells if each.label == "Other relatives: Grandchild")
    assert (cell.mean_bias, cell.numbers) == (pytest.approx(bias.mean()), len(rows))
    assert abs(cell.largest_bias) == np.abs(bias).max()
    without = ask(run, ResultTab.TRUNCATION, query=parse_query("PH1_denom/usa_*")).content
    assert without.sizes is None


def test_that_one_number_is_followed_from_truth_to_release(ask, write_run):
    run = write_run(trials=3)
    story = ask(run, ResultTab.NUMBER, query=PH3, region="44", code="D", cell=9).content.story
    (row,) = rows_of(run, "PH3", "STATE", iteration_code="D", cell=9, region_id="44")
    assert (story.true, story.truncated) == (run.truth.untruncated[row], run.truth.truncated[row])
    assert story.measured == [int(run.truth.truncated[row] + noise[row]) for noise in run.noise]
    assert story.title == "PH3, Rhode Island, Asian alone, Other relatives: Grandchild"
    assert story.synthetic


def test_that_the_worst_number_is_the_one_with_the_largest_mean_error(ask, write_run):
    run = write_run(trials=3)
    numbers = ask(run, ResultTab.WORST).content.numbers
    errors = np.abs(np.stack(run.noise) + (run.truth.truncated - run.truth.non_private)).mean(axis=0)
    assert numbers[0].mean_error == pytest.approx(errors.max())
    assert [each.mean_error for each in numbers] == sorted((each.mean_error for each in numbers), reverse=True)
    row = int(errors.argmax())
    assert numbers[0].key == (run.keys.region_id[row], run.keys.iteration_code[row], run.keys.cell[row])
    assert numbers[0].bias == run.truth.truncated[row] - run.truth.untruncated[row]
    assert numbers[0].mean_noise == pytest.approx(np.abs(np.stack(run.noise))[:, row].mean())


def test_that_trials_written_later_are_found(ask, write_run):
    run = write_run(trials=1)
    assert ask(run).headline.trials == 1
    run.add_trial(np.zeros(len(run.keys), np.int64))
    later = ask(run)
    assert later.headline.trials == 2
    assert later.content.errors.trials == 2


def test_that_a_run_that_has_not_counted_offers_nothing_yet(ask, write_run):
    run = write_run(trials=0)
    (run.directory / TRUTH_FILE).unlink()
    answer = ask(run)
    assert (answer.choices, answer.content, answer.headline.coverage) == (None, None, None)


def test_that_truncation_is_known_before_the_first_trial(ask, write_run):
    run = write_run(trials=0)
    assert ask(run).content.errors is None
    assert ask(run, ResultTab.OBSERVED).content.margins == ()
    assert ask(run, ResultTab.WORST).content.numbers == ()
    assert ask(run, ResultTab.TRUNCATION, query=PH3).content.cells
    assert ask(run).headline.bias < 0


def test_that_a_run_without_noise_has_no_margins_to_observe(ask, write_run):
    run = write_run(trials=0, mode=RunMode.NO_NOISE, wanted=1)
    run.add_trial(np.zeros(len(run.keys), np.int64))
    answer = ask(run)
    assert answer.headline.coverage is None
    assert not answer.content.errors.has_noise
    assert answer.content.errors.largest == 0
    assert ask(run, ResultTab.OBSERVED).content.margins == ()


def test_that_a_folder_without_a_run_is_an_error_for_people(tmp_path):
    request = ResultRequest(tmp_path, None, ResultTab.WORST)
    with pytest.raises(PhexploreError) as refused:
        ResultReader().answer(request)
    assert refused.value.remedy


def test_that_a_damaged_trial_is_named_and_the_rest_is_shown(ask, write_run):
    run = write_run(trials=3)
    (run.directory / "trial-00001.parquet").write_bytes(b"nothing")
    answer = ask(run)
    assert answer.headline.trials == 2
    assert "trial-00001.parquet" in answer.problems[0].path
    assert Fraction(9, 10) == answer.headline.confidence


def test_that_a_run_whose_data_has_none_of_its_states_says_so(ask, write_run):
    run = write_run(trials=0)
    empty = NumberKeys(*(run.keys.table[:0],) * 4, run.keys.cell[:0])
    nothing = np.zeros(0, np.int64)
    files = NumberFiles(empty)
    files.write_truth(run.directory / TRUTH_FILE, Truth(nothing, nothing, nothing), {}, synthetic=True)
    answer = ask(run)
    assert (answer.choices, answer.content) == (None, None)
    assert answer.problems[-1].sentence.startswith("The run has no numbers")
