"""PHSafe's exact part, all nine queries at the 2020 thresholds: this program against DuckDB, same data, same machine.

    python benchmarks/bench_tabulate.py [--persons 10000000] [--json FILE]

Each engine runs in a process of its own, on arrays made once from a seed; only the work is timed: filter, truncate, join
and count. DuckDB has the data in its own tables before the clock starts, and is given the cheaper rule (any rows of a
household instead of production's hash order). Both must keep and count equally many persons and units per table. Memory
is the peak resident size of the process, and by how much it exceeds that with the inputs loaded.
"""

# ruff: noqa: S608 - the queries are put together from constants of this file

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from phexplore.catalog.states import us_states
from phexplore.data.population import SdhcData, SdhcGeo, SdhcPersons, SdhcUnits

TAUS = {"PH1_num": 10, "PH2": 10, "PH3": 6, "PH4": 10, "PH6": 6, "PH7": 10}
SIZES = np.array([0.28, 0.34, 0.15, 0.13, 0.06, 0.023, 0.0085, 0.0035, 0.0017, 0.0010, 0.0006, 0.0004, 0.0003, 0.0002])
"""Households of 1, 2, … 14 persons; about 0.15 % exceed τ = 10."""


def synthetic(persons: int, *, shuffled: bool, seed: int = 1) -> SdhcData:
    """Return consistent households, about `persons` persons, sorted by unit or in random order."""
    rng = np.random.default_rng(seed)
    households = int(persons / (SIZES @ np.arange(1, 15) / SIZES.sum()))
    size = rng.choice(np.arange(1, 15), households, p=SIZES / SIZES.sum()).astype(np.int32)
    mafid = 100_000_001 + np.arange(households, dtype=np.int64)
    # Household types by size: alone 05/09, else married, cohabiting or neither, with own children or without.
    alone = size == 1
    hht2 = np.where(alone, rng.choice([5, 9], households), rng.choice([1, 1, 1, 2, 2, 3, 4, 6, 7, 10, 11], households))
    own = np.isin(hht2, (1, 3, 6, 10))
    couple = np.isin(hht2, (1, 2, 3, 4))
    size[couple & own & (size < 3)] = 3
    cplt = np.where(np.isin(hht2, (1, 2)), 1, np.where(couple, 3, 5))
    hht = np.where(np.isin(hht2, (1, 2)), 1, np.where(hht2 == 9, 4, np.where(hht2 == 5, 6, np.where(hht2 >= 10, 2, 3))))
    race = rng.choice([1, 1, 1, 1, 1, 2, 3, 4, 5, 6, 7, 11, 23], households)
    first = np.concatenate([[0], np.cumsum(size)[:-1]])
    unit = np.repeat(np.arange(households), size)
    position = np.arange(len(unit)) - first[unit]
    partner = (position == 1) & couple[unit]
    child = ~partner & (position > 0) & own[unit] & ((position <= 2) | (rng.random(len(unit)) < 0.6))
    relship = np.where(position == 0, 20, np.where(partner, np.where(cplt[unit] == 1, 21, 22), 33))
    relship[child] = 25
    age = np.where(child, rng.integers(0, 18, len(unit)), rng.integers(18, 90, len(unit)))
    columns = [
        np.full(len(unit), 3),
        mafid[unit],
        age,
        rng.choice([1, 1, 1, 1, 2], len(unit)),
        race[unit],
        relship,
    ]
    order = rng.permutation(len(unit)) if shuffled else slice(None)
    states = np.array([int(code) for code in us_states()])
    return SdhcData(
        SdhcPersons(*(c[order].astype(d) for c, d in zip(columns, SdhcPersons.DTYPES.values(), strict=True))),
        SdhcUnits(
            rtype=np.full(households, 2, np.uint8),
            mafid=mafid,
            final_pop=size,
            npf=np.zeros(households, np.uint8),
            hhspan=rng.choice([1, 1, 1, 1, 2], households).astype(np.uint8),
            hhrace=race.astype(np.uint8),
            ten=rng.choice([1, 2, 3, 4], households).astype(np.uint8),
            hht=hht.astype(np.uint8),
            hht2=hht2.astype(np.uint8),
            cplt=cplt.astype(np.uint8),
        ),
        SdhcGeo(np.full(households, 2, np.uint8), mafid, np.sort(rng.choice(states, households)).astype(np.uint8)),
    )


def ours(data: SdhcData, repeats: int) -> dict:
    from phexplore.catalog.tables import queries
    from phexplore.data.classification import Mode
    from phexplore.model.keys import TableId, parse_query
    from phexplore.simulate.phsafe_count import CountingSpec, tabulate

    spec = CountingSpec(Mode.PRIVATE, queries(), tuple((TableId(name), tau) for name, tau in TAUS.items()))
    tabulate([synthetic(1000, shuffled=True)], spec)  # compiled, or read from the cache, before the clock starts
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = tabulate([data], spec)
        seconds.append(time.perf_counter() - start)
    names = dict.fromkeys(query.table for query in queries())
    totals = {name: int(result.counts[parse_query(f"{name}/usa_*")].sum()) for name in names}
    dropped = int(result.dropped[parse_query("PH1_num/usa_*")].sum())
    return {"seconds": seconds, "totals": totals, "dropped_ph1": dropped}


RACE = "case when {0} between 1 and 6 then {0} when {0} between 7 and 63 then 7 end"
ORIGIN = "case when {1} = 2 then 1 when {0} = 1 and {1} = 1 then 2 else 0 end"
OWN = "relship between 25 and 27"
CELLS = {
    "PH1_num": "case when qage < 18 then 2 else 3 end",
    "PH2": """case when hht2 in (1, 2) and cplt = 1 then 3 when hht2 in (1, 2) and cplt = 2 then 4
        when hht2 in (3, 4) and cplt = 3 then 6 when hht2 in (3, 4) and cplt = 4 then 7 when hht2 = 9 then 9
        when hht2 in (10, 11, 12) then 10 when hht2 = 5 then 12 when hht2 in (6, 7, 8) then 13 end""",
    "PH3": f"""case when relship in (20, 21, 22, 23, 24, 34, 35, 36) then 2 when {OWN} and hht2 = 1 then 4
        when {OWN} and hht2 = 3 then 5 when {OWN} and hht2 = 10 then 6 when {OWN} and hht2 = 6 then 7
        when relship = 30 then 9 when relship in (28, 29, 31, 32, 33) then 10 end""",
    "PH4": "case when qage < 18 then 2 else 3 end",
    "PH6": """case hht2 when 1 then 2 when 3 then 7 when 10 then 12 when 6 then 17 end
        + case when qage < 4 then 1 when qage < 6 then 2 when qage < 12 then 3 else 4 end""",
    "PH7": "case ten when 1 then 2 when 2 then 3 when 3 then 4 when 4 then 4 end",
}
FILTERS = {
    "PH1_num": "rtype = 3",
    "PH2": "rtype = 3",
    "PH3": "rtype = 3 and qage < 18",
    "PH4": "relship in (20, 21, 23, 25, 26, 27, 28, 29, 30, 31, 32, 33)",
    "PH6": f"qage < 18 and {OWN}",
    "PH7": "rtype = 3",
}
UNIT_FILTERS = {"PH1_denom": ("rtype = 2 and hht <> 0", "1"), "PH5_denom": ("hht in (1, 2, 3)", "1")}
UNIT_FILTERS["PH8_denom"] = ("rtype = 2 and hht <> 0", "case when ten in (1, 2) then 2 when ten in (3, 4) then 3 end")


def duckdb_queries() -> dict[str, str]:
    """Return one query per table at the finest level (state, race group, origin, cell); coarser levels are sums of it."""
    sql = {}
    for name, cell in CELLS.items():
        race, origin = ("cenrace", "cenhisp") if name == "PH3" else ("hhrace", "hhspan")
        group = (
            f", {RACE.format(race)} as race, {ORIGIN.format(race, origin)} as origin"
            if name not in {"PH2", "PH6"}
            else ""
        )
        extra = "where u.hht <= 3" if name == "PH4" else ""
        sql[name] = f"""with kept as (select mafid, qage, relship, cenrace, cenhisp from persons where {FILTERS[name]}
            qualify row_number() over (partition by mafid) <= {TAUS[name]})
            select state{group}, {cell} as cell, count(*) as n from kept join located u using (mafid) {extra} group by all"""
    for name, (where, cell) in UNIT_FILTERS.items():
        group = f"{RACE.format('hhrace')} as race, {ORIGIN.format('hhrace', 'hhspan')} as origin"
        sql[name] = f"select state, {group}, {cell} as cell, count(*) as n from located where {where} group by all"
    return sql


def duckdb(data: SdhcData, repeats: int) -> dict:
    import duckdb as peer
    import pyarrow as pa

    connection = peer.connect()
    for name, frame in (("persons", data.persons), ("units", data.units), ("geo", data.geo)):
        arrow = pa.table({column: getattr(frame, column) for column in type(frame).DTYPES})
        connection.register("arrow", arrow)
        connection.execute(f"create table {name} as select * from arrow")
        connection.unregister("arrow")
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        connection.execute(
            "create or replace temp table located as select u.*, g.tabblkst as state from units u "
            "join (select mafid, tabblkst from geo where rtype not in (4, 5)) g using (mafid)"
        )
        totals = {}
        for name, sql in duckdb_queries().items():
            totals[name] = sum(row[-1] for row in connection.execute(sql).fetchall())
        seconds.append(time.perf_counter() - start)
    threads = connection.execute("select current_setting('threads')").fetchone()[0]
    return {"seconds": seconds, "totals": totals, "threads": threads, "version": peer.__version__}


FRAMES = {"persons": SdhcPersons, "units": SdhcUnits, "geo": SdhcGeo}


def store(data: SdhcData, folder: Path) -> None:
    for name, frame in FRAMES.items():
        for column in frame.DTYPES:
            np.save(folder / f"{name}-{column}.npy", getattr(getattr(data, name), column))


def load(folder: Path) -> SdhcData:
    return SdhcData(
        *(frame(*(np.load(folder / f"{name}-{c}.npy") for c in frame.DTYPES)) for name, frame in FRAMES.items())
    )


def peak_mb() -> float:
    """Return the peak resident size of this process. `getrusage` would count the parent before it started this one."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 2**10


def measure(engine: str, folder: Path, repeats: int) -> dict:
    """Run one engine here and now, and say how much the peak resident size grew over the loaded inputs."""
    data = load(folder)
    inputs = sum(getattr(f, c).nbytes for f in (data.persons, data.units, data.geo) for c in type(f).DTYPES)
    before = peak_mb()
    result = {"ours": ours, "duckdb": duckdb}[engine](data, repeats)
    result |= {"persons": len(data.persons), "input_mb": inputs / 2**20, "peak_mb": peak_mb()}
    return result | {"growth_mb": peak_mb() - before, "median_s": statistics.median(result["seconds"])}


def apart(*arguments) -> dict:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measure, arguments)


def rows_of(persons: int, label: str, repeats: int, *, with_peer: bool) -> list[dict]:
    rows = []
    for shuffled in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            store(synthetic(persons, shuffled=shuffled), Path(folder))
            here = {"what": label, "order": "random" if shuffled else "by unit"}
            mine = apart("ours", Path(folder), repeats)
            rows.append({**here, "engine": "phexplore", **mine})
            if with_peer:
                peer = apart("duckdb", Path(folder), repeats)
                if peer["totals"] != mine["totals"]:
                    raise SystemExit(f"the engines count differently: {mine['totals']} and {peer['totals']}")
                ratio = peer["median_s"] / mine["median_s"]
                rows.append({**here, "engine": f"duckdb {peer['version']}", **peer, "ratio": ratio})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--persons", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    rows = rows_of(options.persons, "nine queries", options.repeats, with_peer=True)
    rows += rows_of(1_000_000, "1 million alone", options.repeats, with_peer=False)
    columns = ("what", "persons", "order", "engine", "median s", "M rows/s", "peak MB", "grown MB", "ratio")
    print("{:<17}{:>11}  {:<9}{:<14}{:>9}{:>10}{:>9}{:>10}{:>7}".format(*columns))
    for row in rows:
        ratio = f"{row['ratio']:.1f}" if "ratio" in row else ""
        print(
            f"{row['what']:<17}{row['persons']:>11,}  {row['order']:<9}{row['engine']:<14}{row['median_s']:>9.3f}"
            f"{row['persons'] / row['median_s'] / 1e6:>10.1f}{row['peak_mb']:>9.0f}{row['growth_mb']:>10.0f}{ratio:>7}"
        )
    if options.json:
        goal = "at least 4 times as fast as DuckDB at 10 million persons"
        with Path(options.json).open("w", encoding="utf-8") as file:
            json.dump({"benchmark": "tabulate", "goal": goal, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
