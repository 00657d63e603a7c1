from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QObject, Signal

from phexplore.catalog.names import Naming, chosen_naming
from phexplore.errors import PhexploreError
from phexplore.gui.run_manager.report_process import FORMATS
from phexplore.gui.run_manager.results_page import READING, ResultsPage
from phexplore.gui.run_manager.run_rows import run_words
from phexplore.gui.theme.appearance import ThemeChoice, appearance
from phexplore.runs.store import TRUTH_FILE
from phexplore.systems.phsafe.run_reader import PhSafeRunReader
from phexplore.systems.phsafe.system import PHSAFE
from phexplore.systems.run_results import COUNTING, NAMES

PH3 = {"table": "PH3", "level": "state_A-G"}
TABS = [tab.id for tab in PHSAFE.results.tabs]


class ReaderAtHand(QObject):
    """Answers like the service, when the test says so."""

    answered = Signal(object)
    failed = Signal(object)

    def __init__(self):
        super().__init__()
        self.asked, self._reader = [], PhSafeRunReader()

    def request(self, request):
        self.asked.append(request)

    def answer(self):
        """Answer the newest request."""
        try:
            answer = self._reader.answer(self.asked[-1])
        except PhexploreError as error:
            self.failed.emit(error)
        else:
            self.answered.emit(answer)

    def stop(self):
        self.asked.append("stop")


@pytest.fixture
def reader(qapp):
    return ReaderAtHand()


@pytest.fixture
def page_of(qtbot, pretence, reader):
    """Show the page for runs written by hand."""

    def make(*runs, visible=True):
        pretence.controller.homes.reread()
        qtbot.waitUntil(lambda: len(pretence.controller.rows) == len(runs) and not pretence.controller.is_busy)
        page = ResultsPage(pretence.controller, PHSAFE, service=reader)
        qtbot.addWidget(page)
        page.resize(1200, 800)
        if visible:
            page.show()
        return page

    return make


def test_that_without_runs_the_page_teaches_and_leads_to_the_runs(page_of, qtbot):
    page = page_of()
    assert page.empty.isVisible()
    with qtbot.waitSignal(page.runs_wanted):
        page.empty._act()


def test_that_results_are_read_again_when_things_are_called_otherwise(page_of, write_run, reader, qtbot):
    page = page_of(write_run())
    qtbot.waitUntil(lambda: bool(reader.asked))
    reader.answer()
    before = chosen_naming()
    try:
        appearance().call_things(Naming.CODES)
        assert reader.asked[-1].naming is Naming.CODES
        reader.answer()
        assert page.answer.request.naming is Naming.CODES
        asked = len(reader.asked)
        appearance().changed.emit(appearance().colours)
        assert len(reader.asked) == asked
    finally:
        appearance().call_things(before)


def test_that_the_newest_run_is_read_when_the_page_is_seen(page_of, write_run, reader):
    run = write_run()
    page = page_of(run, visible=False)
    assert reader.asked == []
    page.show()
    assert (reader.asked[-1].directory, reader.asked[-1].tab) == (run.directory, "errors")
    assert page.charts["errors"].accessibleDescription() == READING
    reader.answer()
    assert not page.charts["errors"].is_empty
    assert "Trials: 2 of 5" in page.sentence.text()
    assert page.answer.trials == 2


def test_that_the_choosers_of_errors_stand_in_one_line_on_a_laptop(page_of, write_run, reader, qtbot):
    before = chosen_naming()
    try:
        appearance().call_things(Naming.NAMES)
        page = page_of(write_run())
        page.resize(1205, 640)  # of 1366 pixels
        reader.answer()
        shown = [field for field in page.choosers.fields.values() if field.isVisible()]
        assert len(shown) == len(("other run", "table", "level", "cell", "kind"))
        qtbot.waitUntil(lambda: page.choosers.height() < 2 * shown[0].height())
    finally:
        appearance().call_things(before)


@pytest.mark.parametrize("theme", [ThemeChoice.LIGHT, ThemeChoice.DARK])
def test_that_every_picture_shows_its_part_of_the_run(page_of, write_run, reader, theme):
    appearance().choose(theme)
    page = page_of(write_run(trials=3))
    reader.answer()
    page.choose(PH3)
    for tab in TABS:
        page.tabs.show_tab(tab)
        reader.answer()
        chart = page.charts[tab]
        assert not chart.is_empty
        assert chart.numbers.rows
        assert not page.grab().isNull()


def test_that_trials_that_arrive_are_asked_for_and_shown(page_of, write_run, reader, pretence):
    run = write_run(trials=1)
    page = page_of(run)
    reader.answer()
    run.add_trial()
    before = len(reader.asked)
    pretence.controller.progressed.emit(run.directory)
    assert len(reader.asked) == before + 1
    reader.answer()
    assert page.answer.trials == 2


def test_that_progress_of_other_runs_is_not_read(page_of, write_run, reader, pretence, tmp_path):
    page_of(write_run())
    reader.answer()
    before = len(reader.asked)
    pretence.controller.progressed.emit(tmp_path)
    assert len(reader.asked) == before


def test_that_a_choice_of_numbers_is_read(page_of, write_run, reader):
    page = page_of(write_run())
    reader.answer()
    page.choosers.fields["table"].setCurrentText("PH3")
    reader.answer()
    page.choosers.fields["level"].setCurrentText("State, A-G")
    assert reader.asked[-1].choices == PH3
    reader.answer()
    page.choosers.fields["cell"].setCurrentText("Other relatives: Grandchild")
    reader.answer()
    assert page.charts["errors"].summary.startswith("Noise errors of PH3 (State, A-G), Other relatives")


def test_that_a_chooser_says_once_what_it_leads_to(page_of, write_run, reader, qtbot):
    page = page_of(write_run())
    reader.answer()
    table = page.choosers.fields["table"]
    with qtbot.waitActive(page):
        page.activateWindow()
    table.setFocus()
    table.setCurrentText("PH3")
    reader.answer()
    assert table.accessibleDescription() == page.answer.picture.title
    table.setAccessibleDescription("")
    page.choose(PH3)  # by what is chosen elsewhere
    reader.answer()
    assert table.accessibleDescription() == ""


def test_that_a_query_chosen_elsewhere_is_looked_at(page_of, write_run, reader):
    page = page_of(write_run())
    reader.answer()
    page.choose(PH3)
    reader.answer()
    assert page.choosers.fields["table"].currentData() == "PH3"
    assert page.choosers.fields["level"].currentData() == "state_A-G"


def test_that_a_bad_number_leads_to_its_story(page_of, write_run, reader):
    page = page_of(write_run())
    page.tabs.show_tab("worst")
    reader.answer()
    worst = page.charts["worst"].marks[0].key
    page_true, region = (page.charts["worst"].numbers.column(name)[0] for name in ("True count", "Region"))
    page.charts["worst"].key_activated.emit(worst)
    assert page.tab == "number"
    reader.answer()
    story = page.charts["number"]
    assert story.numbers.column("Count, people")[0] == page_true
    assert region in story.title


def test_that_two_runs_are_compared(page_of, write_run, reader):
    first, second = write_run(trials=2), write_run(trials=3)
    page = page_of(first, second)
    reader.answer()
    other = page.choosers.fields["other"]
    assert [other.itemText(0), other.count()] == ["no other run", 2]
    other.setCurrentIndex(1)
    assert {str(reader.asked[-1].directory), reader.asked[-1].choices["other"]} == {
        str(first.directory),
        str(second.directory),
    }
    reader.answer()
    assert "against the other run" in page.sentence.text()
    page.tabs.show_tab("observed")
    reader.answer()
    assert "Other run" in page.charts["observed"].numbers.headers


def test_that_a_run_that_still_counts_says_so(page_of, write_run, reader):
    run = write_run(trials=0)
    (run.directory / TRUTH_FILE).unlink()
    page = page_of(run)
    reader.answer()
    assert page.charts["errors"].accessibleDescription() == COUNTING


def test_that_an_answer_for_another_run_is_not_shown(page_of, write_run, reader):
    first, second = write_run(trials=2), write_run(trials=3)
    page = page_of(first, second)
    shown = page.directory
    other = next(run for run in (first, second) if run.directory != shown)
    page.show_run(other.directory)
    reader.asked.append(replace(reader.asked[-1], directory=shown))
    reader.answer()
    assert page.answer is None


def test_that_a_question_asked_before_the_first_answer_is_answered_too(page_of, write_run, reader):
    page = page_of(write_run())
    page.choose(PH3)
    first = reader.asked[-1]
    page.tabs.show_tab("worst")
    second = reader.asked[-1]
    for question in (first, second):
        reader.asked.append(question)
        reader.answer()
    assert not page.charts["worst"].is_empty


def test_that_the_answer_to_an_older_choice_is_not_shown(page_of, write_run, reader):
    page = page_of(write_run())
    page.choose(PH3)
    older = reader.asked[-1]
    page.choose({"table": "PH7", "level": "usa_*"})
    reader.asked.append(older)
    reader.answer()
    assert page.answer is None


def test_that_an_unreadable_run_is_told_in_the_picture_and_aloud(page_of, write_run, reader, qtbot):
    run = write_run()
    page = page_of(run)
    (run.directory / "spec.json").write_text("{}")
    with qtbot.waitSignal(page.failed):
        reader.answer()
    assert page.charts["errors"].is_empty


def test_that_no_figure_of_a_run_read_before_stands_above_one_that_is_refused(page_of, write_run, reader):
    page = page_of(write_run())
    reader.answer()
    assert "Trials: 2 of 5" in page.sentence.text()
    page.choose(PH3)
    reader.failed.emit(PhexploreError("A trial was altered after the run was complete.", "Run it again."))
    assert page.charts["errors"].is_empty
    assert not page.sentence.text()
    mended = []
    page.mended.connect(mended.append)
    reader.answer()
    assert [each.sentence for each in mended] == ["A trial was altered after the run was complete."]


def test_that_damaged_parts_are_named_above_the_picture(page_of, write_run, reader):
    run = write_run(trials=3)
    (run.directory / "trial-00001.parquet").write_bytes(b"nothing")
    page = page_of(run)
    reader.answer()
    assert "trial-00001.parquet cannot be read" in page._problems.text()


def test_that_an_export_names_the_run_the_format_and_the_place(page_of, write_run, monkeypatch, tmp_path):
    run = write_run()
    page = page_of(run)
    ordered = []
    for process in (page.export.process, page.export.printing):
        monkeypatch.setattr(process, "write", lambda *order: ordered.append(order))
    page.choose({NAMES: "wanted"})  # names that are offered while one is typed are no choice of a picture
    page.export.write(FORMATS[0], tmp_path / "out")
    assert ordered == [(run.directory, FORMATS[0], tmp_path / "out", {})]
    actions = page.export.menu().actions()
    assert [action.data() for action in actions if action.data() is not None] == list(FORMATS)
    actions[-1].trigger()
    assert [(order[0], order[1].id) for order in ordered[1:]] == [(run.directory, "pdf")]
    page.stop()


def test_that_a_closing_window_ends_reading(page_of, write_run, reader):
    page = page_of(write_run())
    page.stop()
    assert reader.asked[-1] == "stop"


def test_that_a_run_is_listed_with_scenario_time_trials_and_state(page_of, write_run, pretence):
    page_of(write_run())
    words = run_words(pretence.controller.rows[0])
    assert words.startswith("S-DHC 2020")
    assert "2 of 5 trials" in words


def shown(page):
    return {name for name, field in page.choosers.fields.items() if field.isVisible()} - {"other"}


def test_that_only_what_a_picture_needs_is_shown(page_of, write_run, reader):
    page, seen = page_of(write_run()), {}
    for tab in TABS:
        page.tabs.show_tab(tab)
        reader.answer()
        seen[tab] = {name for name in shown(page) if not name.startswith("kind")}
    assert seen["errors"] == {"table", "level", "cell"}
    assert seen["truncation"] == {"table", "level"}
    assert seen["number"] == {"table", "level", "region", "group", "cell"}
    assert seen["observed"] == seen["worst"] == set()
    names = [page.choosers.fields[name].accessibleName() for name in ("table", "level", "region", "group", "cell")]
    assert names == ["Table", "Level", "Region", "Group", "Cell"]


def test_that_another_table_keeps_the_level_where_it_can_and_drops_the_cell(page_of, write_run, reader):
    page = page_of(write_run())
    page.choose(PH3 | {"region": "44", "group": "D", "cell": "9"})
    page.tabs.show_tab("number")
    reader.answer()
    fields = page.choosers.fields
    assert fields["region"].currentText() == "Rhode Island"
    assert fields["group"].currentText() == "Asian alone"
    fields["table"].setCurrentText("PH7")
    assert page.choices == {"table": "PH7", "level": "state_A-G", "region": "44", "group": "D"}
    reader.answer()
    assert fields["level"].currentData() == "state_A-G"


def test_that_a_picture_is_shown_as_it_is_asked_for(page_of, write_run, reader):
    page = page_of(write_run())
    reader.answer()
    first = page.charts["errors"].plot.figure.id
    page.choosers.fields["kind of errors"].setCurrentText("Boxes by cell")
    reader.answer()
    assert page.charts["errors"].plot.figure.id != first
