"""How many members of a household every truncated table counts: everybody, the family, or children only.

Truncation keeps at most τ of the members that a table counts, so their number decides what it cuts, not the size of the whole
household. The synthetic population says how many households of a state have how many: its templates, weighted as they are drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from phexplore.data.classification import Mode, classification
from phexplore.data.cross_field import HOUSING_UNIT, IN_HOUSING_UNIT
from phexplore.data.household_types import compose, household_types
from phexplore.data.population import SdhcPersons, SdhcUnits
from phexplore.data.synthetic.plan import plan_state
from phexplore.data.synthetic.tables import AGE_BAND_STARTS, LARGEST_SIZE, StateFigures, templates
from phexplore.model.keys import TableId

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ANY_TENURE = 1


@lru_cache(maxsize=1)
def counted_in_templates() -> Mapping[TableId, NDArray[np.int64]]:
    """Return per table that counts persons, how many members of each template it counts: ``int64[templates]``.

    The universes are production's (`phexplore.data.classification`). No table divides a template's age bands: their edges are
    those of the tables.
    """
    sample = templates()
    count = len(sample.size)
    unit = np.repeat(np.arange(count), sample.size)
    ages = AGE_BAND_STARTS[sample.band].astype(np.uint8)
    types = household_types(compose(unit, sample.relship, ages, count), sample.female)
    persons = _frame(SdhcPersons, len(unit), rtype=IN_HOUSING_UNIT, qage=ages, relship=sample.relship)
    units = _frame(
        SdhcUnits, count, rtype=HOUSING_UNIT, hht=types.hht, hht2=types.hht2, cplt=types.cplt, ten=_ANY_TENURE
    )
    rules = classification(Mode.PRIVATE)
    person_in, unit_in = rules.person_in[rules.persons.of(persons)], rules.unit_in[rules.units.of(units)]
    return MappingProxyType({
        product.id: np.bincount(unit[person_in[:, place]], minlength=count) * unit_in[:, place]
        for place, product in enumerate(rules.person_tables)
    })  # fmt: skip


def households_by_members(figures: StateFigures, table: TableId) -> NDArray[np.float64]:
    """Return the households of a state by the number of members a table counts: ``float64[21]``, expected, real size.

    Args:
        figures: of the state.
        table: one that counts persons.

    Raises:
        KeyError: the table counts no persons.
    """
    weights = np.diff(plan_state(figures).cumulative)
    found: NDArray[np.float64] = np.bincount(
        counted_in_templates()[table], weights=weights, minlength=LARGEST_SIZE + 1
    ).astype(np.float64)
    return found


def _frame(kind: Any, rows: int, **columns: Any) -> Any:
    """Return a frame of the population with some columns, the others 0."""
    return kind(**{
        name: np.broadcast_to(columns.get(name, 0), rows).astype(dtype) for name, dtype in kind.DTYPES.items()
    })  # fmt: skip
