"""How many persons, households of each size, group-quarters persons and persons per cell a state and its parts get.

Everything here is whole numbers that add up: what the generator then fills with people.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from phexplore.data.synthetic.tables import GROUPS, LARGEST_SIZE, StateFigures, apportion, assumptions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

OPEN_CLASS = 7
"""The last published size class is 7 or more."""

PERSONS_PER_PART = 250_000
"""A state is made in parts of about this size: small enough for the processor's cache, so that any total streams."""


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """Whole numbers to be met by a state or a part of it.

    Attributes:
        sizes: ``int64[21]``, households by number of persons.
        group_quarters_persons: persons in group quarters.
        vacant: vacant housing units.
        cells: ``int64[2, 8]``, persons under 18 and 18 or over by race and ethnicity group.
    """

    sizes: NDArray[np.int64]
    group_quarters_persons: int
    vacant: int
    cells: NDArray[np.int64]

    @property
    def household_persons(self) -> int:
        """Persons in households."""
        return int(self.sizes @ np.arange(len(self.sizes)))

    @property
    def households(self) -> int:
        """Occupied housing units."""
        return int(self.sizes.sum())

    @property
    def persons(self) -> int:
        """All persons."""
        return self.household_persons + self.group_quarters_persons

    @property
    def facilities(self) -> int:
        """Group-quarters units, at least 1 person each."""
        return -(-self.group_quarters_persons // assumptions().persons_per_facility)

    @property
    def units(self) -> int:
        """All units: occupied, vacant, group quarters."""
        return self.households + self.vacant + self.facilities


def split_over_states(persons: int, figures: Sequence[StateFigures]) -> list[int]:
    """Return the persons of each state, in proportion to 2010 (largest remainder), at least 1 while there are enough.

    Args:
        persons: to divide.
        figures: of the states.
    """
    counts = apportion(np.array([state.persons for state in figures]), persons)
    if persons >= len(figures):
        while (counts == 0).any():
            counts[np.argmax(counts)] -= 1
            counts[np.flatnonzero(counts == 0)[0]] += 1
    return [int(count) for count in counts]


def state_target(figures: StateFigures, persons: int) -> Target:
    """Return the whole numbers of a state of `persons` persons with the composition of the real one.

    Args:
        figures: of the real state.
        persons: how many the synthetic one has.
    """
    quarters = min(round(figures.group_quarters_persons * persons / figures.persons), max(persons - 1, 0))
    households = max(round(figures.households * persons / figures.persons), min(persons - quarters, 1))
    sizes = whole_sizes(expected_sizes(figures) * (persons / figures.persons), persons - quarters, households)
    return Target(
        sizes=sizes,
        group_quarters_persons=quarters,
        vacant=round(int(sizes.sum()) * assumptions().vacant_per_household),
        cells=apportion(figures.cells.ravel(), persons).reshape(figures.cells.shape),
    )


def expected_sizes(figures: StateFigures) -> NDArray[np.float64]:
    """Return the households of a state by size: ``float64[21]``, real up to 6, a geometric tail from 7.

    The tail p(7 + k) ∝ r^k, k = 0 … 13, has the mean size that the persons left for it imply, (persons in households −
    Σ n·h_n) / h_7+; 2010 has 7.6 (West Virginia) to 8.6 (Hawaii).
    """
    sizes = np.zeros(LARGEST_SIZE + 1)
    sizes[1:OPEN_CLASS] = figures.sizes[: OPEN_CLASS - 1]
    housed = figures.persons - figures.group_quarters_persons
    open_households = figures.sizes[-1]
    mean_excess = (housed - sizes @ np.arange(len(sizes))) / open_households - OPEN_CLASS
    steps = np.arange(LARGEST_SIZE - OPEN_CLASS + 1)
    low, high = 0.0, 1.0
    for _ in range(80):
        ratio = (low + high) / 2
        tail = ratio**steps
        low, high = (ratio, high) if tail @ steps / tail.sum() < mean_excess else (low, ratio)
    sizes[OPEN_CLASS:] = tail / tail.sum() * open_households
    return sizes


def whole_sizes(expected: NDArray[np.float64], persons: int, households: int) -> NDArray[np.int64]:
    """Return households by size, ``int64[sizes]``, near `expected`, that hold exactly `persons` persons.

    Starts from the whole parts, gives the persons left to the sizes that lack most, then exchanges one or two
    households for one or two others of as many persons while that brings the numbers nearer: first the number of all
    households, then the published classes 1 … 6 and 7+, then the sizes inside the open class.

    Args:
        expected: ``expected[sizes]``, households of 0, 1, 2, … persons.
        persons: in all households together.
        households: how many there should be.
    """
    counts = np.floor(expected + 1e-9).astype(np.int64)
    left = persons - int(counts @ np.arange(len(counts)))
    while left < 0:
        largest = int(np.flatnonzero(counts)[-1])
        counts[largest] -= 1
        left += largest
    while left:
        fitting = np.arange(1, min(left, LARGEST_SIZE) + 1)
        size = int(fitting[np.argmax((expected - counts)[fitting])])
        counts[size] += 1
        left -= size
    moves, wanted = _exchanges(), _measures(expected)
    wanted[-1] = households
    changes = _measures(moves)
    for _ in range(int(counts.sum()) + households):
        off = _measures(counts) - wanted
        # |off + change|^2 - |off|^2, weighted; a household that is not there cannot be exchanged.
        gain = changes**2 @ _WEIGHTS + changes @ (2 * off * _WEIGHTS)
        gain[(counts + moves < 0).any(axis=1)] = np.inf
        best = int(np.argmin(gain))
        if gain[best] >= -1e-6:
            break
        counts += moves[best]
    return counts


# Classes 1 … 6, sizes 7 … 20, the open class, all households: each matters more than what stands before it.
_WEIGHTS = np.array([100.0] * (OPEN_CLASS - 1) + [1.0] * (LARGEST_SIZE - OPEN_CLASS + 1) + [100.0, 10_000.0])


def _measures(counts: NDArray[Any]) -> NDArray[np.float64]:
    """Return what is compared: sizes 1 … 20, the open class, all households (over the last axis)."""
    sums = [counts[..., OPEN_CLASS:].sum(axis=-1), counts[..., 1:].sum(axis=-1)]
    return np.concatenate([counts[..., 1:], np.stack(sums, axis=-1)], axis=-1).astype(np.float64)


@lru_cache(maxsize=1)
def _exchanges() -> NDArray[np.int64]:
    """Return all exchanges of one or two households for one or two others with as many persons."""
    moves = set()
    pairs = list(itertools.combinations_with_replacement(range(LARGEST_SIZE + 1), 2))
    for given, taken in itertools.permutations(pairs, 2):
        if sum(given) == sum(taken):
            move = [0] * (LARGEST_SIZE + 1)
            for size in given:
                move[size] += 1
            for size in taken:
                move[size] -= 1
            moves.add((0, *move[1:]))
    return np.array(sorted(moves), np.int64)


def split_in_parts(target: Target) -> Iterator[Target]:
    """Yield the parts of a state: each whole number is divided so that the parts add up to it exactly."""
    count = max(1, -(-target.persons // PERSONS_PER_PART))
    cells = target.cells.copy()
    persons = target.persons
    for place in range(count):

        def portion(total: int, place: int = place) -> int:
            return total * (place + 1) // count - total * place // count

        sizes = np.array([portion(int(number)) for number in target.sizes])
        quarters = portion(target.group_quarters_persons)
        own = int(sizes @ np.arange(len(sizes))) + quarters
        part_cells = _draw_cells(cells, own, persons)
        cells -= part_cells
        persons -= own
        yield Target(
            sizes=sizes,
            group_quarters_persons=quarters,
            vacant=portion(target.vacant),
            cells=part_cells,
        )


def _draw_cells(cells: NDArray[np.int64], own: int, persons: int) -> NDArray[np.int64]:
    """Return a part of the cells with `own` of the `persons` persons, in proportion."""
    if own == persons:
        return cells.copy()
    part = apportion(cells.ravel(), own).reshape(2, len(GROUPS))
    return np.minimum(part, cells)
