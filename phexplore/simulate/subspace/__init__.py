"""Subspace privacy: noise that keeps totals."""
