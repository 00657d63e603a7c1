"""Work on a real Dask cluster of two worker processes, some of which are killed."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial

import numpy as np
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from runs.dask_cluster import ClusterProcess
from topdown_worlds import PERSONS, blocks, draws, full, world_of

from phexplore.data.blocks.generator import synthesize_states, write_block_file
from phexplore.errors import CancelledError, PhexploreError
from phexplore.model.scenario import Scenario
from phexplore.runs import cluster as subject
from phexplore.runs.cluster import Cluster, ClusterError, code_stamp
from phexplore.runs.events import INSIDE, Finished, Note, Outcome, Progress, TrialDone
from phexplore.runs.launch import run_worker
from phexplore.runs.place import HERE, Place, TlsFiles
from phexplore.runs.spec import RunSpec, describe_blocks
from phexplore.runs.store import load_summary, prepare_directory, trial_file
from phexplore.runs.wire import Refusal, WireError, pack, unpack
from phexplore.simulate.topdown import driver
from phexplore.simulate.topdown.driver import descend
from phexplore.simulate.topdown.families import Estimation
from phexplore.simulate.topdown.histograms import Histograms
from phexplore.simulate.topdown.measuring import Draw, DrawnMeasurements, TrialKey
from phexplore.simulate.topdown.pooling import pool
from phexplore.systems.registry import preset
from phexplore.systems.topdown.reprocessing import reprocess_measurements
from phexplore.systems.topdown.run_options import Estimator, TopDownOptions
from phexplore.systems.topdown.state_store import BASE_BYTES, READ_BYTES

pytest.importorskip("distributed", reason="the test extra has Dask")


class Watch:
    """Hears notes, and stops the run where a test says so."""

    def __init__(self):
        self.notes = []
        self.stopped = False

    def checkpoint(self):
        if self.stopped:
            raise CancelledError("stopped")

    def note(self, text):
        self.notes.append(text)


@pytest.fixture(scope="module")
def machines():
    with ClusterProcess(2) as process:
        yield process


@pytest.fixture
def watch():
    return Watch()


@pytest.fixture
def cluster(machines, watch):
    with Cluster(machines.address, watch) as connected:
        yield connected


def kill_one(machines) -> None:
    os.kill(machines.workers()[0], signal.SIGKILL)


def test_that_results_come_in_order_and_the_user_is_told_where_the_data_go(cluster, watch):
    assert list(cluster(abs, range(-40, 0))) == list(range(40, 0, -1))
    assert list(cluster(abs, [])) == []
    assert "2 threads of 2 workers" in watch.notes[0]
    assert "Exact counts travel there" in watch.notes[0]
    assert len(watch.notes) == 1


def test_that_arrays_can_be_written_to_on_both_sides(cluster):
    values = [np.arange(100_000)[::-1].copy(), np.arange(3)]
    assert list(cluster(np.ndarray.sort, values)) == [None, None]
    for found in cluster(partial(np.add, 1), values):
        assert found.flags.writeable


def test_that_no_more_is_sent_than_threads_can_soon_take(cluster):
    taken = []

    def values():
        for number in range(30):
            taken.append(number)
            yield -number

    results = cluster(abs, values())
    assert next(results) == 0
    assert len(taken) == 2 * subject._PIECES_PER_THREAD
    results.close()


def test_that_large_pieces_travel_one_by_one(cluster, monkeypatch):
    monkeypatch.setattr(subject, "_MOST_BYTES", 1000)
    taken = []
    results = cluster(len, (taken.append(1) or b"x" * 2000 for _ in range(5)))
    assert next(results) == 2000
    assert len(taken) == 1
    assert list(results) == [2000] * 4


def test_that_threads_that_wait_for_results_at_once_do_not_take_them_from_each_other(cluster, monkeypatch):
    monkeypatch.setattr(subject, "_TICK_SECONDS", 1e-3)  # far below what a result takes on its way: every wait looks up

    def lengths(thread):
        return [len(found) for found in cluster(np.arange, [1_000_000 + thread] * 4)]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lengths, range(4))) == [[1_000_000 + thread] * 4 for thread in range(4)]


def test_that_an_expected_failure_keeps_its_remedy(cluster):
    with pytest.raises(PhexploreError, match="No preset is called") as caught:
        list(cluster(preset, ["sdhc-2020-uz"]))
    assert caught.value.remedy == "Did you mean 'sdhc-2020-us'?"


def test_that_an_error_in_the_program_is_raised_here(cluster):
    with pytest.raises(ValueError, match="invalid literal"):
        list(cluster(int, ["1", "two"]))


def test_that_a_stop_does_not_wait_for_a_piece_in_work(cluster, watch):
    watch.stopped = True
    began = time.monotonic()
    with pytest.raises(CancelledError):
        list(cluster(time.sleep, [4.0]))
    assert time.monotonic() - began < 4.0


def test_that_another_version_is_refused_by_workers_and_at_the_start(machines, cluster, watch, monkeypatch):
    monkeypatch.setattr(subject, "code_stamp", lambda: "0123456789abcdef")
    with pytest.raises(PhexploreError, match=f"another version .* its source is {code_stamp()}, this one's is 0123"):
        list(cluster(abs, [-1]))
    with pytest.raises(ClusterError, match="another version"):
        Cluster(machines.address, watch)


def test_that_other_processors_are_said(machines, watch, monkeypatch):
    monkeypatch.setattr(subject, "machine", lambda: ("x86_64", "another"))
    with Cluster(machines.address, watch):
        assert "Processors or libraries differ" in watch.notes[1]


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "127.0.0.1:9", "tcp://no-such-host.invalid:8786", "nonsense"])
def test_that_an_address_where_nobody_answers_is_a_sentence(address, watch, monkeypatch):
    monkeypatch.setattr(subject, "CONNECT_SECONDS", 0.3)
    try:
        Cluster(address, watch)
    except ClusterError as error:
        sentence, remedy = error.sentence, error.remedy
    gc.collect()  # the client that failed: collected while the next one starts its thread, it would block that for 10 s
    assert sentence.startswith(f"No Dask scheduler answers at {address} (")
    assert "leave out the address" in remedy


def test_that_a_missing_dask_is_a_sentence_with_the_way_to_get_it(watch, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match="Dask is not installed") as caught:
        Cluster("tcp://127.0.0.1:9", watch)
    assert "pip install 'dask[distributed]'" in caught.value.remedy


def test_that_dask_is_not_loaded_before_an_address_is_given():
    import subprocess

    code = "import sys, phexplore.runs.cluster; sys.exit(bool({'dask', 'distributed'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_that_a_worker_killed_in_the_middle_of_a_level_loses_nothing(machines, cluster, monkeypatch):
    monkeypatch.setattr(driver, "_LEAST_BYTES", 1 << 13)
    world = world_of(full(400))
    pieces = []

    def after_a_piece(level, done, total):
        pieces.append((level, done, total))
        if level == "Block" and done < total and ("killed",) not in pieces:
            pieces.append(("killed",))
            kill_one(machines)

    there = descend(world, draws(world), mapper=cluster, on_progress=after_a_piece)
    here = descend(world, draws(world))
    sources = [HereAlone(Draw(TrialKey(1, 0))) for _ in world.design.levels]
    measured_here = descend(world, sources, mapper=cluster, elsewhere=True)
    place = pieces.index(("killed",))
    assert len([piece for piece in pieces[place:] if piece[0] == "Block"]) > 2
    for other in (there, measured_here):
        assert bytes_of(other) == bytes_of(here)
        assert but_for_seconds(other.record) == but_for_seconds(here.record)


def test_that_pooling_on_a_cluster_changes_no_bit(cluster, monkeypatch):
    monkeypatch.setattr(driver, "_LEAST_BYTES", 1 << 13)
    world = world_of(full(400))

    def pooled(sources, **places):
        start = pool(world, sources, lowest=len(world.design.levels) - 1, **places)
        return descend(world, start, Estimation(pooled=True), **places)

    here = pooled(draws(world))
    for sources in (draws(world), [HereAlone(Draw(TrialKey(1, 0))) for _ in world.design.levels]):
        assert bytes_of(pooled(sources, mapper=cluster, elsewhere=True)) == bytes_of(here)


class HereAlone(DrawnMeasurements):
    """Measurements that no other process can take."""

    is_anywhere = False


def bytes_of(descent):
    return [array.tobytes() for level in descent.levels for array in (level.starts, level.cells, level.counts)]


def but_for_seconds(record):
    return {name: getattr(record, name) for name in record.__slots__ if name != "seconds"}


@pytest.fixture(scope="module")
def block_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("blocks") / "blocks.csv.gz"
    write_block_file(blocks(), path)
    return path


def run(directory, spec, on_event=None, place=HERE):
    """Run a specification in a worker process, as people do; return its summary but for the seconds."""
    notes = []

    def hear(event):
        if isinstance(event, Note):
            notes.append(event.text)
        if on_event is not None:
            on_event(event)

    final = run_worker(prepare_directory(directory, spec), hear, place=place)
    assert final == Finished(Outcome.COMPLETE), final
    summary = load_summary(directory)
    return {name: value for name, value in summary.items() if name not in {"seconds", "peak_mb"}}, notes


@pytest.mark.parametrize("estimator", Estimator)
def test_that_a_run_whose_worker_is_killed_has_the_bytes_of_a_local_run(machines, block_file, tmp_path, estimator):
    def spec(**options):
        return RunSpec(
            Scenario("persons", PERSONS),
            describe_blocks(block_file),
            2,
            1,
            options=TopDownOptions(expand=5, keep_measurements=True, estimator=estimator, **options),
        )

    def kill_after_the_first(event):
        if isinstance(event, TrialDone) and event.index == 0:
            kill_one(machines)

    here, _ = run(tmp_path / "here", spec())
    there, notes = run(tmp_path / "there", spec(), kill_after_the_first, Place(scheduler=machines.address))
    assert there == here
    assert any(machines.address in note for note in notes)
    for index in range(2):
        assert (tmp_path / "there" / trial_file(index)).read_bytes() == (
            tmp_path / "here" / trial_file(index)
        ).read_bytes()
    for path in (tmp_path / "here" / "measurements").rglob("*.parquet"):
        assert (tmp_path / "there" / path.relative_to(tmp_path / "here")).read_bytes() == path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("estimator", list(Estimator), ids=lambda estimator: estimator.value)
def test_that_states_on_a_cluster_have_the_bytes_of_this_machine(machines, tmp_path, estimator):
    data = tmp_path / "nation.csv"
    write_block_file(synthesize_states(300, 1, ["04", "25", "44"], tribal=0.2), data)
    options = TopDownOptions(expand=5, estimator=estimator)
    spec = RunSpec(Scenario("persons", PERSONS), describe_blocks(data), 1, 1, options=options)
    killed = []

    def kill(event):
        if isinstance(event, Progress) and event.phase == INSIDE and event.done and not killed:
            killed.append(kill_one(machines))

    limit = BASE_BYTES + 150 * READ_BYTES  # a state has 100 blocks, all of them 300
    here, _ = run(tmp_path / "here", spec, place=Place(memory=limit))
    there, _ = run(tmp_path / "there", spec, on_event=kill, place=Place(scheduler=machines.address, memory=limit))
    assert there == here
    assert killed
    for state in ("04", "25", "44"):
        one, other = (tmp_path / place / trial_file(0) / f"{state}.parquet" for place in ("here", "there"))
        assert one.read_bytes() == other.read_bytes()


@pytest.mark.slow
def test_that_kept_answers_travel_to_the_cluster(machines, block_file, tmp_path):
    scenario, data = Scenario("persons", PERSONS), describe_blocks(block_file)
    kept = TopDownOptions(expand=5, keep_measurements=True)
    run(tmp_path / "kept", RunSpec(scenario, data, 1, 1, options=kept))
    for name, address in (("here", ""), ("there", machines.address)):
        spec = reprocess_measurements(scenario, tmp_path / "kept", data, trials=1, options=TopDownOptions())
        run(tmp_path / name, spec, place=Place(scheduler=address))
    one, other = ((tmp_path / name / trial_file(0)).read_bytes() for name in ("here", "there"))
    assert one == other


@pytest.mark.slow
def test_that_workers_that_die_of_a_piece_end_the_run_with_a_sentence(watch):
    with (
        ClusterProcess(2) as process,
        Cluster(process.address, watch) as cluster,
        pytest.raises(ClusterError, match="died of the same piece of work"),
    ):
        list(cluster(os._exit, [1]))


@pytest.mark.slow
def test_that_a_cluster_that_goes_away_ends_the_run_with_a_sentence(watch):
    with ClusterProcess(1) as process, Cluster(process.address, watch) as cluster:
        results = cluster(time.sleep, [0.1] * 2 + [20.0] * 2)
        next(results)
        for worker in process.workers():
            os.kill(worker, signal.SIGKILL)
        os.kill(process.process_id, signal.SIGKILL)
        with pytest.raises(ClusterError, match="is gone"):
            list(results)


@pytest.mark.slow
def test_that_a_scheduler_without_workers_is_a_sentence_with_the_way_to_start_one(watch, monkeypatch):
    with ClusterProcess(0) as process:
        monkeypatch.setattr(subject, "CONNECT_SECONDS", 1.0)
        with pytest.raises(ClusterError, match="has no worker") as caught:
            Cluster(process.address, watch)
        assert f"dask worker {process.address}" in caught.value.remedy


def test_that_a_piece_that_a_worker_would_die_of_is_refused_before_it_is_sent(watch):
    with ClusterProcess(1, memory=10**9) as limited, Cluster(limited.address, watch) as cluster:
        cluster.confirm_memory("State 44", 4 * 10**8, 6 * 10**8)
        with pytest.raises(ClusterError, match="State 06 takes about 572 MB") as refused:
            cluster.confirm_memory("State 06", 4 * 10**8 + 1, 6 * 10**8)
    assert "--memory-limit" in refused.value.remedy


@pytest.mark.slow
def test_that_the_user_hears_when_no_worker_is_left_and_when_there_is_one_again(watch, monkeypatch):
    monkeypatch.setattr(subject, "_LOOK_SECONDS", 0.05)
    with ClusterProcess(1) as process, Cluster(process.address, watch) as cluster:
        results = cluster(time.sleep, [0.1] * 30)
        next(results)
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.workers()[0], signal.SIGKILL)
        assert len(list(results)) == 29
    assert "No worker is left" in watch.notes[1]
    assert "has workers again" in watch.notes[2]


@pytest.mark.defect("F15")
@pytest.mark.parametrize("greeting", [b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", b""])
def test_that_a_server_of_another_kind_is_no_scheduler(watch, monkeypatch, greeting):
    monkeypatch.setattr(subject, "CONNECT_SECONDS", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer():
            with contextlib.suppress(OSError):
                connection, _ = listener.accept()
                with connection:
                    connection.sendall(greeting)
                    connection.recv(1)

        server = threading.Thread(target=answer)
        server.start()
        with pytest.raises(ClusterError, match="No Dask scheduler answers at"):
            Cluster(f"tcp://127.0.0.1:{listener.getsockname()[1]}", watch)
        server.join()


def certificates(folder, name="authority"):
    """Make an authority, and a certificate of this machine that it signed."""
    folder.mkdir()
    now = datetime.now(UTC)
    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    issuer = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    machine = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    for file, subject_name, key, is_authority in (("ca", issuer, keys[0], True), ("cert", machine, keys[1], False)):
        made = (
            x509.CertificateBuilder()
            .subject_name(subject_name)
            .issuer_name(issuer)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(minutes=5))
            .not_valid_after(now + timedelta(hours=1))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
            .sign(keys[0], hashes.SHA256())
        )
        (folder / f"{file}.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "key.pem").write_bytes(keys[1].private_bytes(*plain))
    return TlsFiles(folder / "ca.pem", folder / "cert.pem", folder / "key.pem")


@pytest.mark.defect("F3")
def test_that_certificates_encrypt_and_that_those_of_another_authority_are_refused(watch, tmp_path):
    own, other = certificates(tmp_path / "own"), certificates(tmp_path / "other", "somebody else")
    with ClusterProcess(1, tmp_path / "own") as process:
        assert process.address.startswith("tls://")
        with Cluster(process.address, watch, own) as cluster:
            assert list(cluster(abs, [-1, -2])) == [1, 2]
        for wrong in (other, None):
            with pytest.raises(ClusterError, match="No Dask scheduler answers at tls://"):
                Cluster(process.address, watch, wrong)


@pytest.mark.defect("F3")
@pytest.mark.parametrize(
    "value",
    [
        None, True, 3, 0.1, "text", [1, (2.5, None)], np.arange(6).reshape(2, 3), np.array(["a", "bc"]),
        Refusal("It failed.", "Do this."), Histograms(np.array([0, 1]), np.array([3], np.int32), np.array([7])),
    ],
)  # fmt: skip
def test_that_results_travel_as_arrays_and_plain_values(value):
    packed = pack(value)
    assert pack(unpack(packed)) == packed
    assert type(unpack(packed)) is type(value)


@pytest.mark.defect("F3")
def test_that_a_pickle_is_no_result():
    import pickle

    for content in (pickle.dumps([1]), b"", pack([1])[:-1], pack(np.arange(3))[:-4]):
        with pytest.raises(WireError):
            unpack(content)
    for value in (object(), np.array([object()]), {"a": 1}, Watch()):
        with pytest.raises(WireError):
            pack(value)
