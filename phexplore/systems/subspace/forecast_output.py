"""The figures of a forecast under subspace privacy as JSON with the keys of the command-line contract, as text and as a table."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from phexplore.accounting.gaussian_calibration import PaperConstant
from phexplore.accounting.subspace_noise import Contrasted, NoisePlan, Shaped
from phexplore.catalog.presets import errata_of
from phexplore.figures.wording import to_places
from phexplore.files.spreadsheet import csv_bytes
from phexplore.model.numbers import exact_text
from phexplore.model.scenario import Scenario
from phexplore.report.forecast_json import conventions_json, epsilon_json, margins_json
from phexplore.report.terminal import print_guarantees, print_table, tell
from phexplore.systems.subspace.errors import AnswerClass
from phexplore.systems.subspace.forecast import (
    Alternative,
    ReleaseForecast,
    alternatives,
    forecast_subspace,
)
from phexplore.systems.subspace.presets import subspace_presets

MOST_CLASSES = 24
"""Kinds of answers listed one by one; of more, the first, middle and last by variance."""


def forecast_json(scenario: Scenario, _: Path | None = None) -> dict[str, Any]:
    """Return the content of ``forecast --json``."""
    method = scenario.subspace
    figures = forecast_subspace(method, scenario.conventions)
    stated = "pure-dp" if figures.delta == 0 else "stated"
    return {
        "scenario": scenario.name,
        "framework": "subspace",
        "conventions": {**conventions_json(figures.conventions), "neighbours": "bounded"},
        "privacy": {
            "rho": None,
            "pure_epsilon": exact_text(figures.epsilon) if figures.delta == 0 else None,
            "stated": {"epsilon": exact_text(figures.epsilon), "delta": exact_text(figures.delta)},
            "epsilon": [epsilon_json(figure, stated) for figure in figures.epsilons],
            "protected": list(figures.protected),
            "not_protected": list(figures.not_protected),
            "exact_sums": figures.disclosure.rank,
            "determined_cells": figures.disclosure.determined,
            "paper_constant": _paper_json(figures.paper),
        },
        "cells": [entry for each in figures.releases for entry in _cells_json(each)],
        "releases": [_release_json(each, alternatives(method, each.plan.name)) for each in figures.releases],
        "derived": [],
        "errata": list(errata_of(subspace_presets(), scenario)),
    }


def _paper_json(paper: PaperConstant | None) -> dict[str, Any] | None:
    if paper is None:
        return None
    return {"v": exact_text(paper.v), "true_delta": paper.delta, "factor": paper.factor, "protects": paper.protects}


def shown_classes(classes: tuple[AnswerClass, ...]) -> tuple[AnswerClass, ...]:
    """Return the kinds of answers to list."""
    if len(classes) <= MOST_CLASSES:
        return classes
    return classes[0], classes[len(classes) // 2], classes[-1]


def _cells_json(release: ReleaseForecast) -> list[dict[str, Any]]:
    plan = release.plan
    return [
        {
            "query": plan.name,
            "level": "",
            "first_answer": kind.first,
            "answers": kind.answers,
            "epsilon": exact_text(plan.epsilon),
            "unit_variance": exact_text(kind.unit_variance),
            "variance": kind.variance,
            "sigma": kind.variance**0.5,
            "moe": margins_json(kind.margins),
        }
        for kind in shown_classes(release.classes)
    ]


def _release_json(release: ReleaseForecast, others: tuple[Alternative, ...]) -> dict[str, Any]:
    plan = release.plan
    reach = plan.sensitivity
    return {
        "name": plan.name,
        "mechanism": plan.release.mechanism.value,
        "answers": plan.space.size,
        "invariants": [
            {"name": report.name, "rows": report.rows, "independent": report.independent, "why": report.why}
            for report in plan.space.reports
        ],
        "rank": plan.space.rank,
        "protected_dimensions": plan.space.size - plan.space.rank,
        "share": exact_text(plan.release.share),
        "epsilon": exact_text(plan.epsilon),
        "delta": exact_text(plan.delta),
        "sensitivity": {
            "l1": exact_text(reach.l1),
            "squared_l2": exact_text(reach.squared_l2),
            "squared_l2_projected": exact_text(reach.squared_projected),
            "exact": reach.is_exact,
            "explanation": list(release.explanation),
        },
        "noise": noise_json(plan),
        "expected_squared_error": release.squared_error,
        "approximation": {"factor": release.approximation.factor, "words": release.approximation.words},
        "kinds_of_answers": len(release.classes),
        "alternatives": [
            {
                "mechanism": other.mechanism.value,
                "basis": other.basis.value if other.basis else None,
                "expected_squared_error": other.squared_error,
                "ratio": other.squared_error / release.squared_error if other.squared_error is not None else None,
                "why_not": other.why_not,
            }
            for other in others
        ],
    }


def noise_json(plan: NoisePlan) -> dict[str, Any]:
    """Return what decides the noise of a release."""
    content: dict[str, Any] = {"steps_per_person": plan.steps}
    if plan.squared_mu is not None:
        content["squared_mu"] = exact_text(plan.squared_mu)
    if plan.squared_sigma is not None:
        content["squared_sigma"] = exact_text(plan.squared_sigma)
    match plan.form:
        case Contrasted():
            content["basis"], content["delta_1"] = plan.release.basis.value, plan.form.rates.delta_1
        case Shaped():
            content["dimensions"] = int(plan.form.factor.shape[1])
        case _:
            noise = plan.form.noise
            scale = getattr(noise, "scale", None)
            content["distribution"] = noise.name
            content["scale"] = exact_text(scale / plan.steps) if scale is not None else None
            content["variance"] = noise.variance() / plan.steps**2
    return content


def print_forecast(scenario: Scenario, _: Path | None = None) -> None:
    """Print all figures."""
    figures = forecast_subspace(scenario.subspace, scenario.conventions)
    delta = f", δ = {exact_text(figures.delta)}" if figures.delta else ""
    tell(scenario.name)
    tell(f"ε = {exact_text(figures.epsilon)}{delta} (replace one record)")
    print_guarantees(figures.protected, figures.not_protected)
    if figures.paper is not None and not figures.paper.protects:
        tell(
            f"erratum: the paper's constant would have {figures.paper.factor:.3g} times the δ asked for; it is not used."
        )
    print_guarantees((), (), errata_of(subspace_presets(), scenario))
    for release in figures.releases:
        tell()
        _print_release(scenario, release)


def _print_release(scenario: Scenario, release: ReleaseForecast) -> None:
    plan = release.plan
    tell(f"{plan.name}: {plan.release}")
    for report in plan.space.reports:
        redundant = f" ({report.why})" if report.why else ""
        tell(f"  exact: {report.name}: {report.independent:,} of {report.rows:,} sums independent{redundant}")
    for sentence in release.explanation:
        tell(f"  {sentence}")
    tell(f"  expected squared error {release.squared_error:,.2f} people² over {plan.space.size:,} answers")
    factor = release.approximation.factor
    tell(f"  {f'at most {factor:.3f} times ' if factor else ''}{release.approximation.words}")
    rows = [
        (
            str(kind.first),
            f"{kind.answers:,}",
            exact_text(kind.unit_variance),
            to_places(kind.variance**0.5, 4),
            "-" if kind.margins.exact is None else f"{kind.margins.exact:,}",
            to_places(kind.margins.normal),
        )
        for kind in shown_classes(release.classes)
    ]
    header = ("first answer", "answers", "variance at unit noise", "σ", "MOE exact", "MOE normal")
    print_table(header, rows, right=range(6))
    others = [
        (
            other.mechanism.title + (f", {other.basis.value}" if other.basis else ""),
            "-" if other.squared_error is None else f"{other.squared_error:,.0f}",
            other.why_not if other.squared_error is None else _ratio(other.squared_error, release.squared_error),
        )
        for other in alternatives(scenario.subspace, plan.name)
    ]
    print_table(("other mechanisms", "squared error", "ratio"), others, right=(1,))


_COLUMNS = ("RELEASE", "MECHANISM", "SHARE", "EPSILON", "DELTA", "EXACT_SUMS", "FIRST_ANSWER", "ANSWERS", "UNIT_VARIANCE",
            "VARIANCE", "MOE_EXACT", "MOE_NORMAL", "SQUARED_ERROR")  # fmt: skip


def forecast_csv(scenario: Scenario, _: Scenario | None = None, __: datetime | None = None) -> bytes:
    """Return a line per release and kind of answer: its variance and margins. RFC 4180, UTF-8."""
    lines = (
        [
            release.plan.name,
            release.plan.release.mechanism.value,
            exact_text(release.plan.release.share),
            exact_text(release.plan.epsilon),
            exact_text(release.plan.delta),
            release.plan.space.rank,
            kind.first,
            kind.answers,
            exact_text(kind.unit_variance),
            f"{kind.variance:.9g}",
            "" if kind.margins.exact is None else kind.margins.exact,
            f"{kind.margins.normal:.6f}",
            f"{release.squared_error:.9g}",
        ]
        for release in forecast_subspace(scenario.subspace, scenario.conventions).releases
        for kind in release.classes
    )
    return csv_bytes([_COLUMNS, *lines])


def _ratio(error: float, present: float) -> str:
    """Return how many times as large an error is; nothing is so many times as large as none."""
    return f"{error / present:.3f}" if present else "-"
