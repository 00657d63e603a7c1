"""A census population as compact arrays: what the readers give and the simulators take.

The three frames are the inputs of PHSafe: persons, housing units and the geography of each unit. Text codes of the
production files become small integers (``"07"`` is 7), MAFIDs stay 64-bit; nothing else is changed, so the production
text is recovered by printing a code with the width of its column. Field names are the production column names in
lower case.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Codes = NDArray[np.uint8]
    Counts = NDArray[np.int32]
    Identifiers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class _Columns:
    """Equally long one-dimensional arrays, made read-only."""

    DTYPES: ClassVar[Mapping[str, type[np.generic]]] = {}

    def __post_init__(self) -> None:
        """Refuse wrong types and unequal lengths, and make the arrays read-only.

        Raises:
            TypeError: a column is not a NumPy array of its stated type.
            ValueError: a column has more than one dimension, or the lengths differ.
        """
        lengths = {}
        for column in fields(self):
            values, wanted = getattr(self, column.name), np.dtype(self.DTYPES[column.name])
            if not isinstance(values, np.ndarray) or values.dtype != wanted:
                found = getattr(values, "dtype", type(values).__name__)
                raise TypeError(f"column {column.name} of {type(self).__name__} is {wanted.name}, got {found}")
            if values.ndim != 1:
                raise ValueError(f"column {column.name} of {type(self).__name__} has one dimension, got {values.shape}")
            lengths[column.name] = len(values)
            view = values.view()
            view.flags.writeable = False
            object.__setattr__(self, column.name, view)
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns of {type(self).__name__} have the same length, got {lengths}")

    def __reduce__(self) -> tuple[object, ...]:
        """Let the read-only arrays cross a process border."""
        return type(self), tuple(getattr(self, column.name) for column in fields(self))


@dataclass(frozen=True, slots=True, eq=False)
class SdhcPersons(_Columns):
    """One row per person, any order.

    Attributes:
        rtype: ``uint8[n]``; 3 = in a housing unit, 5 = in group quarters.
        mafid: ``int64[n]``; the unit the person lives in.
        qage: ``uint8[n]``; age in years, 0-115.
        cenhisp: ``uint8[n]``; 1 = not Hispanic, 2 = Hispanic.
        cenrace: ``uint8[n]``; 1-63, see `phexplore.catalog.races`.
        relship: ``uint8[n]``; relationship to the householder, 20-38.
    """

    rtype: Codes
    mafid: Identifiers
    qage: Codes
    cenhisp: Codes
    cenrace: Codes
    relship: Codes

    DTYPES: ClassVar[Mapping[str, type[np.generic]]] = {
        "rtype": np.uint8,
        "mafid": np.int64,
        "qage": np.uint8,
        "cenhisp": np.uint8,
        "cenrace": np.uint8,
        "relship": np.uint8,
    }

    def __len__(self) -> int:
        """Return the number of persons."""
        return len(self.mafid)


@dataclass(frozen=True, slots=True, eq=False)
class SdhcUnits(_Columns):
    """One row per housing unit or group quarters, any order.

    Attributes:
        rtype: ``uint8[n]``; 2 = housing unit, 4 = group quarters.
        mafid: ``int64[n]``; unique in clean data.
        final_pop: ``int32[n]``; persons living in the unit, 0-99999.
        npf: ``uint8[n]``; persons in the family, 0 or 2-97; used by no table.
        hhspan: ``uint8[n]``; householder: 0 = none, 1 = not Hispanic, 2 = Hispanic.
        hhrace: ``uint8[n]``; householder: 0 = none, else 1-63.
        ten: ``uint8[n]``; tenure, 0 = vacant or group quarters, 1-4.
        hht: ``uint8[n]``; household type, 0 = vacant or group quarters, 1-7.
        hht2: ``uint8[n]``; household type with couples and own children, 0 or 1-12.
        cplt: ``uint8[n]``; couple type, 0 or 1-5.
    """

    rtype: Codes
    mafid: Identifiers
    final_pop: Counts
    npf: Codes
    hhspan: Codes
    hhrace: Codes
    ten: Codes
    hht: Codes
    hht2: Codes
    cplt: Codes

    DTYPES: ClassVar[Mapping[str, type[np.generic]]] = {
        "rtype": np.uint8,
        "mafid": np.int64,
        "final_pop": np.int32,
        "npf": np.uint8,
        "hhspan": np.uint8,
        "hhrace": np.uint8,
        "ten": np.uint8,
        "hht": np.uint8,
        "hht2": np.uint8,
        "cplt": np.uint8,
    }

    def __len__(self) -> int:
        """Return the number of units."""
        return len(self.mafid)


@dataclass(frozen=True, slots=True, eq=False)
class SdhcGeo(_Columns):
    """Where each unit is, any order. The other geographic columns of the files are used by no table.

    Attributes:
        rtype: ``uint8[n]``; 2 = housing unit, 4 = group quarters.
        mafid: ``int64[n]``; unique in clean data.
        tabblkst: ``uint8[n]``; FIPS code of the state, 1-56 or 72.
    """

    rtype: Codes
    mafid: Identifiers
    tabblkst: Codes

    DTYPES: ClassVar[Mapping[str, type[np.generic]]] = {"rtype": np.uint8, "mafid": np.int64, "tabblkst": np.uint8}

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.mafid)


@dataclass(frozen=True, slots=True, eq=False)
class SdhcData:
    """The three inputs of PHSafe. A chunk of a larger population holds whole households: all rows of its MAFIDs."""

    persons: SdhcPersons
    units: SdhcUnits
    geo: SdhcGeo
