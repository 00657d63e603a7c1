"""What several members propose for the same thing: where they agree, where nobody moved, and a draft in the middle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import median_low

from phexplore.decide.comparing import ComparisonError
from phexplore.decide.frontier import Part, shares_of, total_with_scale
from phexplore.files.das_ini_writing import exact_scale
from phexplore.model.keys import QueryKey, TableId
from phexplore.model.numbers import Unlimited
from phexplore.model.phsafe import PhSafe
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery, TopDown

Key = tuple[str, QueryKey | LevelQuery | TableId | str]
"""Kind of parameter and which one: ``("budget", PH3/state_A-G)``."""


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One number that members may choose.

    Attributes:
        kind: ``budget``, ``target``, ``threshold``, ``total``, ``level share`` or ``query share``.
        path: which one.
        baseline: where all started.
        values: one per member; None where the member has none (no target, no noise).
        moved: per member, whether it differs from the baseline.
        low: smallest value, None when nobody has one.
        middle: lower median of the values.
        high: largest.
    """

    kind: str
    path: str
    baseline: Fraction | None
    values: tuple[Fraction | None, ...]
    moved: tuple[bool, ...]
    low: Fraction | None
    middle: Fraction | None
    high: Fraction | None

    @property
    def untouched(self) -> int:
        """How many members left it as it was."""
        return self.moved.count(False)

    @property
    def agreement(self) -> float:
        """1 where all say the same, towards 0 the wider the range is against its largest value."""
        if self.low is None or self.high is None or self.high == 0:
            return 1.0
        return float(self.low / self.high)

    @property
    def is_open(self) -> bool:
        """Whether members differ."""
        return len(set(self.values)) > 1


@dataclass(frozen=True, slots=True)
class CommitteeMatrix:
    """Everything members propose.

    Attributes:
        members: their names, in order.
        baseline: where all started.
        rows: every number that somebody moved or has otherwise than the others, in the baseline's order.
    """

    members: tuple[str, ...]
    baseline: Scenario
    rows: tuple[MatrixRow, ...]


def committee_matrix(proposals: Sequence[Scenario], baseline: Scenario) -> CommitteeMatrix:
    """Return what members propose against where they started.

    Args:
        proposals: one scenario per member.
        baseline: of the same system.

    Raises:
        ComparisonError: nobody proposes, or the proposals cannot be laid over the baseline.
    """
    if not proposals:
        raise ComparisonError("Nobody proposes anything.", "Name the members' files.")
    for proposal in proposals:
        _confirm_comparable(proposal, baseline)
    tables = _tables(proposals, baseline)
    start = _numbers(baseline)
    speakers = [_has_targets(table) for table in tables]
    rows = []
    for key in dict.fromkeys([*start, *(key for table in tables for key in table)]):
        values = tuple(table.get(key) for table in tables)
        compared = values
        if key[0] == "target" and not _has_targets(start):
            # Nothing was said about targets at the start: none was moved, and those who name one may differ.
            moved = (False,) * len(values)
            compared = tuple(value for value, speaks in zip(values, speakers, strict=True) if speaks)
        else:
            moved = tuple(value != start.get(key) for value in values)
        if any(moved) or len(set(compared)) > 1:
            rows.append(_row(key, start.get(key), values, moved))
    return CommitteeMatrix(tuple(proposal.name for proposal in proposals), baseline, tuple(rows))


def _row(
    key: Key, baseline: Fraction | None, values: tuple[Fraction | None, ...], moved: tuple[bool, ...]
) -> MatrixRow:
    known = [value for value in values if value is not None]
    kind, name = key
    path = name.text if isinstance(name, QueryKey | LevelQuery) else str(name)
    low, middle, high = (min(known), median_low(known), max(known)) if known else (None, None, None)
    return MatrixRow(kind, path, baseline, values, moved, low, middle, high)


def _confirm_comparable(proposal: Scenario, baseline: Scenario) -> None:
    if not isinstance(proposal.method, PhSafe | TopDown) or not isinstance(baseline.method, PhSafe | TopDown):
        odd = baseline if isinstance(proposal.method, PhSafe | TopDown) else proposal
        raise ComparisonError(
            f"{odd.name!r} holds {type(odd.method).__name__} parameters, which a committee matrix does not lay side by side.",
            "It takes proposals for the S-DHC (PHSafe) or TopDown; Compare shows what differs in the others.",
        )
    if type(proposal.method) is not type(baseline.method):
        raise ComparisonError(
            f"{proposal.name!r} does not belong to the system of {baseline.name!r}.", "Name proposals of one system."
        )
    if isinstance(proposal.method, TopDown) and isinstance(baseline.method, TopDown):
        own, other = proposal.method, baseline.method
        if (own.schema, own.levels, own.framework) != (other.schema, other.levels, other.framework):
            raise ComparisonError(
                f"{proposal.name!r} has other levels, schema or framework than {baseline.name!r}.",
                "Agree on these first; shares of different levels cannot be averaged.",
            )
    elif proposal.method.framework is not baseline.method.framework:
        raise ComparisonError(f"{proposal.name!r} uses another privacy framework.", "Agree on the framework first.")


def _tables(proposals: Sequence[Scenario], baseline: Scenario) -> list[dict[Key, Fraction | None]]:
    """Return the numbers of each proposal; one without any target leaves targets as they were.

    Production's config.json has no place for targets: a member who hands one over says nothing about them.
    """
    start = {key: value for key, value in _numbers(baseline).items() if key[0] == "target"}
    tables = [_numbers(proposal) for proposal in proposals]
    return [table if _has_targets(table) else table | start for table in tables]


def _has_targets(table: Mapping[Key, Fraction | None]) -> bool:
    return any(kind == "target" for kind, _ in table)


def _numbers(scenario: Scenario) -> dict[Key, Fraction | None]:
    found: dict[Key, Fraction | None] = {}
    match scenario.method:
        case PhSafe() as method:
            for query, budget in method.budgets.items():
                found["budget", query] = None if isinstance(budget, Unlimited) else budget
            found |= {("target", query): margin for query, margin in method.targets.items()}
            found |= {("threshold", table): Fraction(people) for table, people in method.thresholds.items()}
        case TopDown() as method:
            found["total", ""] = method.total
            found |= {("level share", level): method.level_shares[level] for level in method.levels}
            found |= {("query share", key): share for key, share in method.query_shares.items()}
    return found


def consensus(matrix: CommitteeMatrix, proposals: Sequence[Scenario], name: str = "Consensus draft") -> Scenario:
    """Return a draft with the middle of every number: with an odd number of members, a value somebody proposed.

    Shares are brought back to a sum of exactly 1, in proportion, and a total that is a middle keeps the form
    production's files have if all proposals had it.

    Raises:
        ComparisonError: the proposals do not make a legal scenario.
    """
    baseline = matrix.baseline
    tables = _tables(proposals, baseline)
    middle = {key: _middle([table.get(key) for table in tables]) for key in _numbers(baseline)}
    note = f"The middle of {len(proposals)} proposals: {', '.join(matrix.members)}."
    match baseline.method:
        case PhSafe() as method:
            made = replace(
                method,
                budgets={query: _known(middle["budget", query], method.budgets[query]) for query in method.budgets},
                thresholds={table: int(middle["threshold", table] or 1) for table in method.thresholds},
                targets={
                    query: target
                    for query in method.budgets
                    if (target := _middle([table.get(("target", query)) for table in tables])) is not None
                },
            )
            return replace(baseline, name=name, note=note, method=made)
        case TopDown() as method:
            return replace(baseline, name=name, note=note, method=_middle_topdown(method, tables))
        case _:
            raise ComparisonError("This system has no numbers to average.", "Name PHSafe or TopDown proposals.")


def _known(value: Fraction | None, otherwise: Fraction | Unlimited) -> Fraction | Unlimited:
    return otherwise if value is None else value


def _middle(values: Sequence[Fraction | None]) -> Fraction | None:
    known = [value for value in values if value is not None]
    return median_low(known) if known else None


def _middle_topdown(method: TopDown, tables: Sequence[dict[Key, Fraction | None]]) -> TopDown:
    total = _middle([table["total", ""] for table in tables]) or method.total
    levels = {
        level: _middle([table["level share", level] for table in tables]) or Fraction(0) for level in method.levels
    }
    keys = dict.fromkeys(key for table in tables for kind, key in table if kind == "query share")
    shares: dict[LevelQuery, Fraction] = {}
    for level in method.levels:
        # A query that a member does not ask has the share 0 there.
        column = {
            key: _middle([table.get(("query share", key)) or Fraction(0) for table in tables]) or Fraction(0)
            for key in keys
            if isinstance(key, LevelQuery) and key.level == level
        }
        shares |= _whole(column)
    if all(exact_scale(table["total", ""] or Fraction(1)) for table in tables) and exact_scale(total) is None:
        total = total_with_scale(total)
    return replace(method, total=total, level_shares=_whole(levels), query_shares=shares)


def _whole(parts: dict[Part, Fraction]) -> dict[Part, Fraction]:
    """Return shares that add to exactly 1: as they are where they do, else in proportion."""
    if sum(parts.values(), Fraction(0)) == 1:
        return parts
    if not any(parts.values()):
        raise ComparisonError(
            "The middle of the proposals leaves a level without any share.", "Agree on its queries first."
        )
    return shares_of(parts)
