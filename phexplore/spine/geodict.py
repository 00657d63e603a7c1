"""A scenario's choice of spine as the keys of production's ``[geodict]``, and what production cannot express."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from phexplore.model.topdown import SpineChoice
from phexplore.spine.settings import CLASS_TITLES, OWN_SETTINGS, choice_of, settings_of
from phexplore.text.messages import msg

SPINES = {"standard": "non_aian_spine", "aian": "aian_spine", "optimised": "opt_spine", "prim": "opt_spine"}
"""Value of ``spine`` for each kind (topdown, section 10)."""


@dataclass(frozen=True, slots=True)
class Geodict:
    """Settings for a configuration file.

    Attributes:
        entries: key and text, lists as JSON; levels and their code lengths are not among them.
        inexpressible: sentences about settings that production has no key for.
    """

    entries: tuple[tuple[str, str], ...]
    inexpressible: tuple[str, ...]


def geodict_of(choice: SpineChoice) -> Geodict:
    """Return the keys of ``[geodict]`` that make production use this spine.

    Keys that the choice carries from a configuration and that this program does not read are kept as they are.

    Raises:
        PhexploreError: a setting that cannot be read.
    """
    settings = settings_of(choice)
    given = {name: text for name, text in choice.settings if name not in OWN_SETTINGS}
    known = {name: text for name, text in choice_of(settings).settings if name not in OWN_SETTINGS}
    # The choice's own spelling stays where it means the same, so that an imported file comes back as it was.
    same = settings_of(SpineChoice(choice.kind, tuple(given.items())))
    plain = settings_of(SpineChoice(choice.kind, tuple(known.items())))
    entries = given if same == plain and given else {**known, **given}
    entries = {"spine": SPINES[settings.kind], **{key: text for key, text in entries.items() if key != "spine"}}
    sentences = []
    if settings.targets != plain.targets and settings.shapes_block_groups:
        sentences.append(
            msg(
                "Production cannot target only {areas}: its block groups follow {followed}.",
                areas=_areas(settings.targets),
                followed=_areas(plain.targets),
            )
        )
    if settings.shapes_block_groups and settings.grouping != "production":
        sentences.append(msg("Block groups of production may contain one block more than the bound in the paper."))
    if settings.bypass != plain.bypass:
        sentences.append(
            msg("Production bypasses geographic units by its own rule; {bypass} cannot be set.", bypass=settings.bypass)
        )
    if settings.tract_groups == "paper":
        sentences.append(msg("Production merges tracts by its own rule if a level of tract groups is configured."))
    return Geodict(tuple(entries.items()), tuple(sentences))


def same_spine(one: SpineChoice, other: SpineChoice) -> bool:
    """Return whether two choices mean the same, whatever they leave to defaults.

    Keys this program does not read must be equal where both have them.

    Args:
        one: a scenario's choice.
        other: the choice to compare with.
    """
    if one == other:
        return True
    if one.kind != other.kind or settings_of(one) != settings_of(other):
        return False
    read = {name for name, _ in choice_of(settings_of(one)).settings}
    left, right = dict(one.settings), dict(other.settings)
    return all(left[name] == right[name] for name in set(left) & set(right) - read)


def _areas(targets: Sequence[str]) -> str:
    titles = (CLASS_TITLES.get(target, target) for target in targets)
    return "; ".join(title if title.startswith("American") else title[0].lower() + title[1:] for title in titles)
