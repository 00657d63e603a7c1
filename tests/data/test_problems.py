from __future__ import annotations

import numpy as np

from phexplore.data.problems import LISTED_PER_RULE, Phase, Place, ProblemLog, Rule, report
from phexplore.model.issues import Issue, Severity


def _issue(file="persons.csv", severity=Severity.ERROR):
    return Issue((file,), "Wrong.", "Mend it.", severity)


def test_that_errors_come_before_warnings_and_phases_in_order():
    log = ProblemLog()
    log.add(Phase.RECORDS, "a", [_issue(severity=Severity.WARNING)])
    log.add(Phase.RECORDS, "b", [_issue("units.csv")])
    log.add(Phase.TYPES, "c", [_issue("geo.csv")])
    assert [issue.path[0] for issue in log.issues()] == ["geo.csv", "units.csv", "persons.csv"]
    assert log.first_failing_phase() is Phase.TYPES
    assert log.totals() == {Severity.ERROR: 2, Severity.WARNING: 1}
    assert log.totals(Phase.RECORDS) == {Severity.ERROR: 1, Severity.WARNING: 1}


def test_that_warnings_fail_no_phase():
    log = ProblemLog()
    log.add(Phase.FILES, "a", [_issue(severity=Severity.WARNING)])
    assert not log.has_errors()
    assert log.first_failing_phase() is None


def test_that_each_file_and_rule_has_its_own_list():
    log = ProblemLog()
    for file in ("persons.csv", "units.csv"):
        for _ in range(LISTED_PER_RULE + 3):
            log.add(Phase.VALUES, "a", [_issue(file)])
    issues = log.issues()
    assert len(issues) == 2 * (LISTED_PER_RULE + 1)
    assert [issue.sentence[:2] for issue in issues if "not listed" in issue.sentence] == ["3 ", "3 "]
    assert log.totals()[Severity.ERROR] == 2 * (LISTED_PER_RULE + 3)


def test_that_problems_of_a_phase_in_a_file_can_be_looked_up_again():
    log = ProblemLog()
    log.add(Phase.TYPES, "a", [_issue()])
    log.add(Phase.TYPES, "a", [_issue("geo.csv")])
    log.forget(Phase.TYPES, ("persons.csv",))
    assert [issue.path[0] for issue in log.issues()] == ["geo.csv"]


def test_that_rows_are_reported_with_the_lines_of_their_records():
    place = Place("persons", "persons.csv", lambda records: [record + 2 for record in records], first=10)
    kept = place.kept(np.array([1, 4, 5])).kept(np.array([2]))
    log = ProblemLog()
    rule = Rule("rule", Phase.RECORDS, "QAGE", "Mend it.")
    report(log, rule, kept, np.array([True]), sentence="It is wrong.")
    (issue,) = log.issues()
    assert (issue.place, issue.sentence) == ("persons.csv:17:3", "It is wrong.")
