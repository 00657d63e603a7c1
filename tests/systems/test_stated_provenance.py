"""Provenance of data, searched for in everything that a run of each system writes, by the libraries of each format."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from census_1940_files import synthesize_census_1940, write_census_1940
from PIL import Image

import phexplore as px
from phexplore.cli.app import DONE, run
from phexplore.data.blocks.generator import synthesize_blocks, write_block_file
from phexplore.data.provenance import mark_file
from phexplore.figures.figure import Figure
from phexplore.model.provenance import UNMARKED, Provenance, ProvenanceKind, together
from phexplore.published.origins import provenance_of
from phexplore.report.run_report import write_run_report
from phexplore.resources import resource
from phexplore.runs.confidentiality import warning_about_blocks
from phexplore.runs.spec import RunSpec, data_of, decode_spec, encode_spec
from phexplore.systems.registry import preset, system_of
from phexplore.systems.run_results import _RUNS, RunRequest
from phexplore.systems.topdown.published_pictures import error_pictures
from phexplore.systems.topdown.run_options import TopDownOptions

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
KINDS = {
    "sdhc-2020-us": "synthetic",
    "pl94-2020-persons-us": "synthetic",
    "group-sizes-census-2010": "imputed",  # published counts up to 6; the open class is drawn, outliers are added
    "counties-invariant-2010": "published",
}


@pytest.fixture(scope="module", params=KINDS)
def simulated(request, tmp_path_factory) -> tuple[Path, str]:
    out = tmp_path_factory.mktemp("runs") / request.param
    assert run(["run", request.param, "--data", "demo", "--trials", "1", "--seed", "1", "--out", str(out)]) == DONE
    return out, KINDS[request.param]


def test_that_specification_and_summary_state_kind_and_source(simulated):
    directory, kind = simulated
    spec, summary = (json.loads((directory / name).read_text()) for name in ("spec.json", "summary.json"))
    for content in (spec, summary):
        assert content["provenance"]["kind"] == kind
        assert content["provenance"]["source"]
    assert spec["data"]["synthetic"] is summary["synthetic_data"] is (kind == "synthetic")
    assert px.open_run(directory).provenance.kind.value == kind


def test_that_every_file_of_counts_states_the_kind_and_describe_finds_it(simulated, tmp_path, capsys):
    directory, kind = simulated
    counted = [*directory.rglob("*.parquet"), *(directory / "release").rglob("*.csv")]
    assert directory / "trial-00000.parquet" in counted
    for path in counted:
        capsys.readouterr()
        copy = tmp_path / f"renamed{path.suffix}"
        copy.write_bytes(path.read_bytes())
        assert run(["data", "describe", str(copy if path.suffix == ".parquet" else path), "--json"]) == DONE
        assert json.loads(capsys.readouterr().out)["provenance"]["kind"] == kind, path


def test_that_a_list_of_tables_speaks_for_no_other_bytes(tmp_path, capsys):
    provenance = Provenance(ProvenanceKind.SYNTHETIC, "a run")
    table, other = tmp_path / "P1.csv", tmp_path / "other.csv"
    table.write_bytes(b"level,geoid,P0010001\n")
    (tmp_path / "provenance.json").write_bytes(provenance.listed({"P1.csv": mark_file(table, 0).sha256}))
    table.rename(other)
    assert run(["data", "describe", str(other), "--json"]) == DONE
    assert json.loads(capsys.readouterr().out)["provenance"]["kind"] == "synthetic"
    table.write_bytes(b"level,geoid,P0010001\nState,44,5\n")
    assert run(["data", "describe", str(table), "--json"]) != DONE
    blocks = tmp_path / "blocks.csv"
    write_unmarked(blocks)
    (tmp_path / "provenance.json").write_bytes(provenance.listed({"blocks.csv": mark_file(blocks, 0).sha256}))
    assert provenance_of(blocks) == UNMARKED  # the list frees no data


@pytest.mark.parametrize("kept", ["measurements", "microdata"])
def test_that_what_a_topdown_run_keeps_is_not_taken_for_a_publication(kept, tmp_path, capsys):
    blocks, out = tmp_path / "blocks.csv", tmp_path / "run"
    write_block_file(synthesize_blocks(40, 1), blocks)
    options = ["--keep-measurements", "nmf"] if kept == "measurements" else ["--microdata", "--expand", "1"]
    command = ["run", "pl94-2020-persons-us", "--data", str(blocks), "--trials", "1", "--seed", "1", "--out", str(out)]
    assert run([*command, *options]) == DONE
    folder = out / "measurements/trial-00000/nmf" if kept == "measurements" else out / "release/trial-00000"
    files = [folder] if kept == "measurements" else [p for p in folder.iterdir() if p.is_file()]
    for path in files:
        moved = path.rename(tmp_path / f"moved-{path.name}")
        assert provenance_of(moved).is_synthetic, path


def test_that_every_chart_and_every_row_of_its_table_states_the_kind(simulated):
    directory, kind = simulated
    results = system_of(px.open_run(directory)._spec.scenario).results
    reader = results.stated_reader()
    drawn = [reader.answer(RunRequest(directory, tab.id)) for tab in results.tabs]
    assert {each.kind.value for answer in drawn for each in answer.provenance} == {kind}
    charts = [answer.picture for answer in drawn if isinstance(answer.picture, Figure) and not answer.picture.is_empty]
    assert charts
    for chart in charts:
        assert kind in f"{chart.title} {chart.summary}".lower()
        assert set(chart.table.column("Provenance")) <= {kind}
    assert all(("(synthetic)" in answer.headline.caption) is (kind == "synthetic") for answer in drawn)
    if kind == "synthetic":
        assert all(chart.title.startswith("Synthetic data: ") for chart in charts)


def _texts(form: str, content: bytes) -> list[str]:
    """Return the text of each page, slide or file."""
    match form:
        case "html":
            return [content.decode()]
        case "docx":
            from docx import Document

            found = Document(io.BytesIO(content))
            return [section.header.paragraphs[0].text for section in found.sections]
        case "pptx":
            from pptx import Presentation

            slides = Presentation(io.BytesIO(content)).slides
            return [" ".join(s.text_frame.text for s in slide.shapes if s.has_text_frame) for slide in slides]
        case "png":
            return [" ".join(map(str, Image.open(io.BytesIO(content)).info.values()))]
        case _:
            return [content.decode()]


@pytest.mark.parametrize("form", ["html", "docx", "pptx", "png", "svg", "csv"])
def test_that_every_page_of_every_report_states_the_kind(simulated, form, tmp_path):
    directory, kind = simulated
    report = system_of(px.open_run(directory)._spec.scenario).report
    out = tmp_path / "out"
    out.mkdir()
    for path in write_run_report(report, directory, form, out, NOW):
        content = path.read_bytes()
        if form == "csv" and b"|" in content.partition(b"\n")[0]:
            continue  # the layout of a publication; provenance.json is next to it
        for text in _texts(form, content):
            assert kind in text.lower(), path.name
    if form == "csv" and system_of(px.open_run(directory)._spec.scenario).id in {"phsafe", "topdown"}:
        assert json.loads((out / "provenance.json").read_text())["kind"] == kind


def test_that_an_exported_workbook_states_the_kind(simulated):
    from phexplore.report.picture_files import picture_slide, picture_workbook

    directory, kind = simulated
    results = system_of(px.open_run(directory)._spec.scenario).results
    answers = [results.stated_reader().answer(RunRequest(directory, tab.id)) for tab in results.tabs]
    chart = next(each.picture for each in answers if isinstance(each.picture, Figure) and not each.picture.is_empty)
    with zipfile.ZipFile(io.BytesIO(picture_workbook(chart))) as book:
        assert kind in book.read("xl/sharedStrings.xml").decode()
    if kind == "synthetic":
        assert kind in _texts("pptx", picture_slide(chart))[0].lower()


# Files


@pytest.mark.parametrize(
    "arguments",
    [
        ("pl94", "--blocks", "40"),
        ("pl94", "--blocks", "60", "--states", "04,35", "--tribal", "0.1"),
        ("demonstration-2010", "--blocks", "20"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("name", ["made.csv", "made.csv.gz"])
def test_that_what_synth_writes_marks_itself_under_any_name(arguments, name, tmp_path):
    assert run(["synth", *arguments, "--seed", "1", "--out", str(tmp_path / name)]) == DONE
    moved = (tmp_path / name).rename(tmp_path / f"other.txt{'.gz' if name.endswith('gz') else ''}")
    assert provenance_of(moved).is_synthetic
    assert not warning_about_blocks(moved)


@pytest.mark.parametrize("picture", ["tree", "distance", "levels"])
def test_that_a_spine_states_the_provenance_of_its_blocks(picture, tmp_path, capsys):
    blocks, spine = tmp_path / "made.csv", tmp_path / "made.spine"
    write_block_file(synthesize_blocks(60, 1), blocks)
    assert run(["spine", "build", str(blocks), "--preset", "pl94-2020", "--out", str(spine)]) == DONE
    blocks.unlink()
    assert "Synthetic data." in capsys.readouterr().out
    opened = px.Spine.open(spine.rename(tmp_path / "other.spine"))
    assert opened.describe()["provenance"]["kind"] == "synthetic"
    assert opened.plot(picture).get_title(loc="left").startswith("Synthetic data: ")
    assert set(opened.table(picture).iloc[:, -1]) == {"synthetic"}


def test_that_one_row_without_the_mark_takes_it_away(tmp_path):
    path = tmp_path / "blocks.csv"
    write_block_file(synthesize_blocks(20, 1), path)
    *lines, last = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines, last.replace("synthetic", "")]))
    assert provenance_of(path) == UNMARKED


def test_that_one_record_of_1940_without_the_code_makes_the_file_a_published_one(tmp_path):
    path = tmp_path / "census.dat"
    write_census_1940(synthesize_census_1940(1, 1), path)
    assert provenance_of(path).is_synthetic
    path.write_bytes(path.read_bytes().replace(b"H194099", b"H194002", 1))
    assert provenance_of(path).kind is ProvenanceKind.PUBLISHED


def test_that_the_demonstration_is_known_by_its_bytes_wherever_it_is(tmp_path):
    copy = tmp_path / "my.csv.gz"
    copy.write_bytes(resource("synthetic/demo-blocks.csv.gz").read_bytes())
    assert provenance_of(copy).is_synthetic


def write_unmarked(path):
    write_block_file(synthesize_blocks(20, 1), path)
    rows = [line.rpartition(",")[0] for line in path.read_text().splitlines()]
    path.write_text("\n".join(rows) + "\n")


def test_that_unmarked_files_and_folders_are_real(tmp_path):
    path = tmp_path / "blocks.csv"
    write_unmarked(path)
    write_block_file(synthesize_blocks(20, 2, "09"), tmp_path / "other.csv.gz")
    assert provenance_of(path) == UNMARKED
    assert provenance_of(tmp_path).kind is ProvenanceKind.REAL
    path.unlink()
    assert provenance_of(tmp_path).is_synthetic


def test_that_published_microdata_are_published_and_not_confidential(tmp_path):
    path = tmp_path / "anything.csv.gz"
    header = "EPNUM,RTYPE,GQTYPE,GQTYPE_PL,VOTING_AGE,CENHISP,CENRACE,TABBLKST,TABBLKCOU,TABTRACTCE,TABBLK,TABBLKGRPCE"
    path.write_bytes(gzip.compress(f"{header}\n0,3,000,0,1,1,01,44,007,000101,1000,1\n".encode()))
    assert provenance_of(path).kind is ProvenanceKind.PUBLISHED
    assert not warning_about_blocks(path)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("real", "imputed"), ("published", "imputed"), ("synthetic", "synthetic")],
)
def test_that_expansion_makes_counts_imputed_unless_they_are_synthetic(kind, expected):
    scenario = preset("pl94-2020-persons-us").scenario
    data = data_of(scenario, Path("demo"))
    object.__setattr__(data, "provenance", Provenance(ProvenanceKind(kind), "a file"))
    spec = RunSpec(scenario, data, 1, 1, options=TopDownOptions(expand=3))
    assert spec.provenance.kind.value == expected
    assert "a file" in spec.provenance.source
    assert decode_spec(encode_spec(spec)).provenance == spec.provenance
    assert data.is_open is (kind != "real")  # the guard asks about the file, not about what a rule filled in


def test_that_the_kind_that_claims_least_prevails_in_a_mixture():
    parts = [Provenance(kind, kind.value) for kind in ProvenanceKind]
    for last, part in enumerate(parts):
        mixed = together(reversed(parts[: last + 1]))
        assert mixed.kind is part.kind
        assert all(each.kind.value in mixed.source for each in parts[: last + 1]), "no part of a mixture goes unsaid"
    assert together(()) == UNMARKED


# Several runs beside each other, and figures of runs in other results


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory) -> tuple[Path, Path]:
    """A run on marked blocks, and one on the same blocks without the mark, open because they are counts."""
    folder, found = tmp_path_factory.mktemp("two"), []
    for name, write in (
        ("marked", lambda path: write_block_file(synthesize_blocks(20, 1), path)),
        ("plain", write_unmarked),
    ):
        write(folder / f"{name}.csv")
        out = folder / name
        asked = ["--data", str(folder / f"{name}.csv"), "--trials", "1", "--seed", "1", "--out", str(out)]
        assert run(["run", "pl94-2020-persons-us", *asked]) == DONE
        found.append(out)
    return found[0], found[1]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_that_a_comparison_of_runs_states_the_kinds_of_all(two_runs, order, capsys):
    one, other = (two_runs[place] for place in order)
    kinds = [("synthetic", "real")[place] for place in order]
    capsys.readouterr()
    assert run(["compare", str(one), str(other), "--json"]) == DONE
    assert [column["provenance"]["kind"] for column in json.loads(capsys.readouterr().out)["columns"]] == kinds
    assert run(["compare", str(one), str(other)]) == DONE
    assert all(kind in capsys.readouterr().out for kind in kinds[:1])
    results = system_of(px.open_run(one)._spec.scenario).results
    compared = 0
    for tab in results.tabs:
        reader = results.stated_reader()
        offered = reader.answer(RunRequest(one, tab.id, others=(other,)))
        for chooser in offered.choosers:
            if chooser.asks in _RUNS:
                request = RunRequest(one, tab.id, {chooser.id: str(other)}, (other,))
                answer = reader.answer(request)
                if isinstance(answer.picture, Figure) and not answer.picture.is_empty:
                    compared += 1
                    assert [each.kind.value for each in answer.provenance] == kinds
                    assert set(answer.picture.table.column("Provenance")) == {", ".join(kinds)}
                    assert all(word in answer.picture.title.lower() for word in ("synthetic data", "unmarked data"))
    assert compared


def test_that_a_sweep_with_runs_states_their_provenance(tmp_path, two_runs):
    grid = tmp_path / "grid.json"
    grid.write_text('{"total": [1, 2]}')
    data = two_runs[0].parent / "marked.csv"
    out, chart = tmp_path / "sweep.csv", tmp_path / "sweep.svg"
    command = ["sweep", "pl94-2020-persons-us", "--grid", str(grid), "--out", str(out), "--picture", str(chart)]
    assert run([*command, "--runs", str(tmp_path / "runs"), "--data", str(data)]) == DONE
    header, *rows = out.read_text().splitlines()
    assert header.endswith(",Provenance")
    assert all(row.endswith(",synthetic") for row in rows)
    assert "synthetic data" in chart.read_text().lower()


def test_that_published_errors_state_the_provenance_of_the_run_beside_them(two_runs, tmp_path):
    stated = Provenance(ProvenanceKind.SYNTHETIC, "a run").json()
    figures = ("mae_total", "rmse_total", "mean_total", "largest_total", "exact_total", "mae_cells", "true_total")
    sizes = [{"size": "10 to 99", "areas": 1, "mae_total": 1.0}]
    groups = [{"group": "total", "title": "Total", "mae": 1.0, "mean": 1.0}]
    level = {
        "level": "County",
        "areas": 1,
        "by_size": sizes,
        "groups": groups,
        "worst": [],
        **dict.fromkeys(figures, 1.0),
    }
    level |= {f"run_{name}": 2.0 for name in figures} | {"run_by_size": sizes, "run_groups": groups, "run_areas": 1}
    found = {"title": "NHGIS", "levels": [level], "differences": [], "notes": [], "run": "r", "run_provenance": stated}
    chart = error_pictures(found)[0].content
    assert chart.title.startswith("Published data compared with synthetic data: ")
    assert set(chart.table.column("Provenance")) == {"published, synthetic"}
