"""Whatever is edited in whatever order, what is shown is what the parameters give when nothing is remembered of before."""

from __future__ import annotations

import functools
import gc
import math
import random
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist

import pytest

from phexplore.catalog.tables import sensitivity, tables, truncated_tables
from phexplore.document.project import Project
from phexplore.figures.tile import Tone
from phexplore.figures.wording import bound_text
from phexplore.files.scenario_json import decode_scenario, encode_scenario
from phexplore.gui.binding.scenario_view import shown
from phexplore.gui.binding.session import Session
from phexplore.gui.systems.phsafe.budget_table import budget_table
from phexplore.gui.systems.phsafe.pictures import MARGINS, SHARES
from phexplore.gui.systems.phsafe.summary import change_lines, phsafe_tiles, total_line
from phexplore.model.conventions import Conventions, MarginConvention, Neighbours
from phexplore.model.edits import set_field, set_item
from phexplore.model.numbers import UNLIMITED
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.workbook import Workbook, activate, add_scenario, compare_with
from phexplore.systems.phsafe.budget_edits import Keep, edit_margin, edit_threshold
from phexplore.systems.phsafe.edits import set_budget, set_target
from phexplore.systems.registry import preset

START = "sdhc-2020-us"
Z_OF_2020 = 1.645


def another_convention(rng, known: Conventions) -> Conventions:
    return replace(
        known,
        confidence=rng.choice([Fraction(9, 10), Fraction(19, 20)]),
        margin=rng.choice([MarginConvention.NORMAL, MarginConvention.EXACT]),
        neighbours=rng.choice(list(Neighbours)),
        delta=Fraction(1, 10 ** rng.choice([6, 10])),
    )


def edited(rng, scenario):
    """Return a scenario after one edit of those a committee makes; few numbers in few places, so that much is seen again."""
    method, query = scenario.phsafe, rng.choice(list(scenario.phsafe.budgets)[:2])
    edits = (
        *(5 * [lambda: set_budget(scenario, query, Fraction(rng.randint(0, 2), rng.choice([7, 11, 13])))]),
        lambda: edit_margin(scenario, query, Fraction(rng.choice([50, 500]))),
        lambda: set_target(scenario, query, rng.choice([None, Fraction(60), Fraction(500)])),
        lambda: edit_threshold(
            scenario, rng.choice(truncated_tables()[:2]).id, rng.choice([5, 20]), rng.choice(list(Keep))
        ),
        lambda: set_item(scenario, "locks", query, value=query not in method.locks and not rng.randrange(3)),
        lambda: set_field(scenario, "framework", rng.choice(list(PrivacyFramework))),
        lambda: replace(scenario, conventions=another_convention(rng, scenario.conventions)),
    )
    return rng.choice(edits)()


def step(rng, session: Session) -> None:
    """Do what somebody at the window may do next."""
    names = session.project.workbook.names
    match rng.randrange(12):
        case 0:
            session.undo()
        case 1:
            session.redo()
        case 2:
            session.go_to(rng.randrange(len(session.project.labels)))
        case 3:
            session.edit_workbook("Show", lambda book: activate(book, rng.choice(names)))
        case 4:
            session.edit_workbook("Compare", lambda book: compare_with(book, rng.choice([*names, START, ""])))
        case 5 if len(names) < 4:
            other = preset(rng.choice([START, "sdhc-2020-pr"])).scenario
            session.edit_workbook("Add", lambda book: add_scenario(book, replace(other, name="Other")))
        case _:
            session.edit("Edit", lambda scenario: edited(rng, scenario), merge_key=rng.choice([None, "drag"]))


def told(view):
    """Return everything that is shown of a version in numbers."""
    rows = [
        [(column.cell(row).text, column.told(row), column.started(row)) for column in table.columns]
        for table in (budget_table(view),)
        for row in table.rows
    ]
    figures = [(each.title, each.summary, each.table.rows) for each in (MARGINS.draw(view), SHARES.draw(view))]
    return phsafe_tiles(view), rows, figures, change_lines(view), total_line(view), view.issues


def remembered():
    """Return everything by which the program remembers results."""
    modules = ("phexplore.systems", "phexplore.gui", "phexplore.accuracy", "phexplore.noise", "phexplore.figures")
    found = [each for each in gc.get_objects() if isinstance(each, functools._lru_cache_wrapper)]
    return [each for each in found if each.__module__.startswith(modules) and "theme" not in each.__module__]


def anew(session: Session, caches):
    """Return the same version from its text, without anything that is remembered: no object of it was seen before."""
    for each in caches:
        each.cache_clear()
    book = session.project.workbook
    scenarios = tuple(decode_scenario(encode_scenario(each)) for each in book.scenarios)
    return shown(Workbook(scenarios, book.active, book.comparison))


def confirm_by_formula(view) -> None:
    """Compare loss and margins with the paper's formulas, written down here."""
    method, conventions = view.scenario.phsafe, view.scenario.conventions
    total = 2 * sum(method.budgets.values())
    assert view.figures.privacy.bounded_total == total
    assert phsafe_tiles(view)[0].value == bound_text(total)
    nine = conventions.confidence == Fraction(9, 10)
    z = Z_OF_2020 if nine else NormalDist().inv_cdf(float((1 + conventions.confidence) / 2))
    if method.framework is not PrivacyFramework.ZCDP:
        return
    for entry in view.figures.queries:
        if entry.margins is not None:
            reach = sensitivity(tables()[entry.query.table], method.thresholds.get(entry.query.table))
            sigma = reach / math.sqrt(2 * method.budgets[entry.query])
            assert entry.margins.normal == pytest.approx(z * sigma, rel=1e-9)


def test_that_an_unlimited_loss_says_in_the_headline_that_nobody_is_protected(qapp) -> None:
    start = replace(preset(START).scenario, name="Proposal")
    without_noise = set_budget(start, next(iter(start.phsafe.budgets)), UNLIMITED)
    for reference in (START, None):
        tile = phsafe_tiles(shown(Workbook((without_noise,), "Proposal", reference)))[0]
        assert (tile.value, tile.tone) == ("∞", Tone.ATTENTION)
        assert tile.change == "published without noise: nobody is protected"


@pytest.mark.parametrize("seed", range(3))
def test_that_what_is_shown_never_depends_on_what_was_edited_before(qapp, seed) -> None:
    rng = random.Random(seed)
    first = replace(preset(START).scenario, name="Proposal")
    session = Session(Project.new(Workbook((first,), "Proposal", START)))
    told(session.shown)
    caches = remembered()
    assert len(caches) > 10
    for _ in range(60):
        step(rng, session)
        confirm_by_formula(session.shown)
        now = told(session.shown)
        if not rng.randrange(4):
            assert now == told(anew(session, caches))
