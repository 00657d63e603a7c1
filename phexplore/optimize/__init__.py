"""Least squares and rounding under constraints, in compiled code."""
