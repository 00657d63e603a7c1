"""A scenario as a draft for the registry of DP deployments: what the program knows is filled in, the rest is said to be missing."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from phexplore.accuracy.privacy_loss import HEADLINE_DELTA
from phexplore.model.conventions import Neighbours
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.published.deployments import record_bytes, slug
from phexplore.systems.protocol import Loss
from phexplore.systems.registry import system_of

CURATORS = ("U.S. Census Bureau",)
_OPEN = "To be written by the curator."


def deployment_record(scenario: Scenario, _: Scenario | None, now: datetime) -> bytes:
    """Return a record as the registry takes it, a draft of tier 2.

    Args:
        scenario: whose loss is stated.
        now: the day that stands for the publication.

    Raises:
        InputProblemsError: the schema refuses it.
    """
    system = system_of(scenario)
    forecast = system.forecast(scenario)
    loss = forecast.loss
    record = {
        "url_slug": slug(scenario.name, CURATORS, now.year),
        "status": "Draft",
        "tier": 2,
        "deployment": {
            "basic": {
                "name": scenario.name,
                "data_curators": list(CURATORS),
                "intended_use": _OPEN,
                "data_product_type": "Summary statistics",
                "data_product_region": "Puerto Rico" if "pr" in scenario.baseline.split("-") else "USA",
                "description": f"{system.title}: {system.summary}",
                "publication_date": now.date().isoformat(),
                "data_product_sector": "Government",
            },
            "dp_variant": {"variant_name": _variant(loss)},
            "privacy_loss": {
                "privacy_unit": "One record"
                if loss.neighbours is Neighbours.UNBOUNDED
                else "One record, in data of known size",
                "privacy_unit_details": "\n".join(f"- {sentence}" for sentence in forecast.protected) or _OPEN,
                "privacy_parameters": _parameters(loss),
                "privacy_parameters_details": f"The exact total is {loss.total}, for {loss.neighbours.value} neighbors.",
            },
            "deployment_model": {
                "model_name": "Central",
                "release_type": "One release",
                "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
        },
    }
    return record_bytes(record)


def _variant(loss: Loss) -> str:
    if loss.framework is not PrivacyFramework.PURE_DP:
        return "Zero-concentrated DP"
    return "Approximate DP" if loss.delta else "Pure DP"


def _parameters(loss: Loss) -> dict[str, Any]:
    """Return what is known of the loss as numbers; nothing where it has no bound."""
    if loss.bound is None:
        return {}
    if loss.framework is PrivacyFramework.PURE_DP:
        return {"epsilon": float(loss.bound), **({"delta": float(loss.delta)} if loss.delta else {})}
    return {"rho": float(loss.bound), "epsilon": loss.epsilon, "delta": float(HEADLINE_DELTA)}
