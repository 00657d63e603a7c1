"""Figures on the screen: canvas, painters, frame, keyboard and data table."""
