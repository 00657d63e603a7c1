from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QObject, Signal

from phexplore.errors import PhexploreError
from phexplore.gui.run_manager.report_process import FORMATS
from phexplore.gui.systems.phsafe.number_chooser import NumberChooser
from phexplore.gui.systems.phsafe.result_choices import ResultChoice, ResultTab
from phexplore.gui.systems.phsafe.result_reader import ResultReader
from phexplore.gui.systems.phsafe.results_page import COUNTING, READING, ResultsPage, run_words
from phexplore.gui.theme.appearance import ThemeChoice, appearance
from phexplore.model.keys import parse_query
from phexplore.runs.store import TRUTH_FILE

PH3 = parse_query("PH3/state_A-G")


class ReaderAtHand(QObject):
    """Answers like the service, when the test says so."""

    answered = Signal(object)
    failed = Signal(object)

    def __init__(self):
        super().__init__()
        self.asked, self._reader = [], ResultReader()

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
        pretence.desk.reread()
        qtbot.waitUntil(lambda: len(pretence.desk.rows) == len(runs) and not pretence.desk.is_busy)
        page = ResultsPage(pretence.desk, service=reader)
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


def test_that_the_newest_run_is_read_when_the_page_is_seen(page_of, write_run, reader):
    run = write_run()
    page = page_of(run, visible=False)
    assert reader.asked == []
    page.show()
    assert (reader.asked[-1].directory, reader.asked[-1].tab) == (run.directory, ResultTab.DISTRIBUTION)
    assert page.charts[ResultTab.DISTRIBUTION].accessibleDescription() == READING
    reader.answer()
    assert not page.charts[ResultTab.DISTRIBUTION].is_empty
    assert page.tiles["trials"].accessibleName().startswith("Trials: 2 of 5")
    assert page.answer.headline.trials == 2


@pytest.mark.parametrize("theme", [ThemeChoice.LIGHT, ThemeChoice.DARK])
def test_that_every_picture_shows_its_part_of_the_run(page_of, write_run, reader, theme):
    appearance().choose(theme)
    page = page_of(write_run(trials=3))
    reader.answer()
    page.select_query(PH3)
    for tab in ResultTab:
        page.show_tab(tab)
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
    pretence.desk.progressed.emit(run.directory)
    assert len(reader.asked) == before + 1
    reader.answer()
    assert page.answer.headline.trials == 2


def test_that_progress_of_other_runs_is_not_read(page_of, write_run, reader, pretence, tmp_path):
    page_of(write_run())
    reader.answer()
    before = len(reader.asked)
    pretence.desk.progressed.emit(tmp_path)
    assert len(reader.asked) == before


def test_that_a_choice_of_numbers_is_read(page_of, write_run, reader):
    page = page_of(write_run())
    reader.answer()
    page.chooser.choosers["table"].setCurrentText("PH3")
    reader.answer()
    page.chooser.choosers["level"].setCurrentText("State, A-G")
    assert reader.asked[-1].choice.query == PH3
    reader.answer()
    page.chooser.choosers["cell"].setCurrentText("Other relatives: Grandchild")
    reader.answer()
    assert page.charts[ResultTab.DISTRIBUTION].summary.startswith("Noise errors of PH3 (State, A-G), Other relatives")


def test_that_a_query_chosen_elsewhere_is_looked_at(page_of, write_run, reader):
    page = page_of(write_run())
    reader.answer()
    page.select_query(PH3)
    reader.answer()
    assert page.chooser.choice().query == PH3


def test_that_a_bad_number_leads_to_its_story(page_of, write_run, reader):
    page = page_of(write_run())
    page.show_tab(ResultTab.WORST)
    reader.answer()
    worst = page.charts[ResultTab.WORST].marks[0].key
    page.charts[ResultTab.WORST].key_activated.emit(worst)
    assert page.tab is ResultTab.NUMBER
    reader.answer()
    story = page.charts[ResultTab.NUMBER]
    assert story.numbers.column("Count, people")[0] == worst.true
    assert worst.region in story.summary


def test_that_two_runs_are_compared(page_of, write_run, reader):
    first, second = write_run(trials=2), write_run(trials=3)
    page = page_of(first, second)
    reader.answer()
    place = next(n for n in range(page.other.count()) if page.other.itemData(n) not in (None, page.directory))
    page.other.setCurrentIndex(place)
    assert {reader.asked[-1].directory, reader.asked[-1].compared} == {first.directory, second.directory}
    reader.answer()
    assert "against the other run" in page.tiles["coverage"].accessibleName()
    page.show_tab(ResultTab.OBSERVED)
    reader.answer()
    assert "Other run, people" in page.charts[ResultTab.OBSERVED].numbers.headers


def test_that_a_run_that_still_counts_says_so(page_of, write_run, reader):
    run = write_run(trials=0)
    (run.directory / TRUTH_FILE).unlink()
    page = page_of(run)
    reader.answer()
    assert page.charts[ResultTab.DISTRIBUTION].accessibleDescription() == COUNTING


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
    page.select_query(PH3)
    first = reader.asked[-1]
    page.show_tab(ResultTab.WORST)
    second = reader.asked[-1]
    for question in (first, second):
        reader.asked.append(question)
        reader.answer()
    assert not page.charts[ResultTab.WORST].is_empty


def test_that_the_answer_to_an_older_choice_is_not_shown(page_of, write_run, reader):
    page = page_of(write_run())
    page.select_query(PH3)
    older = reader.asked[-1]
    page.select_query(parse_query("PH7/usa_*"))
    reader.asked.append(older)
    reader.answer()
    assert page.answer is None


def test_that_an_unreadable_run_is_told_in_the_picture_and_aloud(page_of, write_run, reader, qtbot):
    run = write_run()
    page = page_of(run)
    (run.directory / "spec.json").write_text("{}")
    with qtbot.waitSignal(page.failed):
        reader.answer()
    assert page.charts[ResultTab.DISTRIBUTION].is_empty


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
    monkeypatch.setattr(page._report, "write", lambda *order: ordered.append(order))
    page.export_to(FORMATS[0], tmp_path / "out")
    assert ordered == [(run.directory, FORMATS[0], tmp_path / "out")]
    assert [action.data() for action in page.export.menu().actions()] == list(FORMATS)


def test_that_a_closing_window_ends_reading(page_of, write_run, reader):
    page = page_of(write_run())
    page.stop()
    assert reader.asked[-1] == "stop"


def test_that_a_run_is_listed_with_scenario_time_trials_and_state(page_of, write_run, pretence):
    page_of(write_run())
    words = run_words(pretence.desk.rows[0])
    assert words.startswith("S-DHC 2020")
    assert "2 of 5 trials" in words


# The choosers


@pytest.fixture
def chooser(qtbot, write_run):
    run = write_run()
    reader = ResultReader()
    from phexplore.gui.systems.phsafe.result_choices import ResultRequest

    choices = reader.answer(ResultRequest(run.directory, None, None)).choices
    found = NumberChooser()
    qtbot.addWidget(found)
    found.show()
    found.show_choice(choices, choices.settled(ResultChoice(PH3, "44", "D", 9)))
    return found


def test_that_the_choosers_show_the_choice_and_tell_nothing_of_it(chooser):
    assert chooser.choice() == ResultChoice(PH3, "44", "D", 9)
    assert chooser.choosers["region"].currentText() == "Rhode Island"
    assert chooser.choosers["group"].currentText() == "Asian alone"


def test_that_only_what_a_picture_needs_is_shown(chooser):
    seen = {}
    for tab in ResultTab:
        chooser.show_for(tab)
        seen[tab] = {name for name, widget in chooser.choosers.items() if widget.isVisible()}
    assert seen[ResultTab.DISTRIBUTION] == {"table", "level", "cell"}
    assert seen[ResultTab.TRUNCATION] == {"table", "level"}
    assert seen[ResultTab.NUMBER] == {"table", "level", "region", "group", "cell"}
    assert seen[ResultTab.OBSERVED] == seen[ResultTab.WORST] == set()


def test_that_another_table_keeps_the_level_where_it_can(chooser):
    heard = []
    chooser.chosen.connect(heard.append)
    chooser.choosers["table"].setCurrentText("PH7")
    assert heard == [ResultChoice(parse_query("PH7/state_A-G"), "44", "D", None)]


def test_that_every_chooser_has_a_name(chooser):
    names = [widget.accessibleName() for widget in chooser.choosers.values()]
    assert names == ["Table", "Level", "Region", "Group", "Cell"]
