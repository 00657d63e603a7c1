"""The shipped tables a synthetic population is made from. Their provenance stands beside them, in PROVENANCE.md."""

from __future__ import annotations

import csv
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from phexplore.catalog.states import PUERTO_RICO
from phexplore.resources import resource

if TYPE_CHECKING:
    from numpy.typing import NDArray

GROUPS = ("white", "black", "aian", "asian", "nhpi", "other", "two", "hisp")
"""Race and ethnicity as P.L. 94-171 collapses them: not Hispanic of one race (six), of two or more, Hispanic."""

LARGEST_SIZE = 20
"""The largest synthetic household, twice the usual truncation threshold."""

AGE_BAND_STARTS = np.array([0, 4, 6, 9, 12, 15, 18, *range(20, 90, 5)])
"""Lowest age of each band. The edges 4, 6, 12 and 18 are those of tables PH1 and PH6."""
AGE_BAND_WIDTHS = np.diff(AGE_BAND_STARTS, append=96)
"""Ages in each band; the sample's ages end at 95."""

_SIZE_COLUMNS = ("1", "2", "3", "4", "5", "6", "7plus")


@dataclass(frozen=True, slots=True, eq=False)
class StateFigures:
    """Real figures of a state, 2010.

    Attributes:
        fips: two-digit code.
        region: REGIONCE.
        division: DIVISIONCE.
        persons: all.
        group_quarters_persons: of them in group quarters.
        households: all.
        sizes: households of 1, 2, … 6, and 7 or more persons; they add up to `households`.
        cells: ``int64[2, 8]``, persons under 18 and 18 or over by `GROUPS`; they add up to `persons`.
    """

    fips: str
    region: int
    division: int
    persons: int
    group_quarters_persons: int
    households: int
    sizes: tuple[int, ...]
    cells: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Templates:
    """Household compositions, sorted by size.

    Attributes:
        size: ``int64[t]``, persons.
        weight: ``float64[t]``.
        female: ``bool[t]``, the householder is a woman.
        first: ``int64[t]``, position of the householder in the member arrays; the others follow.
        minors: ``int64[t]``, members under 18.
        relship: ``uint8[m]``, of all members.
        band: ``int64[m]``, age band of all members.
    """

    size: NDArray[np.int64]
    weight: NDArray[np.float64]
    female: NDArray[np.bool_]
    first: NDArray[np.int64]
    minors: NDArray[np.int64]
    relship: NDArray[np.uint8]
    band: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Assumptions:
    """Figures that hold everywhere, with their sources in ``assumptions.toml``."""

    vacant_per_household: Fraction
    institutional_share: Fraction
    persons_per_facility: int
    puerto_rico_persons: int
    puerto_rico_counties: int


@lru_cache(maxsize=1)
def state_figures() -> Mapping[str, StateFigures]:
    """Return the figures of the 50 states and DC by FIPS code."""
    return {
        row["state"]: StateFigures(
            fips=row["state"],
            region=int(row["region"]),
            division=int(row["division"]),
            persons=int(row["persons"]),
            group_quarters_persons=int(row["group_quarters_persons"]),
            households=int(row["households"]),
            sizes=tuple(int(row[f"households_{size}"]) for size in _SIZE_COLUMNS),
            cells=np.array([[int(row[f"{age}_{group}"]) for group in GROUPS] for age in ("minor", "adult")]),
        )
        for row in _rows("states_2010.csv")
    }


@lru_cache(maxsize=1)
def puerto_rico_figures() -> StateFigures:
    """Return Puerto Rico's total of 2010 with the rates of the 50 states and DC: a stand-in, not its real composition."""
    nation = list(state_figures().values())
    total, persons = sum(state.persons for state in nation), assumptions().puerto_rico_persons
    scale = Fraction(persons, total)
    sizes = tuple(round(sum(state.sizes[n] for state in nation) * scale) for n in range(len(_SIZE_COLUMNS)))
    cells = sum((state.cells for state in nation), np.zeros((2, len(GROUPS)), np.int64))
    return StateFigures(
        fips=PUERTO_RICO,
        region=9,
        division=0,
        persons=persons,
        group_quarters_persons=round(sum(state.group_quarters_persons for state in nation) * scale),
        households=sum(sizes),
        sizes=sizes,
        cells=np.asarray(apportion(cells.ravel(), persons)).reshape(cells.shape),
    )


@lru_cache(maxsize=1)
def assumptions() -> Assumptions:
    """Return the figures that hold everywhere."""
    entry = tomllib.loads(resource("synthetic/assumptions.toml").read_text(encoding="utf-8"))
    return Assumptions(
        vacant_per_household=Fraction(
            entry["housing"]["units"] - entry["housing"]["households"], entry["housing"]["households"]
        ),
        institutional_share=Fraction(
            entry["group_quarters"]["institutional_persons"], entry["group_quarters"]["persons"]
        ),
        persons_per_facility=entry["group_quarters"]["persons_per_facility"],
        puerto_rico_persons=entry["puerto_rico"]["persons"],
        puerto_rico_counties=entry["puerto_rico"]["counties"],
    )


@lru_cache(maxsize=1)
def templates() -> Templates:
    """Return the household compositions of the sample, large ones extended."""
    rows = _rows("household_templates.csv")
    members = [[tuple(map(int, pair.split(":"))) for pair in row["members"].split()] for row in rows]
    size = np.array([len(household) for household in members])
    flat = np.array([member for household in members for member in household])
    first = np.cumsum(size) - size
    adult_band = int(np.searchsorted(AGE_BAND_STARTS, 18))
    return Templates(
        size=size,
        weight=np.array([float(row["weight"]) for row in rows]),
        female=np.array([row["householder_sex"] == "2" for row in rows]),
        first=first,
        minors=np.add.reduceat((flat[:, 1] < adult_band).astype(np.int64), first),
        relship=flat[:, 0].astype(np.uint8),
        band=flat[:, 1],
    )


@lru_cache(maxsize=1)
def group_quarters_ages() -> Mapping[int, NDArray[np.float64]]:
    """Return the cumulative distribution ``float64[age bands]`` of RELSHIP 37 and of 38."""
    weights = {relship: np.zeros(len(AGE_BAND_STARTS)) for relship in (37, 38)}
    for row in _rows("group_quarters_ages.csv"):
        weights[int(row["relship"])][int(row["age_band"])] += float(row["weight"])
    return {relship: np.cumsum(weight) / weight.sum() for relship, weight in weights.items()}


@lru_cache(maxsize=1)
def reassigned_shares() -> NDArray[np.float64]:
    """Return, by RELSHIP, the share of members whose group is drawn from the whole state: ``float64[39]``."""
    by_kind = {row["relationship"]: float(row["share_reassigned"]) for row in _rows("race_mixing.csv")}
    shares = np.zeros(39)
    shares[21:25] = by_kind["partner"]
    shares[25:28] = by_kind["child"]
    shares[28:34] = by_kind["relative"]
    shares[34:37] = by_kind["nonrelative"]
    return shares


@lru_cache(maxsize=1)
def race_expansion() -> NDArray[np.float64]:
    """Return the cumulative share of each race code inside each group: ``float64[8, 64]``, column = code."""
    shares = np.zeros((len(GROUPS), 64))
    for row in _rows("race_expansion.csv"):
        shares[GROUPS.index(row["group"]), int(row["cenrace"])] = float(row["share"])
    cumulative: NDArray[np.float64] = np.cumsum(shares, axis=1)
    return cumulative / cumulative[:, -1:]


@dataclass(frozen=True, slots=True, eq=False)
class TenureTable:
    """Tenure by household type and age of the householder.

    Attributes:
        ages: lowest age of each class.
        cumulative: ``float64[8, ages, 4]``, by HHT, age class and TEN 1-4.
    """

    ages: NDArray[np.int64]
    cumulative: NDArray[np.float64]


@lru_cache(maxsize=1)
def tenure_table() -> TenureTable:
    """Return the shares of the four tenures."""
    rows = _rows("tenure.csv")
    ages = sorted({int(row["householder_age_from"]) for row in rows})
    weights = np.zeros((8, len(ages), 4))
    for row in rows:
        cell = [float(row[name]) for name in ("mortgage", "owned_free_and_clear", "rented", "no_payment")]
        weights[int(row["hht"]), ages.index(int(row["householder_age_from"]))] = cell
    cumulative = np.cumsum(weights, axis=2)
    return TenureTable(np.array(ages), cumulative / np.maximum(cumulative[:, :, -1:], 1))


@lru_cache(maxsize=1)
def county_households() -> Mapping[str, Mapping[str, int]]:
    """Return households by state and three-digit county code; Puerto Rico's municipios share alike."""
    counties: dict[str, dict[str, int]] = {}
    for row in _rows("counties_2010.csv"):
        counties.setdefault(row["county"][:2], {})[row["county"][2:]] = int(row["households"])
    # Municipios are numbered by odd codes, 001, 003, …
    counties[PUERTO_RICO] = {f"{2 * place + 1:03d}": 1 for place in range(assumptions().puerto_rico_counties)}
    return counties


def apportion(weights: NDArray[np.integer] | NDArray[np.float64], total: int) -> NDArray[np.int64]:
    """Return ``int64[n]`` in proportion to the weights that add up to `total` (largest remainder, ties to the first).

    Whole weights are handled exactly, so weights that add up to `total` come back unchanged.

    Args:
        weights: ``weights[n]``, 0 or more.
        total: whole number, 0 or more.
    """
    if np.issubdtype(weights.dtype, np.integer):
        whole = [int(weight) for weight in weights]
        scale = sum(whole)
        parts = [divmod(weight * total, scale) for weight in whole] if scale else [(0, 0)] * len(whole)
        counts = np.array([quotient for quotient, _ in parts], np.int64)
        rest = np.array([remainder / max(scale, 1) for _, remainder in parts])
    else:
        exact = weights / weights.sum() * total
        counts = np.floor(exact + 1e-9).astype(np.int64)
        rest = exact - counts
    missing = total - int(counts.sum())
    counts[np.argsort(-rest, kind="stable")[:missing]] += 1
    return counts


@lru_cache(maxsize=1)
def county_sizes() -> Mapping[str, NDArray[np.int64]]:
    """Return households of 2010 by size 1 to 6, and 7 or more, ``int64[7]`` by county; counties whose sizes are known."""
    rows = _rows("household_sizes_2010.csv", "tables")
    sizes = {row["fips"]: list(row.values())[-7:] for row in rows}
    return {county: np.array([int(each) for each in counts]) for county, counts in sizes.items() if all(counts)}


def _rows(name: str, folder: str = "synthetic") -> list[dict[str, str]]:
    with resource(f"{folder}/{name}").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def counties_of_states() -> dict[str, int]:
    """Return how many counties every state had in 2010, by its code."""
    return dict(Counter(row["county"][:2] for row in _rows("counties_2010.csv")))
