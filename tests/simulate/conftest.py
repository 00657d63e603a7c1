"""A second, slow implementation of PHSafe's exact part, straight from the facts, and small populations to try.

It shares nothing with the product: rules are written out table by table, rows are dictionaries of text as in the
production files, and every join is a loop.
"""

import hashlib
import random
from collections import Counter
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from phexplore.data.population import SdhcData, SdhcGeo, SdhcPersons, SdhcUnits

PERSON_COLUMNS = ("RTYPE", "MAFID", "QAGE", "CENHISP", "CENRACE", "RELSHIP")
UNIT_COLUMNS = ("RTYPE", "MAFID", "FINAL_POP", "NPF", "HHSPAN", "HHRACE", "TEN", "HHT", "HHT2", "CPLT")
GEO_COLUMNS = ("RTYPE", "MAFID", "TABBLKST")
MARRIED, COHABITING = {"01", "02"}, {"03", "04"}
OWN_CHILD = {"25", "26", "27"}
FAMILY = {"20", "21", "23", "25", "26", "27", "28", "29", "30", "31", "32", "33"}
NONRELATIVE = {"20", "21", "22", "23", "24", "34", "35", "36"}
PH3_FAMILY = {"01": 4, "03": 5, "10": 6, "06": 7}
PH6_FAMILY = {"01": 2, "03": 7, "10": 12, "06": 17}
ITERATED = {"PH1_num", "PH1_denom", "PH3", "PH4", "PH5_num", "PH5_denom", "PH7", "PH8_num", "PH8_denom"}
BASIS = {
    "PH1_num": (2, 3),
    "PH1_denom": (1,),
    "PH2": (3, 4, 6, 7, 9, 10, 12, 13),
    "PH3": (2, 4, 5, 6, 7, 9, 10),
    "PH4": (2, 3),
    "PH5_num": (2, 3),
    "PH5_denom": (1,),
    "PH6": (3, 4, 5, 6, 8, 9, 10, 11, 13, 14, 15, 16, 18, 19, 20, 21),
    "PH7": (2, 3, 4),
    "PH8_num": (2, 3),
    "PH8_denom": (2, 3),
}


class UnfitError(Exception):
    """The private run of production would stop here."""


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


def row_hash(row, k):
    mafid, age, hispanic = (f"{int(row[column]):b}" for column in ("MAFID", "QAGE", "CENHISP"))
    values = [row["RTYPE"], mafid, age, hispanic, row["CENRACE"], row["RELSHIP"], f"{k:b}"]
    return sha(sha(",".join(sha(value) for value in values)))


def keep_smallest(persons, tau):
    """Per MAFID the τ rows of smallest hash; k numbers equal rows."""
    seen, by_mafid = Counter(), {}
    for row in persons:
        content = tuple(row[column] for column in PERSON_COLUMNS)
        seen[content] += 1
        by_mafid.setdefault(row["MAFID"], []).append((row_hash(row, seen[content]), content, row))
    return [row for rows in by_mafid.values() for _, _, row in sorted(rows, key=lambda entry: entry[:2])[:tau]]


def ages_of_ph6(age):
    return 1 if age < 4 else 2 if age < 6 else 3 if age < 12 else 4


def regions(geo_rows):
    states = sorted({row["TABBLKST"] for row in geo_rows})
    return ([("USA", "1")] if states else []) + [("STATE", state) for state in states]


def race_codes(race, hispanic, *, private):
    codes = ["*"]
    if race in {"01", "02", "03", "04", "05", "06"}:
        codes.append("ABCDEF"[int(race) - 1])
    elif 7 <= int(race) <= 63 or not private:
        codes.append("G")
    else:
        codes.append("no race")
    if hispanic == "2":
        codes.append("H")
    elif hispanic == "1" and race == "01":
        codes.append("I")
    return codes


def private_cell(table, person, unit):  # noqa: PLR0911 - one return per rule, as the facts list them
    age = int(person["QAGE"]) if person else None
    if table in {"PH1_num", "PH4"}:
        return 2 if age < 18 else 3
    if table in {"PH1_denom", "PH5_denom"}:
        return 1
    if table == "PH2":
        hht2, couple = unit["HHT2"], unit["CPLT"]
        if hht2 in MARRIED and couple in {"1", "2"}:
            return 3 if couple == "1" else 4
        if hht2 in COHABITING and couple in {"3", "4"}:
            return 6 if couple == "3" else 7
        alone = {"09": 9, "10": 10, "11": 10, "12": 10, "05": 12, "06": 13, "07": 13, "08": 13}
        return alone.get(hht2)
    if table == "PH3":
        relationship = person["RELSHIP"]
        if relationship in NONRELATIVE:
            return 2
        if relationship in OWN_CHILD:
            return PH3_FAMILY.get(unit["HHT2"])
        return 9 if relationship == "30" else 10 if relationship in {"28", "29", "31", "32", "33"} else None
    if table == "PH6":
        first = PH6_FAMILY.get(unit["HHT2"])
        return None if first is None else first + ages_of_ph6(age)
    if table == "PH7":
        return {"1": 2, "2": 3, "3": 4, "4": 4}.get(unit["TEN"])
    return {"1": 2, "2": 2, "3": 3, "4": 3}.get(unit["TEN"])


PRIVATE_PERSON = {
    "PH1_num": lambda p: p["RTYPE"] == "3",
    "PH2": lambda p: p["RTYPE"] == "3",
    "PH3": lambda p: p["RTYPE"] == "3" and int(p["QAGE"]) < 18,
    "PH4": lambda p: p["RELSHIP"] in FAMILY,
    "PH6": lambda p: int(p["QAGE"]) < 18 and p["RELSHIP"] in OWN_CHILD,
    "PH7": lambda p: p["RTYPE"] == "3",
}
PRIVATE_UNIT = {
    "PH1_denom": lambda u: u["RTYPE"] == "2" and u["HHT"] != "0",
    "PH5_denom": lambda u: u["HHT"] in {"1", "2", "3"},
    "PH8_denom": lambda u: u["RTYPE"] == "2" and u["HHT"] != "0",
}


def located(units, geo):
    return [{**unit, "STATE": place["TABBLKST"]} for unit in units for place in geo if place["MAFID"] == unit["MAFID"]]


def housing_geo(geo, states):
    return [row for row in geo if row["RTYPE"] not in {"4", "5"} and (states is None or row["TABBLKST"] in states)]


def private_counts(population, taus, states=None):
    """What a private run measures at infinite budget, zeros included, all levels; plus the two derived tables."""
    geo = housing_geo(population.geo, states)
    placed = located(population.units, geo)
    counts = {
        (table, kind, region, code, cell): 0
        for table in BASIS
        for (kind, region), code, cell in product(
            regions(geo), "*ABCDEFGHI" if table in ITERATED else "*", BASIS[table]
        )
    }

    def add(table, state, race, hispanic, cell):
        if cell is None:
            raise UnfitError(table)
        codes = race_codes(race, hispanic, private=True) if table in ITERATED else ["*"]
        if "no race" in codes:
            raise UnfitError(table)
        for code, (kind, region) in product(codes, [("USA", "1"), ("STATE", state)]):
            counts[table, kind, region, code, cell] += 1

    for table, in_universe in PRIVATE_PERSON.items():
        kept = keep_smallest([person for person in population.persons if in_universe(person)], taus[table])
        candidates = [unit for unit in placed if table != "PH4" or unit["HHT"] <= "3"]
        occurrences = Counter(unit["MAFID"] for unit in candidates)
        unique = {unit["MAFID"]: unit for unit in candidates if occurrences[unit["MAFID"]] == 1}
        for person in kept:
            if (unit := unique.get(person["MAFID"])) is None:
                continue
            race = (person["CENRACE"], person["CENHISP"]) if table == "PH3" else (unit["HHRACE"], unit["HHSPAN"])
            add(table, unit["STATE"], *race, private_cell(table, person, unit))
    for table, in_universe in PRIVATE_UNIT.items():
        for unit in filter(in_universe, placed):
            add(table, unit["STATE"], unit["HHRACE"], unit["HHSPAN"], private_cell(table, None, unit))
    for (table, kind, region, code, cell), count in list(counts.items()):
        if table == "PH4":
            counts["PH5_num", kind, region, code, cell] += count
        if table == "PH7":
            counts["PH8_num", kind, region, code, 3 if cell == 4 else 2] += count
    return counts


def non_private_cells(table, person, unit):  # noqa: PLR0911, PLR0912 - one branch per rule of the facts
    """All cells of a record, totals included; [] where production's row disappears."""
    age = int(person["QAGE"]) if person else None
    if table in {"PH1_num", "PH4", "PH5_num"}:
        return [1, 2 if age < 18 else 3]
    if table in {"PH1_denom", "PH5_denom"}:
        return [1, 2, 3]
    if table == "PH2":
        hht2, couple = unit["HHT2"], unit["CPLT"]
        if hht2 in MARRIED:
            return [1, 2, *{"1": [3], "2": [4]}.get(couple, [])]
        if hht2 in COHABITING:
            return [1, 5, *{"3": [6], "4": [7]}.get(couple, [])]
        if hht2 in {"09", "10", "11", "12"}:
            return [1, 8, 9 if hht2 == "09" else 10]
        if hht2 in {"05", "06", "07", "08"}:
            return [1, 11, 12 if hht2 == "05" else 13]
        return [1]
    if table == "PH3":
        relationship = person["RELSHIP"]
        if relationship in NONRELATIVE:
            return [1, 2]
        if relationship in OWN_CHILD:
            return [1, 3] + ([PH3_FAMILY[unit["HHT2"]]] if unit["HHT2"] in PH3_FAMILY else [])
        if relationship == "30":
            return [1, 8, 9]
        return [1, 8, 10] if relationship in {"28", "29", "31", "32", "33"} else [1]
    if table == "PH6":
        first = PH6_FAMILY.get(unit["HHT2"])
        return [1] if first is None else [1, first, first + ages_of_ph6(age)]
    if table == "PH7":
        return {"1": [1, 2], "2": [1, 3], "3": [1, 4], "4": [1, 4]}.get(unit["TEN"], [])
    return {"1": [1, 2], "2": [1, 2], "3": [1, 3], "4": [1, 3]}.get(unit["TEN"], [])


NON_PRIVATE_PERSON = {
    "PH1_num": lambda _, u: u["RTYPE"] == "2" and u["HHT"] != "0",
    "PH2": lambda p, _: p["RTYPE"] == "3",
    "PH3": lambda p, _: p["RTYPE"] == "3" and int(p["QAGE"]) < 18,
    "PH4": lambda p, u: u["HHT"] in {"1", "2", "3"} and p["RELSHIP"] in FAMILY,
    "PH5_num": lambda p, u: u["HHT"] in {"1", "2", "3"} and p["RELSHIP"] in FAMILY,
    "PH6": lambda p, _: int(p["QAGE"]) < 18 and p["RELSHIP"] in OWN_CHILD,
    "PH7": lambda p, _: p["RTYPE"] == "3",
}
NON_PRIVATE_UNIT = {**PRIVATE_UNIT, "PH8_num": PRIVATE_UNIT["PH8_denom"]}


def non_private_counts(population, states=None):
    """The rows of production's exact output: groups with at least one record."""
    placed = located(population.units, housing_geo(population.geo, states))
    counts = Counter()

    def add(table, state, race, hispanic, cells, weight=1):
        codes = race_codes(race, hispanic, private=False) if table in ITERATED else ["*"]
        for code, (kind, region), cell in product(codes, [("USA", "1"), ("STATE", state)], cells):
            counts[table, kind, region, code, cell] += weight

    for person, unit in product(population.persons, placed):
        if person["MAFID"] != unit["MAFID"]:
            continue
        for table, in_universe in NON_PRIVATE_PERSON.items():
            if in_universe(person, unit):
                race = (person["CENRACE"], person["CENHISP"]) if table == "PH3" else (unit["HHRACE"], unit["HHSPAN"])
                add(table, unit["STATE"], *race, non_private_cells(table, person, unit))
    for unit in placed:
        for table, in_universe in NON_PRIVATE_UNIT.items():
            if in_universe(unit):
                weight = int(unit["FINAL_POP"]) if table == "PH8_num" else 1
                add(table, unit["STATE"], unit["HHRACE"], unit["HHSPAN"], non_private_cells(table, None, unit), weight)
    return dict(counts)


def frames(population):
    """The same population as the product's arrays."""

    def build(frame, columns, rows):
        arrays = [np.array([int(row[c]) for row in rows], frame.DTYPES[c.lower()]) for c in columns]
        return frame(*arrays)

    return SdhcData(
        build(SdhcPersons, PERSON_COLUMNS, population.persons),
        build(SdhcUnits, UNIT_COLUMNS, population.units),
        build(SdhcGeo, GEO_COLUMNS, population.geo),
    )


def household(rng, mafid, state, size):
    """One consistent household: its persons, unit and geography."""
    kind = rng.choice(["01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12"])
    size = 1 if kind in {"05", "09"} else max(2, size)
    race, hispanic = f"{rng.choice([1, 1, 1, 2, 3, 4, 5, 6, rng.randint(7, 63)]):02d}", rng.choice("112")
    people = [("20", rng.randint(18, 90))]
    if kind in MARRIED | COHABITING:
        couple = rng.choice("12") if kind in MARRIED else rng.choice("34")
        people.append(({"1": "21", "2": "23", "3": "22", "4": "24"}[couple], rng.randint(18, 90)))
    else:
        couple = "5"
    own = kind in PH3_FAMILY
    if own:
        people.append((rng.choice(["25", "26", "27"]), rng.randint(0, 17)))
    elif kind in {"07", "11"}:
        people.append((rng.choice(["28", "29"]), rng.randint(0, 90)))
    while len(people) < size:
        others = ["34", "35", "36"] if kind in {"08", "12"} else ["28", "29", "30", "31", "32", "33", "34", "36"]
        if own and rng.random() < 0.7:
            people.append((rng.choice(["25", "26", "27"]), rng.randint(0, 17)))
        else:
            people.append((rng.choice(others), rng.randint(0, 90)))
    persons = [
        {
            "RTYPE": "3",
            "MAFID": str(mafid),
            "QAGE": str(age),
            "CENHISP": rng.choice("12"),
            "CENRACE": f"{rng.randint(1, 63):02d}" if rng.random() < 0.3 else race,
            "RELSHIP": relationship,
        }
        for relationship, age in people
    ]
    related = any(p["RELSHIP"] in FAMILY - {"20"} for p in persons)
    male = kind in {"09", "10", "11", "12"} or rng.random() < 0.5
    if kind in MARRIED:
        hht = "1"
    elif related:
        hht = "2" if male else "3"
    else:
        hht = ("4" if male else "6") if len(persons) == 1 else ("5" if male else "7")
    unit = {
        "RTYPE": "2",
        "MAFID": str(mafid),
        "FINAL_POP": str(len(persons)),
        "NPF": "0",
        "HHSPAN": hispanic,
        "HHRACE": race,
        "TEN": rng.choice("1234"),
        "HHT": hht,
        "HHT2": kind,
        "CPLT": couple,
    }
    return persons, unit, {"RTYPE": "2", "MAFID": str(mafid), "TABBLKST": state}


def empty_unit(mafid, state, *, group_quarters):
    rtype = "4" if group_quarters else "2"
    blank = {"FINAL_POP": "0", "NPF": "0", "HHSPAN": "0", "HHRACE": "00", "TEN": "0", "HHT": "0", "HHT2": "00"}
    unit = {"RTYPE": rtype, "MAFID": str(mafid), **blank, "CPLT": "0"}
    return unit, {"RTYPE": rtype, "MAFID": str(mafid), "TABBLKST": state}


def clean_population(seed, households=60, states=("01", "44", "56"), largest=14):
    """Households of all kinds and sizes, vacant units and group quarters, nothing inconsistent."""
    rng = random.Random(seed)
    result = SimpleNamespace(persons=[], units=[], geo=[])
    for number in range(households):
        size = rng.choice([1, 2, 2, 3, 4, 5, 7, rng.randint(6, largest)])
        persons, unit, place = household(rng, 100000001 + number * rng.choice([1, 1]), rng.choice(states), size)
        result.persons += persons
        result.units.append(unit)
        result.geo.append(place)
    for number in range(households // 6):
        group_quarters = number % 2 == 0
        unit, place = empty_unit(500000001 + number, rng.choice(states), group_quarters=group_quarters)
        if group_quarters:
            unit["FINAL_POP"] = "12"
            base = {"RTYPE": "5", "MAFID": unit["MAFID"], "CENHISP": "1", "CENRACE": "01", "RELSHIP": "38"}
            result.persons += [{**base, "QAGE": str(rng.randint(0, 99))} for _ in range(12)]
        result.units.append(unit)
        result.geo.append(place)
    for rows in (result.persons, result.units, result.geo):
        rng.shuffle(rows)
    return result


def untidy_population(seed, **options):
    """A population with repeated MAFIDs, orphans, contradicting record types and equal persons; every record fits."""
    rng = random.Random(seed)
    result = clean_population(seed, **options)
    result.persons += [dict(rng.choice(result.persons)) for _ in range(30)]
    for person in rng.sample(result.persons, 12):
        if person["RELSHIP"] != "38":
            person["RTYPE"] = rng.choice("35")
    for unit in rng.sample(result.units, 6):
        unit["RTYPE"] = rng.choice("24")
    for unit in rng.sample(result.units, 4):
        if unit["HHT"] != "0":
            unit["HHT"] = rng.choice("01234567")
            unit["FINAL_POP"] = "0"
    result.units += [dict(rng.choice(result.units)) for _ in range(5)]
    for unit in rng.sample(result.units, 3):
        result.units.append({**unit, "HHT": rng.choice("1234567")} if unit["HHRACE"] != "00" else dict(unit))
    result.geo += [{**rng.choice(result.geo), "TABBLKST": rng.choice(["01", "44", "55"])} for _ in range(5)]
    for row in rng.sample(result.geo, 4):
        row["RTYPE"] = rng.choice("245")
    orphan = rng.sample(range(len(result.geo)), 3)
    result.geo = [row for position, row in enumerate(result.geo) if position not in orphan]
    result.persons.append({**result.persons[0], "MAFID": "899999999"})
    for rows in (result.persons, result.units, result.geo):
        rng.shuffle(rows)
    return result


def flat(tabulation, *, rows_of=None):
    """A tabulation in the shape of the reference: {(table, region type, region, code, cell): count}."""
    arrays = tabulation.counts if rows_of is None else rows_of
    found = {}
    for query, array in arrays.items():
        kind = {"usa": "USA", "state": "STATE"}[query.level.region.value]
        ids = tabulation.regions(query.level.region)
        codes = query.level.iteration.codes
        cells = [cell.code for cell in tabulation.cells(query.table)]
        assert array.shape == (len(ids), len(codes), len(cells))
        assert array.dtype == np.int64
        for (i, region), (j, code), (k, cell) in product(enumerate(ids), enumerate(codes), enumerate(cells)):
            found[query.table, kind, region, code, cell] = int(array[i, j, k])
    return found


@pytest.fixture(scope="session")
def slow():
    """The slow implementation and the makers of populations."""
    return SimpleNamespace(
        UnfitError=UnfitError,
        clean_population=clean_population,
        empty_unit=empty_unit,
        flat=flat,
        frames=frames,
        household=household,
        keep_smallest=keep_smallest,
        non_private_counts=non_private_counts,
        private_counts=private_counts,
        row_hash=row_hash,
        untidy_population=untidy_population,
    )
