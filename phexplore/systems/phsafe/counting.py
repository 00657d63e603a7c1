"""Reading a population once for several counts, in parts where the files allow it."""

from __future__ import annotations

import time
from pathlib import Path

from phexplore.data.chunks import UnsortedError, iter_chunks, record_problems
from phexplore.data.problems import Phase
from phexplore.data.source import DataSource, Storage, find_source
from phexplore.data.validation import load_data
from phexplore.model.issues import InputProblemsError
from phexplore.runs.simulation import Watch
from phexplore.simulate.phsafe_count import CountingSpec, PhsafeCounter, UnclassifiableRecordError
from phexplore.simulate.tabulation import Tabulation

_SAMPLE_BYTES = 1 << 16


def count_population(
    path: Path, states: tuple[str, ...], specs: tuple[CountingSpec, ...], watch: Watch
) -> tuple[Tabulation, ...]:
    """Return one tabulation per specification of the population at `path`, read once.

    Files sorted by MAFID are read in parts, so memory does not grow with them; others are loaded whole. As in production,
    records that fit no cell are refused by a private count of their table, and taken into the totals by an exact one.

    Args:
        path: as the readers take it.
        states: FIPS codes of the states in the run.
        specs: what to count.
        watch: told of progress in persons; the phases are ``read`` and ``count``.

    Raises:
        InputProblemsError: the data did not pass validation.
            Or a private count met records that fit none of the cells of their table; all of them are listed.
        CancelledError: the run is to stop.
    """
    try:
        return _count(path, states, specs, watch)
    except UnclassifiableRecordError as error:
        watch.checkpoint()
        if problems := record_problems(path, states):
            raise InputProblemsError(problems) from error
        raise


def _count(
    path: Path, states: tuple[str, ...], specs: tuple[CountingSpec, ...], watch: Watch
) -> tuple[Tabulation, ...]:
    total = _persons(find_source(path))
    try:
        return _count_parts(path, states, specs, watch, total)
    except UnsortedError:
        watch.note("The files are not sorted by MAFID, so they are loaded whole; sorted ones need less memory.")
    with watch.phase("read"):
        data = load_data(path, states, lambda _: watch.checkpoint(), up_to=Phase.KEYS)
    with watch.phase("count"):
        counters = [PhsafeCounter(spec) for spec in specs]
        for counter in counters:
            watch.checkpoint()
            counter.add(data)
    return tuple(counter.result() for counter in counters)


def _count_parts(
    path: Path, states: tuple[str, ...], specs: tuple[CountingSpec, ...], watch: Watch, total: int
) -> tuple[Tabulation, ...]:
    counters = [PhsafeCounter(spec) for spec in specs]
    reading = counting = 0.0
    done = 0
    parts = iter_chunks(path, states=states, up_to=Phase.KEYS)
    while True:
        watch.progress("count", done, max(done, total))
        began = time.monotonic()
        part = next(parts, None)
        reading += time.monotonic() - began
        if part is None:
            break
        for counter in counters:
            watch.checkpoint()
            began = time.monotonic()
            counter.add(part)
            counting += time.monotonic() - began
        done += len(part.persons)
    watch.phase_done("read", reading)
    watch.phase_done("count", counting)
    return tuple(counter.result() for counter in counters)


def _persons(source: DataSource) -> int:
    """Return about how many persons the files hold: exact for Parquet, from the length of the first lines for CSV."""
    files = source.files["persons"]
    if source.storage is Storage.PARQUET:
        import pyarrow.parquet as pq  # noqa: PLC0415 - CSV does not need it

        return sum(int(pq.read_metadata(file).num_rows) for file in files)
    size = sum(file.stat().st_size for file in files)
    with files[0].open("rb") as file:
        sample = file.read(_SAMPLE_BYTES)
    return size * sample.count(b"\n") // max(1, len(sample))
