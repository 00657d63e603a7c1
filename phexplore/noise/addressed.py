"""Noise that has an address: the same number for the same unit and answer, whatever else is drawn and in which order.

A schema of a million cells cannot be measured in full below the root, nor need it be: a number that no estimate looks at
changes nothing. Here the random bits of a sample are those of its address (a place and an answer) under a key, AES-256 of
one block each, so that drawing only what is looked at gives the numbers that drawing everything would have given.

Source of the mechanism: `phexplore.noise.sampler`; of the bits: FIPS 197 (2001), one block per address.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from phexplore.noise.entropy import SeededEntropy
from phexplore.noise.sampler import TableSampler, sampler_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phexplore.noise.distributions import Noise


class AddressedNoise:
    """The noise of one query at one level of one trial.

    Args:
        seed: at least 0, of any size.
        names: what else the bits depend on, e.g. trial, level and query.
    """

    def __init__(self, seed: int, *names: str | int) -> None:
        # The text is part of what makes old runs repeatable; changing it changes every simulated figure.
        label = f"phexplore addressed entropy 1: seed {seed}, {', '.join(map(str, names))}"
        self._key = hashlib.sha256(label.encode()).digest()

    def samples(self, noise: Noise, place: NDArray[np.integer], answer: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the sample of each address, people, ``int64[n]``.

        Args:
            noise: the distribution.
            place: ``place[n]``, e.g. numbers of units.
            answer: ``answer[n]``, numbers of answers.
        """
        words = self._words(place, answer)
        sampler = sampler_for(noise)
        if isinstance(sampler, TableSampler):
            return sampler.decide(words[:, 0], words[:, 1], lambda number: self._stream(words[number]))
        return np.array([sampler.sample(self._stream(pair), 1)[0] for pair in words], np.int64)

    def _words(self, place: NDArray[np.integer], answer: NDArray[np.integer]) -> NDArray[np.uint64]:
        """Return 128 random bits per address, ``uint64[n, 2]``."""
        blocks = np.stack([place, answer], axis=1).astype("<u8")
        # One block per address is what the mode is for here: equal addresses are to give equal bits.
        cipher = Cipher(algorithms.AES256(self._key), modes.ECB()).encryptor()  # noqa: S305 - no message is encrypted
        return np.frombuffer(cipher.update(blocks.tobytes()), "<u8").reshape(-1, 2)

    def _stream(self, words: NDArray[np.uint64]) -> SeededEntropy:
        """Return further bits of one address: few samples in 2⁶⁴ need them, wide noise always does."""
        digest = hashlib.sha256(self._key + words.tobytes()).digest()
        return SeededEntropy(int.from_bytes(digest))
