"""Options of `run` that only TopDown has: from words on the command line to the run's specification."""

from __future__ import annotations

from dataclasses import dataclass

import typer

from phexplore.model.scenario import Scenario
from phexplore.model.topdown import TopDown
from phexplore.runs.topdown_options import Mechanism, RounderTarget, TopDownOptions


@dataclass(frozen=True, slots=True)
class TopDownWishes:
    """What was typed.

    Attributes:
        expand: seed of the expansion, None for none.
        microdata: whether microdata are wanted.
        block_by_block: whether the baseline is wanted.
        rounder_target: a word.
    """

    expand: int | None = None
    microdata: bool = False
    block_by_block: bool = False
    rounder_target: str = RounderTarget.FRACTION.value

    def options(self, scenario: Scenario) -> TopDownOptions | None:
        """Return the options of a run of this scenario, None for another system.

        Raises:
            BadParameter: an option does not fit the system, or a word is unknown.
        """
        if self.rounder_target not in {target.value for target in RounderTarget}:
            words = " or ".join(target.value for target in RounderTarget)
            raise typer.BadParameter(f"--rounder-target is {words}, got {self.rounder_target!r}.")
        if not isinstance(scenario.method, TopDown):
            if self != TopDownWishes():
                raise typer.BadParameter(
                    f"{scenario.name} is a scenario of the S-DHC: --expand, --microdata, --block-by-block and "
                    "--rounder-target belong to TopDown."
                )
            return None
        return TopDownOptions(
            expand=self.expand,
            microdata=self.microdata,
            mechanism=Mechanism.BLOCK_BY_BLOCK if self.block_by_block else Mechanism.TOP_DOWN,
            target=RounderTarget(self.rounder_target),
        )
