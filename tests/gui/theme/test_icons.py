from __future__ import annotations

import pytest
from PySide6.QtCore import QByteArray
from PySide6.QtGui import QColor
from PySide6.QtSvg import QSvgRenderer

from phexplore.gui.theme.colours import DARK
from phexplore.gui.theme.icons import ICON_NAMES, icon, pixmap, svg


@pytest.mark.parametrize("name", ICON_NAMES)
def test_that_every_symbol_is_valid_and_draws_something(qapp, name) -> None:
    assert QSvgRenderer(QByteArray(svg(name, "#123456"))).isValid()
    image = pixmap(name, "#ff0000", 32).toImage()
    inked = sum(image.pixelColor(x, y).alpha() > 0 for x in range(32) for y in range(32))
    assert 20 < inked < 800


def test_that_a_symbol_has_the_colour_asked_for(qapp) -> None:
    image = pixmap("run", "#ff0000", 64).toImage()
    colours = {
        image.pixelColor(x, y).name() for x in range(64) for y in range(64) if image.pixelColor(x, y).alpha() > 250
    }
    assert colours == {QColor("#ff0000").name()}


def test_that_a_disabled_symbol_looks_different(qapp) -> None:
    found = icon("undo", DARK)
    normal = found.pixmap(20, found.Mode.Normal).toImage()
    disabled = found.pixmap(20, found.Mode.Disabled).toImage()
    assert normal != disabled


def test_that_an_unknown_symbol_is_refused() -> None:
    with pytest.raises(KeyError, match="no-such"):
        svg("no-such", "#000000")
