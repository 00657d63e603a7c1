"""Worst-case guesses against simulation and against the attacker who plays the mechanism itself."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phexplore.decide.risk import guess_risk
from phexplore.model.phsafe import PrivacyFramework

ZCDP, PURE = PrivacyFramework.ZCDP, PrivacyFramework.PURE_DP
HALF = Fraction(1, 2)


def test_that_without_a_release_only_the_prior_helps():
    assert guess_risk(ZCDP, Fraction(0), Fraction(3, 4)).bound == 0.75


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5)])
def test_that_randomised_response_reaches_the_bound_of_pure_dp(epsilon):
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))  # randomised response: right with exactly this probability
    assert guess_risk(PURE, epsilon).bound == pytest.approx(truth)


@pytest.mark.parametrize("prior", [HALF, Fraction(3, 4), Fraction(9, 10)])
@pytest.mark.parametrize("rho", [Fraction(1, 100), Fraction(1, 5), Fraction(2)])
def test_that_the_gaussian_figure_is_what_the_best_attacker_gets(rho, prior):
    # 200 000 guesses: standard error at most 0.0012; five of them are a false alarm rate below 1e-6.
    random = np.random.default_rng(5)
    trials, p, distance = 200_000, float(prior), math.sqrt(2 * float(rho))
    first = random.random(trials) < p
    seen = random.standard_normal(trials) + np.where(first, distance, 0.0)
    says_first = seen * distance - distance**2 / 2 + math.log(p / (1 - p)) > 0
    right = float((says_first == first).mean())
    risk = guess_risk(ZCDP, rho, prior)
    assert risk.gaussian == pytest.approx(right, abs=0.006)
    assert right - 0.006 <= risk.bound


@settings(max_examples=60, deadline=None)
@given(st.fractions(Fraction(1, 10**6), 30), st.fractions(HALF, Fraction(99, 100)))
def test_that_the_bound_is_above_the_gaussian_and_grows_with_loss_and_prior(rho, prior):
    risk = guess_risk(ZCDP, rho, prior)
    assert float(prior) - 1e-12 <= risk.gaussian <= risk.bound + 1e-9 <= 1 + 1e-9
    assert guess_risk(ZCDP, rho * 2, prior).bound >= risk.bound - 1e-12


def test_that_the_sentence_speaks_of_people():
    text = guess_risk(PURE, Fraction(1)).sentence()
    assert text == "Of 1,000 such guesses 500 are right without the release, and at most 732 with it."


def test_that_nonsense_is_refused():
    with pytest.raises(ValueError, match="prior"):
        guess_risk(ZCDP, Fraction(1), Fraction(1, 4))
    with pytest.raises(ValueError, match="0 or more"):
        guess_risk(ZCDP, Fraction(-1))
    assert guess_risk(PURE, Fraction(10**6)).bound == 1.0
