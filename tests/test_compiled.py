"""Machine code: made once, found by content wherever it lies, and not made again in front of anybody."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from phexplore import compiled, preparing
from phexplore.compiled import best_processor, kernel
from phexplore.report.progress import ProgressLine
from phexplore.runs.events import Progress

CHECKOUT = Path(__file__).parents[1]
PROGRAM = [sys.executable, "-m", "phexplore"]
AVX2 = dict.fromkeys(("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"), True)
OLD = dict.fromkeys(("cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"), True)


def doubling(text="def doubled(values):\n    return values.sum() * FACTOR\n", factor=2):
    """Return a new kernel of this source, as a process that starts has one."""
    names = {"FACTOR": factor, "__name__": "phexplore.doubling"}
    exec(text, names)  # noqa: S102 - the source above
    return kernel(names["doubled"])


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(compiled, "folders", lambda: (tmp_path / "beside", tmp_path / "own"))
    return tmp_path


@pytest.fixture
def told():
    calls = []
    with preparing.heard_by(lambda *found: calls.append(found)):
        yield calls


@pytest.mark.parametrize(
    ("triple", "features", "name"),
    [
        ("x86_64-unknown-linux-gnu", AVX2 | OLD | {"avx512f": True}, "x86-64-v3"),
        ("x86_64-unknown-linux-gnu", AVX2 | OLD | {"fma": False}, "x86-64-v2"),
        ("x86_64-pc-windows-msvc", OLD, "x86-64-v2"),
        ("x86_64-apple-darwin", {"sse3": True}, "x86-64"),
        ("arm64-apple-darwin", {}, "generic"),
    ],
)
def test_which_processor_is_compiled_for(triple, features, name):
    assert best_processor(triple, features) == name


class TestStore:
    values = np.arange(4)

    def test_that_another_process_finds_what_one_has_made(self, store, told):
        assert doubling()(self.values) == 12
        assert len(told) == 1
        assert doubling()(self.values) == 12
        assert len(told) == 1
        assert len(list((store / "beside").iterdir())) == 1

    def test_that_a_changed_constant_is_other_code_and_takes_its_place(self, store, told):
        assert [doubling(factor=factor)(self.values) for factor in (2, 3, 3)] == [12, 18, 18]
        assert len(told) == 2
        assert len(list((store / "beside").iterdir())) == 1

    def test_that_words_about_a_function_change_nothing(self, store, told):
        doubling()(self.values)
        assert doubling('def doubled(values):\n    """Twice."""\n    return values.sum() * FACTOR\n')(self.values) == 12
        assert len(told) == 1

    def test_that_a_changed_kernel_below_is_seen(self, store, told):
        for factor, sum_ in ((2, 13), (5, 31)):
            names = {"below": doubling(factor=factor), "__name__": "phexplore.doubling"}
            exec("def above(values):\n    return below(values) + 1\n", names)  # noqa: S102 - as above
            assert kernel(names["above"])(self.values) == sum_

    def test_that_code_of_a_package_is_small_and_is_made_again_for_a_kernel_above(self, store, told):
        doubling()(self.values)
        (file,) = (store / "beside").iterdir()
        whole = file.read_bytes()
        file.write_bytes(compiled.without_bitcode(whole))
        assert file.stat().st_size < len(whole) / 2
        assert compiled.without_bitcode(file.read_bytes()) == file.read_bytes()
        names = {"below": doubling(), "__name__": "phexplore.doubling"}
        assert names["below"](self.values) == 12
        assert len(told) == 1
        exec("def above(values):\n    return below(values) + 1\n", names)  # noqa: S102 - as above
        assert kernel(names["above"])(self.values) == 13
        assert names["below"](self.values) == 12
        assert len(told) == 3
        assert doubling()(self.values) == 12
        assert len(told) == 3

    def test_that_changed_instructions_below_are_seen(self, store, told):
        code = (
            "def times(builder, value):\n    return builder.fmul(value, ir.Constant(ir.DoubleType(), FACTOR))\n"
            "@intrinsic\ndef scaled(_context, _value):\n"
            "    def make(_target, builder, _signature, arguments):\n        return times(builder, arguments[0])\n"
            "    return types.float64(types.float64), make\n"
            "def above(values):\n    return scaled(values.sum() * 1.0)\n"
        )
        for factor, sum_ in ((2.0, 12), (5.0, 30)):
            names = {
                "FACTOR": factor,
                "intrinsic": intrinsic,
                "ir": ir,
                "types": types,
                "__name__": "phexplore.doubling",
            }
            exec(code, names)  # noqa: S102 - as above
            assert kernel(names["above"])(self.values) == sum_

    @pytest.mark.parametrize("damage", [b"", b"nothing", b"\0" * 4000])
    def test_that_a_damaged_file_is_made_again(self, store, told, damage):
        doubling()(self.values)
        (file,) = (store / "beside").iterdir()
        file.write_bytes(damage)
        assert doubling()(self.values) == 12
        assert doubling()(self.values) == 12
        assert len(told) == 2

    def test_that_a_folder_that_cannot_be_written_leaves_the_users_own(self, store, told):
        (store / "beside").write_text("no folder")
        assert doubling()(self.values) == doubling()(self.values) == 12
        assert len(told) == 1
        assert len(list((store / "own").iterdir())) == 1

    def test_that_without_any_folder_it_works_all_the_same(self, store):
        for name in ("beside", "own"):
            (store / name).write_text("no folder")
        assert doubling()(self.values) == 12


@pytest.mark.skipif(sys.platform == "win32", reason="owners and modes of files")
def test_that_a_folder_others_can_write_to_is_not_believed(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    compiled.folders.cache_clear()
    assert compiled.folders() == (compiled.BESIDE, tmp_path / "phexplore" / "machine_code")
    (tmp_path / "phexplore" / "machine_code").chmod(0o777)
    compiled.folders.cache_clear()
    assert compiled.folders() == (compiled.BESIDE,)
    compiled.folders.cache_clear()


def test_that_a_terminal_says_it_once(capsys):
    with ProgressLine() as line:
        for ready in range(3):
            line.show(Progress(preparing.PREPARING, ready, 9))
    assert capsys.readouterr().err == f"{preparing.PREPARING} …\n"


def test_that_nothing_is_compiled_after_the_preparation(tmp_path):
    """Fresh processes, two at once, with an empty home, after what packaging/bootstrap.sh does."""
    home = tmp_path / "home"
    home.mkdir()
    environment = os.environ | {"HOME": str(home), "PYTHONPATH": str(CHECKOUT)}
    environment = {name: text for name, text in environment.items() if not name.startswith("XDG_")}

    def begin(*arguments):
        words = [sys.executable, *arguments] if arguments[0].endswith(".py") else [*PROGRAM, *arguments]
        return subprocess.Popen(words, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def carry_out(*all_arguments):
        for process in [begin(*arguments) for arguments in all_arguments]:
            said = process.communicate()[0].decode()
            assert process.returncode == 0, said
            assert preparing.PREPARING not in said

    preparation = begin(str(CHECKOUT / "packaging" / "prepare_kernels.py"))
    preparation.communicate()
    assert preparation.returncode == 0
    before = sorted(path.name for path in compiled.BESIDE.iterdir())
    carry_out(
        ("synth", "sdhc", "--persons", "2000", "--seed", "5", "--out", "people"),
        ("synth", "pl94", "--blocks", "40", "--seed", "5", "--out", "blocks.csv"),
    )
    sdhc = ("run", "sdhc-2020-us", "--data", "people", "--seed", "7")
    topdown = ("run", "pl94-2020-persons-us", "--data", "blocks.csv", "--seed", "7")
    carry_out(*((*words, "--out", f"{words[1]}-{n}") for words in (sdhc, topdown) for n in range(2)))
    logs = "".join(path.read_text() for path in tmp_path.glob("*/log.txt"))
    assert "phexplore.compiled" not in logs
    assert sorted(path.name for path in compiled.BESIDE.iterdir()) == before
    assert [path for path in home.rglob("*") if path.suffix == ".bin"] == []


@pytest.mark.slow
def test_that_counts_are_those_of_the_portable_processor(tmp_path):
    """The same seeded releases, byte for byte, from code for AVX2 and from code for processors without it."""
    synth = ["synth", "pl94", "--blocks", "400", "--seed", "5", "--out", "blocks.csv"]
    subprocess.run([*PROGRAM, *synth], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(CHECKOUT)}, check=True)
    found = []
    for name in ("x86-64-v2", compiled.processor()):
        environment = os.environ | {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": "", "PYTHONPATH": str(CHECKOUT)}
        run = ["run", "pl94-2020-persons-us", "--data", "blocks.csv", "--expand", "1", "--seed", "7", "--out", name]
        subprocess.run([*PROGRAM, *run], cwd=tmp_path, env=environment, check=True)
        found.append([path.read_bytes() for path in sorted((tmp_path / name).glob("trial-*.parquet"))])
    assert found[0] == found[1] != []
