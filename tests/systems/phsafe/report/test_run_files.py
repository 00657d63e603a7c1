from __future__ import annotations

import pytest
from report_fixtures import NOW

from phexplore.errors import PhexploreError
from phexplore.model.provenance import UNMARKED
from phexplore.report.run_report import write_run_report
from phexplore.runs.spec import RunMode
from phexplore.systems.phsafe.run_document import run_report
from tests.report.run_builder import made_run


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    from phexplore.systems.registry import preset

    return made_run(tmp_path_factory.mktemp("f") / "run", preset("sdhc-2020-us").scenario, trials=2)


def test_that_csv_fills_a_folder_with_figures_and_every_trial(finished, tmp_path):
    written = write_run_report(run_report, finished, "csv", tmp_path / "out", NOW)
    names = [path.relative_to(tmp_path / "out").as_posix() for path in written]
    assert names[:3] == ["metrics.csv", "truncation.csv", "trial-00000/PH1_num/part-00000.csv"]
    assert len(names) == 3 + 2 * 11
    assert all(path.stat().st_size > 0 for path in written)


def test_that_a_file_name_gets_one_file_and_a_second_time_replaces_it(finished, tmp_path):
    target = tmp_path / "deep" / "figures.csv"
    assert write_run_report(run_report, finished, "csv", target, NOW) == [target]
    before = target.read_bytes()
    target.write_text("old")
    write_run_report(run_report, finished, "csv", target, NOW)
    assert target.read_bytes() == before
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.slow
def test_that_pictures_fill_a_folder(finished, tmp_path):
    written = write_run_report(run_report, finished, "png", tmp_path / "charts", NOW)
    assert [path.name for path in written] == [
        "errors.png", "cumulated-errors.png", "error-boxes.png", "distributions.png", "worst.png", "number.png", "sizes.png",
        "bias.png", "all-sizes.png", "bias-by-level.png", "observed.png", "observed-against-expected.png", "coverage.png",
    ]  # fmt: skip


@pytest.mark.slow
def test_that_a_document_gets_its_usual_name_in_a_directory(finished, tmp_path):
    told = []
    written = write_run_report(run_report, finished, "html", tmp_path, NOW, lambda *step: told.append(step))
    assert written == [tmp_path / "report.html"]
    assert (told[0], told[-1][2]) == ((1, 1, "Reading the results"), "Laying out the pages")
    assert [number for number, _, _ in told] == list(range(1, told[-1][1] + 1))


def test_that_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(PhexploreError, match="is not a run directory"):
        write_run_report(run_report, tmp_path / "none", "csv", tmp_path, NOW)
    with pytest.raises(PhexploreError):
        write_run_report(run_report, tmp_path, "csv", tmp_path / "x", NOW)


def test_that_a_folder_of_no_pictures_is_refused(tmp_path, us):
    import numpy as np

    from phexplore.metrics.numbers import NumberKeys
    from phexplore.runs.store import TRUTH_FILE
    from phexplore.systems.phsafe.number_files import NumberFiles
    from phexplore.systems.phsafe.results import RunResults

    run = made_run(tmp_path / "r", us, trials=0, mode=RunMode.NON_PRIVATE, synthetic=False, complete=False)
    results = RunResults.open(run)
    keys = results.keys
    NumberFiles(
        NumberKeys(keys.table, keys.region_type, keys.region_id, keys.iteration_code, np.array(keys.cell))
    ).write_truth(run / TRUTH_FILE, results.truth(), {}, provenance=UNMARKED)
    with pytest.raises(PhexploreError, match="no finished trial"):
        write_run_report(run_report, run, "svg", tmp_path / "charts", NOW)
