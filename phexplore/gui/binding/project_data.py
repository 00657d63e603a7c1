"""The data a project was looked at with, in one place for all pages: the file of its blocks and that of their shapes.

The paths are kept for this user on this computer, by the project's own path, and not in the project file: that is signed and
handed on, must not tell the folders of whoever worked with it, and a path in a file of somebody else must not be opened unasked.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

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
        self._paths = self._kept()
        session.saved.connect(self._follow)

    @property
    def blocks(self) -> Path | None:
        """The file of blocks, None when none was chosen or it is not there any more."""
        return self._present("blocks")

    @property
    def shapes(self) -> Path | None:
        """The file of the map's shapes, None when none was chosen or it is not there any more."""
        return self._present("shapes")

    def use_blocks(self, path: Path) -> None:
        """Use these blocks from now on."""
        self._use("blocks", path)

    def use_shapes(self, path: Path) -> None:
        """Use these shapes from now on."""
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
            self._keep()
            return
        self._project = project
        self._paths = self._kept()
        self.left.emit()
        self.changed.emit()

    def _kept(self) -> dict[str, str]:
        return {} if self._project.path is None else self._settings.data_of(self._project.path)

    def _keep(self) -> None:
        if self._project.path is not None and self._paths:
            self._settings.keep_data(self._project.path, self._paths)
