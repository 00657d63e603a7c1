"""Published data: files of the Census Bureau and of its users, recognized by content and converted to one of two forms."""
