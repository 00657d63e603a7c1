"""Run directories made by hand: made-up counts, noise from NumPy, no simulator."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from origins import SYNTHETIC

from phexplore.catalog.tables import table, tables
from phexplore.metrics.accuracy_report import Truth, covered
from phexplore.metrics.numbers import REGION_TYPES, NumberKeys
from phexplore.metrics.summary import truncation_by_size
from phexplore.model.keys import QueryKey, Region
from phexplore.model.provenance import UNMARKED
from phexplore.runs.simulation import TrialFigures
from phexplore.runs.spec import RunData, RunMode, RunSpec
from phexplore.runs.store import RELEASE_DIRECTORY, TRUTH_FILE, close_run, prepare_directory, trial_file
from phexplore.runs.writing import write_json
from phexplore.systems.phsafe.expectation import expectation_of
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.phsafe.number_files import NumberFiles

STATES = ("01", "44", "56")


def made_run(directory, scenario, *, trials=4, mode=RunMode.PRIVATE, synthetic=True, scale=1.0, complete=True, seed=7):
    """Write a run directory and return it.

    Args:
        directory: where.
        scenario: parameters.
        trials: how many are there.
        mode: of the run.
        synthetic: whether its data is marked so.
        scale: of the noise relative to what the parameters say; 1 = right.
        complete: with summary and manifest.
        seed: of everything made up.
    """
    scenario = replace(scenario, method=replace(scenario.method, states=STATES))
    data = RunData(str(directory / "data"), "5" * 64, 123456, SYNTHETIC if synthetic else UNMARKED)
    spec = RunSpec(scenario, data, max(trials, 1), seed, mode)
    prepare_directory(directory, spec)
    rng = np.random.default_rng(seed)
    keys = made_keys(scenario)
    truth = made_truth(keys, rng)
    sizes = {
        name: np.array([0, 900, 800, 500, 400, 200, 90, 40, 20, 9, 5, 3, 2, 1, 0, 1], np.int64)
        for name in scenario.method.thresholds
    }
    extra = {"truncation": truncation_by_size(sizes, scenario.method.thresholds)}
    files = NumberFiles(keys)
    files.write_truth(directory / TRUTH_FILE, truth, extra, provenance=data.provenance)
    sigma, names = made_sigma(keys, scenario, mode)
    measured = np.array([table(name).measured for name in keys.table.tolist()])
    margin = expectation_of(spec, keys).margin
    writer = files.trial_writer(names, sigma**2, {"label": "made up"})
    for index in range(trials):
        noise = np.rint(rng.normal(0.0, 1.0, len(keys)) * sigma * scale).astype(np.int64)
        held, numbers = covered(keys, measured, noise, margin)
        writer.write(directory / trial_file(index), truth.truncated + noise, TrialFigures(held, numbers))
    if complete:
        write_json(
            directory / "summary.json", {"checks": {"variance": True, "negative": 3}, "seconds": {"trials": 1.5}}
        )
        assert not (directory / RELEASE_DIRECTORY).exists()
        close_run(directory, spec.identity)
    return directory


def published(scenario):
    """The queries with rows in a run, derived tables included, in catalogue order."""
    known = set(scenario.method.published)
    for product in tables().values():
        for level in product.levels:
            if QueryKey(product.derived_from or product.id, level) in known:
                yield QueryKey(product.id, level)


def made_keys(scenario):
    lines = [
        (query.table, REGION_TYPES[query.level.region], region, code, cell.code)
        for query in published(scenario)
        for region in (("1",) if query.level.region is Region.NATION else STATES)
        for code in query.level.iteration.codes
        for cell in table(query.table).basis_cells
    ]
    columns = [np.array(column, dtype=np.str_) for column in list(zip(*lines, strict=True))[:4]]
    return NumberKeys(*columns, cell=np.array([line[4] for line in lines], np.int64))


def made_truth(keys, rng):
    untruncated = rng.integers(0, 5000, len(keys))
    truncated_tables = np.array([table(name).truncated for name in keys.table.tolist()])
    cut = np.where(truncated_tables, untruncated // rng.integers(200, 3000, len(keys)), 0)
    return Truth(untruncated - cut, untruncated, untruncated.copy())


def made_sigma(keys, scenario, mode):
    figures = {entry.query: entry for entry in forecast(scenario).queries}
    sigma, names = np.zeros(len(keys)), np.full(len(keys), "", dtype="<U32")
    if mode is not RunMode.PRIVATE:
        return sigma, names
    places = {query: query for query in published(scenario)}
    for row in range(len(keys)):
        query = next(
            q
            for q in places
            if q.table == keys.table[row]
            and REGION_TYPES[q.level.region] == keys.region_type[row]
            and keys.iteration_code[row] in q.level.iteration.codes
        )
        product = table(query.table)
        entry = figures[QueryKey(product.derived_from or product.id, query.level)]
        added = max(1, len(product.cell(int(keys.cell[row])).sources))
        sigma[row], names[row] = math.sqrt(added) * entry.sigma, entry.noise.name
    return sigma, names
