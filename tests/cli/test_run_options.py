"""Flags of ``phexplore run`` that systems declare."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from phexplore.cli import run_options
from phexplore.cli.run_commands import run
from phexplore.cli.run_options import with_run_options
from phexplore.model.fields import Declared, declared, parameter
from phexplore.model.kinds import Flag, Whole
from phexplore.systems.run_offer import RunOffer


@declared
class Asked(Declared):
    """Attributes:
    often: how often.
    """

    often: int = parameter(Whole(1, 9), default=2, option="--often", title="how often", doc="How often.")


@declared
class AskedOtherwise(Declared):
    """Attributes:
    often: whether often.
    """

    often: bool = parameter(Flag(), default=False, option="--often", title="often", doc="Whether often.")


@dataclass
class Asking:
    """As much of a system as the command asks."""

    run_options: type[Declared]
    title: str = "Counts"
    runs: RunOffer = field(default_factory=RunOffer)


def test_that_one_option_of_two_systems_has_one_kind_of_value(monkeypatch):
    both = {"a": Asking(Asked), "b": Asking(Asked)}
    monkeypatch.setattr(run_options, "systems", lambda: both)
    with_run_options(run)
    both["b"] = Asking(AskedOtherwise)
    with pytest.raises(ValueError, match="--often"):
        with_run_options(run)
