"""Printing for people and for programs: aligned text tables, JSON. No text from a file reaches a terminal as it is."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phexplore.figures.wording import to_places
from phexplore.model.issues import Issue
from phexplore.text.escapes import visible

if TYPE_CHECKING:
    from phexplore.accuracy.margins import Margins
    from phexplore.accuracy.privacy_loss import EpsilonFigure

_OBEYED = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Characters beside those below the space that JSON leaves as they are: a terminal obeys them, or cannot print them."""


def print_json(value: Any) -> None:
    """Print JSON with stable layout; numbers that must stay exact are text already."""
    print(json_lines(value))


def json_lines(value: Any) -> str:
    """Return JSON with stable layout in which every character that a terminal would obey is escaped."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    return _OBEYED.sub(lambda found: json.dumps(found.group())[1:-1], text)


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> None:
    """Print an aligned table.

    Args:
        header: column names.
        rows: text cells.
        right: indices of columns aligned right (numbers).
    """
    shown = [[visible(str(cell)) for cell in row] for row in [header, *rows]]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in [shown[0], ["-" * width for width in widths], *shown[1:]]:
        cells = [c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        print("  ".join(cells).rstrip())


def tell(*lines: str) -> None:
    """Print lines for a person; an empty one without arguments."""
    print("\n".join(map(visible, lines)))


def say(*lines: str) -> None:
    """Tell a person something without disturbing output that a program reads."""
    print("\n".join(map(visible, lines)), file=sys.stderr)


def say_issues(issues: Iterable[Issue]) -> None:
    """Tell a person what is worth knowing, each with its place and remedy."""
    for issue in issues:
        say(f"{issue.place}: {issue.severity.value}: {issue.sentence} {issue.remedy}")


def say_if_confidential(path: Path) -> None:
    """Say before block data are read that they are treated as confidential, if they are."""
    from phexplore.runs.confidentiality import warning_about_blocks  # noqa: PLC0415 - only this pays for it

    if warning := warning_about_blocks(path):
        say(warning)


def print_epsilons(figures: Iterable[EpsilonFigure]) -> None:
    """Print every ε with its δ, conversion and neighbours: what is proven leads, as in every view."""
    from phexplore.model.numbers import scientific_text  # noqa: PLC0415 - as above
    from phexplore.model.rounded import rounded_down, rounded_up  # noqa: PLC0415 - to print a failure loads no figures

    for figure in sorted(figures, key=lambda each: each.low is None):
        how = figure.conversion.value if figure.conversion else "pure DP"
        value, sign = figure.value, "="
        if figure.low is not None:
            sign, nominal = "≤", f"not below {rounded_down(figure.low, 4)}"
            if figure.bypass_high is not None:
                # What rules, caps and the window's headline state: the largest over all paths.
                value = max(value, figure.bypass_high)
                nominal = f"on any path of the spine, {rounded_up(figure.value, 4)} on the nominal one"
            how = f"{how}: proven, {nominal}"
        tell(
            f"ε {sign} {rounded_up(value, 4)} at δ = {scientific_text(figure.delta)}  ({how}, {figure.neighbours.value} neighbors)"
        )


def print_guarantees(protected: Iterable[str], not_protected: Iterable[str], errata: Iterable[str] = ()) -> None:
    """Print what is protected, what is not, and where the paper prints otherwise.

    Args:
        protected: sentences.
        not_protected: sentences.
        errata: sentences.
    """
    for word, sentences in (("protected", protected), ("not protected", not_protected), ("erratum", errata)):
        for sentence in sentences:
            tell(f"{word}: {sentence}")


def margin_texts(margins: Margins | None) -> tuple[str, str, str]:
    """Return a margin in its three conventions as text."""
    if margins is None:
        return "-", "-", "-"
    return f"{margins.exact}", to_places(margins.normal), "-" if margins.paper is None else f"{margins.paper}"
