"""Options of `run` that only TopDown has: from words on the command line to the run's specification."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import typer

from phexplore.model.scenario import Scenario
from phexplore.model.topdown import TopDown
from phexplore.runs.spec import StopRule
from phexplore.runs.topdown_options import Mechanism, RounderTarget, TopDownOptions


@dataclass(frozen=True, slots=True)
class TopDownWishes:
    """What was typed.

    Attributes:
        expand: seed of the expansion, None for none.
        microdata: whether microdata are wanted.
        block_by_block: whether the baseline is wanted.
        rounder_target: a word.
        keep_measurements: whether noisy answers are kept.
        measurements: directory of a run whose kept answers are post-processed again, None to measure.
    """

    expand: int | None = None
    microdata: bool = False
    block_by_block: bool = False
    rounder_target: str = RounderTarget.FRACTION.value
    keep_measurements: bool = False
    measurements: Path | None = None

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
                    f"{scenario.name} is no scenario of TopDown: --expand, --microdata, --block-by-block, "
                    "--rounder-target, --keep-measurements and --measurements belong to it."
                )
            return None
        if self.measurements is not None and (self.block_by_block or self.expand is not None):
            raise typer.BadParameter(
                "--measurements takes --expand from the run it names, and has no --block-by-block; leave them out."
            )
        return TopDownOptions(
            expand=self.expand,
            microdata=self.microdata,
            mechanism=Mechanism.BLOCK_BY_BLOCK if self.block_by_block else Mechanism.TOP_DOWN,
            target=RounderTarget(self.rounder_target),
            keep_measurements=self.keep_measurements,
        )


def parse_stop(text: str) -> StopRule | None:
    """Read ``FIGURE=LIMIT``, e.g. ``County/total/mae=0.5`` or ``coverage=0.001``; None for an empty text.

    Raises:
        BadParameter: it is something else.
    """
    if not text:
        return None
    figure, sign, limit = text.rpartition("=")
    try:
        return StopRule(Fraction(limit if sign else ""), figure="" if figure == "coverage" else figure)
    except (ValueError, ZeroDivisionError) as error:
        raise typer.BadParameter(
            f"--stop-at is FIGURE=LIMIT, e.g. County/total/mae=0.5 or coverage=0.001, got {text!r} ({error})."
        ) from error
