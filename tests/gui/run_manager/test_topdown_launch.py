"""The launch form of TopDown: every field's reason, and the specification it asks for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from phexplore.catalog.presets import preset
from phexplore.gui.run_manager.topdown_launch import (
    TopDownFields,
    TopDownLaunch,
    read_topdown_fields,
    topdown_explanation,
)
from phexplore.gui.run_manager.topdown_launch_form import TopDownLaunchForm
from phexplore.runs.spec import RunData, RunMode
from phexplore.runs.topdown_options import Mechanism, RounderTarget


@pytest.fixture
def fields(tmp_path):
    (tmp_path / "blocks.csv").write_text("geoid\n", "utf-8")
    return TopDownFields(path=str(tmp_path / "blocks.csv"))


def test_that_the_fields_become_a_specification(fields):
    asked = replace(
        fields,
        expands=True,
        expand="7",
        trials=5,
        seed="3",
        mechanism=Mechanism.BLOCK_BY_BLOCK,
        target=RounderTarget.WHOLE,
        microdata=True,
        scheduler="tcp://10.0.0.1:8786",
        stops=True,
    )
    request = read_topdown_fields(asked)
    assert isinstance(request, TopDownLaunch)
    data = RunData(asked.path, "0" * 64, 6, blocks=True)
    spec = request.spec(preset("pl94-2020-persons-us").scenario, data)
    assert (spec.trials, spec.seed, spec.mode, spec.stop.minimum_trials) == (5, 3, RunMode.PRIVATE, 2)
    assert spec.topdown.expand == 7
    assert spec.topdown.scheduler == "tcp://10.0.0.1:8786"
    assert spec.topdown.microdata


def test_that_a_run_without_noise_is_one_trial(fields):
    request = read_topdown_fields(replace(fields, noisy=False, trials=9, seed="wrong"))
    spec = request.spec(preset("pl94-2020-persons-us").scenario, RunData(fields.path, "0" * 64, 6, blocks=True))
    assert (spec.trials, spec.mode) == (1, RunMode.NO_NOISE)


@pytest.mark.parametrize(
    ("change", "name", "reason"),
    [
        ({"path": ""}, "path", "Choose a block file"),
        ({"path": "/no/such/file"}, "path", "nothing at /no/such/file"),
        ({"seed": "-1"}, "seed", "whole number"),
        ({"expands": True, "expand": "x"}, "expand", "whole number"),
        ({"stops": True, "stop_error": "2"}, "stop_error", "between 0 and 100 %"),
        ({"scheduler": "somewhere"}, "scheduler", "no address"),
        ({"scheduler": "http://host:1"}, "scheduler", "no address"),
    ],
)
def test_that_a_wrong_field_says_why(fields, change, name, reason):
    problems = read_topdown_fields(replace(fields, **change))
    assert list(problems) == [name]
    assert reason in problems[name]


def test_that_the_form_keeps_what_is_typed_and_launches(qtbot, fields):
    form = TopDownLaunchForm()
    qtbot.addWidget(form)
    form.show()
    form.show_fields(replace(fields, scheduler="nowhere"))
    assert not form.run.isEnabled()
    assert "no address" in form._reasons["scheduler"].text()
    form.scheduler.setText("")
    assert form.run.isEnabled()
    with qtbot.waitSignal(form.launched) as launched:
        form.launch()
    assert launched.args[0].path.name == "blocks.csv"
    form.block("DHC cannot be simulated yet.")
    assert not form.run.isEnabled()
    assert form.fields == fields


def test_that_the_sentence_says_what_a_run_is_fit_for(fields):
    assert "never for a release" in topdown_explanation(fields)
    assert "nobody can draw it again" in topdown_explanation(replace(fields, seeded=False))
    assert "exact measurements" in topdown_explanation(replace(fields, noisy=False))
