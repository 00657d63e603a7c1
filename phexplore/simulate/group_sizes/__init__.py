"""Hierarchical group sizes: fitting with exact totals."""
