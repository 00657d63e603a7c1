from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore.model.conventions import Conventions, MarginConvention
from phexplore.model.group_sizes import GroupSizes, HeavyTail, SizeMechanism
from phexplore.model.issues import has_errors
from phexplore.systems.registry import check, preset

CENSUS = preset("group-sizes-census-2010").scenario


def changed(**fields):
    return replace(CENSUS, method=replace(CENSUS.group_sizes, **fields))


def test_that_the_preset_has_no_issue():
    assert check(CENSUS) == []


@pytest.mark.parametrize(
    ("scenario", "place"),
    [
        (changed(regions=(2, 51, 3107)), "levels › Nation"),
        (changed(regions=(1, 51, 50)), "levels › County"),
        (changed(largest=10**6), "largest"),
        (changed(level_shares=dict.fromkeys(("Nation", "State", "County"), Fraction(1, 4))), "levels"),
        (
            changed(level_shares={"Nation": Fraction(0), "State": Fraction(1, 2), "County": Fraction(1, 2)}),
            "levels › Nation",
        ),
        (changed(tail=HeavyTail(smallest=2000)), "tail › smallest"),
        (changed(total=Fraction(1, 10**20)), "levels › Nation"),
        (replace(CENSUS, conventions=Conventions(margin=MarginConvention.PAPER)), "conventions › margin"),
    ],
)
def test_that_what_cannot_work_is_an_error_at_its_place(scenario, place):
    issues = check(scenario)
    assert has_errors(issues)
    assert place in [issue.place for issue in issues]
    assert all(issue.remedy for issue in issues)


@pytest.mark.parametrize("mechanism", [SizeMechanism.RELAXED, SizeMechanism.CUMULATIVE_RELAXED, SizeMechanism.CHAIN])
def test_that_baselines_and_the_chain_are_warned_about(mechanism):
    issues = check(changed(mechanism=mechanism))
    assert [issue.place for issue in issues] == ["mechanism"]
    assert not has_errors(issues)


def test_that_mechanisms_are_called_by_their_names_and_not_by_the_words_of_files() -> None:
    said = [f"{issue.sentence} {issue.remedy}" for each in SizeMechanism for issue in check(changed(mechanism=each))]
    assert said
    assert not any("-tree" in text or "topdown" in text for text in said)


def test_that_a_release_has_a_level() -> None:
    with pytest.raises(ValueError, match="at least one level"):
        GroupSizes((), (), Fraction(1), {}, 5)
