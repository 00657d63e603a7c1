"""The parameters of releases under exact sums: budget, histogram, and for every release its query, sums, mechanism and share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QMenu, QWidget

from phexplore.figures.wording import capital, counted
from phexplore.files.atomic_files import read_text
from phexplore.gui.binding.session import entered, refusal_of
from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.editors.plain_parameters import Note, ParameterForm
from phexplore.gui.editors.scenario_form import PromiseText
from phexplore.gui.systems.subspace.summary import BASES, CALIBRATIONS, MECHANISM_EXPLANATIONS
from phexplore.gui.tables.parameter_table import Step
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import HALF
from phexplore.gui.widgets.buttons import Chooser, SymbolButton, TextButton
from phexplore.gui.widgets.exact_field import LineText
from phexplore.gui.widgets.file_dialogs import ask_to_open
from phexplore.gui.widgets.form import ChoiceControl, WrittenControl, form_in
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import column, row
from phexplore.gui.widgets.page import Page, Section
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.edits import EditRefusedError, step_label
from phexplore.model.fields import Field, declared_fields
from phexplore.model.issues import Severity
from phexplore.model.scenario import Scenario
from phexplore.model.subspace import Histogram, Mechanism, Release, Subspace, Totals
from phexplore.systems.subspace.edits import (
    add_release,
    change_release,
    offered_tables,
    remove_release,
    set_axes,
    set_release_share,
    set_table,
)
from phexplore.systems.subspace.text import (
    axes_text,
    invariant_text,
    matrix_rows,
    parse_axes,
    parse_invariants,
    parse_query,
    query_text,
)


class ReleasesEditor(QWidget):
    """One release at a time: what is asked, what is exact, which noise, which share."""

    def __init__(self, session: PlainSession) -> None:
        super().__init__()
        self._session = session
        self.release = Chooser("Release", letters=14, run=self._choose)
        self.add = SymbolButton("plus", "Add a release", text="Add", bordered=True, run=self._add)
        self.remove = SymbolButton("trash", "Remove this release", text="Remove", bordered=True, run=self._remove)
        self.query = LineText(
            "Query, one answer per line; empty for every cell",
            "Empty: every cell of the histogram. Or one answer per line: adults = #1 + #2",
            lambda text: refusal_of(session, lambda: self._ask(text)),
            lines=3,
        )
        self.invariants = LineText(
            "Exact sums, one per line",
            "Nothing is exact. Write total, total by county, or a sum: north = #0 + 2*#5",
            lambda text: refusal_of(session, lambda: self._make_exact(text)),
        )
        self.by = SymbolButton("plus", "Add exact totals", text="Add totals", bordered=True)
        self._by_menu = QMenu(self)
        self._by_menu.aboutToShow.connect(self._fill_totals)
        self.by.setMenu(self._by_menu)
        self.by.setPopupMode(SymbolButton.ToolButtonPopupMode.InstantPopup)
        name = "Read exact sums from a file with a row of weights per sum"
        self.matrix = TextButton("Read a matrix…", name=name, run=self._browse)
        self.redundant = Text(look="attention", wrap=True)
        self._rank = Text(look="muted", wrap=True)
        self.noise = ParameterForm(
            session,
            "mechanism",
            "basis",
            "share",
            take=self._take_field,
            words={"mechanism": lambda each: capital(each.title), "basis": BASES.__getitem__},
            notes=(
                Note(lambda: MECHANISM_EXPLANATIONS[self._release().mechanism], "mechanism", look=""),
                Note(self._sensitivity, label="Sensitivity"),
            ),
            enabled={"basis": lambda release: release.mechanism is Mechanism.EXTENDED_LAPLACE},
            part_of=lambda _method: self._release(),
        )
        form = form_in(self)
        form.addRow("Release", row(self.release, self.add, self.remove, 1))
        form.addRow("Query", self.query)
        form.addRow("Exact sums", column(self.invariants, row(self.by, self.matrix, 1), gap=HALF))
        form.addRow("", self._rank)
        form.addRow("", self.redundant)
        form.addRow(self.noise)
        self._seen = WhenSeen(self, self._refresh, session.updated, appearance().changed)
        session.selected.connect(self._select)
        self._refresh()

    @property
    def name(self) -> str:
        """The release being edited."""
        releases = self._session.scenario.subspace.releases
        chosen = self.release.currentData()
        return chosen if chosen in releases else next(iter(releases), "")

    def _release(self) -> Release:
        """Return the release being edited, an empty one where there is none."""
        releases = self._session.scenario.subspace.releases
        return releases.get(self.name) or Release(Histogram(), (), Mechanism.PROJECTED_LAPLACE)

    def _sensitivity(self) -> str:
        figures = self._session.shown.figures
        entry = None if figures is None else next((e for e in figures.releases if e.plan.name == self.name), None)
        space = None if entry is None else entry.plan.space
        self._rank.setText(
            ""
            if space is None
            else f"{counted(space.rank, 'independent exact sum')} of {space.size:,} answers; {space.size - space.rank:,} dimensions are protected."
        )
        if not appearance().is_expert:
            return ""
        return "–" if entry is None else "\n".join(entry.explanation)

    def _refresh(self, _shown: object = None) -> None:
        method, name = self._session.scenario.subspace, self.name
        self.release.offer([(each, each) for each in method.releases])
        self.release.select(name)
        for widget in (self.query, self.invariants, self.noise):
            widget.setEnabled(bool(name))
        self.remove.setEnabled(len(method.releases) > 1)
        self.query.set_value(query_text(self._release().query))
        self.invariants.set_value(invariant_text(self._release().invariants))
        self.noise.refresh()
        own = [issue for issue in self._session.shown.issues if issue.path[:2] == ("releases", name)]
        worst = any(issue.severity is Severity.ERROR for issue in own)
        self.redundant.setText("\n".join(f"{issue.sentence} {issue.remedy}" for issue in own))
        self.redundant.set_look("refused" if worst else "attention")
        self.redundant.setVisible(bool(own))

    def _choose(self) -> None:
        self._session.select(self.name)
        self._refresh()

    def _select(self, name: str | None) -> None:
        if name is not None and name != self.release.currentData():
            self.release.select(name)
            self._refresh()

    def _edit(self, label: str, change: Callable[[Scenario], Scenario]) -> bool:
        return self._session.report(self._session.edit(label, change))

    def _take_field(self, part: Field, _key: object, value: Any) -> str:
        name = self.name
        if part.name == "share":
            return refusal_of(
                self._session, lambda: (step_label(part, value), lambda s: set_release_share(s, name, value))
            )
        words = value.title if isinstance(value, Mechanism) else value.value
        label = f"Use the {part.title} {words} for {name}"
        return refusal_of(self._session, lambda: (label, lambda s: change_release(s, name, **{part.name: value})))

    def _ask(self, text: str) -> Step:
        name, query = self.name, parse_query(text)
        return f"Ask {query} in {name}", lambda s: change_release(s, name, query=query)

    def _make_exact(self, text: str) -> Step:
        name, invariants = self.name, parse_invariants(text, self._session.scenario.subspace.names)
        return f"Set the exact sums of {name}", lambda s: change_release(s, name, invariants=invariants)

    def _add(self) -> None:
        releases, number = self._session.scenario.subspace.releases, 2
        while (name := f"release {number}") in releases:
            number += 1
        if self._edit(f"Add {name}", lambda s: add_release(s, name)):
            self._session.select(name)

    def _remove(self) -> None:
        self._edit(f"Remove {self.name}", partial(remove_release, name=self.name))

    def _fill_totals(self) -> None:
        """Offer the totals that are not exact yet: the grand one, one per axis or grouping, and of all but one axis."""
        self._by_menu.clear()
        method = self._session.scenario.subspace
        axes = tuple(axis.name for axis in method.axes)
        others = [tuple(name for name in axes if name != left) for left in axes] if len(axes) > 2 else []
        release = method.releases.get(self.name)
        have = set(release.invariants) if release is not None else set()
        for by in dict.fromkeys([(), *((name,) for name in method.names), *others]):
            totals = Totals(by)
            action = self._by_menu.addAction(capital(str(totals)))
            action.setEnabled(totals not in have)
            action.triggered.connect(lambda _checked=False, totals=totals: self.add_totals(totals))

    def add_totals(self, totals: Totals) -> None:
        """Make these totals exact as well."""
        name = self.name

        def change(scenario: Scenario) -> Scenario:
            release: Release = scenario.subspace.releases[name]
            return change_release(scenario, name, invariants=(*release.invariants, totals))

        self._edit(f"Make the {totals} exact in {name}", change)

    def _browse(self) -> None:
        kinds = "Matrix (*.csv *.txt *.tsv);;All files (*)"
        ask_to_open(self, "Read a matrix of exact sums", self.read_matrix, kinds=kinds)

    def read_matrix(self, path: Path) -> None:
        """Make the sums of a file exact: a row of weights per sum, a column per answer."""
        name, method = self.name, self._session.scenario.subspace

        def step() -> Step:
            try:
                rows = matrix_rows(read_text(path), method.answers(method.releases[name]))
            except ValueError as error:
                raise EditRefusedError(f"{path.name}: {error}") from error
            label = f"Make the {len(rows):,} sums of {path.name} exact in {name}"
            return label, lambda s: change_release(s, name, invariants=rows)

        self._session.report(entered(self._session, step))


def _histogram_form(session: PlainSession) -> ParameterForm:
    """Return the form of the cells that are counted: axes with their sizes."""

    def about() -> str:
        method = session.scenario.subspace
        groups = [grouping.name for axis in method.axes for grouping in axis.groupings]
        more = f" Groupings: {', '.join(groups)}." if groups else ""
        return f"{method.cells:,} cells, the last axis running fastest.{more}"

    def step(typed: str) -> Step:
        method = session.scenario.subspace
        axes = parse_axes(typed, method.axes)
        table = method.table if axes == method.axes else ""
        return f"Count by {axes_text(axes)}", lambda scenario: set_axes(scenario, axes, table)

    def take(_part: Field, _key: object, table: str) -> str:
        label = f"Take the counts of {table}" if table else "Leave the counts to the run"
        return refusal_of(session, lambda: (label, lambda scenario: set_table(scenario, table)))

    axes = WrittenControl("Axes of the histogram", axes_text, lambda typed: refusal_of(session, lambda: step(typed)))
    (part,) = (each for each in declared_fields(Subspace) if each.name == "table")
    table = ChoiceControl(part, offered_tables, take)
    return ParameterForm(session, "axes", "table", written={"axes": axes, "table": table}, notes=(Note(about, "axes"),))


class SubspacePage(Page):
    """All parameters of releases under exact sums."""

    def __init__(self, session: PlainSession) -> None:
        def paper() -> str:
            figures = session.shown.figures
            paper = None if figures is None else figures.paper
            if paper is None:
                return ""
            kept = "keeps it" if paper.protects else "breaks it, and a run with it is refused"
            return (
                f"The paper's constant (1 + √(1 + ln 1/δ))/ε gives σ/Δ = {float(paper.v) ** 0.5:.4g}; its true δ is "
                f"{paper.delta:.3g}, {paper.factor:.3g} times the one asked for: it {kept}."
            )

        self.budget = ParameterForm(
            session,
            "epsilon",
            "delta",
            "calibration",
            words={"calibration": CALIBRATIONS.__getitem__},
            notes=(Note(paper, look="attention"),),
            enabled={"calibration": lambda method: method.delta > 0},
        )
        self.histogram = _histogram_form(session)
        self.releases = ReleasesEditor(session)
        super().__init__(
            "Parameters of releases under exact sums",
            [
                Section(
                    "Privacy", "What all releases together cost when one record is replaced by another.", self.budget
                ),
                Section("What that means", "", PromiseText(session)),
                Section("Histogram", "What the records are counted by.", self.histogram),
                Section(
                    "Releases",
                    "All releases share one budget: ε adds up; Gaussian ones compose exactly and share what the others leave. What is "
                    "exact in several releases adds up as well.",
                    self.releases,
                ),
            ],
        )
