from __future__ import annotations

from fractions import Fraction

import pytest

from phexplore.catalog.names import Naming, in_words
from phexplore.model.edits import EditRefusedError, set_field, set_item
from phexplore.model.group_sizes import HeavyTail, SizeMechanism
from phexplore.model.phsafe import PrivacyFramework
from phexplore.systems.group_sizes.edits import set_size_levels, set_size_share, share_equally
from phexplore.systems.registry import preset


@pytest.fixture
def scenario():
    return preset("group-sizes-census-2010").scenario


def test_that_shares_of_levels_always_add_to_one(scenario) -> None:
    moved = set_size_share(scenario, "County", Fraction(1, 2)).group_sizes.level_shares
    assert moved["County"] == Fraction(1, 2)
    assert sum(moved.values()) == 1


def test_that_a_locked_share_stays(scenario) -> None:
    locked = set_item(scenario, "locked_levels", "Nation", value=True)
    moved = set_size_share(locked, "County", Fraction(1, 2)).group_sizes.level_shares
    assert moved["Nation"] == Fraction(1, 3)
    with pytest.raises(EditRefusedError, match="locked"):
        set_size_share(locked, "Nation", Fraction(1, 2))
    assert not share_equally(locked).group_sizes.locked_levels


@pytest.mark.parametrize(
    "change",
    [
        lambda s: set_field(s, "total", Fraction(0)),
        lambda s: set_field(s, "largest", 0),
        lambda s: set_field(s, "largest_quantity", 0),
        lambda s: set_size_levels(s, (), ()),
        lambda s: set_size_levels(s, ("A", "A"), (1, 2)),
        lambda s: set_size_levels(s, ("A",), (0,)),
        lambda s: set_size_levels(s, tuple(map(str, range(13))), (1,) * 13),
        lambda s: set_size_share(s, "County", Fraction(2)),
    ],
)
def test_that_impossible_values_are_refused(scenario, change) -> None:
    with pytest.raises(EditRefusedError):
        change(scenario)


def test_that_choices_are_taken(scenario) -> None:
    edited = set_field(set_field(scenario, "framework", PrivacyFramework.ZCDP), "mechanism", SizeMechanism.TREE)
    edited = set_field(set_field(edited, "largest", 50), "tail", HeavyTail(outliers=3))
    method = edited.group_sizes
    assert (method.framework, method.mechanism, method.largest) == (PrivacyFramework.ZCDP, SizeMechanism.TREE, 50)
    assert method.tail == HeavyTail(outliers=3)
    assert set_field(edited, "tail", None).group_sizes.tail is None


def test_that_new_levels_share_equally_and_renamed_regions_keep_the_shares(scenario) -> None:
    moved = set_size_share(scenario, "County", Fraction(1, 2))
    same = set_size_levels(moved, ("Nation", "State", "County"), (1, 50, 3000)).group_sizes
    assert same.level_shares == moved.group_sizes.level_shares
    assert same.regions == (1, 50, 3000)
    other = set_size_levels(moved, ("City", "Zone"), (1, 263)).group_sizes
    assert set(other.level_shares.values()) == {Fraction(1, 2)}


@pytest.mark.parametrize(("levels", "regions"), [((), ()), (("Nation",), (0,))])
def test_that_the_example_of_a_refusal_is_shown_as_it_was_written(levels, regions):
    """“State 51” was shown as “Virginia”."""
    with pytest.raises(EditRefusedError) as refused:
        set_size_levels(preset("group-sizes-census-2010").scenario, levels, regions)
    assert in_words(refused.value.full, Naming.NAMES) == refused.value.full
