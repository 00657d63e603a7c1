"""Margins of error, and budgets solved from them, for any system."""
