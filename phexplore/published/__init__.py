"""The published record: files of the Census Bureau and of its users, recognised by content and brought to one of two forms."""
