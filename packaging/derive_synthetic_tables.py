"""Derive the small tables of ``resources/synthetic`` from the census files beside the project.

Run from the checkout, only when a rule below changes:

    python packaging/derive_synthetic_tables.py ../shared/data resources/synthetic
    python packaging/derive_synthetic_tables.py demonstrations resources/synthetic

The second line makes the shipped demonstration populations from the tables.

Inputs (see the provenance file written beside the tables): complete counts of 2010 by county and state, the Rhode Island
part of the 2018 ACS public-use persons, the Oregon public-use households with tenure. Same inputs, same bytes.
"""

from __future__ import annotations

import csv
import gzip
import itertools
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

GROUPS = ("white", "black", "aian", "asian", "nhpi", "other", "two", "hisp")
AGE_BAND_STARTS = (0, 4, 6, 9, 12, 15, 18, *range(20, 90, 5))
"""Inclusive lower ages; the edges 4, 6, 12 and 18 are those of tables PH1 and PH6."""

# ACS 2018 RELP to the census codes of 2020; spouse and partner (1, 13) depend on the sexes, see `relationship`.
RELSHIP_OF_RELP = {
    0: 20,
    2: 25,
    3: 26,
    4: 27,
    5: 28,
    6: 29,
    7: 30,
    8: 31,
    9: 32,
    10: 33,
    11: 36,
    12: 34,
    14: 35,
    15: 36,
    16: 37,
    17: 38,
}

# Hispanic population of the 50 states and DC by race, 2010 Census Brief C2010BR-02, table 2. The seven figures add
# up to 50,477,594, the Hispanic total of the county file; the script refuses to go on when they do not.
HISPANIC_BY_RACE_2010 = {
    "white": 26_735_713,
    "black": 1_243_471,
    "aian": 685_150,
    "asian": 209_128,
    "nhpi": 58_437,
    "other": 18_503_103,
    "two": 3_042_592,
}

# Households of the nation less those in the county file: the two Virginia counties whose cell is blank.
HOUSEHOLDS_2010 = 116_716_292

REGION_AND_DIVISION = {
    ("1", "1"): "09 23 25 33 44 50",
    ("1", "2"): "34 36 42",
    ("2", "3"): "17 18 26 39 55",
    ("2", "4"): "19 20 27 29 31 38 46",
    ("3", "5"): "10 11 12 13 24 37 45 51 54",
    ("3", "6"): "01 21 28 47",
    ("3", "7"): "05 22 40 48",
    ("4", "8"): "04 08 16 30 32 35 49 56",
    ("4", "9"): "02 06 15 41 53",
}

LARGEST_TEMPLATE = 20
EXTENDED_PER_SIZE = 40
SAMPLED_SIZES = 6
"""Households of up to this size are taken from the sample as they are; larger ones are extended."""
UNIFORM_PART = 0.05
"""Share of two or more races spread evenly over all 57 combinations, so that none is impossible."""


def read_rows(path: Path) -> list[dict[str, str]]:
    """Return all rows of a CSV file, plain or gzipped."""
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8")
    return list(csv.DictReader(text.splitlines()))


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write one derived table."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def age_band(age: int) -> int:
    """Return the index of the band that holds an age."""
    return int(np.searchsorted(AGE_BAND_STARTS, age, side="right")) - 1


def largest_remainder(weights: Sequence[float], total: int) -> list[int]:
    """Return integers in proportion to the weights that add up to `total`."""
    shares = np.asarray(weights, dtype=np.float64)
    exact = shares / shares.sum() * total
    counts = np.floor(exact).astype(np.int64)
    counts[np.argsort(-(exact - counts), kind="stable")[: total - int(counts.sum())]] += 1
    return [int(count) for count in counts]


def rake_sizes(counted: np.ndarray, households: int, persons: int) -> np.ndarray:
    """Return the households by size nearest to `counted` that hold these totals.

    Minimum discrimination information with two constraints, x_n = c_n λ μ^n, where the seventh class counts its own
    mean size; μ by bisection, since the mean size grows with it.

    Args:
        counted: ``float64[2, 7]``; households and persons of the complete counties by size 1..6, 7+.
        households: of the state.
        persons: of the state, in households.
    """
    number, size = counted[0], counted[1] / counted[0]
    low, high = 0.5, 2.0
    for _ in range(200):
        middle = (low + high) / 2
        weighted = number * middle**size
        low, high = (middle, high) if (weighted * size).sum() / weighted.sum() < persons / households else (low, middle)
    return weighted / weighted.sum() * households


def derive_states(data: Path, out: Path) -> None:
    """Write ``states_2010.csv`` (targets per state) and ``counties_2010.csv`` (weights of the geography)."""
    counties = read_rows(data / "counties/county_household_size_2010.csv")
    cells = {row["state"]: row for row in read_rows(data / "counties/states_2010.csv")}
    hispanic = sum(int(row["pop_hisp"]) for row in cells.values())
    if hispanic != sum(HISPANIC_BY_RACE_2010.values()):
        raise SystemExit(f"the race split of Hispanics does not add up to {hispanic}")
    missing_households = HOUSEHOLDS_2010 - sum(int(float(row["households"] or 0)) for row in counties)
    blank_population = sum(int(row["pop"]) for row in counties if not row["households"])
    place = {
        code: (region, division) for (region, division), codes in REGION_AND_DIVISION.items() for code in codes.split()
    }
    rows, county_rows = [], []
    for state, cell in sorted(cells.items()):
        own = [row for row in counties if row["fips"].startswith(state)]
        households = {
            row["fips"]: int(float(row["households"]))
            if row["households"]
            else round(missing_households * int(row["pop"]) / blank_population)
            for row in own
        }
        county_rows += [(fips, number) for fips, number in sorted(households.items())]
        total, group_quarters = sum(households.values()), sum(int(float(row["gq_pop"] or 0)) for row in own)
        complete = [row for row in own if row["complete"] == "1"]
        number = np.array([sum(int(float(row[k])) for row in complete) for k in ("hh1", "hh2", "hh3", "hh4", "hh5", "hh6", "hh7plus")], dtype=np.float64)  # fmt: skip
        housed = sum(int(row["pop"]) - int(float(row["gq_pop"])) for row in complete)
        persons = number * np.arange(1, 8)
        persons[6] = housed - persons[:6].sum()
        sizes = largest_remainder(
            list(rake_sizes(np.stack([number, persons]), total, int(cell["pop"]) - group_quarters)), total
        )
        rows.append(
            (
                state,
                cell["state_name"],
                *place[state],
                cell["pop"],
                group_quarters,
                total,
                *sizes,
                *(int(cell[f"pop_{group}"]) - int(cell[f"vap_{group}"]) for group in GROUPS),
                *(cell[f"vap_{group}"] for group in GROUPS),
            )
        )
    header = ["state", "name", "region", "division", "persons", "group_quarters_persons", "households"]
    header += [f"households_{n}" for n in (1, 2, 3, 4, 5, 6, "7plus")]
    header += [f"minor_{group}" for group in GROUPS] + [f"adult_{group}" for group in GROUPS]
    write_table(out / "states_2010.csv", header, rows)
    write_table(out / "counties_2010.csv", ("county", "households"), county_rows)


def relationship(relp: int, same_sex: bool) -> int:  # noqa: FBT001 - one fact about the couple, passed by position once
    """Return the census relationship code of 2020 of an ACS 2018 one."""
    if relp == 1:
        return 23 if same_sex else 21
    if relp == 13:
        return 24 if same_sex else 22
    return RELSHIP_OF_RELP[relp]


def derive_households(data: Path, out: Path) -> None:
    """Write household templates, group-quarters ages, race mixing and the expansion of race groups."""
    persons = read_rows(data / "micro/pums_2018_ri_persons.csv.gz")
    households: dict[str, list[dict[str, str]]] = defaultdict(list)
    quarters: Counter[tuple[int, int]] = Counter()
    for person in persons:
        if int(person["RELP"]) >= 16:
            quarters[relationship(int(person["RELP"]), same_sex=False), age_band(int(person["AGEP"]))] += int(
                person["PWGTP"]
            )
        else:
            households[person["SERIALNO"]].append(person)
    templates: Counter[tuple[int, tuple[tuple[int, int], ...]]] = Counter()
    mixed: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(2))
    two_races = np.zeros(64)
    for members in households.values():
        head = next(person for person in members if person["RELP"] == "0")
        others = sorted(
            (relationship(int(p["RELP"]), same_sex=p["SEX"] == head["SEX"]), -age_band(int(p["AGEP"])))
            for p in members
            if p is not head
        )
        shape = ((20, age_band(int(head["AGEP"]))), *((relship, -band) for relship, band in others))
        templates[int(head["SEX"]), shape] += int(head["PWGTP"])
        for person in members:
            if person is not head:
                kind = mixing_class(relationship(int(person["RELP"]), same_sex=False))
                weight = int(person["PWGTP"])
                mixed[kind] += (weight, weight * (race_group(person) != race_group(head)))
    for person in persons:
        if race_group(person) == "two":
            two_races[census_race(person)] += int(person["PWGTP"])
    write_templates(templates, out)
    write_table(
        out / "group_quarters_ages.csv",
        ("relship", "age_band", "weight"),
        [(relship, band, weight) for (relship, band), weight in sorted(quarters.items())],
    )
    # A member drawn from the whole state is unlike the householder with this probability, so the share to be drawn
    # that reproduces the sample is the share of unlike members divided by it.
    weights = Counter[str]()
    for members in households.values():
        for person in members:
            weights[race_group(person)] += int(person["PWGTP"])
    diversity = 1 - sum((weight / weights.total()) ** 2 for weight in weights.values())
    write_table(
        out / "race_mixing.csv",
        ("relationship", "share_unlike_householder", "share_reassigned"),
        [
            (kind, f"{unlike / weight:.4f}", f"{unlike / weight / diversity:.4f}")
            for kind, (weight, unlike) in sorted(mixed.items())
        ],
    )
    write_race_expansion(two_races, out)


def mixing_class(relship: int) -> str:
    """Return the class of relationships whose race differs from the householder's at its own rate."""
    if relship in {21, 22, 23, 24}:
        return "partner"
    return "child" if relship in {25, 26, 27} else "relative" if relship in range(28, 34) else "nonrelative"


def race_flags(person: dict[str, str]) -> tuple[bool, ...]:
    """Return the six races a person reports, in census order W, B, I, A, N, S."""
    pacific = person["RACNH"] == "1" or person["RACPI"] == "1"
    alone = [person[f"RAC{race}"] == "1" for race in ("WHT", "BLK", "AIAN", "ASN", "SOR")]
    return (*alone[:4], pacific, alone[4])


def census_race(person: dict[str, str]) -> int:
    """Return the census code 1-63 of the reported races."""
    reported = tuple(np.flatnonzero(race_flags(person)))
    combinations = [c for n in range(1, 7) for c in itertools.combinations(range(6), n)]
    return combinations.index(reported) + 1


def race_group(person: dict[str, str]) -> str:
    """Return the one of the eight groups of P.L. 94-171, as in the county file."""
    if int(person["HISP"]) != 1:
        return "hisp"
    flags = race_flags(person)
    return GROUPS[flags.index(True)] if sum(flags) == 1 else "two"


def write_templates(templates: Counter[tuple[int, tuple[tuple[int, int], ...]]], out: Path) -> None:
    """Write the sampled households, and larger ones grown from them by further members of large households."""
    generator = np.random.Generator(np.random.PCG64(2010))
    ordered = sorted(templates.items())
    rows = [
        (len(shape), weight, sex, spelled(shape)) for (sex, shape), weight in ordered if len(shape) <= SAMPLED_SIZES
    ]
    large = [(sex, shape) for (sex, shape), _ in ordered if len(shape) >= 5]
    donors = [
        member
        for _, shape in large
        if len(shape) >= 6
        for member in shape
        if member[0] not in {20, 21, 22, 23, 24, 29, 31}
    ]
    for size in range(SAMPLED_SIZES + 1, LARGEST_TEMPLATE + 1):
        bases = [base for base in large if len(base[1]) <= size]
        for _ in range(EXTENDED_PER_SIZE):
            sex, shape = bases[int(generator.integers(len(bases)))]
            more = [donors[int(generator.integers(len(donors)))] for _ in range(size - len(shape))]
            others = sorted((*shape[1:], *more), key=lambda member: (member[0], -member[1]))
            rows.append((size, 1, sex, spelled((shape[0], *others))))
    write_table(
        out / "household_templates.csv",
        ("size", "weight", "householder_sex", "members"),
        sorted(rows, key=lambda row: (row[0], -row[1], row[2], row[3])),
    )


def spelled(shape: Iterable[tuple[int, int]]) -> str:
    """Return ``relship:band`` pairs, the householder first."""
    return " ".join(f"{relship}:{band}" for relship, band in shape)


def write_race_expansion(two_races: np.ndarray, out: Path) -> None:
    """Write the share of each census race code inside each of the eight groups."""
    two_races[7:] = (1 - UNIFORM_PART) * two_races[7:] / two_races[7:].sum() + UNIFORM_PART / 57
    hispanic = sum(HISPANIC_BY_RACE_2010.values())
    rows = [(group, code, "1") for code, group in enumerate(GROUPS[:6], start=1)]
    rows += [("two", code, f"{two_races[code]:.8f}") for code in range(7, 64)]
    rows += [
        ("hisp", code, f"{HISPANIC_BY_RACE_2010[group] / hispanic:.8f}")
        for code, group in enumerate(GROUPS[:6], start=1)
    ]
    rows += [
        ("hisp", code, f"{HISPANIC_BY_RACE_2010['two'] / hispanic * two_races[code]:.8f}") for code in range(7, 64)
    ]
    write_table(out / "race_expansion.csv", ("group", "cenrace", "share"), rows)


def derive_tenure(data: Path, out: Path) -> None:
    """Write tenure by household type and age of the householder, weighted."""
    weights: Counter[tuple[int, str, int]] = Counter()
    for row in read_rows(data / "micro/pums_2006_2010_or_puma600_households.csv.gz"):
        age = int(row["AGEHOH"])
        band = "15" if age < 35 else "35" if age < 50 else "50" if age < 65 else "65"
        weights[int(row["HHT"]), band, int(row["TEN"])] += int(row["WGTP"])
    rows = [
        (hht, band, *(weights[hht, band, tenure] for tenure in range(1, 5)))
        for hht in range(1, 8)
        for band in ("15", "35", "50", "65")
    ]
    write_table(
        out / "tenure.csv",
        ("hht", "householder_age_from", "mortgage", "owned_free_and_clear", "rented", "no_payment"),
        rows,
    )


def make_demonstrations(out: Path) -> None:
    """Write the shipped populations: 50,000 persons of the 50 states and DC, 20,000 of Puerto Rico."""
    from phexplore.data.source import Storage
    from phexplore.data.synthetic.generator import generate_sdhc

    generate_sdhc(50_000, out / "demo", seed=2020, storages=[Storage.PARQUET])
    generate_sdhc(20_000, out / "demo-pr", seed=2020, puerto_rico=True, storages=[Storage.PARQUET])
    make_demonstration_blocks(out)


def make_demonstration_blocks(out: Path) -> None:
    """Make the block data of the fictional state, and its map: no code, name or outline of it is that of a real area."""
    from dataclasses import replace

    from phexplore.catalog.states import FICTIONAL_STATE
    from phexplore.data.blocks.generator import synthesize_states, write_block_file

    made = synthesize_states(4000, 2020, ("44",), tribal=0.02)
    geoids = np.array([FICTIONAL_STATE + code[2:] for code in made.geoids.tolist()])
    write_block_file(replace(made, geoids=geoids), out / "demo-blocks.csv.gz")
    features = [
        {
            "type": "Feature",
            "properties": {"geoid": code},
            "geometry": {"type": "Polygon", "coordinates": [[[w, s], [e, s], [e, n], [w, n], [w, s]]]},
        }
        for code, (w, s, e, n) in rectangles(geoids.tolist(), (0.0, 0.0, 0.9, 0.6), (5, 11, 12, 15)).items()
    ]
    content = json.dumps({"type": "FeatureCollection", "features": features}, separators=(",", ":"))
    (out / "demo-shapes.geojson.gz").write_bytes(gzip.compress(content.encode(), 9, mtime=0))


def rectangles(codes: Sequence[str], room: tuple[float, ...], lengths: Sequence[int]) -> dict[str, tuple[float, ...]]:
    """Return a rectangle for every code, degrees west, south, east, north: units of a level lie together, areas follow blocks.

    Args:
        codes: ascending.
        room: that they fill.
        lengths: of the codes of the levels, the widest first.
    """
    if len(codes) == 1:
        return {codes[0]: tuple(round(edge, 5) for edge in room)}
    units = [list(group) for _, group in itertools.groupby(codes, key=lambda code: code[: lengths[0]])]
    if len(units) == 1:
        return rectangles(codes, room, lengths[1:])
    ends = list(itertools.accumulate(map(len, units)))
    split = min(range(len(units) - 1), key=lambda place: abs(2 * ends[place] - len(codes)))
    share = ends[split] / len(codes)
    w, s, e, n = room
    middle = (w + share * (e - w)) if e - w > n - s else (s + share * (n - s))
    first, second = ((w, s, middle, n), (middle, s, e, n)) if e - w > n - s else ((w, s, e, middle), (w, middle, e, n))
    return rectangles(codes[: ends[split]], first, lengths) | rectangles(codes[ends[split] :], second, lengths)


def main() -> None:
    """Derive every table, or make the demonstration populations."""
    data, out = Path(sys.argv[1]), Path(sys.argv[2])
    if sys.argv[1] == "demonstrations":
        make_demonstrations(out)
        return
    out.mkdir(parents=True, exist_ok=True)
    derive_states(data, out)
    derive_households(data, out)
    derive_tenure(data, out)


if __name__ == "__main__":
    main()
