"""What the window writes: nothing replaces a file of somebody's without asking, and every place that writes is listed here."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMessageBox

import phexplore.gui
from phexplore.cli.app import run
from phexplore.errors import PhexploreError
from phexplore.files.output_folder import MARK_FILE
from phexplore.gui.main.exporting import Exports, export_formats
from phexplore.gui.run_manager.report_process import FORMATS, ReportProcess
from phexplore.gui.widgets.file_dialogs import SaveDialog, ask_to_save
from phexplore.systems.registry import preset

HOME = Path(phexplore.gui.__file__).parent

ASKING = {
    "decision/bundle_page.py": 3,  # a bundle, its certificate, a signed bundle: each is one file
    "decision/dialogs.py": 1,  # a key, which is never replaced: tests/decide/test_signing.py
    "figures/view.py": 1,  # a chart, its slide, its numbers
    "main/export_controls.py": 1,  # a scenario; of several files, see below
    "main/project_files.py": 1,  # a project
    "main/python_log.py": 1,  # a notebook
    "run_manager/launch_controls.py": 1,  # data to read
    "run_manager/report_process.py": 2,  # one file, or a folder that `phexplore report` guards
    "systems/phsafe/published_view.py": 1,  # a folder
    "targets/question_view.py": 1,  # targets, rules
}
"""How often each module asks for a file or a folder to write."""

WRITING = {
    "main/crash_reports.py": {"mkdir", "open to write"},  # the program's own folder
    "main/project_files.py": {"mkdir"},  # the same
    "main/runs_area.py": {"rmtree"},  # runs of a project that was never saved, in the program's own folder
    "run_manager/run_homes.py": {"rmtree"},  # the same
    "binding/settings.py": {"write_atomically"},  # the same
    "dialogs/preset_dialog.py": {"mkdir"},  # empty folders of the user's library
    "experiments/page.py": {"mkdir", "write_atomically"},  # the program's own folder, by the experiment's id
    "systems/topdown/tune_view.py": {"mkdir", "write_atomically"},  # the same, by fingerprint; only where nothing is
    "figures/view.py": {"write_atomically"},  # asked for, as above
    "main/python_log.py": {"write_atomically"},  # the same
    "targets/question_view.py": {"write_atomically"},  # the same
    "systems/phsafe/published_view.py": {"copytree"},  # the same
}
_WRITES = {
    "write_atomically",
    "write_text",
    "write_bytes",
    "mkdir",
    "copytree",
    "copyfile",
    "copy2",
    "rmtree",
    "open to write",
}


def _called():
    """Yield every module of the window with the names it calls, and the names it imports from the dialogs of files."""
    for path in sorted(HOME.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        nodes = list(ast.walk(tree))
        asks = {
            name.asname or name.name
            for node in nodes
            if isinstance(node, ast.ImportFrom) and (node.module or "").endswith("file_dialogs")
            for name in node.names
            if name.name in {"ask_to_save", "ask_for_folder", "SaveDialog"}
        }
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        names = [getattr(call.func, "id", "") or getattr(call.func, "attr", "") for call in calls]
        opened = [
            "open to write"
            for call in calls
            if "open" in {getattr(call.func, "id", ""), getattr(call.func, "attr", "")}
            and any(isinstance(given, ast.Constant) and given.value in {"w", "wb", "a", "x"} for given in call.args)
        ]
        yield path.relative_to(HOME).as_posix(), [*names, *opened], asks


def test_that_every_place_that_writes_is_listed() -> None:
    asking, writing = Counter(), {}
    for place, names, asks in _called():
        if place == "widgets/file_dialogs.py":
            continue
        asking[place] += sum(name in asks for name in names)
        writing[place] = {name for name in names if name in _WRITES}
    assert {place: count for place, count in asking.items() if count} == ASKING
    assert {place: names for place, names in writing.items() if names} == WRITING


def _answer(button, seen):
    box = next((each for each in QApplication.topLevelWidgets() if isinstance(each, QMessageBox)), None)
    if box is None:
        QTimer.singleShot(10, lambda: _answer(button, seen))
        return
    seen.append(box.text())
    box.button(button).click()


@pytest.mark.parametrize("typed", ["mine.json", "mine"])
@pytest.mark.parametrize(
    ("button", "is_taken"), [(QMessageBox.StandardButton.No, False), (QMessageBox.StandardButton.Yes, True)]
)
def test_that_a_file_is_replaced_only_after_a_question(qtbot, window, tmp_path, typed, button, is_taken) -> None:
    (tmp_path / "mine.json").write_text("mine")
    taken, seen = [], []
    ask_to_save(window, "Save targets", taken.append, proposed=tmp_path / "targets.json")
    dialog = window.findChild(SaveDialog)
    dialog.setOption(SaveDialog.Option.DontUseNativeDialog)
    dialog.selectFile(str(tmp_path / typed))
    QTimer.singleShot(10, lambda: _answer(button, seen))
    dialog.accept()
    assert len(seen) == 1
    assert "mine.json" in seen[0]
    assert taken == ([tmp_path / "mine.json"] if is_taken else [])
    dialog.close()


def test_that_files_beside_an_export_of_several_are_not_replaced(qtbot, window, tmp_path) -> None:
    form = next(form for form in export_formats() if form.id == "das-ini")
    (tmp_path / "das_strategy.csv").write_text("mine")
    _use(window, "pl94-2020-persons-us")
    exports = Exports()
    with qtbot.waitSignal(exports.failed) as failed:
        exports.start(form, window.session.shown, tmp_path / "das.ini")
    assert "das_strategy.csv exists and does not belong to das.ini" in failed.args[0].sentence
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir() if path.suffix in {".csv", ".ini"}] == [
        ("das_strategy.csv", "mine")
    ]
    (tmp_path / "das_strategy.csv").unlink()
    for id_ in ("pl94-2020-persons-us", "dhc-2020-persons-us"):  # its own files are replaced
        _use(window, id_)
        with qtbot.waitSignal(exports.written):
            exports.start(form, window.session.shown, tmp_path / "das.ini")
    exports.stop()


def _use(window, id_):
    from phexplore.model.workbook import add_scenario

    window.session.edit_workbook("Use", lambda book: add_scenario(book, preset(id_).scenario))


def test_that_folders_of_a_run_go_through_a_command_that_guards_its_folder(qapp, tmp_path, monkeypatch) -> None:
    for form in (form for form in FORMATS if form.is_folder):
        process, started = ReportProcess(), []
        monkeypatch.setattr(process, "start", started.append)
        process.write(tmp_path / "run", form, tmp_path / "out")
        words = started[0]
        assert words[words.index("report") :][:2] == ["report", str(tmp_path / "run")]
        (tmp_path / "out").mkdir(exist_ok=True)
        (tmp_path / "out" / "figures.csv").write_text("mine")
        assert run(words[words.index("report") :]) == 1
        assert [path.name for path in (tmp_path / "out").iterdir()] == ["figures.csv"]


def test_that_published_tables_are_not_saved_over_files_of_others(qtbot, session, tmp_path) -> None:
    from phexplore.gui.systems.phsafe.published_view import PublishedView, _Asked

    view = PublishedView(session, None)
    qtbot.addWidget(view)
    view._shown = _Asked(tmp_path / "first", 0, 1)
    made = view._out(view._shown)
    made.mkdir()
    (made / "PH1.csv").write_text("published")
    out = tmp_path / "out"
    out.mkdir()
    (out / "PH1.csv").write_text("mine")
    with qtbot.waitSignal(view.failed) as failed:
        view.save(out)
    assert isinstance(failed.args[0], PhexploreError)
    assert (out / "PH1.csv").read_text() == "mine"
    assert not (out / MARK_FILE).exists()
    (out / "PH1.csv").unlink()
    for _ in range(2):
        with qtbot.waitSignal(view.noted):
            view.save(out)
    assert (out / "PH1.csv").read_text() == "published"
    view.stop()
