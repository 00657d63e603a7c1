from __future__ import annotations

import re
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from phexplore.catalog.licences import parts

PACKAGING = Path(__file__).parents[2] / "packaging"
LOCKS = sorted(path.stem for path in PACKAGING.glob("*.lock"))


def _plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def _locked(name):
    """Return versions and numbers of hashes by part."""
    text = (PACKAGING / f"{name}.lock").read_text(encoding="utf-8")
    entries = re.findall(r"^([a-z][\w.-]*)==([^ \n]+)(.*?)(?=^[a-z]|\Z)", text, re.DOTALL | re.MULTILINE)
    return {part: (version, rest.count("--hash=sha256:")) for part, version, rest in entries}


def _needed(name, extras=frozenset()):
    """Return what a distribution needs here, with everything that this needs in turn."""
    found, open_ends = set(), [(name, extras)]
    while open_ends:
        part, options = open_ends.pop()
        for line in requires(part) or ():
            need = Requirement(line)
            wanted = need.marker is None or any(need.marker.evaluate({"extra": one}) for one in {"", *options})
            if wanted and _plain(need.name) not in found:
                found.add(_plain(need.name))
                open_ends.append((need.name, need.extras))
    return found


@pytest.mark.defect("F15")
def test_that_every_part_of_the_program_and_its_options_is_listed_with_its_licence():
    listed = {_plain(part.name): part for part in parts()}
    assert set(listed) == _needed("phexplore", {"pdf", "cluster"}) | set(_locked("program"))
    assert {"dask", "distributed", "tornado"} <= set(listed)
    assert all(part.licence and part.version for part in parts())
    assert {name for name, part in listed.items() if not part.option} >= _needed("phexplore")
    assert listed["distributed"].option == "cluster"


def test_that_the_listed_versions_are_those_of_the_lock_file():
    locked = {name: version for name, (version, _) in _locked("requirements").items()}
    listed = {_plain(part.name): part.version for part in parts()}
    assert {name: version for name, version in listed.items() if locked.get(name) != version} == {}


@pytest.mark.defect("F15")
@pytest.mark.parametrize("name", LOCKS)
def test_that_every_locked_part_has_hashes_and_one_version_in_all_locks(name):
    locked, checkout = _locked(name), _locked("requirements")
    assert [part for part, (_, hashes) in locked.items() if not hashes] == []
    assert {part for part, (version, _) in locked.items() if checkout.get(part, (version,))[0] != version} == set()
    text = (PACKAGING / f"{name}.lock").read_text(encoding="utf-8")
    assert "://" not in text


@pytest.mark.defect("F15")
def test_that_the_locks_cover_what_they_install():
    assert _needed("phexplore", {"pdf", "cluster", "test", "lint"}) <= set(_locked("requirements"))
    assert _needed("phexplore", {"pdf"}) <= set(_locked("program"))


@pytest.mark.defect("F15")
@pytest.mark.parametrize("script", ["bootstrap.sh", "bench.sh", "package.sh", "recipes/packages.yml"])
def test_that_locks_are_installed_with_their_hashes(script):
    text = (PACKAGING / script).read_text(encoding="utf-8")
    installs = [line for line in text.splitlines() if ".lock" in line or '"$LOCK"' in line]
    installs = [line for line in installs if re.search(r"\binstall\b", line)]
    assert installs
    assert all("--require-hashes -r" in line for line in installs)
