"""A new project from a preset: title, source and headline of each."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QHBoxLayout, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from phexplore.catalog.presets import Preset
from phexplore.gui.binding.shown import shown_presets
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.labels import Text


class PresetDialog(QDialog):
    """Lists the presets; says where each comes from before it is chosen."""

    def __init__(self, parent: QWidget | None, choose: Callable[[Preset], object]) -> None:
        super().__init__(parent)
        self._choose = choose
        self.setWindowTitle("New from preset")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumSize(64 * GRID, 40 * GRID)
        self.list = QListWidget()
        self.list.setAccessibleName("Presets")
        for preset in shown_presets():
            item = QListWidgetItem(preset.title)
            item.setData(Qt.ItemDataRole.UserRole, preset)
            item.setToolTip(preset.id)
            self.list.addItem(item)
        self.list.currentItemChanged.connect(self._describe)
        self.list.itemActivated.connect(self._take)
        self._about = Text(look="muted", wrap=True)
        cancel, create = TextButton("Cancel"), TextButton("Create", look="primary")
        create.setDefault(True)
        cancel.clicked.connect(self.close)
        create.clicked.connect(self._take)
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID)
        buttons.addStretch(1)
        buttons.addWidget(cancel)
        buttons.addWidget(create)
        column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        column.setSpacing(GRID)
        column.addWidget(Text("Start from published parameters", bold=True, relative=1.25))
        column.addWidget(self.list, 1)
        column.addWidget(self._about)
        column.addLayout(buttons)
        self.list.setCurrentRow(0)

    def _describe(self) -> None:
        item = self.list.currentItem()
        if item is not None:
            preset: Preset = item.data(Qt.ItemDataRole.UserRole)
            self._about.setText(f"{preset.product}. Source: {preset.source}.")

    def _take(self) -> None:
        item = self.list.currentItem()
        if item is not None:
            self.close()
            self._choose(item.data(Qt.ItemDataRole.UserRole))
