"""Dialogs that stand alone."""
