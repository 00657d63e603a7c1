"""Pages of subspace differential privacy."""
