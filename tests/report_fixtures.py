"""Values the report tests share."""

from __future__ import annotations

import datetime as dt
import re
import zlib
from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore.model.keys import TableId, parse_query
from phexplore.model.numbers import UNLIMITED
from phexplore.model.phsafe import PrivacyFramework
from phexplore.systems.phsafe.edits import set_budget, set_threshold
from phexplore.systems.phsafe.snapshot import scenario_snapshot

NOW = dt.datetime(2026, 7, 1, 14, 3, tzinfo=dt.UTC)


def edited(us):
    """A proposal: one budget cut, one level left out, one threshold lowered, one budget without a finite decimal."""
    proposal = replace(us, name="Proposal <3> & more", note="=HYPERLINK(evil)")
    proposal = set_budget(proposal, parse_query("PH3/state_A-G"), Fraction(1, 3))
    proposal = set_budget(proposal, parse_query("PH2/usa_*"), Fraction(0))
    return set_threshold(proposal, TableId("PH7"), 5)


def unlimited(us):
    """A test run's parameters: one level without noise."""
    return set_budget(replace(us, name="Without noise"), parse_query("PH4/usa_*"), UNLIMITED)


def pure_dp(us):
    """The 2020 numbers read as ε."""
    return replace(us, name="Pure DP", method=replace(us.method, framework=PrivacyFramework.PURE_DP))


def unpublished(us):
    """Nothing is published and nothing is aimed at."""
    budgets = dict.fromkeys(us.method.budgets, Fraction(0))
    return replace(us, name="Nothing", method=replace(us.method, budgets=budgets, targets={}))


SHAPES = {
    "edited": edited,
    "unlimited": unlimited,
    "pure dp": pure_dp,
    "unpublished": unpublished,
    "as in 2020": lambda us: us,
}


@pytest.fixture(params=SHAPES.values(), ids=SHAPES.keys())
def scenario(request, us):
    return request.param(us)


@pytest.fixture
def snapshot(us):
    """The 2020 parameters beside nothing."""
    return scenario_snapshot(us, NOW)


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    """The results of a complete run of 12 trials over three states, made up by hand."""
    from phexplore.systems.phsafe.results import RunResults
    from phexplore.systems.registry import preset
    from tests.report.run_builder import made_run

    directory = tmp_path_factory.mktemp("runs") / "made"
    return RunResults.open(made_run(directory, preset("sdhc-2020-us").scenario, trials=12))


@pytest.fixture(scope="session")
def run_figures(run):
    """The snapshot of `run`."""
    from phexplore.systems.phsafe.run_snapshot import run_snapshot

    return run_snapshot(run, NOW)


def unpacked(pdf):
    """The file with the contents of its compressed streams behind it."""
    parts = re.findall(rb"stream\r?\n(x.*?)endstream", pdf, re.DOTALL)
    return pdf + b"".join(zlib.decompressobj().decompress(part) for part in parts)
