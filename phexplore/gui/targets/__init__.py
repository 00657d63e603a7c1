"""Targets, solving, trade-offs and decision rules in the window."""
