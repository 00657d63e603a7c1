"""The page of published experiments."""
