"""Block-level data in every layout that the program reads, and synthetic blocks."""
