"""Pages of PHSafe."""
