"""Numbers no committee would choose, as people and programs could type them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

PLAIN = (
    "0", "-0", "-1", "1", "2", "0.5", "1/3", "1e-15", "1e-30", "1e-300", "1e-324", "1e-4000", "1e-9999", "1e15", "1e30",
    "1e75", "1e76", "1e300", "1e308", "1e309", "1e400", "1e4000", "1e9999", "99.99999999999999999 %",
    "0.99999999999999999999999999", "1e-17", "0.0000001", "50 %", "100 %", "101 %", "1/7e3", "1/" + "9" * 60, "9" * 60 + "/7",
    "9" * 400, "0." + "3" * 300, "1/" + "3" * 4299, "9" * 4301, "0." + "0" * 4301 + "1", "1/0", "nan", "inf", "∞", "Infinity",
    "", " ", "1,000", "1,00", "12,688", "0,25", "1.000,5", "--1", "1e", "٣", "½", "1 000", "1_000", "0x10", "+5", "−5", "1e+5",
)  # fmt: skip


def extreme_numbers(count: int, seed: int = 1) -> Iterator[str]:
    """Yield the plain ones, then `count` more by chance: magnitudes from 1e-420 to 1e420, long fractions and decimals."""
    yield from PLAIN
    rng = Random(seed)
    for _ in range(count):
        exponent = rng.choice((rng.randint(-420, 420), rng.randint(-30, 30)))
        match rng.randrange(4):
            case 0:
                yield f"{rng.randint(1, 9)}.{rng.randint(0, 10**6)}e{exponent}"
            case 1:
                yield f"{rng.randint(1, 10 ** rng.randint(1, 60))}/{rng.randint(1, 10 ** rng.randint(1, 60))}"
            case 2:
                yield "0." + "".join(rng.choice("0123456789") for _ in range(rng.randint(1, 90)))
            case _:
                yield str(rng.randint(-5, 10 ** rng.randint(1, 40)))
