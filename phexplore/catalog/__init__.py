"""Shipped reference data: tables, states, races, presets, licenses."""
