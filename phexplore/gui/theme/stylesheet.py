"""The few rules that Fusion's palette cannot express: flat buttons, rounded fields, quiet headers.

Widgets ask for a look by a dynamic property, ``widget.setProperty("look", "primary")``; nothing else is styled by name.
"""

from __future__ import annotations

from phexplore.gui.theme.colours import Colours

_TEMPLATE = """
QToolTip {{ background: {raised}; color: {text}; border: 1px solid {border}; padding: 6px; qproperty-textFormat: PlainText; }}
QMainWindow::separator {{ background: {border}; width: 1px; height: 1px; }}
QSplitter::handle {{ background: transparent; }}
QSplitter[look="lined"]::handle {{ background: {border}; }}
QMenuBar {{ background: {window}; color: {text}; padding: 2px 6px; }}
QMenuBar::item {{ padding: 4px 9px; border-radius: 4px; background: transparent; }}
QMenuBar::item:selected {{ background: {hover}; color: {text}; }}
QMenu {{ background: {raised}; color: {text}; border: 1px solid {border}; padding: 5px; }}
QMenu::item {{ padding: 5px 28px 5px 26px; border-radius: 4px; }}
QMenu::item:selected {{ background: {accent}; color: {accent_text}; }}
QMenu::item:disabled {{ color: {muted}; background: transparent; }}
QMenu::separator {{ height: 1px; background: {border}; margin: 5px 8px; }}
QMenu::icon {{ padding-left: 6px; }}
QPushButton, QComboBox, QLineEdit, QPlainTextEdit, QSpinBox {{
  background: {base}; color: {text}; border: 1px solid {border}; border-radius: 5px; padding: 4px 9px;
  selection-background-color: {accent}; selection-color: {accent_text}; }}
QPushButton {{ background: {raised}; padding: 5px 14px; }}
QPushButton:hover, QComboBox:hover {{ background: {hover}; }}
QPushButton:pressed {{ background: {accent_soft}; }}
QPushButton:disabled, QComboBox:disabled, QLineEdit:disabled, QSpinBox:disabled {{
  color: {muted}; background: {window}; }}
QPushButton:focus, QComboBox:focus, QLineEdit:focus, QPlainTextEdit:focus, QSpinBox:focus {{ border: 1px solid {accent_ink}; }}
QPushButton[look="primary"] {{ background: {accent}; color: {accent_text}; border: 1px solid {accent}; font-weight: 600; }}
QPushButton[look="primary"]:hover {{ background: {accent_hover}; }}
QPushButton[look="primary"]:focus {{ border: 1px solid {text}; }}
QPushButton[look="primary"]:disabled {{ background: {border}; color: {muted}; border-color: {border}; }}
QPushButton[look="link"] {{ background: transparent; border: none; color: {accent_ink}; padding: 2px; text-align: left; }}
QPushButton[look="link"]:hover {{ text-decoration: underline; }}
QPushButton[look="link"]:focus {{ border: 1px solid {accent_ink}; }}
QLineEdit[refused="true"] {{ border: 1px solid {refused}; background: {refused_soft}; }}
QLineEdit[look="cell"] {{ border: 1px solid {accent_ink}; border-radius: 0; padding: 0 4px; }}
QLineEdit[look="cell"][refused="true"] {{ border: 1px solid {refused}; }}
QSpinBox {{ padding: 4px 22px 4px 7px; }}
QSpinBox::up-button, QSpinBox::down-button {{ border: none; width: 20px; }}
QSpinBox::up-arrow {{ image: url({up}); width: 11px; height: 11px; }}
QSpinBox::down-arrow {{ image: url({arrow}); width: 11px; height: 11px; }}
QComboBox {{ padding-right: 24px; }}
QComboBox::drop-down {{ border: none; width: 22px; }}
QComboBox::down-arrow {{ image: url({arrow}); width: 12px; height: 12px; }}
QComboBox[look="title"] {{ font-weight: 600; }}
QComboBox QAbstractItemView {{ background: {raised}; color: {text}; border: 1px solid {border}; outline: none;
  selection-background-color: {accent}; selection-color: {accent_text}; }}
QToolButton {{ background: transparent; color: {text}; border: 1px solid transparent; border-radius: 5px; padding: 4px 7px; }}
QToolButton:hover {{ background: {hover}; }}
QToolButton:checked {{ background: {accent_soft}; color: {accent_ink}; }}
QToolButton:focus {{ border: 1px solid {accent_ink}; }}
QToolButton:disabled {{ color: {muted}; }}
QToolButton[look="bordered"] {{ background: {raised}; border: 1px solid {border}; }}
QToolButton[look="bordered"]:checked {{ background: {accent_soft}; border-color: {accent_ink}; }}
QToolButton::menu-indicator {{ image: none; }}
QHeaderView {{ background: {alternate}; border: none; }}
QHeaderView::section {{ background: {alternate}; color: {muted}; border: none; border-bottom: 1px solid {border};
  padding: 6px 5px; }}
QTableView {{ background: {base}; alternate-background-color: {base}; gridline-color: {grid}; border: none; }}
QAbstractScrollArea::corner {{ background: transparent; border: none; }}
QTableCornerButton::section {{ background: {alternate}; border: none; }}
QTreeView, QListView {{ background: {base}; border: none; outline: none; }}
QListView::item {{ padding: 4px 8px; }}
QListView::indicator {{ width: 14px; height: 14px; background: {base}; border: 1px solid {outline}; border-radius: 4px; }}
QListView::indicator:checked {{ background: {accent}; border: 1px solid {accent_text}; image: url({tick}); }}
QListView::indicator:disabled {{ background: {window}; border: 1px solid {border}; }}
QListView::item:hover {{ background: {hover}; }}
QListView::item:selected {{ background: {accent}; color: {accent_text}; }}
QListWidget[look="navigation"] {{ background: {window}; padding: 8px; }}
QListWidget[look="navigation"]::item {{ padding: 7px 8px; border-radius: 6px; margin: 1px 0; color: {text}; }}
QListWidget[look="navigation"]::item:hover {{ background: {hover}; }}
QListWidget[look="navigation"]::item:selected {{ background: {accent_soft}; color: {accent_ink}; }}
QScrollArea {{ background: transparent; border: none; }}
QScrollBar:vertical {{ background: transparent; width: 12px; margin: 0; }}
QScrollBar:horizontal {{ background: transparent; height: 12px; margin: 0; }}
QScrollBar::handle {{ background: {border}; border-radius: 4px; margin: 2px; min-height: 24px; min-width: 24px; }}
QScrollBar::handle:hover {{ background: {ghost}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
QTabWidget::pane {{ border: none; border-top: 1px solid {border}; }}
QTabBar {{ background: transparent; }}
QTabBar::tab {{ background: transparent; color: {muted}; padding: 7px 12px; border: none;
  border-bottom: 2px solid transparent; }}
QTabBar::tab:hover {{ color: {text}; }}
QTabBar::tab:selected {{ color: {text}; border-bottom: 2px solid {accent_ink}; }}
QTabBar::tab:focus {{ color: {accent_ink}; }}
QProgressBar {{ background: {hover}; border: none; border-radius: 4px; text-align: center; color: {text}; }}
QProgressBar::chunk {{ background: {accent}; border-radius: 4px; }}
QFrame[look="card"] {{ background: {base}; border: 1px solid {border}; border-radius: 8px; }}
QFrame[look="bar"] {{ background: {window}; }}
QFrame[look="notice-attention"] {{ background: {attention_soft}; border: 1px solid {attention}; border-radius: 6px; }}
QFrame[look="notice-refused"] {{ background: {refused_soft}; border: 1px solid {refused}; border-radius: 6px; }}
QFrame[look="line"] {{ background: {border}; border: none; }}
QLabel[look="muted"] {{ color: {muted}; }}
QLabel[look="heading"] {{ color: {text}; font-weight: 600; }}
QLabel[look="refused"] {{ color: {refused}; }}
QLabel[look="attention"] {{ color: {attention}; }}
QLabel[look="good"] {{ color: {good}; }}
QLabel[look="accent"] {{ color: {accent_ink}; }}
QGroupBox {{ border: 1px solid {border}; border-radius: 6px; margin-top: 10px; padding-top: 8px; }}
QGroupBox::title {{ subcontrol-origin: margin; left: 10px; padding: 0 4px; color: {muted}; }}
QCheckBox, QRadioButton {{ spacing: 6px; color: {text}; }}
QCheckBox:disabled, QRadioButton:disabled {{ color: {muted}; }}
QCheckBox::indicator, QRadioButton::indicator {{ width: 14px; height: 14px; background: {base}; border: 1px solid {outline}; }}
QCheckBox::indicator {{ border-radius: 4px; }}
QRadioButton::indicator {{ border-radius: 8px; }}
QCheckBox::indicator:hover, QRadioButton::indicator:hover, QCheckBox::indicator:focus, QRadioButton::indicator:focus {{
  border: 1px solid {accent_ink}; }}
QCheckBox::indicator:checked {{ background: {accent}; border: 1px solid {accent}; image: url({tick}); }}
QCheckBox::indicator:indeterminate {{ background: {accent}; border: 1px solid {accent}; image: url({dash}); }}
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled {{ background: {window}; border: 1px solid {border}; }}
QCheckBox::indicator:checked:disabled {{ background: {ghost}; }}
QRadioButton::indicator:checked {{ width: 6px; height: 6px; border: 5px solid {accent}; }}
QSlider::groove:horizontal {{ height: 4px; background: {border}; border-radius: 2px; }}
QSlider::sub-page:horizontal {{ background: {accent}; border-radius: 2px; }}
QSlider::handle:horizontal {{ background: {base}; border: 2px solid {accent}; width: 12px; height: 12px; margin: -6px 0;
  border-radius: 8px; }}
QSlider::handle:horizontal:hover {{ background: {accent_soft}; }}
QSlider[look="large"]::groove:horizontal {{ height: 8px; border-radius: 4px; }}
QSlider[look="large"]::sub-page:horizontal {{ border-radius: 4px; }}
QSlider[look="large"]::handle:horizontal {{ width: 22px; height: 22px; margin: -9px 0; border-radius: 13px; }}
QSlider:focus {{ border: 1px solid {accent_ink}; border-radius: 4px; }}
QSlider::sub-page:horizontal:disabled {{ background: {border}; }}
QSlider::handle:horizontal:disabled {{ border-color: {ghost}; }}
"""


def stylesheet(colours: Colours, *, arrow: str, up: str, tick: str, dash: str) -> str:
    """Return the style sheet of a theme.

    Args:
        colours: the theme.
        arrow: path of the picture of the arrow in choosers.
        up: path of the picture of the upward arrow.
        tick: path of the picture of a tick, in `accent_text`.
        dash: path of the picture of a partial tick, in `accent_text`.
    """
    fields = {name: getattr(colours, name) for name in colours.__slots__}
    return _TEMPLATE.format(**fields, arrow=arrow, up=up, tick=tick, dash=dash, accent_hover="#2a7cc1")
