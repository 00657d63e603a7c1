from __future__ import annotations

from dataclasses import astuple, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from origins import SYNTHETIC

from phexplore.model.provenance import UNMARKED
from phexplore.runs.run_files import read_mark
from phexplore.runs.simulation import TrialFigures
from phexplore.runs.store import RunUnreadableError
from phexplore.simulate.tabulation import Tabulation
from phexplore.systems.phsafe.number_files import NumberFiles, keys_digest, read_truth
from phexplore.systems.phsafe.number_rows import keys_of, truth_of

Pair = tuple[Tabulation, Tabulation]


@pytest.fixture
def files(tabulated: Pair) -> NumberFiles:
    return NumberFiles(keys_of(tabulated[0]))


def write(files: NumberFiles, path: Path) -> np.ndarray:
    counts = np.arange(len(files.keys)) * 2**34 - 5
    distributions = np.where(np.arange(len(counts)) % 2, "Discrete Gaussian", "Two-Sided Geometric")
    writer = files.trial_writer(distributions, np.linspace(0, 9, len(counts)), {"label": "a label"})
    writer.write(path, counts, TrialFigures(3, 4))
    return counts


def test_that_a_trial_survives_its_file(files: NumberFiles, tmp_path: Path) -> None:
    path = tmp_path / "trial.parquet"
    counts = write(files, path)
    assert np.array_equal(files.read_counts(path), counts)
    assert files.read_figures(path) == TrialFigures(3, 4)
    distributions, variances = files.read_noise(path)
    assert distributions[1] == "Discrete Gaussian"
    assert variances[-1] == 9
    assert read_mark(path)["label"] == "a label"


def test_that_a_trial_is_a_plain_table_for_everybody_else(files: NumberFiles, tmp_path: Path) -> None:
    path = tmp_path / "trial.parquet"
    write(files, path)
    frame = pq.read_table(path).to_pandas()
    names = "TABLE REGION_TYPE REGION_ID ITERATION_CODE DATA_CELL COUNT NOISE_DISTRIBUTION VARIANCE"
    assert list(frame.columns) == names.split()
    assert frame["TABLE"].iloc[0] == "PH1_num"
    assert (frame["COUNT"].diff().dropna() == 2**34).all()


def test_that_the_same_trial_has_the_same_bytes(files: NumberFiles, tmp_path: Path) -> None:
    for name in "ab":
        write(files, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_that_the_truth_survives_its_file_and_is_marked(tabulated: Pair, files: NumberFiles, tmp_path: Path) -> None:
    truth = truth_of(*tabulated)
    files.write_truth(tmp_path / "real", truth, {"truncation": [1, 2]}, provenance=UNMARKED)
    files.write_truth(tmp_path / "made up", truth, {}, provenance=SYNTHETIC)
    found = read_truth(tmp_path / "real")
    assert all(map(np.array_equal, astuple(found.keys), astuple(files.keys)))
    for name in ("truncated", "untruncated", "non_private"):
        assert np.array_equal(getattr(found.truth, name), getattr(truth, name))
    assert found.metadata["confidential"] is True
    assert found.metadata["truncation"] == [1, 2]
    assert "CONFIDENTIAL" in found.metadata["label"]
    assert read_truth(tmp_path / "made up").metadata["confidential"] is False


def test_that_counts_of_other_numbers_are_refused(tabulated: Pair, files: NumberFiles, tmp_path: Path) -> None:
    write(files, tmp_path / "trial.parquet")
    fewer = {query: counts for query, counts in tabulated[0].counts.items() if query.table != "PH2"}
    others = NumberFiles(keys_of(replace(tabulated[0], counts=fewer)))
    for read in (others.read_counts, others.read_figures, others.read_noise):
        with pytest.raises(RunUnreadableError, match="other numbers"):
            read(tmp_path / "trial.parquet")


@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "text", "foreign"])
def test_that_a_damaged_file_is_named(files: NumberFiles, tmp_path: Path, damage: str) -> None:
    path = tmp_path / "trial.parquet"
    write(files, path)
    match damage:
        case "missing":
            path.unlink()
        case "empty":
            path.write_bytes(b"")
        case "cut":
            path.write_bytes(path.read_bytes()[:-100])
        case "text":
            path.write_text("this is no Parquet file")
        case "foreign":
            pq.write_table(pa.table({"COUNT": [1]}), path)
    with pytest.raises(RunUnreadableError, match=r"trial\.parquet"):
        files.read_counts(path)


def test_that_bytes_changed_in_the_middle_never_give_other_counts(files: NumberFiles, tmp_path: Path) -> None:
    path = tmp_path / "trial.parquet"
    counts, raw = write(files, path), path.read_bytes()
    for place in range(4, len(raw) - 8, max(1, len(raw) // 40)):
        path.write_bytes(raw[:place] + bytes([raw[place] ^ 0xFF]) + raw[place + 1 :])
        try:
            found = files.read_counts(path)
        except RunUnreadableError:
            continue
        assert np.array_equal(found, counts)


def test_that_the_digest_tells_keys_apart(files: NumberFiles, tabulated: Pair) -> None:
    keys = files.keys
    assert keys_digest(keys) == files.digest
    cells = keys.cell.copy()
    cells[3] += 1
    assert keys_digest(replace(keys, cell=cells)) != files.digest
