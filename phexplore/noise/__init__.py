"""Distributions of noise: exact sampling, certified quantiles."""
