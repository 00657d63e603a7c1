"""The figures of a forecast under subspace privacy as JSON, with the keys of the command-line contract and its own."""

from __future__ import annotations

from typing import Any

from phexplore.accounting.gaussian_calibration import PaperConstant
from phexplore.accounting.subspace_noise import Contrasted, NoisePlan, Shaped
from phexplore.model.numbers import exact_text
from phexplore.model.scenario import Scenario
from phexplore.report.forecast_json import conventions_json, epsilon_json, margins_json
from phexplore.systems.subspace.errors import AnswerClass
from phexplore.systems.subspace.forecast import Alternative, ReleaseForecast, SubspaceForecast, alternatives

MOST_CLASSES = 24
"""Kinds of answers listed one by one; of more, the first, middle and last by variance."""


def subspace_json(scenario: Scenario, figures: SubspaceForecast, errata: tuple[str, ...]) -> dict[str, Any]:
    """Return the content of ``forecast --json``."""
    method = scenario.subspace
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
        "errata": list(errata),
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
