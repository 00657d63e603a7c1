"""Make the machine code of every kernel before anybody waits for it, by using the program on small data.

    python packaging/prepare_kernels.py            # for this machine: of a checkout, or of the installed program
    NUMBA_CPU_NAME=x86-64-v2 NUMBA_CPU_FEATURES= python packaging/prepare_kernels.py   # for an older one
    python packaging/prepare_kernels.py --bare     # and leave out what only a kernel that calls others is compiled with

What is there already is kept: a second call takes as long as the journeys. The program says on its own what it compiles later
(`phexplore/compiled.py`); `tests/test_compiled.py` counts that nothing is.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from threading import Lock

import numba
import numpy as np

import phexplore
from phexplore.compiled import without_bitcode
from phexplore.data.mafid_index import MafidIndex
from phexplore.noise.distributions import DiscreteGaussian
from phexplore.noise.entropy import SeededEntropy
from phexplore.noise.sampler import sampler_for
from phexplore.simulate.phsafe_kernel import gather_neighbours
from phexplore.spine.settings import SpineSettings
from phexplore.spine.tract_groups import merge_tracts

PACKAGE = Path(phexplore.__file__).parent
BLOCKS = "run {preset} --data blocks.csv.gz --trials 1 --seed 1 --out {out}"
DATA = [
    "synth pl94 --blocks 60 --seed 1 --out blocks.csv.gz",
    "synth pl94 --blocks 90 --states 04,44 --tribal 0.2 --seed 1 --out states.csv.gz",
    "synth sdhc --persons 3000 --seed 1 --out population",
]
LANES = (
    [
        BLOCKS.format(preset="pl94-2020-persons-us", out="persons"),
        BLOCKS.format(preset="pl94-2020-units-us", out="units") + " --expand 1",
        "run pl94-2020-persons-us --data states.csv.gz --expand 1 --trials 2 --workers 2 --seed 1 --out states --keep-measurements --microdata",
        "run pl94-2020-persons-us --data states.csv.gz --estimator pooled --trials 1 --seed 1 --out pooled",
        "run pl94-2020-persons-us --data blocks.csv.gz --rounder-target whole --trials 1 --seed 1 --out whole",
        "run pl94-2020-persons-us --data blocks.csv.gz --block-by-block --trials 1 --seed 1 --out apart",
        "run pl94-2020-persons-us --data blocks.csv.gz --no-noise --out exact",
        "run ppmf-2021-04-low-persons-us --data blocks.csv.gz --trials 1 --seed 1 --out april",
        BLOCKS.format(preset="dhc-2020-persons-us", out="dhc-persons") + " --expand 1",
        BLOCKS.format(preset="dhc-2020-units-us", out="dhc-units") + " --expand 1",
        "report states --format html --out states.html",
    ],
    [
        "run sdhc-2020-us --data population --trials 2 --seed 1 --out sdhc",
        "run sdhc-2020-us --data population --no-noise --out sdhc-exact",
        "tabulate population --out tables",
        "tabulate population --out truncated --truncate sdhc-2020-us",
        "run group-sizes-census-2010 --trials 1 --seed 1 --out sizes",
        "group-sizes experiment --trials 1 --epsilons 1 --largest 12 --out experiment",
        "spine build states.csv.gz --preset pl94-2020 --out blocks.spine",
        "spine variance blocks.spine pl94-2020-persons-us --queries total,detailed",
        "spine variance blocks.spine pl94-2020-persons-us --queries total --fit top-down",
        "spine describe blocks.spine",
        "forecast pl94-2020-persons-us",
        "run counties-invariant-2010 --trials 1 --seed 1 --out counties",
    ],
)
"""Beside each other after `DATA`, one lane per core; what needs a file of another journey stands after it in its lane."""


def use_rare_shapes() -> None:
    """Use what the small data above do not: identifiers far apart, repeated and in no order, read-only or not; wide noise;
    areas across tracts."""
    apart = np.random.default_rng(1).integers(0, 1 << 40, 256)
    for mafid in (apart, np.concatenate([apart, apart]), np.arange(256)):
        for held in _held(mafid):
            for wanted in _held(apart):
                MafidIndex(held).rows(wanted)
    records = np.zeros(len(apart), np.uint32)
    for mafid in _held(apart):
        for held in _held(records):
            gather_neighbours(mafid, held, np.empty_like(apart), np.empty_like(records))
    sampler_for(DiscreteGaussian(Fraction(10**8))).fill(SeededEntropy(1), np.empty(64, np.int64))
    block = np.arange(8)
    merge_tracts([block * 0, block * 0], block // 2, block, [block % 3], SpineSettings(tract_groups="paper"))


def _held(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return values that may be written, and those that may not, as a mapped file gives them."""
    fixed = values.copy()
    fixed.flags.writeable = False
    return values, fixed


def stamp() -> str:
    """Return what the machine code depends on, in a word; a checkout is prepared again when it changes."""
    digest = hashlib.sha256(f"{sys.version} {numba.__version__} {numba.config.CPU_NAME}".encode())
    for path in sorted([*PACKAGE.rglob("*.py"), Path(__file__)]):
        text = path.read_bytes()
        if b"from phexplore.compiled import" in text or path == Path(__file__):
            digest.update(text)
    return digest.hexdigest()


def main() -> int:
    folder = PACKAGE / "_machine_code"
    done = folder / f".prepared-{numba.config.CPU_NAME or 'own'}"
    if not done.is_file() or done.read_text() != stamp():
        if not prepared():
            return 1
        folder.mkdir(exist_ok=True)
        done.write_text(stamp())
    if "--bare" in sys.argv[1:]:
        for file in folder.glob("*.bin"):
            file.write_bytes(without_bitcode(file.read_bytes()))
    return 0


def prepared() -> bool:
    """Use all there is; return whether every journey came to its end."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(len(LANES)) as pool:
        told = _Told(len(DATA) + sum(map(len, LANES)))
        if not (_travel(DATA, folder, told) and all(list(pool.map(lambda lane: _travel(lane, folder, told), LANES)))):
            return False
        use_rare_shapes()
    return True


def _travel(journeys: list[str], folder: str, told: _Told) -> bool:
    """Use the program in a folder of its own home; return whether every journey came to its end."""
    environment = os.environ | {"PYTHONPATH": str(PACKAGE.parent), "HOME": folder, "XDG_CACHE_HOME": folder}
    for journey in journeys:
        ended = subprocess.run(  # noqa: S603 - this program, with words written out above
            [sys.executable, "-m", "phexplore", *journey.split()],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if ended.returncode:
            sys.stderr.write(f"\n{journey}\n{ended.stderr}")
            return False
        told.ended(journey)
    return True


class _Told:
    """The bar."""

    def __init__(self, journeys: int) -> None:
        self._journeys, self._ended, self._lock = journeys, 0, Lock()

    def ended(self, journey: str) -> None:
        with self._lock:
            self._ended += 1
            bar = "█" * round(24 * self._ended / self._journeys)
            start, end = ("\r", "\x1b[K") if sys.stderr.isatty() else ("", "\n")
            text = f"Preparing the solver, once per computer {bar:░<24} {self._ended}/{self._journeys}"
            sys.stderr.write(f"{start}{text}: {journey.partition(' --')[0]}{end}")
            sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
