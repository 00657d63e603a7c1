"""Synthetic populations that match published figures."""
