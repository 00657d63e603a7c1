"""What a TopDown run can be asked beyond its scenario. Light: the specification of every run reads it."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class Mechanism(enum.Enum):
    """How histograms are estimated. The value is the word in files and on the command line."""

    TOP_DOWN = "top-down"
    """From the root to the leaves, every parent's children at once."""
    BLOCK_BY_BLOCK = "block-by-block"
    """All of the budget at the leaves, each leaf estimated alone (TopDown paper, eq. 7.1 and 7.3): the baseline."""


class RounderTarget(enum.Enum):
    """What the controlled rounder draws its answers to."""

    FRACTION = "fraction"
    """The estimate itself: eq. 7.7 as printed."""
    WHOLE = "whole"
    """Its fractional part rounded first, as production does."""


@dataclass(frozen=True, slots=True)
class TopDownOptions:
    """What decides a TopDown run beside its scenario, and what it leaves behind.

    Attributes:
        expand: seed of the expansion to the full schema; None takes the data as they are.
        mechanism: how histograms are estimated.
        target: of the rounder.
        microdata: whether microdata and published tables are written for every trial.
        keep_measurements: whether the noisy answers are kept.
        measurements: directory of a run whose kept answers are post-processed again; "" draws new ones.
        measured_identity: of that run.
        measured_content: 64 hexadecimal digits over the kept answers, "" in runs of the first format.
    """

    expand: int | None = None
    mechanism: Mechanism = Mechanism.TOP_DOWN
    target: RounderTarget = RounderTarget.FRACTION
    microdata: bool = False
    keep_measurements: bool = False
    measurements: str = ""
    measured_identity: str = ""
    measured_content: str = ""

    def __post_init__(self) -> None:
        """Refuse values outside their range."""
        if self.expand is not None and not 0 <= self.expand < 2**63:
            raise ValueError(f"the seed of the expansion lies between 0 and 2^63 - 1, got {self.expand}")


def identifying(options: TopDownOptions) -> Mapping[str, Any]:
    """Return what decides the result; where kept answers lie does not, their content does."""
    content = encode_options(options)
    del content["measurements"]
    return content


def encode_options(options: TopDownOptions) -> dict[str, Any]:
    """Return the options as JSON."""
    return {
        "expand": options.expand,
        "mechanism": options.mechanism.value,
        "target": options.target.value,
        "microdata": options.microdata,
        "keep_measurements": options.keep_measurements,
        "measurements": options.measurements,
        "measured_identity": options.measured_identity,
        **({"measured_content": options.measured_content} if options.measured_content else {}),
    }


def decode_options(content: Any) -> TopDownOptions:
    """Read what `encode_options` returned.

    Raises:
        KeyError, TypeError, ValueError: it is something else.
    """
    expand = content["expand"]
    if expand is not None and (not isinstance(expand, int) or isinstance(expand, bool)):
        raise TypeError(f"a whole number is expected, got {expand!r}")
    return TopDownOptions(
        expand=expand,
        mechanism=Mechanism(content["mechanism"]),
        target=RounderTarget(content["target"]),
        microdata=flag(content["microdata"]),
        keep_measurements=flag(content["keep_measurements"]),
        measurements=str(content["measurements"]),
        measured_identity=str(content["measured_identity"]),
        measured_content=str(content.get("measured_content", "")),
    )


def flag(value: Any) -> bool:
    """Return a JSON value that is true or false.

    Raises:
        TypeError: it is neither.
    """
    if not isinstance(value, bool):
        raise TypeError(f"true or false is expected, got {value!r}")
    return value
