"""The linear map between axis values and pixels of a plot."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF


@dataclass(frozen=True, slots=True)
class Pixels:
    """The linear map between the values of the axes and the pixels of the plot area.

    Attributes:
        view: visible range in axis values; y grows upward.
        area: plot area in pixels of the canvas; y grows downward.
        left: pixel of the axis value 0, horizontally.
        per_x: pixels per unit of the horizontal axis.
        bottom: pixel of the axis value 0, vertically.
        per_y: pixels per unit of the vertical axis.
        top: uppermost pixel that has to be painted.
        end: lowest pixel that has to be painted.
    """

    view: QRectF
    area: QRectF
    left: float
    per_x: float
    bottom: float
    per_y: float
    top: float
    end: float

    @classmethod
    def between(cls, view: QRectF, area: QRectF, exposed: QRectF | None = None) -> Pixels:
        """Return the map from a range of axis values to an area of pixels.

        Args:
            view: range.
            area: in pixels.
            exposed: what has to be painted of it, everything by default.
        """
        per_x = max(area.width(), 1.0) / (view.width() or 1.0)
        per_y = max(area.height(), 1.0) / (view.height() or 1.0)
        seen = exposed or area
        return cls(
            view,
            area,
            area.left() - view.left() * per_x,
            per_x,
            area.bottom() + view.top() * per_y,
            per_y,
            seen.top(),
            seen.bottom(),
        )

    def x(self, value: float) -> float:
        """Return the horizontal pixel of an axis value."""
        return self.left + value * self.per_x

    def y(self, value: float) -> float:
        """Return the vertical pixel of an axis value."""
        return self.bottom - value * self.per_y

    def value_x(self, pixel: float) -> float:
        """Return the axis value at a horizontal pixel."""
        return (pixel - self.left) / self.per_x

    def value_y(self, pixel: float) -> float:
        """Return the axis value at a vertical pixel."""
        return (self.bottom - pixel) / self.per_y
