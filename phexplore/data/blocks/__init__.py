"""Block-level data in every layout the program reads, and synthetic blocks."""
