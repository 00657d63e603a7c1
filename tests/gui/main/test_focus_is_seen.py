"""Where the focus is can be seen on every kind of control, in both themes (WCAG 2.4.7)."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QApplication
from window_areas import offered_areas

from phexplore.gui.main.project_files import project_of
from phexplore.gui.main.window import MainWindow
from phexplore.gui.theme.appearance import ThemeChoice, appearance
from phexplore.gui.theme.depth import Depth
from phexplore.systems.registry import presets, system_of

LEAST_PIXELS = 40
"""That change with the focus: fewer are a corner."""
LEAST_RATIO = 1.8
"""Of what they were before; a button of the accent's colour has a darker frame, which stands on the bright window."""
AROUND = 4
CHOSEN = {system_of(preset.scenario).id: preset for preset in reversed(presets().values())}


def settle():
    for _ in range(3):
        QApplication.sendPostedEvents()
        QApplication.processEvents()


def brightness(window, widget):
    """Return the relative brightness of every pixel of a control and around it."""
    box = QRect(widget.mapTo(window, QPoint(0, 0)), widget.size()).adjusted(-AROUND, -AROUND, AROUND, AROUND)
    image = window.grab(box).toImage()

    def linear(part):
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    colours = (image.pixelColor(x, y) for y in range(image.height()) for x in range(image.width()))
    return [
        0.05 + 0.2126 * linear(each.redF()) + 0.7152 * linear(each.greenF()) + 0.0722 * linear(each.blueF())
        for each in colours
    ]


@pytest.mark.parametrize("theme", [ThemeChoice.LIGHT, ThemeChoice.DARK], ids=lambda each: each.value)
@pytest.mark.parametrize("system", list(CHOSEN))
def test_that_the_focus_is_seen_on_every_kind_of_control(qtbot, settings, tmp_path, system, theme) -> None:
    appearance().choose(theme)
    appearance().show_depth(Depth.EXPERT)
    window = MainWindow(project_of(CHOSEN[system]), settings, tmp_path / "runs")
    qtbot.addWidget(window, before_close_func=lambda w: setattr(w, "_leaves_without_asking", True))
    window.resize(1280, 800)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    unseen, known = [], set()
    for area in offered_areas(system):
        window.navigation.choose(area)
        settle()
        window.navigation.setFocus()
        for _ in range(100):
            window.focusWidget().focusNextPrevChild(True)
            settle()
            control = window.focusWidget()
            if control is window.navigation:
                break
            kind = (type(control).__name__, control.property("look"))
            if kind in known:
                continue
            known.add(kind)
            window.activateWindow()  # the one of the test before, when it goes, may have taken it
            qtbot.waitUntil(window.isActiveWindow)
            seen = brightness(window, control)
            control.clearFocus()
            settle()
            plain = brightness(window, control)
            control.setFocus(Qt.FocusReason.TabFocusReason)
            changed = sum(max(a, b) / min(a, b) >= LEAST_RATIO for a, b in zip(seen, plain, strict=True))
            if changed < LEAST_PIXELS:
                unseen.append((kind, control.accessibleName(), area.name, changed))
    assert unseen == []
    assert len(known) > 8
