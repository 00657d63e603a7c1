"""The page of results of TopDown runs while trials arrive, and the files of shapes of its map."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QObject, Signal
from topdown_runs import WrittenRun

from phexplore.errors import PhexploreError
from phexplore.gui.binding.frames import frame, read_frame
from phexplore.gui.run_manager.result_server import Readers
from phexplore.gui.run_manager.results_page import ResultsPage
from phexplore.gui.run_manager.run_controller import RunController
from phexplore.model.issues import InputProblemsError
from phexplore.systems.run_results import RunRequest
from phexplore.systems.topdown.run_reader import TopDownRunReader
from phexplore.systems.topdown.shapes import read_outlines
from phexplore.systems.topdown.system import TOPDOWN


@pytest.fixture
def run(tmp_path):
    return WrittenRun(tmp_path / "runs")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{", "no JSON"),
        (b'{"type": "FeatureCollection", "features": []}', "no features"),
        (b'{"features": [{"properties": {}, "geometry": {}}]}', "no code"),
        (
            b'{"features": [{"properties": {"geoid": "1"}, "geometry": {"type": "Point", "coordinates": [1, 2]}}]}',
            "polygon",
        ),
        (
            b'{"features": [{"properties": {"geoid": "1"}, "geometry": {"type": "Polygon", "coordinates": [["x"]]}}]}',
            "pairs of degrees",
        ),
    ],
)
def test_that_wrong_shapes_are_refused_by_feature(tmp_path, content, reason):
    path = tmp_path / "shapes.geojson"
    path.write_bytes(content)
    with pytest.raises(InputProblemsError, match=reason):
        read_outlines(path)


def test_that_the_reader_process_answers_and_refuses(run, tmp_path):
    run.add_trial()
    reader = Readers(lambda _said: None)
    answer = reader.answer(RunRequest(run.directory))
    assert answer.trials == 1
    copied = tmp_path / "frames"
    copied.write_bytes(frame(answer))
    with copied.open("rb") as stream:
        assert read_frame(stream).trials == 1
    with pytest.raises(PhexploreError):
        reader.answer(RunRequest(tmp_path))


class Direct(QObject):
    """Answers at once, in this process."""

    answered = Signal(object)
    failed = Signal(object)

    def __init__(self):
        super().__init__()
        self._reader = TopDownRunReader()

    def request(self, request):
        try:
            self.answered.emit(self._reader.answer(request))
        except PhexploreError as error:
            self.failed.emit(error)

    def stop(self):
        """Nothing runs."""


@pytest.fixture
def page(qtbot, run):
    run.add_trial()
    controller = RunController(run.directory.parent)
    qtbot.waitUntil(lambda: bool(controller.rows))
    found = ResultsPage(controller, TOPDOWN, service=Direct())
    qtbot.addWidget(found)
    found.resize(1000, 700)
    found.show()
    qtbot.waitUntil(lambda: found.answer is not None)
    yield found
    found.stop()
    controller.shut_down()


def test_that_every_picture_is_filled(page):
    for tab in TOPDOWN.results.tabs:
        page.tabs.show_tab(tab.id)
        assert page.answer.request.tab == tab.id
        assert page.charts[tab.id].is_empty == (
            tab.id in {"map", "path", "compare"}
        )  # no shapes, nothing kept, one run


@pytest.mark.parametrize("tab", ["bias", "criterion"])
def test_that_a_picture_says_what_its_amber_rows_are(page, tab):
    page.tabs.show_tab(tab)
    assert "Amber: " in page.charts[tab].plot.figure.summary


def chosen(page, name):
    return page.choosers.fields[name].currentData()


def test_that_each_picture_has_its_own_best_query_until_one_is_chosen(page):
    page.tabs.show_tab("errors")
    assert chosen(page, "query") == "total"
    page.tabs.show_tab("place")
    fields = sorted(
        (f.mapTo(page, f.rect().topLeft()).x(), name) for name, f in page.choosers.fields.items() if f.isVisible()
    )
    assert [name for _x, name in fields] == ["level", "query", "unit"]
    assert chosen(page, "query") == "race_ethnicity"
    field = page.choosers.fields["query"]
    field.setCurrentIndex(field.findData("hispanic"))
    assert chosen(page, "query") == "hispanic"
    page.tabs.show_tab("errors")
    assert chosen(page, "query") == "hispanic"


def test_that_a_worst_unit_is_looked_into(page):
    page.tabs.show_tab("worst")
    code = page.charts["worst"].marks[0].key
    page.charts["worst"].key_activated.emit(code)
    assert page.tab == "place"
    assert page.choosers.fields["unit"].text() == code


def test_that_a_level_is_looked_into_and_leaves_no_unit_of_another(page):
    page.tabs.show_tab("place")
    page.choosers.fields["unit"].setText("44001")
    page.choosers.fields["unit"].returnPressed.emit()
    assert page.choices == {"unit": "44001"}
    level = page.choosers.fields["level"]
    level.setCurrentIndex(level.findData("State"))
    assert page.choices == {"level": "State"}
    page.tabs.show_tab("errors")
    page.charts["errors"].key_activated.emit("County")
    assert page.tab == "shape"
    assert chosen(page, "level") == "County"


def test_that_a_new_trial_grows_the_picture(page, run):
    page.tabs.show_tab("shape")
    assert page.answer.trials == 1
    run.add_trial(3)
    page._on_progress(run.directory)
    assert page.answer.trials == 2
    assert "Trials: 2" in page.sentence.text()
