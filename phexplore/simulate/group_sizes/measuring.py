"""The noisy answers of one release: group sizes, cumulative sizes, or a chain of them, level by level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from phexplore.accounting.group_sizes_noise import LevelNoise
from phexplore.noise.distributions import Noise, NoNoise
from phexplore.noise.sampler import sampler_for

if TYPE_CHECKING:
    from phexplore.noise.entropy import Entropy

Ints = NDArray[np.int64]


def add_noise(exact: Ints, noise: Noise, entropy: Entropy) -> Ints:
    """Return exact counts with independent noise on each.

    Args:
        exact: ``exact[...]``, counts.
        noise: of each of them.
        entropy: where the random bits come from.
    """
    if isinstance(noise, NoNoise):
        return exact.copy()
    answers = np.empty(exact.size, np.int64)
    sampler_for(noise).fill(entropy, answers)
    return np.asarray(exact + answers.reshape(exact.shape))


def noisy_sizes(levels: Sequence[Ints], noises: Sequence[LevelNoise], entropy: Entropy) -> list[Ints]:
    """Return noisy numbers of groups of each size, ``int64[regions, N]`` per level (paper, equation 3).

    Args:
        levels: ``levels[i][regions, N]``, exact group sizes, widest level first.
        noises: noise of each level.
        entropy: where the random bits come from.
    """
    return [add_noise(exact, level.noise, entropy) for exact, level in zip(levels, noises, strict=True)]


def noisy_cumulative_sizes(levels: Sequence[Ints], noises: Sequence[LevelNoise], entropy: Entropy) -> list[Ints]:
    """Return noisy numbers of groups of at most each size, ``int64[regions, N]`` per level (section 8).

    Arguments as in `noisy_sizes`.
    """
    return [
        add_noise(np.cumsum(exact, axis=1), level.noise, entropy) for exact, level in zip(levels, noises, strict=True)
    ]


def along_chain(level: Ints) -> Ints:
    """Return the running sums of a level's sizes along the chain, size by size and region by region: ``int64[N regions]``."""
    return np.cumsum(level.T.ravel())


def differences(cumulative: Ints) -> Ints:
    """Return sizes from ``cumulative[..., N]``, the inverse of running sums along the last axis."""
    return np.diff(cumulative, axis=-1, prepend=0)


def chain_of_noisy_regions(levels: Sequence[Ints], noises: Sequence[LevelNoise], entropy: Entropy) -> list[Ints]:
    """Return each level's chain added up from the noisy cumulative sizes of its regions, ``int64[N × regions]`` each.

    Arguments as in `noisy_sizes`.
    """
    return [along_chain(differences(level)) for level in noisy_cumulative_sizes(levels, noises, entropy)]


def chain_as_published(levels: Sequence[Ints], noises: Sequence[LevelNoise], entropy: Entropy) -> list[Ints]:
    """Return each level's chain with noise on every place (section 9.2.2), ``int64[N × regions]`` each.

    For the paper's experiment only. Calibrated to a sensitivity of 1, as there, it does not keep its budget: see
    `GroupSizes.published_chain_sensitivity`. Arguments as in `noisy_sizes`.
    """
    return [add_noise(along_chain(exact), level.noise, entropy) for exact, level in zip(levels, noises, strict=True)]
