"""Damaged files of every layout: whatever happens to the bytes, there is a population or a list of problems."""

from __future__ import annotations

import random

import pytest

from phexplore.data.blocks.cell_lists import write_cells
from phexplore.data.blocks.generator import write_block_file
from phexplore.data.blocks.microdata_writing import write_persons, write_units
from phexplore.data.blocks.source import read_population
from phexplore.model.issues import InputProblemsError

ODDITIES = (b'"', b"|", b",", b"\n", b"\r", b"\0", b"\xff", b" ", b"#", b"-", b"9", b"", b"\xc3\xa9", b"x", b";", b"\t")
OLD = "H1940020000000100000000000010000000100000000000000000044001000" + "0" * 63 + "0034012" + "0" * 28
OLD_PERSON = "P19400200000001" + "0" * 57 + "1030" + "0" * 8 + "1" + "0" * 188


def damaged(content, rng):
    found = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(min(len(found), rng.choice((120, len(found))))) if found else 0
        match rng.randrange(4):
            case 0:
                found[at : at + 1] = rng.choice(ODDITIES)
            case 1:
                found[at:at] = rng.choice(ODDITIES)
            case 2:
                found = found[:at]
            case _:
                found[at : at + rng.randrange(1, 40)] = b""
    return bytes(found)


@pytest.fixture(scope="module")
def contents(tmp_path_factory, synthetic, synthetic_full, units):
    folder = tmp_path_factory.mktemp("whole")
    write_block_file(synthetic.part(0, 12), folder / "blocks")
    write_cells(synthetic.part(0, 12), folder / "cells")
    write_persons(synthetic_full.part(0, 5), folder / "persons", [("Classification", "Simulated")])
    write_units(units.part(0, 5), folder / "units")
    (folder / "1940").write_text(f"{OLD}\n{OLD_PERSON}\n{OLD_PERSON}\n", "ascii")
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("kind", ["blocks", "cells", "persons", "units", "1940"])
@pytest.mark.parametrize("seed", range(4))
def test_that_damage_is_read_or_reported(tmp_path, contents, kind, seed):
    rng = random.Random(f"{kind}-{seed}")
    path = tmp_path / "x"
    path.write_bytes(contents[kind])
    assert read_population(path).total > 0
    reported = []
    for _ in range(20):
        path.write_bytes(damaged(contents[kind], rng))
        try:
            read_population(path)
        except InputProblemsError as error:
            reported.append(error.issues)
    assert len(reported) > 5
    assert all(issue.sentence and issue.remedy and issue.path for issues in reported for issue in issues)
