"""What a synthetic population matches, measured; docs/synthetic_population.md quotes the bounds asserted here."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest
from population_files import synthetic_population

from phexplore.catalog.states import us_states
from phexplore.data.provenance import read_provenance
from phexplore.data.source import Storage, demonstration_directory
from phexplore.data.synthetic import generator
from phexplore.data.synthetic.generator import generate_sdhc, synthesize
from phexplore.data.synthetic.tables import (
    GROUPS,
    assumptions,
    puerto_rico_figures,
    reassigned_shares,
    state_figures,
    tenure_table,
)
from phexplore.data.synthetic.targets import split_over_states
from phexplore.data.unclassifiable import unclassifiable_records
from phexplore.data.validation import check_data, load_data
from phexplore.errors import CancelledError, PhexploreError

PERSONS = 300_000


@pytest.fixture(scope="module")
def nation():
    return synthetic_population(PERSONS, seed=11)


@pytest.fixture(scope="module")
def rhode_island():
    return synthetic_population(200_000, seed=12, states=["44"])


def _group(race, hispanic):
    return np.where(hispanic == 2, 7, np.where(race < 7, race.astype(int) - 1, 6))


def _unit_of_person(data):
    return np.searchsorted(data.units.mafid, data.persons.mafid)


def _by_state(data):
    """Yield figures, exact scale, and the masks of a state's persons and units."""
    figures = list(state_figures().values())
    of_person = data.geo.tabblkst[_unit_of_person(data)]
    for own, persons in zip(figures, split_over_states(len(data.persons), figures), strict=True):
        yield own, Fraction(persons, own.persons), of_person == int(own.fips), data.geo.tabblkst == int(own.fips)


def test_that_each_state_has_its_persons(nation):
    total = sum(state.persons for state in state_figures().values())
    for own, _, persons, _ in _by_state(nation):
        assert abs(int(persons.sum()) - Fraction(own.persons * PERSONS, total)) < 1


def test_that_race_and_voting_age_are_matched_to_one_person_per_cell(nation):
    group = _group(nation.persons.cenrace, nation.persons.cenhisp)
    for own, scale, persons, _ in _by_state(nation):
        for row, of_age in enumerate((nation.persons.qage < 18, nation.persons.qage >= 18)):
            counts = np.bincount(group[persons & of_age], minlength=len(GROUPS))
            assert np.abs(counts - own.cells[row] * float(scale)).max() < 1, own.fips


def test_that_households_and_their_sizes_are_matched_to_one_household_per_class(nation):
    for own, scale, _, units in _by_state(nation):
        size = nation.units.final_pop[units & (nation.units.hht > 0)]
        assert abs(len(size) - own.households * scale) < 1, own.fips
        counts = np.bincount(np.minimum(size, 7), minlength=8)[1:]
        assert np.abs(counts - np.array(own.sizes) * float(scale)).max() < 1, own.fips


def test_that_persons_in_group_quarters_are_matched_to_half_a_person(nation):
    for own, scale, persons, _ in _by_state(nation):
        found = int((nation.persons.rtype[persons] == 5).sum())
        assert abs(found - own.group_quarters_persons * scale) <= Fraction(1, 2), own.fips


def test_that_large_households_thin_out_to_twenty(nation):
    counts = np.bincount(nation.units.final_pop[nation.units.hht > 0], minlength=25)
    assert counts[21:].sum() == 0
    assert counts[11:].sum() > 0
    assert (np.diff(counts[7:14]) < 0).all()


def test_that_vacant_units_follow_the_national_rate(nation):
    households = int((nation.units.hht > 0).sum())
    vacant = int(((nation.units.rtype == 2) & (nation.units.hht == 0)).sum())
    assert vacant == pytest.approx(households * float(assumptions().vacant_per_household), abs=51)


def test_that_half_of_group_quarters_are_institutions(nation):
    """Facilities are drawn one by one, about 200 here: within 5 standard deviations (false alarm below 1e-6)."""
    quarters = nation.persons.relship[nation.persons.rtype == 5]
    facilities = int((nation.units.rtype == 4).sum())
    assert abs((quarters == 37).mean() - 0.5) < 5 * 0.5 / np.sqrt(facilities / 2)


def test_that_members_differ_from_their_householder_as_in_the_sample(rhode_island):
    """Sample rates 0.08-0.21 by relationship, carried over by a stated rule: found within 0.03."""
    persons, units = rhode_island.persons, rhode_island.units
    own, head = _group(persons.cenrace, persons.cenhisp), _group(units.hhrace, units.hhspan)
    unlike = own != head[_unit_of_person(rhode_island)]
    share = state_figures()["44"].cells.sum(axis=0) / state_figures()["44"].persons
    diversity = 1 - float((share**2).sum())
    for codes in ((21, 25), (25, 28), (28, 34), (34, 37)):
        members = (persons.relship >= codes[0]) & (persons.relship < codes[1])
        expected = reassigned_shares()[codes[0]] * diversity
        assert unlike[members].mean() == pytest.approx(expected, abs=0.03)


def test_that_tenure_follows_the_sample_by_type_and_age(rhode_island):
    """Every cell within 5 standard deviations: 112 cells, false alarm below 1e-4."""
    units, persons, table = rhode_island.units, rhode_island.persons, tenure_table()
    head = np.flatnonzero(persons.relship == 20)
    unit = _unit_of_person(rhode_island)[head]
    age = np.maximum(np.searchsorted(table.ages, persons.qage[head], side="right") - 1, 0)
    for hht in range(1, 8):
        for place in range(len(table.ages)):
            tenure = units.ten[unit[(units.hht[unit] == hht) & (age == place)]]
            share = np.diff(table.cumulative[hht, place], prepend=0)
            counts = np.bincount(tenure, minlength=5)[1:]
            margin = 5 * np.sqrt(share * (1 - share) * len(tenure)) + 1e-9
            assert (np.abs(counts - share * len(tenure)) <= margin).all()


def test_that_groups_live_in_households_of_their_own_size(nation):
    """The tilt works: Hispanic households are larger than those of Whites, as in the county figures."""
    units = nation.units
    group, lived_in = _group(units.hhrace, units.hhspan), units.hht > 0
    mean = [units.final_pop[lived_in & (group == place)].mean() for place in (0, 7)]
    assert mean[1] > mean[0] + 0.2


@pytest.mark.parametrize("persons", [1, 2, 3, 7, 51, 52, 400, 5000])
@pytest.mark.parametrize("where", [{}, {"states": ["44"]}, {"states": ["02", "11", "15"]}, {"puerto_rico": True}])
def test_that_any_size_passes_the_validation_without_a_word(tmp_path, persons, where):
    generate_sdhc(persons, tmp_path, seed=persons, **where)
    report = check_data(tmp_path)
    assert report.issues == ()
    assert report.counts.persons == persons


def test_that_the_large_population_passes_the_validation_without_a_word(tmp_path):
    generate_sdhc(PERSONS, tmp_path, seed=11, storages=[Storage.PARQUET])
    assert check_data(tmp_path).issues == ()


def test_that_every_record_has_a_cell_in_every_table(nation):
    assert unclassifiable_records(nation) == ()


@pytest.mark.parametrize("persons", [51, 80, 600])
def test_that_every_state_has_a_household_when_there_are_enough_persons(persons):
    data = synthetic_population(persons, seed=1)
    lived_in = data.geo.tabblkst[data.units.hht > 0]
    assert {f"{code:02d}" for code in lived_in} == set(us_states())


@pytest.mark.parametrize("persons", [30, 200, 3000])
def test_that_small_populations_meet_their_cells_too(persons):
    """A state of a few persons may lack somebody to be a child; with 30 in one state nobody is missing."""
    data = synthetic_population(persons, seed=2, states=["44"])
    own = state_figures()["44"]
    minors = int((data.persons.qage < 18).sum())
    assert abs(minors - int(own.cells[0].sum()) * persons / own.persons) < 8


def _same(first, second):
    return all(
        np.array_equal(getattr(getattr(first, frame), column.name), getattr(getattr(second, frame), column.name))
        for frame in ("persons", "units", "geo")
        for column in fields(getattr(first, frame))
    )


def test_that_a_seed_fixes_the_population(tmp_path):
    first = synthetic_population(3000, seed=5, states=["RI"])
    assert _same(first, synthetic_population(3000, seed=5, states=["Rhode Island"]))
    assert not _same(first, synthetic_population(3000, seed=6, states=["RI"]))
    for name in "ab":
        generate_sdhc(3000, tmp_path / name, seed=5, states=["44"])
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
    for storage in Storage:
        assert _same(first, load_data(tmp_path / "a" / f"persons.{storage.value}"))


def test_that_parts_are_streamed_in_mafid_order():
    last, persons = 0, 0
    for part in synthesize(300_000, seed=1, states=["44"]):
        assert (np.diff(part.units["MAFID"]) == 1).all()
        assert part.units["MAFID"][0] > last
        assert (np.diff(part.persons["MAFID"]) >= 0).all()
        assert len(part.persons["MAFID"]) < 260_000
        last = int(part.units["MAFID"][-1])
        persons += len(part.persons["MAFID"])
    assert persons == 300_000


def test_that_puerto_rico_is_alone_and_says_what_it_is(tmp_path):
    mark = generate_sdhc(20_000, tmp_path, seed=1, puerto_rico=True)
    data = load_data(tmp_path)
    assert set(data.geo.tabblkst.tolist()) == {72}
    assert mark.states == ("72",)
    assert "only its total" in mark.matched[0]
    hispanic = (data.persons.cenhisp == 2).mean()
    assert hispanic == pytest.approx(puerto_rico_figures().cells[:, 7].sum() / 3_725_789, abs=1e-3)


def test_that_the_mark_names_seed_sources_and_samples(tmp_path):
    generate_sdhc(1000, tmp_path, seed=77, states=["44", "09"])
    mark = read_provenance(tmp_path)
    assert (mark.kind, mark.synthetic, mark.seed) == ("synthetic-population", True, 77)
    assert mark.states == ("09", "44")
    assert any("2010 Census" in line for line in mark.matched)
    assert any("Rhode Island" in line for line in mark.imputed)
    assert {name: file.rows for name, file in mark.files.items() if name.startswith("persons")} == {
        "persons.csv": 1000,
        "persons.parquet": 1000,
    }


def test_that_progress_ends_with_all_persons_and_can_stop_the_work(tmp_path):
    told = []
    generate_sdhc(1000, tmp_path / "whole", seed=1, states=["09", "44"], progress=lambda *step: told.append(step))
    assert [total for _, total in told] == [1000, 1000]
    assert told[-1] == (1000, 1000)

    def stop(done, total):
        raise CancelledError("Stopped.")

    with pytest.raises(CancelledError):
        generate_sdhc(1000, tmp_path / "stopped", seed=1, progress=stop)
    assert list((tmp_path / "stopped").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"persons": 0, "seed": 1}, "at least 1 person, not 0"),
        ({"persons": 10, "seed": -1}, "not -1"),
        ({"persons": 10**10, "seed": 1}, "more units than there are MAFIDs"),
        ({"persons": 10, "seed": 1, "states": ["44", "72"]}, "cannot be combined"),
        ({"persons": 10, "seed": 1, "states": ["44"], "puerto_rico": True}, "cannot be combined"),
        ({"persons": 10, "seed": 1, "states": ["99"]}, "'99'"),
        ({"persons": 10, "seed": 1, "states": []}, "No state"),
    ],
)
def test_that_what_cannot_be_is_refused(tmp_path, arguments, words):
    with pytest.raises(PhexploreError, match=words):
        generate_sdhc(out=tmp_path / "out", **arguments)
    assert not (tmp_path / "out").exists()


def test_that_a_directory_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(PhexploreError, match="cannot be written"):
        generate_sdhc(10, tmp_path / "file" / "out", seed=1)


@pytest.mark.parametrize(
    ("name", "persons", "where"), [("demo", 50_000, {}), ("demo-pr", 20_000, {"puerto_rico": True})]
)
def test_that_the_shipped_demonstration_is_what_the_generator_makes(name, persons, where):
    directory = demonstration_directory(name)
    assert _same(load_data(directory), synthetic_population(persons, seed=2020, **where))
    assert check_data(directory).issues == ()
    assert sum(path.stat().st_size for path in directory.iterdir()) < 1_500_000


def test_that_the_words_of_the_mark_follow_the_assumptions():
    rate = float(assumptions().vacant_per_household)
    assert any(f"{100 * rate:.1f} per 100 households" in line for line in generator.SAMPLED)
    assert f"{assumptions().puerto_rico_persons:,}" in generator.PUERTO_RICO_REMARK
