"""What symbols and abbreviations of the field are called in front of a committee. Files, copies and formulas keep them."""

from __future__ import annotations

import re
from functools import lru_cache

from phexplore.text.quoted import around

_IS_PLAIN = [False]

_PHRASES = {
    "Privacy loss, bounded ρ": "Privacy loss",
    "Privacy loss, ρ": "Privacy loss",
    "Privacy loss (ρ or ε)": "Privacy loss",
    "Bounded\nρ": "Privacy\nloss",
    "Bounded\nε": "Privacy\nloss",
    "Δ bounded\nρ": "Change of\nloss",
    "Δ\nMOE": "Change of\nmargin",
    "Δ MOE": "change of the margin",
    "Δ bounded ρ": "change of the privacy loss",
    "MOE ≤": "At most",
    "bounded budget ≤": "privacy loss ≤",
    "ρ + 2√(ρ ln 1/δ)": "the simple conversion",
    "zCDP, optimal α": "the tight conversion",
    "zCDP with optimal α": "the tight conversion",
    "zCDP conversion with the optimal α": "tight conversion",
    "optimal α": "tight conversion",
    "Bun–Steinke": "simple conversion",
    "converted from ρ": "by the tight conversion",
    "budget ρ": "budget",
    "Privacy loss ε": "Privacy loss",
    "whole ε": "whole privacy loss",
    "within ε = ": "within a privacy loss of ",
    "two such steps: ε = ": "two such steps: a privacy loss of ",
    "two such steps: ρ = ": "two such steps: a privacy loss of ",
    "Privacy spent: ε = ": "Privacy spent: ",
    "Privacy spent: ρ = ": "Privacy spent: ",
    "ε adds up": "the privacy loss adds up",
    "The total is ε; noise": "The total is the privacy loss; noise",
    "Coverage of the margins": "Numbers within their margins",
    "run: coverage": "run, within margins",
    "since): coverage": "since), within margins",
    "synthetic): coverage": "synthetic), within margins",
    "truncation bias": "threshold effect",
    "truncation threshold": "threshold",
    "truncation threshold τ": "threshold",
    "people (truncation)": "people (thresholds)",
    "noise alone, truncation not included": "noise alone, not what thresholds cut off",
    "The committee was shown the bounded figure, because": "Counted for one record in place of another, because",
    "truncation": "cutting at the threshold",
    "Noise from a seed: the same seed gives the same bytes. For simulation only": "Noise that can be drawn again: for simulation only",
    "families, all rounded at once": "groups of areas, none of which needed a repair",
    "Whole privacy loss, ρ": "Total privacy loss",
    "Whole privacy loss, ε": "Total privacy loss",
    "zero-concentrated (zCDP)": "the definition of 2020",
    "the zCDP bound": "the tight conversion",
    "under zCDP": "as defined in 2020",
    "Budgets are ρ; noise is discrete Gaussian. The": "The",
    "Paper: ⌊1.64 σ⌋": "Paper: as the paper prints it",
    "paper, ⌊1.64 σ⌋": "as the paper prints it",
    "Normal: z σ, z =": "Normal: standard deviations times",
    "Sensitivity Δ": "Sensitivity",
    "Noise σ": "Noise",
    "threshold τ": "threshold",
    "τ = ": "threshold ",
    "τ, people": "Threshold, people",
    "τ of": "threshold of",
    "Proven ε (δ 10⁻¹⁰)": "Proven ε",
    "ε from ρ (δ 10⁻¹⁰)": "ε by the tight conversion",
    "Pure DP with double-geometric noise (the paper), or zCDP with discrete Gaussian noise": "Which definition, with its noise",
    "C, approximate (Algorithm 2)": "Cumulative sizes, made consistent",
    "C, exact chain": "Cumulative sizes, one chain through all regions",
    "C, relaxed and rounded (baseline)": "Cumulative sizes, rounded one by one (baseline)",
    "H, exact tree": "Sizes, made consistent",
    "H, relaxed and rounded (baseline)": "Sizes, rounded one by one (baseline)",
    "TopDown, level by level": "Sizes, level by level",
    "leave free (Corollary 3.8). Pure: no δ": "leave free",
    "pure, no δ": "pure",
    "under pure DP": "under the pure definition",
    "pure DP": "pure",
    "No ε or δ describes that": "No privacy loss describes that",
    "How privacy loss and δ become ε": "How the privacy loss becomes ε",
    "L1 error (sum of errors)": "Sum of errors",
    "L1 error": "Sum of errors",
    "ε, or ρ under zCDP;": "The privacy loss;",
    "also Theorem 2, below the county and within the bypass cutoff": "also some below the county and within the bypass cutoff",
    "The total is ρ; noise is discrete Gaussian": "The total is the privacy loss; noise is discrete Gaussian",
    "Normal: z σ, z = 1.645": "Normal: 1.645 standard deviations",
    "alone, σ =": "alone, standard deviation",
    "root mean square error of": "typical error of",
    "people, root mean square": "people, typically",
    "households, root mean square": "households, typically",
    "dimensions": "independent numbers",
    "at most √n + this many of the n blocks of its tract": "at most this many blocks more than the square root of those in its tract",
    "at most √n + this many blocks of a tract of n blocks": "at most this many blocks more than the square root of those in its tract",
    "prints it, ⌊1.64 σ⌋": "prints it",
    "bounded ρ": "privacy loss",
    "of bounded loss": "of privacy loss",
    "A bounded ρ is": "A bounded privacy loss is",
    "Monte-Carlo": "simulation",
    "equal to the declared budget, added up as fractions": "exactly as declared",
    "within it (normal)": "within it",
    "unbounded ρ": "privacy loss by the other count",
}
"""By what is shown to experts; the longest is found first."""
_SYMBOLS = {
    "ρ": "privacy loss",
    "τ": "threshold",
    "σ": "standard deviation",
    "MOE": "margin",
    "zCDP": "the definition of 2020",
}
_FORMULA = re.compile(r"[√²ΦΣα⌊]|[ρτσ] ?[=+×·/]|[=+×·/√] ?\d*[ρτσ]")
"""Whoever reads it knows the symbols: without them it would say nothing."""
_FOR_EXPERTS = re.compile(
    r"(?:^|, )unbounded [\d.,…]+$|; (?:unbounded ρ|sensitivity) [^;\n]+|, (?:un)?bounded neighbors(?=\. |\.?$)"
    r"|, σ² = (?:1/ρ|sensitivity / 2ρ)[^.]*| with scale (?:2|sensitivity ?)/ ?ε[^.,]*"
    r"| \(standard deviation between trials / √trials\)|, [\d.]+ × their root mean square"
    r"|; squared errors are [\d.]+(?: \(standard error [\d.]+\))? times the predicted variance"
    r"|(?<=; )squared errors over predicted variance: [^;]+; ",
    re.MULTILINE,
)
"""The half beside the figure that committees decide on, and what only formulas need: two figures of one loss are one too many."""
_VARIANCE = re.compile(r"Predicted variances are those of [^.]*\.")
"""Said of predicted margins, whose committee asks what a run adds to them."""
_NEW_TO_PRODUCTION = re.compile(
    r"(?<=published one\.) Add it, as \S+ lists it, to the production code\."
    r"|(?<=published strategy\.) Add a strategy '\w+' with the shares of \S+ to the production code before the run\."
)
_OWN_NAME = re.compile(r" 'phexplore_[0-9a-f]+'(?= is not a published one)")
"""Names and files are for those who run production; the bundle and experts keep them."""
_BESIDE_SHARE = re.compile(r"(?<=%)( +)[ρε] (?=\d)")
"""A loss beside its share needs no name: the axis has it."""


def speak_plainly(plain: bool) -> None:
    """Call symbols by words from now on, or show them."""
    _IS_PLAIN[:] = [plain]


def speaks_plainly() -> bool:
    """Return whether symbols are called by words."""
    return _IS_PLAIN[0]


def in_plain_words(text: str) -> str:
    """Return a text as it is read: with words for symbols in front of a committee."""
    return around(text, _plain) if _IS_PLAIN[0] else text


@lru_cache(maxsize=8192)
def _plain(text: str) -> str:
    text = _VARIANCE.sub("That counts are whole and never negative is not in a prediction.", text)
    text = _OWN_NAME.sub("", _NEW_TO_PRODUCTION.sub(" Whoever runs production adds it before the run.", text))
    text = _phrases().sub(_said, _BESIDE_SHARE.sub(r"\1", _FOR_EXPERTS.sub("", text)))
    return text if _FORMULA.search(text) else _symbols().sub(_said, text)


def _said(match: re.Match[str]) -> str:
    """Return what something is called, beginning like the text that it begins."""
    found = match[0]
    words = _PHRASES.get(found) or _PHRASES.get(found[:1].lower() + found[1:]) or _SYMBOLS[found]
    before = match.string[: match.start()].rstrip("\n ")
    is_word = found[0].isascii() and found[0].islower() and not found.startswith("zCDP")
    begins = (
        (not before and not is_word)
        or before[-1:] in tuple(".!?")
        or (found[0].isupper() and found.lower() in _PHRASES)
    )
    return words[:1].upper() + words[1:] if begins and words[0] != "ε" else words


@lru_cache(maxsize=1)
def _phrases() -> re.Pattern[str]:
    known = {*_PHRASES, *(phrase[:1].upper() + phrase[1:] for phrase in _PHRASES)}
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(known, key=len, reverse=True)))})")


@lru_cache(maxsize=1)
def _symbols() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(_SYMBOLS)})(?!\w)")
