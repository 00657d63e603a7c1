"""New, open, save, import, recover: the project and its file, with a question before edits are lost."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, Signal
from PySide6.QtWidgets import QWidget

from phexplore.catalog.names import words
from phexplore.catalog.presets import Preset
from phexplore.decide.parameter_words import parameter_words
from phexplore.document.project import FileChangedError, Project
from phexplore.document.safekeeping import PREVIOUS_SUFFIX
from phexplore.errors import PhexploreError
from phexplore.figures.wording import capital, counted
from phexplore.files.project_salvage import salvage_project
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.settings import FOLDER, Settings
from phexplore.gui.dialogs.messages import ask, ask_to_save, show_failure, show_problems
from phexplore.gui.main.importing import PROJECT_SUFFIX, is_published, read_parameters
from phexplore.gui.theme.number_style import localised
from phexplore.gui.widgets.file_dialogs import SaveDialog, ask_to_open, fit_for_file
from phexplore.model.diff import changed_values, diff, parameters_only
from phexplore.model.issues import InputProblemsError
from phexplore.model.workbook import Workbook, add_scenario
from phexplore.systems.registry import preset, system_of

DEMONSTRATION = "sdhc-2020-us"
"""Preset of the project that is opened when no file is named."""
_PROJECTS = f"Projects (*{PROJECT_SUFFIX})"
_OPENABLE = f"Projects, parameters and data (*{PROJECT_SUFFIX} *.json *.ini *.csv *.xlsx *.zip *.gz *.txt *.gpkg *.shp *.yaml);;All files (*)"
_WEEK_SECONDS = 7 * 24 * 3600
_PARAMETERS = "Parameters (*.json *.ini *.csv *.xlsx *.zip);;All files (*)"

Then = Callable[[], object]


def scratch_folder() -> Path:
    """Return the folder of the journals of projects that were never saved, made if it is not there."""
    folder = Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppDataLocation)) / "unsaved"
    # Where it cannot be made, what is written there says so, and the user is told that edits are in the window only.
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def refuge(home: Path) -> Path:
    """Return where edits of a project file are kept while they cannot be kept beside it."""
    return scratch_folder() / f"kept-{hashlib.sha256(str(home.absolute()).encode()).hexdigest()[:16]}{PROJECT_SUFFIX}"


def scratch_file() -> Path:
    """Return a name for an unsaved project of this process."""
    folder = scratch_folder()
    number = 1
    while any(folder.glob(f"{os.getpid()}-{number}{PROJECT_SUFFIX}*")):  # the project, its journal, its runs
        number += 1
    return folder / f"{os.getpid()}-{number}{PROJECT_SUFFIX}"


def project_of(chosen: Preset) -> Project:
    """Return an unsaved project with a copy of a preset, compared with it."""
    own = chosen.scenario.name.replace("#", "-")
    origin = own if chosen.is_own else words()["presets"].get(chosen.id, own)
    scenario = replace(chosen.scenario, name=f"Proposal from {origin}")
    return Project.new(
        Workbook((scenario,), scenario.name, chosen.id),
        f"New from {chosen.title}",
        scratch=scratch_file(),
        refuge=refuge,
    )


@dataclass(frozen=True, slots=True)
class Opening:
    """What the window starts with.

    Attributes:
        project: to show.
        note: what there is to say about it, "" for nothing.
    """

    project: Project
    note: str


def first_project(path: Path | None) -> Opening:
    """Return the project to start with and what there is to say about it.

    A named file is opened. Without one, an unsaved project that a crash left behind is brought back, else a
    demonstration is made.

    Raises:
        PhexploreError: the named file cannot be opened.
    """
    if path is not None:
        if path.suffix == PROJECT_SUFFIX:
            project = Project.open(path, refuge=refuge)
            return Opening(project, opened_sentence(project))
        project = project_of(preset(DEMONSTRATION))
        scenario, issues = read_parameters(path, project.scenario)
        project.commit(f"Import {path.name}", add_scenario(project.workbook, scenario))
        note = " ".join(f"{issue.sentence} {issue.remedy}" for issue in issues)
        return Opening(project, note)
    for scratch in sorted(scratch_folder().glob(f"*{PROJECT_SUFFIX}"), key=_age):
        if (left := _rescued(scratch)) is not None:
            return Opening(left, opened_sentence(left))
    return Opening(project_of(preset(DEMONSTRATION)), "")


def opened_sentence(project: Project) -> str:
    """Return what the user should know about a project just opened, "" for nothing."""
    words = [f"{issue.sentence} {issue.remedy}" for issue in project.issues]
    if project.recovered:
        was = "was" if project.recovered == 1 else "were"
        words.insert(0, f"{counted(project.recovered, 'unsaved edit')} {was} recovered.")
    elif project.path is None and (runs := unsaved_runs(project)):
        count = "A run" if runs == 1 else f"{runs} runs"
        words.insert(
            0,
            f"{count} of a project that was not saved when the program ended came back. Save the project to keep what came back.",
        )
    return " ".join(words)


def unsaved_runs(project: Project) -> int:
    """Return how many runs with finished trials go when a project goes that has no file."""
    if project.path is not None or project.scratch is None or not any(project.scratch.parent.glob("*runs")):
        return 0
    from phexplore.runs.belonging import runs_folder, runs_with_trials  # the window is on screen before that

    return runs_with_trials(runs_folder(project.scratch))


def _age(path: Path) -> float:
    return -path.stat().st_mtime


def _rescued(scratch: Path) -> Project | None:
    try:
        project = Project.rescue(scratch, refuge=refuge)
    except PhexploreError:
        return None  # in use by another window, or not readable: it stays for the user to look at
    if project.recovered or project.lost or unsaved_runs(project):
        return project
    project.close()
    return None


def left_behind_runs(path: Path) -> tuple[Path, ...]:
    """Return the runs of a project file that did not come along when it was first saved: the program was ended before."""
    from phexplore.runs.belonging import promised_runs

    return promised_runs(scratch_folder(), path)


def _promise_runs(project: Project, path: Path) -> None:
    """Write down whose runs those of an unsaved project are about to be, before the file is there."""
    from phexplore.runs.belonging import promise_runs, runs_folder

    if project.path is None and project.scratch is not None:
        promise_runs(runs_folder(project.scratch), path)


def left_unsaved(recent: Sequence[Path], opened: Path | None = None) -> tuple[str, Path] | None:
    """Return what a program that ended unexpectedly left, as a question: a project with unsaved edits, else the one used last.

    Args:
        recent: files that were used lately, the newest first.
        opened: the file that is open now; one of the same name is told apart by its folder.
    """
    left = {path: Project.interrupted_edits(path, refuge=refuge) for path in recent}
    path = next((path for path in recent if left[path]), recent[0] if recent else None)
    if path is None or (edits := left[path]) is None:
        return None
    unsaved = f" with {counted(edits, 'unsaved edit')}" if edits else ""
    is_alike = any(each is not None and each != path and each.name == path.name for each in (*recent, opened))
    named = f"{path.name} of {path.parent}" if is_alike else path.name
    return f"phexplore ended unexpectedly. Reopen {named}{unsaved}?", path


def abandoned_runs_sentence() -> str:
    """Return where finished runs lie whose projects are gone, "" for nowhere; folders in which nothing finished are removed."""
    if not any(scratch_folder().glob("*runs")):
        return ""
    from phexplore.runs.belonging import abandoned_runs  # the window is on screen before that

    folders = abandoned_runs(scratch_folder(), time.time() - _WEEK_SECONDS)
    if not folders:
        return ""
    named = " and ".join(map(str, folders[:3])) + (" and others" if len(folders) > 3 else "")
    return (
        f"Finished runs of projects that are gone lie in {named}. Look at them with phexplore report, or remove them."
    )


class ProjectFiles(QObject):
    """What the File menu does to projects.

    Signals:
        noted: a sentence worth a notice.
        saved: the path that the project was written to.
        changed: a file was opened or saved; recent files may be different.
        started: a new project was made from a preset.
        published: paths of files with data, not parameters.
        folder_given: a folder, which is the data of a run.
    """

    noted = Signal(object)
    saved = Signal(object)
    changed = Signal()
    started = Signal()
    published = Signal(object)
    folder_given = Signal(object)

    def __init__(
        self, session: Session, settings: Settings, window: QWidget, *, is_running: Callable[[], bool] = lambda: False
    ) -> None:
        """Look after the file of the open project.

        Args:
            session: the project.
            settings: remembers files and folders.
            window: owner of the questions.
            is_running: whether a run of the project is at work.
        """
        super().__init__(window)
        self._session, self._settings, self._window = session, settings, window
        self._is_running = is_running
        self.dialog: QWidget | None = None

    @property
    def title(self) -> str:
        """Name of the project's file, or that it has none."""
        path = self._session.project.path
        return path.name if path is not None else "Unsaved project"

    def new(self, chosen: Preset) -> None:
        """Start a project from a preset."""

        def start() -> None:
            self._install(project_of(chosen))
            self.started.emit()
            self._session.tell_trouble()

        self.when_saved(start)

    def choose_to_open(self) -> None:
        """Let the user choose a file."""
        self.dialog = ask_to_open(self._window, "Open", self.open, kinds=_OPENABLE, folder=self.folder())

    def choose_to_import(self) -> None:
        """Let the user choose a parameter file for a new scenario."""
        take, folder = self.import_parameters, self.folder()
        self.dialog = ask_to_open(self._window, "Import parameters", take, kinds=_PARAMETERS, folder=folder)

    def open(self, path: Path) -> None:
        """Open a project, say what published files hold, or import a parameter file into this project."""
        try:
            published = is_published(path)
        except PhexploreError as error:
            self._say_failure(f"{path.name} cannot be read", error)
            return
        if published:
            self.published.emit([path])
        elif path.is_dir():
            self.folder_given.emit(path)
        elif path.suffix.lower() != PROJECT_SUFFIX:
            self.import_parameters(path)
        else:
            self.when_saved(lambda: self._open(path))

    def import_parameters(self, path: Path) -> None:
        """Add a scenario with the parameters of a file, after a preview of how they differ from the scenario being edited."""
        session = self._session
        try:
            scenario, issues = read_parameters(path, session.scenario)
        except PhexploreError as error:
            self._say_failure(f"{path.name} cannot be read", error)
            return
        self._settings.keep(FOLDER, str(path.parent))

        def add() -> None:
            step = session.edit_workbook(f"Import {path.name}", lambda book: add_scenario(book, scenario))
            if session.report(step):
                notes = " ".join(f"{issue.sentence} {issue.remedy}" for issue in issues)
                self.noted.emit(f"{path.name} is now the scenario {session.scenario.name!r}. {notes}".strip())

        active, system = session.scenario, system_of(scenario)
        changes = parameters_only(diff(active, scenario)) if system_of(active) is system else ()
        if not changes:
            add()
            return
        named = ((capital(parameter_words(system, each.path)), *changed_values(each)) for each in changes)
        lines = [f"{name}: {before} → {after}" for name, before, after in named]
        differ = "1 parameter differs" if len(lines) == 1 else f"{len(lines)} parameters differ"
        self.dialog = ask(
            self._window,
            f"Import {path.name}?",
            f"{differ} from {active.name!r}, which is not changed. The import adds the scenario {scenario.name!r}.",
            action="Import",
            run=add,
            details=localised("\n".join(lines)),
        )

    def save(self, then: Then | None = None) -> None:
        """Save, asking for a name when there is none; then go on."""
        path = self._session.project.path
        if path is None:
            self.choose_to_save(then)
        else:
            self.save_to(path, then)

    def choose_to_save(self, then: Then | None = None) -> None:
        """Let the user choose a name, save, then go on."""
        dialog = SaveDialog(self._window, "Save as", str(self.folder()), _PROJECTS)
        dialog.setDefaultSuffix(PROJECT_SUFFIX[1:])
        path, name = self._session.project.path, fit_for_file(self._session.scenario.name)
        dialog.selectFile(f"{name}{PROJECT_SUFFIX}" if path is None else path.name)
        dialog.fileSelected.connect(lambda name: self.save_to(Path(name), then))
        self.dialog = dialog
        dialog.open()

    def save_to(self, path: Path, then: Then | None = None, *, overwrite: bool = False) -> None:
        """Save to a file, then go on."""
        project = self._session.project
        try:
            _promise_runs(project, path)
            project.save(path, overwrite_foreign=overwrite)
        except FileChangedError as error:
            self.dialog = ask(
                self._window,
                "The file was changed",
                error.full,
                action="Overwrite",
                run=lambda: self.save_to(path, then, overwrite=True),
                instead=("Save as…", lambda: self.choose_to_save(then)),
            )
            return
        except PhexploreError as error:
            self._say_failure(
                f"{path.name} was not saved", error, offers=[("Save as…", lambda: self.choose_to_save(then))]
            )
            return
        self._settings.remember_file(path)
        self._session.mark_saved()
        self.saved.emit(path)
        self.changed.emit()
        if then is not None:
            then()

    def when_saved(self, then: Then) -> None:
        """Go on at once if nothing would be lost, else after the user's choice."""
        if not self.ask_if_needed(then):
            then()

    def ask_if_needed(self, then: Then) -> bool:
        """Ask before work is stopped or lost, then go on; return whether there was something to ask."""
        if not self._is_running():
            return self._ask_to_save(then)
        self.dialog = ask(
            self._window,
            "Stop the run?",
            "A run of this project is at work and ends with it, after the current trial. Finished trials are kept and it can be "
            "resumed.",
            action="Stop the run",
            run=lambda: self._ask_to_save(then) or then(),
        )
        return True

    def _ask_to_save(self, then: Then) -> bool:
        """Ask before unsaved edits or the runs of an unsaved project are lost, then go on; return whether it was asked."""
        project = self._session.project
        runs = unsaved_runs(project)
        untouched = project.path is None and project.cursor == 0 and not runs
        if project.is_clean or untouched:
            return False
        self.dialog = ask_to_save(self._window, self.title, save=lambda: self.save(then), discard=then, runs=runs)
        return True

    def _open(self, path: Path) -> None:
        present = self._session.project
        if path == present.path:
            present.close()
        ways_out = partial(self._ways_out, path)
        shown = self._show(path, partial(Project.open, path, refuge=refuge), "opened", opened_sentence, ways_out)
        if not shown and path == present.path:
            present.reopen_journal()

    def _show(
        self,
        path: Path,
        read: Callable[[], Project],
        deed: str,
        note: Callable[[Project], str],
        ways_out: Callable[[PhexploreError], Sequence[tuple[str, Then]]] = lambda _error: (),
    ) -> bool:
        """Show a project in the place of the present one; where it cannot be, say why and return False."""
        try:
            project = read()
        except PhexploreError as error:
            self._say_failure(f"{path.name} cannot be {deed}", error, offers=ways_out(error))
            return False
        try:
            self._install(project)
        except PhexploreError as error:
            project.close()
            self._say_failure(f"{path.name} cannot be shown", error)
            return False
        if project.path is not None:
            self._settings.remember_file(path)
        if text := note(project):
            self.noted.emit(text)
        self._session.tell_trouble()
        self.changed.emit()
        return True

    def _ways_out(self, path: Path, error: PhexploreError) -> list[tuple[str, Then]]:
        """Return what can be done about a project file that is damaged: nothing that changes the file."""
        if not isinstance(error, InputProblemsError) or not path.is_file():
            return []
        previous = path.with_name(path.name + PREVIOUS_SUFFIX)
        offers: list[tuple[str, Then]] = []
        for text, source in (("Open what can be read", path), ("Open the version before", previous)):
            with suppress(PhexploreError):
                content = salvage_project(source)
                if source is path or not content.issues:
                    offers.append((text, partial(self._salvage, source)))
        return offers

    def _salvage(self, path: Path) -> None:
        """Show what can be read of a damaged file as a new project."""
        read = partial(Project.salvage, path, scratch=scratch_file(), refuge=refuge)
        about = f"{path.name} was opened as a new project."
        self._show(path, read, "read", lambda project: f"{about} {opened_sentence(project)}".strip())

    def _install(self, project: Project) -> None:
        before = self._session.project
        self._session.install(project)
        before.close()

    def _say_failure(self, title: str, error: PhexploreError, offers: Sequence[tuple[str, Then]] = ()) -> None:
        if isinstance(error, InputProblemsError) and len(error.issues) > 1:
            self.dialog = show_problems(self._window, title, error.issues, offers=offers)
        else:
            self.dialog = show_failure(self._window, title, error.full, offers=offers)

    def folder(self) -> Path:
        """Return where files of the project are likely to be."""
        path = self._session.project.path
        return path.parent if path is not None else Path(self._settings.read(FOLDER))
