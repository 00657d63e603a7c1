"""Margins of error, and budgets solved from them; knows no system."""
