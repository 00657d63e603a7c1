"""The commands that README, documents and examples print, in their order, and the files that their readers bring along."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

from census_1940_files import synthesize_census_1940, write_census_1940
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from phexplore.data.blocks.generator import synthesize_states, write_block_file
from phexplore.document.project import Project
from phexplore.model.keys import TableId
from phexplore.model.workbook import Workbook
from phexplore.resources import resource
from phexplore.systems.phsafe.edits import set_threshold
from phexplore.systems.registry import preset

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "packaging").rglob("*.md"))]
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.ini"))
_BLOCK = re.compile(r"^```[a-z]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_PROGRAMS = ("phexplore", "sh", "python", "pip", "pipx", "dask", "make", "sudo", "ssh-keygen")

NOT_RUN_HERE = {
    "sh packaging/run.sh": "opens the window",
    "sh packaging/test.sh": "runs these tests",
    "pip install 'phexplore[cluster]'": "fetches packages",
    "dask scheduler": "waits on another machine; tests/runs/test_cluster.py runs one on this machine",
    "dask worker tcp://host:8786": "waits on another machine; tests/runs/test_cluster.py runs two on this machine",
    "phexplore run pl94-2020-persons-us --data blocks.csv.gz --trials 20 --seed 1 --out runs/blocks --scheduler tcp://host:8786": (
        "needs that scheduler; tests/runs/test_cluster.py gives the option the address of its own"
    ),
    "ssh-keygen -Y verify -f allowed_signers -I ada -n phexplore-bundle -s signatures/904ce312eed95827.sig < manifest.json": (
        "needs files of a bundle by their names; tests/decide/test_sshsig.py runs it on a bundle"
    ),
    'phexplore bundle proposal.phx --sign-with "ssh-keygen -Y sign -f ada.key -n phexplore-bundle" --signer "Ada Lovelace, Chair" '
    "--out by_agent.zip": "needs OpenSSH; tests/decide/test_sshsig.py signs so where it is installed",
    "make nation": "measures for an hour",
    "python benchmarks/effects_topdown.py --trials 3 --full --json effects.json": "measures for an hour",
}
"""Printed commands that no test runs as they stand, each with the reason."""

_SMALLER = {
    r"--persons \d+": "--persons 1500",
    r"--nation --blocks \d+": "--nation --blocks 408",
    r"(?<!--nation )--blocks \d+": "--blocks 40",
    r"--trials \d+": "--trials 1",
    r"--districts \d+": "--districts 6",
}


def printed_commands(page: Path) -> list[str]:
    """Return the commands of a page's fenced blocks, or of an example's comments, without their comments."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ini":
        lines = [line[line.index("phexplore ") :] for line in text.splitlines() if re.match(r"#.*\bphexplore ", line)]
    else:
        lines = [line for block in _BLOCK.findall(text) for line in block.replace("\\\n", " ").splitlines()]
    return [_plain(line) for line in lines if line.split(" ", 1)[0] in _PROGRAMS]


def _plain(line: str) -> str:
    return re.sub(r"\s+#.*", "", line).strip()


def smaller(command: str) -> str:
    """Return the same command on little data."""
    for size, less in _SMALLER.items():
        command = re.sub(size, less, command)
    return command


def arguments(command: str) -> list[str]:
    """Return the arguments of a phexplore command, files of the checkout by their path."""
    words = shlex.split(command)[1:]
    return [str(ROOT / word) if word.startswith("docs/") else word for word in words]


def bring_along(folder: Path) -> None:
    """Put into a folder the files that documents take for granted: a proposal, blocks with places, records of 1940, grids, counties, a secret."""
    reference = preset("sdhc-2020-us").scenario
    proposal = set_threshold(reference, TableId("PH3"), 7)
    project = Project.new(Workbook((proposal,), proposal.name, proposal.baseline))
    project.save(folder / "proposal.phx")
    project.close()
    write_block_file(synthesize_states(40, 1, ["44"]), folder / "blocks.csv.gz")
    write_census_1940(synthesize_census_1940(6, 1, ("44", "09")), folder / "census.dat.gz")
    (folder / "demonstration.csv").write_text(
        "gisjoin,name,H72001_dp,H72001_sf\nG440,Rhode Island,7,7\nG44059000,Providence city,5,6\n"
    )
    with (
        resource("tables/illinois_counties_2010.csv").open("rb") as source,
        (folder / "counties_2010.csv").open("wb") as file,
    ):
        shutil.copyfileobj(source, file)
    (folder / "grid.json").write_text('{"budget PH3/state_A-G": ["0.3", "0.6"], "threshold PH3": [4, 6]}')
    (folder / "totals.json").write_text('{"total": [1, 4]}')
    (folder / "secret.hex").write_text("9f" * 32)
    key = Ed25519PrivateKey.from_private_bytes(bytes([1]) * 32)
    (folder / "ada.key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    (folder / "ada.key").chmod(0o600)
    (folder / "ada.pub").write_bytes(key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH))
