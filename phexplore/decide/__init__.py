"""Decisions: rules, comparison, frontier, committees, approvals, signed bundles."""
