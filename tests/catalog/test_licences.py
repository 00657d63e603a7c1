from __future__ import annotations

import re
import tomllib
from pathlib import Path

from phexplore.catalog.licences import parts

ROOT = Path(__file__).parents[2]


def _requirements():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *project["optional-dependencies"]["pdf"]]
    return {re.match(r"[\w.-]+", line)[0] for line in lines}


def _plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_that_every_required_part_is_listed_with_its_licence():
    listed = {_plain(part.name): part for part in parts()}
    assert {_plain(name) for name in _requirements()} <= set(listed)
    assert all(part.licence and part.version for part in parts())


def test_that_the_listed_versions_are_those_of_the_lock_file():
    lines = (ROOT / "packaging" / "requirements.lock").read_text(encoding="utf-8").splitlines()
    locked = {_plain(name): version for name, _, version in (line.partition("==") for line in lines) if version}
    listed = {_plain(part.name): part.version for part in parts()}
    assert {name: version for name, version in listed.items() if locked.get(name) != version} == {}
