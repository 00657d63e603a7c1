"""Exact draws of one noisy answer, by the samplers of the mechanisms themselves: how wide a margin is, seen and not only read.

Source of the sampling: Devroye (1986), chapter III, section 2, as in `phexplore.noise.sampler`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from phexplore.lazy import lazy
from phexplore.noise.distributions import Noise

CHUNK = 1200
"""Draws of one request: a minute of them."""

_sampler = lazy("phexplore.noise.sampler", "sampler_for")
_entropy = lazy("phexplore.noise.entropy", "SeededEntropy")


@dataclass(frozen=True, slots=True)
class NoisyAnswer:
    """One answer and the noise it gets.

    Attributes:
        title: what is counted.
        noises: independent noises whose sum is added to the count.
        margin: half-width that holds `confidence` of the answers, in people.
        confidence: strictly between 0 and 1.
        becomes: what happens to the noisy answer, e.g. ``is published as``.
    """

    title: str
    noises: tuple[Noise, ...]
    margin: float
    confidence: Fraction
    becomes: str = "is published as"


@dataclass(frozen=True, slots=True)
class DrawRequest:
    """Draws that are wanted.

    Attributes:
        answer: whose noise is drawn.
        seed: at least 0; the same seed gives the same draws.
        chunk: which `CHUNK` draws of the seed, from 0 on.
    """

    answer: NoisyAnswer
    seed: int
    chunk: int = 0

    def reader(self) -> tuple[str, Callable[[Callable[[object], None]], Callable[[DrawRequest], Draws]]]:
        """Return the name of what draws, and what makes it."""
        return "draws", lambda _tell: draws


@dataclass(frozen=True, slots=True)
class Draws:
    """What was drawn.

    Attributes:
        request: what was asked.
        errors: what is added to the count, one per draw, in people.
    """

    request: DrawRequest
    errors: tuple[int, ...]


def draws(request: DrawRequest) -> Draws:
    """Return exact draws; every noise of the sum has a stream of its own."""
    streams = [
        _sampler(noise).sample(_entropy(request.seed, (request.chunk, number)), CHUNK).tolist()
        for number, noise in enumerate(request.answer.noises)
    ]
    return Draws(request, tuple(map(sum, zip(*streams, strict=True))))
