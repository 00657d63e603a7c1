"""Subspace differential privacy: chosen totals exact, noise that never breaks them."""
