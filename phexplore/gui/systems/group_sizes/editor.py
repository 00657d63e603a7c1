"""The parameters of group sizes: budget, its division over the levels, mechanism, sizes and the tail that is drawn."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QCheckBox, QGridLayout, QWidget

from phexplore.figures.wording import framework_title, people, significant
from phexplore.gui.binding.session import Refusal
from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.editors.plain_parameters import Note, ParameterForm
from phexplore.gui.editors.scenario_form import PromiseText, taking
from phexplore.gui.systems.group_sizes.summary import SIZE_EXPLANATIONS, reach_sentence
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.exact_field import ExactField
from phexplore.gui.widgets.labels import Figure, Text
from phexplore.gui.widgets.layout import column, emptied
from phexplore.gui.widgets.page import Page, Section
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.edits import set_field, set_item, step_label
from phexplore.model.fields import Field, field_of
from phexplore.model.group_sizes import GroupSizes, HeavyTail
from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.systems.group_sizes.edits import set_size_levels, set_size_share, share_equally
from phexplore.systems.group_sizes.figures import SIZE_MECHANISMS

_NOISE = {
    PrivacyFramework.PURE_DP: "The total is ε; noise is double-geometric with scale sensitivity / ε of the level, as in the paper.",
    PrivacyFramework.ZCDP: "The total is ρ; noise is discrete Gaussian, σ² = sensitivity / 2ρ of the level. Not in the paper.",
}
_TAIL = (
    "Published sizes end at 7 or more. Sizes above 6 follow the ratio of consecutive sizes that holds the open class, county by "
    "county; outliers are spread evenly up to N. Data of a run: the county table of household sizes, person records with user, "
    "unit, region and quantity, or sizes as they are; without data the households of 2010 that came with the program."
)


class SizeDataEditor(QWidget):
    """Which sizes and regions, and how an open last class is drawn."""

    def __init__(self, session: PlainSession) -> None:
        super().__init__()
        self._session = session
        self.numbers = ParameterForm(session, "largest", "largest_quantity")
        self.levels = ExactField("Levels and their regions", self._take_levels, width=40 * GRID)
        self.levels.line.setAlignment(Qt.AlignmentFlag.AlignLeft)
        self.drawn = QCheckBox("Draw sizes above an open last class")
        self.drawn.toggled.connect(self._toggle_tail)
        self.tail = ParameterForm(session, take=self._take_tail, part_of=lambda method: method.tail or HeavyTail())
        public = "From the widest to the narrowest with their numbers of regions, which are public."
        self.numbers.form.rows.addRow("Levels", self.levels)
        self.numbers.form.rows.addRow("", Text(public, look="muted", wrap=True))
        column(self.numbers, self.drawn, self.tail, Text(_TAIL, look="muted", wrap=True), of=self)
        self._seen = WhenSeen(self, self._refresh, session.updated)
        self._refresh()

    def _refresh(self, _shown: object = None) -> None:
        method = self._session.scenario.group_sizes
        self.levels.set_value(
            ", ".join(f"{name} {count}" for name, count in zip(method.levels, method.regions, strict=True))
        )
        with QSignalBlocker(self.drawn):
            self.drawn.setChecked(method.tail is not None)
        self.tail.setVisible(method.tail is not None)

    def _toggle_tail(self, on: bool) -> None:
        label = "Draw the sizes above the open class" if on else "Take the sizes as they are"
        self._session.report(self._session.edit(label, lambda s: set_field(s, "tail", HeavyTail() if on else None)))

    def _take_tail(self, part: Field, _key: Hashable, value: Any) -> str:
        def change(scenario: Scenario) -> Scenario:
            return set_field(scenario, "tail", replace(scenario.group_sizes.tail or HeavyTail(), **{part.name: value}))

        refusal = self._session.edit(step_label(part, value), change)
        return refusal.full if refusal else ""

    def _take_levels(self, typed: str) -> str:
        matches = [re.fullmatch(r"(.+?)\s+([0-9]{1,15})", part.strip()) for part in typed.split(",") if part.strip()]
        if not matches or any(match is None for match in matches):
            return Refusal(
                typed, f"{typed.strip()!r} names no levels.", "Write for example: Nation 1, State 51, County 3107."
            ).full
        names = tuple(match[1].strip() for match in matches if match is not None)
        counts = tuple(int(match[2]) for match in matches if match is not None)
        refusal = self._session.edit(f"Use the levels {', '.join(names)}", lambda s: set_size_levels(s, names, counts))
        return refusal.full if refusal else ""


class SizeLevelsEditor(QWidget):
    """One row per level: its regions, its share, what that buys; a lock keeps a share where it is."""

    def __init__(self, session: PlainSession) -> None:
        super().__init__()
        self._session = session
        self._built: tuple[str, ...] = ()
        self.shares: dict[str, ExactField] = {}
        self.locks: dict[str, QCheckBox] = {}
        self._figures: dict[str, tuple[Figure, Figure, Figure]] = {}
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(2 * GRID)
        self._grid.setVerticalSpacing(GRID)
        self.equal = TextButton("Equal shares", name="Give every level the same share, as in the paper")
        self.equal.clicked.connect(self._share_equally)
        column(self._grid, (self.equal, Qt.AlignmentFlag.AlignLeft), of=self)
        self._seen = WhenSeen(self, self._refresh, session.updated)
        self._refresh()

    def reveal(self, level: str) -> None:
        """Put the cursor on the share of a level."""
        if level in self.shares:
            self.shares[level].line.setFocus(Qt.FocusReason.OtherFocusReason)

    def _refresh(self, _shown: object = None) -> None:
        shown = self._session.shown
        method, figures = shown.scenario.group_sizes, shown.figures
        if self._built != method.levels:
            self._build(method)
        known = {level.level: level for level in figures.levels} if figures is not None else {}
        for level, regions in zip(method.levels, method.regions, strict=True):
            self.shares[level].set_value(exact_text(method.level_shares[level]))
            self.shares[level].setEnabled(level not in method.locked_levels)
            with QSignalBlocker(self.locks[level]):
                self.locks[level].setChecked(level in method.locked_levels)
            count, budget, margin = self._figures[level]
            count.setText(f"{regions:,}")
            budget.setText(f"{method.framework.symbol} {significant(method.budget(level))}")
            entry = known.get(level)
            margin.setText(
                "–"
                if entry is None
                else f"±{people(entry.size_margins.by(shown.scenario.conventions.margin))} groups of a size"
            )

    def _build(self, method: GroupSizes) -> None:
        emptied(self._grid)
        self._built, self.shares, self.locks, self._figures = method.levels, {}, {}, {}
        for place, head in enumerate(("Level", "Regions", "Share", "Budget", "Margin before sums hold", "")):
            self._grid.addWidget(Text(head, look="muted"), 0, place)
        for row, level in enumerate(method.levels, start=1):
            change = taking(self._session, field_of(GroupSizes, "level_shares"), _share_setter(level), level)
            self.shares[level] = ExactField(f"Share of {level}", change, width=12 * GRID)
            self.locks[level] = lock = QCheckBox("Lock")
            lock.setAccessibleName(f"Lock the share of {level}")
            lock.toggled.connect(lambda on, level=level: self._lock(level, locked=on))
            self._figures[level] = (Figure(), Figure(), Figure())
            widgets = (
                Text(level, bold=True),
                self._figures[level][0],
                self.shares[level],
                *self._figures[level][1:],
                lock,
            )
            for place, widget in enumerate(widgets):
                self._grid.addWidget(widget, row, place)
        self._grid.setColumnStretch(5, 1)

    def _lock(self, level: str, *, locked: bool) -> None:
        word = "Lock" if locked else "Unlock"
        self._session.report(
            self._session.edit(
                f"{word} the share of {level}", lambda s: set_item(s, "locked_levels", level, value=locked)
            )
        )

    def _share_equally(self) -> None:
        self._session.report(self._session.edit("Give every level the same share", share_equally))


def _share_setter(level: str) -> Callable[[Scenario, Fraction], Scenario]:
    return lambda scenario, share: set_size_share(scenario, level, share)


class GroupSizesPage(Page):
    """All parameters of group sizes."""

    def __init__(self, session: PlainSession) -> None:
        def method() -> GroupSizes:
            return session.scenario.group_sizes

        def reach() -> str:
            return reach_sentence(method().mechanism.is_cumulative, method().largest_quantity)

        def erratum() -> str:
            figures = session.shown.figures
            cost = figures.published_chain_total if figures is not None else None
            if cost is None:
                return ""
            return (
                f"With the noise as the paper prints it this release would cost {method().framework.symbol} = "
                f"{exact_text(cost)} instead of {exact_text(method().total)}; such a run is refused."
            )

        self.budget = ParameterForm(
            session,
            "framework",
            "total",
            words={"framework": framework_title},
            notes=(Note(lambda: _NOISE[method().framework], "framework"),),
        )
        self.mechanism = ParameterForm(
            session,
            "mechanism",
            words={"mechanism": SIZE_MECHANISMS.__getitem__},
            notes=(
                Note(lambda: SIZE_EXPLANATIONS[method().mechanism], look=""),
                Note(reach, label="Measured"),
                Note(erratum, look="attention"),
            ),
        )
        self.levels, self.data = SizeLevelsEditor(session), SizeDataEditor(session)
        super().__init__(
            "Parameters of group sizes",
            [
                Section("Privacy", "What the whole release costs.", self.budget),
                Section("What that means", "", PromiseText(session)),
                Section(
                    "Levels",
                    "Regions of one level hold different groups, so a level costs its share once however many regions it has; the "
                    "levels add up. A share is a part of 1; the unlocked others give or take the rest.",
                    self.levels,
                ),
                Section("Mechanism", "What is measured, and how the numbers become consistent.", self.mechanism),
                Section("Sizes and data", "", self.data),
            ],
        )
