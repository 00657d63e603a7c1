"""What every document of an S-DHC scenario says about its numbers: identity, privacy loss, formulas, errata and sources."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from phexplore.accuracy.proven_loss import proven_figures
from phexplore.catalog.names import listed_states, preset_name
from phexplore.model.conventions import Conventions, MarginConvention
from phexplore.model.moments import zoned_text
from phexplore.model.numbers import exact_text
from phexplore.report.provenance import Section, conventions_section, epsilon_name, epsilon_text
from phexplore.systems.phsafe.forecast import Forecast
from phexplore.systems.phsafe.snapshot import ScenarioSnapshot

KEYWORDS = ("S-DHC", "PHSafe", "differential privacy")
"""Of every document about the S-DHC."""

PAPER = (
    "PHSafe: Disclosure Avoidance for the 2020 Census Supplemental Demographic and Housing Characteristics File (S-DHC)"
)
"""Title of the paper that defines tables, algorithm and published parameters."""


def convention_name(conventions: Conventions) -> str:
    """Return the margin convention in two words, e.g. ``normal, z = 1.645``."""
    if conventions.margin is MarginConvention.NORMAL and conventions.confidence == Fraction(9, 10):
        return f"normal, z = {exact_text(conventions.z)}"
    return {MarginConvention.PAPER: "paper, ⌊1.64 σ⌋"}.get(conventions.margin, conventions.margin.value)


def confidence_text(conventions: Conventions) -> str:
    """Return the confidence, e.g. ``90 %``."""
    return f"{exact_text(conventions.confidence * 100)} %"


@dataclass(frozen=True, slots=True)
class Formula:
    """One formula of the method.

    Attributes:
        name: what it gives.
        text: the formula in plain characters.
        source: where it is printed.
    """

    name: str
    text: str
    source: str


FORMULAS = (
    Formula("Sensitivity of a truncated table", "Δ = 2τ + 2 people", "PHSafe paper, Lemma 6 and Theorem 1"),
    Formula("Sensitivity of a denominator", "Δ = 2 units", "PHSafe paper, Theorem 2"),
    Formula("Noise scale under zCDP", "σ² = Δ² / (2ρ), discrete Gaussian on the integers", "PHSafe paper, Lemma 3"),
    Formula(
        "Noise scale under pure DP",
        "b = Δ / ε, two-sided geometric; variance 2 e^(−1/b) / (1 − e^(−1/b))²",
        "PHSafe 3.0.0, output column VARIANCE",
    ),
    Formula("Margin, normal", "z σ; for a sum of k basis cells z σ √k", "PHSafe paper, §7.1, with its z named"),
    Formula("Margin, paper", "⌊1.64 σ⌋", "PHSafe paper, §7.1"),
    Formula("Margin, exact", "min {m : P(|X| ≤ m) ≥ confidence}, sums by exact convolution", "definition"),
    Formula("Budget from a margin", "ρ = z² Δ² / (2 m²), rounded as the conventions say", "PHSafe paper, Corollary 2"),
    Formula("Total privacy loss", "sum of all budgets (sequential composition)", "PHSafe paper, Lemma 4"),
    Formula("Bounded privacy loss", "2 × unbounded", "PHSafe paper, §5.3"),
)


ERRATA = (
    (
        "1.64 or 1.645",
        (
            "The paper prints margins as ⌊1.64 σ⌋ and ρ = 1.3448 Δ²/m². All 46 published budgets follow from their targets "
            "with z = 1.645 (constant 1.3530125), rounded to six decimals; with 1.64 only 9 of 46 do."
        ),
    ),
    (
        "500 or 496",
        (
            "The budget 0.000022 of the nation's denominators keeps two digits only. Its 90 % margin is 496 units, not the "
            "500 of the target column of Table 10."
        ),
    ),
    (
        "The floor",
        (
            "⌊1.64 σ⌋ of the published budgets is 498, 199, 67 and 19, just below the targets 500, 200, 68 and 20; such an "
            "interval covers slightly less than 90 % (0.891 to 0.899)."
        ),
    ),
    ("No total", "Table 10 prints no total; the totals here are exact sums of its rows."),
)


SOURCES = (
    ("Method and Table 10", PAPER),
    ("Parameters of 2020", "PHSafe 3.0.0, configs/phsafe/NMFv8, us and pr config.json"),
    ("zCDP", "M. Bun, T. Steinke: Concentrated Differential Privacy, 2016"),
    ("Discrete Gaussian", "C. Canonne, G. Kamath, T. Steinke: The Discrete Gaussian for Differential Privacy, 2020"),
    ("Gaussian curve", "B. Balle, Y.-X. Wang: Improving the Gaussian Mechanism for Differential Privacy, 2018"),
)


def identity(snapshot: ScenarioSnapshot) -> Section:
    """Return who the scenario is: name, origin, fingerprint, time and program."""
    method = snapshot.scenario.phsafe
    entries = [
        ("Scenario", snapshot.scenario.name),
        ("Started from", preset_name(snapshot.scenario.baseline) or "no preset"),
        ("Product", "Supplemental Demographic and Housing Characteristics File (S-DHC), PHSafe"),
        ("Privacy definition", method.framework.value),
        ("States", f"{len(method.states)}: {listed_states(method.states)}"),
        ("Fingerprint of the parameters (SHA-256)", snapshot.fingerprint),
        ("Made", f"{zoned_text(snapshot.now)}, phexplore {snapshot.version}"),
    ]
    if snapshot.scenario.note:
        entries.insert(1, ("Note", snapshot.scenario.note))
    return Section("Scenario", tuple(entries))


def privacy_section(forecast: Forecast) -> Section:
    """Return the totals, exact, and every ε with its conversion or proof, neighbours and δ."""
    privacy = forecast.privacy
    symbol = privacy.framework.symbol
    figures = proven_figures(privacy.epsilons, forecast.noise)
    entries = [
        (f"Bounded {symbol}, total", exact_text(privacy.bounded_total)),
        (f"Unbounded {symbol}, total", exact_text(privacy.total)),
        *((epsilon_name(each), epsilon_text(each)) for each in figures),
    ]
    return Section("Privacy loss", tuple(entries))


def method_sections() -> tuple[Section, ...]:
    """Return formulas, errata and sources: the same for every scenario."""
    formulas = tuple((formula.name, f"{formula.text}. Source: {formula.source}") for formula in FORMULAS)
    return (
        Section("Formulas", formulas),
        Section("Where the paper's print differs", ERRATA),
        Section("Sources", SOURCES),
    )


def provenance(snapshot: ScenarioSnapshot) -> tuple[Section, ...]:
    """Return all sections, in the order a reader asks for them."""
    return (
        identity(snapshot),
        privacy_section(snapshot.forecast),
        conventions_section(snapshot.forecast.conventions, snapshot.scenario.phsafe.framework),
        *method_sections(),
    )
