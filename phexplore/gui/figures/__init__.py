"""Figures on the screen."""
