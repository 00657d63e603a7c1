"""The parameters of group sizes: budget, its division over the levels, mechanism, sizes and the tail that is drawn."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QWidget

from phexplore.figures.wording import framework_title, people, significant
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.binding.session import refusal_of
from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.editors.plain_parameters import Note, ParameterForm
from phexplore.gui.editors.scenario_form import PromiseText
from phexplore.gui.systems.group_sizes.summary import SIZE_EXPLANATIONS, reach_sentence
from phexplore.gui.tables.model import ParameterModel
from phexplore.gui.tables.parameter_table import (
    Cell,
    CellRow,
    Kind,
    ParameterTable,
    Step,
    cell_column,
    declared_step,
    parse_yes,
    plain_plan,
)
from phexplore.gui.tables.view import ParameterView
from phexplore.gui.widgets.buttons import TextButton, TickBox
from phexplore.gui.widgets.form import WrittenControl
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import column
from phexplore.gui.widgets.page import Page, Section
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.edits import EditRefusedError, set_field, set_item, step_label
from phexplore.model.fields import Field, field_of
from phexplore.model.group_sizes import GroupSizes, HeavyTail
from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.systems.group_sizes.edits import set_size_levels, set_size_share, share_equally

_NOISE = {
    PrivacyFramework.PURE_DP: "The total is ε; noise is double-geometric with scale sensitivity / ε of the level, as in the paper.",
    PrivacyFramework.ZCDP: "The total is ρ; noise is discrete Gaussian, σ² = sensitivity / 2ρ of the level. Not in the paper.",
}
_TAIL = (
    "Published sizes end at 7 or more. Sizes above 6 follow the ratio of consecutive sizes that holds the open class, county by "
    "county; outliers are spread evenly up to the largest size. Data of a run: the county table of household sizes, person records with user, "
    "unit, region and quantity, or sizes as they are; without data the households of 2010 that came with the program."
)


class SizeDataEditor(QWidget):
    """Which sizes and regions, and how an open last class is drawn."""

    def __init__(self, session: PlainSession) -> None:
        super().__init__()
        self._session = session

        def levels_text(levels: tuple[str, ...]) -> str:
            return ", ".join(
                f"{name} {count}" for name, count in zip(levels, session.scenario.group_sizes.regions, strict=True)
            )

        public = "From the widest to the narrowest with their numbers of regions, which are public."
        self.levels = WrittenControl(
            "Levels and their regions", levels_text, lambda typed: refusal_of(session, lambda: _levels_step(typed))
        )
        self.numbers = ParameterForm(
            session,
            *("largest", "largest_quantity", "levels"),
            written={"levels": self.levels},
            notes=(Note(lambda: public, "levels"),),
        )
        self.drawn = TickBox("Draw sizes above an open last class")
        self.drawn.toggled.connect(self._toggle_tail)
        self.tail = ParameterForm(session, take=self._take_tail, part_of=lambda method: method.tail or HeavyTail())
        column(self.numbers, self.drawn, self.tail, Text(_TAIL, look="muted", wrap=True), of=self)
        self._seen = WhenSeen(self, self._refresh, session.updated)
        self._refresh()

    def _refresh(self, _shown: object = None) -> None:
        tail = self._session.scenario.group_sizes.tail
        with QSignalBlocker(self.drawn):
            self.drawn.setChecked(tail is not None)
        self.tail.setVisible(tail is not None)

    def _toggle_tail(self, on: bool) -> None:
        label = "Draw the sizes above the open class" if on else "Take the sizes as they are"
        self._session.report(self._session.edit(label, lambda s: set_field(s, "tail", HeavyTail() if on else None)))

    def _take_tail(self, part: Field, _key: Hashable, value: Any) -> str:
        def change(scenario: Scenario) -> Scenario:
            return set_field(scenario, "tail", replace(scenario.group_sizes.tail or HeavyTail(), **{part.name: value}))

        return refusal_of(self._session, lambda: (step_label(part, value), change))


def _levels_step(typed: str) -> Step:
    matches = [re.fullmatch(r"(.+?)\s+([0-9]{1,15})", part.strip()) for part in typed.split(",") if part.strip()]
    found = [(match[1].strip(), int(match[2])) for match in matches if match is not None]
    if not found or len(found) < len(matches):
        raise EditRefusedError(
            f"{typed.strip()!r} names no levels.", "Write for example: Nation 1, Region 4, County 3107."
        )
    names, counts = zip(*found, strict=True)
    return f"Use the levels {', '.join(names)}", lambda scenario: set_size_levels(scenario, names, counts)


class SizeLevelsEditor(QWidget):
    """One row per level: its regions, its share, what that buys; a lock keeps a share where it is."""

    def __init__(self, session: PlainSession) -> None:
        super().__init__()
        self.table = ParameterModel(session, _level_table, self)
        keys = "One row per level. Type a share, Enter to commit, Escape to restore, Space to lock."
        self.view = ParameterView(session, self.table, "Shares of the levels", keys, is_whole=True)

        def share() -> None:
            session.report(session.edit("Give every level the same share", share_equally))

        name = "Give every level the same share, as in the paper"
        self.equal = TextButton("Equal shares", name=name, run=share)
        column(self.view, (self.equal, Qt.AlignmentFlag.AlignLeft), of=self)

    def reveal(self, level: str) -> None:
        """Put the cursor on the share of a level."""
        self.view.show_place(level)
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)


def _set_share(row: CellRow, typed: str) -> Step:
    part = field_of(GroupSizes, "level_shares")
    return declared_step(part, row.key, typed, lambda scenario, share: set_size_share(scenario, row.key, share))


def _set_lock(row: CellRow, typed: str) -> Step:
    is_locked = parse_yes(typed)
    label = step_label(field_of(GroupSizes, "locked_levels"), is_locked, row.key)
    return label, lambda scenario: set_item(scenario, "locked_levels", row.key, value=is_locked)


_LEVEL_COLUMNS = (
    cell_column("Level", "What regions are grouped into", "Nation", row_names=lambda row: {row.key.lower()}),
    cell_column("Regions", "How many regions the level has", "100,000", Kind.NUMBER),
    cell_column(
        "Share",
        "Part of the budget, a part of 1",
        "1000/3001",
        Kind.NUMBER,
        step=_set_share,
        names=("share",),
        forbidden=lambda row: "" if row.cells["Share"].is_open else "The share is locked. Unlock it first.",
    ),
    cell_column("Budget", "What the share is of the total", "ε 0.333333", Kind.NUMBER),
    cell_column(
        "Margin before sums hold", "Of the number of groups of one size", "±1,000 groups of a size", Kind.NUMBER
    ),
    cell_column("Lock", "A locked share stays", "Lock", Kind.LOCK, step=_set_lock, names=("lock",)),
)


def _level_table(shown: ScenarioView) -> ParameterTable[CellRow]:
    method, convention = shown.scenario.group_sizes, shown.scenario.conventions.margin
    figures = {} if shown.figures is None else {entry.level: entry for entry in shown.figures.levels}

    def row(level: str, regions: int) -> CellRow:
        entry, is_locked = figures.get(level), level in method.locked_levels
        margin = "–" if entry is None else f"±{people(entry.size_margins.by(convention))} groups of a size"
        cells = {
            "Level": Cell(level, is_bold=True),
            "Regions": Cell(f"{regions:,}"),
            "Share": Cell(exact_text(method.level_shares[level]), is_shaded=is_locked, is_open=not is_locked),
            "Budget": Cell(f"{method.framework.symbol} {significant(method.budget(level))}"),
            "Margin before sums hold": Cell(margin),
            "Lock": Cell("", is_checked=is_locked, is_open=True),
        }
        return CellRow(level, level, cells)

    rows = tuple(row(*each) for each in zip(method.levels, method.regions, strict=True))
    return ParameterTable(_LEVEL_COLUMNS, rows, plain_plan, "Level", "Share")


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
