"""What stands beside tables that look like a publication: that they are simulated, by which run, from which seed."""

from __future__ import annotations

from phexplore.runs.spec import RunMode, RunSpec

NOTE_FILE = "SIMULATED.txt"
"""Beside the tables, in no folder of production's layout: their files stay as production writes them."""


def release_note(spec: RunSpec) -> str:
    """Return the text of the note."""
    if spec.mode is not RunMode.PRIVATE:
        drawn = "No noise was added: these are exact counts, as confidential as the data."
    elif spec.seed is None:
        drawn = "Noise came from the operating system. Every trial that is released spends the budget once more."
    else:
        # Beside tables of real records the seed itself would be the key to them.
        seed = f"the seed {spec.seed}" if spec.data.is_open else "a seed, which the run knows"
        drawn = f"Noise was drawn from {seed}: anyone who has it can take the noise away. Never release these tables."
    data = "" if spec.salt else f"Data: SHA-256 {spec.data.sha256}. "
    return (
        "SIMULATED. These tables have the layout of a publication and are none.\n"
        f"{drawn}\n"
        f"Scenario: {spec.scenario.name!r}. Run: {spec.identity}.\n"
        f"{data}{spec.provenance.sentence}\n"
    )
