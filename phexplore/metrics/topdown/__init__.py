"""Metrics of TopDown releases, collected trial by trial."""
