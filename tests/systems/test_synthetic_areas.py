"""No name of a real state or county stands in anything shown or written of a run on synthetic data, whatever codes the data use."""

from __future__ import annotations

import csv
import re
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime

import pytest

import phexplore as px
from phexplore.catalog.names import Naming, area, called, in_words, place, synthetic_areas, unnamed_area
from phexplore.cli.app import DONE
from phexplore.cli.app import run as command
from phexplore.data.blocks.generator import synthesize_states, write_block_file
from phexplore.figures.figure import Figure
from phexplore.report.run_report import write_run_report
from phexplore.resources import resource
from phexplore.spine.settings import SpineSettings
from phexplore.systems.registry import preset, system_of
from phexplore.systems.run_results import RunRequest
from phexplore.systems.topdown.spine_pictures import figure_of
from phexplore.systems.topdown.spine_reader import SpineReader
from phexplore.systems.topdown.spine_tree import SpineTree, tree_figure
from phexplore.systems.topdown.spine_views import SpineRequest, SpineStyle, SpineTab

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
NO_AREAS = re.compile(
    r"Native Hawaiian|(?<=Indian and )Alaska|(?<=Indian or )Alaska|2020, (?:people|housing units) of Puerto Rico"
)
"""Words of tables that begin like a state, and the names of shipped scenarios."""

NOT_READ = {"key", "marked", "chosen"}
"""What choosing a mark or an entry chooses: never drawn."""


def names_in(path, column):
    with resource(path).open(encoding="utf-8", newline="") as file:
        return {row[column] for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def real_names():
    names = names_in("tables/states.csv", "name") | names_in("geography/counties.csv", "name")
    names |= names_in("geography/areas.csv", "name")
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(names)))})(?!\w)")


@pytest.fixture(scope="module", params=["pl94", "sdhc"])
def simulated(request, tmp_path_factory):
    """A run on what ``synth`` makes with the codes of real states."""
    folder = tmp_path_factory.mktemp(request.param)
    data, out = folder / "data.csv.gz", folder / "run"
    if request.param == "pl94":
        made = ["synth", "pl94", "--blocks", "300", "--seed", "1", "--states", "44,09", "--tribal", "0.2"]
        scenario, given = "pl94-2020-persons-us", data
    else:
        made = ["synth", "sdhc", "--persons", "3000", "--states", "44,09", "--seed", "1"]
        scenario, given = "sdhc-2020-us", folder / "people"
    assert command([*made, "--out", str(given)]) == DONE
    assert command(["run", scenario, "--data", str(given), "--trials", "2", "--seed", "1", "--out", str(out)]) == DONE
    return out


@pytest.fixture(scope="module", params=["blocks", "spine file"])
def spine_of_blocks(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("spine") / "blocks.csv.gz"
    write_block_file(synthesize_states(300, 1, ("44", "09"), tribal=0.2), path)
    if request.param == "spine file":
        path = px.Spine.build(path).save(path.with_name("renamed.spine"))
    scenario, reader = preset("pl94-2020-persons-us").scenario, SpineReader()

    def answer(tab):
        look = SpineStyle(tab)
        request = SpineRequest(path, scenario.topdown, scenario.conventions, SpineSettings(), "standard spine", look)
        return reader.answer(request, lambda _progress: None)

    return answer


def texts(value):
    """Yield every text of a value: those that are made when somebody asks, too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Figure):
        yield from texts([getattr(value, each.name) for each in fields(value) if each.name != "numbers"])
        yield from texts([value.table.headers, value.table.rows])
    elif is_dataclass(value):
        yield from texts([getattr(value, each.name) for each in fields(value) if each.name not in NOT_READ])
        if callable(tip := getattr(value, "tip", "")):
            yield tip()
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from texts(each)


def found_in(text, names):
    return set(names.findall(NO_AREAS.sub("", text)))


@pytest.mark.parametrize("naming", Naming)
def test_that_nothing_shown_names_a_real_area(simulated, real_names, naming):
    results = system_of(px.open_run(simulated)._spec.scenario).results
    reader = results.stated_reader()
    levels = [{}] + [{"level": level} for level in ("State", "County", "Tract", "Block_Group")]
    seen = 0
    for tab in results.tabs:
        for choices in levels:
            with called(naming):
                answer = reader.answer(RunRequest(simulated, tab.id, {**choices, "names": "yes"}))
                painted = [in_words(text, naming) for text in texts(answer)]  # as the window does, which knows no run
            assert found_in("\n".join(painted), real_names) == set(), (tab.id, choices)
            seen += any("ynthetic " in text and "data" not in text for text in painted)
    assert seen


@pytest.mark.parametrize("form", ["html", "csv", "svg"])
def test_that_nothing_written_names_a_real_area(simulated, real_names, form, tmp_path):
    report = system_of(px.open_run(simulated)._spec.scenario).report
    (tmp_path / "out").mkdir()
    with called(Naming.NAMES):
        written = write_run_report(report, simulated, form, tmp_path / "out", NOW)
    assert written
    for path in written:
        assert found_in(path.read_text(encoding="utf-8"), real_names) == set(), path.name


def test_that_charts_in_python_name_no_real_area(simulated, real_names):
    for chart in system_of(px.open_run(simulated)._spec.scenario).results.tabs:
        answer = (
            system_of(px.open_run(simulated)._spec.scenario)
            .results.stated_reader()
            .answer(RunRequest(simulated, chart.id))
        )
        assert found_in("\n".join(texts(answer)), real_names) == set()


def test_that_the_nation_of_synthetic_persons_is_called_synthetic(tmp_path_factory):
    out = tmp_path_factory.mktemp("nation") / "run"
    assert command(["run", "sdhc-2020-us", "--data", "demo", "--trials", "1", "--seed", "1", "--out", str(out)]) == DONE
    results = system_of(px.open_run(out)._spec.scenario).results
    answer = results.stated_reader().answer(
        RunRequest(out, "number", {"table": "PH3", "level": "usa_*", "region": "1"})
    )
    assert "Synthetic nation" in answer.picture.title


@pytest.mark.parametrize("naming", Naming)
@pytest.mark.parametrize("tab", [SpineTab.TREE, SpineTab.DISTANCE, SpineTab.FAN_OUT, SpineTab.BYPASSED])
def test_that_a_spine_of_synthetic_blocks_names_no_real_area(spine_of_blocks, real_names, naming, tab):
    with called(naming):
        answer = spine_of_blocks(tab)
        content = answer.content
        assert "synthetic" in answer.notes[0].lower()
        drawn = tree_figure(SpineTree(content)) if tab is SpineTab.TREE else figure_of(content, "standard spine")
        painted = [in_words(text, naming) for text in texts(drawn)]
    assert found_in("\n".join(painted), real_names) == set()


def test_names_of_areas_of_synthetic_data():
    with synthetic_areas(is_synthetic=True):
        assert place("44") == "synthetic state 44"
        assert place("44003") == "synthetic county 003, state code 44"
        assert place("44003000100") == "tract 1, synthetic county 003, state code 44"
        assert place("440030001001005") == "block 1005, tract 1, synthetic county 003, state code 44"
        assert area("cousub", "4400105140") == "synthetic county subdivision 05140, county 001, state code 44"
        assert area("aiannh", "2415") == unnamed_area("aiannh", "2415") == "tribal area 2415 (synthetic)"
        assert in_words("County 44001: 5", Naming.NAMES) == "Synthetic county 001, state code 44: 5"
        assert place("98001") == "Alderwick County, Fairland (fictional)"
    assert place("44001") == "Bristol County, Rhode Island"
    assert in_words("County 44001: 5", Naming.NAMES) == "Bristol County, Rhode Island: 5"


@pytest.mark.parametrize("code", ["44", "44001", "44001000100", "440010001001", "4400105140", "2415"])
@pytest.mark.parametrize("naming", Naming)
def test_that_a_name_of_synthetic_data_is_not_read_as_a_code_again(code, naming):
    kind = {10: "County subdivision ", 4: "Tribal area ", 5: "County ", 2: "State "}.get(len(code), "")
    with synthetic_areas(is_synthetic=True):
        once = in_words(f"{kind}{code}: 5 people", naming)
    if naming is not Naming.CODES:
        assert "ynthetic" in once
        assert in_words(once, naming) == once
