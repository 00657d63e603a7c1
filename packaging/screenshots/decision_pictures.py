"""Pictures of the area of decisions: three proposals become a signed bundle, as a committee would do it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QWidget

from phexplore.decide.bundle_jobs import KeyJob
from phexplore.document.project import Project
from phexplore.gui.binding.areas import Area
from phexplore.gui.decision.status import DecisionTab
from phexplore.gui.theme.appearance import ThemeChoice, appearance
from phexplore.model.approval import Status
from phexplore.model.comment import Comment
from phexplore.model.comments import add_comment
from phexplore.model.keys import TableId, parse_query
from phexplore.model.workbook import Workbook
from phexplore.systems.phsafe.budget_edits import edit_margin, edit_threshold
from phexplore.systems.registry import preset

if TYPE_CHECKING:
    from phexplore.gui.decision.approve_page import ApprovePage
    from phexplore.gui.decision.bundle_page import BundlePage
    from phexplore.gui.decision.committee_page import CommitteePage
    from phexplore.gui.decision.meeting_page import MeetingPage
    from phexplore.gui.main.window import MainWindow

_SETTLE_MS, _POLL_MS, _LONGEST_MS = 400, 100, 120_000
_DRAWS = 40
"""Draws after which the picture of live noise is full."""
_ORIGIN = "sdhc-2020-us"
_MEMBERS = {
    "Ada Lovelace": (22, 450, "Schools plan with this number."),
    "Grace Hopper": (25, 500, "Half of the privacy loss for one table is too much."),
    "Alan Turing": (40, 400, "Small states can live with a wider margin."),
}
"""Margins that they propose for PH3 (State, A-G) and for PH2 (Nation), and what they say of the first."""
_ROLES = ("Chair of the committee", "Disclosure avoidance", "Housing statistics")
NAMES = (
    "decision-compare", "decision-committee", "decision-meeting", "meeting", "decision-approve", "decision-bundle",
    "decision-check",
)  # fmt: skip

Save = Callable[[str, QWidget], object]


class DecisionTour:
    """Does what a committee does, then takes a picture of every step in every theme."""

    def __init__(
        self,
        window: MainWindow,
        folder: Path,
        themes: Sequence[ThemeChoice],
        save: Save,
        *,
        along: Save | None = None,
    ) -> None:
        """Prepare the tour.

        Args:
            window: shows a scenario of the S-DHC.
            folder: for files of the members, keys and bundles.
            themes: to draw in.
            save: takes the name of a picture and what is on it.
            along: takes a picture of every step while it is done, and of a run of the draft; None does neither.
        """
        self._window, self._folder, self._themes, self._save = window, folder, themes, save
        self._along, self._number = along, 0

    def steps(self) -> Iterator[int]:
        """Yield how long to wait before the next step, in milliseconds."""
        yield from self._agree()
        yield from self._seal()
        for theme in self._themes:
            appearance().choose(theme)
            yield from self._pictures(theme.value)
        self._window.navigation.choose(Area.OVERVIEW)
        yield _SETTLE_MS

    def _agree(self) -> Iterator[int]:
        window = self._window
        committee: CommitteePage = self._page(DecisionTab.COMMITTEE)
        committee.import_files(_member_files(self._folder))
        yield from _until(lambda: len(committee.members) > len(_MEMBERS))
        committee.tick(*_MEMBERS)
        yield from self._show("proposals")
        if self._along is not None:
            window.areas.decision.compare([f"scenario:{name}" for name in _MEMBERS])
            yield from self._show("compare")
            self._page(DecisionTab.COMMITTEE)
        committee.make_draft()
        yield from self._show("draft")
        window.files.save_to(self._folder / "vote.phx")
        if self._along is not None:
            yield from self._discuss()
        if self._along is not None:
            yield from self._examine()
        approve: ApprovePage = self._page(DecisionTab.APPROVE)
        for status, who, role, note in (
            (Status.RECOMMENDED, "Grace Hopper", "Disclosure avoidance", "middle of three proposals"),
            (Status.APPROVED, "Ada Lovelace", "Chair of the committee", "vote of 1 July, 3 to 0"),
        ):
            before = len(window.session.project.decisions)
            approve.next.select(status)
            for field, text in ((approve.who, who), (approve.role, role), (approve.note, note)):
                field.setText(text)
            yield from self._show(f"{status.value}-form")
            approve.record()
            if (sheet := approve.sheet) is not None:
                yield from self._show(f"{status.value}-sheet", sheet)
                sheet.typed.setText(window.session.scenario.name)
                sheet.action.click()
            yield from _until(partial(self._has_decided, before))

    def _discuss(self) -> Iterator[int]:
        """Let the meeting see the noise of the draft while it is drawn."""
        meeting: MeetingPage = self._page(DecisionTab.MEETING)
        meeting.start()
        if (view := meeting.view) is not None:
            view.showNormal()
            view.resize(self._window.size())
            yield _SETTLE_MS
            view.noise.play.click()
            yield from _until(lambda: len(view.noise.strip.trail) > _DRAWS)
            yield from self._show("meeting", view)
            view.close()

    def _examine(self) -> Iterator[int]:
        """Solve the draft's targets, run it, and ask the four questions of its results."""
        window, runs = self._window, self._window.areas.runs
        window.navigation.choose(Area.OVERVIEW)
        yield from self._show("overview")
        window.navigation.choose(Area.TARGETS)
        yield _SETTLE_MS
        view = window.areas.targets.contents[0]
        view.solve()
        yield from _until(lambda: view.panel.answer is not None)
        yield from self._show("targets")
        window.navigation.choose(Area.RUNS)
        yield from self._show("run-form")
        runs.page.start_run()
        yield from _until(lambda: any(row.state.is_final for row in runs.controller.rows))
        yield from self._show("run")
        window.navigation.choose(Area.RESULTS)
        page = runs.results["phsafe"]
        for number, tab in enumerate(page.tabs.offered, start=1):
            page.tabs.show_tab(tab)
            yield from _until(lambda tab=tab: page.answer is not None and page.answer.request.tab == tab)
            yield from self._show(f"question-{number}")

    def _show(self, name: str, widget: QWidget | None = None) -> Iterator[int]:
        """Take a picture of a step, where every step has one."""
        if self._along is not None:
            yield 2 * _SETTLE_MS
            self._number += 1
            self._along(f"journey-{self._number:02}-{name.lower()}", widget or self._window)

    def _has_decided(self, before: int) -> bool:
        return len(self._window.session.project.decisions) > before

    def _seal(self) -> Iterator[int]:
        bundle: BundlePage = self._page(DecisionTab.BUNDLE)
        for name, role in zip(_MEMBERS, _ROLES, strict=True):
            bundle.create_key(KeyJob(self._folder / f"{name.split()[0].lower()}.key"), bundle.signers)
            yield from _until(lambda: not bundle.process.is_busy)
            bundle.signers.rows[-1].name.setText(name)
            bundle.signers.rows[-1].role.setText(role)
        bundle.clearance.setText("CB-2026-0701")
        yield from self._show("signers")
        bundle.write_to(self._folder / "decision.zip")
        yield from _until(lambda: not bundle.process.is_busy)
        bundle.ensureWidgetVisible(bundle.writing, 0, 0)
        yield from self._show("bundle")
        altered = bytearray((self._folder / "decision.zip").read_bytes())
        altered[altered.index(b'"usa_')] ^= 4
        (self._folder / "altered.zip").write_bytes(altered)
        bundle.check(self._folder / "altered.zip")
        yield from _until(lambda: not bundle.process.is_busy)
        bundle.ensureWidgetVisible(bundle.checking, 0, 0)
        yield from self._show("altered")

    def _pictures(self, theme: str) -> Iterator[int]:
        window = self._window
        window.areas.decision.compare([f"scenario:{name}" for name in ("Consensus draft", *_MEMBERS)])
        window.navigation.choose(Area.DECISION)
        yield 2 * _SETTLE_MS
        self._save(f"decision-compare-{theme}", window)
        for tab, name in (
            (DecisionTab.COMMITTEE, "committee"),
            (DecisionTab.MEETING, "meeting"),
            (DecisionTab.APPROVE, "approve"),
        ):
            self._page(tab)
            yield _SETTLE_MS
            self._save(f"decision-{name}-{theme}", window)
        bundle: BundlePage = self._page(DecisionTab.BUNDLE)
        bundle.verticalScrollBar().setValue(0)
        yield _SETTLE_MS
        self._save(f"decision-bundle-{theme}", window)
        bundle.ensureWidgetVisible(bundle.checking, 0, 80)
        yield _SETTLE_MS
        self._save(f"decision-check-{theme}", window)
        yield from self._meet(theme)

    def _meet(self, theme: str) -> Iterator[int]:
        meeting: MeetingPage = self._page(DecisionTab.MEETING)
        meeting.start()
        view = meeting.view
        if view is not None:
            view.showNormal()
            view.resize(1600, 900)
            yield 2 * _SETTLE_MS
            self._save(f"meeting-{theme}", view)
            view.close()
        yield _SETTLE_MS

    def _page(self, tab: DecisionTab) -> Any:
        self._window.areas.show_decision(tab)
        return self._window.areas.decision.page[tab]


def _until(holds: Callable[[], bool]) -> Iterator[int]:
    waited = 0
    while not holds() and waited < _LONGEST_MS:
        yield _POLL_MS
        waited += _POLL_MS
    yield _SETTLE_MS


def _member_files(folder: Path) -> list[Path]:
    """Write the project of every member and return the files."""
    origin, paths = preset(_ORIGIN).scenario, []
    for name, (states, nation, reason) in _MEMBERS.items():
        proposal = edit_margin(origin, parse_query("PH3/state_A-G"), Fraction(states))
        proposal = edit_margin(proposal, parse_query("PH2/usa_*"), Fraction(nation))
        proposal = replace(edit_threshold(proposal, TableId("PH4"), 12), name=name)
        proposal = add_comment(proposal, Comment(reason, name, "2026-11-20T09:00:00+00:00", "PH3/state_A-G"))
        paths.append(folder / f"{name}.phx")
        project = Project.new(Workbook((proposal,), name))
        project.save(paths[-1])
        project.close()
    return paths
