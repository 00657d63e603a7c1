"""The data a project was looked at with, in one place for all pages: the file of its blocks and that of their shapes.

The paths are kept for this user on this computer, by the project's own path, and not in the project file: that is signed and
handed on, must not tell the folders of whoever worked with it, and a path in a file of somebody else must not be opened unasked.
Shapes are copied beside the project file as well, so that they are there on another computer.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from phexplore.document.kept_shapes import keep_shapes, kept_shapes
from phexplore.document.project import Project
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.settings import Settings


class ProjectData(QObject):
    """Knows the data of the open project.

    Signals:
        changed: other files are used.
        left: another project was opened; `changed` follows.
    """

    changed = Signal()
    left = Signal()

    def __init__(self, session: Session, settings: Settings, parent: QObject) -> None:
        """Follow a project.

        Args:
            session: whose project it is.
            settings: keeps the paths.
            parent: owner.
        """
        super().__init__(parent)
        self._settings, self._project = settings, session.project
        self._home = self._project.path
        self._paths = self._kept()
        session.saved.connect(self._follow)

    @property
    def blocks(self) -> Path | None:
        """The file of blocks, None when none was chosen or it is not there any more."""
        return self._present("blocks")

    @property
    def shapes(self) -> Path | None:
        """The file of the map's shapes: the copy beside the project, else the file that was chosen; None for none."""
        kept = None if self._project.path is None else kept_shapes(self._project.path)
        return kept or self._present("shapes")

    def use_blocks(self, path: Path) -> None:
        """Use these blocks from now on."""
        self._use("blocks", path)

    def use_shapes(self, path: Path) -> None:
        """Use these shapes from now on."""
        if path != self.shapes:
            self._use("shapes", path)

    def _use(self, name: str, path: Path) -> None:
        if self._paths.get(name) != str(path):
            self._paths[name] = str(path)
            self._keep()
            self.changed.emit()

    def _present(self, name: str) -> Path | None:
        path = Path(self._paths.get(name, ""))
        return path if path.is_file() else None

    def _follow(self, project: Project) -> None:
        """Take the data of another project; those of one that was given a file are kept under it."""
        if project is self._project:
            before, self._home = self._home, project.path
            if before != project.path and before is not None and project.path is not None:
                self._copy(kept_shapes(before))
            self._keep()
            return
        self._project, self._home = project, project.path
        self._paths = self._kept()
        self.left.emit()
        self.changed.emit()

    def _kept(self) -> dict[str, str]:
        return {} if self._project.path is None else self._settings.data_of(self._project.path)

    def _keep(self) -> None:
        if self._project.path is not None and self._paths:
            self._settings.keep_data(self._project.path, self._paths)
            self._copy(self._present("shapes"))

    def _copy(self, shapes: Path | None) -> None:
        if shapes is not None and self._project.path is not None:
            keep_shapes(self._project.path, shapes)
