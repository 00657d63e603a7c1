"""Classes of size that census error tables are split by.

Source: the detailed summary metrics of the 2020 disclosure avoidance system (workbook of 2023-04-03).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phexplore.metrics.topdown.shapes import Integers


@dataclass(frozen=True, slots=True)
class SizeClasses:
    """Consecutive classes of whole numbers from 0 up.

    Attributes:
        id: for files and options.
        title: words for people.
        starts: smallest number of each class; the first is 0, the last class has no end.
    """

    id: str
    title: str
    starts: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse classes that are none."""
        if self.starts[:1] != (0,) or list(self.starts) != sorted(set(self.starts)):
            raise ValueError(f"classes start at 0 and ascend, got {self.starts}")

    @property
    def labels(self) -> tuple[str, ...]:
        """One per class, e.g. ``1-9`` or ``100,000 or more``."""
        ends = (*(start - 1 for start in self.starts[1:]), None)
        return tuple(_label(start, end) for start, end in zip(self.starts, ends, strict=True))

    def class_of(self, sizes: Integers) -> NDArray[np.intp]:
        """Return the class of each of ``sizes[...]``, in the same shape.

        Raises:
            ValueError: a number is negative.
        """
        if sizes.size and sizes.min() < 0:
            raise ValueError(f"sizes are 0 or more, got {sizes.min()}")
        return np.searchsorted(np.array(self.starts), sizes, side="right") - 1


def _label(start: int, end: int | None) -> str:
    if end is None:
        return f"{start:,} or more"
    return f"{start:,}" if start == end else f"{start:,}-{end:,}"


TENS = SizeClasses("tens", "Powers of ten", (0, *(10**power for power in range(9))))
# The census bins are open below and closed above: 1-50, 51-100, ...; 0 is a class of its own here.
FIFTIES = SizeClasses("fifties", "Steps of 50 people up to 2,500", (0, *range(1, 2_502, 50)))
SMALL_COUNTS = SizeClasses(
    "small-counts",
    "Small counts one by one",
    (*range(11), 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000),
)
