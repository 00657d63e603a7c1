"""A new project from a preset: every product with its presets, title, source and misprints of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QKeyEvent
from PySide6.QtWidgets import QDialog, QListWidget, QListWidgetItem, QWidget

from phexplore.catalog.names import Naming, chosen_naming, words
from phexplore.catalog.presets import Preset
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import column, row
from phexplore.gui.widgets.list_field import ListField
from phexplore.gui.widgets.pointers import PAGE
from phexplore.library import KINDS, left_out, library_folder, reread
from phexplore.systems.own_library import read_library
from phexplore.systems.protocol import System
from phexplore.systems.registry import presets, system_of

_CHOSEN = {
    "schemas": "above, under TopDown",
    "spines": "chosen on the page Spine",
    "tables": "added on Levels and thresholds, chosen as counts of exact sums, or filled in by runs",
    "rules": "added on Targets, Decision rules",
}


class PresetDialog(QDialog):
    """Lists the presets by product, found by any of their words; says where each comes from before it is chosen."""

    def __init__(self, parent: QWidget | None, choose: Callable[[Preset], object]) -> None:
        super().__init__(parent)
        self._choose = choose
        self.setWindowTitle("New from preset")
        self.setProperty(PAGE, "docs/library.md")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumSize(72 * GRID, 56 * GRID)
        self.list = QListWidget()
        self.search = ListField("Search the presets", "Search, for example housing 2021", self.list)
        self.list.setAccessibleName("Presets")
        self.list.ensurePolished()  # rows are measured when they come, with the paddings of the style sheet
        self._lines: list[QListWidgetItem] = []
        system = None
        reread()
        for preset in presets().values():
            if (own := system_of(preset.scenario)) is not system:
                system = own
                self._lines.append(_heading(own))
            item = QListWidgetItem(f"    {preset.title}")
            item.setData(Qt.ItemDataRole.UserRole, preset)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{own.title}: {preset.title}")
            item.setToolTip("" if chosen_naming() is Naming.NAMES else preset.id)
            self._lines.append(item)
        self._show(self._lines)
        self.list.currentItemChanged.connect(self._describe)
        self.list.itemActivated.connect(self._take)
        self.search.textChanged.connect(self._find)
        self.list.installEventFilter(self)
        self._about = Text(look="muted", wrap=True)
        beside = Text("\n".join(_own_lines()), look="muted", wrap=True)
        beside.setVisible(bool(beside.text()))
        folder = TextButton("Your library…", name="Open the folder of your own presets", run=open_library)
        cancel, create = TextButton("Cancel"), TextButton("Create", look="primary")
        create.setDefault(True)
        self._create = create
        cancel.clicked.connect(self.close)
        create.clicked.connect(self._take)
        title = Text("Start from published parameters", bold=True, relative=1.25, wrap=True)
        margins = (MARGIN, MARGIN, MARGIN, MARGIN)
        column(
            title,
            self.search,
            (self.list, 1),
            self._about,
            beside,
            row(folder, 1, cancel, create),
            of=self,
            margins=margins,
        )
        self.list.setCurrentRow(1)
        self.search.setFocus()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Let words typed over the list search."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            typed = event.text() if event.text().isprintable() else ""
            if typed and (typed != " " or self.search.text()):
                self.search.setFocus()
                return self.search.event(event)
        return False

    def _find(self, typed: str) -> None:
        wanted = typed.lower().split()
        heading, before, found = self._lines[0], self.list.currentItem(), []
        for item in self._lines:
            preset = item.data(Qt.ItemDataRole.UserRole)
            if preset is None:
                heading = item
                continue
            called = words()["presets"].get(preset.id, "")
            known = f"{heading.text()} {preset.title} {called} {preset.product} {preset.id}".lower()
            if all(word in known for word in wanted):
                found += [item] if heading in found else [heading, item]
        self._show(found)
        self._create.setEnabled(bool(found))
        if before in found:
            self.list.setCurrentItem(before)
        elif found:
            self.list.setCurrentRow(1)
        else:
            self._about.setText("No preset has these words. Try fewer or other words.")

    def _show(self, lines: Iterable[QListWidgetItem]) -> None:
        """Fill the list. Nothing in it is hidden: a screen reader would hear the name of another row."""
        with QSignalBlocker(self.list):
            while self.list.count():
                self.list.takeItem(0)
            for line in lines:
                self.list.addItem(line)
            self.list.setCurrentRow(-1)

    def _describe(self) -> None:
        preset = self._chosen()
        if preset is not None:
            printed = f" {preset.errata[0]}" if preset.errata else ""
            about = system_of(preset.scenario).summary
            source = f"\n{preset.product}. Source: {preset.source}.{printed}" if appearance().is_expert else ""
            self._about.setText(f"{about}{source}")
            # More words leave the list less room: the chosen row stays in sight.
            QTimer.singleShot(0, self.list, lambda: self.list.scrollToItem(self.list.currentItem()))

    def _chosen(self) -> Preset | None:
        item = self.list.currentItem()
        found = item.data(Qt.ItemDataRole.UserRole) if item is not None else None
        return found if isinstance(found, Preset) else None

    def _take(self) -> None:
        preset = self._chosen()
        if preset is not None:
            self.close()
            self._choose(preset)


def _own_lines() -> Iterator[str]:
    """Yield what the user's library has beside presets and where it is chosen, and what of it was left out."""
    library = read_library()
    for kind, place in _CHOSEN.items():
        if names := sorted(file.name for file in library.files if file.kind == kind):
            yield f"{kind.capitalize()} of your library: {', '.join(names)} ({place})"
    yield from (f"Left out: {said}" for said in left_out())


def open_library() -> None:
    """Show the folder of the user's library, with a folder for each kind of file in it."""
    folder = library_folder()
    for kind in KINDS:
        (folder / kind).mkdir(parents=True, exist_ok=True)
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


def _heading(system: System) -> QListWidgetItem:
    """Return the line above the presets of a system, which cannot be chosen."""
    item = QListWidgetItem(system.title)
    item.setFlags(Qt.ItemFlag.NoItemFlags)
    item.setFont(appearance().font(bold=True))
    return item
