"""The parameters of group sizes: budget, its division over the levels, mechanism, sizes and the tail that is drawn."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QGridLayout, QWidget

from phexplore.figures.wording import framework_title, people, significant
from phexplore.gui.binding.session import Refusal
from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.editors.scenario_form import PromiseText, form_in, taking
from phexplore.gui.systems.group_sizes.wording import SIZE_EXPLANATIONS, reach_sentence
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.exact_field import ExactField
from phexplore.gui.widgets.labels import Figure, Text
from phexplore.gui.widgets.page import Page, Section
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.edits import set_field, set_item
from phexplore.model.fields import field_of
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


class SizeBudgetEditor(QWidget):
    """Definition of privacy and total."""

    def __init__(self, session: PlainSession) -> None:
        super().__init__()
        self._session = session
        self.framework = Chooser("Definition of privacy")
        for framework in PrivacyFramework:
            self.framework.addItem(framework_title(framework), framework)
        self.framework.currentIndexChanged.connect(self._set_framework)
        self._consequence = Text(look="muted", wrap=True)
        self.total = ExactField("Total budget", taking(session, field_of(GroupSizes, "total")), width=17 * GRID)
        form = form_in(self)
        form.addRow("Privacy", self.framework)
        form.addRow("", self._consequence)
        self._label = Text("Total ε")
        form.addRow(self._label, self.total)
        self._seen = WhenSeen(self, self._refresh)
        session.updated.connect(self._seen.request)
        self._refresh()

    def _refresh(self, _shown: object = None) -> None:
        method = self._session.scenario.group_sizes
        self.framework.select(method.framework)
        self._consequence.setText(_NOISE[method.framework])
        self._label.setText(f"Total {method.framework.symbol}")
        self.total.set_value(exact_text(method.total))

    def _set_framework(self) -> None:
        framework = self.framework.currentData()
        self._session.report(
            self._session.edit(f"Use {framework_title(framework)}", lambda s: set_field(s, "framework", framework))
        )


class SizeLevelsEditor(QWidget):
    """One row per level: its regions, its share, what that buys; a lock keeps a share where it is."""

    def __init__(self, session: PlainSession) -> None:
        super().__init__()
        self._session = session
        self._built: tuple[str, ...] = ()
        self.shares: dict[str, ExactField] = {}
        self.locks: dict[str, QCheckBox] = {}
        self._figures: dict[str, tuple[Figure, Figure, Figure]] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(2 * GRID)
        self._grid.setVerticalSpacing(GRID)
        self.equal = TextButton("Equal shares", name="Give every level the same share, as in the paper")
        self.equal.clicked.connect(self._share_equally)
        self._seen = WhenSeen(self, self._refresh)
        session.updated.connect(self._seen.request)
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
            blocked = self.locks[level].blockSignals(True)
            self.locks[level].setChecked(level in method.locked_levels)
            self.locks[level].blockSignals(blocked)
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
        while self._grid.count():
            item = self._grid.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None and widget is not self.equal:
                widget.hide()
                widget.deleteLater()
        self._built, self.shares, self.locks, self._figures = method.levels, {}, {}, {}
        for column, head in enumerate(("Level", "Regions", "Share", "Budget", "Margin before sums hold", "")):
            self._grid.addWidget(Text(head, look="muted"), 0, column)
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
            for column, widget in enumerate(widgets):
                self._grid.addWidget(widget, row, column)
        self._grid.addWidget(self.equal, len(method.levels) + 1, 2)
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


class SizeMechanismEditor(QWidget):
    """Which of the paper's mechanisms, and where its sensitivity comes from."""

    def __init__(self, session: PlainSession) -> None:
        super().__init__()
        self._session = session
        self.mechanism = Chooser("Mechanism")
        for mechanism, title in SIZE_MECHANISMS.items():
            self.mechanism.addItem(title, mechanism)
        self.mechanism.currentIndexChanged.connect(self._choose)
        self._about, self._reach = Text(wrap=True), Text(look="muted", wrap=True)
        self._erratum = Text(look="attention", wrap=True)
        form = form_in(self)
        form.addRow("Mechanism", self.mechanism)
        form.addRow("", self._about)
        form.addRow("Measured", self._reach)
        form.addRow("", self._erratum)
        self._seen = WhenSeen(self, self._refresh)
        session.updated.connect(self._seen.request)
        self._refresh()

    def _refresh(self, _shown: object = None) -> None:
        shown = self._session.shown
        method, figures = shown.scenario.group_sizes, shown.figures
        self.mechanism.select(method.mechanism)
        self._about.setText(SIZE_EXPLANATIONS[method.mechanism])
        self._reach.setText(reach_sentence(method.mechanism.is_cumulative, method.largest_quantity))
        cost = figures.published_chain_total if figures is not None else None
        self._erratum.setText(
            ""
            if cost is None
            else f"With the noise as the paper prints it this release would cost {method.framework.symbol} = {exact_text(cost)} "
            f"instead of {exact_text(method.total)}; such a run is refused."
        )
        self._erratum.setVisible(cost is not None)

    def _choose(self) -> None:
        mechanism = self.mechanism.currentData()
        label = f"Use {SIZE_MECHANISMS[mechanism]}"
        self._session.report(self._session.edit(label, lambda s: set_field(s, "mechanism", mechanism)))


class SizeDataEditor(QWidget):
    """Which sizes and regions, and how an open last class is drawn."""

    def __init__(self, session: PlainSession) -> None:
        super().__init__()
        self._session = session
        self.largest = ExactField("Largest size N", taking(session, field_of(GroupSizes, "largest")))
        self.quantity = ExactField(
            "Most one individual adds", taking(session, field_of(GroupSizes, "largest_quantity"))
        )
        self.levels = ExactField("Levels and their regions", self._take_levels, width=40 * GRID)
        self.levels.line.setAlignment(Qt.AlignmentFlag.AlignLeft)
        self.drawn = QCheckBox("Draw sizes above an open last class")
        self.drawn.setAccessibleName("Draw sizes above an open last class")
        self.drawn.toggled.connect(self._toggle_tail)
        self.tail = {
            name: ExactField(title, self._tail_taker(name))
            for name, title in (
                ("outliers", "Outliers per region of the second level"),
                ("smallest", "Size of the smallest outlier"),
                ("seed", "Seed of the draws"),
            )
        }
        form = form_in(self)
        form.addRow("Largest size N", self.largest)
        form.addRow("Individual adds at most", self.quantity)
        form.addRow("Levels", self.levels)
        form.addRow(
            "",
            Text(
                "From the widest to the narrowest with their numbers of regions, which are public.",
                look="muted",
                wrap=True,
            ),
        )
        form.addRow("Heavy tail", self.drawn)
        for name, label in (("outliers", "Outliers"), ("smallest", "From size"), ("seed", "Seed")):
            form.addRow(label, self.tail[name])
        form.addRow(
            "",
            Text(
                "Published sizes end at 7 or more. Sizes above 6 follow the ratio of consecutive sizes that holds the open class, county by county; outliers are "
                "spread evenly up to N. Data of a run: the county table of household sizes, person records with user, unit, region "
                "and quantity, or sizes as they are; without data the households of 2010 that came with the program.",
                look="muted",
                wrap=True,
            ),
        )
        self._seen = WhenSeen(self, self._refresh)
        session.updated.connect(self._seen.request)
        self._refresh()

    def _refresh(self, _shown: object = None) -> None:
        method = self._session.scenario.group_sizes
        self.largest.set_value(str(method.largest))
        self.quantity.set_value(str(method.largest_quantity))
        self.levels.set_value(
            ", ".join(f"{name} {count}" for name, count in zip(method.levels, method.regions, strict=True))
        )
        blocked = self.drawn.blockSignals(True)
        self.drawn.setChecked(method.tail is not None)
        self.drawn.blockSignals(blocked)
        for name, field in self.tail.items():
            field.setEnabled(method.tail is not None)
            field.set_value("" if method.tail is None else str(getattr(method.tail, name)))

    def _toggle_tail(self, on: bool) -> None:
        label = "Draw the sizes above the open class" if on else "Take the sizes as they are"
        self._session.report(self._session.edit(label, lambda s: set_field(s, "tail", HeavyTail() if on else None)))

    def _tail_taker(self, name: str) -> Callable[[str], str]:
        def change(scenario: Scenario, value: int) -> Scenario:
            tail = scenario.group_sizes.tail or HeavyTail()
            return set_field(scenario, "tail", replace(tail, **{name: value}))

        return taking(self._session, field_of(HeavyTail, name), change)

    def _take_levels(self, typed: str) -> str:
        found = [re.fullmatch(r"(.+?)\s+([0-9]{1,15})", part.strip()) for part in typed.split(",") if part.strip()]
        if not found or any(match is None for match in found):
            return Refusal(
                typed, f"{typed.strip()!r} names no levels.", "Write for example: Nation 1, State 51, County 3107."
            ).full
        names = tuple(match[1].strip() for match in found if match is not None)
        counts = tuple(int(match[2]) for match in found if match is not None)
        refusal = self._session.edit(f"Use the levels {', '.join(names)}", lambda s: set_size_levels(s, names, counts))
        return refusal.full if refusal else ""


class GroupSizesPage(Page):
    """All parameters of group sizes."""

    def __init__(self, session: PlainSession) -> None:
        self.budget, self.levels = SizeBudgetEditor(session), SizeLevelsEditor(session)
        self.mechanism, self.data = SizeMechanismEditor(session), SizeDataEditor(session)
        self.promises = PromiseText(session)
        super().__init__(
            "Parameters of group sizes",
            [
                Section("Privacy", "What the whole release costs.", self.budget),
                Section("What that means", "", self.promises),
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
