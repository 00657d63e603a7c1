"""Whatever Python code gives, it is told by an error of the program with a sentence, and nothing is printed."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import phexplore as px
from phexplore.interface.arguments import ArgumentError

SDHC, PERSONS = "sdhc-2020-us", "pl94-2020-persons-us"
BUDGET = "budget PH3/state_A-G"
NAN, INFINITE = float("nan"), float("inf")


@pytest.fixture(scope="module")
def blocks(tmp_path_factory):
    return px.synth("pl94", 100, tmp_path_factory.mktemp("blocks") / "blocks.csv", seed=1)


@pytest.fixture
def frame(blocks):
    return pd.read_csv(blocks, dtype={"geoid": str})


def _first(frame, value, dtype=object):
    changed = frame.copy()
    changed["vap_two"] = changed["vap_two"].astype(dtype)
    changed.loc[0, "vap_two"] = value
    return changed


def _renamed(frame):
    changed = frame.copy()
    changed.columns = ["geoid", *list(frame.columns)[:-1]]
    return changed


BROKEN = {
    "not a number": lambda f: _first(f, NAN, float),
    "negative": lambda f: _first(f, -1),
    "huge": lambda f: _first(f, 2**70),
    "a part": lambda f: _first(f, 1.5, float),
    "text among numbers": lambda f: _first(f, "x"),
    "infinite": lambda f: _first(f, INFINITE, float),
    "truths": lambda f: f.assign(vap_two=True),
    "complex": lambda f: f.assign(vap_two=1j),
    "dates with a zone": lambda f: f.assign(vap_two=pd.Timestamp("2020-01-01", tz="Europe/Paris")),
    "periods": lambda f: f.assign(vap_two=pd.Period("2020")),
    "missing": lambda f: f.assign(vap_two=f.vap_two.astype("Int64").where(f.index != 0)),
    "a line twice": lambda f: pd.concat([f, f.iloc[:1]]),
    "a column twice": _renamed,
    "columns of columns": lambda f: pd.concat({"a": f}, axis=1),
    "nothing": lambda f: f.iloc[:0],
    "no columns": lambda _: pd.DataFrame(),
    "numbers for names": lambda _: pd.DataFrame({0: [1], 1: [2]}),
    "a line break in a code": lambda f: f.assign(geoid=['1"\n,2', *list(f.geoid[1:])]),
    "a list": lambda _: [1, 2],
    "an array": lambda f: f.to_numpy(),
    "a series": lambda f: f.geoid,
    "bytes": lambda _: b"x",
}


@pytest.mark.parametrize("broken", BROKEN)
def test_that_a_frame_that_cannot_be_is_refused(broken, frame, tmp_path, capsys) -> None:
    with pytest.raises(px.PhexploreError) as caught:
        px.run(PERSONS, BROKEN[broken](frame), out=tmp_path / "r", seed=1, progress=False)
    assert caught.value.sentence
    assert not list(tmp_path.rglob("trial*.parquet"))
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "call",
    [
        lambda: px.load(SDHC).set(BUDGET, None),
        lambda: px.load(SDHC).set(BUDGET, NAN),
        lambda: px.load(SDHC).set(BUDGET, Decimal("NaN")),
        lambda: px.load(SDHC).set(BUDGET, [1]),
        lambda: px.load(SDHC).set(BUDGET, True),
        lambda: px.load(SDHC).set(BUDGET, 10**6000),
        lambda: px.load(SDHC).set(5, 1),
        lambda: px.load(SDHC).set({5: 1}),
        lambda: px.load(SDHC).set("states", "44"),
        lambda: px.load(SDHC).set("framework", 7),
        lambda: px.load("x" * 5000),
        lambda: px.load("a\0b"),
        lambda: px.load(None),
        lambda: px.compare(SDHC, 5),
        lambda: px.epsilon(SDHC, 0),
        lambda: px.epsilon(SDHC, 2),
        lambda: px.epsilon(SDHC, NAN),
        lambda: px.epsilon(SDHC, None),
        lambda: px.epsilon(SDHC, 0, conversion="discrete-gaussian-exact"),
        lambda: px.epsilon(Fraction(-1)),
        lambda: px.frontier(SDHC, totals=[-1]),
        lambda: px.frontier(SDHC, totals=[0]),
        lambda: px.frontier(SDHC, totals=[NAN]),
        lambda: px.frontier(SDHC, totals=["x"]),
        lambda: px.sweep(SDHC, None),
        lambda: px.sweep(SDHC, {"threshold PH2": 5}),
        lambda: px.sweep(SDHC, {"threshold PH2": [NAN]}),
        lambda: px.sweep(SDHC, {f"threshold {name}": range(1, 200) for name in ("PH2", "PH3", "PH4")}),
        lambda: px.solve(SDHC, [1]),
        lambda: px.solve(SDHC, {"PH3/state_A-G": NAN}),
        lambda: px.solve(SDHC, {"PH3/state_A-G": -3}),
        lambda: px.solve(SDHC, caps={"x": 1}),
        lambda: px.solve(SDHC, caps={"rho": NAN}),
        lambda: px.run(SDHC, "demo", out="a", trials=0, progress=False),
        lambda: px.run(SDHC, "demo", out="b", trials="2", progress=False),
        lambda: px.run(SDHC, "demo", out="c", seed=-1, progress=False),
        lambda: px.run(SDHC, "demo", out="d", seed=1.5, progress=False),
        lambda: px.run(SDHC, "demo", out="e", workers=-1, progress=False),
        lambda: px.run(SDHC, "demo", out="f", memory="x", progress=False),
        lambda: px.run(SDHC, "demo", out="g", stop_at={"x": 1}, progress=False),
        lambda: px.run(SDHC, "demo", out="h", stop_at={"coverage": 0.1, "x": 1}, progress=False),
        lambda: px.run(SDHC, "demo", out=None, progress=False),
        lambda: px.run(SDHC, {}, out="i", progress=False),
        lambda: px.run(SDHC, {"persons": 3}, out="j", progress=False),
        lambda: px.synth("pl94", 1.5, "z.csv", seed=1),
        lambda: px.synth("pl94", -5, "z.csv", seed=1),
        lambda: px.synth("pl94", 50, ".", seed=1),
        lambda: px.read(None),
        lambda: px.Spine.build(pd.DataFrame({"a": [1]})),
        lambda: px.verify("nowhere", require=0),
        lambda: px.approve(SDHC, who="", role="", out="a.phx"),
        lambda: px.forecast(SDHC).plot(5),
    ],
)
def test_that_other_arguments_are_refused(call, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(px.PhexploreError) as caught:
        call()
    assert caught.value.full
    assert capsys.readouterr() == ("", "")


def test_that_an_error_of_python_stays_its_cause() -> None:
    with pytest.raises(ArgumentError) as caught:
        px.epsilon(SDHC, 2)
    assert isinstance(caught.value.__cause__, ValueError)
    assert isinstance(caught.value, ValueError | TypeError)


def test_that_numbers_of_other_libraries_and_single_texts_are_taken(tmp_path) -> None:
    grid = {"threshold PH2": np.array([3, 4])}
    assert len(px.sweep(SDHC, grid, measure="PH3/state_A-G")) == 2
    assert px.sweep(SDHC, {"threshold PH2": "12"})["threshold PH2"].tolist() == [12]
    run = px.run("counties-invariant-2010", out=tmp_path / "r", seed=np.int64(3), progress=False)
    assert run.is_complete
    total = px.compare(SDHC, px.load(SDHC).set(BUDGET, "Infinity"))
    assert total[total.kind == "total"].iloc[0, 3] == INFINITE
