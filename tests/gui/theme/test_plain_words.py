"""Symbols of the field in words, in front of a committee alone."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest
from ini_chains import CHAIN

from phexplore.gui.theme.number_style import localised, wrappable
from phexplore.gui.theme.plain_words import in_plain_words, speak_plainly
from phexplore.systems.registry import preset
from phexplore.systems.topdown.edits import set_query_share
from phexplore.systems.topdown.ini_reading import read_chain
from phexplore.systems.topdown.ini_text import IniChain
from phexplore.systems.topdown.ini_writing import write_ini


@pytest.fixture(autouse=True)
def plainly() -> Iterator[None]:
    speak_plainly(True)
    yield
    speak_plainly(False)


@pytest.mark.parametrize(
    ("symbols", "words"),
    [
        ("Privacy loss, bounded ρ: 2.514562, unbounded 1.257281", "Privacy loss: 2.514562"),
        ("Privacy loss, ρ 2.556225… → 2.931906…", "Privacy loss 2.556225… → 2.931906…"),
        ("Bounded ρ 2.5 is spent on 46 queries", "Privacy loss 2.5 is spent on 46 queries"),
        ("share of the scenario's ρ, percent", "share of the scenario's privacy loss, percent"),
        ("54.0 %   ρ 1.358838", "54.0 %   1.358838"),
        ("33.33 %   ε 0.3333", "33.33 %   0.3333"),
        ("Privacy loss ε: 1.000000, over 3 levels", "Privacy loss: 1.000000, over 3 levels"),
        ("share of the whole ε, percent", "share of the whole privacy loss, percent"),
        ("is protected within ε = 0.192 when", "is protected within a privacy loss of 0.192 when"),
        ("Moving one is two such steps: ε = 4.", "Moving one is two such steps: a privacy loss of 4."),
        ("Privacy spent: ε = 2 each trial", "Privacy spent: 2 each trial"),
        ("All releases share one budget: ε adds up;", "All releases share one budget: the privacy loss adds up;"),
        ("Truncation bias", "Threshold effect"),
        (
            "largest 66 people; truncation is not included.",
            "largest 66 people; cutting at the threshold is not included.",
        ),
        ("PH3 (noise alone, truncation not included)", "PH3 (noise alone, not what thresholds cut off)"),
        ("Last run: coverage: 90.1 %", "Last run, within margins: 90.1 %"),
        ("Last run (edited since): coverage", "Last run (edited since), within margins"),
        ("Last run (synthetic): coverage", "Last run (synthetic), within margins"),
        ("bias −0.1 people (truncation)", "bias −0.1 people (thresholds)"),
        ("Truncation thresholds", "Thresholds"),
        (
            "The committee was shown the bounded figure, because the nation's total",
            "Counted for one record in place of another, because the nation's total",
        ),
        ("Coverage of the margins: 90 %", "Numbers within their margins: 90 %"),
        ("18 families, all rounded at once", "18 groups of areas, none of which needed a repair"),
        ("Bounded\nρ", "Privacy\nloss"),
        ("a bounded ρ of 3.5, but bounded budget ≤ 2.6", "a privacy loss of 3.5, but privacy loss ≤ 2.6"),
        ("Bounded budget ≤ 2.6", "Privacy loss ≤ 2.6"),
        ("unbounded budget ≤ 1.3", "unbounded budget ≤ 1.3"),
        ("ε 0.25, pure DP", "ε 0.25, pure"),
        ("Δ\nMOE", "Change of\nmargin"),
        ("MOE\n90 %", "Margin\n90 %"),
        ("Total ρ", "Total privacy loss"),
        ("τ, people", "Threshold, people"),
        ("Set τ of PH4 to 12", "Set threshold of PH4 to 12"),
        ("τ = 8 has the smallest error", "Threshold 8 has the smallest error"),
        ("ε 16.99 at δ = 10⁻¹⁰, zCDP, optimal α", "ε 16.99 at δ = 10⁻¹⁰, the tight conversion"),
        ("16.99 by zCDP with optimal α, and", "16.99 by the tight conversion, and"),
        ("Zero-concentrated (zCDP)", "The definition of 2020"),
        ("Privacy loss 2, unbounded 1\nε 14.91 at δ, bounded neighbors", "Privacy loss 2\nε 14.91 at δ"),
        ("A: margin 20.0 people → 25.0 people; unbounded ρ 0.7 → 0.4", "A: margin 20.0 people → 25.0 people"),
        ("B: truncation threshold τ 10 → 12; sensitivity 22 → 26 people", "B: threshold 10 → 12"),
        ("Noise is discrete Gaussian, σ² = 1/ρ per query group and level.", "Noise is discrete Gaussian."),
        ("Households (Nation), Δ MOE: ", "Households (Nation), change of the margin: "),
        ("The error (standard deviation between trials / √trials) is small.", "The error is small."),
        ("one noisy answer alone, σ = 6.0", "one noisy answer alone, standard deviation 6.0"),
        ("people, root mean square", "people, typically"),
        ("A bounded ρ is twice the unbounded one here.", "A bounded privacy loss is twice the unbounded one here."),
        ("as forecast, within the Monte-Carlo error", "as forecast, within the simulation error"),
        ("Whole privacy loss, ρ", "Total privacy loss"),
        ("ε from ρ (δ 10⁻¹⁰)", "ε by the tight conversion"),
        ("16.99 converted from ρ", "16.99 by the tight conversion"),
        ("the zCDP bound of 16.99 has slack", "the tight conversion of 16.99 has slack"),
        (
            "its conventions hold for all: 90 % margins, normal, bounded neighbors.",
            "its conventions hold for all: 90 % margins, normal.",
        ),
        (
            "2 trials, 1.645 × their root mean square; squared errors are 0.27 (standard error 0.06) times the predicted variance. End.",
            "2 trials. End.",
        ),
        (
            "Predicted variances are those of least squares: more is not in them. A run shows the difference.",
            "That counts are whole and never negative is not in a prediction. A run shows the difference.",
        ),
        (
            "2 trials; squared errors over predicted variance: tract 1.01, block 0.29; small counts err less.",
            "2 trials; small counts err less.",
        ),
        ("13.2 people, root mean square", "13.2 people, typically"),
        ("σ² = Δ² / (2ρ)", "σ² = Δ² / (2ρ)"),
        ("phosphorus", "phosphorus"),
    ],
)
def test_that_a_committee_reads_words_and_reads_them_once(symbols: str, words: str) -> None:
    assert in_plain_words(symbols) == words == in_plain_words(words)
    assert localised(symbols) == words


@pytest.mark.parametrize("is_imported", [True, False])
def test_that_a_committee_reads_no_name_that_only_production_needs(is_imported: bool) -> None:
    scenario = read_chain(IniChain("persons/US.ini", CHAIN))[0] if is_imported else preset("dhc-2020-units-us").scenario
    changed = set_query_share(scenario, next(iter(scenario.topdown.query_shares)), Fraction(1, 7))
    (note,) = write_ini(changed).notes
    assert "phexplore_" in note
    first = "query shares are not those of a published strategy" if is_imported else "strategy is not a published one"
    assert in_plain_words(note) == f"The {first}. Whoever runs production adds it before the run."
    speak_plainly(False)
    assert in_plain_words(note) == note


def test_that_experts_read_symbols() -> None:
    speak_plainly(False)
    assert localised("Bounded ρ 2.5, τ = 8") == "Bounded ρ 2.5, τ = 8"


def test_that_no_line_begins_with_a_percent_sign() -> None:
    assert wrappable(f"Parameters {'0f' * 32} of the scenario") == f"Parameters {'0f' * 32} of the scenario"
    assert wrappable(f"Type {'L' * 120}").replace("\N{ZERO WIDTH SPACE}", " ").split() == ["Type", *["L" * 40] * 3]
    assert wrappable(" " * 120) == " " * 120  # somebody's comment
    assert wrappable("at 90 % of 46, a % sign") == "at 90\N{NO-BREAK SPACE}% of 46, a % sign"
