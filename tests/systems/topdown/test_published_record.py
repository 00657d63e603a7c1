"""The published record beside the program's figures: errors of published tables, reruns, certificates."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import stats
from silent_watch import SilentWatch

from phexplore.catalog.names import Naming, in_words
from phexplore.cli.app import run as command
from phexplore.data.blocks.generator import write_block_file
from phexplore.data.blocks.population import from_dense
from phexplore.model.issues import InputProblemsError
from phexplore.model.topdown import LevelQuery
from phexplore.published.door import recognise, values_of
from phexplore.resources import resource
from phexplore.runs.spec import RunSpec, describe_blocks
from phexplore.runs.store import prepare_directory, trial_file
from phexplore.systems.experiments import pictures_of
from phexplore.systems.topdown.confidence import SHIPPED, certificates, confidence, confidence_json, ratio_interval
from phexplore.systems.topdown.open_run import TopDownRun
from phexplore.systems.topdown.presets import topdown_presets
from phexplore.systems.topdown.published_errors import published_errors
from phexplore.systems.topdown.published_pictures import CONFIDENCE, ERRORS
from phexplore.systems.topdown.simulation import make_simulation
from phexplore.workload.schema import load_schema

GROUPS = ("hisp", "white", "black", "aian", "asian", "nhpi", "other", "two")
LEAVES = {
    "H72": (*range(3, 9), *range(11, 26), *range(27, 47), *range(48, 63), *range(64, 70), 71),
    "H73": (*range(5, 11), *range(13, 28), *range(29, 49), *range(50, 65), *range(66, 72), 73),
}
"""Lines of the 63 races, as the published layout has them; H74 and H75 are the same of adults."""


def nhgis_line(cells: np.ndarray) -> dict[str, int]:
    """Return H72 to H75 and the total of one area from ``cells[2 ages, 8 groups]``; two races are put into one of the 57."""
    races = np.zeros((2, 2, 63), np.int64)  # age, Hispanic origin, race
    races[:, 0, :7] = cells[:, 1:]
    races[:, 1, 0] = cells[:, 0]
    found: dict[str, int] = {}
    for code, adults, everybody in (("H72", 0, 1), ("H74", 1, 1), ("H73", 0, 0), ("H75", 1, 0)):
        counts = races[1] if adults else races.sum(axis=0)
        own = counts.sum(axis=0) if everybody else counts[0]
        layout = LEAVES["H72" if everybody else "H73"]
        for line, count in zip(layout, own.tolist(), strict=True):
            found[f"{code}{line:03d}"] = count
        single, several = int(own[:6].sum()), int(own[6:].sum())
        if everybody:
            found |= {
                f"{code}001": single + several,
                f"{code}002": single,
                f"{code}009": several,
                f"{code}010": several,
            }
            found |= dict.fromkeys((f"{code}026", f"{code}047", f"{code}063", f"{code}070"), 0)
        else:
            total = int(counts.sum())
            found |= {f"{code}001": total, f"{code}002": int(counts[1].sum()), f"{code}003": single + several}
            found |= {f"{code}004": single, f"{code}011": several, f"{code}012": several}
            found |= dict.fromkeys((f"{code}028", f"{code}049", f"{code}065", f"{code}072"), 0)
    return found


def write_nhgis(path, areas, true, wrong):
    """Write a wide extract of sums of blocks, with the comma line and the encoding of the real ones."""
    columns = sorted(nhgis_line(true[0]))
    head = ["gisjoin", "name", "state", *(f"{c}_dp" for c in columns), *(f"{c}_sf" for c in columns)]
    lines = [",".join(head), "," * (len(head) - 1)]
    for code, name, rows in areas:
        dp, sf = (nhgis_line(cells[list(rows)].sum(axis=0)) for cells in (wrong, true))
        lines.append(",".join([code, name, "44", *(str(dp[c]) for c in columns), *(str(sf[c]) for c in columns)]))
    path.write_bytes("".join(f"{line}\r\n" for line in lines).encode("latin-1"))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Blocks as a block file with a run on it, and a published table of the same blocks with known errors."""
    folder = tmp_path_factory.mktemp("record")
    draw = np.random.default_rng(3)
    true = draw.integers(0, 12, (14, 2, 8))
    wrong = np.clip(true + draw.integers(-2, 3, true.shape), 0, None)
    geoids = [f"44007000101{1001 + n:04d}" for n in range(14)]
    schema = load_schema("pl94_reduced16")
    places = {"place": np.array(["4459000"] * 5 + [""] * 3 + ["4419180"] * 6)}
    population = replace(from_dense(schema, np.array(geoids), true.reshape(14, 16)), places=places)
    write_block_file(population, folder / "blocks.csv")
    areas = [(f"G{geoid[:2]}0{geoid[2:5]}0{geoid[5:]}", "Block", [n]) for n, geoid in enumerate(geoids)]
    write_nhgis(folder / "nhgis_ppdd_20210428_12-2_block_RI.csv", areas, true, wrong)
    areas = [("G44059000", "Providence city", range(5)), ("G44099999", "Nowhere", [0]), ("G44019180", "", range(8, 14))]
    write_nhgis(folder / "nhgis_ppdd_20210428_12-2_place.csv", areas, true, wrong)
    scenario = topdown_presets()["pl94-2020-persons-us"].scenario
    spec = RunSpec(scenario, describe_blocks(folder / "blocks.csv"), 2, 1)
    prepare_directory(folder / "run", spec)
    simulation = make_simulation(spec, folder / "run")
    simulation.prepare(SilentWatch())
    for index in range(2):
        simulation.write_trial(index, folder / "run" / trial_file(index))
    return folder, true, wrong


def test_that_published_errors_are_those_of_the_columns(files):
    folder, true, wrong = files
    level = published_errors(folder / "nhgis_ppdd_20210428_12-2_block_RI.csv")["levels"][0]
    errors = (wrong - true).reshape(14, 16)
    total = errors.sum(axis=1)
    assert (level["level"], level["areas"]) == ("Block", 14)
    assert level["mae_total"] == pytest.approx(np.abs(total).mean())
    assert level["rmse_total"] == pytest.approx(np.sqrt((total**2).mean()))
    assert level["mae_cells"] == pytest.approx(np.abs(errors).mean())
    assert (level["largest_total"], level["exact_total"]) == (np.abs(total).max(), (total == 0).sum())
    groups = {each["group"]: each["mae"] for each in level["groups"]}
    by_group = np.abs((wrong - true).sum(axis=1)).mean(axis=0)
    assert [groups[name] for name in GROUPS] == pytest.approx(by_group.tolist())
    assert sum(each["areas"] * each["mae_total"] for each in level["by_size"]) == pytest.approx(np.abs(total).sum())


def test_that_a_run_stands_beside_on_the_same_areas(files):
    folder, true, _ = files
    stated = published_errors(folder / "nhgis_ppdd_20210428_12-2_block_RI.csv", folder / "run")
    level, run = stated["levels"][0], TopDownRun(folder / "run")
    run.refresh()
    trials = [run.trial(index)[-1] for index in range(2)]
    every = np.arange(16, dtype=np.int32)
    errors = np.concatenate([each.answers(every, 16) - true.reshape(14, 16) for each in trials])
    assert level["run_mae_total"] == pytest.approx(np.abs(errors.sum(axis=1)).mean())
    assert level["run_rmse_total"] == pytest.approx(np.sqrt((errors.sum(axis=1) ** 2).mean()))
    assert level["run_mae_cells"] == pytest.approx(np.abs(errors).mean())
    assert (level["run_areas"], level["run_true_total"]) == (14, true.sum())
    assert len(stated["differences"]) == 1  # the settings; the data are the same
    figures = [picture.content for picture in pictures_of(ERRORS, json.loads(json.dumps(stated)), folder)]
    parts = ("sizes", "groups", "farthest")
    assert [figure.id for figure in figures] == ["published-errors", *(f"published-{part}-Block" for part in parts)]
    assert figures[0].marks[0].before == level["run_mae_total"]


def test_that_a_run_stands_beside_places_off_its_spine(files):
    folder, true, wrong = files
    stated = published_errors(folder / "nhgis_ppdd_20210428_12-2_place.csv", folder / "run")
    (level,) = stated["levels"]
    assert (level["level"], level["areas"], level["run_areas"]) == ("place", 3, 2)
    rows = [range(5), range(8, 14)]
    trials = [pq.read_table(folder / "run" / trial_file(index)).to_pylist() for index in range(2)]
    totals = [[sum(list(row.values())[1:]) for row in trial] for trial in trials]
    sums = np.array([[sum(total[n] for n in own) for own in rows] for total in totals])
    exact = np.array([true[list(own)].sum() for own in rows])
    assert level["run_mae_total"] == pytest.approx(np.abs(sums - exact).mean())
    worst = {each["code"]: each for each in level["worst"]}
    published = (wrong - true).sum(axis=(1, 2))
    assert worst["4459000"]["error"] == published[:5].sum()
    assert worst["4459000"]["run_mae_total"] == pytest.approx(np.abs(sums - exact)[:, 0].mean())
    pictures = {each.title: each.content for each in pictures_of(ERRORS, json.loads(json.dumps(stated)), Path())}
    named = {in_words(bar.name, Naming.NAMES) for bar in pictures["place: farthest off"].marks}
    assert {"Providence city, RI", "Cranston city, RI"} <= named


def test_that_a_file_without_true_columns_is_refused(tmp_path, capsys):
    path = tmp_path / "gls.csv"
    path.write_text("geocode|query|estimate|std_dev|query_description\n44|P0010001|1.5|2.0|Total\n", encoding="utf-8")
    with pytest.raises(InputProblemsError):
        published_errors(path)
    assert command(["published", "errors", str(path), "--json"]) == 2
    assert "gls.csv" in capsys.readouterr().err


def test_that_every_figure_of_the_certificates_is_the_programs_own():
    found = certificates()
    assert len(found) == 2 * (2 + 5) + 2 * (2 + 4) + 4 + 1 + 4 + 1 + len(("persons ε", "units ε")) + len(
        ("PL", "DHC", "S-DHC")
    )
    assert {each.verdict for each in found} == {"holds"}


def test_that_reruns_give_the_published_root_mean_square_errors():
    rows = {each.figure.split()[0].rstrip(":"): each for each in confidence() if each.kind == "Reruns (AMC)"}
    printed = {"H0040001": 3.86, "H0040002": 2.32, "H0040003": 4.48, "H0040004": 4.57}
    printed |= {"PCT0080001": 19.43, "PCT0080002": 24.81, "PCT0080003": 56.80}
    assert {code: round(row.published, 2) for code, row in rows.items()} == printed
    occupied = rows["H0040001"]
    assert occupied.low < occupied.ratio < occupied.high
    low, high = stats.chi2(25).ppf([0.05, 0.95])
    assert (occupied.low, occupied.high) == pytest.approx(
        (occupied.ratio * np.sqrt(low / 25), occupied.ratio * np.sqrt(high / 25))
    )


def test_that_cells_of_the_dhc_have_the_error_of_what_is_measured_at_their_level():
    """The renters of a block group: two answers of the units' histogram, and sums of those of every query by tenure of two kinds."""
    scenario = topdown_presets()["dhc-2020-units-us"].scenario
    summed = {
        "tenvacgq": 2,
        "hisp * hhtenshort_2lev": 2,
        "multig * hisp * hhtenshort_2lev": 4,
        "coupled_hh_type * hisp * hhtenshort_2lev": 10,
        "hisp * hhtenshort_2lev * race": 14,
        "partner_type_detailed_own_child_status * sex * hhtenshort_2lev": 24,
    }
    budgets = {query: scenario.topdown.budget(LevelQuery("Block_Group", query)) for query in summed}
    precision = sum(float(rho) / summed[query] for query, rho in budgets.items())
    rows = {each.figure.split(":")[0]: each for each in confidence() if each.kind == "Reruns (AMC)"}
    assert rows["H0040004"].ours == pytest.approx(precision**-0.5)
    assert {rows[f"H004000{line}"].verdict for line in (2, 3, 4)} == {"holds"}
    assert rows["PCT0080003"].ours is None


def test_that_a_cell_of_the_users_file_is_not_listed_beside_the_shipped_one(real_data):
    shipped = confidence_json()
    assert confidence_json([real_data / "published" / "amc" / "jupyter_data.csv"])["counts"] == shipped["counts"]


def test_that_microdata_of_reruns_are_compared_cell_by_cell(real_data, tmp_path):
    """Reruns made of the sample of 2020 by leaving persons out: the root mean square error is that of a plain count."""
    made = (real_data / "published" / "ppmf" / "made" / "2020_ppmf_person_44.csv").read_text("utf-8").splitlines()
    draw = np.random.default_rng(8)
    missing = []
    for number in range(26):
        left = draw.random(len(made) - 1) < 0.02 * (number > 0)
        folder = tmp_path / "set" / ("PPMF0" if number == 0 else f"rerun_{number}")
        folder.mkdir(parents=True)
        kept = [line for line, out in zip(made[1:], left.tolist(), strict=True) if not out]
        (folder / "persons.csv").write_text("\n".join([made[0], *kept]) + "\n", encoding="utf-8")
        missing.append(int(left.sum()))
    found = [each for each in confidence([tmp_path / "set"]) if each.figure == "people: RMSE"]
    by_place = {each.place: each for each in found}
    assert by_place["State 44"].published == pytest.approx(np.sqrt(np.mean(np.square(missing[1:]))))
    assert {place.split()[0] for place in by_place} == {"State", "County", "Tract", "Block"}
    table = values_of(recognise(tmp_path / "set"))
    assert table.replicates.shape[0] == 25
    rows = np.flatnonzero((table.levels == "State") & np.char.startswith(table.names, "P0010001"))
    assert table.replicates[:, rows[0], 0].tolist() == [1059 - count for count in missing[1:]]


def test_that_misses_come_first_and_what_cannot_be_compared_says_why():
    found = confidence_json()
    verdicts = [row["verdict"] for row in found["comparisons"]]
    assert verdicts == sorted(verdicts, key=("misses", "not compared", "holds").index)
    assert all(row["basis"] for row in found["comparisons"])
    assert sum(found["counts"].values()) == len(verdicts)
    figure = pictures_of(CONFIDENCE, json.loads(json.dumps(found)), Path())[0].content
    assert len(figure.table.rows) == len(verdicts)
    assert [bar.is_marked for bar in figure.marks] == [True] * found["counts"]["misses"] + [False] * found["counts"][
        "holds"
    ]


def test_that_the_interval_of_a_ratio_holds_the_truth_as_often_as_it_says():
    draw = np.random.default_rng(5)
    ours, theirs = (np.sqrt((draw.normal(size=(4000, n)) ** 2).mean(axis=1)) for n in (40, 25))
    held = [low <= 1 <= high for low, high in (ratio_interval(ratio, 40, 25) for ratio in (ours / theirs).tolist())]
    assert np.mean(held) == pytest.approx(0.90, abs=0.02)


def test_that_a_damaged_summary_of_reruns_is_refused(tmp_path):
    lines = resource(SHIPPED).read_text("utf-8").splitlines()
    for name, changed in (
        ("cut", lines[:-1]),
        ("twice", [*lines, lines[-1]]),
        ("words", [*lines[:-1], lines[-1] + "x"]),
    ):
        path = tmp_path / f"{name}.csv"
        path.write_text("\n".join(changed), encoding="utf-8")
        with pytest.raises(InputProblemsError):
            confidence([path])


def test_that_a_run_is_compared_by_its_own_draws(files, real_data, tmp_path):
    folder, _, _ = files
    others = [each for each in confidence(runs=[folder / "run"]) if each.kind == "Reruns (AMC)"]
    assert all("expected" in each.basis or each.ours is None for each in others)  # the run has other schema
    units = real_data / "published" / "ppmf" / "made" / "ppmf_20200917u_made.csv"
    spec = RunSpec(topdown_presets()["pl94-2020-units-us"].scenario, describe_blocks(units), 3, 1)
    prepare_directory(tmp_path / "units", spec)
    simulation = make_simulation(spec, tmp_path / "units")
    simulation.prepare(SilentWatch())
    for index in range(3):
        simulation.write_trial(index, tmp_path / "units" / trial_file(index))
    with units.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["TABTRACTCE"] == "000101"]
    true = sum(int(row["OCCUPIED_COUNT"]) for row in rows)
    blocks = {f"44007000101{row['TABBLK']}" for row in rows if row["TABBLKCOU"] == "007"}
    trials = [pq.read_table(tmp_path / "units" / trial_file(index)).to_pylist() for index in range(3)]
    errors = [sum(list(row.values())[2] for row in trial if row["geoid"] in blocks) - true for trial in trials]
    lines = [f"H4,H0040001: Total,ST-CO-TR: 44-007-000101,{draw},{true + draw % 3}" for draw in range(26)]
    reruns = tmp_path / "reruns.csv"
    reruns.write_text("\n".join(["PRODUCT_TABLE,QUERY,GEO,ITERATION,COUNT", *lines]), encoding="utf-8")
    found = {each.place: each for each in confidence([reruns], [tmp_path / "units"])}
    assert found["Tract 44007000101"].ours == pytest.approx(np.sqrt(np.mean(np.square(errors))))
    assert "the same area" in found["Tract 44007000101"].basis
