"""Pages of hierarchical group sizes."""
