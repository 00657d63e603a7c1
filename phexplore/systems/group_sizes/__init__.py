"""Hierarchical group sizes: how many groups of each size there are in every region."""
