"""What several members propose for the same thing: where they agree, where nobody moved, and a draft in the middle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from statistics import median_low

from phexplore.accuracy.budget_model import CommitteeModel, NumberKey, Numbers
from phexplore.errors import ComparisonError, PhexploreError
from phexplore.model.comment import Comment
from phexplore.model.comments import all_reasons, in_one_line
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.scenario import Scenario
from phexplore.model.workbook import Workbook, activate, add_scenario
from phexplore.systems.registry import budgets_of, presets, system_of
from phexplore.text.escapes import visible

DRAFT, KEPT = "Consensus draft", "Kept "
"""What the names begin with of scenarios that no member proposes: the middle of proposals, and values kept in a meeting."""


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One number that members may choose.

    Attributes:
        kind: ``budget``, ``target``, ``threshold``, ``total``, ``level share`` or ``query share``.
        path: which one.
        baseline: of the proposals.
        values: one per member; None where the member has none (no target, no noise).
        moved: per member, whether it differs from the baseline.
        low: smallest value, None when nobody has one.
        middle: lower median of the values.
        high: largest.
        reasons: what people say about it, with their names.
    """

    kind: str
    path: str
    baseline: Fraction | None
    values: tuple[Fraction | None, ...]
    moved: tuple[bool, ...]
    low: Fraction | None
    middle: Fraction | None
    high: Fraction | None
    reasons: tuple[str, ...] = ()

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
        baseline: of the proposals.
        rows: every number that somebody moved or has otherwise than the others, in the baseline's order.
        remarks: what people say about a scenario, a picture or a number that has no row.
    """

    members: tuple[str, ...]
    baseline: Scenario
    rows: tuple[MatrixRow, ...]
    remarks: tuple[Comment, ...] = ()


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
    base = budgets_of(baseline).committee
    for proposal in proposals:
        if system_of(proposal) is not system_of(baseline):
            raise ComparisonError(
                f"{proposal.name!r} does not belong to the system of {baseline.name!r}.",
                "Name proposals of one system.",
            )
        base.confirm_comparable(proposal)
    tables, start = _tables(proposals, base), base.numbers()
    speakers = [_has_targets(table) for table in tables]
    rows, reasons = [], all_reasons(proposals)
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
            rows.append(_row(key, start.get(key), values, moved, reasons))
    paths = {row.path for row in rows}
    remarks = tuple(each for each in reasons if each.about not in paths)
    return CommitteeMatrix(tuple(proposal.name for proposal in proposals), baseline, tuple(rows), remarks)


def _row(
    key: NumberKey,
    baseline: Fraction | None,
    values: tuple[Fraction | None, ...],
    moved: tuple[bool, ...],
    reasons: Sequence[Comment],
) -> MatrixRow:
    known = [value for value in values if value is not None]
    kind, name = key
    path = str(getattr(name, "text", name))
    low, middle, high = (min(known), median_low(known), max(known)) if known else (None, None, None)
    said = tuple(in_one_line(each) for each in reasons if each.about == path)
    return MatrixRow(kind, path, baseline, values, moved, low, middle, high, said)


def proposes_nothing(scenario: Scenario, baseline: Scenario) -> bool:
    """Return whether a scenario has every number as the baseline has it, and no comment.

    Args:
        scenario: of a member, or the one that whoever merges proposals works on.
        baseline: of the same system, also of one without budgets to trade.
    """
    if scenario.comments or system_of(baseline).budgets is None:
        return not scenario.comments and scenario.method == baseline.method
    base = budgets_of(baseline).committee
    return _tables([scenario], base) == [base.numbers()]


def _tables(proposals: Sequence[Scenario], base: CommitteeModel) -> list[Numbers]:
    """Return the numbers of each proposal; one without any target leaves targets as they were.

    Production's config.json has no place for targets: a member who hands one over says nothing about them.
    """
    start = {key: value for key, value in base.numbers().items() if key[0] == "target"}
    tables = [budgets_of(proposal).committee.numbers() for proposal in proposals]
    return [table if _has_targets(table) else table | start for table in tables]


def _has_targets(table: Numbers) -> bool:
    return any(kind == "target" for kind, _ in table)


def consensus(matrix: CommitteeMatrix, proposals: Sequence[Scenario], name: str = DRAFT) -> Scenario:
    """Return a draft with the middle of every number: with an odd number of members, a value somebody proposed.

    It has every comment and note of the proposals.

    Args:
        matrix: who proposes what.
        proposals: the members' scenarios.
        name: of the draft.

    Raises:
        ComparisonError: the proposals do not make a legal scenario.
    """
    base = budgets_of(matrix.baseline).committee
    middle = base.middle(_tables(proposals, base))
    note = f"The middle of {len(proposals)} proposals: {', '.join(matrix.members)}."
    return replace(middle, name=name, note=note, comments=all_reasons(proposals))


ReadProposal = Callable[[Path, Scenario], Scenario]
"""Reads a member's file; a table of parameters changes what it names in the given scenario."""


def read_proposals(
    paths: Sequence[Path], like: Scenario, read: ReadProposal
) -> tuple[tuple[Scenario, ...], tuple[Issue, ...]]:
    """Return the proposals in members' files, and every problem of every file.

    Each has its own name; one without, or called as another, as the scenario it started from or as published parameters, is
    called after its file. A proposal of another system is a problem: it would stand in no matrix.

    Args:
        paths: of the files.
        like: the scenario that tables of parameters change.
        read: reads a file.
    """
    found: list[tuple[Path, Scenario]] = []
    problems: list[Issue] = []
    for path in paths:
        try:
            proposal = read(path, like)
        except InputProblemsError as error:
            problems += [replace(each, path=(path.name, *_inside(path, each))) for each in error.issues]
        except PhexploreError as error:
            problems.append(Issue((path.name,), error.sentence, error.remedy))
        else:
            if (theirs := system_of(proposal)) is (ours := system_of(like)):
                found.append((path, proposal))
            else:
                sentence = f"This proposal is for {theirs.title}; the committee decides on {ours.title} here."
                problems.append(Issue((path.name,), sentence, "Leave it out, or open it as a project of its own."))
    published = (each.scenario.name for each in presets().values())
    names = Counter([like.name, *published, *(proposal.name for _, proposal in found)])
    named = (
        proposal if names[proposal.name] == 1 else replace(proposal, name=_member(path)) for path, proposal in found
    )
    return tuple(named), tuple(problems)


def _inside(path: Path, issue: Issue) -> tuple[str, ...]:
    """Return the place of a problem within its file, without the name of the file."""
    return issue.path[1:] if issue.path[:1] == (path.name,) else issue.path


def _member(path: Path) -> str:
    return visible(path.stem).replace("#", "-").strip() or "member"


def with_proposals(workbook: Workbook, proposals: Sequence[Scenario]) -> Workbook:
    """Return the workbook with the members' proposals behind its scenarios; the active one stays active."""
    active = workbook.active
    for proposal in proposals:
        workbook = add_scenario(workbook, proposal)
    return activate(workbook, active)


def with_draft(workbook: Workbook, draft: Scenario) -> Workbook:
    """Return the workbook with a draft to work on; the same draft, made twice, is there once."""
    same = (
        each for each in workbook.scenarios if each.name.startswith(DRAFT) and replace(each, name=draft.name) == draft
    )
    found = next(same, None)
    return add_scenario(workbook, draft) if found is None else activate(workbook, found.name)
