"""Queries as linear maps over the cells of a schema."""
