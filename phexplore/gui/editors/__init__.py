"""Editors that every system shares."""
