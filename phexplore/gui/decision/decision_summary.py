"""What a person sees before a name stands under parameters: loss, changes in people, targets, warnings, runs. No Qt."""

from __future__ import annotations

from collections.abc import Sequence

from phexplore.decide.verdict_words import verdict_summary
from phexplore.figures.tile import TileContent, Tone
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.binding.tiles import DecisionPart, SummaryEntry
from phexplore.gui.theme.appearance import appearance
from phexplore.model.issues import Issue, Severity
from phexplore.model.rounded import epsilon_bound
from phexplore.model.rules import Outcome, Verdict

_FEW = 3
"""Lines of an entry that stands before the long ones."""


def decision_summary(
    shown: ScenarioView,
    part: DecisionPart,
    runs: Sequence[str],
    verdicts: Sequence[Verdict] = (),
    by_runs: Sequence[tuple[str, Sequence[Verdict]]] = (),
    unread: Sequence[str] = (),
) -> tuple[SummaryEntry, ...]:
    """Return everything to know before a decision about the active scenario.

    Args:
        shown: the parameters with their figures.
        part: what their system says of them.
        runs: titles of the runs that will be cited.
        verdicts: on the decision rules of the project.
        by_runs: the same of each run that will be cited, with its title.
        unread: titles of runs that will be cited but cannot be read.
    """
    none = "none: the decision rests on the forecast alone"
    cited = SummaryEntry("Runs cited", tuple(runs) or (none,), Tone.NEUTRAL if runs else Tone.ATTENTION)
    entries = [_loss(shown, part.loss), cited]
    if verdicts:
        entries.append(_rules(verdicts, by_runs, unread))
    entries += [*part.entries, _issues(shown, part.told), _changed(shown, part.changes)]
    return tuple(
        sorted(entries, key=lambda entry: len(entry.lines) > _FEW)
    )  # a long list hides nothing short below the fold


def _rules(
    verdicts: Sequence[Verdict], by_runs: Sequence[tuple[str, Sequence[Verdict]]], unread: Sequence[str]
) -> SummaryEntry:
    """Return how the scenario does on the rules, and each run that is cited: it judges what no forecast can.

    Args:
        verdicts: on the scenario.
        by_runs: titles of the runs, and the verdicts on them.
        unread: titles of the runs that cannot be read.
    """
    told = [f"{title}: {verdict_summary(of)}" for title, of in by_runs]
    if not told or any(each.outcome is not Outcome.NOT_JUDGED for each in verdicts):
        told.insert(0, verdict_summary(verdicts))
    told += [f"{title}: cannot be read, which leaves every rule open" for title in unread]
    each_rule = zip(verdicts, *(of for _, of in by_runs), strict=True)
    hold = all({each.outcome for each in rule} - {Outcome.NOT_JUDGED} == {Outcome.PASS} for rule in each_rule)
    return SummaryEntry("Decision rules", tuple(told), Tone.GOOD if hold and not unread else Tone.ATTENTION)


def _loss(shown: ScenarioView, tile: TileContent) -> SummaryEntry:
    # To a committee every symbol of it is called privacy loss, which the caption says.
    kind = tile.caption.removeprefix("Privacy loss, ") if appearance().is_expert else ""
    first = ", ".join(filter(None, (f"{kind} {tile.value}".lstrip(), tile.beside)))
    change = (_against(tile.change, shown),) if tile.change else ()
    epsilon = _epsilon_words(shown)
    return SummaryEntry("Privacy loss", (first, *filter(None, (epsilon,)), *change), tile.tone)


def _against(change: str, shown: ScenarioView) -> str:
    """Return a change with the name of what it is counted from.

    Args:
        change: in words.
        shown: the parameters with their reference.
    """
    if shown.reference is None:
        return change
    title, said = _version(shown.reference.title), "the reference"
    return change.replace(said, title, 1) if said in change else f"{change} against {title}"


def _changed(shown: ScenarioView, changes: tuple[str, ...]) -> SummaryEntry:
    # Where shares of a budget changed, nothing of it is in people.
    caption = "Changed" if changes and not any("people" in each for each in changes) else "Changed, in people"
    if shown.reference is None:
        return SummaryEntry(
            caption, ("not known: choose at the top what to compare with, then read again",), Tone.ATTENTION
        )
    return SummaryEntry(f"{caption}, against {_version(shown.reference.title)}", changes or ("nothing",))


def _version(title: str) -> str:
    """Return a reference within a sentence: what the project keeps is called as last saved, as approved on a day."""
    return f"the version {title}" if title.startswith("as ") else title


def _epsilon_words(shown: ScenarioView) -> str:
    """Return ε as the headline says it, with its neighbours; pure ε is the budget itself."""
    if shown.forecast is None:
        return ""
    neighbours = f"{shown.forecast.loss.neighbours.value} neighbors"
    if words := shown.epsilon_words(shown.scenario.conventions.delta):
        return f"{words}, {neighbours}"
    pure = next((each for each in shown.forecast.epsilons if each.conversion is None), None)
    return "" if pure is None else f"ε {epsilon_bound(pure.value)}, pure DP, {neighbours}"


def _issues(shown: ScenarioView, told: Sequence[Issue]) -> SummaryEntry:
    issues = [issue for issue in shown.issues if issue not in told]
    if not issues:
        return SummaryEntry("Open issues", ("none except targets not met",) if told else ("none",), Tone.GOOD)
    worst = Tone.REFUSED if any(issue.severity is Severity.ERROR for issue in issues) else Tone.ATTENTION
    return SummaryEntry(f"Open issues: {len(issues)}", tuple(each.sentence for each in issues), worst)
