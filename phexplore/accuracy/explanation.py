"""How a number comes about, in a form that every view can show."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Explanation:
    """How one number comes about.

    Attributes:
        title: what the number is.
        formula: in symbols.
        filled: the same with the numbers of this scenario.
        result: the number with its unit.
        sentence: what it means, in plain words.
        source: paper and section, or the production program.
    """

    title: str
    formula: str
    filled: str
    result: str
    sentence: str
    source: str
