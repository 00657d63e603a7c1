"""The loop over trials: in order or several at once, skipping those on disk, ending early when a rule says so."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

from phexplore.errors import PhexploreError
from phexplore.runs.events import Event, TrialDone
from phexplore.runs.simulation import Simulation, TrialFigures, Watch
from phexplore.runs.spec import RunSpec, StopRule
from phexplore.runs.store import present_trials, remove_trial, trial_file
from phexplore.runs.writing import writing

_LOGGER = logging.getLogger(__name__)


class TrialLoop:
    """Draws the trials of a run that are not on disk yet."""

    def __init__(
        self, directory: Path, spec: RunSpec, simulation: Simulation, *, watch: Watch, report: Callable[[Event], None]
    ) -> None:
        self._directory = directory
        self._spec = spec
        self._simulation = simulation
        self._watch = watch
        self._report = report
        self._figures: dict[int, TrialFigures] = {}

    def run(self) -> tuple[int, ...]:
        """Draw what is missing and return the trials of the run, ascending and without a gap.

        Raises:
            CancelledError: the run is to stop; finished trials are on disk.
            PhexploreError: a trial cannot be drawn or written.
        """
        self._take_over()
        self._watch.progress("trials", len(self._figures), self._spec.trials)
        if self._spec.workers == 1:
            self._draw_in_order()
        else:
            self._draw_together()
        count = self._end() or self._spec.trials
        for index in present_trials(self._directory):
            if index >= count:
                remove_trial(self._directory, index)
        if count < self._spec.trials:
            self._watch.note(f"Precise enough after {count} of {self._spec.trials} trials.")
        return tuple(range(count))

    def _take_over(self) -> None:
        """Take the trials of an earlier start; an unreadable one is drawn again."""
        for index in present_trials(self._directory):
            path = self._directory / trial_file(index)
            try:
                self._figures[index] = self._simulation.read_figures(path)
            except PhexploreError as error:
                _LOGGER.warning("trial %d is drawn again: %s", index, error.sentence)
                self._watch.note(f"Trial {index} could not be read and is drawn again.")
                remove_trial(self._directory, index)

    def _end(self) -> int | None:
        """Return the number of trials the stop rule is satisfied with, None as long as it is not."""
        if self._spec.stop is None:
            return None
        shares = []
        for index in range(self._spec.trials):
            if index not in self._figures:
                break
            shares.append(self._figures[index].share)
        return stopping_trial(shares, self._spec.stop)

    def _missing(self) -> list[int]:
        return [index for index in range(self._spec.trials) if index not in self._figures]

    def _draw_in_order(self) -> None:
        for index in self._missing():
            self._watch.checkpoint()
            if self._end() is not None:
                return
            self._record(index, *self._draw(index))

    def _draw_together(self) -> None:
        """Keep all threads busy and no more: each trial is begun in order, and nothing waits in a long line."""
        missing = iter(self._missing())
        running: dict[Future[tuple[TrialFigures, float]], int] = {}
        with ThreadPoolExecutor(self._spec.workers, thread_name_prefix="trial") as pool:
            try:
                while True:
                    while len(running) < self._spec.workers and self._end() is None:
                        if (index := next(missing, None)) is None:
                            break
                        self._watch.checkpoint()
                        running[pool.submit(self._draw, index)] = index
                    if not running:
                        return
                    done, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in done:
                        self._record(running.pop(future), *future.result())
            finally:
                for future in running:
                    future.cancel()

    def _draw(self, index: int) -> tuple[TrialFigures, float]:
        began = time.monotonic()
        with writing(self._directory / trial_file(index)) as part:
            figures = self._simulation.write_trial(index, part)
        return figures, time.monotonic() - began

    def _record(self, index: int, figures: TrialFigures, seconds: float) -> None:
        """Report a trial whose file is whole on disk."""
        self._figures[index] = figures
        self._report(TrialDone(index, round(seconds, 4), figures.covered, figures.numbers))
        self._watch.progress("trials", len(self._figures), self._spec.trials)


def stopping_trial(shares: Sequence[float], rule: StopRule) -> int | None:
    """Return the smallest number of trials at which the rule is met, None when it is not met by these.

    Args:
        shares: share of numbers within the margin, of trials 0, 1, 2, … without a gap.
        rule: the limit of the error of their mean: standard deviation / √trials.
    """
    total = squares = 0.0
    limit = float(rule.coverage_error) ** 2
    for count, share in enumerate(shares, start=1):
        # Welford's update: the sum of squares around the running mean, without cancellation.
        step = share - total
        total += step / count
        squares += step * (share - total)
        if count >= rule.minimum_trials and squares / (count - 1) / count <= limit:
            return count
    return None
