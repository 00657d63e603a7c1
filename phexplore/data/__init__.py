"""Populations of persons, units and geography: read, checked, described, converted."""
