"""Results of group sizes and of releases under exact sums: what the reader finds against the summary, and the page."""

from __future__ import annotations

import shutil

import group_size_runs
import numpy as np
import pytest
import subspace_runs
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QAbstractButton

from phexplore.data.regions.group_size_table import GroupSizeTable
from phexplore.data.regions.taxi_shaped import write_size_counts
from phexplore.gui.run_manager.result_server import Readers
from phexplore.gui.run_manager.results_page import ResultsPage
from phexplore.model.group_sizes import SizeMechanism
from phexplore.runs.spec import RunMode
from phexplore.runs.store import TRUTH_FILE, load_spec, load_summary, trial_file
from phexplore.simulate.group_sizes.release import ConsistencyChecks
from phexplore.systems.group_sizes.run_files import read_sizes, read_tree
from phexplore.systems.group_sizes.run_reader import SizeRun, show_sizes
from phexplore.systems.group_sizes.system import GROUP_SIZES
from phexplore.systems.registry import system_of
from phexplore.systems.run_results import RunRequest
from phexplore.systems.subspace.system import SUBSPACE


@pytest.fixture(scope="module")
def sizes_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sizes")
    _, path = group_size_runs.small_file(folder, np.random.default_rng(3))
    group_size_runs.run_here(folder / "run", path, trials=4)
    return folder / "run"


@pytest.fixture(scope="module")
def releases_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("releases")
    subspace_runs.run_here(folder / "run", subspace_runs.specification(trials=5))
    return folder / "run"


def reader_of(directory):
    return system_of(load_spec(directory).scenario).results.reader()


def asked(directory, tab, **choices):
    return reader_of(directory).answer(RunRequest(directory, tab, choices))


def test_that_the_regions_of_a_run_are_read_back(sizes_run) -> None:
    tree, largest = read_tree(sizes_run / TRUTH_FILE)
    assert tree.levels == group_size_runs.LEVELS
    assert tree.widths == (1, 2, 5)
    levels = read_sizes(sizes_run / TRUTH_FILE, tree, largest)
    for above, below in zip(levels, tree.sums(levels[-1]), strict=True):
        assert (above == below).all()


def test_that_errors_by_level_are_those_of_the_summary(sizes_run) -> None:
    content = asked(sizes_run, "errors").picture
    for row, metric in zip(content.marks, load_summary(sizes_run)["metrics"], strict=True):
        assert row.name == metric["level"]
        assert row.value == pytest.approx(metric["l1"]["mean"])
        assert len(row.dots) == 4


def test_that_a_headline_says_what_its_number_is(sizes_run, releases_run) -> None:
    captions = [asked(run, "errors").headline.caption for run in (sizes_run, releases_run)]
    assert captions == ["Last run: sum of errors", "Last run: error of an answer"]


def test_that_errors_by_size_are_those_of_the_summary(sizes_run) -> None:
    content = asked(sizes_run, "sizes", level="State").picture
    metric = load_summary(sizes_run)["metrics"][1]
    assert [row.value for row in content.marks] == pytest.approx([size["l1"] for size in metric["sizes"]])
    assert [row.name for row in content.marks][:2] == ["size 1", "size 2"]
    assert "size size" not in content.title


def test_that_classes_of_true_counts_hold_every_number(sizes_run) -> None:
    content = asked(sizes_run, "truth", level="County").picture
    assert sum(content.table.column("Numbers")) == 4 * 5 * 12


def test_that_levels_without_empty_sizes_have_their_distribution(tmp_path) -> None:
    """Thirty groups of every size in every county: no true count is 0, as in the nation's table of household sizes."""
    tree = group_size_runs.small_table(np.random.default_rng(3)).tree
    write_size_counts(GroupSizeTable(tree, np.full((5, 12), 30), "Households"), tmp_path / "groups.csv")
    group_size_runs.run_here(tmp_path / "run", tmp_path / "groups.csv", trials=2)
    for number, level in enumerate(group_size_runs.LEVELS):
        picture = asked(tmp_path / "run", "shape", level=level).picture
        exact = [
            read_sizes(tmp_path / "run" / name, tree, 12)[number] for name in (TRUTH_FILE, trial_file(0), trial_file(1))
        ]
        off = np.mean([np.abs(values - exact[0]) for values in exact[1:]])
        assert f"are {off:.3g} groups off on average" in picture.title


def test_that_sums_broken_in_few_trials_are_not_none(sizes_run) -> None:
    run = SizeRun(sizes_run)
    run.refresh()
    run.promises = [ConsistencyChecks(1, 0, 0), *run.promises[1:]]
    shown = show_sizes(run, RunRequest(sizes_run, "promises", {}))
    assert (shown.tiles[1].value, shown.tiles[1].beside) == ("0.25", "per trial")
    assert shown.draw().marks[0].text == "0.25 broken per trial"


def test_that_broken_sums_are_counted_as_in_the_summary(tmp_path) -> None:
    _, path = group_size_runs.small_file(tmp_path, np.random.default_rng(3))
    scenario = group_size_runs.with_mechanism(SizeMechanism.RELAXED)
    group_size_runs.run_here(tmp_path / "run", path, scenario, trials=3)
    answer = asked(tmp_path / "run", "promises")
    assert answer.picture.marks[0].value == pytest.approx(load_summary(tmp_path / "run")["violations"]["mean"])
    assert answer.tiles[1].value != "0"


def test_that_releases_have_the_errors_and_invariants_of_the_summary(releases_run) -> None:
    summary = load_summary(releases_run)
    answer = asked(releases_run, "errors")
    assert answer.picture.marks[0].value == pytest.approx(summary["metrics"][0]["rmse"])
    assert answer.tiles[1].value == "0"
    points = asked(releases_run, "truth").picture
    assert len(points.points[0].x) == 5 * 102
    errors = points.points[0].y.reshape(5, 102)
    assert np.abs(errors.sum(axis=1)).max() < 1e-6  # the total is exact
    assert (errors**2).sum() / 5 == pytest.approx(summary["metrics"][0]["squared_error"])


def test_that_the_sentence_counts_the_errors_that_are_not_drawn(releases_run) -> None:
    picture = asked(releases_run, "shape").picture
    assert round(sum(picture.table.column("Share, percent")) / 100 * 510) == 509
    assert picture.summary.startswith("510 errors of 5 trials; the one farthest off is not drawn. The curve is normal")


def test_that_gaussian_noise_is_not_said_to_be_more_peaked(tmp_path) -> None:
    path = subspace_runs.counts_file(tmp_path)
    subspace_runs.run_here(tmp_path / "run", subspace_runs.specification(subspace_runs.TWO_RELEASES, path))
    shown = asked(tmp_path / "run", "shape", release="shares").picture.summary
    assert shown.endswith("The curve is the noise of this mechanism.")


def test_that_several_releases_are_told_apart(tmp_path) -> None:
    path = subspace_runs.counts_file(tmp_path)
    subspace_runs.run_here(tmp_path / "run", subspace_runs.specification(subspace_runs.TWO_RELEASES, path))
    answer = asked(tmp_path / "run", "promises")
    assert {mark.group for mark in answer.picture.marks} == {"cells", "shares"}
    assert {row.group for row in answer.picture.marks} == {"cells", "shares"}
    assert not any(row.is_warned for row in answer.picture.marks)
    assert asked(tmp_path / "run", "shape", release="shares").picture.id == "shape"


def test_that_a_run_grows_and_a_damaged_trial_is_said(releases_run, tmp_path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(releases_run, copy)
    late = copy / trial_file(4)
    content = late.read_bytes()
    late.unlink()
    reader, request = reader_of(copy), RunRequest(copy, "errors")
    assert reader.answer(request).trials == 4
    late.write_bytes(content)
    assert reader.answer(request).trials == 5
    late.write_bytes(b"no table")
    answer = reader_of(copy).answer(request)
    assert answer.trials == 4
    assert answer.problems


def test_that_every_picture_of_a_run_without_noise_says_so(tmp_path) -> None:
    _, path = group_size_runs.small_file(tmp_path, np.random.default_rng(3))
    group_size_runs.run_here(tmp_path / "s", path, trials=1, mode=RunMode.NO_NOISE)
    subspace_runs.run_here(tmp_path / "r", subspace_runs.specification(trials=1, mode=RunMode.NO_NOISE))
    for directory, tabs in ((tmp_path / "s", GROUP_SIZES.results.tabs), (tmp_path / "r", SUBSPACE.results.tabs)):
        for tab in tabs:
            assert asked(directory, tab.id).tiles[2].value == "none"


class OwnService(QObject):
    """Answers in this process."""

    answered = Signal(object)
    failed = Signal(object)

    def __init__(self):
        super().__init__()
        self.readers, self.stopped = Readers(lambda _said: None), False

    def request(self, request):
        self.answered.emit(self.readers.answer(request))

    def stop(self):
        self.stopped = True


@pytest.mark.parametrize("system", [GROUP_SIZES, SUBSPACE])
def test_that_the_page_shows_every_picture(qtbot, pretence, sizes_run, releases_run, tmp_path, system) -> None:
    source = sizes_run if system is GROUP_SIZES else releases_run
    shutil.copytree(source, pretence.controller.homes.root / "20260101T000000Z-run")
    with qtbot.waitSignal(pretence.controller.changed):
        pretence.controller.homes.reread()
    service = OwnService()
    page = ResultsPage(pretence.controller, system, service=service)
    qtbot.addWidget(page)
    page.resize(1000, 700)
    page.show()
    qtbot.waitExposed(page)
    for tab in system.results.tabs:
        page.tabs.show_tab(tab.id)
        assert not page.charts[tab.id].is_empty
        assert page.charts[tab.id].numbers.rows
        page.charts[tab.id].grab()
    assert "ε =" in page.sentence.text()
    page.stop()
    assert service.stopped


def test_that_the_page_teaches_while_there_is_no_run(qtbot, pretence) -> None:
    page = ResultsPage(pretence.controller, SUBSPACE)
    qtbot.addWidget(page)
    assert page._stack.currentIndex() == 1
    with qtbot.waitSignal(page.runs_wanted):
        page.empty.findChild(QAbstractButton).click()
    page.stop()
