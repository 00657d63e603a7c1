"""The user's presets, spines and rules are offered in the window, marked, and what is broken is named there."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import phexplore as px
from phexplore.resources import resource

WINDOW = """
import json
from PySide6.QtWidgets import QApplication, QLabel
app = QApplication([])
from phexplore.document.project import Project
from phexplore.gui.binding.session import Session
from phexplore.gui.dialogs.preset_dialog import PresetDialog
from phexplore.gui.targets.rules_view import RulesView
from phexplore.gui.widgets.buttons import TextButton
from phexplore.model.workbook import Workbook
from phexplore.systems.registry import preset
from phexplore.systems.topdown.wording import spine_preset_title

scenario = preset("mine").scenario
session = Session(Project.new(Workbook((scenario,), scenario.name)))
dialog = PresetDialog(None, print)
titles = [dialog.list.item(row).text().strip() for row in range(dialog.list.count())]
said = " ".join(label.text() for label in dialog.findChildren(QLabel))
view = RulesView(session, None)
next(button for button in view.findChildren(TextButton) if "ours" in button.text()).click()
print(json.dumps([titles, said, [rule.title for rule in view.rules], spine_preset_title("towns")]))
"""


def test_that_they_are_offered_marked_and_broken_ones_named(tmp_path) -> None:
    for kind in ("presets", "spines", "rules", "schemas"):
        (tmp_path / kind).mkdir()
    px.load("sdhc-2020-us").set("threshold PH2", 8).save(tmp_path / "presets" / "mine.phx")
    (tmp_path / "presets" / "broken.json").write_text("{")
    (tmp_path / "spines" / "towns.toml").write_text('id = "towns"\ntitle = "Towns"\n[settings]\nkind = "aian"\n')
    schema = resource("schemas/pl94_reduced16.toml").read_text().replace('id = "pl94_reduced16"', 'id = "towns"')
    (tmp_path / "schemas" / "towns.toml").write_text(schema)
    (tmp_path / "schemas" / "odd.toml").write_text("id = 7")
    (tmp_path / "rules" / "ours.json").write_text('{"rules": [{"measure": "epsilon", "at_most": "20"}]}')
    environment = {**os.environ, "PHEXPLORE_LIBRARY": str(tmp_path), "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run([sys.executable, "-c", WINDOW], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    titles, said, rules, spine = json.loads(done.stdout.splitlines()[-1])
    own = px.load("sdhc-2020-us").name
    assert f"{own} (your library)" in titles
    assert titles.index(f"{own} (your library)") < titles.index("TopDown")
    assert sum(title.endswith("(your library)") for title in titles[titles.index("TopDown") :]) == 1
    assert "broken.json" in said
    assert "Schemas of your library: towns" in said
    assert "odd.toml" in said
    assert rules == ["ε at most 20"]
    assert spine == "Towns (your library)"
