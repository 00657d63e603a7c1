"""Queries and exact totals of subspace releases as spaces."""
