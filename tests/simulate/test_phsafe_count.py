"""The compiled tabulation against the slow one, chunk by chunk, and at its edges."""

import pickle
import random
from fractions import Fraction

import numpy as np
import pytest

from phexplore.catalog.tables import config_tables, queries, table, tables, truncated_tables
from phexplore.data.classification import Mode
from phexplore.data.population import SdhcData, SdhcGeo, SdhcPersons, SdhcUnits
from phexplore.model.keys import Region, TableId, parse_query
from phexplore.model.phsafe import PhSafe
from phexplore.simulate.phsafe_count import (
    CountingSpec,
    UnclassifiableRecordError,
    tabulate,
)

TAUS = {"PH1_num": 5, "PH2": 4, "PH3": 3, "PH4": 4, "PH6": 2, "PH7": 6}
MEASURED = CountingSpec(Mode.PRIVATE, queries(), tuple((TableId(name), tau) for name, tau in TAUS.items()))
MAKERS = ["clean_population", "untidy_population"]


def rows_of(data, mafids):
    """The chunk of a population that holds these households."""

    def part(frame):
        chosen = np.isin(frame.mafid, mafids)
        return type(frame)(*(getattr(frame, name)[chosen] for name in type(frame).DTYPES))

    return SdhcData(part(data.persons), part(data.units), part(data.geo))


def chunks_of(data, count):
    everyone = np.unique(np.concatenate([data.persons.mafid, data.units.mafid, data.geo.mafid]))
    return [rows_of(data, part) for part in np.array_split(everyone, count)]


def same(first, second):
    assert (first.mode, first.states, first.geo_multiplicity) == (second.mode, second.states, second.geo_multiplicity)
    for name in ("counts", "records", "dropped", "household_sizes"):
        left, right = getattr(first, name), getattr(second, name)
        assert list(left) == list(right)
        assert all((left[key] == right[key]).all() for key in left)
    return True


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("seed", range(6))
def test_that_measured_counts_are_those_of_the_slow_tabulation(slow, make, seed):
    population = getattr(slow, make)(seed)
    tabulation = tabulate([slow.frames(population)], MEASURED)
    assert slow.flat(tabulation) == slow.private_counts(population, TAUS)
    assert sum(int(cut.sum()) for cut in tabulation.dropped.values()) > 100


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("seed", range(6))
def test_that_exact_counts_are_those_of_the_slow_tabulation(slow, make, seed):
    population = getattr(slow, make)(seed)
    tabulation = tabulate([slow.frames(population)], CountingSpec.exact())
    existing = {query: tabulation.records.get(query, array) for query, array in tabulation.counts.items()}
    present = {key for key, records in slow.flat(tabulation, rows_of=existing).items() if records}
    found = {key: count for key, count in slow.flat(tabulation).items() if key in present}
    assert found == slow.non_private_counts(population)


@pytest.mark.parametrize("seed", range(3))
def test_that_a_state_filter_leaves_what_lies_in_those_states(slow, seed):
    population = slow.untidy_population(seed)
    spec = CountingSpec(Mode.PRIVATE, queries(), MEASURED.thresholds, states=(1, 44))
    assert slow.flat(tabulate([slow.frames(population)], spec)) == slow.private_counts(population, TAUS, {"01", "44"})
    exact = tabulate([slow.frames(population)], CountingSpec.exact(["44"]))
    positive = {key: count for key, count in slow.flat(exact).items() if count}
    assert positive == {k: c for k, c in slow.non_private_counts(population, {"44"}).items() if c}


def test_that_scattered_mafids_are_counted_the_same(slow):
    """MAFIDs too far apart for a direct table are hashed instead."""
    rng = random.Random(4)
    population = slow.untidy_population(4)
    names = {unit["MAFID"] for unit in population.units} | {p["MAFID"] for p in population.persons}
    names |= {row["MAFID"] for row in population.geo}
    new = dict(zip(sorted(names), map(str, rng.sample(range(100000001, 899999999), len(names))), strict=True))
    for row in (*population.persons, *population.units, *population.geo):
        row["MAFID"] = new[row["MAFID"]]
    assert slow.flat(tabulate([slow.frames(population)], MEASURED)) == slow.private_counts(population, TAUS)


def test_that_thresholds_nobody_exceeds_drop_nobody(slow):
    data = slow.frames(slow.clean_population(3))
    loose = CountingSpec(Mode.PRIVATE, queries(), tuple((TableId(name), 99) for name in TAUS))
    tabulation = tabulate([data], loose)
    assert all(not cut.any() for cut in tabulation.dropped.values())
    truncated = tabulate([data], MEASURED)
    assert all((truncated.untruncated(query) == counts).all() for query, counts in tabulation.counts.items())


def test_that_truncation_bias_is_never_positive_and_only_where_people_are_counted(slow):
    tabulation = tabulate([slow.frames(slow.clean_population(5))], MEASURED)
    assert {query.table for query in tabulation.dropped} == {*TAUS, "PH5_num", "PH8_num"}
    for query in tabulation.counts:
        bias = tabulation.counts[query] - tabulation.untruncated(query)
        assert (bias <= 0).all()
    ph4, ph5 = parse_query("PH4/state_A-G"), parse_query("PH5_num/state_A-G")
    assert (tabulation.dropped[ph4] == tabulation.dropped[ph5]).all()
    assert tabulation.dropped[ph4].any()


@pytest.mark.parametrize("make", MAKERS)
def test_that_household_sizes_explain_the_truncation(slow, make):
    """Each household larger than τ loses what exceeds τ: the sizes predict the sum of the bias over all cells."""
    tabulation = tabulate([slow.frames(getattr(slow, make)(6))], MEASURED)
    for name, tau in TAUS.items():
        sizes = tabulation.household_sizes[name]
        number = np.arange(len(sizes))
        query = parse_query(f"{name}/usa_*")
        assert (sizes * np.maximum(number - tau, 0)).sum() == tabulation.dropped[query].sum()
        assert (sizes * number).sum() == tabulation.untruncated(query).sum()
        assert sizes[tau + 1 :].any()


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("spec", [MEASURED, CountingSpec.exact()], ids=["measured", "exact"])
def test_that_chunks_of_whole_households_add_up_in_any_order(slow, make, spec):
    data = slow.frames(getattr(slow, make)(7))
    whole = tabulate([data], spec)
    parts = chunks_of(data, 5)
    assert same(tabulate(parts[::-1], spec), whole)


def test_that_a_full_us_run_has_the_arrays_of_12688_rows(us, slow):
    states = us.method.states
    tabulation = tabulate(
        [slow.frames(slow.clean_population(1, households=80, states=states))], CountingSpec.measured(us.method)
    )
    missing = 51 - len(tabulation.states)
    geo = [{"RTYPE": "2", "MAFID": str(700000001 + i), "TABBLKST": code} for i, code in enumerate(states)]
    population = slow.clean_population(1, households=80, states=states)
    population.geo += geo
    tabulation = tabulate([slow.frames(population)], CountingSpec.measured(us.method))
    assert missing > 0
    assert len(tabulation.states) == 51
    assert sum(array.size for array in tabulation.counts.values()) == 12688
    assert sum(array.size for query, array in tabulation.counts.items() if table(query.table).measured) == 10608


def test_that_puerto_rico_has_no_nation_in_a_private_run(puerto_rico, slow):
    population = slow.clean_population(2, states=("72",))
    tabulation = tabulate([slow.frames(population)], CountingSpec.measured(puerto_rico.method))
    assert {query.level.region for query in tabulation.counts} == {Region.STATE}
    assert tabulation.states == (72,)
    exact = tabulate([slow.frames(population)], CountingSpec.exact(["72"]))
    assert (exact.counts[parse_query("PH2/usa_*")] == exact.counts[parse_query("PH2/state_*")]).all()


def test_that_unpublished_levels_are_not_counted(us, slow):
    budgets = dict.fromkeys(us.method.budgets, Fraction(0)) | {parse_query("PH4/state_A-G"): Fraction(1, 3)}
    parameters = PhSafe(budgets=budgets, thresholds=us.method.thresholds, states=("01",))
    spec = CountingSpec.measured(parameters)
    tabulation = tabulate([slow.frames(slow.clean_population(1))], spec)
    assert [query.text for query in tabulation.counts] == ["PH4/state_A-G", "PH5_num/state_A-G"]
    assert tabulation.thresholds == {"PH4": 10}
    assert tabulation.counts[parse_query("PH4/state_A-G")].shape == (1, 7, 2)


def test_that_states_come_from_the_geography_not_from_the_filter(us, slow):
    population = slow.clean_population(1, states=("44",))
    population.geo.append({"RTYPE": "2", "MAFID": "899999999", "TABBLKST": "56"})
    tabulation = tabulate([slow.frames(population)], CountingSpec.measured(us.method))
    assert tabulation.regions(Region.STATE) == ("44", "56")
    assert not tabulation.counts[parse_query("PH1_num/state_*")][1].any()


def test_that_no_geography_gives_no_regions():
    def nothing(frame):
        return frame(*(np.empty(0, dtype) for dtype in frame.DTYPES.values()))

    empty = SdhcData(nothing(SdhcPersons), nothing(SdhcUnits), nothing(SdhcGeo))
    tabulation = tabulate([empty], MEASURED)
    assert tabulation.states == ()
    assert tabulation.regions(Region.NATION) == ()
    assert all(array.shape[0] == 0 for array in tabulation.counts.values())
    assert tabulate([], MEASURED).states == ()


def test_that_equal_persons_in_a_repeated_unit_are_dropped_in_private_mode_only(slow):
    population = slow.clean_population(1, households=1, states=("44",))
    population.units.append(dict(next(u for u in population.units if u["RTYPE"] == "2" and u["HHT"] != "0")))
    data = slow.frames(population)
    query = parse_query("PH1_num/state_*")
    private = tabulate([data], MEASURED)
    assert not private.untruncated(query).any()
    assert private.counts[parse_query("PH1_denom/state_*")].sum() == 2
    exact = tabulate([data], CountingSpec.exact())
    assert exact.counts[query][0, 0, 0] == 2 * len([p for p in population.persons if p["RTYPE"] == "3"])


def test_that_repeated_geography_is_reported(slow):
    population = slow.clean_population(1, states=("44",))
    population.geo += [dict(population.geo[0]), dict(population.geo[0])]
    population.geo[0]["RTYPE"] = population.geo[-1]["RTYPE"] = population.geo[-2]["RTYPE"] = "2"
    assert tabulate([slow.frames(population)], MEASURED).geo_multiplicity == 3


@pytest.mark.parametrize("size", [511, 512, 513, 1001, 1500])
def test_that_crowded_households_are_truncated_and_counted_by_size(slow, size):
    """Far beyond the range of the packed size counters; smaller households of the same run stay right."""
    rng = random.Random(size)
    population = slow.clean_population(2, households=20)
    persons, unit, place = slow.household(rng, 100000900, "44", 4)
    while unit["HHT2"] != "01":
        persons, unit, place = slow.household(rng, 100000900, "44", 4)
    child = {**persons[0], "RELSHIP": "25"}
    persons += [{**child, "QAGE": str(rng.randint(0, 40))} for _ in range(size - len(persons))]
    population.persons += persons
    population.units.append(unit)
    population.geo.append(place)
    tabulation = tabulate([slow.frames(population)], MEASURED)
    assert slow.flat(tabulation) == slow.private_counts(population, TAUS)
    assert tabulation.household_sizes["PH1_num"][min(size, 1000)] == 1
    children = sum(p["RELSHIP"] in {"25", "26", "27"} and int(p["QAGE"]) < 18 for p in persons)
    assert tabulation.household_sizes["PH6"][children] == 1
    loose = dict.fromkeys(TAUS, 600)
    spec = CountingSpec(Mode.PRIVATE, queries(), tuple((TableId(name), tau) for name, tau in loose.items()))
    assert slow.flat(tabulate([slow.frames(population)], spec)) == slow.private_counts(population, loose)


def test_that_units_and_geography_of_equal_length_may_still_differ(slow):
    """Two units, two rows of geography, but both of the first unit: it is repeated, the second has no place."""
    population = slow.clean_population(1, households=2, states=("44",))
    population.geo = [dict(next(row for row in population.geo if row["MAFID"] == "100000001")) for _ in range(2)]
    assert slow.flat(tabulate([slow.frames(population)], MEASURED)) == slow.private_counts(population, TAUS)


def test_that_the_order_of_a_large_file_does_not_matter(slow):
    """Persons in random order over a wide range of MAFIDs are moved together before they are counted."""
    data = slow.frames(slow.clean_population(8, households=400, largest=9))
    copies = 100

    def repeated(frame, extra):
        columns = {name: np.tile(getattr(frame, name), copies) for name in type(frame).DTYPES}
        columns["mafid"] = columns["mafid"] + np.repeat(np.arange(copies) * extra, len(frame))
        return type(frame)(**columns)

    wide = SdhcData(*(repeated(frame, 1000) for frame in (data.persons, data.units, data.geo)))
    shuffled = np.random.default_rng(1).permutation(len(wide.persons))
    persons = SdhcPersons(*(getattr(wide.persons, name)[shuffled] for name in SdhcPersons.DTYPES))
    loose = CountingSpec(Mode.PRIVATE, queries(), tuple((TableId(name), 20) for name in TAUS))
    once = tabulate([data], loose)
    for people in (wide.persons, persons):
        many = tabulate([SdhcData(people, wide.units, wide.geo)], loose)
        assert all((many.counts[query] == copies * counts).all() for query, counts in once.counts.items())
    sorted_, mixed = (
        tabulate([SdhcData(people, wide.units, wide.geo)], MEASURED) for people in (wide.persons, persons)
    )
    assert same(sorted_, mixed)


def test_that_a_state_code_of_three_digits_is_refused(slow):
    population = slow.clean_population(1, states=("101",))
    with pytest.raises(ValueError, match="got 101"):
        tabulate([slow.frames(population)], MEASURED)


def spoil(slow, *, unit=None, person=None, kind="01"):
    """One clean household of a kind with one value changed."""
    for seed in range(200):
        persons, housing, place = slow.household(random.Random(seed), 100000001, "44", 4)
        if housing["HHT2"] == kind:
            break
    housing |= unit or {}
    persons[-1] |= person or {}
    return slow.frames(type(slow)(persons=persons, units=[housing], geo=[place]))


BAD = {
    "a married couple without a married couple's type": ({"CPLT": "5"}, {}, "01", "PH2"),
    "a cohabiting couple that is married": ({"CPLT": "1"}, {}, "03", "PH2"),
    "no household type": ({"HHT2": "00"}, {"RELSHIP": "30", "QAGE": "30"}, "02", "PH2"),
    "an own child where there are none": ({}, {"RELSHIP": "25", "QAGE": "3"}, "02", "PH3"),
    "a group-quarters child in a household": ({}, {"RELSHIP": "37", "QAGE": "3"}, "02", "PH3"),
    "no tenure": ({"TEN": "0"}, {}, "02", "PH7"),
    "no race of the householder": ({"HHRACE": "00"}, {}, "02", "PH1_num"),
}


@pytest.mark.parametrize(("unit", "person", "kind", "name"), BAD.values(), ids=BAD)
def test_that_a_record_that_fits_no_cell_stops_a_private_run(slow, unit, person, kind, name):
    data = spoil(slow, unit=unit, person=person, kind=kind)
    with pytest.raises(UnclassifiableRecordError) as caught:
        tabulate([data], MEASURED)
    assert caught.value.record.table == name
    assert caught.value.record.mafid == 100000001
    assert "100000001" not in str(caught.value)
    assert "data check" in caught.value.remedy


@pytest.mark.parametrize("seed", range(30))
def test_that_a_run_stops_exactly_where_the_slow_tabulation_does(slow, seed):
    """One random code put anywhere in a clean population: sometimes harmless, sometimes not."""
    rng = random.Random(seed)
    population = slow.clean_population(seed, households=12)
    for _ in range(rng.randint(1, 3)):
        row = rng.choice(rng.choice([population.persons, population.units]))
        column, code = rng.choice(
            [
                ("HHT2", f"{rng.randint(0, 12):02d}"),
                ("CPLT", str(rng.randint(0, 5))),
                ("TEN", str(rng.randint(0, 4))),
                ("HHRACE", "00"),
                ("RELSHIP", str(rng.randint(20, 38))),
                ("QAGE", str(rng.randint(0, 40))),
                ("RTYPE", rng.choice("2345")),
            ]
        )
        if column in row:
            row[column] = code
    try:
        expected = slow.private_counts(population, TAUS)
    except slow.UnfitError:
        with pytest.raises(UnclassifiableRecordError):
            tabulate([slow.frames(population)], MEASURED)
    else:
        assert slow.flat(tabulate([slow.frames(population)], MEASURED)) == expected


@pytest.mark.parametrize(("unit", "person", "kind", "name"), BAD.values(), ids=BAD)
def test_that_a_run_that_does_not_publish_the_table_goes_on(slow, unit, person, kind, name):
    other = tuple(
        query for query in queries() if query.table in {"PH5_denom", "PH4"} and query.level.iteration.value == "*"
    )
    spec = CountingSpec(Mode.PRIVATE, other, (("PH4", 4),))
    assert tabulate([spoil(slow, unit=unit, person=person, kind=kind)], spec).states == (44,)


def test_that_a_missing_race_matters_only_where_all_races_are_published(slow):
    data = spoil(slow, unit={"HHRACE": "00"}, kind="02")
    ethnicity = tuple(query for query in queries() if query.level.iteration.value == "H,I")
    spec = CountingSpec(Mode.PRIVATE, ethnicity, MEASURED.thresholds)
    assert tabulate([data], spec).states == (44,)
    exact = tabulate([data], CountingSpec.exact())
    assert exact.counts[parse_query("PH1_num/state_A-G")][0, 6, 0] > 0


def test_that_a_bad_record_behind_the_threshold_does_not_stop_the_run(slow):
    """Production maps records to cells after truncation, so one that is cut away is never looked at."""
    equal = {"RTYPE": "3", "MAFID": "100000001", "CENHISP": "1", "CENRACE": "01", "RELSHIP": "25"}
    persons = [{**equal, "QAGE": str(age)} for age in range(3, 15)]
    unit = {
        "RTYPE": "2",
        "MAFID": "100000001",
        "FINAL_POP": "12",
        "NPF": "0",
        "HHSPAN": "1",
        "HHRACE": "01",
        "TEN": "1",
        "HHT": "1",
        "HHT2": "01",
        "CPLT": "1",
    }
    geo = [{"RTYPE": "2", "MAFID": "100000001", "TABBLKST": "44"}]
    ph3 = tuple(query for query in queries() if query.table == "PH3")
    for position in range(12):
        people = [dict(person) for person in persons]
        people[position]["RELSHIP"] = "38"
        population = type(slow)(persons=people, units=[unit], geo=geo)
        spec = CountingSpec(Mode.PRIVATE, ph3, ((TableId("PH3"), 6),))
        kept = people[position] in slow.keep_smallest(people, 6)
        if kept:
            with pytest.raises(UnclassifiableRecordError):
                tabulate([slow.frames(population)], spec)
        else:
            assert tabulate([slow.frames(population)], spec).counts[parse_query("PH3/usa_*")].sum() == 6


def test_that_a_tabulation_crosses_a_process_border(slow):
    tabulation = tabulate([slow.frames(slow.clean_population(1))], MEASURED)
    assert same(pickle.loads(pickle.dumps(tabulation)), tabulation)  # noqa: S301 - our own bytes


def test_that_the_measured_specification_follows_the_parameters(us):
    spec = CountingSpec.measured(us.method)
    assert spec.queries == queries()
    assert dict(spec.thresholds) == dict(us.method.thresholds)
    assert [name for name, _ in spec.thresholds] == [product.id for product in truncated_tables()]
    assert spec.table_ids == tuple(product.id for product in config_tables())
    assert len(spec.states) == 51
    assert len(CountingSpec.exact().queries) == sum(len(product.levels) for product in tables().values())
