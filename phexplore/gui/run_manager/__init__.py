"""Runs in the window: queue, list, details, results."""
