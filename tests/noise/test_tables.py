from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phexplore.noise import tables
from phexplore.noise.tables import Law, refine, thresholds

LAWS = {
    "Gaussian, one person": Law(Fraction(1, 2), Fraction(0)),
    "Gaussian, all but certain": Law(Fraction(500), Fraction(0)),
    "Gaussian, thirty people": Law(Fraction(1, 1800), Fraction(0)),
    "geometric": Law(Fraction(0), Fraction(1, 9)),
    "blocks of a Gaussian": Law(Fraction(1, 200), Fraction(0), two_sided=False),
    "blocks of a geometric": Law(Fraction(0), Fraction(1, 5), two_sided=False),
    "both terms": Law(Fraction(1, 50), Fraction(1, 7)),
}


def cumulative(law: Law, count: int, digits: int) -> list[mpmath.mpf]:
    """F(0), F(1), … by adding up the definition."""
    with mpmath.workprec(digits):
        weights, x = [mpmath.mpf(1)], 0
        while weights[-1] > mpmath.mpf(2) ** -digits:
            x += 1
            energy = law.quadratic * x * x + law.linear * x
            weights.append(mpmath.exp(-mpmath.mpf(energy.numerator) / energy.denominator))
        total = weights[0] + (2 if law.two_sided else 1) * mpmath.fsum(weights[1:])
        result, running = [], mpmath.mpf(0)
        for index in range(count):
            place = abs(law.outcome(index))
            running += weights[place] / total if place < len(weights) else 0
            result.append(running)
        return result


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
@pytest.mark.parametrize("bits", [17, 64, 128, 192])
def test_that_thresholds_are_the_digits_of_the_distribution_function(law, bits):
    found = thresholds(law, bits)
    exact = cumulative(law, len(found), 400)
    with mpmath.workprec(400):
        # The last one is cut: there F(j) is 1 but for less than a unit.
        assert list(found) == [min(int(mpmath.floor(f * 2**bits)), 2**bits - 1) for f in exact]
    assert found[-1] == 2**bits - 1
    assert len(found) == 1 or found[-2] < 2**bits - 1


def test_that_outcomes_come_in_the_order_of_their_size():
    assert [LAWS["geometric"].outcome(i) for i in range(5)] == [0, 1, -1, 2, -2]
    assert [LAWS["blocks of a geometric"].outcome(i) for i in range(4)] == [0, 1, 2, 3]


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_that_the_decay_inside_a_block_is_the_difference_of_the_energies(start, offset):
    law = LAWS["both terms"]
    energy = [law.quadratic * x * x + law.linear * x for x in (start, start + offset)]
    assert law.decay(start, offset) == energy[1] - energy[0]


def test_that_too_few_spare_digits_are_noticed_and_more_are_taken(monkeypatch):
    law = Law(Fraction(1, 5000), Fraction(0))
    expected = thresholds(law, 64)
    thresholds.cache_clear()
    monkeypatch.setattr(tables, "_SPARE_BITS", 8)
    assert tables._decided_thresholds(law, 64, 8) is None
    assert thresholds(law, 64) == expected
    thresholds.cache_clear()


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
def test_that_refining_a_tie_finds_the_first_outcome_above_the_longer_number(law):
    bits = 20
    coarse = thresholds(law, bits)
    exact = cumulative(law, len(thresholds(law, bits + 64)), 400)
    for index, digits in enumerate(coarse):
        if coarse.index(digits) != index:
            continue
        for more in (0, 1 << 62, (1 << 63) + 12345, (1 << 64) - 1):
            place, decided = refine(law, index, digits, bits, more)
            with mpmath.workprec(400):
                low = mpmath.mpf((digits << 64) | more) / 2 ** (bits + 64)
                high = low + mpmath.mpf(2) ** -(bits + 64)
                assert place == 0 or exact[place - 1] <= low
                # A tie that goes on leaves the outcome open: it is above the lower end at least.
                assert exact[place] >= (high if decided else low)


def test_that_equal_digits_stay_undecided_and_are_decided_by_more():
    law = LAWS["Gaussian, one person"]
    longer = thresholds(law, 84)[3]
    index, digits = thresholds(law, 20).index(longer >> 64), longer >> 64
    place, decided = refine(law, index, digits, 20, longer & ((1 << 64) - 1))
    assert (place, decided) == (3, False)
    longest = thresholds(law, 148)[3] & ((1 << 64) - 1)
    assert refine(law, place, longer, 84, longest - 1) == (3, True)
    assert refine(law, place, longer, 84, longest + 1) == (4, True)
