"""Colours, letters, icons and the style of both themes."""
